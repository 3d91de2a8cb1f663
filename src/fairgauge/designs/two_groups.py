r"""The channel of least total error about a population, for the gap of two groups.

Clients are drawn from a population with shares p, so a score is unbiased for the gap if its mean is
:math:`\pm(v - c)/p_g` for some constant c.  With known shares the best constant is part of the design.  With shares to
estimate it is the mean that is expected (the gap's influence function says so), and a small part of randomized response
identifies everything else.  With columns (z, y) the best weights and the best c solve a linear program (``reckoning``
says why the last rows bound the total):

.. math::

    \min \sum_g p_g T_g: \quad \sum \theta z = 1, \quad \sum \theta z y + c h = f, \quad S = \sum \theta z y^2, \quad
    S_g(v) \le T_g + l_g (v - \mu) + k_g ((v - \mu)^2 - \sigma^2), \; k_g \ge 0,

with :math:`f = \pm v/p_g` and :math:`h = \pm 1/p_g`, at levels and midpoints.  What the bound sags between those is
paid for by whoever evaluates the channel exactly, never hidden.

*Pricing* is exact, over all scores and all patterns.  A column with duals :math:`\alpha, \beta, w` costs
:math:`\sum_x z_x b_x(y)`, :math:`b_x(y) = -\alpha_x - \beta_x y + w_x y^2`.  For a given y the best pattern has
:math:`z_x = e^\epsilon` exactly where :math:`b_x(y) < 0`, so the pattern changes only at roots of the :math:`b_x`.
Between two of them the cost is one parabola, least at :math:`y = z \cdot \beta / (2\, z \cdot w)` or at an end.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.channel import Channel
from fairgauge.designs.column_generation import ColumnProblem, Columns, Prices, Stop, generate
from fairgauge.designs.exact_table import exact_channel, exponential, polished, weighted_sums
from fairgauge.designs.level_count import even_levels, levels_about
from fairgauge.designs.linear_program import INFINITY, LinearProgram, Optimum, Rows, Variables
from fairgauge.targets.assumed_values import Reckoning
from fairgauge.targets.channel_inputs import Inputs, Matrix, Vector
from fairgauge.targets.scores import Scores

# How many levels up to an epsilon: with more, rounding to them costs less and the program takes longer.
_LEVELS = {0.5: 7, 1: 9, 4: 11}
_MORE_LEVELS = 13
# A symmetry makes the program smaller, so that it can have more levels: equal groups, and values about the middle.
_EQUAL_LEVELS = {0.5: 7, 1: 9, 2: 11, 8: 13}
_MIRRORED_LEVELS = {0.5: 7, 1: 9, 2: 13}
_MORE_MIRRORED_LEVELS = 17
# How much randomized response is mixed in where shares are estimated.
_IDENTIFYING = 0.05
# Scores are in units of randomized response's standard deviation: none that helps is so far out.
_FARTHEST = 50.0
_NOTHING = 1e-14


class _Turn(NamedTuple):
    """A renaming of inputs that leaves the problem as it is, and what it does to scores."""

    inputs: NDArray[np.int_]
    sign: int


@dataclass(frozen=True)
class TwoGroups:
    """What to minimise for two groups.

    Args:
        levels: The levels of the channel.
        shares: The groups' shares.
        epsilon: The privacy loss.
        reckoning: What is reckoned of the values.
        constant: The constant c, or None where any will do.
    """

    levels: Vector
    shares: tuple[float, float]
    epsilon: Decimal
    reckoning: Reckoning
    constant: float | None = None

    @cached_property
    def inputs(self) -> Inputs:
        """The inputs."""
        return Inputs(2, self.levels)

    @cached_property
    def unit(self) -> float:
        """Randomized response's standard deviation: numbers near 1 solve best."""
        return math.sqrt(sum(1 / share for share in self.shares)) * (1 + 4 / (self.high - 1))

    @cached_property
    def high(self) -> float:
        """How much likelier a symbol may be for one input than for another."""
        return exponential(self.epsilon)

    @cached_property
    def target(self) -> Vector:
        """The score's mean at each input, but for the constant."""
        return np.concatenate([self.levels / self.shares[0], -self.levels / self.shares[1]]) / self.unit

    @cached_property
    def shift(self) -> Vector:
        """What the constant adds to it."""
        ones = np.ones(len(self.levels))
        return np.concatenate([ones / self.shares[0], -ones / self.shares[1]]) / self.unit

    @cached_property
    def turns(self) -> list[_Turn]:
        """The symmetries: equal groups can be swapped, and values about a middle that is 0 mirrored."""
        m = len(self.levels)
        found = [_Turn(np.arange(2 * m), 1)]
        if self.shares[0] == self.shares[1]:
            found.append(_Turn(np.concatenate([np.arange(m, 2 * m), np.arange(m)]), -1))
        even = bool(np.all(self.levels == -self.levels[::-1]))
        if self.reckoning.mean == 0 and not self.constant and even:
            mirrored = np.concatenate([np.arange(m)[::-1], np.arange(m, 2 * m)[::-1]])
            found += [_Turn(mirrored[turn.inputs], -turn.sign) for turn in found]
        return found

    def solve(self) -> tuple[Columns, Vector]:
        """Return the best columns and their weights, of all that the symmetries make of one column one."""
        return _Folded(self).solve()

    def law(self) -> Matrix:
        """Return the law of symbols of the best columns and all that the symmetries make of them."""
        (patterns, scores), weights = self.solve()
        parts: dict[tuple[bytes, float], Vector] = {}
        for pattern, score, weight in zip(patterns, scores, weights, strict=True):
            for turn in self.turns:
                image = np.empty_like(pattern)
                image[turn.inputs] = pattern
                # What has the same pattern and the same score is one symbol.
                key = (image.tobytes(), round(float(turn.sign * score), 9))
                parts[key] = parts.get(key, np.zeros_like(image)) + weight / len(self.turns) * image
        return np.array(list(parts.values())).T


