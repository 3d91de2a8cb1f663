r"""The laws that a population may have: how likely each input is for a client who is drawn from it.

A law q gives each input (group and level) a probability; a client between two levels is a mixture of both.  Where
shares are known the inputs of each group sum to its share; where they are known up to an error, to something in that
band; where people may abstain, to that share of those who do not; else to anything.

Programs over these laws have very few constraints, so their duals have very few unknowns, and *every* value of the
unknowns is a valid bound.  No solver is needed, and an inexact search errs on the safe side.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairgauge.goals.decoder import Decoder
from fairgauge.goals.inputs import Matrix, Vector

_TURNS = 34
_GOLDEN = (5**0.5 - 1) / 2
# Scores are unbiased to a billionth, so an average of zero is one within this part of the largest mean.
_UNEVEN = 1e-8
_NEVER = 1e300


@dataclass(frozen=True, eq=False)
class Laws:
    """The laws that a population may have.

    Args:
        decoder: The decoder of the channel, for its rows and inputs.
        shares: The groups' shares, or None if they may be anything.
        error: How far each share may be off.
    """

    decoder: Decoder
    shares: Vector | None
    error: float = 0.0

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
        joined = self.shares @ groups if self.error == 0 else self._with_error(groups)
        # How many abstain is not known, so the average client is no more than the larger of the two kinds.
        return np.maximum(joined, tops[-1]) if len(tops) > len(self.shares) else np.asarray(joined)

    def _with_error(self, groups: Matrix) -> Vector:
        """Return the largest average over shares in the band: what is left of 1 goes to the groups that have most."""
        if self.shares is None:  # pragma: no cover - most() makes sure of this
            raise AssertionError
        low, high = np.maximum(self.shares - self.error, 0.0), np.minimum(self.shares + self.error, 1.0)
        order = np.argsort(-groups, axis=0)
        room = np.take(high - low, order)
        left = np.maximum(0.0, 1 - low.sum() - (np.cumsum(room, axis=0) - room))
        return np.asarray(
            low @ groups + (np.minimum(left, room) * np.take_along_axis(groups, order, axis=0)).sum(axis=0)
        )

    def possible(self, mean: Vector) -> bool:
        """Tell whether some law gives these values an average of zero."""
        ends = self.most(np.column_stack([mean, -mean]))
        return bool((ends >= -_UNEVEN * np.abs(mean).max()).all())

    def most_given(self, values: Matrix, mean: Vector) -> Vector:
        r"""Return the largest average of each column of values under laws that give ``mean`` an average of zero.

        .. math:: \max_{q : q \cdot m = 0} q \cdot f = \min_\lambda \max_q \; q \cdot (f - \lambda m)

        The right side is convex in one number, and a golden section finds its least.  Where shares may be anything, the
        best law is on one input or two.

        Guarantee: never too small, whatever the search ends with.
        """
        if self.shares is None:
            return _most_of_two(values, mean)
        inside = min(self.most(mean[:, None])[0], self.most(-mean[:, None])[0])
        size = float(np.abs(mean).max())
        reach = self.most(values) + self.most(-values)
        # Where zero is at the end of what the mean can be, the best unknown is infinite; a large one is close.
        most = (reach + 1e-300) / max(inside, 1e-6 * size, 1e-300)
        low, high = -most, most.copy()

        def bound(unknown: Vector) -> Vector:
            return self.most(values - np.multiply.outer(mean, unknown)) + _UNEVEN * size * np.abs(unknown)

        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = bound(left), bound(right)
        best = np.minimum(at_left, at_right)
        for _ in range(_TURNS):
            lower = at_left < at_right
            high, low = np.where(lower, right, high), np.where(lower, low, left)
            asked = np.where(lower, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
            found = bound(asked)
            left, at_left, right, at_right = (
                np.where(lower, asked, right),
                np.where(lower, found, at_right),
                np.where(lower, left, asked),
                np.where(lower, at_left, found),
            )
            best = np.minimum(best, found)
        return best


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
