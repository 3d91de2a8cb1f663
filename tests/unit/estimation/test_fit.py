"""The check of honesty: what it must catch, and that its bound is the best mixture's likelihood."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.fit import SUSPICIOUS, _any_likelihood, _best_likelihood, fit_p_value
from fairgauge.goals.decoder import Decoder
from fairgauge.goals.goal import Goal
from tests.surveys import coin_question, designed, tells_all

GAP = estimands_of(designed(Goal((0.5, 0.5)), "1")).decoder
MEANS = estimands_of(designed(Goal((0.5, 0.5), shares_known=False, target="means"), "2")).decoder
PICKED = estimands_of(tells_all("0.3", "0.7"), questions=3).decoder
DECODERS = pytest.mark.parametrize("decoder", [GAP, MEANS, PICKED], ids=["gap", "means", "one of three questions"])


def honest(decoder: Decoder, answers: int, seed: int) -> tuple[int, ...]:
    rng = np.random.default_rng(seed)
    mixture = rng.dirichlet(np.full(len(decoder.rows), 0.2))
    return tuple(rng.multinomial(answers, mixture @ decoder.rows).tolist())


def forged(counts: tuple[int, ...], part: float, symbol: int) -> tuple[int, ...]:
    """Replace a part of the answers by one symbol."""
    kept = [round((1 - part) * n) for n in counts]
    kept[symbol] += sum(counts) - sum(kept)
    return tuple(kept)


@DECODERS
@pytest.mark.parametrize("answers", [1, 30, 1000, 10**6, 10**9])
def test_honest_counts_are_not_suspicious(decoder: Decoder, answers: int):
    assert min(fit_p_value(decoder, honest(decoder, answers, seed)) for seed in range(8)) > SUSPICIOUS


@DECODERS
def test_everyone_sending_one_symbol_is_caught(decoder: Decoder):
    for symbol in range(decoder.rows.shape[1]):
        counts = np.zeros(decoder.rows.shape[1], dtype=int)
        counts[symbol] = 300
        assert fit_p_value(decoder, tuple(counts.tolist())) < SUSPICIOUS


def test_uniform_counts_are_caught_where_no_mixture_is_uniform():
    counts = (20_000 // GAP.rows.shape[1],) * GAP.rows.shape[1]
    assert fit_p_value(GAP, counts) < SUSPICIOUS


def test_the_counts_of_another_table_are_caught():
    other = GAP.rows[:, ::-1] if not np.allclose(GAP.rows, GAP.rows[:, ::-1]) else np.roll(GAP.rows, 1, axis=1)
    counts = np.round(20_000 * other.mean(axis=0)).astype(int)
    assert fit_p_value(GAP, tuple(np.roll(counts, 1).tolist())) < SUSPICIOUS


@pytest.mark.parametrize(("answers", "part"), [(10**4, 0.1), (10**6, 0.01)])
def test_some_forged_answers_are_caught(answers: int, part: float):
    counts = honest(GAP, answers, 1)
    caught = [fit_p_value(GAP, forged(counts, part, symbol)) < SUSPICIOUS for symbol in range(len(counts))]
    assert any(caught)


def test_a_coin_that_prefers_a_question_is_caught():
    counts = honest(PICKED, 30_000, 1)
    fair = sum(counts[:-1])
    assert fair == pytest.approx(10_000, rel=0.05)
    often = (*(round(1.3 * n) for n in counts[:-1]), counts[-1])
    assert fit_p_value(PICKED, often) < SUSPICIOUS


@DECODERS
@pytest.mark.parametrize("answers", [30, 10**5])
def test_the_best_likelihood_is_a_tight_upper_bound(decoder: Decoder, answers: int):
    seen = np.array(honest(decoder, answers, 4), dtype=float)

    def minus(logits: np.ndarray) -> float:
        weights = np.exp(logits - logits.max())
        return -float(seen @ np.log(weights / weights.sum() @ decoder.rows)) / answers

    start = np.log(np.full(len(decoder.rows), 1 / len(decoder.rows)))
    reached = -answers * minimize(minus, start, method="L-BFGS-B", options={"maxiter": 3000}).fun
    bound = _best_likelihood(decoder, seen)
    assert bound >= reached - 1e-6 * abs(reached)
    assert bound - reached < 0.5 + 1e-6 * abs(reached)


def test_likelihood_under_every_law_sums_to_one():
    """Over all sequences of four answers with three symbols."""
    from itertools import product
    from math import exp

    total = sum(
        exp(_any_likelihood(np.bincount(sequence, minlength=3).astype(float)))
        for sequence in product(range(3), repeat=4)
    )
    assert total == pytest.approx(1)


@pytest.mark.parametrize("answers", [5, 40, 1000])
@pytest.mark.parametrize(("n", "one", "other"), [(1.0, 0.75, 0.25), (0.5, 0.75, 0.75), (0.3, 0.25, 0.75)])
def test_the_p_value_is_exactly_conservative(answers: int, n: float, one: float, other: float):
    """Counts of two symbols of clients of two kinds: no level is undercut with more probability than it says."""
    decoder = estimands_of(coin_question()).decoder
    first = round(n * answers)
    law = np.convolve(
        binom.pmf(np.arange(first + 1), first, one),
        binom.pmf(np.arange(answers - first + 1), answers - first, other),
    )
    p_values = np.array([fit_p_value(decoder, (answers - ones, ones)) for ones in range(answers + 1)])
    assert p_values.min() < SUSPICIOUS or answers == 5
    for level in np.unique(p_values):
        assert law[p_values <= level].sum() <= level + 1e-9
