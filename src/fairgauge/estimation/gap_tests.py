"""Tests of a gap between groups whose shares are estimated: what all of them have in common, and the normal one.

A gap is accepted if some share in an interval accepts it (Berger and Boos, 1994), so it is wrongly rejected only if the
true share is outside of that interval, or if the test at the true share rejects.  Where the interval comes from does
not matter: from the answers, from what is known beforehand, or from both; a share that is known is one point.

*What is assumed.*  A gap is asked at some points of the interval.  Between two of them the margin is taken to follow a
parabola, and what that may lie below both is paid for.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fairgauge.estimation.gap_score import GapScore
from fairgauge.estimation.laws import Laws
from fairgauge.targets.inputs import Matrix, Vector

# The part of alpha that an interval of the share may have.
SHARE = 0.06
# At so many points of the share's interval a gap is asked.
POINTS = 9
_NEVER = 1e30
_LEAST_WEIGHT = 1e-3

Cube = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GapTest:
    """Tests gaps between two groups whose shares are estimated.

    Args:
        laws: The laws that the population may have.
        score: The scores of both groups.
        parts: The counts of each part of the answers; one part if c is not found from answers.
        alpha: How often a right gap may be rejected.
        share: An interval of the first group's share among both, which may fail with probability ``SHARE`` alpha.
    """

    laws: Laws
    score: GapScore
    parts: Matrix
    alpha: float
    share: tuple[float, float]

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
        return float(self.parts.sum())

    @cached_property
    def estimate(self) -> float:
        """The gap that the answers point to."""
        return self.score.estimate(self.counts, self.share)

    @cached_property
    def sizes(self) -> Vector:
        """How many answers each part has."""
        return np.asarray(self.parts.sum(axis=1))

    @cached_property
    def shares(self) -> Vector:
        """The points of the share's interval."""
        low, high = (min(max(end, 0.0), 1.0) for end in self.share)
        return np.linspace(low, high, POINTS) if high > low else np.array([low])

    def limit(self, value: float) -> float:
        """Return about how far from the estimate gaps are accepted."""
        middle = self.shares[len(self.shares) // 2 :][:1]
        base, slope = (each[0] for each in self.score.lines(value, middle))
        (over, under), p = self.score.both, float(middle[0])
        mean = float(over @ self.counts) / float(under @ self.counts)
        deviation = math.sqrt(float((base + min(max(mean, -1.0), 1.0) * slope) ** 2 @ self.counts))
        weight = max(p * (1 - p), _LEAST_WEIGHT) * max(float(under @ self.counts), _LEAST_WEIGHT * self.answers)
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
        stray: By how many standard deviations c is off, to plan with (:mod:`fairgauge.estimation.splitting`).
    """

    stray: float = 0.0

    @cached_property
    def centres(self) -> Vector:
        """The c of each part."""
        return self.score.centres(self.parts, self.stray)

    def psi(self, lines: tuple[Matrix, Matrix]) -> Cube:
        """Return the score of each part, for each share."""
        bases, slopes = lines
        return np.asarray(bases + self.centres[:, None, None] * slopes)

    def sums(self, psi: Cube) -> Matrix:
        """Return the sum of each part's scores, for each share."""
        return np.asarray(np.einsum("bpj,bj->bp", psi, self.parts))


class NormalGapTest(PartsTest):
    """Takes the sum of all scores for normal, with the variance that the counts show."""

    def margin(self, value: float) -> float:
        """Return how far a gap is beyond what is accepted: below zero if it is accepted.

        Guarantee: asymptotic.
        """
        psi = self.psi(self.score.lines(value, self.shares))
        seen = np.einsum("bpj,bj->bp", psi**2, self.parts)
        # Less than the least variance that there could be is chance.
        told = self.laws.rows @ np.moveaxis(psi, 2, 1), self.laws.rows @ np.moveaxis(psi**2, 2, 1)
        least = (told[1] - told[0] ** 2).min(axis=1)
        variance = np.maximum(seen, self.sizes[:, None] * least).sum(axis=0)
        z = np.abs(self.sums(psi).sum(axis=0)) / np.sqrt(np.maximum(variance, 1e-300))
        return least_margin(z + float(ndtri((1 - SHARE) * self.alpha / 2)))
