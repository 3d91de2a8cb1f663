"""The most that second moments can average to, against a linear program over fine points."""

import numpy as np
import pytest
from scipy.optimize import linprog

from fairgauge.targets import assumed_values as reckoning_module
from fairgauge.targets.assumed_values import Reckoning, largest_averages, worst_law


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
