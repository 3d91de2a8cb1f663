r"""Channels for many groups, for clients whose split is known exactly: symbols that ask some of the groups at once.

Turning round the values of ONE group changes nothing in the problem, so a column is, for each group, which of its
levels are likely and a score :math:`y_g`, and stands for all ways to turn groups round.  With levels :math:`v \ge 0`
and :math:`\bar z(v) = (z(v) + z(-v))/2`, :math:`\tilde z(v) = (z(v) - z(-v))/2`, the best weights solve

.. math::

    \min T: \quad \sum \theta \bar z_g = 1, \quad \sum \theta \tilde z_g y_g = v/p_g, \quad
    \sum \theta \bar z_g y_g^2 \le T_g + v^2/p_g^2, \quad \sum \theta y_g^2 \sum_{h \ne g} p_h \bar z_h(v) \le U_g,

and T is at least what every wanted number makes of :math:`V_g = p_g T_g + U_g`: independent groups' variances add.
Values between levels are held by rows at midpoints.  Each of the other groups may have the level that is worst for g:
the rows of :math:`U_g` that say so are added where a solution breaks them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.designs.column_generation import USED, ColumnProblem, Columns, Prices, Stop, generate
from fairgauge.designs.linear_program import INFINITY, LinearProgram, Optimum, Rows, Variables
from fairgauge.targets.channel_inputs import Inputs, Matrix, Vector

_CLOSE = 3e-3
_ROUNDS = 150
# Groups that differ make large programs: from so many on, rounds stop early, so that a design takes a minute.
_LARGE, _FEWER_ROUNDS = 12, 60
_CUTS = 40
_PATIENCE = 12  # rounds without progress after which to stop
_TURNS = 25
_SPREAD = 1e-3
# What a unit beyond a cap costs beside a unit of the maximum.
_DEAR = 30.0

_Patterns = NDArray[np.float64]  # column, group, level


class Peaks(NamedTuple):
    """What the maximum is over: a row of weights of the groups' variances for each, and what it shall be at most."""

    rows: Matrix
    caps: Vector


@dataclass(frozen=True)
class SubsetProblem:
    """What to minimise.

    Args:
        levels: The levels; for each its opposite is one too.
        shares: The groups' shares.
        units: What each group's variance is measured by: randomized response's, say.
        peaks: What the maximum is over, as combinations of variances in these units.
        high: How much likelier a symbol may be for one input than for another.
    """

    levels: Vector
    shares: Vector
    units: Vector
    peaks: Peaks
    high: float

    @cached_property
    def inputs(self) -> Inputs:
        """The inputs."""
        return Inputs(len(self.shares), self.levels)

    @cached_property
    def slopes(self) -> Vector:
        """The slope of each group's target, in units of its deviation."""
        return 1 / (self.shares * np.sqrt(self.units))

    @cached_property
    def alike(self) -> bool:
        """Whether all groups are each other's images, so that one row stands for all."""
        rows = {tuple(sorted(row)) for row in self.peaks.rows.round(12).tolist()}
        return len(set(self.shares.tolist())) == 1 and len(rows) == 1 and len(self.peaks.rows) == len(self.shares)

    @cached_property
    def response(self) -> Vector:
        """Randomized response's scores."""
        return (self.high + 2 * len(self.shares) - 1) / (self.high - 1) * self.slopes

    @cached_property
    def asked(self) -> Vector:
        """The scores of questions that ask all groups at once."""
        return (self.high + 1) / (self.high - 1) * self.slopes

    def solve(self) -> tuple[Columns, Vector]:
        """Return the best columns and their weights."""
        columns, weights, *_ = generate(_Search(self), self.first())
        return columns, weights

    def best_of(self, columns: Columns) -> tuple[Columns, Vector]:
        """Return the best weights of these columns alone, beside the simplest ones that make a channel possible."""
        everything = Columns.joined(columns, self.simplest())
        search = _Search(self)
        search.add(everything)
        optimum = search.program.solve()
        for _ in range(_CUTS):
            if not search.cut(everything, optimum):
                break
            optimum = search.program.solve()
        used = optimum.weights > USED
        return everything.some(used), optimum.weights[used]

    def reached(self, columns: Columns, weights: Vector) -> float:
        """Return the largest of the groups' variances, in their units, that a mixture of columns has."""
        mirrored = columns.patterns[:, :, ::-1]
        even = (columns.patterns + mirrored) / 2
        d = len(self.shares)
        squares = (weights[:, None] * columns.scores**2).T
        second = (squares @ even.reshape(len(even), -1)).reshape(d, d, -1)
        own = np.array([second[g, g] for g in range(d)])
        if self.alike:
            own[:] = own.mean(axis=0)
            others = second[~np.eye(d, dtype=bool)].mean(axis=0).max()
            crossed = np.full(d, (1 - self.shares[0]) * others)
        else:
            tops = second.max(axis=2)
            crossed = tops @ self.shares - np.diag(tops) * self.shares
        variances = self.shares * (own - (self.slopes[:, None] * self.levels) ** 2).max(axis=1) + crossed
        return float(variances.max())

    def simplest(self) -> Columns:
        """Return randomized response and Hadamard questions, mixtures that are unbiased, and shared middle symbols."""
        d = len(self.shares)
        side = 1 + (self.high - 1) * (1 + self.levels) / 2
        eye = np.eye(d)
        single = Columns(np.where(eye[:, :, None] > 0, side, 1.0), eye * self.response)
        every = Columns(np.ones((1, d, 1)) * side, self.asked[None, :])
        # Symbols for values near the middle, and one that tells nothing: shared by all groups.
        middle = [np.where(np.abs(self.levels) <= far + 1e-9, self.high, 1.0) for far in self.levels if far >= 0]
        shared = np.array([np.ones_like(self.levels), *middle[:-1]])
        none = Columns(np.repeat(shared[:, None, :], d, axis=1), np.zeros((len(shared), d)))
        return Columns.joined(single, every, none)

    def first(self) -> Columns:
        """Return columns that are unbiased together, and windows of one group and of all."""
        d, m, eye = len(self.shares), len(self.levels), np.eye(len(self.shares))
        parts = [self.simplest()]
        for start in range(m):
            for stop in range(start + 1, m + 1):
                window = np.where((np.arange(m) >= start) & (np.arange(m) < stop), self.high, 1.0)
                middle = float(self.levels[start:stop].mean())
                if middle < 0:
                    continue
                score = eye * self.response * middle
                one = np.where(eye[:, :, None] > 0, window, 1.0)
                parts += [Columns(one, stretch * score) for stretch in (0.8, 1, 1.3)]
                parts.append(Columns(np.ones((1, d, 1)) * window, middle * self.asked[None, :]))
        return Columns.joined(*parts)


