"""The distance to the normal law against exact distances: a sum of coins is binomial.

Covers: fairgauge.estimation.hypothesis_tests.
"""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from fairgauge.channel import LEVEL_UNIT
from fairgauge.estimation.hypothesis_tests import Hypothesis
from fairgauge.estimation.populations import Laws
from fairgauge.paper import prawitz
from fairgauge.paper.prawitz import ScoreMoments, distances, grid_for, grid_of, modulus
from fairgauge.targets.symbol_scores import Decoder
from tests.samples import sample_channel
from tests.surveys import coin_channel

HALF = np.array([0.5, 0.5])


def exact_distance(part: float, answers: int) -> float:
    """How far the number of ones is from the normal law, at and just before each of its values."""
    ones = np.arange(answers + 1)
    law = binom(answers, part)
    normal = ndtr((ones - law.mean()) / law.std())
    return float(max(np.abs(law.cdf(ones) - normal).max(), np.abs(law.cdf(ones - 1) - normal).max()))


def bound_for(part: float, answers: int) -> float:
    """The bound for a score that is 1 with this probability, from its exact moments."""
    rows = np.tile([1 - part, part], (4, 1))
    decoder = Decoder.even(coin_channel(), HALF)
    object.__setattr__(decoder, "__dict__", {**decoder.__dict__, "rows": rows})
    score = np.array([-part, 1 - part])
    variance, third, fourth = (float(abs(rows[0] @ score**power)) for power in (2, 3, 4))
    times = grid_of(answers).points / np.sqrt(answers * variance)
    heard = modulus(Laws(decoder, HALF), score, times)
    same = np.array([variance])
    known = ScoreMoments(same, same, np.array([third]), np.array([fourth]))
    return float(distances(answers, times, heard, known)[0])


@pytest.mark.parametrize("part", [0.5, 0.2, 0.05])
@pytest.mark.parametrize("answers", [10, 100, 1000, 10**5])
def test_the_bound_is_above_the_exact_distance_and_not_far(part: float, answers: int):
    exact, bound = exact_distance(part, answers), bound_for(part, answers)
    assert exact <= bound
    if answers >= 1000:
        # A lattice is as far from the normal law as anything with these moments; the bound pays for its jumps.
        assert bound < 3 * exact


def test_a_bound_without_one_of_its_terms_is_caught(monkeypatch: pytest.MonkeyPatch):
    """The mutant twin: what lies beyond the fine grid is forgotten, so the jumps of a lattice are not heard."""
    grid = grid_of(1000)
    deaf = prawitz.PrawitzGrid(grid.points, grid.splits, grid.near, 0 * grid.far, 0 * grid.rest)
    monkeypatch.setattr(prawitz, "grid_of", lambda answers: deaf)
    assert bound_for(0.5, 1000) < exact_distance(0.5, 1000)


