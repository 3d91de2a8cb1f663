r"""Tests of values: what all of them have in common, and the normal test of a gap.

*A value that is put to the test.*  If it is right, a score averages to zero over the population.

What is wanted is a ratio of two average scores, over / under (the denominator is often the constant 1).  If the value
is r, then y = over - r under averages to zero under the population's law q.  That says much about the other
moments of y: they are those of laws with q . E[y] = 0, and programs with one or two constraints bound them.

*A gap between groups whose shares are estimated.*

A gap is accepted if some share in an interval accepts it (Berger and Boos, 1994), so it is wrongly rejected only if the
true share is outside of that interval, or if the test at the true share rejects.  Where the interval comes from does
not matter: from the answers, from what is known beforehand, or from both; a share that is known is one point.

*Secret draws.*  Draws are dealt out to parts as answers are, so nobody knows how many a part has.  Each is centred as
if all had as many as their size says.  Let S_b be by how much more the first b parts have: what that adds is

.. math:: \sum_b (S_b - S_{b-1})\, a_b = \sum_b S_b\, (a_b - a_{b+1}) ,

a_b the mean of a draw's score in part b.  Scores differ between parts only by their c, so this is little; S_b has a
hypergeometric law, whose tails are no larger than the binomial one's, and what it reaches is paid for.

*What is assumed.*  A gap is asked at some points of the interval.  Between two of them the margin is taken to follow a
parabola, and what that may lie below both is paid for.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fairgauge.estimation.draws import NO_DRAWS, Draws
from fairgauge.estimation.edgeworth import Moments
from fairgauge.estimation.gap_score import GapScore
from fairgauge.estimation.populations import Laws
from fairgauge.targets.channel_inputs import Matrix, Vector

# Prices of variance at which moments are bounded, as parts of the largest that can matter.  Every price is valid.
_PRICES: Vector = np.array([-1, -0.4, -0.15, 0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1, 1.3])

# Scores are unbiased to a billionth: what is possible is rounded outward by as much.
_OUTWARD = 1e-9


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """That a score averages to zero over the population.

    Args:
        laws: The laws that the population may have.
        score: A number for each symbol.
    """

    laws: Laws
    score: Vector

    @cached_property
    def mean(self) -> Vector:
        """The score's mean for each input."""
        return self.laws.rows @ self.score

    @cached_property
    def possible(self) -> bool:
        """Whether any population fits."""
        return self.laws.possible(self.mean)

    @property
    def variance(self) -> tuple[float, float]:
        """The least and the largest variance of the score."""
        return self._bounds[0]

    @cached_property
    def _bounds(self) -> tuple[tuple[float, float], Vector, Vector]:
        r"""Bounds of the variance, and of the third and the fourth moment at each price of variance.

        .. math:: \max_{q \cdot m = 0,\ q \cdot w \in [v, V]} q \cdot f
                  \le \min_\mu \Big( \max_{q \cdot m = 0} q \cdot (f - \mu w) + \max(\mu v, \mu V) \Big)
        """
        score, rows, n = self.score, self.laws.rows, len(_PRICES)
        second, third, fourth = (rows @ np.column_stack([score**power for power in (2, 3, 4)])).T
        size = float(np.abs(score).max())
        prices = np.multiply.outer(second, _PRICES)
        columns = [
            np.column_stack([second, -second]),
            third[:, None] - size * prices,
            -third[:, None] - size * prices,
            fourth[:, None] - size**2 * prices,
        ]
        found = self.laws.most_given(np.hstack(columns), self.mean)
        # The size of the third moment at a variance is the larger of two concave functions of it.
        return (max(float(-found[1]), 0.0), float(found[0])), found[2 : 2 * n + 2], found[2 * n + 2 :]

    def moments(self, low: float, high: float, *, ratio: float) -> Moments:
        """Return what is known of the score in cells that cover a range of its variance, each at most this wide."""
        n = len(_PRICES)
        low = max(low, 1e-12 * high, 1e-300)
        high = max(high, low)
        count = int(np.clip(np.ceil(np.log(high / low) / np.log(ratio)), 1, 80))
        edges = np.geomspace(low, high, count + 1)
        least, most = edges[:-1], edges[1:]
        size = float(np.abs(self.score).max())
        _, thirds, fourths = self._bounds

        def bounded(values: Vector, prices: Vector) -> Vector:
            paid = np.where(prices > 0, np.multiply.outer(most, prices), np.multiply.outer(least, prices))
            return np.asarray((values + paid).min(axis=1))

        fourth = np.minimum(bounded(fourths, size**2 * _PRICES), size**2 * most)
        # |E y^3| <= sqrt(E y^2 E y^4), and E y^4 >= (E y^2)^2.
        largest = np.sqrt(most * np.maximum(fourth, 0.0))
        below, above = (np.minimum(bounded(each, size * _PRICES), largest) for each in (thirds[n:], thirds[:n]))
        # Where no law has a variance in the cell the two may cross, and anything is right.
        return Moments(least, most, (np.minimum(-below, above), above), np.maximum(fourth, least**2), size)