class _Folded(ColumnProblem):
    """The linear program, with constraints that the symmetries make equal averaged into one."""

    stop = Stop(close=5e-3)

    def __init__(self, problem: TwoGroups) -> None:
        self.problem = problem
        images = np.array([turn.inputs for turn in problem.turns])
        self.orbits = np.flatnonzero(images.min(axis=0) == np.arange(problem.inputs.count))
        # Where a symmetry turns an input's target into its own opposite there is nothing to ask.
        sums = sum(turn.sign * np.eye(problem.inputs.count)[turn.inputs] for turn in problem.turns)
        self.asked = np.abs(np.asarray(sums)[self.orbits]).max(axis=1) > 0
        self.ones, self.means = len(self.orbits), int(self.asked.sum())
        self.equations = self.ones + self.means
        self.program = self._program()

    def _plain(self, of_inputs: Matrix) -> Matrix:
        """Return the average over each orbit, along the last axis."""
        turns = self.problem.turns
        return sum((of_inputs[..., t.inputs[self.orbits]] for t in turns[1:]), of_inputs[..., self.orbits]) / len(turns)

    def _signed(self, of_inputs: Matrix) -> Matrix:
        """Return the average over each orbit of what changes its sign with scores, along the last axis."""
        turns = self.problem.turns
        rest = (t.sign * of_inputs[..., t.inputs[self.orbits]] for t in turns[1:])
        return (sum(rest, of_inputs[..., self.orbits]) / len(turns))[..., self.asked]

    def _unfolded(self, duals: Vector, orbits: NDArray[np.int_], signs: Sequence[int]) -> Vector:
        """Return at each input what averages over orbits are worth."""
        found = np.zeros(self.problem.inputs.count)
        for turn, sign in zip(self.problem.turns, signs, strict=True):
            found[turn.inputs[orbits]] += sign * duals
        return found / len(signs)

    def _program(self) -> LinearProgram:
        problem, ones = self.problem, self.ones
        bounds, tops = self._bounds()
        means = self._signed(problem.target - (problem.constant or 0.0) * problem.shift)
        shift = self._signed(problem.shift) if problem.constant is None else np.zeros(self.means)
        rest = ones + len(bounds)
        rows = Rows(
            lower=np.concatenate([np.ones(ones), means, np.zeros(rest)]),
            upper=np.concatenate([np.ones(ones), means, np.full(rest, INFINITY)]),
        )
        # Variables: c, the second moments, then T, l, k of each group.
        constant = np.concatenate([np.zeros(ones), shift, np.zeros(rest)])
        moments = np.hstack([np.zeros((ones, self.equations)), np.eye(ones), -bounds.T])
        above = np.hstack([np.zeros((len(tops), self.equations + ones)), tops])
        weights = (1.0,) if self._swapped else problem.shares
        cost = np.concatenate([np.zeros(1 + ones), *([weight, 0.0, 0.0] for weight in weights)])
        least = np.full(len(cost), -INFINITY)
        least[1 + ones + 2 :: 3] = 0.0
        if problem.constant is not None:
            least[0] = 0.0
        return LinearProgram(rows, Variables(np.vstack([constant, moments, above]), cost, least))

    @property
    def _swapped(self) -> bool:
        """Whether the groups are each other's images, so that one stands for both."""
        return any(turn.inputs[0] >= len(self.problem.levels) for turn in self.problem.turns)

    def _bounds(self) -> tuple[Matrix, Matrix]:
        """Return, for each point of each group, the second moment as a mixture of orbits, and what T, l, k allow."""
        problem, m = self.problem, len(self.problem.levels)
        corners = np.eye(m)
        points = np.vstack([corners, (corners[:-1] + corners[1:]) / 2])
        x = points @ problem.levels - problem.reckoning.mean
        parabola = np.zeros_like(x) if problem.reckoning.any_values else x**2 - problem.reckoning.widest**2
        allowed = np.array([np.ones_like(x), x, parabola])
        orbit_of = np.empty(problem.inputs.count, dtype=np.int_)
        for turn in problem.turns:
            orbit_of[turn.inputs[self.orbits]] = np.arange(self.ones)
        bounds, tops = [], []
        groups = range(1 if self._swapped else 2)
        for g in groups:
            to_orbits = np.eye(self.ones)[orbit_of[g * m : (g + 1) * m]]
            bounds.append(points @ to_orbits)
            tops.append(np.hstack([allowed * (h == g) for h in groups]))
        return np.vstack(bounds), np.vstack(tops)

    def solve(self) -> tuple[Columns, Vector]:
        """Return the best columns and their weights, the equations kept to rounding error."""
        problem = self.problem
        columns, weights, variables, *_ = generate(self, self._first())
        shift = np.concatenate([np.zeros(self.ones), self._signed(problem.shift)])
        wanted = np.concatenate([np.ones(self.ones), self._signed(problem.target)])
        equations = np.column_stack([self._equations(columns).T, shift])
        constant = float(variables[0]) if problem.constant is None else problem.constant
        free = np.array([1.0 if problem.constant is None else 0.0])
        return columns, polished(equations, np.append(weights, constant), wanted, free)[:-1]

    def _first(self) -> Columns:
        """Return randomized response over all inputs, a mixture that is unbiased."""
        problem, count = self.problem, self.problem.inputs.count
        patterns = np.where(np.eye(count) > 0, problem.high, 1.0)
        wanted = problem.target - (problem.constant or 0.0) * problem.shift
        return Columns(patterns, ((count + problem.high - 1) * wanted - wanted.sum()) / (problem.high - 1))

    def add(self, columns: Columns) -> None:
        """Add columns to the program."""
        patterns, scores = columns
        self.program.add(np.hstack([self._equations(columns), -self._plain(patterns) * scores[:, None] ** 2]))

    def _equations(self, columns: Columns) -> Matrix:
        patterns, scores = columns
        return np.hstack([self._plain(patterns), self._signed(patterns) * scores[:, None]])

    def prices(self, optimum: Optimum) -> Prices:
        """Return the duals at each input."""
        ones, means, second = np.split(optimum.duals[: self.equations + self.ones], [self.ones, self.equations])
        same, turned = [1 for _ in self.problem.turns], [turn.sign for turn in self.problem.turns]
        return Prices(
            optimum.value,
            self._unfolded(ones, self.orbits, same),
            self._unfolded(means, self.orbits[self.asked], turned),
            self._unfolded(np.maximum(second, 0), self.orbits, same),
        )

    def costs(self, prices: Prices, columns: Columns) -> Vector:
        """Return the reduced cost of each column."""
        patterns, scores = columns
        base, slope, weight = (weighted_sums(patterns, of) for of in (prices.ones, prices.means, prices.squares))
        return weight * scores**2 - slope * scores - base

    def search(self, prices: Prices, used: Columns) -> Columns:  # noqa: ARG002 - every column is looked at
        """Return the cheapest columns."""
        return _best_columns(prices, self.problem.high)


