"""The distance to the normal law against exact distances: a sum of coins is binomial.

Covers: fairgauge.estimation.hypothesis.
"""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from fairgauge.channel import LEVEL_UNIT
from fairgauge.estimation.hypothesis import Hypothesis
from fairgauge.estimation.laws import Laws
from fairgauge.paper import prawitz
from fairgauge.paper.prawitz import Moments, distances, grid_of, modulus
from fairgauge.targets.scores import Decoder
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
    known = Moments(same, same, np.array([third]), np.array([fourth]))
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
    deaf = prawitz.Grid(grid.points, grid.splits, grid.near, 0 * grid.far, 0 * grid.rest)
    monkeypatch.setattr(prawitz, "grid_of", lambda answers: deaf)
    assert bound_for(0.5, 1000) < exact_distance(0.5, 1000)


def pieces(score: list[float], law: list[float], answers: int, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What |f - g| is at most on some pieces, by a kernel that counts one piece and nothing else."""
    values, chances = np.array(score), np.array(law)
    variance, third, fourth = (np.array([abs(float(chances @ values**power))]) for power in (2, 3, 4))
    known, grid = Moments(variance, variance, third, fourth, size=float(np.abs(values).max())), grid_of(answers)
    times = grid.points / np.sqrt(answers * variance[0])
    found = []
    for piece in range(3, 120, 9):
        only = np.zeros((1, len(grid.points) - 1))
        only[0, piece] = 1.0
        lone = prawitz.Grid(grid.points, np.array([1e3]), only, 0 * only, 0 * only)
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
    known, times = Moments(variance, variance, np.zeros(1), variance**2), grid.points / np.sqrt(100 * variance[0])
    for split in (1.2, 2.2, 3.4):
        lone = prawitz.Grid(grid.points, np.array([split]), nothing, nothing, nothing)
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