def extent(laws: Laws, over: Vector, under: Vector) -> tuple[float, float]:
    """Return the least and the largest value that the ratio of two average scores can have in any population."""
    top, bottom = laws.rows @ over, laws.rows @ under
    return -_largest(laws, -top, bottom) - _OUTWARD, _largest(laws, top, bottom) + _OUTWARD


def _largest(laws: Laws, top: Vector, bottom: Vector) -> float:
    """Return the largest ratio, by halving.

    Inputs whose denominator is zero (those who abstain, say) can only leave a ratio as it is.
    """
    inside = bottom > 1e-9 * np.abs(bottom).max()
    least, most = (
        float(found) for found in ((top[inside] / bottom[inside]).min(), (top[inside] / bottom[inside]).max())
    )
    if laws.shares is None or least == most:
        return most
    if np.ptp(bottom) <= 1e-12 * abs(float(bottom[0])):
        return float(laws.most((top / bottom)[:, None])[0])
    low, high = least, most
    for _ in range(60):
        middle = (low + high) / 2
        values: Matrix = np.where(inside, top - middle * bottom, -1e300)[:, None]
        low, high = (middle, high) if laws.most(values)[0] > 0 else (low, middle)
    return high


@dataclass(frozen=True, eq=False)
class RatioTest:
    """Tests values of over / under against the counts of symbols.

    Args:
        laws: The laws that the population may have.
        over: The score whose average is the numerator.
        under: The score whose average is the denominator.
        counts: How often each symbol came.
        alpha: How often a right value may be rejected.
        draws: The secret draws that are among the counts.
    """

    laws: Laws
    over: Vector
    under: Vector
    counts: Vector
    alpha: float
    draws: Draws = field(default=NO_DRAWS, kw_only=True)

    @cached_property
    def answers(self) -> float:
        """How many answers there are."""
        return float(self.counts.sum()) - self.draws.count

    @cached_property
    def estimate(self) -> float:
        """The ratio of the two averages."""
        return float(self.over @ self.cleaned) / float(self.under @ self.cleaned)

    @cached_property
    def cleaned(self) -> Vector:
        """The counts less what draws add to them on average."""
        return self.draws.removed(self.counts)

    @cached_property
    def extent(self) -> tuple[float, float]:
        """The range of values that are possible at all."""
        return extent(self.laws, self.over, self.under)

    def asked(self, value: float) -> Hypothesis:
        """Return what it means that a value is right: a score averages to zero."""
        return Hypothesis(self.laws, self.over - value * self.under)


# The part of alpha that an interval of the share may have.
SHARE = 0.06
# The part of alpha for how unevenly secret draws are dealt out.
_STRAY = 0.01
# At so many points of the share's interval a gap is asked.
_POINTS = 9
_NEVER = 1e30
_LEAST_WEIGHT = 1e-3

