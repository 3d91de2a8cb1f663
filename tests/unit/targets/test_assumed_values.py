"""The most that second moments can average to, against a linear program over fine points.

What is reckoned of another value bounds second moments: never too small, and as a solver finds.

The least values of convex functions, from values and slopes.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

from fairgauge.channel import LEVEL_UNIT, Channel
from fairgauge.targets import assumed_values as reckoning_module
from fairgauge.targets.assumed_values import (
    AssumedValues,
    Other,
    Reckoning,
    folded,
    largest_averages,
    least_values,
    worst_law,
)
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target


def by_linear_program(levels: np.ndarray, second: np.ndarray, reckoning: Reckoning) -> float:
    """Return the largest average over laws on 1,000 points."""
    points = np.unique(np.concatenate([np.linspace(-1, 1, 1001), levels, [reckoning.mean]]))
    x = points - reckoning.mean
    widest = 4.0 if reckoning.spread is None else reckoning.spread**2
    cost, means = -np.interp(points, levels, second), np.array([np.ones_like(x), x])
    found = linprog(cost, A_ub=np.array([x**2]), b_ub=[widest], A_eq=means, b_eq=[1, 0])
    assert found.fun is not None
    return -float(found.fun)


@pytest.mark.parametrize("mean", [0.0, 0.8, -0.3, 0.95, 1.0])
@pytest.mark.parametrize("spread", [0.05, 0.3, 0.7, None])
def test_it_is_what_a_linear_program_finds(mean: float, spread: float | None):
    rng = np.random.default_rng(12)
    levels = np.unique(np.concatenate([[-1.0, 1.0], rng.uniform(-1, 1, 7)]))
    second = rng.uniform(1, 5, (2, len(levels))) + 3 * (levels - 0.4) ** 2
    reckoning = Reckoning(mean, spread)
    found = largest_averages(levels, second, [reckoning])[0]
    for bound, row in zip(found, second, strict=True):
        reached = by_linear_program(levels, row, reckoning)
        # The points are 0.002 apart, so the program may miss a little; the bound never may.
        assert reached * (1 - 1e-9) <= bound <= reached * (1 + 2e-5)


def test_several_reckonings_are_worked_out_together():
    levels, second = np.array([-1.0, 0.0, 1.0]), np.array([[3.0, 1.0, 2.0]])
    reckonings = [Reckoning(0.5, 0.3), Reckoning(0.5, None), Reckoning(-0.2, 0.1)]
    together = largest_averages(levels, second, reckonings)
    assert together.shape == (3, 1)
    for row, reckoning in zip(together, reckonings, strict=True):
        assert row[0] == largest_averages(levels, second, [reckoning])[0, 0]


def test_without_spread_it_is_the_value_at_the_mean_or_above():
    levels, second = np.array([-1.0, 0.0, 1.0]), np.array([[3.0, 1.0, 2.0]])
    assert largest_averages(levels, second, [Reckoning(0.0, 1e-6)])[0, 0] == pytest.approx(1.0, abs=1e-5)
    # Half at each end: (3 + 2) / 2.
    assert largest_averages(levels, second, [Reckoning(0.0, None)])[0, 0] == 2.5


@pytest.mark.parametrize(
    ("mean", "spread", "any_values", "widest"),
    [(0, 0.3, False, 0.3), (0, 1.0, True, 1.0), (0, None, True, 1.0), (0.6, 0.8, True, 0.8), (0.6, 0.79, False, 0.79)],
)
def test_what_values_can_spread_to(mean: float, spread: float | None, any_values: bool, widest: float):
    reckoning = Reckoning(mean, spread)
    assert reckoning.any_values is any_values
    assert reckoning.widest == pytest.approx(widest)


@pytest.mark.parametrize("levels", [[-1.0, 1.0], [-1.0, 0.0, 1.0], [-1.0, 0.4, 1.0]])
@pytest.mark.parametrize("spread", [0.05, 0.3, None])
def test_one_kink_is_what_a_linear_program_finds(levels: list[float], spread: float | None):
    rows = np.array([[3.0, 1.0, 2.0], [1.0, 4.0, 2.0], [1.0, 2.0, 7.0]])[:, : len(levels)]
    reckonings = [Reckoning(mean, spread) for mean in (-0.8, 0.0, 0.5)]
    found = largest_averages(np.array(levels), rows, reckonings)
    reached = [[by_linear_program(np.array(levels), row, reckoning) for row in rows] for reckoning in reckonings]
    assert np.all(found >= np.array(reached) * (1 - 1e-9))
    assert found == pytest.approx(np.array(reached), rel=2e-5)


def test_rows_with_one_kink_are_not_searched_one_by_one(monkeypatch: pytest.MonkeyPatch):
    # All pairs of 64 groups under 17 levels are two million rows, and a search for each would not end.
    sizes: list[int] = []
    searched = reckoning_module._bounded

    def counted(x: np.ndarray, second: np.ndarray, spread: np.ndarray) -> np.ndarray:
        sizes.append(len(second))
        return searched(x, second, spread)

    monkeypatch.setattr(reckoning_module, "_bounded", counted)
    rows = np.random.default_rng(3).uniform(1, 5, (1000, 3))
    largest_averages(np.array([-1.0, 0.0, 1.0]), rows, [Reckoning(0.1, 0.3), Reckoning(0.5, 0.3)])
    largest_averages(np.array([-1.0, 1.0]), rows[:, :2], [Reckoning(0.1, 0.3)])
    assert sizes == [2]


@pytest.mark.parametrize("even", [True, False])
def test_very_many_rows_have_the_same_bounds_from_above(monkeypatch: pytest.MonkeyPatch, even: bool):
    rng = np.random.default_rng(4)
    levels = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    second = np.repeat(rng.uniform(1, 5, (40, 5)) + 4 * levels**2, 3, axis=0)
    if even:
        second = second + second[:, ::-1]
    reckonings = [Reckoning(mean, spread) for mean in (-0.8, -0.1, 0.8) for spread in (0.1, 0.3, None)]
    one_by_one = largest_averages(levels, second, reckonings)
    monkeypatch.setattr(reckoning_module, "_VERY_MANY", 100)
    found = largest_averages(levels, second, reckonings)
    assert np.all(found >= one_by_one * (1 - 1e-8))
    assert found == pytest.approx(one_by_one, rel=2e-4)
    assert np.median(found / one_by_one) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("mean", [0.0, 0.8, -0.95, 1.0])
@pytest.mark.parametrize("spread", [0.05, 0.3, None])
def test_some_values_reach_the_most(mean: float, spread: float | None):
    rng = np.random.default_rng(7)
    levels = np.unique(np.concatenate([[-1.0, 1.0], rng.uniform(-1, 1, 7)]))
    second = rng.uniform(1, 5, len(levels))
    reckoning = Reckoning(mean, spread)
    law = worst_law(levels, second, reckoning)
    assert law.min() >= -1e-12
    assert law.sum() == pytest.approx(1)
    assert law @ levels == pytest.approx(mean, abs=1e-6)
    assert law @ second == pytest.approx(largest_averages(levels, second[None], [reckoning])[0, 0], rel=1e-4)


def test_level_second_moments_still_have_a_law():
    # Level but for rounding, as those of randomized response at a tiny epsilon are.
    levels, second = np.array([-1.0, 0.0, 1.0]), np.full(3, 318403.33000091044)
    law = worst_law(levels, second, Reckoning(0.8, 0.3))
    assert law.min() >= 0
    assert [law.sum(), law @ levels] == pytest.approx([1, 0.8])


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


def bent(slopes: np.ndarray, heights: np.ndarray):
    """Functions of straight pieces: the largest of some lines, a row of lines for each function."""
    asked = []

    def functions(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        asked.append(points)
        lines = slopes * points[:, None] + heights
        which = lines.argmax(axis=1)
        each = np.arange(len(lines))
        return lines[each, which], slopes[each, which]

    return functions, asked


def test_the_least_of_straight_pieces_is_found_exactly_and_soon():
    rng = np.random.default_rng(3)
    slopes, heights = rng.normal(size=(50, 40)), rng.normal(size=(50, 40))
    functions, asked = bent(slopes, heights)
    found = least_values(functions, np.full(50, -100.0), np.full(50, 100.0), close=np.full(50, 1e-9))
    # The least of the largest line is where two lines meet: try all.
    exact = []
    for slope, height in zip(slopes, heights, strict=True):
        meet = (height[None, :] - height[:, None]) / (slope[:, None] - slope[None, :] + np.eye(40))
        points = np.unique(meet[np.abs(meet) < 100])
        exact.append((np.multiply.outer(points, slope) + height).max(axis=1).min())
    assert found == pytest.approx(exact, abs=1e-8)
    assert len(asked) < 15  # a golden section takes 50


def test_where_the_least_is_at_an_end_the_end_is_taken():
    functions, _ = bent(np.array([[1.0, 2.0], [-1.0, -3.0]]), np.zeros((2, 2)))
    found = least_values(functions, np.array([2.0, 1.0]), np.array([5.0, 4.0]), close=np.full(2, 1e-9))
    assert found == pytest.approx([4.0, -4.0])


def test_smooth_functions_are_met_closely():
    def square(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (points - 0.3) ** 2, 2 * (points - 0.3)

    found = least_values(square, np.array([-1.0]), np.array([4.0]), close=np.array([1e-6]))
    assert 0 <= found[0] <= 1e-6
