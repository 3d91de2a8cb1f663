"""The linear program of signed subsets: which columns to mix, and how much of each.

Its rows are those of ``subsets``; the rows of :math:`U_g` for values of the other groups that differ are added where a
solution breaks them.
"""

import numpy as np
from numpy.typing import NDArray

from fairgauge.designs.master import INFINITY, Master, Optimum, Rows, Variables
from fairgauge.designs.subset_columns import Columns, Prices, SubsetGoal
from fairgauge.goals.inputs import Matrix

# A row is broken by more than a quarter of this part.
_CLOSE = 3e-3
_SPREAD = 1e-3
_DEAR = 30.0
# Columns of less weight are not in use.
USED = 1e-9


class SubsetProgram:
    """The linear program; where all groups are alike its rows are averages over the groups."""

    def __init__(self, problem: SubsetGoal) -> None:
        self.problem = problem
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
        self.master = Master(rows, Variables(np.vstack([above, own, others, tops, capping]).T, cost, least))
        self.between = len(tops) + len(capping)
        self.cuts: list[tuple[int, NDArray[np.int_]]] = []  # a group, and the worst level of each group for it

    def add(self, columns: Columns) -> None:
        """Add columns."""
        none = np.zeros((len(columns.scores), self.between))
        self.master.add(np.hstack([self.coefficients(columns), none, self._cut_rows(columns, self.cuts).T]))

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
        self.master.limit(np.hstack([variables, self._cut_rows(columns, fresh)]), np.zeros(len(fresh)))
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

    def solve(self) -> Optimum:
        """Return the optimum over the columns so far."""
        return self.master.solve()

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
