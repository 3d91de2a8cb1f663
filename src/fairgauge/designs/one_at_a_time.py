r"""Channels for many groups about a population: symbols that ask one group for a window of its values.

A centred score tells high values from low ones by more than their sign, so turning a group's values round no longer
leaves the problem as it is; exchanging groups does, where shares are equal.  From an epsilon at which one group at a
time is best, a column is which levels z are likely in one group, which levels r in all others, and a score y of that
group alone; it stands for a symbol of each group.  The best weights and the best constant c solve

.. math::

    \min \tfrac2d T_A + (1 - \tfrac2d) T_B: \quad \sum \theta (z + (d - 1) r) = d, \quad
    \sum \theta (z - r) y = d^2 (v - c),

    \sum \theta (z + r) y^2 \le d\, (T_A + l_A x + k_A (x^2 - \sigma^2)), \quad
    \sum \theta\, 2 r y^2 \le d\, (T_B + l_B x + k_B (x^2 - \sigma^2)),

with :math:`x = v - \mu`, at levels and midpoints: A is where a client's group is one of the two compared, B where it is
not.  For a score y each level is priced alone, so that a grid of scores finds every column that helps.  Where shares
differ the same table serves, with scores by the true shares.
"""

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.channel import Channel
from fairgauge.designs.levels import even_levels, levels_about
from fairgauge.designs.master import INFINITY, Master, Optimum, Rows, Variables
from fairgauge.designs.rounding import exact_channel
from fairgauge.designs.same_bits import exponential
from fairgauge.designs.watching import Search
from fairgauge.errors import Impossible
from fairgauge.goals.goal import Goal
from fairgauge.goals.inputs import Inputs, Matrix, Vector
from fairgauge.goals.reckoning import Reckoning

_LEVELS = (9, 7, 5, 3)
_CLOSE = 2e-3
_ROUNDS = 80
_PER_ROUND = 40
_SMOOTHING = 0.6
_USED = 1e-9
# Scores to price columns at, in units of randomized response's: both signs, close together near 0.
_SCORES: Vector = np.sinh(np.linspace(-2.5, 2.5, 401))


class Windows(NamedTuple):
    """Columns: which levels are likely in the one group, and which in the others, and the score."""

    one: Matrix
    rest: Matrix
    scores: Vector

    def some(self, chosen: NDArray[np.int_] | NDArray[np.bool_]) -> "Windows":
        """Return some of the columns."""
        return Windows(*(part[chosen] for part in self))

    @classmethod
    def joined(cls, *parts: "Windows") -> "Windows":
        """Return the columns of all parts."""
        return cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))


class _Worth(NamedTuple):
    """What a unit of each row is worth, at each level."""

    value: float
    ones: Vector
    means: Vector
    compared: Vector
    others: Vector

    def towards(self, other: "_Worth", part: float) -> "_Worth":
        """Return what lies this part of the way to another."""
        return _Worth(
            (1 - part) * self.value + part * other.value,
            (1 - part) * self.ones + part * other.ones,
            (1 - part) * self.means + part * other.means,
            (1 - part) * self.compared + part * other.compared,
            (1 - part) * self.others + part * other.others,
        )


def one_at_a_time(goal: Goal, epsilon: Decimal) -> Channel | None:
    """Make the best channel of single groups' windows within ``goal.symbols``; None if none fits."""
    aim = goal.aim
    counts = (2,) if aim.any_values else tuple(count for count in _LEVELS if epsilon > 1 or count == _LEVELS[-1])
    for count in counts:
        even = aim.any_values or goal.expect is None
        levels = even_levels(count) if even else levels_about(aim.mean, aim.widest, count)
        problem = WindowProblem(goal.groups, levels, aim, exponential(epsilon))
        try:
            law = problem.law(*problem.solve())
            if law.shape[1] <= goal.symbols:
                return exact_channel(law, problem.inputs, epsilon)
        except Impossible:
            continue  # with fewer levels numbers are larger
    return None


