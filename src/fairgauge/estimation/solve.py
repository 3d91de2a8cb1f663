"""From counts to an interval for a ratio of average scores, or for a difference of two ratios.

A ratio is over/under.  For a guess r the score over - r under averages to zero at the true r, so r is believable
exactly if its average is within the width that the interval allows: the believable r form the interval
(Fieller's idea), and it holds as exactly as the width does, however uncertain the denominator is.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.estimands import Estimands, Ratio
from fairgauge.estimation.intervals import Method, normal
from fairgauge.estimation.spread import Spread
from fairgauge.estimation.values import Interval
from fairgauge.goals.inputs import Vector

_FAR = 1e3  # a ratio of which the answers only say that it is somewhere within this is not estimated


@dataclass(frozen=True)
class Counts:
    """Counts of a question's symbols, and how to read them."""

    estimands: Estimands
    law: Vector
    answers: int
    method: Method

    def ratio(self, ratio: Ratio, alpha: float) -> Interval:
        """Return the interval of a ratio.

        Raises:
            CannotEstimate: If the denominator is not clearly above zero.
        """
        if ratio.constant is not None:
            spread = Spread(self.estimands.decoder, ratio.over / ratio.constant, self.estimands.shares)
            return self._around(ratio.value(self.law), spread, alpha)
        self._require_part(ratio, alpha)
        estimate = ratio.value(self.law)
        return Interval(estimate, self._edge(ratio, alpha, -1), self._edge(ratio, alpha, 1))

    def beyond(self, ratio: Ratio, value: float, alpha: float) -> bool:
        """Tell whether the interval of a ratio lies above a value; faster than finding the interval."""
        if ratio.constant is not None:
            return self.ratio(ratio, alpha).low > value
        try:
            self._require_part(ratio, alpha)
        except CannotEstimate:
            return False
        return ratio.value(self.law) > value and self._shifted(ratio, value, alpha).low > 0

    def difference(self, a: Ratio, b: Ratio, alpha: float, *, of: int) -> Interval:
        """Return the interval of a - b, where the differences between so many ratios are to hold together."""
        if self.method is normal:
            # The delta method: both ratios move with the same answers, so their influences subtract.
            for ratio in (a, b):
                self.ratio(ratio, alpha)
            value, influence = a.value(self.law) - b.value(self.law), a.influence(self.law) - b.influence(self.law)
            variance = max(float(influence**2 @ self.law), self._spread(influence).least_variance)
            half = -float(ndtri(alpha / (of * (of - 1)))) * math.sqrt(variance / self.answers)
            return Interval(value, value - half, value + half)
        # If the intervals of all the ratios hold together, so do those of all their differences.
        first, second = self.ratio(a, alpha / of), self.ratio(b, alpha / of)
        return Interval(first.estimate - second.estimate, first.low - second.high, first.high - second.low)

    def _spread(self, score: Vector) -> Spread:
        return Spread(self.estimands.decoder, score, self.estimands.shares)

    def _around(self, value: float, spread: Spread, alpha: float) -> Interval:
        below, above = self.method(spread, self.answers, alpha)
        if self.method is normal:
            # The counts may show that the variance is smaller than the largest there could be, but not than the least.
            seen = float(spread.score**2 @ self.law) - float(spread.score @ self.law) ** 2
            below = above = below * math.sqrt(np.clip(seen, spread.least_variance, spread.variance) / spread.variance)
        return Interval(value, value - below, value + above)

    def _require_part(self, ratio: Ratio, alpha: float) -> None:
        part = self._around(float(ratio.under @ self.law), self._spread(ratio.under), alpha)
        if part.low <= 0:
            raise CannotEstimate(f"{ratio.part} is not clearly above zero")

    def _shifted(self, ratio: Ratio, value: float, alpha: float) -> Interval:
        """Return the interval of over - value under, which holds zero if the value is believable."""
        score = ratio.over - value * ratio.under
        return self._around(float(score @ self.law), self._spread(score), alpha)

    def _edge(self, ratio: Ratio, alpha: float, side: int) -> float:
        """Return the outermost believable value on one side."""
        inside = ratio.value(self.law)

        def beyond(distance: float) -> float:
            zero = self._shifted(ratio, inside + side * distance, alpha)
            return zero.low if side < 0 else -zero.high

        far = 0.05
        while beyond(far) <= 0:
            far *= 2
            if far > _FAR:
                raise CannotEstimate(f"{ratio.part} is not clearly above zero")
        return inside + side * float(brentq(beyond, 0.0, far, xtol=1e-9, rtol=1e-9))


def law_of(counts: tuple[int, ...]) -> Vector:
    """Return the counts as shares of their sum."""
    law: Vector = np.array(counts, dtype=np.float64) / sum(counts)
    return law