def pieces(score: list[float], law: list[float], answers: int, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What |f - g| is at most on some pieces, by a kernel that counts one piece and nothing else."""
    values, chances = np.array(score), np.array(law)
    variance, third, fourth = (np.array([abs(float(chances @ values**power))]) for power in (2, 3, 4))
    known, grid = ScoreMoments(variance, variance, third, fourth, size=float(np.abs(values).max())), grid_of(answers)
    times = grid.points / np.sqrt(answers * variance[0])
    found = []
    for piece in range(3, 120, 9):
        only = np.zeros((1, len(grid.points) - 1))
        only[0, piece] = 1.0
        lone = prawitz.PrawitzGrid(grid.points, np.array([1e3]), only, 0 * only, 0 * only)
        monkeypatch.setattr(prawitz, "grid_of", lambda _, lone=lone: lone)
        bound = distances(answers, times, np.ones(len(times) - 1), known)[0]
        for time in np.linspace(times[piece], times[piece + 1], 3):
            exact = (chances @ np.exp(1j * values * time)) ** answers
            found.append(float(abs(exact - np.exp(-answers * variance[0] * time**2 / 2)) / bound))
    monkeypatch.undo()
    return found


@pytest.mark.parametrize(
    ("score", "law", "answers"),
    [
        ([-1.0, 0.0, 1.0], [0.001, 0.998, 0.001], 1),
        ([-1.0, 0.0, 1.0], [0.001, 0.998, 0.001], 30),
        ([-0.2, 0.8], [0.8, 0.2], 1000),
        ([-0.5, 0.5], [0.5, 0.5], 20),
    ],
)
def test_the_curves_are_above_the_exact_ones_on_their_whole_pieces(
    score: list[float], law: list[float], answers: int, monkeypatch: pytest.MonkeyPatch
):
    assert 0.3 < max(pieces(score, law, answers, monkeypatch)) <= 1 + 1e-9


def test_the_tail_of_the_normal_law_is_its_integral(monkeypatch: pytest.MonkeyPatch):
    grid, variance = grid_of(100), np.array([0.25])
    nothing = np.zeros((1, len(grid.points) - 1))
    known, times = ScoreMoments(variance, variance, np.zeros(1), variance**2), grid.points / np.sqrt(100 * variance[0])
    for split in (1.2, 2.2, 3.4):
        lone = prawitz.PrawitzGrid(grid.points, np.array([split]), nothing, nothing, nothing)
        monkeypatch.setattr(prawitz, "grid_of", lambda _, lone=lone: lone)
        found = float(distances(100, times, np.ones(len(times) - 1), known)[0])
        x = np.linspace(split, 40, 400_001)
        assert found == pytest.approx(float(np.trapezoid(np.exp(-(x**2) / 2) / x, x)) / np.pi, rel=1e-6)


def test_the_kernels_decrease_and_the_first_piece_is_bounded():
    x = np.linspace(1e-6, 1 - 1e-6, 200_001)
    kernel, rest = prawitz._kernels(x)
    assert (np.diff(kernel) <= 1e-12).all()
    assert (np.diff(rest) <= 1e-12).all()
    near = x < 0.5
    assert (kernel[near] * x[near] <= np.sqrt(1 / (4 * np.pi**2) + x[near] ** 2 / 4) + 1e-15).all()


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


def test_more_answers_are_closer_and_more_skew_is_farther():
    laws = Laws(Decoder.even(coin_channel(), HALF), HALF)
    asked = Hypothesis(laws, np.array([-4.0, 4.0]))
    assert asked.variance == pytest.approx((16, 16), rel=1e-4)
    found = [bound_for(0.5, answers) for answers in (10, 100, 1000, 10**4, 10**6)]
    assert found == sorted(found, reverse=True)
    assert bound_for(0.05, 1000) > 2 * bound_for(0.5, 1000)


# Each term of the bound is visible in one of these, and both sides of every maximum and minimum.
KNOWN: list[dict[str, float]] = [
    {"count": count, "least": 0.2, "most": 0.25, "single": single} | known
    for count in (1.0, 40.0)
    for single in (0.0, 0.3)
    for known in (
        {"third": 0.0, "fourth": 0.5, "size": 1.0, "bound": 1.0, "left": 0.3, "right": 0.35},
        {"third": 0.4, "fourth": 0.07, "size": 1.0, "bound": 1.0, "left": 0.3, "right": 0.35},
        {"third": 0.1, "fourth": 0.3, "size": 9.0, "bound": 1.0, "left": 1.0, "right": 1.2},
        {"third": 0.1, "fourth": 0.3, "size": 1.0, "bound": 0.6, "left": 1.0, "right": 1.2},
        {"third": 0.0, "fourth": 0.063, "size": 1.0, "bound": 0.99, "left": 2.6, "right": 2.87},
    )
]


def stated(known: dict[str, float]) -> tuple[float, float, float]:
    """Return |f - g|, |f| and g at most, by the page's formulas: each factor at the end where it is largest."""
    count, least, most, third, fourth, single, size, bound, left, right = (
        known[name]
        for name in ("count", "least", "most", "third", "fourth", "single", "size", "bound", "left", "right")
    )
    bend, square, cubed = fourth * right**4 / 24, min(most**2, fourth) * right**4 / 8, third * right**3 / 6
    line, gamma = 1 - least * left**2 / 2, math.exp(-least * left**2 / 2)
    turned = cubed + min(1, size * right / 5) * bend
    error, told = abs(complex(max(bend, square), turned)), abs(complex(line + bend, turned))
    if single:
        error, told = cubed + bend + square, line + cubed + bend
    phi = min(1.0, bound, told if max(most, single) * right**2 < 2 else 1.0)
    others = math.exp(1 - math.exp(-single * right**2 / 2))
    return count * error * max(phi, gamma) ** (count - 1) * others, phi**count, gamma**count


@pytest.mark.parametrize("known", KNOWN)
def test_every_curve_is_the_one_that_the_page_states(known: dict[str, float], monkeypatch: pytest.MonkeyPatch):
    """By kernels that count one piece of one curve, a millionth of it, since no distance is above 1."""
    least, most, third, fourth = (np.array([known[name]]) for name in ("least", "most", "third", "fourth"))
    told = ScoreMoments(least, most, third, fourth, known["single"], known["size"])
    found = []
    for curve in range(3):
        kernels = [np.array([[1e-6 * (curve == other)]]) for other in range(3)]
        lone = prawitz.PrawitzGrid(np.array([0.0, 1.0]), np.array([1e3]), *kernels)
        monkeypatch.setattr(prawitz, "grid_of", lambda _, lone=lone: lone)
        times = np.array([known["left"], known["right"]])
        found.append(1e6 * float(distances(known["count"], times, np.array([known["bound"]]), told)[0]))
    assert found == pytest.approx(list(stated(known)), rel=1e-9)


def test_both_kernels_count_twice_with_the_width_of_their_pieces():
    grid = grid_for(6)
    for row in (0, len(grid.splits) // 2, len(grid.splits) - 1):
        heard = np.flatnonzero(grid.near[row] + grid.far[row])
        x = grid.points[: heard[-1] + 2] / grid.points[heard[-1] + 1]
        split = grid.points[heard] < grid.splits[row] - 1e-9
        whole = (1 - x[1:-1]) / 2 + 0.5j * ((1 - x[1:-1]) / np.tan(np.pi * x[1:-1]) + 1 / np.pi)
        kernel = 2 * np.abs(whole) * np.diff(x)[1:]
        rest = 2 * np.abs(whole - 0.5j / (np.pi * x[1:-1])) * np.diff(x)[1:]
        # |k| x near 0, where |f - g| / x grows; and |k - i / (2 pi x)| is a half there.
        kernel = np.append(2 * math.hypot(1 / (2 * np.pi), x[1] / 2), kernel)
        assert grid.near[row][heard] == pytest.approx(np.where(split, kernel, 0.0), rel=1e-9)
        assert grid.far[row][heard] == pytest.approx(np.where(split, 0.0, kernel), rel=1e-9)
        assert grid.rest[row][heard] == pytest.approx(np.where(split, np.append(x[1], rest), 0.0), rel=1e-9)


def test_the_modulus_is_one_wherever_zero_is_between_two_points():
    """There the second derivative of its square is the largest that there is."""
    laws = Laws(Decoder.even(sample_channel(), HALF), HALF)
    score = np.linspace(-3, 5, laws.rows.shape[1])
    for width in (0.01, 0.1):
        assert modulus(laws, score, np.array([-width / 2, width / 2]))[0] > 1 - 1e-9
