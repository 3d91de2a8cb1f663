"""Scores: the number that each symbol is worth, derived from the table that clients really use.

A functional gives every input a number: ``u`` for members of a group and 0 for others, say.  A score gives
every *symbol* a number such that its expectation for an input is the functional at that input, so that the
average score over all answers estimates the average of the functional over all clients.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.targets.assumed_values import Other, Reckoning, folded, reckoned_law
from fairgauge.targets.inputs import Inputs, Matrix, Vector, at_constant_value
from fairgauge.targets.second_moments import Family, Table, best_score, prices_beside

# Directions of the table below this relative size are rounding noise of its integers, not information.
_RANK = 1e-9
# The search for the least favourable prior.
_TURNS, _PACE = 40, 10.0
_COMMON_TURNS, _OWN_TURNS = 25, 10
# For more groups than this many scores are asked for, and all have one prior.
_FEW = 6
# A score counts as unbiased if no input is off by more than this part of the largest target.
UNBIASED = 1e-9


class Aim(NamedTuple):
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
    aims: tuple["Aim", ...] = ()
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
        return self._but(aims=tuple(Aim(f, score) for f, score in found if score is not None))

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
            if np.abs(untold).max() > UNBIASED * np.abs(turned).max():
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
        return shared._but(aims=tuple(Aim(f, score) for f, score in aims if score is not None))

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
        return self._but(aims=(Aim(self.rows @ score, score),))

    def _table(self, other: Reckoning | None) -> Table:
        inputs = self.inputs
        beside = None if other is None else Other(self.other_levels, other)
        return Table(self.rows, inputs.levels, inputs.weights(self.shares), inputs.others, beside)

    @property
    def other_levels(self) -> Vector:
        """The levels of the one other value that a channel takes."""
        (levels,) = (levels for place, levels in enumerate(self.channel.axes) if place != self.axis)
        return np.array(levels) / LEVEL_UNIT

    def bounds_beside(self, score: Vector, reckoning: Reckoning, other: Reckoning) -> Matrix:
        """Return a bound of a score's second moments at each group and level, with what is reckoned of both values."""
        second = (self.rows @ score**2).reshape(self.inputs.groups, self.inputs.others, -1)
        prices = prices_beside(self._table(other), score, reckoning)
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
            if np.abs(untold).max() <= UNBIASED * np.abs(constant).max():
                more = self._least_squares(constant, self.prior)
                none = none if more is None else np.column_stack([none, more])
            else:
                functional = functional - (beyond @ untold) / (untold @ untold) * constant
        score = self._least_squares(functional, self.prior, size=size)
        return None if score is None else Family(score, none)

    def score(self, functional: Vector) -> Vector | None:
        r"""Return the best linear unbiased score of a functional, or None if the channel cannot tell.

        .. math:: s = D^{-1} P^\top (P D^{-1} P^\top)^{+} \varphi

        Guarantee: unbiased for the integers of the table to ``UNBIASED``, whatever the clients hold.
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
        told = np.abs(self.rows @ found - wanted).max(axis=0) <= UNBIASED * sizes
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
        return list(scores.T) if np.all(off <= UNBIASED * np.maximum(np.abs(wanted).max(axis=0), 1e-300)) else None

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
        return score if off <= UNBIASED * max(size or np.abs(functional).max(), 1e-300) else None

    def _quickly(self, functional: Vector, size: float | None) -> Vector | None:
        """Return the same for the decoder's own prior, whose equations are solved once for all functionals."""
        score = self._solver @ functional
        for _ in range(2):
            score += self._solver @ (functional - self.rows @ score)
        off = np.abs(self.rows @ score - functional).max()
        return score if off <= UNBIASED * max(size or np.abs(functional).max(), 1e-300) else None

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
