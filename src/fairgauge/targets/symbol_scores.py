r"""Scores: the number that each symbol is worth, derived from the table that clients really use.

A functional gives every input a number: ``u`` for members of a group and 0 for others, say.  A score gives
every *symbol* a number such that its expectation for an input is the functional at that input, so that the
average score over all answers estimates the average of the functional over all clients.

*The best score for a gap about a population*, with its constant, comes from the table alone.  Clients are drawn from a
population with known shares, so a score is unbiased for the gap exactly if its mean is :math:`\pm (v - c)/p_g`, for one
constant c, any c.  A channel with more symbols than it can tell inputs apart leaves scores a choice, and c may be
another.  The best of them solves a convex problem in few variables,

.. math:: \min \sum_g p_g T_g: \quad T_g + l_g x + k_g (x^2 - \sigma^2) \ge \sum_j P_{vj} s_j^2,
    \quad x = v - \mu, \quad k_g \ge 0,

at levels and between them (:mod:`fairgauge.targets.assumed_values` says why); with two terms more on the left where the
channel takes another value, of which something is assumed too.  Newton's method with a logarithmic barrier finds it
without a solver library.  The second moments are strictly convex in the score, so there is one best score, and every
machine finds the same to nine digits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.targets.assumed_values import Other, Reckoning, folded, reckoned_law
from fairgauge.targets.channel_inputs import Inputs, Matrix, Vector, at_constant_value

# Between two levels the bound is asked for at so many points more; it sags between them by a part in a thousand.
_BETWEEN = (0.25, 0.5, 0.75)
_SHARPER = 8.0  # how much sharper the barrier becomes at each turn
_FITS = 0.9  # the part of the spread that points about the mean may take before the mean itself becomes a point
_CLOSE = 1e-9  # the part of the value within which the optimum is known to lie
_STEPS = 60  # Newton steps at each sharpness; five are usual


class SymbolLaws(NamedTuple):
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


def best_score(table: SymbolLaws, family: Family, reckonings: Sequence[Reckoning]) -> Vector:
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


def _prices_beside(table: SymbolLaws, score: Vector, reckoning: Reckoning) -> list[tuple[float, float]]:
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
    def of(cls, table: SymbolLaws, family: Family, reckonings: Sequence[Reckoning]) -> "_Problem":
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


# Directions of the table below this relative size are rounding noise of its integers, not information.
_RANK = 1e-9
# The search for the least favourable prior.
_TURNS, _PACE = 40, 10.0
_COMMON_TURNS, _OWN_TURNS = 25, 10
# For more groups than this many scores are asked for, and all have one prior.
_FEW = 6
# A score counts as unbiased if no input is off by more than this part of the largest target.
_UNBIASED = 1e-9


class _Aim(NamedTuple):
    """A functional and the score chosen for it."""

    functional: Vector
    score: Vector


@dataclass(frozen=True)
class Decoder:
    """Finds scores for a channel.

    Args:
        channel: The table that clients use.
        shares: The groups' shares, or a guess.
        prior: How likely each input is.  Shares and prior decide how good a score is, never whether it is unbiased.
        aims: Functionals that have scores of their own.  Every score is linear in its functional all the same, so that
            the difference of two means is the gap.
        constant: What scores of gaps take from values, where shares are known and the design is centred.
        axis: Which of the channel's values is asked about.
        tables: Of how many tables clients answer one; an answer to another is one symbol more.
    """

    channel: Channel
    shares: Vector
    prior: Vector
    aims: tuple["_Aim", ...] = ()
    constant: float = 0.0
    axis: int = 0
    tables: int = 1

    @classmethod
    def even(cls, channel: Channel, shares: Vector, axis: int = 0) -> "Decoder":
        """Return the decoder for which all levels are equally likely."""
        inputs = Inputs.of(channel, axis)
        prior = np.zeros(inputs.count)
        for block, weight in zip(inputs.blocks, inputs.weights(shares), strict=True):
            prior[block] = weight / (block.stop - block.start)
        return cls(channel, shares, prior, axis=axis)

    @cached_property
    def inputs(self) -> Inputs:
        """The channel's inputs."""
        return Inputs.of(self.channel, self.axis)

    @cached_property
    def rows(self) -> Matrix:
        """The probability of each symbol for each input, the levels of the question's own value fastest."""
        rows: Matrix = np.array(self.channel.table, dtype=np.float64) / ROW_SUM
        if self.tables > 1:
            rows = np.hstack([rows / self.tables, np.full((len(rows), 1), 1 - 1 / self.tables)])
        if not self.channel.further:
            return rows
        sizes = tuple(map(len, self.channel.axes))
        order = np.arange(self.channel.groups * math.prod(sizes)).reshape(self.channel.groups, *sizes)
        order = np.moveaxis(order, 1 + self.axis, -1).ravel()
        return np.vstack([rows[order], rows[len(order) :]])

    @cached_property
    def factors(self) -> tuple[Matrix, Vector, Matrix]:
        """What the table tells apart: its singular vectors and values, without rounding noise."""
        left, size, right = np.linalg.svd(self.rows, full_matrices=False)
        kept = size > _RANK * size[0]
        return left[:, kept], size[kept], right[kept].T

    def least_favourable(self, functionals: Sequence[Vector]) -> "Decoder":
        """Return the decoder whose scores make the largest worst-case variance of these functionals least."""
        return self._but(prior=self._hardest_prior(functionals))

    def aimed(self, functionals: Sequence[Vector]) -> "Decoder":
        """Return the decoder with the best score for each of these functionals against its own worst values."""
        found = [(f, self._least_squares(f, self._hardest_prior([f]))) for f in functionals]
        return self._but(aims=tuple(_Aim(f, score) for f, score in found if score is not None))

    def about(self, gaps: Sequence[tuple[Vector, float]], reckoning: Reckoning | None) -> "Decoder":
        r"""Return the decoder for a population that is as reckoned, with the constant that serves these gaps best.

        A gap's functional f may have c times another, h, taken off, whose average in the population is 0.  With scores
        that are linear in their functionals the sum of all second moments, each in units of its own at c = 0, is least
        at

        .. math:: c = \frac{\sum w\, E[s_f s_h] / E[s_f^2]}{\sum w\, E[s_h^2] / E[s_f^2]}.

        Where the channel cannot tell h, c is the one for which it can tell f - c h at all.

        Args:
            gaps: The gaps' functionals with their weights.
            reckoning: What is reckoned of the values; None where nothing is.
        """
        prior = self.prior.copy()
        for block, weight in zip(self.inputs.blocks, self.inputs.weights(self.shares), strict=True):
            if reckoning is not None and block.stop - block.start > 1:
                prior[block] = weight * reckoned_law(self.inputs.levels, reckoning)
        found = self._but(prior=prior)
        left = found.factors[0]
        above = below = 0.0
        for functional, weight in gaps:
            turned = at_constant_value(self.inputs, functional)
            beyond, untold = (of - left @ (left.T @ of) for of in (functional, turned))
            if np.abs(untold).max() > _UNBIASED * np.abs(turned).max():
                # No choice: all gaps agree on it, up to rounding.
                return found._but(constant=float((beyond @ untold) / (untold @ untold)))
            first, second = found.score(functional), found.score(turned)
            if first is None or second is None:
                return found
            law = prior @ self.rows
            unit = float(law @ first**2)
            above += weight * float(law @ (first * second)) / unit
            below += weight * float(law @ second**2) / unit
        return found._but(constant=above / below if below else 0.0)

    def common(self, functionals: Sequence[Vector]) -> "Decoder":
        """Return the decoder for many functionals: one prior that serves them on average, then a score of its own each.

        The common prior is where the search for each one's own starts, which then takes few turns.

        Where the channel cannot tell one of them the prior stays as it is.
        """
        if len(self.factors[1]) == self.channel.symbols:
            return self
        points, blocks = self.inputs.points()
        weights = self.inputs.weights(self.shares)
        law = np.array([weights[b] / (blocks == b).sum() for b in blocks])
        best, least, pace, last = self.prior, np.inf, _PACE, np.inf
        for _ in range(_COMMON_TURNS):
            prior = law @ points
            scores = self._scores(functionals, prior)
            if scores is None:
                return self
            found = np.array(scores).T
            second, mean = points @ (self.rows @ found**2), points @ (self.rows @ found)
            variances = second - mean**2
            tops = np.array([variances[blocks == b].max(axis=0) for b in range(len(weights))])
            totals = weights @ tops
            if last == np.inf:
                units = totals
            reached = float((totals / units).mean())
            if reached < least:
                best, least = prior, reached
            pace, last = (pace / 2 if reached > last else pace * 1.1), reached
            rises = (variances / units).mean(axis=1)
            for b, weight in enumerate(weights):
                here = blocks == b
                rise = rises[here] - law[here] @ rises[here] / weight
                law[here] *= np.exp(np.clip(pace * rise / max(rises[here].max(), 1e-300), -2, 2))
                law[here] *= weight / law[here].sum()
        shared = self._but(prior=best)
        own = [(f, shared._hardest_prior([f], law.copy(), _OWN_TURNS)) for f in functionals]
        aims = [(f, shared._least_squares(f, prior)) for f, prior in own]
        return shared._but(aims=tuple(_Aim(f, score) for f, score in aims if score is not None))

    def _but(self, **changes: Any) -> "Decoder":
        """Return the decoder with something else, and with what is known of its table."""
        found = replace(self, **changes)
        for name in ("inputs", "rows", "factors"):
            if name in self.__dict__:
                found.__dict__[name] = self.__dict__[name]
        return found

    def _hardest_prior(self, functionals: Sequence[Vector], start: Vector | None = None, turns: int = _TURNS) -> Vector:
        r"""Return the prior under which the best scores of these functionals do well against every value.

        A channel with more symbols than it can tell inputs apart leaves scores a choice.  The variance is linear in the
        prior and convex in the score, so the best score against the worst values is the best score under
        the prior that is hardest for it.  Exponentiated ascent finds that prior.
        """
        if len(self.factors[1]) == self.channel.symbols:
            return self.prior
        points, blocks = self.inputs.points()
        weights = self.inputs.weights(self.shares)
        law = np.array([weights[b] / (blocks == b).sum() for b in blocks]) if start is None else start
        best, least, pace, last = self.prior, np.inf, _PACE, np.inf
        for _ in range(turns):
            prior = law @ points
            scores = self._scores(functionals, prior)
            if scores is None:
                return self.prior
            worst = max(scores, key=self.variance)
            reached = self.variance(worst)
            if reached < least:
                best, least = prior, reached
            # A step that went too far overshoots: shorter steps from there.
            pace, last = (pace / 2 if reached > last else pace * 1.1), reached
            variance = points @ (self.rows @ worst**2) - (points @ (self.rows @ worst)) ** 2
            for b, weight in enumerate(weights):
                here = blocks == b
                rise = variance[here] - law[here] @ variance[here] / weight
                step = pace * rise / max(variance[here].max(), 1e-300)
                law[here] *= np.exp(np.clip(step, -2, 2))
                law[here] *= weight / law[here].sum()
        return best

    def centred(
        self, functional: Vector, constant: Vector | None, reckoning: Reckoning, other: Reckoning | None = None
    ) -> "Decoder":
        """Return the decoder with the score that is best about a population for the functional less c times a constant.

        Where the channel can tell the constant's functional too, c is the best there is; else it is the one for which
        the channel can tell at all.  Without a constant the functional stays as it is.  ``other`` is what is reckoned
        of the other value that the channel takes.
        """
        family = self._family(functional, constant)
        if family is None:
            return self
        score = best_score(self._table(other), family, [reckoning])
        return self._but(aims=(_Aim(self.rows @ score, score),))

    def _table(self, other: Reckoning | None) -> SymbolLaws:
        inputs = self.inputs
        beside = None if other is None else Other(self.other_levels, other)
        return SymbolLaws(self.rows, inputs.levels, inputs.weights(self.shares), inputs.others, beside)

    @property
    def other_levels(self) -> Vector:
        """The levels of the one other value that a channel takes."""
        (levels,) = (levels for place, levels in enumerate(self.channel.axes) if place != self.axis)
        return np.array(levels) / LEVEL_UNIT

    def bounds_beside(self, score: Vector, reckoning: Reckoning, other: Reckoning) -> Matrix:
        """Return a bound of a score's second moments at each group and level, with what is reckoned of both values."""
        second = (self.rows @ score**2).reshape(self.inputs.groups, self.inputs.others, -1)
        prices = _prices_beside(self._table(other), score, reckoning)
        beside = Other(self.other_levels, other)
        return np.array([folded(of, beside, price) for of, price in zip(second, prices, strict=True)])

    def _family(self, functional: Vector, constant: Vector | None) -> Family | None:
        """Return all scores that are unbiased for the functional, but for a multiple of the constant."""
        left, _, right = self.factors
        none: Matrix = np.linalg.svd(right, full_matrices=True)[0][:, right.shape[1] :]
        size = float(np.abs(functional).max())
        score = None
        if constant is not None:
            beyond, untold = (of - left @ (left.T @ of) for of in (functional, constant))
            if np.abs(untold).max() <= _UNBIASED * np.abs(constant).max():
                more = self._least_squares(constant, self.prior)
                none = none if more is None else np.column_stack([none, more])
            else:
                functional = functional - (beyond @ untold) / (untold @ untold) * constant
        score = self._least_squares(functional, self.prior, size=size)
        return None if score is None else Family(score, none)

    def score(self, functional: Vector) -> Vector | None:
        r"""Return the best linear unbiased score of a functional, or None if the channel cannot tell.

        .. math:: s = D^{-1} P^\top (P D^{-1} P^\top)^{+} \varphi

        Guarantee: unbiased for the integers of the table to ``_UNBIASED``, whatever the clients hold.
        """
        if not self.aims:
            return self._least_squares(functional, self.prior)
        functionals = np.array([aim.functional for aim in self.aims]).T
        parts = np.linalg.lstsq(functionals, functional, rcond=None)[0]
        rest = self._least_squares(functional - functionals @ parts, self.prior, size=float(np.abs(functional).max()))
        return None if rest is None else rest + np.array([aim.score for aim in self.aims]).T @ parts

    def scores(self, functionals: Sequence[Vector]) -> list[Vector | None]:
        """Return the score of each functional, as :meth:`score` does; of many groups' functionals all at once."""
        if self.inputs.groups <= _FEW or not functionals:
            return [self.score(functional) for functional in functionals]
        wanted = np.array(functionals).T
        sizes = np.maximum(np.abs(wanted).max(axis=0), 1e-300)
        own = np.zeros((self.channel.symbols, wanted.shape[1]))
        if self.aims:
            known = np.array([aim.functional for aim in self.aims]).T
            parts = np.linalg.lstsq(known, wanted, rcond=None)[0]
            own, wanted = np.array([aim.score for aim in self.aims]).T @ parts, wanted - known @ parts
        found = self._solver @ wanted
        for _ in range(2):
            found += self._solver @ (wanted - self.rows @ found)
        told = np.abs(self.rows @ found - wanted).max(axis=0) <= _UNBIASED * sizes
        return [score if tells else None for score, tells in zip((own + found).T, told, strict=True)]

    def _scores(self, functionals: Sequence[Vector], prior: Vector) -> list[Vector] | None:
        """Return the unbiased score of least second moment under a prior of each functional; None if one has none."""
        if len(functionals) == 1:
            score = self._least_squares(functionals[0], prior)
            return None if score is None else [score]
        left, singular, right = self.factors
        spread = right / (prior @ self.rows)[:, None]
        wanted = np.array(functionals).T
        inverse = np.linalg.inv(right.T @ spread)
        scores = np.zeros((len(spread), wanted.shape[1]))
        for _ in range(2):
            scores += spread @ (inverse @ (left.T @ (wanted - self.rows @ scores) / singular[:, None]))
        off = np.abs(self.rows @ scores - wanted).max(axis=0)
        return list(scores.T) if np.all(off <= _UNBIASED * np.maximum(np.abs(wanted).max(axis=0), 1e-300)) else None

    def _least_squares(self, functional: Vector, prior: Vector, *, size: float | None = None) -> Vector | None:
        """Return the unbiased score of least second moment under a prior; ``size`` is what an error is measured by."""
        if prior is self.prior and self.inputs.groups > _FEW:
            return self._quickly(functional, size)
        left, singular, right = self.factors
        spread = right / (prior @ self.rows)[:, None]
        curve = right.T @ spread
        score = np.zeros(len(spread))
        # The second turn takes the residual of the first to rounding error.
        for _ in range(2):
            score += spread @ np.linalg.solve(curve, left.T @ (functional - self.rows @ score) / singular)
        off = np.abs(self.rows @ score - functional).max()
        return score if off <= _UNBIASED * max(size or np.abs(functional).max(), 1e-300) else None

    def _quickly(self, functional: Vector, size: float | None) -> Vector | None:
        """Return the same for the decoder's own prior, whose equations are solved once for all functionals."""
        score = self._solver @ functional
        for _ in range(2):
            score += self._solver @ (functional - self.rows @ score)
        off = np.abs(self.rows @ score - functional).max()
        return score if off <= _UNBIASED * max(size or np.abs(functional).max(), 1e-300) else None

    @cached_property
    def _solver(self) -> Matrix:
        """What gives the score of a functional, to rounding error."""
        left, singular, right = self.factors
        spread = right / (self.prior @ self.rows)[:, None]
        solver: Matrix = spread @ np.linalg.solve(right.T @ spread, left.T / singular[:, None])
        return solver

    def variance(self, score: Vector, *, centre: float | None = None) -> float:
        """Return K times the variance of the average score, with the worst values and the decoder's shares."""
        return float(self.inputs.weights(self.shares) @ worst_variances(self, score, centre=centre))

    def variances(self, scores: Sequence[Vector]) -> Vector:
        """Return the same for several scores, whose values may average to anything."""
        inputs, columns = self.inputs, np.array(scores).T
        mean, second = self.rows @ columns, self.rows @ columns**2
        shape = inputs.groups, inputs.others, len(inputs.levels), len(scores)
        means, seconds = (of[: len(of) - inputs.abstain].reshape(shape).transpose(3, 0, 1, 2) for of in (mean, second))
        tops = _tops(means.reshape(-1, shape[2]), seconds.reshape(-1, shape[2]))
        found = tops.reshape(len(scores), *shape[:2]).max(axis=2)
        if inputs.abstain:
            found = np.column_stack([found, second[-1] - mean[-1] ** 2])
        return np.asarray(found @ inputs.weights(self.shares))


