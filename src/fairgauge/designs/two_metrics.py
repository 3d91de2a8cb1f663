r"""Channels that answer two questions at once: the least total error for the gaps of two metrics.

A symbol has a score for each metric.  With columns (z, y) for z in {1, E} at every input (group, value, value) and one
score y for each metric, the best weights and constants solve a linear program, as in ``two_groups``:

.. math::

    \min \sum_k w_k \sum_g p_g T_{gk}: \quad \sum \theta z = 1, \quad \sum \theta z y_k + c_k h = f_k, \quad
    \sum \theta z y_k^2 \le T_{gk} + \sum_i l_{gki} (v_i - \mu_i) + k_{gki} ((v_i - \mu_i)^2 - \sigma_i^2) .

The sum over i is over the metric itself and, where a mean is expected of the other one, over that too.  The best
pattern for given scores takes E wherever its price is negative, so pricing is a search over two numbers.  Each value is
rounded to one of a few levels, and to one of its ends where any values are reckoned with: that loses nothing there.
Designs for one question at a time have more levels and may be better; whoever chooses compares the totals.

For fixed clients of two equal groups randomized response on the four pairs of signs is the best there is, the sign of
both values turned in the second group: 4 ((E + 3)/(E - 1))^2 - 4 against 8 coth^2(epsilon/2) - 4 of a coin that picks
one question.  Above an epsilon of ln(1 + 2 sqrt 2) = 1.34 it is less.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import product

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.column_generation import ColumnProblem, Columns, Prices, Stop, generate
from fairgauge.designs.exact_table import exact_channel, exponential, polished
from fairgauge.designs.level_count import even_levels, levels_about
from fairgauge.designs.linear_program import INFINITY, LinearProgram, Optimum, Rows, Variables
from fairgauge.targets.assumed_values import Reckoning
from fairgauge.targets.channel_inputs import Inputs, Matrix, Vector

_ENDS: Vector = even_levels(2)
_CELLS = 4
# Both values about the means that are expected: with more levels the program takes long and gains next to nothing.
_LEVELS = 3
_PER_ROUND = 60
_GRID = 41
_TURNS = 4


@dataclass(frozen=True)
class TwoMetrics:
    """What to minimise for two groups with known shares, and two metrics.

    Args:
        shares: The groups' shares.
        epsilon: The privacy loss.
        aims: What is reckoned of each metric's values.
        others: What is reckoned of the other metric's values when each is judged; None where nothing is expected.
        weights: How much each metric's variance counts.
    """

    shares: tuple[float, float]
    epsilon: Decimal
    aims: tuple[Reckoning, Reckoning]
    others: tuple[Reckoning | None, Reckoning | None] = (None, None)
    weights: tuple[float, float] = (1.0, 1.0)

    @cached_property
    def high(self) -> float:
        """How much likelier a symbol may be for one input than for another."""
        return exponential(self.epsilon)

    @cached_property
    def unit(self) -> float:
        """A standard deviation to reckon in: numbers near 1 solve best."""
        return math.sqrt(sum(1 / share for share in self.shares)) * (1 + 6 / (self.high - 1))

    @cached_property
    def levels(self) -> tuple[Vector, Vector]:
        """The levels of each metric's values."""
        first, second = (
            _ENDS if aim.any_values or None in self.others else levels_about(aim.mean, aim.widest, _LEVELS)
            for aim in self.aims
        )
        return first, second

    @cached_property
    def cells(self) -> int:
        """How many inputs each group has."""
        return len(self.levels[0]) * len(self.levels[1])

    @cached_property
    def values(self) -> Matrix:
        """Each metric's value at every input: group, then the first metric's level, then the second's."""
        cells = np.array(list(product(*self.levels))).T
        return np.hstack([cells, cells])

    @cached_property
    def signs(self) -> Vector:
        """What the constant adds to a score's mean at every input."""
        return np.repeat([1 / self.shares[0], -1 / self.shares[1]], self.cells) / self.unit

    @cached_property
    def targets(self) -> Matrix:
        """Each score's mean at every input, but for its constant."""
        return self.values * self.signs

    @cached_property
    def points(self) -> Matrix:
        """Where second moments are bounded, as mixtures of one group's inputs: at levels and between them."""
        first, second = (_between(*axis) for axis in zip(self.levels, self.aims, strict=True))
        return np.asarray(np.kron(first, second), dtype=np.float64)

    def terms(self, axis: int) -> tuple[Matrix, Vector]:
        """Return what bounds a metric's second moments at the points, a row for each, and its least factor."""
        values = self.points @ self.values[:, : self.cells].T
        found, least = [np.ones(len(values))], [-INFINITY]
        for place, reckoning in ((axis, self.aims[axis]), (1 - axis, self.others[axis])):
            if reckoning is not None:
                x = values[:, place] - reckoning.mean
                found.append(x)
                least.append(-INFINITY)
                if not reckoning.any_values and len(self.levels[place]) > 2:
                    found.append(x**2 - reckoning.widest**2)
                    least.append(0.0)
        return np.array(found), np.array(least)

    def channel(self) -> Channel:
        """Return the best channel that there is, nearly."""
        law = _Search(self).law()
        return exact_channel(law, Inputs(2, self.levels[0]), self.epsilon, further=[self.levels[1]])


