"""Readers that test values one by one: about the population, at one look or at every look."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.anytime import AnytimeGapTest, AnytimeTest
from fairgauge.estimation.estimands import Ratio
from fairgauge.estimation.gap_score import GapScore
from fairgauge.estimation.inversion import Test, inverted
from fairgauge.estimation.laws import Laws
from fairgauge.estimation.levels import Rejected, by_levels
from fairgauge.estimation.one_score import OneScoreReader
from fairgauge.estimation.population import PopulationTest
from fairgauge.estimation.population_gap import PopulationGapTest
from fairgauge.estimation.values import Interval
from fairgauge.targets.comparisons import Side

# An interval of a share that a gap's test looks at need not be exact: it is rounded outward.
_ROUGHLY = 0.01


@dataclass(frozen=True, eq=False)
class TestReader(OneScoreReader):
    """Reads counts by a test of values."""

    @cached_property
    def laws(self) -> Laws:
        """The laws that the population may have."""
        return Laws(self.estimands.decoder, self.estimands.shares, self.estimands.band)

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
        if self.estimands.shares is not None and not self.estimands.exact:
            return super().extremes(sides, alpha)
        part, ratios = alpha / len(sides), [self.estimands.mean_of(side) for side in sides]
        for ratio in ratios:
            self._require_part(ratio, part)
        estimates = np.array([ratio.value(self.law) for ratio in ratios])
        every = self.counts / self.answers
        spreads = [math.sqrt(float(ratio.influence(self.law) ** 2 @ every)) for ratio in ratios]
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

    def share(self, share: Ratio, alpha: float) -> tuple[float, float]:
        """Return an interval of a group's share."""
        return inverted(self.test(share, alpha), close=_ROUGHLY)

    def share_accepts(self, share: Ratio, value: float, alpha: float) -> bool:
        """Tell whether that interval holds a value: whether its test accepts it."""
        return self.test(share, alpha).margin(value) < 0

    def _require_part(self, ratio: Ratio, alpha: float) -> None:
        if ratio.constant is not None:
            return
        asked = (id(ratio), alpha)
        if asked not in self._there:
            part = Ratio(ratio.under, np.ones(len(ratio.under)), ratio.part)
            self._there[asked] = ratio, part.value(self.law) > 0 and self.test(part, alpha).margin(0.0) >= 0
        if not self._there[asked][1]:
            raise ratio.untold()

    @cached_property
    def _there(self) -> dict[tuple[int, float], tuple[Ratio, bool]]:
        return {}


class PopulationReader(TestReader):
    """About the population that clients are drawn from, at one look."""

    quick = False
    planned_to = 1e-3

    def test(self, ratio: Ratio, alpha: float) -> PopulationTest:
        """Return the test of a ratio's values."""
        return PopulationTest(self.laws, ratio.over, ratio.under, self.counts, alpha, draws=self.draws)

    def test_of(self, score: GapScore, share: tuple[float, float], alpha: float) -> PopulationGapTest:
        """Return the test of gaps."""
        return PopulationGapTest(self.laws, score, self.parts, alpha, share, self.split.stray, draws=self.draws)

    @staticmethod
    def least_level(rejected: Rejected) -> float:
        """Return the smallest level that rejects; stakes follow the level, so intervals need not lie in each other."""
        return by_levels(rejected)


class AnytimeReader(TestReader):
    """About the population that clients are drawn from, at every look together."""

    planned_to = 1e-4  # ends of intervals are round numbers, which so many clients more or fewer do not move

    def test(self, ratio: Ratio, alpha: float) -> AnytimeTest:
        """Return the test of a ratio's values."""
        return AnytimeTest(self.laws, ratio.over, ratio.under, self.counts, alpha, self.planned, draws=self.draws)

    def test_of(self, score: GapScore, share: tuple[float, float], alpha: float) -> AnytimeGapTest:
        """Return the test of gaps."""
        return AnytimeGapTest(self.laws, score, self.counts[None], alpha, share, self.planned, draws=self.draws)
