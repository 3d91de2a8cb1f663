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

from decimal import Decimal

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.column_generation import ColumnProblem, Columns, Mixture, Prices, Stop, generate
from fairgauge.designs.exact_table import exact_channel, exponential
from fairgauge.designs.level_count import even_levels, levels_about
from fairgauge.designs.linear_program import INFINITY, LinearProgram, Optimum, Rows, Variables
from fairgauge.errors import Impossible
from fairgauge.targets.assumed_values import Reckoning
from fairgauge.targets.channel_inputs import Inputs, Matrix, Vector
from fairgauge.targets.scores import Scores

_LEVELS = (9, 7, 5, 3)
# Scores to price columns at, in units of randomized response's: both signs, close together near 0.
_SCORES: Vector = np.sinh(np.linspace(-2.5, 2.5, 401))


def windows(scores: Scores, epsilon: Decimal) -> Channel | None:
    """Make the best channel of single groups' windows within ``scores.symbols``; None if none fits."""
    aim = scores.values.aim
    counts = (2,) if aim.any_values else tuple(count for count in _LEVELS if epsilon > 1 or count == _LEVELS[-1])
    for count in counts:
        even = aim.any_values or scores.values.expect is None
        levels = even_levels(count) if even else levels_about(aim.mean, aim.widest, count)
        problem = WindowProblem(scores.target.groups, levels, aim, exponential(epsilon))
        try:
            law = problem.law(problem.solve())
            if law.shape[1] <= scores.symbols:
                return exact_channel(law, problem.inputs, epsilon)
        except Impossible:
            continue  # with fewer levels numbers are larger
    return None


