"""The program of least total error for two groups, and its pricing."""

from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from fairgauge.designs.column_generation import Columns, Prices
from fairgauge.designs.level_count import even_levels, levels_about
from fairgauge.designs.two_groups import TwoGroups, _best_columns, _Folded
from fairgauge.targets.assumed_values import Reckoning, largest_averages

HALVES, TENTH = (0.5, 0.5), (0.1, 0.9)


def problem(
    shares: tuple[float, float] = HALVES, mean: float = 0.0, spread: float | None = 0.3, count: int = 5, **more: float
) -> TwoGroups:
    return TwoGroups(even_levels(count), shares, Decimal(2), Reckoning(mean, spread), **more)


PROBLEMS = [problem(), problem(mean=0.8), problem(TENTH), problem(TENTH, 0.6), problem(TENTH, -0.5, None, 2)]


@pytest.mark.parametrize("of", PROBLEMS)
def test_the_law_is_private_and_unbiased_but_for_one_constant(of: TwoGroups):
    law = of.law()
    assert law.sum(axis=1) == pytest.approx(np.ones(of.inputs.count), abs=1e-12)
    assert law.min() > 0
    assert (law.max(axis=0) / law.min(axis=0)).max() <= np.exp(2) * (1 + 1e-12)
    # Some score has the mean (target - c shift): both are in the range of the law together.
    stacked = np.column_stack([law, of.shift])
    score = np.linalg.lstsq(stacked, of.target, rcond=None)[0]
    assert stacked @ score == pytest.approx(of.target, abs=1e-11)


@pytest.mark.parametrize(
    ("shares", "mean", "turns"), [(HALVES, 0, 4), (HALVES, 0.8, 2), (TENTH, 0, 2), (TENTH, 0.8, 1)]
)
def test_symmetries_change_the_size_and_not_the_value(shares, mean, turns, monkeypatch: pytest.MonkeyPatch):
    of = problem(shares, mean)
    assert len(of.turns) == turns
    folded = total(of)
    alone = TwoGroups(of.levels, shares, of.epsilon, of.reckoning)
    alone.__dict__["turns"] = of.turns[:1]  # what a cached property keeps
    assert total(alone) == pytest.approx(folded, rel=0.012)


def total(of: TwoGroups) -> float:
    """Return the total error that the mixture's own scores have, exactly."""
    (patterns, scores), weights = of.solve()
    second = np.zeros(of.inputs.count)
    for turn in of.turns:
        moved = np.empty_like(patterns)
        moved[:, turn.inputs] = patterns
        second += (weights * scores**2) @ moved / len(of.turns)
    bounds = largest_averages(of.levels, second.reshape(2, -1), [of.reckoning])[0]
    return float(bounds @ np.array(of.shares)) * of.unit**2


def test_it_is_the_optimum_of_a_program_over_every_pattern_and_a_grid_of_scores():
    of = problem(TENTH, 0.4, None, 2)
    patterns = np.array(list(product([1.0, of.high], repeat=4)))
    scores = np.linspace(-6, 6, 241)
    columns = [(pattern, score) for pattern in patterns for score in scores]
    z, y = np.array([c[0] for c in columns]), np.array([c[1] for c in columns])
    # Variables: weights, c, T and l of each group; at the two levels x = v - mean.
    x = of.levels - 0.4
    equal = np.hstack([np.vstack([z.T, (z * y[:, None]).T]), np.zeros((8, 5))])
    equal[4:, len(y)] = of.shift
    bound = np.hstack([(z * y[:, None] ** 2).T, np.zeros((4, 5))])
    for row, (group, side) in enumerate(product(range(2), repeat=2)):
        bound[row, len(y) + 1 + 2 * group : len(y) + 3 + 2 * group] = [-1, -x[side]]
    found = linprog(
        np.concatenate([np.zeros(len(y) + 1), [0.1, 0, 0.9, 0]]), A_ub=bound, b_ub=np.zeros(4), A_eq=equal,
        b_eq=np.concatenate([np.ones(4), of.target]), bounds=[(0, None)] * len(y) + [(None, None)] * 5,
    )  # fmt: skip
    assert found.fun is not None
    # The grid costs a little.
    assert 0.99 <= total(of) / (found.fun * of.unit**2) <= 1.006


def test_a_given_constant_is_kept():
    of = problem(TENTH, 0.6, constant=0.6)
    law = of.law()
    wanted = of.target - 0.6 * of.shift
    score = np.linalg.lstsq(law, wanted, rcond=None)[0]
    assert law @ score == pytest.approx(wanted, abs=1e-11)


def test_levels_are_densest_near_the_mean():
    levels = levels_about(0.8, 0.3, 11)
    assert (levels[0], levels[-1], len(levels)) == (-1, 1, 11)
    steps = np.diff(levels)
    assert steps.min() > 0
    assert steps.argmin() == np.abs(levels[:-1] - 0.8).argmin() or steps.argmin() + 1 == np.abs(levels - 0.8).argmin()
    assert steps[0] > 3 * steps.min()
    assert np.array_equal(levels, np.round(levels * 2**30) / 2**30)


HIGH = 4.0


def prices(seed: int) -> Prices:
    rng = np.random.default_rng(seed)
    # Inputs without weight too: there a gain is a straight line.
    weight = rng.uniform(0.1, 1, 6) * (rng.random(6) < 0.8)
    return Prices(1.0, rng.normal(size=6), rng.normal(size=6), weight)


@pytest.mark.parametrize("seed", range(6))
def test_nothing_costs_less_than_the_best_column(seed: int):
    priced, costs = prices(seed), _Folded(problem(count=3)).costs
    least = costs(priced, _best_columns(priced, HIGH)).min()
    every = np.array(list(product([1.0, HIGH], repeat=6)))
    for score in np.linspace(-50, 50, 4001):
        assert costs(priced, Columns(every, np.full(len(every), score))).min() >= least - 1e-9


def test_every_column_is_a_pattern_of_one_and_high():
    patterns, scores = _best_columns(prices(1), HIGH)
    assert set(np.unique(patterns)) <= {1.0, HIGH}
    assert len(scores) == len(patterns) > 3