def _between(levels: Vector, aim: Reckoning) -> Matrix:
    """Return levels, and where there are more than the ends points between them and the mean, as mixtures of levels."""
    corners = np.eye(len(levels))
    if len(levels) == 2:
        return corners
    mean = np.array([np.interp(aim.mean, levels, corner) for corner in corners])
    return np.vstack([corners, (corners[:-1] + corners[1:]) / 2, mean])


def sign_pairs(epsilon: Decimal) -> Channel:
    """Return randomized response on pairs of signs, turned in the second group: the best for fixed, equal groups."""
    own = np.vstack([np.eye(_CELLS), np.eye(_CELLS)[::-1]])
    more = exponential(epsilon) - 1
    return exact_channel((1 + more * own) / (_CELLS + more), Inputs(2, _ENDS), epsilon, further=[_ENDS])


class _Search(ColumnProblem):
    """The linear program and its columns: patterns over all inputs, and a score for each metric."""

    stop = Stop(close=1e-3, rounds=80, per_round=_PER_ROUND)

    def __init__(self, problem: TwoMetrics) -> None:
        self.problem = problem
        self.inputs = problem.values.shape[1]
        # Scores of a table for the ends only are as large as any that pay.
        self.reach = 1.5 * (2 * _CELLS + problem.high - 1) / (problem.high - 1) * float(np.abs(problem.signs).max())
        # The points of both groups, as mixtures of inputs.
        self.points: Matrix = np.asarray(np.kron(np.eye(2), problem.points), dtype=np.float64)
        self.program = self._program()

    def law(self) -> Matrix:
        """Return the law of symbols of the best mixture, its equations kept to rounding error."""
        problem, n = self.problem, self.inputs
        columns, weights, variables, *_ = generate(self, self._first())
        constants = np.zeros((3 * n, 2))
        constants[n : 2 * n, 0] = constants[2 * n :, 1] = problem.signs
        equations = np.column_stack([self._coefficients(columns)[:, : 3 * n].T, constants])
        wanted = np.concatenate([np.ones(n), *problem.targets])
        found = polished(equations, np.append(weights, variables[:2]), wanted, free=np.ones(2))
        return (columns.patterns * found[:-2, None]).T

    def _first(self) -> Columns:
        """Return randomized response over all inputs, which is unbiased with no constant."""
        targets, high = self.problem.targets, self.problem.high
        wanted = targets - targets.mean(axis=1, keepdims=True)
        return Columns(np.where(np.eye(self.inputs) > 0, high, 1.0), ((self.inputs + high - 1) * wanted / (high - 1)).T)

    def _program(self) -> LinearProgram:
        problem, n = self.problem, self.inputs
        rows = 2 * len(problem.points)
        equations = np.concatenate([np.ones(n), *problem.targets])
        limits = Rows(
            lower=np.concatenate([equations, np.zeros(2 * rows)]),
            upper=np.concatenate([equations, np.full(2 * rows, INFINITY)]),
        )
        # Variables: the constants, then T and what else bounds the second moments of each metric and group.
        columns, cost, least = [], [], []
        for axis in (0, 1):
            columns.append(np.zeros(3 * n + 2 * rows))
            columns[-1][n * (1 + axis) : n * (2 + axis)] = problem.signs
            cost.append(0.0)
            least.append(-INFINITY)
        for axis, (g, share) in product((0, 1), enumerate(problem.shares)):
            start = 3 * n + axis * rows + g * rows // 2
            terms, floors = problem.terms(axis)
            for place, (term, floor) in enumerate(zip(terms, floors, strict=True)):
                columns.append(np.zeros(3 * n + 2 * rows))
                columns[-1][start : start + len(term)] = term
                cost.append(problem.weights[axis] * share if place == 0 else 0.0)
                least.append(float(floor))
        return LinearProgram(limits, Variables(np.array(columns), np.array(cost), np.array(least)))

    def add(self, columns: Columns) -> None:
        """Add columns to the program."""
        self.program.add(self._coefficients(columns))

    def _coefficients(self, columns: Columns) -> Matrix:
        patterns, scores = columns
        first, second = scores[:, [0]], scores[:, [1]]
        squares = -patterns @ self.points.T
        return np.hstack([patterns, patterns * first, patterns * second, squares * first**2, squares * second**2])

    def prices(self, optimum: Optimum) -> Prices:
        """Return the duals at each input; those of scores and squares for each metric."""
        n = self.inputs
        ones, *means = np.split(optimum.duals[: 3 * n], 3)
        squares = np.maximum(optimum.duals[3 * n :].reshape(2, -1), 0) @ self.points
        return Prices(optimum.value, ones, np.array(means), squares)

    def costs(self, prices: Prices, columns: Columns) -> Vector:
        """Return the reduced cost of each column."""
        costs: Vector = (columns.patterns * _gains(prices, columns.scores)).sum(axis=1)
        return costs

    def search(self, prices: Prices, used: Columns) -> Columns:  # noqa: ARG002 - a grid has every score
        """Return the best columns of a grid of pairs of scores, each moved to its own best place."""
        grid = np.linspace(-self.reach, self.reach, _GRID)
        scores = np.array(np.meshgrid(grid, grid, indexing="ij")).reshape(2, -1).T
        more = self.problem.high - 1
        entries = _gains(prices, scores)
        costs = (entries + more * np.minimum(entries, 0)).sum(axis=1).reshape(_GRID, _GRID)
        padded = np.pad(costs, 1, constant_values=np.inf)
        around = np.min(
            [padded[i : i + _GRID, j : j + _GRID] for i in range(3) for j in range(3) if (i, j) != (1, 1)], axis=0
        )
        lowest = np.flatnonzero((costs <= around).ravel())
        scores = scores[lowest[np.argsort(costs.ravel()[lowest], kind="stable")][: 2 * _PER_ROUND]]
        for _ in range(_TURNS):
            patterns = np.where(_gains(prices, scores) < 0, self.problem.high, 1.0)
            under = 2 * patterns @ prices.squares.T
            moved = np.divide(patterns @ prices.means.T, under, out=scores.copy(), where=under > 1e-300)
            scores = np.clip(moved, -4 * self.reach, 4 * self.reach)
        scores = np.unique(scores.round(9), axis=0)
        return Columns(np.where(_gains(prices, scores) < 0, self.problem.high, 1.0), scores)


def _gains(prices: Prices, scores: Matrix) -> Matrix:
    """Return the price of every entry of a pattern, for each pair of scores in a row."""
    found: Matrix = -prices.ones - scores @ prices.means + scores**2 @ prices.squares
    return found
