"""Programs over the laws of a population against a solver that knows them exactly."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from fairgauge.channel import LEVEL_UNIT
from fairgauge.estimation.populations import Laws
from fairgauge.estimation.share_band import Band
from fairgauge.targets.symbol_scores import Decoder
from tests.samples import sample_channel

LEVELS = tuple(LEVEL_UNIT * k // 3 for k in range(-3, 4))
CASES = {
    "known": (2, False, (0.3, 0.7), 0.0),
    "known up to an error": (2, False, (0.3, 0.7), 0.05),
    "three, known up to an error": (3, False, (0.2, 0.3, 0.5), 0.1),
    "abstaining": (2, True, (0.3, 0.7), 0.0),
    "estimated": (3, False, None, 0.0),
}


def laws_of(name: str) -> Laws:
    groups, abstain, shares, error = CASES[name]
    channel = sample_channel(groups=groups, levels=LEVELS, abstain=abstain)
    guess = np.full(groups, 1 / groups)
    known = None if shares is None else np.array(shares)
    return Laws(Decoder.even(channel, guess), known, None if known is None else Band(known, 1.0, error))


def solved(laws: Laws, values: np.ndarray, mean: np.ndarray | None) -> float:
    """The largest average by a solver: inputs' probabilities, with bounds for each block."""
    count, blocks = laws.decoder.inputs.count, laws.decoder.inputs.blocks
    equal, right = [np.ones(count)], [1.0]
    below, most = [], []
    if laws.shares is not None:
        answering = np.zeros(count)
        for block in blocks[: len(laws.shares)]:
            answering[block] = 1
        for block, share in zip(blocks, laws.shares, strict=False):
            own = np.zeros(count)
            own[block] = 1
            error = 0.0 if laws.band is None else laws.band.error
            below += [own - (share + error) * answering, (share - error) * answering - own]
            most += [0.0, 0.0]
    if mean is not None:
        equal.append(mean)
        right.append(0.0)
    found = linprog(
        -values,
        A_eq=np.array(equal),
        b_eq=right,
        A_ub=np.array(below) if below else None,
        b_ub=most or None,
        method="highs",
    )
    assert found.success
    return -float(found.fun or 0.0)


@pytest.mark.parametrize("name", CASES)
def test_averages_are_as_large_as_a_solver_finds(name: str):
    laws, rng = laws_of(name), np.random.default_rng(1)
    values = rng.normal(size=(laws.decoder.inputs.count, 5))
    exact = [solved(laws, column, None) for column in values.T]
    assert laws.most(values) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_averages_given_a_mean_are_never_too_small_and_nearly_exact(name: str):
    laws, rng = laws_of(name), np.random.default_rng(2)
    values = rng.normal(size=(laws.decoder.inputs.count, 8))
    mean = rng.normal(size=laws.decoder.inputs.count)
    exact = np.array([solved(laws, column, mean) for column in values.T])
    found = laws.most_given(values, mean)
    assert (found >= exact - 1e-9).all()
    assert found == pytest.approx(exact, abs=1e-4)


def test_what_no_law_gives_is_not_possible():
    laws = laws_of("known")
    mean = laws.decoder.inputs.sum_of(0)
    for value, possible in ((0.0, True), (0.3, True), (0.31, False), (-0.31, False)):
        assert laws.possible(mean - value) == possible


def test_a_wider_band_allows_more():
    values = np.arange(14.0)[:, None]
    decoder, shares = laws_of("known").decoder, np.array([0.3, 0.7])
    found = [Laws(decoder, shares, Band(shares, 1.0, error)).most(values)[0] for error in (0.0, 0.1, 0.3, 1.0)]
    assert all(a < b for a, b in pairwise(found[:3]))
    assert found[-1] == 13
