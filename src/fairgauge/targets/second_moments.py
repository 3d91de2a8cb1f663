r"""The best score for a gap about a population, with its constant, from the table alone.

Clients are drawn from a population with known shares, so a score is unbiased for the gap exactly if its mean is
:math:`\pm (v - c)/p_g`, for one constant c, any c.  A channel with more symbols than it can tell inputs apart leaves
scores a choice, and c may be another.  The best of them solves a convex problem in few variables,

.. math:: \min \sum_g p_g T_g: \quad T_g + l_g x + k_g (x^2 - \sigma^2) \ge \sum_j P_{vj} s_j^2,
    \quad x = v - \mu, \quad k_g \ge 0,

at levels and between them (see ``reckoning`` for why); with two terms more on the left where the channel takes another
value, of which something is reckoned too (see ``beside``).  Newton's method with a logarithmic barrier finds it without
a solver library.  The second moments are strictly convex in the score, so there is one best score, and every machine
finds the same to nine digits.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairgauge.targets.assumed_values import Other, Reckoning
from fairgauge.targets.inputs import Matrix, Vector

# Between two levels the bound is asked for at so many points more; it sags between them by a part in a thousand.
_BETWEEN = (0.25, 0.5, 0.75)
_SHARPER = 8.0  # how much sharper the barrier becomes at each turn
_FITS = 0.9  # the part of the spread that points about the mean may take before the mean itself becomes a point
_CLOSE = 1e-9  # the part of the value within which the optimum is known to lie
_STEPS = 60  # Newton steps at each sharpness; five are usual


class Table(NamedTuple):
    """What the search needs of a question: the law of symbols, where the inputs lie, and how much each block counts.

    Where the channel takes other values at the same time their levels have so many ``others`` together; ``other`` is
    what is reckoned of the only one.
    """

    rows: Matrix
    levels: Vector
    weights: Vector
    others: int = 1
    other: Other | None = None


class Family(NamedTuple):
    """The scores to choose from: ``base + free @ u`` for any u."""

    base: Vector
    free: Matrix


def best_score(table: Table, family: Family, reckonings: Sequence[Reckoning]) -> Vector:
    """Return the score of the family whose largest average second moment, over the reckonings, is least.

    Guarantee: a score of the family whatever happens; the best to ``_CLOSE``.
    """
    if not family.free.shape[1]:
        return family.base
    scale = float(np.sqrt((table.rows @ family.base**2).max())) or 1.0
    # Directions of one size make Newton's equations well-behaved.
    free = np.linalg.qr(family.free)[0]
    problem = _Problem.of(table, Family(family.base / scale, free), reckonings)
    return scale * problem.score(problem.solved())


def prices_beside(table: Table, score: Vector, reckoning: Reckoning) -> list[tuple[float, float]]:
    """Return for each block the prices of the other value (see ``beside``) that bound a score's second moments best."""
    scale = float(np.sqrt((table.rows @ score**2).max())) or 1.0
    problem = _Problem.of(table, Family(score / scale, np.zeros((len(score), 0))), [reckoning])
    found = problem.solved().reshape(len(table.weights), -1)
    return [(scale**2 * float(slope), scale**2 * max(float(curve), 0.0)) for slope, curve in found[:, 3:]]


