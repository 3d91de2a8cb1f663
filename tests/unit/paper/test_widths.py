"""Widths against exact probabilities: a two-symbol channel makes the estimate a binomial."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom, norm

from fairgauge.paper.fixed import fixed
from fairgauge.paper.spread import Spread
from fairgauge.paper.widths import Width, berry_esseen, chebyshev, chernoff, finite
from fairgauge.targets.decoder import Decoder
from fairgauge.targets.inputs import Vector
from tests.surveys import coin_channel

SCORE = np.array([-4.0, 4.0])
HALF = np.array([0.5, 0.5])
COIN = Spread(Decoder.even(coin_channel(), HALF), SCORE, HALF)
INTERVALS = {"finite": finite, "fixed": fixed, "chebyshev": chebyshev}
Method = Callable[[Spread, float, float], Width]


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


@pytest.mark.parametrize("name", INTERVALS)
@pytest.mark.parametrize("clients", [2, 10, 60, 400])
@pytest.mark.parametrize("alpha", [0.2, 0.1, 0.01, 1e-4])
def test_each_side_misses_at_most_half_as_often_as_allowed(name: str, clients: int, alpha: float):
    width = INTERVALS[name](COIN, clients, alpha)
    for first, second in VALUES:
        above, below = misses(width, clients, first, second)
        # Chebyshev's promise is about both sides together.
        most = (above + below) / 2 if name == "chebyshev" else max(above, below)
        assert most <= alpha / 2


@pytest.mark.parametrize("name", INTERVALS)
def test_half_the_width_is_caught(name: str):
    """The mutant of the test above: no interval is so wide that half of it would do."""
    clients, alpha = 400, 0.5 if name == "chebyshev" else 0.1
    below, above = INTERVALS[name](COIN, clients, alpha)
    factor = 0.25 if name in {"chebyshev"} else 0.5
    assert max(misses(Width(factor * below, factor * above), clients, 0.0, 0.0)) > alpha / 2


@pytest.mark.parametrize("clients", [10**4, 10**6, 10**8])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
@pytest.mark.parametrize("method", [finite, fixed])
def test_many_clients_are_close_to_normal(clients: int, alpha: float, method: Method):
    below, above = method(COIN, clients, alpha)
    ones = binom(clients, 0.5)
    assert ones.sf(clients * (0.5 + below / 8)) <= alpha / 2
    assert ones.cdf(clients * (0.5 - above / 8) - 1) <= alpha / 2
    ratio = above / (-norm.ppf(alpha / 2) * 4 / clients**0.5)
    assert 1 <= ratio < {10**4: 1.3, 10**6: 1.15, 10**8: 1.01}[clients]


def test_berry_esseen_is_what_makes_it_close(monkeypatch: pytest.MonkeyPatch):
    with_it = finite(COIN, 10**8, 0.01).above
    monkeypatch.setattr("fairgauge.paper.widths.berry_esseen", lambda *_: float("inf"))
    assert finite(COIN, 10**8, 0.01).above > 1.2 * with_it


def test_berry_esseen_pays_for_its_distance():
    # For this channel the reach is 6, the largest variance 16 and the least 12.
    assert (COIN.reach, COIN.variance, COIN.least_variance) == pytest.approx((6, 16, 12))
    distance = 0.56 * 6 / np.sqrt(12 * 10**6)
    assert berry_esseen(COIN, 10**6, 0.01) == pytest.approx(-norm.ppf(0.005 - distance) * 4 / 1000)
    assert berry_esseen(COIN, 1000, 0.01) == float("inf")


@pytest.mark.parametrize(
    ("answers", "alpha", "width"),
    [(100, 0.05, 1.0842691015), (10_000, 0.01, 0.1302060581), (1_000_000, 0.01, 0.0105981667)],
)
def test_the_numbers_of_finite_are_those_of_the_pages(answers: int, alpha: float, width: float):
    assert max(finite(COIN, answers, alpha)) == pytest.approx(width, rel=1e-9)


def test_chebyshev_is_the_variance_over_alpha():
    assert chebyshev(COIN, 100, 0.01) == pytest.approx((4.0, 4.0))


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


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("answers", "alpha"), [(50, 0.1), (5000, 0.01)])
def test_chernoffs_bound_at_its_width_is_half_of_alpha(answers: int, alpha: float, sign: int):
    width = chernoff(COIN, answers, alpha, sign)
    tilts = np.sqrt(2 * np.log(2 / alpha) / answers / COIN.variance) * np.logspace(-1.5, 1.5, 4001)
    least = float((answers * (COIN.cumulant(tilts, sign) - tilts * width)).min())
    assert np.log(0.95 * alpha / 2) <= least <= np.log(alpha / 2)
