"""Tails of sums against exact ones: a sum of coins is binomial, and a sum of a few numbers is a convolution."""

import math
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erfcx, exp1, ndtr
from scipy.stats import binom

from fairgauge.channel import LEVEL_UNIT
from fairgauge.estimation.edgeworth import (
    _TOP,
    Drawn,
    Grid,
    Heard,
    Moments,
    Tails,
    _correction,
    _curves_of,
    _moduli,
    bernstein,
    grid_of,
    modulus,
)
from fairgauge.estimation.populations import Laws
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.symbol_scores import Decoder
from tests.samples import sample_channel
from tests.surveys import coin_channel

HALF = np.array([0.5, 0.5])


def tails_of(score: Vector, law: Vector, answers: int) -> Tails:
    """What is known if everyone answers by one law: its exact moments and its own characteristic function."""
    variance, third, fourth = (np.array([float(law @ score**power)]) for power in (2, 3, 4))
    decoder = Decoder.even(coin_channel(), HALF)
    object.__setattr__(decoder, "__dict__", {**decoder.__dict__, "rows": np.tile(law, (4, 1))})
    heard = Heard.of(Laws(decoder, HALF), score, answers, float(np.sqrt(variance[0])))
    known = Moments(variance, variance, (third, third), fourth, float(np.abs(score).max()))
    return Tails(answers, heard, known)


def coin(part: float, answers: int) -> Tails:
    return tails_of(np.array([-part, 1 - part]), np.array([1 - part, part]), answers)


def exact_above(part: float, answers: int, average: float) -> float:
    """How likely the average of so many coins, less its mean, is to be at least this."""
    return float(binom.sf(np.ceil((average + part) * answers - 1e-9) - 1, answers, part))


@pytest.mark.parametrize("part", [0.5, 0.2, 0.95, 0.05])
@pytest.mark.parametrize("answers", [1, 2, 10, 100, 1000, 10**5])
def test_the_bound_is_above_the_exact_tail_and_not_far(part: float, answers: int):
    tails, deviation = coin(part, answers), float(np.sqrt(part * (1 - part) / answers))
    for z in (0.5, 1.0, 1.7, 2.0, 2.6, 3.3):
        above, below = (float(side(z * deviation)[0]) for side in (tails.above, tails.below))
        assert exact_above(part, answers, z * deviation) <= above
        assert exact_above(1 - part, answers, z * deviation) <= below
        if answers >= 10**5:
            assert above < 1.1 * exact_above(part, answers, (z - 0.02) * deviation) + 1e-4


def test_a_skewed_score_is_bounded_by_its_convolution():
    score, law = np.array([-1.0, 0.0, 7.0]), np.array([0.7, 0.2, 0.1])
    answers = 400
    exact = np.array([1.0])
    for _ in range(answers):
        exact = np.convolve(exact, [0.7, 0.2, 0, 0, 0, 0, 0, 0, 0.1])
    sums, tails = np.arange(len(exact)) - answers, tails_of(score, law, answers)
    for total in range(20, 250, 5):
        above, below = float(tails.above(total / answers)[0]), float(tails.below(total / answers)[0])
        assert exact[sums >= total].sum() <= above <= exact[sums >= total].sum() + 0.02
        assert exact[sums <= -total].sum() <= below


def test_a_bound_that_forgets_the_skewness_or_the_lattice_is_caught():
    """The mutant twins: the normal law as it is, and nothing paid for what smoothing reaches."""
    tails = coin(0.01, 10**5)
    straight = replace(tails, moments=replace(tails.moments, third=(np.zeros(1), np.zeros(1))))
    average = 3.1 * float(np.sqrt(0.01 * 0.99 / 10**5))
    straight.__dict__["_left"] = np.zeros(1), np.zeros((1, 1))
    assert straight.above(average)[0] < exact_above(0.01, 10**5, average) <= tails.above(average)[0]
    lattice, free = coin(0.5, 100), coin(0.5, 100)
    free.__dict__["_left"] = np.zeros(1), lattice._left[1].min(axis=0, keepdims=True)
    assert free.above(0.05)[0] < exact_above(0.5, 100, 0.05) <= lattice.above(0.05)[0]