class WindowProblem(ColumnProblem):
    """Finds the columns that are best for the gaps of groups of equal shares; rows are averages over the groups.

    A column's pattern has two rows: which levels are likely in the one group, and which in the others.

    Args:
        groups: How many groups there are.
        levels: The levels.
        reckoning: What is reckoned of the values.
        high: How much likelier a symbol may be for one input than for another.
    """

    stop = Stop(close=2e-3, rounds=80, per_round=40, smoothing=0.6)

    def __init__(self, groups: int, levels: Vector, reckoning: Reckoning, high: float) -> None:
        self.groups, self.levels, self.reckoning, self.high = groups, levels, reckoning, high
        self.inputs = Inputs(groups, levels)
        corners = np.eye(len(levels))
        self.points: Matrix = np.vstack([corners, (corners[:-1] + corners[1:]) / 2])
        self.program = self._program()

    def _program(self) -> LinearProgram:
        m, d = len(self.levels), self.groups
        # The slope of a group's target, in units of randomized response's score: numbers near 1 solve best.
        slope = (self.high - 1) / (self.high + 2 * d - 1)
        x = self.points @ self.levels - self.reckoning.mean
        parabola = np.zeros_like(x) if self.reckoning.any_values else x**2 - self.reckoning.widest**2
        allowed, none = np.array([np.ones_like(x), x, parabola]), np.zeros((3, len(x)))
        equal = np.concatenate([np.ones(m), slope * self.levels])
        rest = 2 * len(x)
        rows = Rows(np.append(equal, np.zeros(rest)), np.append(equal, np.full(rest, INFINITY)))
        constant = np.concatenate([np.zeros(m), np.full(m, slope), np.zeros(rest)])
        bounds = np.block([[np.zeros((3, 2 * m)), allowed, none], [np.zeros((3, 2 * m)), none, allowed]])
        cost = np.array([0.0, 2 / d, 0.0, 0.0, 1 - 2 / d, 0.0, 0.0])
        least = np.full(len(cost), -INFINITY)
        least[[3, 6]] = 0.0
        return LinearProgram(rows, Variables(np.vstack([constant, bounds]), cost, least))

    def solve(self) -> Mixture:
        """Return the best columns and their weights."""
        return generate(self, self._first())

    def law(self, mixture: Mixture) -> Matrix:
        """Return the law of symbols: one for each group of each column, but one for all where groups do not differ."""
        d = self.groups
        parts: dict[bytes, Vector] = {}
        for (one, rest), weight in zip(mixture.columns.patterns, mixture.weights, strict=True):
            for group in range(d):
                image = np.tile(rest, (d, 1))
                image[group] = one
                key = image.tobytes()
                parts[key] = parts.get(key, 0.0) + weight / d * image.reshape(-1)
        found: Matrix = np.array(list(parts.values())).T
        return found

    def add(self, columns: Columns) -> None:
        """Add columns to the program."""
        d, (patterns, scores) = self.groups, columns
        one, rest, y = patterns[:, 0], patterns[:, 1], scores[:, None]
        parts = (one + (d - 1) * rest, (one - rest) * y, *(-of * y**2 @ self.points.T for of in (one + rest, 2 * rest)))
        self.program.add(np.hstack(parts) / d)

    def prices(self, optimum: Optimum) -> Prices:
        """Return the duals at each level; those of squares where the group is compared, then where it is not."""
        m, p = len(self.levels), len(self.points)
        ones, means, compared, others = np.split(optimum.duals[: 2 * m + 2 * p], [m, 2 * m, 2 * m + p])
        return Prices(optimum.value, ones, means, *(np.maximum(of, 0) @ self.points for of in (compared, others)))

    def costs(self, prices: Prices, columns: Columns) -> Vector:
        """Return the reduced cost of each column."""
        one, rest = self._gains(prices, columns.scores)
        costs: Vector = (columns.patterns[:, 0] * one + columns.patterns[:, 1] * rest).sum(axis=1)
        return costs

    def _gains(self, prices: Prices, scores: Vector) -> tuple[Matrix, Matrix]:
        """Return what raising each level costs, in the one group and in the others."""
        d, y = self.groups, scores[:, None]
        one = -prices.ones - prices.means * y + prices.squares * y**2
        rest = -(d - 1) * prices.ones + prices.means * y + (prices.squares + 2 * prices.further) * y**2
        return one / d, rest / d

    def search(self, prices: Prices, used: Columns) -> Columns:  # noqa: ARG002 - every score is tried anyway
        """Return the best patterns at each score of the grid, each with the score that is best for it."""
        scores = _SCORES
        for _ in range(2):
            one, rest = (np.where(gains < 0, self.high, 1.0) for gains in self._gains(prices, scores))
            pull = (one - rest) @ prices.means
            curve = (one + rest) @ prices.squares + 2 * rest @ prices.further
            scores = np.where(curve > 1e-12, pull / (2 * np.maximum(curve, 1e-12)), scores)
        first = np.unique(np.hstack([one, rest]) > 1, axis=0, return_index=True)[1]
        return Columns(np.stack([one, rest], axis=1), scores).some(first)

    def _first(self) -> Columns:
        """Return randomized response, a mixture that is unbiased, symbols that all groups share, and windows."""
        m = len(self.levels)
        sides = np.array([1 + (self.high - 1) * (1 + side * self.levels) / 2 for side in (-1.0, 1.0)])
        shared = np.vstack([np.ones((1, m)), np.where(np.eye(m) > 0, self.high, 1.0)])
        places = np.arange(m)
        spans = [(a, b) for a in range(m) for b in range(a + 1, m + 1)]
        inside = np.array([np.where((places >= a) & (places < b), self.high, 1.0) for a, b in spans])
        middles = np.array([self.levels[a:b].mean() for a, b in spans])
        one = np.stack([inside, np.ones_like(inside)], axis=1)
        return Columns.joined(
            Columns(np.stack([sides, np.ones((2, m))], axis=1), np.array([-1.0, 1.0])),
            Columns(np.stack([shared, shared], axis=1), np.zeros(len(shared))),
            *(Columns(one, middles - centre) for centre in (-0.5, 0.0, 0.5)),
        )
