"""Readers that test values one by one: about the population, at one look or at every look."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.anytime import AnytimeTest
from fairgauge.estimation.estimands import Ratio
from fairgauge.estimation.inversion import Test, inverted
from fairgauge.estimation.joint import SHARE, SIDE, JointTest, PairScores
from fairgauge.estimation.laws import Laws
from fairgauge.estimation.levels import Rejected, by_levels
from fairgauge.estimation.population import PopulationTest
from fairgauge.estimation.reader import Reader
from fairgauge.estimation.values import Interval
from fairgauge.goals.inputs import Vector
from fairgauge.goals.sides import Pair, Side

# The intervals that a joint test looks at need not be exact: they are rounded outward.
_ROUGHLY = 0.01


@dataclass(frozen=True, eq=False)
class TestReader(Reader):
    """Reads counts by a test of values."""

    @cached_property
    def laws(self) -> Laws:
        """The laws that the population may have."""
        return Laws(self.estimands.decoder, self.estimands.shares, self.estimands.share_error)

    @abstractmethod
    def test(self, ratio: Ratio, alpha: float) -> Test:
        """Return the test of a ratio's values."""

    def ratio(self, ratio: Ratio, alpha: float) -> Interval:
        """Return the hull of all values of a ratio that are accepted."""
        # All pairs of groups ask for the same means.
        asked = (id(ratio), alpha)
        if asked not in self._told:
            self._require_part(ratio, alpha)
            self._told[asked] = ratio, Interval(ratio.value(self.law), *inverted(self.test(ratio, alpha)))
        return self._told[asked][1]

    @cached_property
    def _told(self) -> dict[tuple[int, float], tuple[Ratio, Interval]]:
        return {}

    def beyond(self, ratio: Ratio, value: float, alpha: float) -> bool:
        """Tell whether all values up to one are rejected: the nearest of them, if the estimate is above it.

        It is assumed that values farther from the estimate are then rejected too (``inversion`` says why).
        """
        try:
            self._require_part(ratio, alpha)
        except CannotEstimate:
            return False
        return ratio.value(self.law) > value and self.test(ratio, alpha).margin(value) >= 0

    def believes(self, ratio: Ratio, value: float, alpha: float) -> bool:
        """Tell whether a value of a ratio is accepted."""
        self._require_part(ratio, alpha)
        return self.test(ratio, alpha).margin(value) < 0

    def extremes(self, sides: Sequence[Side], alpha: float) -> tuple[Interval, Interval]:
        """Return the smallest and the largest of some means; all of them hold together.

        Most means are not near either end: whether an end of theirs lies further out is one test of a value.
        """
        if self.estimands.share_error:
            return super().extremes(sides, alpha)
        part, ratios = alpha / len(sides), [self.estimands.mean_of(side) for side in sides]
        for ratio in ratios:
            self._require_part(ratio, part)
        estimates = np.array([ratio.value(self.law) for ratio in ratios])
        spreads = [math.sqrt(float(ratio.influence(self.law) ** 2 @ self.law)) for ratio in ratios]
        about = -float(ndtri(part / 2)) / math.sqrt(self.answers) * np.array(spreads)
        # The smallest mean is no larger than any, so any mean's upper end is one of its own.
        smallest, largest = (
            self.ratio(ratios[place], part)
            for place in (int((estimates + about).argmin()), int((estimates - about).argmax()))
        )
        low, high = (
            self._furthest(ratios, part, np.argsort(order), end)
            for order, end in ((estimates - about, min), (-estimates - about, max))
        )
        return Interval(float(estimates.min()), low, smallest.high), Interval(float(estimates.max()), largest.low, high)

    def _furthest(
        self, ratios: Sequence[Ratio], alpha: float, order: Iterable[int], pick: Callable[[float, float], float]
    ) -> float:
        """Return the lowest lower or the highest upper end of some intervals, the likeliest first."""
        found: float | None = None
        for place in order:
            ratio = ratios[place]
            if found is None or self.test(ratio, alpha).margin(found) < 0:
                told = self.ratio(ratio, alpha)
                end = pick(told.low, told.high)
                found = end if found is None else pick(found, end)
        if found is None:
            raise ValueError("there is no extreme of no means")
        return found

    def difference(self, pair: Pair, alpha: float) -> Interval:
        """Return the difference of two intervals that hold together with those of all other groups."""
        estimands = self.estimands
        first, second = (self.ratio(estimands.mean_of(side), alpha / estimands.sides) for side in pair)
        return Interval(first.estimate - second.estimate, first.low - second.high, first.high - second.low)

    def _require_part(self, ratio: Ratio, alpha: float) -> None:
        if ratio.constant is not None:
            return
        part = Ratio(ratio.under, np.ones(len(ratio.under)), ratio.part)
        if part.value(self.law) <= 0 or self.test(part, alpha).margin(0.0) < 0:
            raise ratio.untold()