Cube = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GapTest(ABC):
    """Tests gaps between two groups whose shares are estimated.

    Args:
        laws: The laws that the population may have.
        score: The scores of both groups.
        parts: The counts of each part of the answers; one part if c is not found from answers.
        alpha: How often a right gap may be rejected.
        share: An interval of the first group's share among both, which may fail with probability ``SHARE`` alpha.
        draws: The secret draws that are among the counts.
    """

    laws: Laws
    score: GapScore
    parts: Matrix
    alpha: float
    share: tuple[float, float]
    draws: Draws = field(default=NO_DRAWS, kw_only=True)

    @property
    def extent(self) -> tuple[float, float]:
        """The range of gaps that are possible at all."""
        return -2.0, 2.0

    @cached_property
    def counts(self) -> Vector:
        """How often each symbol came."""
        return np.asarray(self.parts.sum(axis=0))

    @cached_property
    def answers(self) -> float:
        """How many answers there are."""
        return float(self.parts.sum()) - self.draws.count

    @cached_property
    def cleaned(self) -> Vector:
        """The counts less what draws add to them on average."""
        return self.draws.removed(self.counts)

    @cached_property
    def estimate(self) -> float:
        """The gap that the answers point to."""
        return self.score.estimate(self.cleaned, self.share)

    @cached_property
    def sizes(self) -> Vector:
        """How many symbols each part has."""
        return np.asarray(self.parts.sum(axis=1))

    @cached_property
    def drawn(self) -> Vector:
        """How many draws each part has on average."""
        return self.sizes * self.draws.part_of(float(self.sizes.sum()))

    @property
    def level(self) -> float:
        """What of alpha is left for the gap where draws may be dealt out unevenly."""
        return self.alpha * (1 - _STRAY) if self.draws.count else self.alpha

    def strays(self, sizes: Vector) -> Vector:
        r"""Return by how many draws so many symbols may have more or fewer than on average; all hold together.

        .. math:: \Pr\big[|M - n q| \ge \sqrt{2 n q (1 - q) L} + L / 3\big] \le 2 e^{-L} , \quad q = D / (K + D)
        """
        part = self.draws.part_of(float(self.sizes.sum()))
        if not part:
            return np.zeros(len(sizes))
        logarithm = math.log(4 * len(self.sizes) / (_STRAY * self.alpha))
        spread = np.sqrt(2 * sizes * part * (1 - part) * logarithm) + logarithm / 3
        return np.asarray(np.minimum(spread, np.minimum(sizes, self.draws.count)))

    def uneven(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what draws that are dealt out unevenly add at most, if each adds so much: one row for each part."""
        strays = self.strays(np.cumsum(self.sizes)[:-1])
        return np.asarray(np.tensordot(strays, np.abs(np.diff(values, axis=0)), axes=1))

    @cached_property
    def shares(self) -> Vector:
        """The points of the share's interval."""
        low, high = (min(max(end, 0.0), 1.0) for end in self.share)
        return np.linspace(low, high, _POINTS) if high > low else np.array([low])

    @abstractmethod
    def margin(self, value: float) -> float:
        """Return how far a gap is beyond what is accepted: below zero if it is accepted."""

    def accepts(self, value: float) -> bool:
        """Tell whether a gap is accepted."""
        return self.margin(value) < 0

    def accepts_at_once(self, value: float) -> bool:
        """Tell quickly that a gap surely is accepted; ``False`` where that is not seen."""
        del value
        return False

    def limit(self, value: float) -> float:
        """Return about how far from the estimate gaps are accepted."""
        middle = self.shares[len(self.shares) // 2 :][:1]
        base, slope = (each[0] for each in self.score.lines(value, middle))
        (over, under), p = self.score.both, float(middle[0])
        mean = float(over @ self.cleaned) / float(under @ self.cleaned)
        deviation = math.sqrt(float((base + min(max(mean, -1.0), 1.0) * slope) ** 2 @ self.counts))
        weight = max(p * (1 - p), _LEAST_WEIGHT) * max(float(under @ self.cleaned), _LEAST_WEIGHT * self.answers)
        return 1.05 * -float(ndtri(self.alpha / 2)) * deviation / weight


def least_margin(margins: Vector) -> float:
    """Return the least margin in an interval, from those at points that are evenly spread over it.

    A parabola through three points lies below a straight line by at most an eighth of their second difference.

    >>> least_margin(np.array([3.0, 1.0, 1.0, 3.0]))
    0.75
    """
    if len(margins) < 3:
        return float(margins.min())
    margins = np.clip(margins, -_NEVER, _NEVER)
    bends = np.abs(np.diff(margins, 2))
    bends = np.maximum(np.append(bends[:1], bends), np.append(bends, bends[-1:]))
    return float((np.minimum(margins[:-1], margins[1:]) - bends / 8).min())


@dataclass(frozen=True, eq=False)
class PartsTest(GapTest):
    """A test that finds c from the answers, each part's from the parts before it.

    Args:
        stray: By how many standard deviations c is off, to plan with (:mod:`fairgauge.estimation.gap_score`).
    """

    stray: float = 0.0

    @cached_property
    def centres(self) -> Vector:
        """The c of each part."""
        return self.score.centres(self.parts, self.stray, self.draws)

    def psi(self, lines: tuple[Matrix, Matrix]) -> Cube:
        """Return the score of each part, for each share."""
        bases, slopes = lines
        return np.asarray(bases + self.centres[:, None, None] * slopes)

    def sums(self, psi: Cube) -> Matrix:
        """Return the sum of each part's scores less what draws add on average, for each share."""
        return np.asarray(np.einsum("bpj,bj->bp", psi, self.parts) - self.drawn[:, None] * self.draws.mean(psi))


class NormalGapTest(PartsTest):
    """Takes the sum of all scores for normal, with the variance that the counts show."""

    def margin(self, value: float) -> float:
        """Return how far a gap is beyond what is accepted: below zero if it is accepted.

        Guarantee: asymptotic.
        """
        psi = self.psi(self.score.lines(value, self.shares))
        seen = np.einsum("bpj,bj->bp", psi**2, self.parts) - self.drawn[:, None] * self.draws.mean(psi) ** 2
        # Less than the least variance that there could be is chance.
        told = self.laws.rows @ np.moveaxis(psi, 2, 1), self.laws.rows @ np.moveaxis(psi**2, 2, 1)
        least = (told[1] - told[0] ** 2).min(axis=1)
        answers = (self.sizes - self.drawn)[:, None]
        least = answers * least + self.drawn[:, None] * self.draws.variance(psi)
        variance = np.maximum(seen, least).sum(axis=0)
        far = np.abs(self.sums(psi).sum(axis=0)) - self.uneven(self.draws.mean(psi))
        return least_margin(far / np.sqrt(np.maximum(variance, 1e-300)) + float(ndtri((1 - SHARE) * self.level / 2)))
