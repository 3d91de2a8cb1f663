"""Readers that read a gap from one score where the groups' shares are estimated, not as a difference of two means."""

import math
from abc import abstractmethod
from dataclasses import dataclass

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.estimands import Ratio
from fairgauge.estimation.gap_score import GapScore
from fairgauge.estimation.gap_tests import SHARE, GapTest
from fairgauge.estimation.inversion import inverted, nearly_inverted
from fairgauge.estimation.reader import Reader
from fairgauge.estimation.values import Interval
from fairgauge.languages import Told
from fairgauge.targets.comparisons import Pair

# Edges of a gap are found to this part of its half-width, and rounded outward.
_CLOSE = 1e-3


class Contradicted(CannotEstimate):
    """The answers contradict what is said of how often groups answer."""


@dataclass(frozen=True, eq=False)
class OneScoreReader(Reader):
    """Reads the gap of groups whose shares are estimated by a test of gaps."""

    @abstractmethod
    def share(self, share: Ratio, alpha: float) -> tuple[float, float]:
        """Return an interval of a group's share; rounded outward, it need not be exact."""

    def share_accepts(self, share: Ratio, value: float, alpha: float) -> bool:
        """Tell whether that interval holds a value; faster than finding it where that is possible."""
        low, high = self.share(share, alpha)
        return low <= value <= high

    @abstractmethod
    def test_of(self, score: GapScore, share: tuple[float, float], alpha: float) -> GapTest:
        """Return the test of gaps, if the first group's share among both is in an interval."""

    def gap_test(self, pair: Pair, alpha: float) -> GapTest:
        """Return the test of gaps between two groups whose shares are estimated; all pairs hold together.

        Raises:
            CannotEstimate: If the answers do not tell whether both groups are there.
        """
        score, share, part = self._asked(pair, alpha)
        return self.test_of(score, self._split(pair, share, part), part)

    def _split(self, pair: Pair, share: Ratio, alpha: float) -> tuple[float, float]:
        """Return where the share of a gap's first side is: by the answers, and by what is known beforehand.

        Guarantee: but for a part ``SHARE`` of alpha it holds the true share, if what is known beforehand is true.

        Raises:
            Contradicted: If the two have nothing in common.
        """
        (low, high), (least, most) = self.share(share, SHARE * alpha), self.estimands.band.among(pair)
        if low > most or high < least:
            raise Contradicted(Told.of("caution.contradicted"))
        return max(low, least), min(high, most)

    def _asked(self, pair: Pair, alpha: float) -> tuple[GapScore, Ratio, float]:
        """Return the score of a gap, the share of its first group among both, and the part of alpha that it has."""
        part = alpha / len(self.estimands.compared)
        first, second = (self.estimands.mean_of(side) for side in pair)
        for mean in (first, second):
            if not self.estimands.band.bounded:
                self._require_part(mean, part)
        score = GapScore((first.over, second.over), (first.under, second.under), self.estimands.expect)
        return score, Ratio(first.under, first.under + second.under, first.part), part

    def difference(self, pair: Pair, alpha: float) -> Interval:
        """Return the gaps that the test accepts."""
        test = self.gap_test(pair, alpha)
        return Interval(test.estimate, *(nearly_inverted(test) if self.split.stray else inverted(test, close=_CLOSE)))

    def believes_gap(self, pair: Pair, value: float, alpha: float) -> bool:
        """Tell whether a gap is accepted, where all gaps are to hold together."""
        if self.estimands.gaps is not None:
            return super().believes_gap(pair, value, alpha)
        score, share, part = self._asked(pair, alpha)
        # The share that the answers point to is in its own interval, and mostly accepts what that does.
        told, (least, most) = share.value(self.law), self.estimands.band.among(pair)
        likely = min(max(told, least), most)
        if (likely == told or self.share_accepts(share, likely, SHARE * part)) and self.test_of(
            score, (likely, likely), part
        ).accepts(value):
            return True
        return self.test_of(score, self._split(pair, share, part), part).accepts(value)

    def excludes(self, pair: Pair, tolerance: float, alpha: float) -> bool:
        """Tell whether all gaps within a tolerance are rejected: the one that is nearest to the estimate.

        It is assumed that those farther from the estimate are then rejected too (``inversion`` says why).
        """
        if self.estimands.gaps is not None or self.estimands.means is None:
            return super().excludes(pair, tolerance, alpha)
        try:
            test = self.gap_test(pair, alpha)
        except CannotEstimate:
            return False
        return abs(test.estimate) > tolerance and test.margin(math.copysign(tolerance, test.estimate)) >= 0