class _Search(ColumnProblem):
    """The linear program; where all groups are alike its rows are averages over the groups."""

    def __init__(self, problem: SubsetProblem) -> None:
        self.problem = problem
        large = len(problem.shares) > _LARGE and not problem.alike
        self.stop = Stop(
            _CLOSE,
            rounds=_FEWER_ROUNDS if large else _ROUNDS,
            per_round=80,
            smoothing=0.6,
            most_columns=1200,
        )
        self.rng = np.random.default_rng(2022)
        levels, d = problem.levels, len(problem.shares)
        m = len(levels)
        self.classes = np.full((1, d), 1 / d) if problem.alike else np.eye(d)
        self.n = len(self.classes)
        self.half = np.flatnonzero(levels >= 0)
        self.odd = np.flatnonzero(levels > 0)
        corners = np.eye(m)
        plain = corners[self.half]
        between = (corners[:-1] + corners[1:]) / 2
        # Values that are not negative; the midpoint of an even number of levels is 0.
        between = between[(between @ levels) >= 0]
        self.mirrored = np.arange(m)[::-1]
        self.points = np.vstack([plain, between])
        values = self.points @ levels
        slopes = self.classes @ problem.slopes
        n, h, o, p = self.n, len(self.half), len(self.odd), len(self.points)
        self.sizes = [n * h, n * o, n * p, n * h]
        means = (slopes[:, None] * levels[self.odd]).reshape(-1)
        limits = ((slopes[:, None] * values) ** 2).reshape(-1)
        peaks = problem.peaks.rows[:1] if problem.alike else problem.peaks.rows
        combined = peaks.sum(axis=1, keepdims=True) if problem.alike else peaks
        caps = problem.peaks.caps[: len(peaks)]
        capped = np.isfinite(caps)
        equal = np.concatenate([np.ones(n * h), means])
        free = 2 * n + 2
        shares = self.classes @ problem.shares
        above = np.zeros((len(equal), free))
        own = np.hstack([-np.kron(np.eye(n), np.ones((p, 1))), np.zeros((n * p, n + 2))])
        others = np.hstack([np.zeros((n * h, n)), -np.kron(np.eye(n), np.ones((h, 1))), np.zeros((n * h, 2))])
        variance = np.hstack([np.diag(shares), np.eye(n)])
        tops = np.hstack([combined @ variance, np.tile([-1.0, 0.0], (len(combined), 1))])
        capping = np.hstack([(combined @ variance)[capped], np.tile([0.0, -1.0], (int(capped.sum()), 1))])
        cost = np.concatenate([_SPREAD * variance.sum(axis=0) / n, [1.0, _DEAR]])
        below = np.full(len(own) + len(others) + len(tops) + len(capping), -INFINITY)
        rows = Rows(
            lower=np.concatenate([equal, below]),
            upper=np.concatenate([equal, limits, np.zeros(len(others) + len(tops)), caps[capped]]),
        )
        least = np.append(np.full(free - 1, -INFINITY), 0.0)
        self.program = LinearProgram(rows, Variables(np.vstack([above, own, others, tops, capping]).T, cost, least))
        self.between = len(tops) + len(capping)
        self.cuts: list[tuple[int, NDArray[np.int_]]] = []  # a group, and the worst level of each group for it

    def add(self, columns: Columns) -> None:
        """Add columns to the program."""
        none = np.zeros((len(columns.scores), self.between))
        self.program.add(np.hstack([self.coefficients(columns), none, self._cut_rows(columns, self.cuts).T]))

    def _cut_rows(self, columns: Columns, cuts: list[tuple[int, NDArray[np.int_]]]) -> Matrix:
        """Return what a unit of each column adds to each of these rows."""
        even = (columns.patterns + columns.patterns[:, :, self.mirrored]) / 2
        places = np.arange(len(self.problem.shares))
        found = np.zeros((len(cuts), len(even)))
        for row, (group, worst) in zip(found, cuts, strict=True):
            weights = np.where(places == group, 0.0, self.problem.shares)
            row[:] = columns.scores[:, group] ** 2 * (even[:, places, worst] @ weights)
        return found

    def cut(self, columns: Columns, optimum: Optimum) -> bool:
        """Add the rows that a solution breaks; tell whether there were any."""
        if self.problem.alike:
            return False
        used = optimum.weights > USED
        some, weights = columns.some(used), optimum.weights[used]
        even = (some.patterns + some.patterns[:, :, self.mirrored]) / 2
        d, fresh = len(self.problem.shares), []
        second = ((weights[:, None] * some.scores**2).T @ even.reshape(len(even), -1)).reshape(d, d, -1)
        for group in range(d):
            worst = second[group].argmax(axis=1)
            weighed = np.where(np.arange(d) == group, 0.0, self.problem.shares)
            top = float(weighed @ second[group].max(axis=1))
            if top > float(optimum.variables[d + group]) + _CLOSE / 4 * max(top, 1e-12):
                fresh.append((group, np.maximum(worst, self.mirrored[worst])))
        if not fresh:
            return False
        variables = np.zeros((len(fresh), len(optimum.variables)))
        variables[np.arange(len(fresh)), [d + group for group, _ in fresh]] = -1.0
        self.program.limit(np.hstack([variables, self._cut_rows(columns, fresh)]), np.zeros(len(fresh)))
        self.cuts += fresh
        return True

    def coefficients(self, columns: Columns) -> Matrix:
        """Return what a unit of each column adds to each row."""
        patterns, scores = columns
        even = (patterns + patterns[:, :, self.mirrored]) / 2
        odd = (patterns - patterns[:, :, self.mirrored]) / 2
        squares = (scores**2)[:, :, None]
        weighed = self.problem.shares[:, None] * even
        others = weighed.sum(axis=1, keepdims=True) - weighed
        parts = (
            even[:, :, self.half],
            odd[:, :, self.odd] * scores[:, :, None],
            squares * (even @ self.points.T),
            squares * others[:, :, self.half],
        )
        return np.hstack([(self.classes @ part).reshape(len(patterns), -1) for part in parts])

    def prices(self, optimum: Optimum) -> Prices:
        """Return the duals at each group and level."""
        problem, n = self.problem, self.n
        ones, means, own, across = np.split(optimum.duals[: sum(self.sizes)], np.cumsum(self.sizes)[:-1])
        m = len(problem.levels)

        def unfolded(of_half: Matrix, places: NDArray[np.int_], sign: int) -> Matrix:
            found = np.zeros((n, m))
            found[:, places] += of_half / 2
            found[:, self.mirrored[places]] += sign * of_half / 2
            return self.classes.T @ found

        others = unfolded(np.maximum(-across.reshape(n, -1), 0), self.half, 1)
        d = len(problem.shares)
        crossed = (1 - np.eye(d))[:, :, None] * problem.shares[:, None] * others[:, None, :]
        for (group, worst), dual in zip(self.cuts, optimum.duals[sum(self.sizes) + self.between :], strict=True):
            weights = np.where(np.arange(d) == group, 0.0, problem.shares) * max(-float(dual), 0.0) / 2
            crossed[group, np.arange(d), worst] += weights
            crossed[group, np.arange(d), self.mirrored[worst]] += weights
        at_points = np.maximum(-own.reshape(n, -1), 0) @ self.points
        return Prices(
            optimum.value,
            unfolded(ones.reshape(n, -1), self.half, 1),
            unfolded(means.reshape(n, -1), self.odd, -1),
            self.classes.T @ ((at_points + at_points[:, self.mirrored]) / 2),
            crossed,
        )

    def costs(self, prices: Prices, columns: Columns) -> Vector:
        """Return the reduced cost of each column."""
        patterns, scores = columns
        squares = scores**2
        own = -prices.ones - prices.means * scores[:, :, None] + prices.squares * squares[:, :, None]
        found: Vector = (patterns * own).sum(axis=(1, 2)) + (squares * self._crossed(prices, patterns)).sum(axis=1)
        return found

    def stalled(self, values: list[float], bounds: list[float]) -> bool:  # noqa: ARG002 - pricing here proves little
        """Return whether no round for a while has lowered the value by much."""
        best = np.minimum.accumulate(values)
        slow = np.array(values[1:]) > best[:-1] * (1 - _CLOSE / 4)
        return len(slow) >= _PATIENCE and bool(slow[-_PATIENCE:].all())

    def _crossed(self, prices: Prices, patterns: _Patterns) -> Matrix:
        """Return what a squared score of each group costs at the inputs of all others."""
        d, size = len(self.problem.shares), self.problem.inputs.count
        found: Matrix = patterns.reshape(len(patterns), size) @ prices.further.reshape(d, size).T
        return found

    def search(self, prices: Prices, used: Columns) -> Columns:
        """Return the columns that alternating between patterns and scores leads to."""
        scores = self._starts(used)
        patterns = self._best_patterns(prices, scores)
        for _ in range(_TURNS):
            curve = (prices.squares * patterns).sum(axis=2) + self._crossed(prices, patterns)
            pull = (prices.means * patterns).sum(axis=2)
            scores = np.where(curve > 1e-14, pull / (2 * np.maximum(curve, 1e-14)), scores)
            scores = np.clip(scores, -50, 50)
            better = self._best_patterns(prices, scores)
            if np.array_equal(better, patterns):
                break
            patterns = better
        _, first = np.unique(np.packbits(patterns.reshape(len(patterns), -1) > 1, axis=1), axis=0, return_index=True)
        return Columns(patterns[first], scores[first])

    def _best_patterns(self, prices: Prices, scores: Matrix) -> _Patterns:
        d, squares = len(self.problem.shares), scores**2
        others = (squares @ prices.further.reshape(d, -1)).reshape(len(scores), d, -1)
        gains = -prices.ones - prices.means * scores[:, :, None] + prices.squares * squares[:, :, None] + others
        return np.where(gains < 0, self.problem.high, 1.0)

    def _starts(self, used: Columns) -> Matrix:
        """Return scores to start from: some groups at once, larger scores the fewer they are."""
        d, rng = len(self.problem.shares), self.rng
        count = 12 * d if self.problem.alike else 240
        active = rng.integers(1, d + 1, count)
        order = np.argsort(rng.random((count, d)), axis=1)
        ranks = np.argsort(order, axis=1)
        scores = np.where(ranks < active[:, None], rng.lognormal(0.3, 0.5, (count, 1)), 0.0)
        near = used.scores * rng.lognormal(0, 0.2, used.scores.shape)
        toggled = used.scores.copy()
        if len(toggled):
            places = rng.integers(0, d, len(toggled))
            rows = np.arange(len(toggled))
            typical = np.abs(toggled).max(axis=1)
            toggled[rows, places] = np.where(toggled[rows, places] == 0, typical, 0.0)
        return np.vstack([scores, used.scores, near, toggled])
