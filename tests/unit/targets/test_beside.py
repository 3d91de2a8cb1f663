"""What is reckoned of another value bounds second moments: never too small, and as a solver finds."""

import numpy as np
import pytest
from scipy.optimize import linprog

from fairgauge.channel import LEVEL_UNIT, Channel
from fairgauge.targets.assumed_values import AssumedValues, Other, Reckoning, folded
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

NARROW, ANY = Reckoning(0.4, 0.3), Reckoning(0.4, None)
OTHER = Other(np.array([-1.0, 0.1, 1.0]), NARROW)


def made() -> Channel:
    """A table of two groups and two values with three levels each; what it holds does not matter."""
    weights = np.random.default_rng(5).integers(2**48, 2**49, size=(18, 20))
    weights[:, 0] += 2**53 - weights.sum(axis=1)
    levels = (-LEVEL_UNIT, LEVEL_UNIT // 10, LEVEL_UNIT)
    return Channel(tuple(map(tuple, weights.tolist())), levels, 2, further=(levels,))


def solved(second: np.ndarray, levels: np.ndarray, aims: tuple[Reckoning, Reckoning]) -> float:
    """The most that second moments (own level, other level) can average to, by a solver on a fine grid of values."""
    fine = np.linspace(-1, 1, 61)
    hats = np.array([np.interp(fine, levels, corner) for corner in np.eye(len(levels))])
    at = hats.T @ second @ hats
    x, y = np.meshgrid(fine - aims[0].mean, fine - aims[1].mean, indexing="ij")
    equal, below, most = [np.ones(at.size), x.ravel(), y.ravel()], [], []
    for values, aim in ((x, aims[0]), (y, aims[1])):
        if not aim.any_values:
            below.append(values.ravel() ** 2)
            most.append(aim.widest**2)
    found = linprog(-at.ravel(), below or None, most or None, np.array(equal), [1.0, 0.0, 0.0], method="highs")
    return -float(found.fun or 0.0)


def test_every_price_bounds_the_average():
    rng = np.random.default_rng(1)
    second = rng.random((3, 4)) * 9
    x = OTHER.levels - NARROW.mean
    for slope, curve in rng.normal(size=(20, 2)) * 5:
        law = rng.dirichlet(np.ones(3))
        paid = slope * (law @ x) + abs(curve) * (law @ x**2 - NARROW.widest**2)
        assert (folded(second, OTHER, (slope, abs(curve))) >= law @ second - paid - 1e-9).all()


@pytest.mark.parametrize("aims", [(NARROW, NARROW), (ANY, ANY), (NARROW, ANY)])
def test_the_total_is_what_a_solver_finds(aims: tuple[Reckoning, Reckoning]):
    channel = made()
    scores = Scores(
        Target((0.3, 0.7)), AssumedValues(expect=0.4, spread=aims[0].spread, beside=(aims[1],)), design="centred"
    )
    decoder = scores.decoder(channel)
    score = scores.gap_score(decoder, (0, 1))
    assert score is not None
    second = (decoder.rows @ score**2).reshape(2, 3, 3).transpose(0, 2, 1)
    exact = sum(p * solved(of, decoder.inputs.levels, aims) for p, of in zip((0.3, 0.7), second, strict=True))
    # The grid of the solver misses some values; points between levels, and maxima at each level, cost a little.
    assert 0.999 * exact <= scores.variance(channel) <= 1.05 * exact
    assert scores.variance(channel) <= 1.0001 * scores.assuming(beside=()).variance(channel)


def test_what_is_not_expected_bounds_nothing():
    scores = Scores(Target((0.3, 0.7)), AssumedValues(expect=None, beside=(NARROW,)), design="centred")
    assert scores.values.other is None
    assert scores.assuming(expect=0.4).values.other == NARROW
    assert scores.assuming(expect=0.4, beside=(None,)).values.other is None