def _best_columns(prices: Prices, high: float) -> Columns:
    """Return the best column of every stretch of scores on which the pattern stays the same.

    Guarantee: no column within reach costs less than the best of them.
    """
    edges = np.concatenate([[-_FARTHEST], _changes(prices), [_FARTHEST]])
    middle = (edges[:-1] + edges[1:])[:, None] / 2
    gains = -prices.ones - prices.means * middle + prices.squares * middle**2
    patterns = np.where(gains < 0, high, 1.0)
    pull, curve = (weighted_sums(patterns, of) for of in (prices.means, prices.squares))
    lowest = np.where(
        curve > _NOTHING,
        pull / (2 * np.maximum(curve, _NOTHING)),
        np.where(pull > 0, edges[1:], edges[:-1]),
    )
    return Columns(patterns, np.clip(lowest, edges[:-1], edges[1:]))


def _changes(prices: Prices) -> Vector:
    """Return the scores at which some input's gain changes its sign."""
    _, base, slope, weight, _ = prices
    inside = slope**2 + 4 * base * weight
    curved = (weight > _NOTHING) & (inside > 0)
    root, twice = np.sqrt(inside[curved]), 2 * weight[curved]
    straight = (weight <= _NOTHING) & (np.abs(slope) > _NOTHING)
    found = np.concatenate(
        [(slope[curved] - root) / twice, (slope[curved] + root) / twice, -base[straight] / slope[straight]]
    )
    return np.unique(found[np.abs(found) < _FARTHEST])


