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

import numpy as np

from fairgauge.designs.subset_columns import Columns, Patterns, Prices, SubsetGoal
from fairgauge.designs.subset_program import USED, SubsetProgram
from fairgauge.designs.watching import Search
from fairgauge.errors import Impossible
from fairgauge.goals.inputs import Matrix, Vector

_CLOSE = 3e-3
_ROUNDS = 150
# Groups that differ make large programs: from so many on, rounds stop early, so that a design takes a minute.
_LARGE, _FEWER_ROUNDS = 12, 60
_MOST_COLUMNS = 1200
_CUTS = 40
_PER_ROUND = 80
_TURNS = 25
_PATIENCE = 12
_SMOOTHING = 0.6


@dataclass(frozen=True)
class SubsetProblem(SubsetGoal):
    """Finds the columns that are best for a goal."""

    def solve(self) -> tuple[Columns, Vector]:
        """Return the best columns and their weights."""
        program = SubsetProgram(self)
        columns = self._first()
        program.add(columns)
        rng = np.random.default_rng(2022)
        best, bound, since, reached, search = None, -np.inf, 0, np.inf, Search(_CLOSE)
        optimum = program.solve()
        for _ in range(_ROUNDS if len(self.shares) <= _LARGE or self.alike else _FEWER_ROUNDS):
            broken = program.cut(columns, optimum)
            if broken:
                optimum = program.solve()
                since, reached = 0, np.inf
            current = program.prices(optimum)
            fresh = []
            for prices in [current] if best is None else [best.towards(current, 1 - _SMOOTHING), current]:
                found = self.search(prices, self._starts(rng, columns.some(optimum.weights > USED)))
                proven = prices.value + min(0.0, float(self.costs(prices, found).min()))
                if proven > bound:
                    best, bound = prices, proven
                fresh.append(self._worth_adding(found, self.costs(current, found)))
            new = Columns.joined(*fresh)
            search.within((optimum.value - bound) / abs(optimum.value))
            since = since + 1 if optimum.value > reached * (1 - _CLOSE / 4) else 0
            reached = min(reached, optimum.value)
            done = not len(new.scores) or optimum.value - bound <= _CLOSE * optimum.value or since >= _PATIENCE
            if done and not broken:
                break
            if len(new.scores):
                program.add(new)
                columns = Columns.joined(columns, new)
            try:
                optimum = program.solve()
            except Impossible:
                break
            if len(columns.scores) > _MOST_COLUMNS:
                costs = np.where(optimum.weights > 0, -np.inf, self.costs(program.prices(optimum), columns))
                kept = np.sort(np.argsort(costs, kind="stable")[: _MOST_COLUMNS // 2])
                program.master.drop(np.setdiff1d(np.arange(len(costs)), kept))
                columns, optimum = columns.some(kept), optimum._replace(weights=optimum.weights[kept])
        used = optimum.weights > USED
        return columns.some(used), optimum.weights[used]

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

    def best_of(self, columns: Columns) -> tuple[Columns, Vector]:
        """Return the best weights of these columns alone, beside the simplest ones that make a channel possible."""
        everything = Columns.joined(columns, self._simplest())
        program = SubsetProgram(self)
        program.add(everything)
        optimum = program.solve()
        for _ in range(_CUTS):
            if not program.cut(everything, optimum):
                break
            optimum = program.solve()
        used = optimum.weights > USED
        return everything.some(used), optimum.weights[used]

    def costs(self, prices: Prices, columns: Columns) -> Vector:
        """Return the reduced cost of each column."""
        patterns, scores = columns
        squares = scores**2
        own = -prices.ones - prices.means * scores[:, :, None] + prices.own * squares[:, :, None]
        found: Vector = (patterns * own).sum(axis=(1, 2)) + (squares * self._crossed(prices, patterns)).sum(axis=1)
        return found

    def _crossed(self, prices: Prices, patterns: Patterns) -> Matrix:
        """Return what a squared score of each group costs at the inputs of all others."""
        d, size = len(self.shares), self.inputs.count
        found: Matrix = patterns.reshape(len(patterns), size) @ prices.others.reshape(d, size).T
        return found

    def search(self, prices: Prices, starts: Matrix) -> Columns:
        """Return the columns that alternating between patterns and scores leads to."""
        scores = starts
        patterns = self._best_patterns(prices, scores)
        for _ in range(_TURNS):
            curve = (prices.own * patterns).sum(axis=2) + self._crossed(prices, patterns)
            pull = (prices.means * patterns).sum(axis=2)
            scores = np.where(curve > 1e-14, pull / (2 * np.maximum(curve, 1e-14)), scores)
            scores = np.clip(scores, -50, 50)
            better = self._best_patterns(prices, scores)
            if np.array_equal(better, patterns):
                break
            patterns = better
        _, first = np.unique(np.packbits(patterns.reshape(len(patterns), -1) > 1, axis=1), axis=0, return_index=True)
        return Columns(patterns[first], scores[first])

    def _best_patterns(self, prices: Prices, scores: Matrix) -> Patterns:
        d, squares = len(self.shares), scores**2
        others = (squares @ prices.others.reshape(d, -1)).reshape(len(scores), d, -1)
        gains = -prices.ones - prices.means * scores[:, :, None] + prices.own * squares[:, :, None] + others
        return np.where(gains < 0, self.high, 1.0)

    def _worth_adding(self, columns: Columns, costs: Vector) -> Columns:
        order = np.argsort(costs, kind="stable")
        order = order[costs[order] < -1e-9]
        return columns.some(order[:_PER_ROUND])

    def _starts(self, rng: np.random.Generator, used: Columns) -> Matrix:
        """Return scores to start from: some groups at once, larger scores the fewer they are."""
        d = len(self.shares)
        count = 12 * d if self.alike else 240
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

    def _simplest(self) -> Columns:
        """Return randomized response and Hadamard questions, mixtures that are unbiased, and shared middle symbols."""
        d = len(self.shares)
        side = 1 + (self.high - 1) * (1 + self.levels) / 2
        eye = np.eye(d)
        single = Columns(np.where(eye[:, :, None] > 0, side, 1.0), eye * self._response)
        every = Columns(np.ones((1, d, 1)) * side, self._asked[None, :])
        # Symbols for values near the middle, and one that tells nothing: shared by all groups.
        middle = [np.where(np.abs(self.levels) <= far + 1e-9, self.high, 1.0) for far in self.levels if far >= 0]
        shared = np.array([np.ones_like(self.levels), *middle[:-1]])
        none = Columns(np.repeat(shared[:, None, :], d, axis=1), np.zeros((len(shared), d)))
        return Columns.joined(single, every, none)

    @cached_property
    def _response(self) -> Vector:
        """Randomized response's scores."""
        return (self.high + 2 * len(self.shares) - 1) / (self.high - 1) * self.slopes

    @cached_property
    def _asked(self) -> Vector:
        """The scores of questions that ask all groups at once."""
        return (self.high + 1) / (self.high - 1) * self.slopes

    def _first(self) -> Columns:
        """Return columns that are unbiased together, and windows of one group and of all."""
        d, m, eye = len(self.shares), len(self.levels), np.eye(len(self.shares))
        parts = [self._simplest()]
        for start in range(m):
            for stop in range(start + 1, m + 1):
                window = np.where((np.arange(m) >= start) & (np.arange(m) < stop), self.high, 1.0)
                middle = float(self.levels[start:stop].mean())
                if middle < 0:
                    continue
                score = eye * self._response * middle
                one = np.where(eye[:, :, None] > 0, window, 1.0)
                parts += [Columns(one, stretch * score) for stretch in (0.8, 1, 1.3)]
                parts.append(Columns(np.ones((1, d, 1)) * window, middle * self._asked[None, :]))
        return Columns.joined(*parts)