class _Problem(NamedTuple):
    """The convex problem: variables are u, then T, l and k (and m and k') for each reckoning and block."""

    family: Family
    laws: Matrix  # the law of symbols at each point
    bounds: Matrix  # what each of T, l, k adds to the bound at each point
    tops: Vector  # which variables are T
    floors: Matrix  # which variables must be 0 or above
    cost: Vector

    @classmethod
    def of(cls, table: Table, family: Family, reckonings: Sequence[Reckoning]) -> "_Problem":
        laws, bounds, tops, floors, cost = [], [], [], [], [np.zeros(family.free.shape[1])]
        blocks = table.rows[: len(table.weights) * table.others * len(table.levels)]
        of_block = blocks.reshape(len(table.weights), table.others, len(table.levels), -1)
        for reckoning in reckonings:
            own = _points(table.levels, reckoning)
            across = np.eye(table.others) if table.other is None else _points(*table.other)
            terms = [np.kron(np.ones((len(across), 1)), _terms(own @ table.levels, reckoning))]
            told = [reckoning]
            if table.other is not None:
                levels, beside = table.other
                terms.append(np.kron(_terms(across @ levels, beside)[:, 1:], np.ones((len(own), 1))))
                told.append(beside)
            here = np.hstack(terms)
            for rows, weight in zip(of_block, table.weights, strict=True):
                laws.append(np.einsum("po,qm,oms->pqs", across, own, rows).reshape(len(here), -1))
                bounds.append(here)
                # Without a spread k bounds nothing; a small cost keeps it from wandering off.
                prices = [weight, *(price for r in told for price in (0.0, 1e-3 if r.any_values else 0.0))]
                cost.append(np.array(prices) / len(reckonings))
                tops.append(np.eye(here.shape[1])[0])
                floors.append(np.eye(here.shape[1])[2::2])
        parts = _diagonal(bounds), np.concatenate(tops), _diagonal(floors), np.concatenate(cost)
        return cls(family, np.vstack(laws), *parts)

    def score(self, variables: Vector) -> Vector:
        """Return the score that the variables stand for."""
        return self.family.base + self.family.free @ variables[: self.family.free.shape[1]]

    def slack(self, variables: Vector) -> Vector:
        """Return how far every bound, and every k, is from being broken."""
        rest = variables[self.family.free.shape[1] :]
        return np.concatenate([self.bounds @ rest - self.laws @ self.score(variables) ** 2, self.floors @ rest])

    def solved(self) -> Vector:
        """Return the variables of the optimum."""
        free = self.family.free.shape[1]
        curves = self.floors.sum(axis=0)
        high = 2 * (self.laws @ self.family.base**2).max() + np.abs(self.bounds @ np.diag(curves)).sum(axis=1).max()
        variables, sharp = np.concatenate([np.zeros(free), np.where(self.tops > 0, high, curves)]), 1.0
        while True:
            variables = self._centred(variables, sharp)
            if len(self.slack(variables)) / sharp <= _CLOSE * max(float(self.cost @ variables), 1e-300):
                return variables
            sharp *= _SHARPER

    def _centred(self, variables: Vector, sharp: float) -> Vector:
        """Return where the cost, made sharp, and the barrier are in balance."""
        for _ in range(_STEPS):
            slope, curve = self._derivatives(variables, sharp)
            size = np.sqrt(np.diag(curve))
            step = -np.linalg.lstsq(curve / np.outer(size, size), slope / size, rcond=1e-15)[0] / size
            drop = float(slope @ step)
            if drop > -1e-9:
                break
            part, height = 1.0, self._height(variables, sharp)
            while part > 1e-12 and not self._height(variables + part * step, sharp) <= height + 0.1 * part * drop:
                part /= 2
            if part <= 1e-12:
                break  # rounding error is all that is left
            variables = variables + part * step
        return variables

    def _height(self, variables: Vector, sharp: float) -> float:
        slack = self.slack(variables)
        return float(sharp * self.cost @ variables - np.log(slack).sum()) if slack.min() > 0 else np.inf

    def _derivatives(self, variables: Vector, sharp: float) -> tuple[Vector, Matrix]:
        """Return gradient and Hessian of the cost, made sharp, with the barrier."""
        free = self.family.free.shape[1]
        score, near = self.score(variables), 1 / self.slack(variables)
        n = len(self.laws)
        rise = np.vstack(
            [
                np.hstack([-2 * (self.laws * score) @ self.family.free, self.bounds]),
                np.hstack([np.zeros((len(self.floors), free)), self.floors]),
            ]
        )
        slope = sharp * self.cost - near @ rise
        curve = (rise * near[:, None] ** 2).T @ rise
        curve[:free, :free] += 2 * self.family.free.T @ ((near[:n] @ self.laws)[:, None] * self.family.free)
        return slope, curve


def _terms(values: Vector, reckoning: Reckoning) -> Matrix:
    """Return what T, l and k add to the bound at values."""
    x = values - reckoning.mean
    return np.column_stack(
        [np.ones(len(x)), x, np.zeros(len(x)) if reckoning.any_values else x**2 - reckoning.widest**2]
    )


def _diagonal(blocks: Sequence[Matrix]) -> Matrix:
    """Return a matrix with these blocks along its diagonal."""
    found = np.zeros((sum(len(block) for block in blocks), sum(block.shape[1] for block in blocks)))
    row = column = 0
    for block in blocks:
        found[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    return found


def _points(levels: Vector, reckoning: Reckoning) -> Matrix:
    """Return levels, and points between them, as mixtures of levels."""
    corners = np.eye(len(levels))
    # Without a spread the bound is a line, and what is linear between levels stays below it.
    between = [] if reckoning.any_values else [(1 - t) * corners[:-1] + t * corners[1:] for t in _BETWEEN]
    found = np.vstack([corners, *between])
    if reckoning.any_values:
        return found
    away = found @ levels - reckoning.mean
    below, above = away[away <= 0].max(), away[away >= 0].min()
    # Values at the two points about the mean spread at least by this much.  Where that is more than is reckoned with,
    # no values would fit, and nothing would bound the least: everyone at the mean always fits.
    if -below * above > _FITS * reckoning.widest**2:
        found = np.vstack([found, _at(levels, reckoning.mean)])
    return found


def _at(levels: Vector, value: float) -> Vector:
    """Return a value as a mixture of the two levels about it."""
    place = int(np.clip(np.searchsorted(levels, value), 1, len(levels) - 1))
    part = (value - levels[place - 1]) / (levels[place] - levels[place - 1])
    mixture: Vector = np.zeros(len(levels))
    mixture[place - 1], mixture[place] = 1 - part, part
    return mixture