def worst_variances(decoder: Decoder, score: Vector, *, centre: float | None = None) -> Vector:
    r"""Return the largest variance of the score in each block of inputs, over every value between the levels.

    Stochastic rounding makes the second moment linear between levels and the mean is linear too, so the variance
    is a concave parabola there; its top is

    .. math:: t^* = \frac{1}{\delta}\Big(\frac{b - a}{2\delta} - f_0\Big), \qquad \delta = f_1 - f_0,

    for second moments a, b and means f0, f1 at the two levels.  With a centre, only values that average to it
    count: the result is then the concave envelope of the variance there.
    """
    inputs = decoder.inputs
    # Of every group, of every run of the question's own levels; then of those who abstain.
    mean, second = decoder.rows @ score, decoder.rows @ score**2
    shape = inputs.groups, inputs.others, len(inputs.levels)
    means, seconds = (of[: len(of) - inputs.abstain].reshape(shape) for of in (mean, second))
    if centre is None:
        found = _tops(means.reshape(-1, shape[2]), seconds.reshape(-1, shape[2])).reshape(shape[:2]).max(axis=1)
    else:
        each = zip(means[:, 0], seconds.max(axis=1), strict=True)
        found = np.array([_envelope(inputs.levels, *of, centre) for of in each])
    return np.append(found, second[-1] - mean[-1] ** 2) if inputs.abstain else found


