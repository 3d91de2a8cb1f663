"""Widths against exact probabilities: a two-symbol channel makes the estimate a binomial.

Bounds of the spread against brute force over values.

Fixed clients: moments between levels by brute force, and fewer clients than Berry and Esseen's bound.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.paper.fixed_intervals import (
    Spread,
    Width,
    _fourth,
    _third,
    berry_esseen,
    central_moments,
    chebyshev,
    chernoff,
    finite,
    fixed,
)
from fairgauge.paper.prawitz import ScoreMoments, distances
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.scores import Scores
from fairgauge.targets.symbol_scores import Decoder
from fairgauge.targets.target import Target
from tests.samples import THREE_LEVELS
from tests.surveys import ENDS, coin_channel, designed

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
    monkeypatch.setattr("fairgauge.paper.fixed_intervals.berry_esseen", lambda *_: float("inf"))
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


TILTS = np.array([1e-3, 0.1, 1.0, 5.0])


def random_channel(seed: int, *, groups: int, levels: tuple[int, ...], symbols: int, abstain: bool) -> Channel:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(groups * len(levels) + abstain):
        weights = (rng.uniform(1, 4, symbols) * 2**40).astype(int)
        scaled = [int(w) * ROW_SUM // int(weights.sum()) for w in weights]
        rows.append((*scaled[:-1], ROW_SUM - sum(scaled[:-1])))
    return Channel(tuple(rows), levels, groups, abstain)


def spread_about(channel: Channel, score: Vector, shares: tuple[float, ...] | None) -> Spread:
    guess = np.array(shares or (1 / channel.groups,) * channel.groups)
    return Spread(Decoder.even(channel, guess), score, None if shares is None else np.array(shares))


CHANNELS = {
    "two levels": random_channel(1, groups=2, levels=ENDS, symbols=3, abstain=False),
    "three levels": random_channel(2, groups=2, levels=THREE_LEVELS, symbols=5, abstain=False),
    "abstain": random_channel(3, groups=2, levels=THREE_LEVELS, symbols=4, abstain=True),
    "three groups": random_channel(4, groups=3, levels=ENDS, symbols=4, abstain=True),
    "coin": coin_channel(),
}
SHARES: dict[int, list[tuple[float, ...] | None]] = {2: [None, (0.5, 0.5), (0.2, 0.8)], 3: [None, (0.2, 0.3, 0.5)]}
CASES = [(name, shares) for name, channel in CHANNELS.items() for shares in SHARES[channel.groups]]
EVERY_CASE = pytest.mark.parametrize(("name", "shares"), CASES)


def score_of(channel: Channel) -> Vector:
    return np.random.default_rng(9).normal(size=channel.symbols) * 3


def laws(channel: Channel) -> list[Vector]:
    """The law of symbols for each block of inputs, on a fine grid of values."""
    rows = np.array(channel.table, dtype=np.float64) / ROW_SUM
    m = len(channel.levels)
    levels = np.array(channel.levels) / LEVEL_UNIT
    grid = np.sort(np.append(np.linspace(-1, 1, 4001), levels))
    blocks = []
    for g in range(channel.groups):
        columns = rows[g * m : (g + 1) * m].T
        blocks.append(np.array([np.interp(grid, levels, column) for column in columns]).T)
    return [*blocks, rows[-1:]] if channel.abstain else blocks


def joined(of_blocks: list[float], shares: tuple[float, ...] | None, worst=max) -> float:
    """The average client: by shares among those who answer, and any part of people may abstain."""
    if shares is None:
        return float(worst(of_blocks))
    average = sum(p * b for p, b in zip(shares, of_blocks, strict=False))
    return float(worst([average, *of_blocks[len(shares) :]]))


@EVERY_CASE
def test_variance_is_the_largest_over_all_values(name: str, shares: tuple[float, ...] | None):
    channel = CHANNELS[name]
    score = score_of(channel)
    variances = [law @ score**2 - (law @ score) ** 2 for law in laws(channel)]
    spread = spread_about(channel, score, shares)
    assert spread.variance == pytest.approx(joined([float(v.max()) for v in variances], shares), rel=1e-6)
    assert spread.least_variance == pytest.approx(joined([float(v.min()) for v in variances], shares, min), rel=1e-9)


@EVERY_CASE
def test_reach_is_the_largest_distance_of_a_score_from_its_mean(name: str, shares: tuple[float, ...] | None):
    channel = CHANNELS[name]
    score = score_of(channel)
    furthest = max(float(np.abs(score - mean).max()) for law in laws(channel) for mean in law[::400] @ score)
    assert spread_about(channel, score, shares).reach == pytest.approx(furthest, rel=1e-2)
    assert spread_about(channel, score, shares).reach >= furthest - 1e-12


@EVERY_CASE
@pytest.mark.parametrize("sign", [1, -1])
def test_cumulant_is_the_largest_over_all_values(name: str, shares: tuple[float, ...] | None, sign: int):
    channel = CHANNELS[name]
    score = score_of(channel)
    found = spread_about(channel, score, shares).cumulant(TILTS, sign)
    for tilt, bound in zip(TILTS, found, strict=True):
        tops = [
            float((np.log(law @ np.exp(sign * tilt * score)) - sign * tilt * (law @ score)).max())
            for law in laws(channel)
        ]
        brute = joined(tops, shares)
        assert bound >= brute * (1 - 1e-9) - 1e-12
        assert bound == pytest.approx(brute, rel=1e-5, abs=1e-12)


def test_a_small_tilt_gives_half_the_variance():
    for name, shares in CASES:
        spread = spread_about(CHANNELS[name], score_of(CHANNELS[name]), shares)
        tilt = np.array([1e-4])
        for sign in (1, -1):
            assert spread.cumulant(tilt, sign)[0] == pytest.approx(1e-8 * spread.variance / 2, rel=1e-2)


def test_large_scores_do_not_overflow():
    spread = spread_about(coin_channel(), np.array([-1e5, 1e5]), (0.5, 0.5))
    for sign in (1, -1):
        assert np.isfinite(spread.cumulant(np.array([1.0]), sign)).all()


def test_a_constant_score_does_not_spread():
    spread = spread_about(coin_channel(), np.array([2.0, 2.0]), (0.5, 0.5))
    assert spread.variance == pytest.approx(0, abs=1e-12)
    assert spread.cumulant(TILTS, 1) == pytest.approx(0, abs=1e-12)


def spread_of(epsilon: str, share: float) -> Spread:
    scores = Scores(Target((share, 1 - share)))
    decoder = scores.decoder(designed(scores, epsilon, design="uncentred").channel)
    score = decoder.score(scores.target.gap_functional(decoder.inputs, (0, 1)))
    assert score is not None
    return Spread(decoder, score, scores.target.share_vector)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_moments_bound_every_value_between_levels_and_not_by_far(share: float):
    spread = spread_of("2", share)
    third, fourth, single = central_moments(spread)
    worst = np.zeros((2, 3))
    for group, block in enumerate(spread.decoder.inputs.blocks):
        rows = spread.decoder.rows[block]
        for part in np.linspace(0, 1, 41):
            for law in (1 - part) * rows[:-1] + part * rows[1:]:
                centred = spread.score - law @ spread.score
                found = [abs(law @ centred**3), law @ centred**4, law @ centred**2]
                worst[group] = np.maximum(worst[group], found)
    exact = spread.shares @ worst if spread.shares is not None else worst.max(axis=0)
    assert exact[0] * (1 - 1e-9) <= third <= 1.05 * exact[0]
    assert exact[1] * (1 - 1e-9) <= fourth <= 1.05 * exact[1]
    assert worst[:, 2].max() <= single <= 1.05 * worst[:, 2].max()


@pytest.mark.parametrize(("epsilon", "answers", "most"), [("1", 1000, 0.85), ("2", 10_000, 0.75), ("4", 100_000, 0.7)])
def test_it_needs_fewer_clients_than_finite(epsilon: str, answers: int, most: float):
    """A width falls with the root of the number of clients, so its square is how many are needed."""
    spread = spread_of(epsilon, 0.5)
    assert (max(fixed(spread, answers, 0.01)) / max(finite(spread, answers, 0.01))) ** 2 < most


@pytest.mark.parametrize(
    ("bernstein", "central"),
    [
        (_third, lambda f, m2, m3, _: m3 - 3 * f * m2 + 2 * f**3),
        (_fourth, lambda f, m2, m3, m4: m4 - 4 * f * m3 + 6 * f**2 * m2 - 3 * f**4),
    ],
)
def test_central_moments_between_two_points_are_their_polynomials(bernstein: Any, central: Any):
    a, b = np.random.default_rng(3).normal(size=(2, 4, 5))
    coefficients = bernstein(a, b)
    degree = len(coefficients) - 1
    for t in (0.0, 0.3, 0.8, 1.0):
        basis = [math.comb(degree, k) * t**k * (1 - t) ** (degree - k) for k in range(degree + 1)]
        assert np.tensordot(basis, coefficients, 1) == pytest.approx(
            central(*((1 - t) * a + t * b)), rel=1e-9, abs=1e-12
        )


def test_the_fourth_moment_covers_the_normal_factor_of_a_client_too(monkeypatch: pytest.MonkeyPatch):
    """For a coin exactly: exp(-x) <= 1 - x + x^2 / 2 with x = v t^2 / 2, and M_4 = v^2."""
    decoder = Decoder.even(coin_channel(), np.array([0.5, 0.5]))
    spread, known = Spread(decoder, np.array([-4.0, 4.0]), None), []

    def kept(answers: float, times: Vector, bound: Vector, moments: ScoreMoments) -> Vector:
        known.append(moments)
        return distances(answers, times, bound, moments)

    monkeypatch.setattr("fairgauge.paper.fixed_intervals.distances", kept)
    fixed(spread, 1000, 0.05)
    fourth, variance = known[0].fourth[0], spread.variance
    for time in np.linspace(0.01, 0.3, 9):
        x = variance * time**2 / 2
        assert np.exp(-x) <= 1 - x + fourth * time**4 / 24
