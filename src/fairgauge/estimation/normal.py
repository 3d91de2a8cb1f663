"""The normal interval: the estimate plus or minus some standard errors, by the variance that the counts show.

A ratio is over/under.  For a guess r the score over - r under averages to zero at the true r, so r is believable
exactly if its average is within the width that the interval allows: the believable r form the interval
(Fieller's idea), and it holds as exactly as the width does, however uncertain the denominator is.
"""

import math

from scipy.special import ndtri

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.crossing import crossing
from fairgauge.estimation.estimands import Ratio
from fairgauge.estimation.gap_score import GapScore
from fairgauge.estimation.gap_tests import NormalGapTest
from fairgauge.estimation.laws import Laws
from fairgauge.estimation.one_score import OneScoreReader
from fairgauge.estimation.values import Interval
from fairgauge.targets.decoder import least_variances
from fairgauge.targets.inputs import Vector

_FAR = 1e3  # a ratio of which the answers only say that it is somewhere within this is not estimated


class NormalReader(OneScoreReader):
    """About the population, by the variance that the counts show: asymptotic."""

    def width(self, score: Vector, alpha: float) -> float:
        """Return how far from its average a score's mean may be."""
        seen = float(score**2 @ self.counts) / self.answers - float(score @ self.law) ** 2
        part = self.draws.count / self.answers
        return self._width(seen - part * float(self.draws.mean(score)) ** 2, score, alpha)

    def ratio(self, ratio: Ratio, alpha: float) -> Interval:
        """Return the interval of a ratio."""
        if ratio.constant is not None:
            estimate, half = ratio.value(self.law), self.width(ratio.over / ratio.constant, alpha)
            return Interval(estimate, estimate - half, estimate + half)
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

    def share(self, share: Ratio, alpha: float) -> tuple[float, float]:
        """Return an interval of a group's share."""
        found = self.ratio(share, alpha)
        return found.low, found.high

    def test_of(self, score: GapScore, share: tuple[float, float], alpha: float) -> NormalGapTest:
        """Return the test of gaps."""
        laws = Laws(self.estimands.decoder, None)
        return NormalGapTest(laws, score, self.parts, alpha, share, self.split.stray, draws=self.draws)

    def _width(self, seen: float, score: Vector, alpha: float) -> float:
        """Return the width for a variance that was seen; less than the least there could be is chance, or rounding."""
        least = self._least_variance(score) + self.draws.count / self.answers * float(self.draws.variance(score))
        return -float(ndtri(alpha / 2)) * math.sqrt(max(seen, least, 0.0) / self.answers)

    def _least_variance(self, score: Vector) -> float:
        """Return the smallest variance of the average client's score, whatever clients hold."""
        blocks, shares = least_variances(self.estimands.decoder, score), self.estimands.shares
        if shares is None or self.estimands.ratio > 1:
            return float(blocks.min())
        # How many abstain is not known, so the average client is no less than the smaller of the two kinds.
        return float(min([shares @ blocks[: len(shares)], *blocks[len(shares) :]]))

    def _require_part(self, ratio: Ratio, alpha: float) -> None:
        if float(ratio.under @ self.law) <= self.width(ratio.under, alpha):
            raise ratio.untold()

    def _zero(self, ratio: Ratio, value: float, alpha: float) -> tuple[float, float]:
        """Return the interval of over - value under, which holds zero if the value is believable."""
        score = ratio.over - value * ratio.under
        average, half = float(score @ self.law), self.width(score, alpha)
        return average - half, average + half

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
