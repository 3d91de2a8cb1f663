"""Widths against exact probabilities: a two-symbol channel makes the estimate a binomial."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom, norm

from fairgauge.channel import LEVEL_UNIT
from fairgauge.errors import InvalidInput
from fairgauge.estimation.intervals import (
    GUARANTEES,
    INTERVALS,
    Width,
    anytime,
    chebyshev,
    check_confidence,
    check_interval,
    finite,
    normal,
)
from fairgauge.estimation.spread import Spread
from fairgauge.goals.decoder import Decoder
from fairgauge.goals.inputs import Vector
from tests.samples import sample_channel
from tests.surveys import coin_channel

SCORE = np.array([-4.0, 4.0])
HALF = np.array([0.5, 0.5])
COIN = Spread(Decoder.even(coin_channel(), HALF), SCORE, HALF)
FIXED = ("finite", "chebyshev", "anytime")
Half = Callable[[Width], Width]


def law_of_ones(clients: int, first: float, second: float) -> Vector:
    """The exact law of how many send 1, if half of the clients are of each group and all of a group hold one value."""
    n = clients // 2
    a = binom.pmf(np.arange(n + 1), n, 0.5 + first / 4)
    b = binom.pmf(np.arange(clients - n + 1), clients - n, 0.5 - second / 4)
    return np.convolve(a, b)


def misses(width: Width, clients: int, first: float, second: float) -> tuple[float, float]:
    """The exact probability that the interval lies above the truth, and below it."""
    law = law_of_ones(clients, first, second)
    average = 4 * (2 * np.arange(clients + 1) / clients - 1)
    truth = first - second
    return float(law[average - width.below > truth + 1e-12].sum()), float(
        law[average + width.above < truth - 1e-12].sum()
    )


VALUES = [(0.0, 0.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 0.5), (0.3, 0.2)]


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("clients", [2, 10, 60, 400])
@pytest.mark.parametrize("alpha", [0.2, 0.1, 0.01, 1e-4])
def test_each_side_misses_at_most_half_as_often_as_allowed(name: str, clients: int, alpha: float):
    width = INTERVALS[name](COIN, clients, alpha)
    for first, second in VALUES:
        above, below = misses(width, clients, first, second)
        # Chebyshev's promise is about both sides together.
        most = (above + below) / 2 if name == "chebyshev" else max(above, below)
        assert most <= alpha / 2


@pytest.mark.parametrize("name", [*FIXED, "normal"])
def test_half_the_width_is_caught(name: str):
    """The mutant of the test above: no interval is so wide that half of it would do."""
    clients, alpha = 400, 0.5 if name == "chebyshev" else 0.1
    below, above = INTERVALS[name](COIN, clients, alpha)
    factor = 0.25 if name in {"chebyshev", "anytime"} else 0.5
    assert max(misses(Width(factor * below, factor * above), clients, 0.0, 0.0)) > alpha / 2


@pytest.mark.parametrize("clients", [10**4, 10**6, 10**8])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_finite_holds_for_many_clients_and_is_close_to_normal(clients: int, alpha: float):
    below, above = finite(COIN, clients, alpha)
    ones = binom(clients, 0.5)
    assert ones.sf(clients * (0.5 + below / 8)) <= alpha / 2
    assert ones.cdf(clients * (0.5 - above / 8) - 1) <= alpha / 2
    ratio = above / normal(COIN, clients, alpha).above
    assert 1 <= ratio < {10**4: 1.3, 10**6: 1.15, 10**8: 1.01}[clients]


def test_berry_esseen_is_what_makes_it_close(monkeypatch: pytest.MonkeyPatch):
    with_it = finite(COIN, 10**8, 0.01).above
    monkeypatch.setattr("fairgauge.estimation.intervals._berry_esseen", lambda *_: float("inf"))
    assert finite(COIN, 10**8, 0.01).above > 1.2 * with_it


def test_berry_esseen_pays_for_its_distance():
    from fairgauge.estimation.intervals import _berry_esseen

    # For this channel the reach is 6, the largest variance 16 and the least 12.
    assert (COIN.reach, COIN.variance, COIN.least_variance) == pytest.approx((6, 16, 12))
    distance = 0.56 * 6 / np.sqrt(12 * 10**6)
    assert _berry_esseen(COIN, 10**6, 0.01) == pytest.approx(-norm.ppf(0.005 - distance) * 4 / 1000)
    assert _berry_esseen(COIN, 1000, 0.01) == float("inf")


@pytest.mark.parametrize("clients", [10_000, 10**6])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_normal_is_close_to_its_confidence(clients: int, alpha: float):
    width = normal(COIN, clients, alpha)
    assert width.above == pytest.approx(-norm.ppf(alpha / 2) * 4 / clients**0.5)
    missed = 2 * binom.sf(clients * (0.5 + width.above / 8), clients, 0.5)
    assert missed == pytest.approx(alpha, rel=0.05)


def test_chebyshev_is_the_variance_over_alpha():
    assert chebyshev(COIN, 100, 0.01) == pytest.approx((4.0, 4.0))


def ever_missed(width: Callable[[int], Width], one: float, *, score: float = 4.0) -> float:
    """The exact probability that some look of a growing study misses the truth.

    Each client sends a 1, worth the score, with this probability, and else its negative.
    """
    truth = score * (2 * one - 1)
    law, missed, before = np.ones(1), 0.0, 0
    for look in LOOKS:
        coming, before = look - before, look
        law = np.convolve(law, binom.pmf(np.arange(coming + 1), coming, one))
        average = score * (2 * np.arange(look + 1) / look - 1)
        below, above = width(look)
        outside = (average - below > truth + 1e-12) | (average + above < truth - 1e-12)
        missed += float(law[outside].sum())
        law[outside] = 0.0
    return missed


LOOKS = [*range(1, 60), *range(60, 600, 10), *range(600, 3000, 100)]


@pytest.mark.parametrize("alpha", [0.1, 0.01])
@pytest.mark.parametrize("one", [0.5, 0.75])
def test_anytime_misses_seldom_over_all_looks_together(alpha: float, one: float):
    assert ever_missed(lambda n: anytime(COIN, n, alpha), one) <= alpha


@pytest.mark.parametrize(("mutant", "least"), [(finite, 0.11), (normal, 0.5)])
def test_intervals_for_one_look_are_caught_at_many(mutant: Callable[[Spread, float, float], Width], least: float):
    assert ever_missed(lambda n: mutant(COIN, n, 0.1), 0.5) > least


class _ClearDecoder(Decoder):
    """A channel without noise: the symbol is the level of v in the first group, and of -v in the second."""

    @property
    def rows(self) -> Vector:
        return np.vstack([np.eye(9), np.eye(9)[::-1]])


def test_anytime_without_the_price_of_who_comes_first_is_caught(monkeypatch: pytest.MonkeyPatch):
    """Everyone is at 1 and each client is of either group by chance: a gap of 0, and scores of 2 or -2."""
    levels = tuple(LEVEL_UNIT * k // 4 for k in range(-4, 5))
    decoder = _ClearDecoder.even(sample_channel(levels=levels), HALF)
    clear = Spread(decoder, np.linspace(-2, 2, 9), HALF)
    assert clear.drawn_variance == pytest.approx(4)
    assert clear.variance == pytest.approx(1 / 16)
    assert ever_missed(lambda n: anytime(clear, n, 0.1), 0.5, score=2.0) <= 0.1
    monkeypatch.setattr(Spread, "drawn_cumulant", Spread.cumulant)
    monkeypatch.setattr(Spread, "drawn_variance", clear.variance)
    assert ever_missed(lambda n: anytime(clear, n, 0.1), 0.5, score=2.0) > 0.9


@pytest.mark.parametrize("name", INTERVALS)
def test_more_confidence_is_wider_and_more_answers_are_narrower(name: str):
    method = INTERVALS[name]
    alphas = [0.5, 0.1, 0.01, 1e-6, 1e-12]
    widths = [method(COIN, 1000, alpha).above for alpha in alphas]
    assert widths == sorted(widths)
    widths = [method(COIN, answers, 0.01).above for answers in (1, 10, 100, 10**4, 10**8, 10**12)]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize("answers", [1, 7, 10**6, 10**10, 10**15])
@pytest.mark.parametrize("alpha", [0.5, 0.01, 1e-12])
def test_widths_are_numbers_at_any_size(name: str, answers: int, alpha: float):
    width = INTERVALS[name](COIN, answers, alpha)
    assert all(0 < side < np.inf for side in width)


@pytest.mark.parametrize("name", INTERVALS)
def test_twice_the_score_is_twice_the_width(name: str):
    double = Spread(COIN.decoder, 2 * SCORE, HALF)
    assert INTERVALS[name](double, 1000, 0.01) == pytest.approx(tuple(2 * w for w in INTERVALS[name](COIN, 1000, 0.01)))


def test_a_lopsided_score_has_a_lopsided_interval():
    decoder = Decoder.even(coin_channel(), HALF)
    rows = np.array([[0.95, 0.05], [0.9, 0.1], [0.95, 0.05], [0.9, 0.1]])
    object.__setattr__(decoder, "__dict__", {**decoder.__dict__, "rows": rows})
    below, above = finite(Spread(decoder, np.array([0.0, 1.0]), None), 50, 0.01)
    # A rare large score can exceed its mean by far, so the estimate may be far above the truth.
    assert below > 1.2 * above


def test_names_and_guarantees_agree():
    assert list(INTERVALS) == list(GUARANTEES) == ["finite", "anytime", "normal", "chebyshev"]


def test_unknown_names_and_impossible_confidences_are_refused():
    assert check_interval("normal") is normal
    with pytest.raises(InvalidInput, match="interval=wald: must be one of finite, anytime, normal, chebyshev"):
        check_interval("wald")
    assert check_confidence(0.99) == pytest.approx(0.01)
    for confidence in (1.5, 1.0, 0.49, 0.0, -1.0, float("nan")):
        with pytest.raises(InvalidInput, match=r"confidence=.*: must be from 0.5 to below 1"):
            check_confidence(confidence)