class PopulationReader(TestReader):
    """About the population that clients are drawn from, at one look."""

    one_score = True
    quick = False
    planned_to = 1e-3

    def test(self, ratio: Ratio, alpha: float) -> PopulationTest:
        """Return the test of a ratio's values."""
        return PopulationTest(self.laws, ratio.over, ratio.under, self.counts, alpha)

    def difference(self, pair: Pair, alpha: float) -> Interval:
        """Return the gaps that the joint test accepts; all pairs hold together."""
        part = alpha / len(self.estimands.compared)
        for side in pair:
            self._require_part(self.estimands.mean_of(side), part)
        test = self.joint(pair, part)
        return Interval(test.estimate, *inverted(test))

    def believes_gap(self, pair: Pair, value: float, alpha: float) -> bool:
        """Tell whether a gap is accepted, where all gaps are to hold together."""
        if self.estimands.gaps is not None:
            return super().believes_gap(pair, value, alpha)
        part = alpha / len(self.estimands.compared)
        for side in pair:
            self._require_part(self.estimands.mean_of(side), part)
        return self.joint(pair, part).margin(value) < 0

    def joint(self, pair: Pair, alpha: float) -> JointTest:
        """Return the test of a gap whose groups' shares are estimated."""
        first, second = (self.estimands.mean_of(side) for side in pair)

        def roughly(over: Vector, under: Vector, part: float) -> tuple[float, float]:
            return inverted(PopulationTest(self.laws, over, under, self.counts, part * alpha), close=_ROUGHLY)

        share = roughly(first.under, first.under + second.under, SHARE)
        means = (roughly(first.over, first.under, SIDE), roughly(second.over, second.under, SIDE))
        scores = PairScores((first.over, second.over), (first.under, second.under))
        return JointTest(self.laws, scores, self.counts, alpha, share, means)

    def excludes(self, pair: Pair, tolerance: float, alpha: float) -> bool:
        """Tell whether all gaps within a tolerance are rejected: the one that is nearest to the estimate.

        It is assumed that those farther from the estimate are then rejected too (``inversion`` says why).
        """
        estimands = self.estimands
        if estimands.gaps is not None or estimands.means is None:
            return super().excludes(pair, tolerance, alpha)
        part = alpha / len(estimands.compared)
        try:
            for side in pair:
                self._require_part(estimands.mean_of(side), part)
        except CannotEstimate:
            return False
        test = self.joint(pair, part)
        return abs(test.estimate) > tolerance and test.margin(math.copysign(tolerance, test.estimate)) >= 0

    @staticmethod
    def least_level(rejected: Rejected) -> float:
        """Return the smallest level that rejects; stakes follow the level, so intervals need not lie in each other."""
        return by_levels(rejected)


class AnytimeReader(TestReader):
    """About the population that clients are drawn from, at every look together."""

    def test(self, ratio: Ratio, alpha: float) -> AnytimeTest:
        """Return the test of a ratio's values."""
        return AnytimeTest(self.laws, ratio.over, ratio.under, self.counts, alpha, self.planned)
