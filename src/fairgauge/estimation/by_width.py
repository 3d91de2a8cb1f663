"""Readers that know how wide an interval is: from the table and the number of answers, or from the normal law.

A ratio is over/under.  For a guess r the score over - r under averages to zero at the true r, so r is believable
exactly if its average is within the width that the interval allows: the believable r form the interval
(Fieller's idea), and it holds as exactly as the width does, however uncertain the denominator is.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass

from scipy.special import ndtri

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.crossing import crossing
from fairgauge.estimation.estimands import Ratio
from fairgauge.estimation.fixed import fixed
from fairgauge.estimation.intervals import Width, chebyshev
from fairgauge.estimation.reader import Reader
from fairgauge.estimation.spread import Spread
from fairgauge.estimation.values import Interval
from fairgauge.goals.inputs import Vector
from fairgauge.goals.sides import Pair

_FAR = 1e3  # a ratio of which the answers only say that it is somewhere within this is not estimated


@dataclass(frozen=True, eq=False)
class WidthReader(Reader):
    """Reads counts by the width of an interval around an average score."""

    @staticmethod
    @abstractmethod
    def sides(spread: Spread, answers: float, alpha: float) -> Width:
        """Return how far below and above its average a score's mean may be."""

    def around(self, score: Vector, alpha: float) -> Width:
        """Return how far below and above its average a score's mean may be."""
        return self.sides(Spread(self.estimands.decoder, score, self.estimands.shares), self.answers, alpha)

    def ratio(self, ratio: Ratio, alpha: float) -> Interval:
        """Return the interval of a ratio."""
        if ratio.constant is not None:
            estimate = ratio.value(self.law)
            below, above = self.around(ratio.over / ratio.constant, alpha)
            return Interval(estimate, estimate - below, estimate + above)
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
        return ratio.value(self.law) > value and self._zero(ratio, value, alpha)[0] > 0

    def believes(self, ratio: Ratio, value: float, alpha: float) -> bool:
        """Tell whether the interval of a ratio holds a value."""
        if ratio.constant is not None:
            return super().believes(ratio, value, alpha)
        self._require_part(ratio, alpha)
        low, high = self._zero(ratio, value, alpha)
        return low <= 0 <= high

    def difference(self, pair: Pair, alpha: float) -> Interval:
        """Return the difference of two intervals; if those of all means hold together, so do all differences."""
        estimands = self.estimands
        first, second = (self.ratio(estimands.mean_of(side), alpha / estimands.sides) for side in pair)
        return Interval(first.estimate - second.estimate, first.low - second.high, first.high - second.low)

    def _require_part(self, ratio: Ratio, alpha: float) -> None:
        if float(ratio.under @ self.law) <= self.around(ratio.under, alpha).below:
            raise ratio.untold()

    def _zero(self, ratio: Ratio, value: float, alpha: float) -> tuple[float, float]:
        """Return the interval of over - value under, which holds zero if the value is believable."""
        score = ratio.over - value * ratio.under
        average, (below, above) = float(score @ self.law), self.around(score, alpha)
        return average - below, average + above

    def _edge(self, ratio: Ratio, alpha: float, side: int) -> float:
        """Return the outermost believable value on one side."""
        inside = ratio.value(self.law)

        def beyond(distance: float) -> float:
            low, high = self._zero(ratio, inside + side * distance, alpha)
            return low if side < 0 else -high

        far = 0.05
        while beyond(far) <= 0:
            far *= 2
            if far > _FAR:
                raise ratio.untold()
        return inside + side * crossing(beyond, 0.0, far, close=1e-9)[1]


class FixedReader(WidthReader):
    """About the clients who answered, split exactly as the shares say."""

    sides = staticmethod(fixed)


class ChebyshevReader(WidthReader):
    """About the clients who answered, by the variance alone: the paper's."""

    sides = staticmethod(chebyshev)


class NormalReader(WidthReader):
    """About the population, by the variance that the counts show: asymptotic."""

    one_score = True

    @staticmethod
    def sides(spread: Spread, answers: float, alpha: float) -> Width:
        """Return the width for the largest variance that a population allows."""
        half = -float(ndtri(alpha / 2)) * math.sqrt(spread.drawn_variance / answers)
        return Width(half, half)

    def around(self, score: Vector, alpha: float) -> Width:
        """Return the width for the variance that the counts show; less than the least there could be is chance."""
        spread = Spread(self.estimands.decoder, score, self.estimands.shares)
        seen = float(score**2 @ self.law) - float(score @ self.law) ** 2
        half = -float(ndtri(alpha / 2)) * math.sqrt(max(seen, spread.least_variance) / self.answers)
        return Width(half, half)

    def difference(self, pair: Pair, alpha: float) -> Interval:
        """Return the interval by the delta method: both ratios move with the same answers."""
        first, second = (self.estimands.mean_of(side) for side in pair)
        for mean in (first, second):
            self.ratio(mean, alpha)
        value = first.value(self.law) - second.value(self.law)
        influence = first.influence(self.law) - second.influence(self.law)
        least = Spread(self.estimands.decoder, influence, self.estimands.shares).least_variance
        variance = max(float(influence**2 @ self.law), least)
        half = -float(ndtri(alpha / len(self.estimands.compared) / 2)) * math.sqrt(variance / self.answers)
        return Interval(value, value - half, value + half)