def characteristic(law: Vector, score: Vector, answers: int, times: Vector) -> tuple[Vector, Vector]:
    """The exact characteristic functions of the sum, and of the normal law with its correction."""
    phi = law @ np.exp(1j * np.multiply.outer(score, times))
    variance, third = float(law @ score**2), float(law @ score**3)
    normal = np.exp(-answers * variance * times**2 / 2) * (1 - 1j * answers * third * times**3 / 6)
    return phi**answers, normal


# Two points whose fourth moment is that of the normal law, so that the square of what differs is all that counts; rare
# ones, whose fourth moment is most of what differs; and a symmetric law, that has no third moment at all.
TIGHT = [
    ([-0.211325, 0.788675], [0.788675, 0.211325], 10**5),
    ([-0.211325, 0.788675], [0.788675, 0.211325], 10**3),
    ([-0.001, 0.999], [0.999, 0.001], 1),
    ([-1.0, 0.0, 1.0], [0.001, 0.998, 0.001], 1),
    ([-0.5, 0.5], [0.5, 0.5], 50),
]


@pytest.mark.parametrize(("score", "law", "answers"), TIGHT)
def test_every_curve_is_above_the_exact_one_on_its_whole_piece(score: list[float], law: list[float], answers: int):
    tails = tails_of(np.array(score), np.array(law), answers)
    near, far, normal = (curve[0] for curve in tails._curves)
    times = tails.heard.grid.points / tails.heard.scale
    for part in (0.05, 0.5, 1.0):
        between = times[:-1] + part * np.diff(times)
        exact, corrected = characteristic(np.array(law), np.array(score), answers, between)
        assert (np.abs(exact - corrected) / between <= near * (1 + 1e-9) + 1e-13).all()
        assert (np.abs(exact) <= far + 1e-13).all()
        assert (np.abs(corrected) <= normal * (1 + 1e-9) + 1e-13).all()


@pytest.mark.parametrize(("least", "most"), [(1.0, 1.0), (0.9, 1.2)])
def test_the_tail_is_the_normal_laws_with_its_correction_and_what_is_left(least: float, most: float):
    """The largest over the case's variances and third moments, by a grid."""
    tails, answers = coin(0.2, 400), 400
    variance, third = float(tails.moments.least[0]), float(tails.moments.third[0][0])
    known = replace(tails.moments, least=least * tails.moments.least, most=most * tails.moments.most)
    wide = replace(tails, moments=replace(known, third=(-tails.moments.third[0], tails.moments.third[0])))
    wide.__dict__["_left"] = np.array([0.5]), np.array([[0.003]])
    for average in (0.005, 0.02, 0.03, 0.045, 0.07):
        v = variance * np.linspace(least, most, 101)
        z = (average * answers - 0.5) / np.sqrt(answers * v)
        density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        skew = third / (6 * np.sqrt(answers) * v**1.5)
        exact = max(float((ndtr(-z) + sign * skew * (z**2 - 1) * density).max()) for sign in (1, -1)) + 0.003
        found = float(wide.above(average)[0])
        assert exact * (1 - 1e-9) <= found
        if least == most:
            assert found == pytest.approx(exact, rel=1e-9)


def test_the_correction_is_largest_at_the_root_of_three():
    assert float(_correction(np.linspace(0, 6, 60_001)).max()) <= float(_correction(np.array(_TOP))) * (1 + 1e-12)
    tails, answers = coin(0.2, 400), 400
    variance, third = tails.moments.least, float(tails.moments.third[0][0])
    least, most = (1 - 1e-7) * variance, (1 + 1e-7) * variance
    around = replace(tails, moments=replace(tails.moments, least=least, most=most))
    around.__dict__["_left"] = np.array([0.5]), np.array([[0.003]])
    average = (math.sqrt(3 * answers * float(variance[0])) + 0.5) / answers
    skew = third / (6 * math.sqrt(answers) * float(variance[0]) ** 1.5)
    expected = ndtr(-math.sqrt(3)) + skew * 2 * math.exp(-1.5) / math.sqrt(2 * math.pi) + 0.003
    assert float(around.above(average)[0]) == pytest.approx(expected, rel=1e-5)