@dataclass(frozen=True)
class WindowProblem:
    """Finds the columns that are best for the gaps of groups of equal shares.

    Args:
        groups: How many groups there are.
        levels: The levels.
        reckoning: What is reckoned of the values.
        high: How much likelier a symbol may be for one input than for another.
    """

    groups: int
    levels: Vector
    reckoning: Reckoning
    high: float

    @cached_property
    def inputs(self) -> Inputs:
        """The inputs."""
        return Inputs(self.groups, self.levels)

    @cached_property
    def slope(self) -> float:
        """The slope of a group's target, in units of randomized response's score: numbers near 1 solve best."""
        return (self.high - 1) / (self.high + 2 * self.groups - 1)

    def solve(self) -> tuple[Windows, Vector]:
        """Return the best columns and their weights, to ``_CLOSE``."""
        program, columns = _Program(self), self._first()
        program.add(columns)
        best: _Worth | None = None
        bound, search = -np.inf, Search(_CLOSE)
        optimum = program.solve()
        for _ in range(_ROUNDS):
            current, fresh = program.worth(optimum), []
            for worth in [current] if best is None else [best.towards(current, 1 - _SMOOTHING), current]:
                found = self._priced(worth)
                proven = worth.value + min(0.0, float(self._costs(worth, found).min()))
                if proven > bound:
                    best, bound = worth, proven
                costs = self._costs(current, found)
                order = np.argsort(costs, kind="stable")
                fresh.append(found.some(order[costs[order] < -1e-9][:_PER_ROUND]))
            new = Windows.joined(*fresh)
            search.within((optimum.value - bound) / abs(optimum.value))
            if not len(new.scores) or optimum.value - bound <= _CLOSE * optimum.value:
                break
            program.add(new)
            columns = Windows.joined(columns, new)
            optimum = program.solve()
        used = optimum.weights > _USED
        return columns.some(used), optimum.weights[used]

    def law(self, columns: Windows, weights: Vector) -> Matrix:
        """Return the law of symbols: one for each group of each column, but one for all where groups do not differ."""
        d = self.groups
        parts: dict[bytes, Vector] = {}
        for one, rest, weight in zip(columns.one, columns.rest, weights, strict=True):
            for group in range(d):
                image = np.tile(rest, (d, 1))
                image[group] = one
                key = image.tobytes()
                parts[key] = parts.get(key, 0.0) + weight / d * image.reshape(-1)
        found: Matrix = np.array(list(parts.values())).T
        return found

    def _gains(self, worth: _Worth, scores: Vector) -> tuple[Matrix, Matrix]:
        """Return what raising each level costs, in the one group and in the others."""
        d, y = self.groups, scores[:, None]
        one = -worth.ones - worth.means * y + worth.compared * y**2
        rest = -(d - 1) * worth.ones + worth.means * y + (worth.compared + 2 * worth.others) * y**2
        return one / d, rest / d

    def _costs(self, worth: _Worth, columns: Windows) -> Vector:
        """Return the reduced cost of each column."""
        one, rest = self._gains(worth, columns.scores)
        costs: Vector = (columns.one * one + columns.rest * rest).sum(axis=1)
        return costs

    def _priced(self, worth: _Worth) -> Windows:
        """Return the best patterns at each score of the grid, each with the score that is best for it."""
        scores = _SCORES
        for _ in range(2):
            one, rest = (np.where(gains < 0, self.high, 1.0) for gains in self._gains(worth, scores))
            pull = (one - rest) @ worth.means
            curve = (one + rest) @ worth.compared + 2 * rest @ worth.others
            scores = np.where(curve > 1e-12, pull / (2 * np.maximum(curve, 1e-12)), scores)
        keys = np.hstack([one, rest]) > 1
        first = np.unique(keys, axis=0, return_index=True)[1]
        return Windows(one, rest, scores).some(first)

    def _first(self) -> Windows:
        """Return randomized response, a mixture that is unbiased, symbols that all groups share, and windows."""
        m = len(self.levels)
        sides = np.array([1 + (self.high - 1) * (1 + side * self.levels) / 2 for side in (-1.0, 1.0)])
        shared = np.vstack([np.ones((1, m)), np.where(np.eye(m) > 0, self.high, 1.0)])
        places = np.arange(m)
        windows = [(a, b) for a in range(m) for b in range(a + 1, m + 1)]
        inside = np.array([np.where((places >= a) & (places < b), self.high, 1.0) for a, b in windows])
        middles = np.array([self.levels[a:b].mean() for a, b in windows])
        flat = np.ones((len(windows), m))
        return Windows.joined(
            Windows(sides, np.ones((2, m)), np.array([-1.0, 1.0])),
            Windows(shared, shared, np.zeros(len(shared))),
            *(Windows(inside, flat, middles - centre) for centre in (-0.5, 0.0, 0.5)),
        )


class _Program:
    """The linear program, its rows averages over groups."""

    def __init__(self, problem: WindowProblem) -> None:
        self.problem, levels, d = problem, problem.levels, problem.groups
        m, corners = len(levels), np.eye(len(levels))
        self.points = np.vstack([corners, (corners[:-1] + corners[1:]) / 2])
        x = self.points @ levels - problem.reckoning.mean
        parabola = np.zeros_like(x) if problem.reckoning.any_values else x**2 - problem.reckoning.widest**2
        allowed, none = np.array([np.ones_like(x), x, parabola]), np.zeros((3, len(x)))
        equal = np.concatenate([np.ones(m), problem.slope * levels])
        rest = 2 * len(x)
        rows = Rows(np.append(equal, np.zeros(rest)), np.append(equal, np.full(rest, INFINITY)))
        constant = np.concatenate([np.zeros(m), np.full(m, problem.slope), np.zeros(rest)])
        bounds = np.block([[np.zeros((3, 2 * m)), allowed, none], [np.zeros((3, 2 * m)), none, allowed]])
        cost = np.array([0.0, 2 / d, 0.0, 0.0, 1 - 2 / d, 0.0, 0.0])
        least = np.full(len(cost), -INFINITY)
        least[[3, 6]] = 0.0
        self.master = Master(rows, Variables(np.vstack([constant, bounds]), cost, least))

    def add(self, columns: Windows) -> None:
        """Add columns."""
        d, (one, rest, scores) = self.problem.groups, columns
        y = scores[:, None]
        parts = (one + (d - 1) * rest, (one - rest) * y, *(-of * y**2 @ self.points.T for of in (one + rest, 2 * rest)))
        self.master.add(np.hstack(parts) / d)

    def solve(self) -> Optimum:
        """Return the optimum over the columns so far."""
        return self.master.solve()

    def worth(self, optimum: Optimum) -> _Worth:
        """Return the duals at each level."""
        m, p = len(self.problem.levels), len(self.points)
        ones, means, compared, others = np.split(optimum.duals[: 2 * m + 2 * p], [m, 2 * m, 2 * m + p])
        return _Worth(optimum.value, ones, means, *(np.maximum(of, 0) @ self.points for of in (compared, others)))
