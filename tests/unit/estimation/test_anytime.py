"""Bets that hold at every look, against exact probabilities of ever being wrong."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom

from fairgauge.estimation import anytime
from fairgauge.estimation.anytime import _SIZES, AnytimeTest, Bets
from fairgauge.estimation.confidence_set import inverted
from fairgauge.estimation.populations import Laws
from fairgauge.targets.symbol_scores import Decoder
from tests.surveys import coin_channel

HALF = np.array([0.5, 0.5])
COIN = Laws(Decoder.even(coin_channel(), HALF), HALF)
SCORE, ONE = np.array([-4.0, 4.0]), np.ones(2)
LOOKS = [*range(1, 60), *range(60, 600, 10), *range(600, 3000, 100)]


def watched(counts: tuple[float, float], alpha: float, planned: int | None = None) -> AnytimeTest:
    return AnytimeTest(COIN, SCORE, ONE, np.array(counts), alpha, planned)


def ever_rejected(gap: float, alpha: float, planned: int | None = None, *, wanted: float | None = None) -> float:
    """The exact probability that the right gap is rejected at some look; a 1 comes with probability 1/2 + gap/8."""
    bets = watched((1.0, 1.0), alpha, planned).bets(gap)
    limit = np.log(2 / alpha if wanted is None else wanted)
    law, missed, before = np.ones(1), 0.0, 0
    for look in LOOKS:
        coming, before = look - before, look
        law = np.convolve(law, binom.pmf(np.arange(coming + 1), coming, 0.5 + gap / 8))
        counts = np.array([look - np.arange(look + 1), np.arange(look + 1)])
        outside = np.max([side.log_money(counts) for side in bets], axis=0) >= limit
        missed += float(law[outside].sum())
        law[outside] = 0.0
    return missed


@pytest.mark.parametrize("alpha", [0.1, 0.01])
@pytest.mark.parametrize("gap", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("planned", [None, 300])
def test_a_right_value_is_seldom_rejected_over_all_looks_together(alpha: float, gap: float, planned: int | None):
    assert ever_rejected(gap, alpha, planned) <= alpha


def test_each_side_has_half_of_alpha():
    """Money of 1 / alpha on either side would do for one side alone: the margin tells them apart."""
    test = watched((100.0, 160.0), 0.1)
    won = max(float(side.log_money(test.counts)) for side in test.bets(0.0))
    assert test.margin(0.0) == pytest.approx(won - np.log(2 / 0.1), abs=1e-12)


@pytest.mark.parametrize("planned", [None, 50_000])
def test_the_money_is_one_at_the_start_and_a_martingale(planned: int | None):
    """All weights together are 1: a sum over fewer or more stakes than there are would not be."""
    for gap in (0.0, 0.7):
        for side in watched((1.0, 1.0), 0.1, planned).bets(gap):
            assert float(np.exp(side.log_money(np.zeros(2)))) == pytest.approx(1)
            law = binom.pmf(np.arange(41), 40, 0.5 + gap / 8)
            counts = np.array([40 - np.arange(41), np.arange(41)])
            assert law @ np.exp(side.log_money(counts)) == pytest.approx(1)


def test_money_that_starts_with_too_much_is_caught(monkeypatch: pytest.MonkeyPatch):
    """The mutant twin: each of the stakes starts with all of the money."""
    honest = Bets.log_money
    monkeypatch.setattr(Bets, "log_money", lambda self, counts: honest(self, counts) + np.log(len(_SIZES)))
    assert ever_rejected(0.0, 0.1) > 0.1


def test_stakes_for_the_size_so_far_are_caught():
    """The mutant twin: at each look the number so far is taken for the planned one."""
    alpha, rng = 0.1, np.random.default_rng(4)
    ones = rng.binomial(1, 0.5, size=(3000, 2000)).cumsum(axis=1)
    missed = np.zeros(len(ones), dtype=bool)
    for look in LOOKS[:100]:
        if look > 2000:
            break
        counts = np.array([look - ones[:, look - 1], ones[:, look - 1]])
        stake = min(np.sqrt(2 * np.log(2 / alpha) / (16 * look)), 0.9 / 4)
        for side in (SCORE, -SCORE):
            missed |= np.log1p(stake * side) @ counts >= np.log(2 / alpha)
    assert binom.sf(missed.sum() - 1, len(ones), alpha) < 1e-6


@pytest.mark.parametrize(("alpha", "reference"), [(0.05, 1.84), (0.01, 1.56)])
@pytest.mark.parametrize("answers", [1000, 100_000])
def test_widths_are_within_five_percent_of_the_reference(alpha: float, reference: float, answers: int):
    normal = -float(ndtri(alpha / 2)) * 4 / answers**0.5
    low, high = inverted(watched((answers / 2, answers / 2), alpha))
    assert 1.2 < (high - low) / 2 / normal < 1.05 * reference
    # Half of the money near the planned size saves a quarter of the clients there.
    near = inverted(watched((answers / 2, answers / 2), alpha, answers))
    assert ((near[1] - near[0]) / (high - low)) ** 2 < 0.84
    far = inverted(watched((answers / 2, answers / 2), alpha, 100 * answers))
    assert 1 < (far[1] - far[0]) / (high - low) < 1.09


def test_the_sizes_that_are_bet_on():
    assert (len(_SIZES), _SIZES[0], _SIZES[-1]) == (37, pytest.approx(10), pytest.approx(1e10))
    assert anytime._STAKED_ALPHA == 0.01


@pytest.mark.parametrize("planned", [None, 300])
def test_bets_are_the_same_whatever_alpha_and_answers_are(planned: int | None):
    """A p-value is about one martingale, and a later look goes on with the bets of the first."""
    first, second = (watched(counts, alpha, planned).bets(0.3) for counts, alpha in (((1, 1), 0.1), ((50, 90), 0.001)))
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one.factors, other.factors)
        assert np.array_equal(one.weights, other.weights)