def test_the_integral_is_above_the_exact_one_and_not_far():
    """One fair coin: far out there is nothing but what the table says, and the bound follows it closely."""
    tails = coin(0.5, 1)
    grid, scale = tails.heard.grid, tails.heard.scale
    times = np.linspace(1e-4, 400 / scale, 400_001)
    exact, corrected = characteristic(np.array([0.5, 0.5]), np.array([-0.5, 0.5]), 1, times)
    ways = np.arange(len(grid.reaches))
    found = tails._summed(ways, slice(None))[:, 0]
    for way in (0, 1, 2, len(ways) // 2, len(ways) - 1):
        sums = (1, 2, 4)[way % 3]
        smooth = np.sinc(times * scale * grid.reaches[way] / sums / np.pi) ** sums
        integral = np.trapezoid(np.abs(exact * smooth - corrected) / times, times) / np.pi
        assert integral <= found[way] + 1e-6
    integral = np.trapezoid(np.abs(exact * np.sinc(times * scale * grid.reaches[0] / np.pi) - corrected) / times, times)
    assert integral / np.pi > 0.6 * found[0]


def test_what_lies_beyond_the_last_point_is_paid_for():
    """A grid that ends early, as it does where the variance may be far smaller than the scale."""
    tails = coin(0.2, 3)
    early = replace(tails, heard=replace(tails.heard, scale=20 * tails.heard.scale))
    end = early.heard.grid.points[-1] / early.heard.scale
    times = np.linspace(end, 60 * end, 200_001)
    _, corrected = characteristic(np.array([0.8, 0.2]), np.array([-0.2, 0.8]), 3, times)
    integral = float(np.trapezoid(np.abs(corrected) / times, times)) / np.pi
    assert 1e-6 < integral <= float(early._beyond[0]) < 10 * integral
    ways, before = np.arange(3), early._summed(np.arange(3), slice(None))
    early.__dict__["_beyond"] = early._beyond + 7
    assert early._summed(ways, slice(None)) == pytest.approx(before + 7)


def test_what_smoothing_costs_near_zero_is_its_variance():
    grid = grid_of(300)
    for way, (reach, spread) in enumerate(zip(grid.reaches, grid.spreads, strict=True)):
        sums, time = (1, 2, 4)[way % 3], 0.01 / reach
        assert spread * time**2 / 2 == pytest.approx(1 - np.sinc(time * reach / sums / np.pi) ** sums, rel=1e-3)


def test_cases_cover_every_variance_and_skewness_between_their_ends():
    part, answers = 0.2, 1000
    tails = coin(part, answers)
    variance, third = tails.moments.least, tails.moments.third[0]
    wide = replace(
        tails, moments=replace(tails.moments, least=0.9 * variance, most=1.2 * variance, third=(-third, 2 * third))
    )
    for average in np.linspace(0.001, 0.06, 40):
        assert wide.above(float(average))[0] >= tails.above(float(average))[0]
        assert wide.below(float(average))[0] >= tails.below(float(average))[0]


def test_the_limit_is_where_the_tail_meets_the_level():
    tails = coin(0.3, 10_000)
    limit = tails.limit(0.005)
    assert max(tails.above(limit)[0], tails.below(limit)[0]) <= 0.005
    assert max(tails.above(0.999 * limit)[0], tails.below(0.999 * limit)[0]) > 0.005
    assert coin(0.5, 1).limit(0.005) == np.inf


def test_smoothing_is_bounded_between_the_points():
    grid = grid_of(300)
    between = np.linspace(grid.points[:-1], grid.points[1:], 9)
    for sums, reach, bound in ((1, grid.reaches[0], grid.smooth[0]), (4, grid.reaches[-1], grid.smooth[-1])):
        assert (np.abs(np.sinc(between * reach / sums / np.pi)) ** sums <= bound + 1e-12).all()


def test_the_modulus_bounds_every_mixture_between_the_points():
    channel = sample_channel(levels=tuple(LEVEL_UNIT * k // 2 for k in range(-2, 3)))
    laws = Laws(Decoder.even(channel, HALF), HALF)
    score = np.linspace(-3, 5, 10)
    times = np.linspace(0, 4, 60)
    bound = modulus(laws, score, times)
    rng = np.random.default_rng(3)
    for _ in range(50):
        law = np.concatenate([0.5 * rng.dirichlet(np.full(5, 0.3)) for _ in range(2)])
        between = np.linspace(times[:-1], times[1:], 7)
        phi = np.abs(np.exp(1j * np.multiply.outer(between, score)) @ (law @ laws.rows))
        assert (phi <= bound + 1e-12).all()


def test_between_two_points_moduli_and_smoothing_are_as_the_page_states():
    """The larger of two squares and :math:`h^2 Var / 4`; and a sine's larger size and half the way, over the nearer."""
    rows, score, times = np.array([[0.3, 0.5, 0.2], [0.1, 0.1, 0.8]]), np.array([-1.0, 0.3, 2.0]), np.array([0.8, 1.3])
    variance = rows @ score**2 - (rows @ score) ** 2
    square = np.abs(rows @ np.exp(1j * np.multiply.outer(score, times))) ** 2
    expected = np.sqrt(square.max(axis=1) + 0.25 * variance / 4)
    assert (expected < 1).all()
    assert _moduli(rows, score, times)[:, 0] == pytest.approx(expected, rel=1e-12)
    grid = grid_of(300)
    for way in (0, 1, 2, 30):
        sums = (1, 2, 4)[way % 3]
        x = grid.points[1:] * grid.reaches[way] / sums
        swing = np.maximum(np.abs(np.sin(x[:-1])), np.abs(np.sin(x[1:]))) + np.diff(x) / 2
        assert grid.smooth[way, 1:] == pytest.approx(np.minimum(1, np.minimum(1, swing) / x[:-1]) ** sums, rel=1e-9)


@pytest.mark.parametrize("part", [0.5, 0.1])
def test_the_rough_bound_is_never_below_the_tail(part: float):
    answers = 200
    for ones in range(int(part * answers) + 1, answers, 7):
        bound = float(bernstein(ones / answers - part, part * (1 - part), 1 - part, answers))
        assert bound >= binom.sf(ones - 1, answers, part)


# What is known of one score, the piece from left to right, what |phi| is said to be at most there, and how many scores.
# Every term of the bounds is visible in one of them, and both sides of every maximum and minimum.
KNOWN: list[tuple[float, dict[str, float]]] = [
    (count, {"least": least, "most": most, "third": third, "fourth": fourth, "size": size, "bound": bound} | piece)
    for count in (1.0, 2.0, 70.0)
    for least, most, third, fourth, size, bound, piece in (
        (0.2, 0.25, 0.0, 0.5, 1.0, 1.0, {"left": 0.3, "right": 0.35}),
        (0.2, 0.25, -0.4, 0.07, 1.0, 1.0, {"left": 0.3, "right": 0.35}),
        (0.2, 0.25, 0.9, 0.0, 1.0, 1.0, {"left": 0.5, "right": 0.5}),
        (0.2, 0.25, 0.1, 0.3, 9.0, 1.0, {"left": 1.0, "right": 1.2}),
        (0.2, 0.25, 0.1, 0.3, 1.0, 0.6, {"left": 1.0, "right": 1.2}),
        (0.2, 0.25, 0.0, 0.063, 1.0, 0.99, {"left": 2.6, "right": 2.87}),
        (0.2, 0.25, 0.0, 0.063, 1.0, 0.99, {"left": 2.6, "right": 2.8}),
    )
]


def stated(count: float, *, left: float, right: float, bound: float, size: float, **known: float) -> tuple[float, ...]:
    """Return |f - g| / t, |f| and |g| at most, by the page's formulas: each factor at the end where it is largest."""
    least, most, third, fourth = known["least"], known["most"], abs(known["third"]), known["fourth"]
    real = max(fourth / 24, min(most**2, fourth) / 8) * right**4
    turned = min(1, size * right / 5) * fourth * right**4 / 24
    cubed, gamma = third * right**3 / 6, math.exp(-least * left**2 / 2)
    rho, delta = abs(complex(real, turned)), abs(complex(real, turned + cubed))
    told = abs(complex(1 - least * left**2 / 2 + fourth * right**4 / 24, turned + cubed))
    phi = min(1.0, bound, told if most * right**2 < 2 else 1.0)
    near = count * gamma ** (count - 1) * (rho + most * right**2 / 2 * cubed)
    near += count * (count - 1) / 2 * delta**2 * max(phi, gamma) ** max(count - 2, 0)
    return near / right, phi**count, gamma**count * math.hypot(1, count * cubed)


def moments_of(least: float, most: float, third: float, fourth: float, size: float) -> Moments:
    low, high, skewed, bent = (np.array([each]) for each in (least, most, third, fourth))
    return Moments(low, high, (skewed, skewed), bent, size)


@pytest.mark.parametrize(("count", "known"), KNOWN)
def test_every_curve_is_the_one_that_the_page_states(count: float, known: dict[str, float]):
    """Every constant by itself: those of terms that are never all of a sum could be smaller, and no sum would tell."""
    told = moments_of(*(known[name] for name in ("least", "most", "third", "fourth", "size")))
    times = np.array([known["left"], known["right"]])
    found = [float(curve[0, 0]) for curve in _curves_of(count, told, np.array([known["bound"]]), times)]
    assert found == pytest.approx(list(stated(count, **known)), rel=1e-9)


@pytest.mark.parametrize("third", [0.03, -0.05])
def test_draws_are_added_as_the_page_states(third: float):
    left, right, count, drawn = 0.3, 0.4, 40.0, 25.0
    mine = {"least": 0.2, "most": 0.25, "third": 0.04, "fourth": 0.1, "size": 1.0, "bound": 0.98}
    other = {"least": 0.15, "most": 0.15, "third": third, "fourth": 0.08, "size": 1.2, "bound": 0.97}
    points, none = np.array([left, right]), np.zeros(1)
    grid = Grid(points, none, none, np.zeros((1, 1)), none)
    told = moments_of(*(mine[name] for name in ("least", "most", "third", "fourth", "size")))
    variance, skewed, fourth = (np.array([other[name]]) for name in ("least", "third", "fourth"))
    draws = Drawn(drawn, variance, skewed, fourth, other["size"], np.array([other["bound"]]))
    tails = Tails(count, Heard(grid, 1.0, np.array([mine["bound"]])), told, drawn=draws)
    near, far, normal = stated(count, left=left, right=right, **mine)
    besides, beside, _ = stated(drawn, left=left, right=right, **other)
    gamma = math.exp(-(count * mine["least"] + drawn * other["least"]) * left**2 / 2)
    crossed = gamma * count * mine["third"] * drawn * abs(third) * right**5 / 36
    turned = (count * mine["third"] + drawn * third) * right**3 / 6
    expected = near * beside + normal * besides + crossed, far * beside, gamma * math.hypot(1, turned)
    assert [float(curve[0, 0]) for curve in tails._curves] == pytest.approx(list(expected), rel=1e-9)


def test_the_sum_over_pieces_is_the_one_that_the_page_states():
    """On each piece |f - g| / t and what smoothing costs, or what both have far out, over pi; and what is beyond."""
    scale, spread, smooth, rest = 2.0, 0.7, 0.4, 0.03
    grid = Grid(
        points=np.array([0.0, 1.0, 3.0, 4.0]),
        reaches=np.array([0.6]),
        spreads=np.array([spread]),
        smooth=np.array([[1.0, smooth, smooth]]),
        rest=np.array([rest]),
    )
    tails = Tails(9.0, Heard(grid, scale, np.ones(3)), moments_of(1.0, 1.0, 0.0, 3.0, 2.0), np.array([0]))
    near, far, normal = np.array([[0.1, 0.2, 5.0]]), np.array([[1.0, 0.9, 0.3]]), np.array([[1.0, 0.5, 0.2]])
    tails.__dict__.update(_curves=(near, far, normal), _beyond=np.array([0.01]))
    first = (0.1 + 1.0 * 0.5 / 2 * spread * scale**2) * 0.5
    second = (0.2 + 0.5 * 1.5 / 2 * spread * scale**2) * 1.0
    third = (0.3 * smooth + 0.2) / 1.5 * 0.5
    assert second < (0.9 * smooth + 0.5) / 0.5
    expected = (first + second + third + rest) / math.pi + 0.01
    reaches, left_over = tails._left
    assert (float(reaches[0]), float(left_over[0, 0])) == pytest.approx((0.6 * scale, expected), rel=1e-12)


def test_the_terms_of_the_moments_bound_what_they_are_for():
    """A cosine less its parabola, a sine less its cubic and the normal factor less its line, in sixty digits."""
    with localcontext() as context:
        context.prec = 60
        for time in (Decimal("0.01"), Decimal("0.3"), Decimal(1)):
            assert 0 <= _cosine(time) - (1 - time**2 / 2) <= time**4 / 24
            assert abs(_sine(time) - (time - time**3 / 6)) <= time / 5 * time**4 / 24
            assert 0 <= (-(time**2) / 2).exp() - (1 - time**2 / 2) <= time**4 / 8
            assert Decimal("0.75") * time**2 / 2 < 1 - (-(time**2) / 2).exp() <= time**2 / 2
        # None of them could be a hundredth smaller.
        time = Decimal("0.01")
        assert _cosine(time) - (1 - time**2 / 2) > Decimal("0.99") * time**4 / 24
        assert abs(_sine(time) - (time - time**3 / 6)) > Decimal("0.99") * time / 5 * time**4 / 24
        assert (-(time**2) / 2).exp() - (1 - time**2 / 2) > Decimal("0.99") * time**4 / 8


def _cosine(x: Decimal) -> Decimal:
    return sum(((-1) ** k * x ** (2 * k) / math.factorial(2 * k) for k in range(25)), start=Decimal(0))


def _sine(x: Decimal) -> Decimal:
    return sum(((-1) ** k * x ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(25)), start=Decimal(0))


def test_what_lies_beyond_the_last_point_is_hardly_more_than_it_is():
    r"""Twice by parts: :math:`\int_T^\infty t^2 e^{-a t^2 / 2} dt = (T e^{-a T^2 / 2} + \int_T^\infty e^{...}) / a`."""
    end = 20.0
    grid = Grid(np.array([0.0, end]), *(np.ones(1) for _ in range(4)))
    for variance, third, close in ((1.0, 0.0, 6e-3), (1.0, 6e9, 2e-5), (0.7, 6e9, 3e-5)):
        tails = Tails(1.0, Heard(grid, 1.0, np.ones(1)), moments_of(variance, variance, third, 1.0, 1.0))
        normal = math.sqrt(math.pi / (2 * variance)) * float(erfcx(end * math.sqrt(variance / 2)))
        low = variance * end**2 / 2
        exact = exp1(low) / 2 * math.exp(low) + third / 6 * (end + normal) / variance
        assert 1 <= float(tails._beyond[0]) * math.exp(low) * math.pi / exact < 1 + close


def test_beyond_the_last_point_smoothing_is_a_power():
    grid = grid_of(50)
    for way, (reach, rest) in enumerate(zip(grid.reaches, grid.rest, strict=True)):
        sums, end = (1, 2, 4)[way % 3], float(grid.points[-1])
        # In units of the last point.
        exact = quad(lambda t, s=sums: t**-s / t, 1, np.inf)[0] * (reach * end / sums) ** -sums
        assert rest == pytest.approx(exact, rel=1e-6)


def test_the_modulus_is_one_wherever_zero_is_between_two_points():
    """There the second derivative of its square is the largest that there is."""
    rows, score = np.array([[0.3, 0.5, 0.2], [0.1, 0.1, 0.8]]), np.array([-1.0, 0.3, 2.0])
    for width in (0.01, 0.1, 0.5):
        assert (_moduli(rows, score, np.array([-width / 2, width / 2])) > 1 - 1e-12).all()


@pytest.mark.parametrize("part", [0.001, 0.05, 0.1])
def test_the_rough_bound_is_just_above_bennetts(part: float):
    r"""Its exponent is below :math:`(1+u) \ln(1+u) - u`, u = R a / v, by no more than :math:`u^4 / 30`."""
    variance, size, answers = 0.5, 2.0, 3.0
    bennett = answers * variance / size**2 * ((1 + part) * math.log1p(part) - part)
    found = -math.log(float(bernstein(part * variance / size, variance, size, answers)))
    assert bennett - answers * variance / size**2 * part**4 / 30 - 1e-15 <= found <= bennett + 1e-15
