r"""The channel of least total error for the gap of two groups, by column generation.

Clients are drawn from a population with shares p, so a score is unbiased for the gap if its mean is
:math:`\pm(v - c)/p_g` for some constant c.  With columns (z, y) as in ``minimax``, the best weights and the best c
solve a linear program (``reckoning`` says why the last rows bound the total):

.. math::

    \min \sum_g p_g T_g: \quad \sum \theta z = 1, \quad \sum \theta z y + c h = f, \quad S = \sum \theta z y^2, \quad
    S_g(v) \le T_g + l_g (v - \mu) + k_g ((v - \mu)^2 - \sigma^2), \; k_g \ge 0,

with :math:`f = \pm v/p_g` and :math:`h = \pm 1/p_g`, at levels and midpoints.  What the bound sags between those is
paid for by whoever evaluates the channel exactly, never hidden.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.designs.master import INFINITY, Master, Optimum, Rows, Variables
from fairgauge.designs.one_number import Worth, best_columns
from fairgauge.designs.same_bits import exponential, least_change, weighted_sums
from fairgauge.designs.watching import Search
from fairgauge.goals.inputs import Inputs, Matrix, Vector
from fairgauge.goals.reckoning import Reckoning

_CLOSE = 5e-3  # stop when the bound says that no channel with these levels is better by more than this part
_ROUNDS = 150
_PER_ROUND = 60
_SMOOTHING = 0.7  # pricing between the current and the best duals so far calms column generation
_USED = 1e-9


class Turn(NamedTuple):
    """A renaming of inputs that leaves the problem as it is, and what it does to scores."""

    inputs: NDArray[np.int_]
    sign: int


class Mixture(NamedTuple):
    """Columns, their scores, and how much of each to use."""

    patterns: Matrix
    scores: Vector
    weights: Vector


@dataclass(frozen=True)
class TotalProblem:
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
    def turns(self) -> list[Turn]:
        """The symmetries: equal groups can be swapped, and values about a middle that is 0 mirrored."""
        m = len(self.levels)
        found = [Turn(np.arange(2 * m), 1)]
        if self.shares[0] == self.shares[1]:
            found.append(Turn(np.concatenate([np.arange(m, 2 * m), np.arange(m)]), -1))
        even = bool(np.all(self.levels == -self.levels[::-1]))
        if self.reckoning.mean == 0 and not self.constant and even:
            mirrored = np.concatenate([np.arange(m)[::-1], np.arange(m, 2 * m)[::-1]])
            found += [Turn(mirrored[turn.inputs], -turn.sign) for turn in found]
        return found

    def solve(self) -> Mixture:
        """Return the best mixture of columns that there is, to ``_CLOSE``, its equations kept to rounding error."""
        program = _Folded(self)
        patterns, scores = self._first()
        program.add(patterns, scores)
        best: Worth | None = None
        bound, search = -np.inf, Search(_CLOSE)
        for _ in range(_ROUNDS):
            optimum = program.solve()
            current = program.worth(optimum)
            fresh = []
            for worth in [current] if best is None else [best.towards(current, 1 - _SMOOTHING), current]:
                found = best_columns(worth, self.high)
                proven = worth.value + min(0.0, float(worth.costs(*found).min()))
                if proven > bound:
                    best, bound = worth, proven
                costs = current.costs(*found)
                order = np.argsort(costs, kind="stable")
                order = order[costs[order] < -1e-9 * abs(current.value)][:_PER_ROUND]
                fresh.append((found[0][order], found[1][order]))
            more, new = np.vstack([f[0] for f in fresh]), np.concatenate([f[1] for f in fresh])
            search.within((current.value - bound) / abs(current.value))
            if current.value - bound <= _CLOSE * current.value or not len(new):
                break
            program.add(more, new)
            patterns, scores = np.vstack([patterns, more]), np.concatenate([scores, new])
        return program.polished(Mixture(patterns, scores, optimum.weights), optimum)

    def _first(self) -> tuple[Matrix, Vector]:
        """Return randomized response over all inputs, a mixture that is unbiased."""
        count = self.inputs.count
        patterns = np.where(np.eye(count) > 0, self.high, 1.0)
        wanted = self.target - (self.constant or 0.0) * self.shift
        return patterns, ((count + self.high - 1) * wanted - wanted.sum()) / (self.high - 1)

    def unfolded(self, mixture: Mixture) -> Matrix:
        """Return the law of symbols of a mixture and all that the symmetries make of it."""
        parts: dict[tuple[bytes, float], Vector] = {}
        for pattern, score, weight in zip(*mixture, strict=True):
            for turn in self.turns:
                image = np.empty_like(pattern)
                image[turn.inputs] = pattern
                # What has the same pattern and the same score is one symbol.
                key = (image.tobytes(), round(float(turn.sign * score), 9))
                parts[key] = parts.get(key, np.zeros_like(image)) + weight / len(self.turns) * image
        return np.array(list(parts.values())).T


class _Folded:
    """The linear program, with constraints that the symmetries make equal averaged into one."""

    def __init__(self, problem: TotalProblem) -> None:
        self.problem = problem
        images = np.array([turn.inputs for turn in problem.turns])
        self.orbits = np.flatnonzero(images.min(axis=0) == np.arange(problem.inputs.count))
        # Where a symmetry turns an input's target into its own opposite there is nothing to ask.
        sums = sum(turn.sign * np.eye(problem.inputs.count)[turn.inputs] for turn in problem.turns)
        self.asked = np.abs(np.asarray(sums)[self.orbits]).max(axis=1) > 0
        self.ones, self.means = len(self.orbits), int(self.asked.sum())
        self.equations = self.ones + self.means
        self.master = self._master()

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

    def _master(self) -> Master:
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
        return Master(rows, Variables(np.vstack([constant, moments, above]), cost, least))

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

    def add(self, patterns: Matrix, scores: Vector) -> None:
        """Add columns."""
        self.master.add(np.hstack([self._equations(patterns, scores), -self._plain(patterns) * scores[:, None] ** 2]))

    def _equations(self, patterns: Matrix, scores: Vector) -> Matrix:
        return np.hstack([self._plain(patterns), self._signed(patterns) * scores[:, None]])

    def solve(self) -> Optimum:
        """Return the optimum over the columns so far."""
        return self.master.solve()

    def worth(self, optimum: Optimum) -> Worth:
        """Return the duals at each input."""
        ones, means, second = np.split(optimum.duals[: self.equations + self.ones], [self.ones, self.equations])
        same, turned = [1 for _ in self.problem.turns], [turn.sign for turn in self.problem.turns]
        return Worth(
            optimum.value,
            self._unfolded(ones, self.orbits, same),
            self._unfolded(means, self.orbits[self.asked], turned),
            self._unfolded(np.maximum(second, 0), self.orbits, same),
        )

    def polished(self, mixture: Mixture, optimum: Optimum) -> Mixture:
        """Keep the columns in use, and take the solver's 1e-9 in the equations down to rounding error.

        Weights are corrected by factors, so that small ones do not become negative.
        """
        problem = self.problem
        keep = mixture.weights > _USED
        patterns, scores, weights = (part[keep] for part in mixture)
        equations = self._equations(patterns, scores).T
        free = problem.constant is None
        shift = np.concatenate([np.zeros(self.ones), self._signed(problem.shift)])
        wanted = np.concatenate([np.ones(self.ones), self._signed(problem.target)])
        columns = np.column_stack([equations, shift])
        found = np.append(weights, float(optimum.variables[0]) if problem.constant is None else problem.constant)
        for _ in range(3):
            residual = wanted - weighted_sums(columns, found)
            # The constant, where it is free, may change as if it were a column in full use.
            sizes = np.append(found[:-1] ** 2, 1.0 if free else 0.0)
            found = found + least_change(columns, sizes, residual)
        return Mixture(patterns, scores, found[:-1])
