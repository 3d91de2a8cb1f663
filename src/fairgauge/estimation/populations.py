r"""The laws that a population may have: how likely each input is for a client who is drawn from it.

A law q gives each input (group and level) a probability; a client between two levels is a mixture of both.  Where
shares are known the inputs of each group sum to its share; where they are known up to a band, to something in that
band; where people may abstain, to that share of those who do not; else to anything.

Programs over these laws have very few constraints, so their duals have very few unknowns, and *every* value of the
unknowns is a valid bound.  No solver is needed, and an inexact search errs on the safe side.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairgauge.estimation.share_band import Band
from fairgauge.targets.assumed_values import least_values
from fairgauge.targets.channel_inputs import Matrix, Vector
from fairgauge.targets.symbol_scores import Decoder

# Searches for bounds end at this part of what there is.
_CLOSE = 1e-7
# Scores are unbiased to a billionth, so an average of zero is one within this part of the largest mean.
_UNEVEN = 1e-8
_NEVER = 1e300


@dataclass(frozen=True, eq=False)
class Laws:
    """The laws that a population may have.

    Args:
        decoder: The decoder of the channel, for its rows and inputs.
        shares: The groups' shares, or None if they may be anything.
        band: Where they lie, if they may be off.
    """

    decoder: Decoder
    shares: Vector | None
    band: Band | None = None

    @property
    def rows(self) -> Matrix:
        """The probability of each symbol for each input."""
        return self.decoder.rows

    @cached_property
    def _starts(self) -> NDArray[np.int_]:
        return np.array([block.start for block in self.decoder.inputs.blocks])

    def most(self, values: Matrix) -> Vector:
        """Return the largest average of each column of values (a number for each input) under any law."""
        tops = np.maximum.reduceat(values, self._starts, axis=0)
        if self.shares is None:
            return np.asarray(tops.max(axis=0))
        groups = tops[: len(self.shares)]
        joined = (self._best_shares(groups) * groups).sum(axis=0)
        # How many abstain is not known, so the average client is no more than the larger of the two kinds.
        return np.maximum(joined, tops[-1]) if len(tops) > len(self.shares) else np.asarray(joined)

    def _best_shares(self, groups: Matrix) -> Matrix:
        """Return the shares in the band that are best: what is left of 1 goes to the groups that have most."""
        if self.shares is None:
            raise ValueError("shares that may be anything have no band")
        if self.band is None or self.band.point:
            return self.shares[:, None]
        low, high = np.array([self.band.of(group) for group in range(len(self.shares))]).T
        order = np.argsort(-groups, axis=0)
        room = np.take(high - low, order)
        left = np.maximum(0.0, 1 - low.sum() - (np.cumsum(room, axis=0) - room))
        more = np.zeros_like(groups)
        np.put_along_axis(more, order, np.minimum(left, room), axis=0)
        return np.asarray(low[:, None] + more)

    def _most_and(self, values: Matrix, mean: Vector) -> tuple[Vector, Vector]:
        """Return the largest average of each column, and what ``mean`` has under a law that has it."""
        groups, columns = self.decoder.inputs.groups, np.arange(values.shape[1])
        abstaining = len(self._starts) - groups
        blocks = values[: len(values) - abstaining].reshape(groups, -1, len(columns))
        places = blocks.argmax(axis=1) + self._starts[:groups, None]
        tops, means = values[places, columns], mean[places]
        if self.shares is None:
            which = tops.argmax(axis=0)
            found, there = tops[which, columns], means[which, columns]
        else:
            weights = self._best_shares(tops)
            found, there = (weights * tops).sum(axis=0), (weights * means).sum(axis=0)
        if abstaining:
            found, there = np.maximum(found, values[-1]), np.where(values[-1] > found, mean[-1], there)
        return found, there

    def possible(self, mean: Vector) -> bool:
        """Tell whether some law gives these values an average of zero."""
        ends = self.most(np.column_stack([mean, -mean]))
        return bool((ends >= -_UNEVEN * np.abs(mean).max()).all())

    def most_given(self, values: Matrix, mean: Vector) -> Vector:
        r"""Return the largest average of each column of values under laws that give ``mean`` an average of zero.

        .. math:: \max_{q : q \cdot m = 0} q \cdot f = \min_\lambda \max_q \; q \cdot (f - \lambda m)

        The right side is convex in one number and made of straight pieces, so tangents find its least.  Where shares
        may be anything, the best law is on one input or two.

        Guarantee: never too small, whatever the search ends with.
        """
        if self.shares is None:
            return _most_of_two(values, mean)
        inside = min(self.most(mean[:, None])[0], self.most(-mean[:, None])[0])
        size = float(np.abs(mean).max())
        reach = self.most(values) + self.most(-values) + 1e-300
        # Where zero is at the end of what the mean can be, the best unknown is infinite; a large one is close.
        most = reach / max(inside, 1e-6 * size, 1e-300)

        def bounds(unknown: Vector) -> tuple[Vector, Vector]:
            found, means = self._most_and(values - np.multiply.outer(mean, unknown), mean)
            return found + _UNEVEN * size * np.abs(unknown), _UNEVEN * size * np.sign(unknown) - means

        return least_values(bounds, -most, most, close=_CLOSE * reach)


def _most_of_two(values: Matrix, mean: Vector) -> Vector:
    r"""Return the largest average of each column under any law that gives ``mean`` an average of zero, nearly.

    A program with two constraints has a best law on at most two inputs.  With t the average of the mean,

    .. math:: \max_{m_x \ge t \ge m_y} \frac{f_x (t - m_y) + f_y (m_x - t)}{m_x - m_y}

    is concave in t, and straight but for bends at some m_x: between -s and s it is largest at an end or at a bend.
    """
    slack = _UNEVEN * float(np.abs(mean).max())
    found = [values[np.abs(mean) <= slack]]
    for average in (-slack, slack):
        above, below = mean > average, mean <= average
        if not (above.any() and below.any()):
            continue
        apart = np.subtract.outer(mean[above], mean[below])
        part = np.divide(average - mean[below], apart)
        mixed = part[:, :, None] * values[above][:, None] + (1 - part)[:, :, None] * values[below][None]
        found.append(mixed.reshape(-1, values.shape[1]))
    every = np.concatenate(found)
    return np.asarray(every.max(axis=0)) if len(every) else np.full(values.shape[1], -_NEVER)
