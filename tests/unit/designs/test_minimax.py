"""Column generation: what its solution is made of, and the limits it can and cannot pass."""

import math
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.designs.levelled import best_channel, channel_columns, problem_of, starts_of
from fairgauge.designs.minimax import _CLOSE, Minimax, Problem, Solution
from fairgauge.designs.pricing import Columns, Pricing
from fairgauge.designs.program import Duals, Program
from fairgauge.designs.randomized_response import randomized_response
from fairgauge.designs.symmetry import images
from fairgauge.errors import Impossible
from fairgauge.goals.goal import Goal
from fairgauge.goals.inputs import Matrix, Vector


def solved(goal: Goal, epsilon: str, levels: int) -> tuple[Problem, Minimax, Solution, float]:
    problem, unit = problem_of(goal, Decimal(epsilon), levels)
    first = channel_columns(goal, randomized_response(goal, Decimal(epsilon)), problem.inputs, unit)
    minimax = Minimax(problem)
    size = np.abs(first.scores).max(axis=0)
    return problem, minimax, minimax.solve(first, starts_of(problem, size)), unit


def whole(minimax: Minimax, solution: Solution) -> tuple[Matrix, Matrix, Matrix]:
    """The columns with their scores and weights, and all that symmetries make of them."""
    patterns, scores, weights = [], [], []
    moves = [(move.symmetry, move.basis) for move in minimax.moves]
    for pattern, score, weight in zip(*solution.columns, solution.weights, strict=True):
        orbit = images(pattern, score, moves)
        for image, moved in orbit:
            patterns.append(image)
            scores.append(moved)
            weights.append(weight / len(orbit))
    return np.array(patterns), np.array(scores), np.array(weights)


@pytest.mark.parametrize(
    "goal",
    [Goal((0.5, 0.5)), Goal((0.3, 0.7), target="means"), Goal((0.2, 0.3, 0.5)), Goal((0.5, 0.5), shares_known=False)],
)
def test_the_columns_make_a_private_unbiased_channel(goal: Goal):
    problem, minimax, solution, _ = solved(goal, "1", 3)
    patterns, scores, weights = whole(minimax, solution)
    assert weights.min() > 0
    assert weights @ patterns == pytest.approx(np.ones(problem.inputs.count), abs=1e-10)
    assert patterns.max() / patterns.min() <= math.e * (1 + 1e-12)
    if goal.groups > 2 or not goal.shares_known:
        return  # with vector scores, a symmetric column stands for two that differ in their score
    reached = (weights[:, None] * patterns).T @ scores
    assert reached == pytest.approx(problem.basis, abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 0.7])
def test_no_value_is_below_the_limit(epsilon: float):
    """For two equal groups and epsilon up to 0.7123 the limit has a closed form, worked out without any program."""
    c = 1 / math.tanh(epsilon / 2)
    limit = 4 * (c / math.tanh(1 / c) - 1)
    problem, _, solution, unit = solved(Goal((0.5, 0.5)), str(epsilon), 9)
    # The value counts the one objective once in the maximum, and once with the little weight of averages.
    value = solution.price.value * unit**2 / (1 + problem.objectives[0].weight)
    assert (1 - _CLOSE) * limit <= value <= 1.005 * limit


def test_prices_prove_the_solution():
    """Weak duality, with every score on a fine grid: no column has a reduced cost that would lower the value."""
    goal = Goal((0.3, 0.7))
    problem, _, solution, _ = solved(goal, "1", 5)
    pricing = Pricing(problem.combinations, problem.epsilon, solution.columns)
    grid = np.linspace(-3, 3, 20001)[:, None] * np.abs(solution.columns.scores).max()
    gains = pricing.gains(solution.price, grid)
    costs = pricing.costs(solution.price, Columns(np.where(gains < 0, np.e, 1.0), grid))
    assert costs.min() >= -1.1 * _CLOSE * solution.price.value


def test_more_levels_never_make_it_worse():
    values = [solved(Goal((0.5, 0.5)), "2", levels)[2].price.value for levels in (3, 5, 9)]
    assert values[0] > values[1] > values[2] * 0.998


def test_wider_choice_never_makes_it_worse():
    """A channel for both means also tells the gap, so the gap alone can only be told better."""
    gap, means = Goal((0.3, 0.7)), Goal((0.3, 0.7), target="means")
    for_gap, for_means = (best_channel(goal, Decimal(1)) for goal in (gap, means))
    assert gap.privacy_variance(for_gap) <= 1.01 * gap.privacy_variance(for_means)
    assert means.privacy_variance(for_means) < means.privacy_variance(for_gap)


@pytest.mark.parametrize(
    ("shares", "epsilon", "part"),
    [((0.4, 0.3, 0.2, 0.09, 0.01), "0.2", 0.25), ((0.3, 0.3, 0.2, 0.19, 0.01), "1", 0.45)],
)
def test_many_unequal_groups_leave_the_start(shares: tuple[float, ...], epsilon: str, part: float):
    """The gap's basis has a direction that no objective sees; following it, pricing found nothing at all."""
    goal = Goal(shares)
    simple = goal.privacy_variance(randomized_response(goal, Decimal(epsilon)))
    assert goal.privacy_variance(best_channel(goal, Decimal(epsilon))) < part * simple


def test_estimated_shares_leave_the_start():
    goal = Goal((0.7798, 0.0326, 0.1876), shares_known=False, target="means")
    simple = goal.privacy_variance(randomized_response(goal, Decimal("0.053")))
    assert goal.privacy_variance(best_channel(goal, Decimal("0.053"))) < 0.9 * simple


@pytest.mark.parametrize("solves", [1, 4])
def test_a_solver_that_gives_up_leaves_what_it_had_found(monkeypatch: pytest.MonkeyPatch, solves: int):
    whole_way = solved(Goal((0.3, 0.7), target="means"), "1", 3)[2]
    left = [solves]
    solve = Program.solve

    def tiring(self: Program) -> tuple[Vector, Duals]:
        left[0] -= 1
        if left[0] < 0:
            raise Impossible("the linear program of the design ended as kSolveError")
        return solve(self)

    monkeypatch.setattr(Program, "solve", tiring)
    problem, minimax, solution, _ = solved(Goal((0.3, 0.7), target="means"), "1", 3)
    patterns, _, weights = whole(minimax, solution)
    assert weights @ patterns == pytest.approx(np.ones(problem.inputs.count), abs=1e-10)
    assert len(solution.weights) == len(solution.columns.scores)
    assert solution.price.value >= whole_way.price.value * (1 - 1e-9)