def centred_two(scores: Scores, epsilon: Decimal) -> Channel:
    """Make the channel of least total error for the gap of two groups."""
    first, second = scores.target.shares
    problem = TwoGroups(
        levels=_levels(scores, float(epsilon)),
        shares=(first, second),
        epsilon=epsilon,
        reckoning=scores.values.aim,
        constant=None if scores.target.shares_known else scores.values.aim.mean,
    )
    law = problem.law()
    if not scores.target.shares_known:
        law = np.hstack([(1 - _IDENTIFYING) * law, _IDENTIFYING * _responses(problem)])
    return exact_channel(law, problem.inputs, epsilon)


def _levels(scores: Scores, epsilon: float) -> Vector:
    aim = scores.values.aim
    if aim.any_values:
        # Whatever the values are, two levels lose nothing: a second moment's largest average is at the ends.
        return even_levels(2)
    if aim.mean == 0:
        counts, more = _MIRRORED_LEVELS, _MORE_MIRRORED_LEVELS
    else:
        counts, more = (_EQUAL_LEVELS if scores.target.shares[0] == scores.target.shares[1] else _LEVELS), _MORE_LEVELS
    count = next((count for most, count in counts.items() if epsilon <= most), more)
    return even_levels(count) if scores.values.expect is None else levels_about(aim.mean, aim.widest, count)


def _responses(problem: TwoGroups) -> Matrix:
    """Return randomized response on (group, sign), for values between the ends too."""
    up = (1 + problem.levels) / 2
    own = np.zeros((problem.inputs.count, 4))
    for g, block in enumerate(problem.inputs.blocks):
        own[block, 2 * g : 2 * g + 2] = np.column_stack([1 - up, up])
    more = problem.high - 1
    return (1 + more * own) / (4 + more)