def least_variances(decoder: Decoder, score: Vector) -> Vector:
    """Return the smallest variance of the score in each block: a concave function is least at a level."""
    variance = decoder.rows @ score**2 - (decoder.rows @ score) ** 2
    return np.array([variance[block].min() for block in decoder.inputs.blocks])


def _tops(mean: Matrix, second: Matrix) -> Vector:
    """Return the largest variance in each row of means and second moments at levels."""
    rise, step = np.diff(second, axis=1), np.diff(mean, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (rise / (2 * step) - mean[:, :-1]) / step
    t = np.clip(np.where(step == 0, rise > 0, np.nan_to_num(t)), 0, 1)
    inside = second[:, :-1] + t * rise - (mean[:, :-1] + t * step) ** 2
    return np.asarray(np.maximum(inside.max(axis=1), (second - mean**2).max(axis=1)))


def _envelope(levels: Vector, mean: Vector, second: Vector, centre: float) -> float:
    """Return the largest average variance over values whose average is the centre."""
    values = np.unique(np.append(np.linspace(levels[:-1], levels[1:], 9), [levels[-1], centre]))
    variance = np.interp(values, levels, second) - np.interp(values, levels, mean) ** 2
    left, right = values <= centre, values >= centre
    low, high = values[left][:, None], values[right][None, :]
    with np.errstate(invalid="ignore"):
        part = np.where(high > low, (centre - low) / (high - low), 0.0)
    return float(((1 - part) * variance[left][:, None] + part * variance[right][None, :]).max())
