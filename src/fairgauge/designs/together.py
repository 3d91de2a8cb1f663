r"""Channels that answer two questions at once: the least total error for the gaps of two metrics.

A symbol has a score for each metric.  With columns (z, y) for z in {1, E} at every input (group, value, value) and one
score y for each metric, the best weights and constants solve a linear program, as in ``total``:

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
from typing import NamedTuple

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.levels import even_levels, levels_about
from fairgauge.designs.master import INFINITY, Master, Optimum, Rows, Variables
from fairgauge.designs.rounding import exact_channel
from fairgauge.designs.same_bits import exponential, least_change, weighted_sums
from fairgauge.goals.inputs import Inputs, Matrix, Vector
from fairgauge.goals.reckoning import Reckoning

_ENDS: Vector = even_levels(2)
_CELLS = 4
# Both values about the means that are expected: with more levels the program takes long and gains next to nothing.
_LEVELS = 3
_CLOSE = 1e-3
_ROUNDS = 80
_PER_ROUND = 60
_GRID = 41
_TURNS = 4
_SMOOTHING = 0.7
_USED = 1e-9


class Prices(NamedTuple):
    """What a unit of each pattern entry costs: alone, and times each score and its square."""

    value: float
    ones: Vector
    means: Matrix
    seconds: Matrix

    def towards(self, other: "Prices", part: float) -> "Prices":
        """Return prices between these and others."""
        ours, theirs = 1 - part, part
        return Prices(
            ours * self.value + theirs * other.value,
            ours * self.ones + theirs * other.ones,
            ours * self.means + theirs * other.means,
            ours * self.seconds + theirs * other.seconds,
        )

    def of(self, scores: Matrix) -> Matrix:
        """Return the price of every entry of a pattern, for each pair of scores in a row."""
        found: Matrix = -self.ones - scores @ self.means + scores**2 @ self.seconds
        return found


@dataclass(frozen=True)
class TogetherProblem:
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
        patterns, weights = _Program(self).solve()
        law = (patterns * weights[:, None]).T
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


class _Program:
    """The linear program and its columns."""

    def __init__(self, problem: TogetherProblem) -> None:
        self.problem = problem
        self.inputs = problem.values.shape[1]
        self.patterns = np.where(np.eye(self.inputs) > 0, problem.high, 1.0)
        wanted = problem.targets - problem.targets.mean(axis=1, keepdims=True)
        # Randomized response over all inputs, which is unbiased with no constant.
        self.scores = ((self.inputs + problem.high - 1) * wanted / (problem.high - 1)).T
        # Scores of a table for the ends only are as large as any that pay.
        self.reach = 1.5 * (2 * _CELLS + problem.high - 1) / (problem.high - 1) * float(np.abs(problem.signs).max())
        self.master = self._master()
        self.master.add(self._columns(self.patterns, self.scores))

    def _master(self) -> Master:
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
        return Master(limits, Variables(np.array(columns), np.array(cost), np.array(least)))

    @cached_property
    def _points(self) -> Matrix:
        """The points of both groups, as mixtures of inputs."""
        return np.asarray(np.kron(np.eye(2), self.problem.points), dtype=np.float64)

    def _columns(self, patterns: Matrix, scores: Matrix) -> Matrix:
        first, second = scores[:, [0]], scores[:, [1]]
        squares = -patterns @ self._points.T
        return np.hstack([patterns, patterns * first, patterns * second, squares * first**2, squares * second**2])

    def _prices(self, optimum: Optimum) -> Prices:
        n = self.inputs
        ones, *means = np.split(optimum.duals[: 3 * n], 3)
        seconds = np.maximum(optimum.duals[3 * n :].reshape(2, -1), 0) @ self._points
        return Prices(optimum.value, ones, np.array(means), seconds)

    def solve(self) -> tuple[Matrix, Vector]:
        """Return patterns and how much of each to use, the equations kept to rounding error."""
        best: Prices | None = None
        bound = -np.inf
        for _ in range(_ROUNDS):
            optimum = self.master.solve()
            current = self._prices(optimum)
            fresh = []
            for prices in [current] if best is None else [best.towards(current, 1 - _SMOOTHING), current]:
                scores = self._cheapest(prices)
                patterns = np.where(prices.of(scores) < 0, self.problem.high, 1.0)
                proven = prices.value + min(0.0, float((patterns * prices.of(scores)).sum(axis=1).min()))
                if proven > bound:
                    best, bound = prices, proven
                costs = (patterns * current.of(scores)).sum(axis=1)
                order = np.argsort(costs, kind="stable")
                order = order[costs[order] < -1e-9 * abs(current.value)][:_PER_ROUND]
                fresh.append((patterns[order], scores[order]))
            patterns, scores = np.vstack([f[0] for f in fresh]), np.vstack([f[1] for f in fresh])
            if current.value - bound <= _CLOSE * current.value or not len(scores):
                break
            self.master.add(self._columns(patterns, scores))
            self.patterns, self.scores = np.vstack([self.patterns, patterns]), np.vstack([self.scores, scores])
        return self._polished(optimum)

    def _cheapest(self, prices: Prices) -> Matrix:
        """Return pairs of scores whose columns cost little: the best of a grid, each moved to its own best place."""
        grid = np.linspace(-self.reach, self.reach, _GRID)
        scores = np.array(np.meshgrid(grid, grid, indexing="ij")).reshape(2, -1).T
        more = self.problem.high - 1
        entries = prices.of(scores)
        costs = (entries + more * np.minimum(entries, 0)).sum(axis=1).reshape(_GRID, _GRID)
        padded = np.pad(costs, 1, constant_values=np.inf)
        around = np.min(
            [padded[i : i + _GRID, j : j + _GRID] for i in range(3) for j in range(3) if (i, j) != (1, 1)], axis=0
        )
        lowest = np.flatnonzero((costs <= around).ravel())
        scores = scores[lowest[np.argsort(costs.ravel()[lowest], kind="stable")][: 2 * _PER_ROUND]]
        for _ in range(_TURNS):
            patterns = np.where(prices.of(scores) < 0, self.problem.high, 1.0)
            under = 2 * patterns @ prices.seconds.T
            moved = np.divide(patterns @ prices.means.T, under, out=scores.copy(), where=under > 1e-300)
            scores = np.clip(moved, -4 * self.reach, 4 * self.reach)
        return np.unique(scores.round(9), axis=0)

    def _polished(self, optimum: Optimum) -> tuple[Matrix, Vector]:
        """Keep the columns in use, and take the solver's 1e-9 in the equations down to rounding error."""
        problem, n = self.problem, self.inputs
        keep = np.flatnonzero(optimum.weights > _USED)
        patterns, scores, weights = self.patterns[keep], self.scores[keep], optimum.weights[keep]
        constants = np.zeros((3 * n, 2))
        constants[n : 2 * n, 0] = constants[2 * n :, 1] = problem.signs
        columns = np.column_stack([self._columns(patterns, scores)[:, : 3 * n].T, constants])
        wanted = np.concatenate([np.ones(n), *problem.targets])
        found = np.append(weights, optimum.variables[:2])
        for _ in range(3):
            sizes = np.append(found[:-2] ** 2, [1.0, 1.0])
            found = found + least_change(columns, sizes, wanted - weighted_sums(columns, found))
        return patterns, found[:-2]
