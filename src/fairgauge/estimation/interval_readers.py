"""Readers: counts of a question's symbols, and one way to read them for each kind of interval.

*About the population*, at one look or at every look, values are tested one by one.

*The normal interval* is the estimate plus or minus some standard errors, by the variance that the counts show.

A ratio is over/under.  For a guess r the score over - r under averages to zero at the true r, so r is believable
exactly if its average is within the width that the interval allows: the believable r form the interval
(Fieller's idea), and it holds as exactly as the width does, however uncertain the denominator is.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.anytime import AnytimeGapTest, AnytimeTest
from fairgauge.estimation.confidence_set import Test, inverted, nearly_inverted, sign_change
from fairgauge.estimation.draws import NO_DRAWS, Draws
from fairgauge.estimation.estimands import Estimands, Ratio
from fairgauge.estimation.gap_score import GapScore, Split, Thrown
from fairgauge.estimation.hypothesis_tests import SHARE, GapTest, NormalGapTest
from fairgauge.estimation.interval import Interval, over
from fairgauge.estimation.interval_kinds import IntervalKind
from fairgauge.estimation.p_values import Rejected, by_halving, by_levels, holm
from fairgauge.estimation.population_gap import PopulationGapTest
from fairgauge.estimation.population_test import PopulationTest
from fairgauge.estimation.populations import Laws
from fairgauge.estimation.share_band import Readings, gap_in_band, mean_in_band
from fairgauge.languages import Sentence
from fairgauge.targets.channel_inputs import Matrix, Vector
from fairgauge.targets.comparisons import Pair, Side
from fairgauge.targets.symbol_scores import least_variances

# Parts that are fixed, too, but not by a study: for counts that belong to none.
_UNNAMED = Thrown("")
# Where shares may be off, the gap as it is and each of two groups' means share alpha like this.
_GAP, _MEAN = 0.8, 0.1
# Edges of a gap are found to this part of its half-width, and rounded outward.
_CLOSE = 1e-3
# An interval of a share that a gap's test looks at need not be exact: it is rounded outward.
_ROUGHLY = 0.01


class Contradicted(CannotEstimate):
    """The answers contradict what is said of how often groups answer."""


@dataclass(frozen=True, eq=False)
class Reader(ABC):
    """Counts of a question's symbols, and one way to read them.

    Args:
        estimands: What the question can tell.
        counts: How often each symbol came.
        planned: How many answers were planned before the first one, if that is known.
        split: How answers are dealt out to parts, where some of them choose how others are read.
        draws: The secret draws that are among the counts.
    """

    estimands: Estimands
    counts: Vector
    planned: int | None = None
    split: Split = _UNNAMED
    draws: Draws = NO_DRAWS
    # Whether an interval takes a moment only, so that a plan may ask for many.
    quick: ClassVar[bool] = True
    # To which part a plan finds the number of clients.
    planned_to: ClassVar[float] = 1e-6

    @cached_property
    def answers(self) -> float:
        """How many answers there are."""
        return float(self.counts.sum()) - self.draws.count

    @cached_property
    def law(self) -> Vector:
        """The counts as parts of their sum, less what draws add to them on average."""
        return np.asarray(self.draws.removed(self.counts) / self.answers)

    @cached_property
    def parts(self) -> Matrix:
        """The counts of each part that answers are dealt out to."""
        return self.split.parts(self.counts)

    @abstractmethod
    def ratio(self, ratio: Ratio, alpha: float) -> Interval:
        """Return the interval of a ratio.

        Raises:
            CannotEstimate: If the denominator is not clearly above zero.
        """

    @abstractmethod
    def share(self, share: Ratio, alpha: float) -> tuple[float, float]:
        """Return an interval of a group's share; rounded outward, it need not be exact."""

    @abstractmethod
    def test_of(self, score: GapScore, share: tuple[float, float], alpha: float) -> GapTest:
        """Return the test of gaps, if the first group's share among both is in an interval."""

    @abstractmethod
    def _require_part(self, ratio: Ratio, alpha: float) -> None:
        """Refuse a ratio whose denominator is not clearly above zero."""

    def beyond(self, ratio: Ratio, value: float, alpha: float) -> bool:
        """Tell whether the interval of a ratio lies above a value."""
        try:
            return self.ratio(ratio, alpha).low > value
        except CannotEstimate:
            return False

    def believes(self, ratio: Ratio, value: float, alpha: float) -> bool:
        """Tell whether the interval of a ratio holds a value; faster than finding the interval where that is possible.

        Raises:
            CannotEstimate: If the denominator is not clearly above zero.
        """
        found = self.ratio(ratio, alpha)
        return found.low <= value <= found.high

    def mean(self, side: Side, alpha: float) -> Interval:
        """Return the interval of the mean of a group, or of several together.

        Raises:
            CannotEstimate: If the answers do not tell.
        """
        estimands = self.estimands
        found = self.ratio(estimands.mean_of(side), alpha)
        if estimands.shares is None or estimands.exact:
            return found
        return mean_in_band(found, estimands.band, side)

    def extremes(self, sides: Sequence[Side], alpha: float) -> tuple[Interval, Interval]:
        """Return the smallest and the largest of some means; all of them hold together.

        Raises:
            CannotEstimate: If the answers do not tell.
        """
        means = [self.mean(side, alpha / len(sides)) for side in sides]
        return over(min, means), over(max, means)

    def gap(self, pair: Pair, alpha: float) -> Interval:
        """Return the interval of one gap, where all gaps are to hold together.

        Raises:
            CannotEstimate: If the answers do not tell.
        """
        estimands = self.estimands
        if estimands.gaps is None:
            return self.difference(pair, alpha)
        part, ratio = alpha / len(estimands.gaps), estimands.gaps[pair]
        if estimands.exact:
            return self.ratio(ratio, part)
        means: tuple[Interval, Interval] | None = None
        if estimands.means is not None:
            first, second = (self.ratio(estimands.mean_of(side), _MEAN * part) for side in pair)
            means = first, second
        asked = self.ratio(ratio, part if means is None else _GAP * part)
        told = estimands.decoder.rows @ ratio.over / (ratio.constant or _answering(estimands, ratio))
        return gap_in_band(Readings(asked, means, told), estimands.band, estimands.decoder.inputs, pair)

    def difference(self, pair: Pair, alpha: float) -> Interval:
        """Return the gaps that the test of gaps accepts, where shares are estimated."""
        test = self.gap_test(pair, alpha)
        return Interval(test.estimate, *(nearly_inverted(test) if self.split.stray else inverted(test, close=_CLOSE)))

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
            raise Contradicted(Sentence.of("caution.contradicted"))
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

    def believes_gap(self, pair: Pair, value: float, alpha: float) -> bool:
        """Tell whether the interval of a gap holds a value, where all gaps are to hold together.

        Raises:
            CannotEstimate: If the answers do not tell.
        """
        gaps = self.estimands.gaps
        if gaps is not None and self.estimands.exact:
            return self.believes(gaps[pair], value, alpha / len(gaps))
        if gaps is not None:
            found = self.gap(pair, alpha)
            return found.low <= value <= found.high
        score, share, part = self._asked(pair, alpha)
        # The share that the answers point to is in its own interval, so what it accepts at once is in the gap's.
        told, (least, most) = score.told(self.law), self.estimands.band.among(pair)
        if least <= told <= most and self.test_of(score, (told, told), part).accepts_at_once(value):
            return True
        return self.test_of(score, self._split(pair, share, part), part).accepts(value)

    def excludes(self, pair: Pair, tolerance: float, alpha: float) -> bool:
        """Tell whether the interval of a gap lies wholly beyond a tolerance, on either side.

        Where values are tested, that is whether the one within the tolerance is rejected that is nearest to the
        estimate.  It is assumed that those farther from it are then rejected too (``confidence_set`` says why).
        """
        gaps = self.estimands.gaps
        if gaps is not None and self.estimands.exact:
            gap = gaps[pair] if gaps[pair].value(self.law) > 0 else -gaps[pair]
            return self.beyond(gap, tolerance, alpha / len(gaps))
        try:
            if gaps is not None or self.estimands.means is None:
                interval = self.gap(pair, alpha)
                return interval.low > tolerance or interval.high < -tolerance
            test = self.gap_test(pair, alpha)
        except CannotEstimate:
            return False
        return abs(test.estimate) > tolerance and test.margin(math.copysign(tolerance, test.estimate)) >= 0

    @staticmethod
    def least_level(rejected: Rejected) -> float:
        """Return the smallest level that rejects; intervals of less confidence lie within those of more."""
        return by_halving(rejected)

    def p_value(self, pair: Pair, tolerance: float) -> float:
        """Return the smallest alpha at which the interval still excludes every gap within the tolerance.

        All gaps that are compared hold together at alpha, so this is Bonferroni's p-value; ``p_values`` sharpens them.

        Guarantee: as the interval's: a gap within the tolerance gives alpha or less at most as often as alpha.

        Args:
            pair: The two sides, by number.
            tolerance: The largest gap that is acceptable, from 0 to 2.
        """
        return self.least_level(lambda alpha: self.excludes(pair, tolerance, alpha))

    def p_values(self, pairs: Iterable[Pair], tolerance: float) -> dict[Pair, float]:
        """Return the p-values of the gaps that are told, of all that are compared.

        Guarantee: as the intervals'; they hold together.  They are Holm's: every gap has its own equal part of alpha.
        """
        found = {pair: self.p_value(pair, tolerance) for pair in pairs}
        return holm(found, len(self.estimands.compared))


def _answering(estimands: Estimands, ratio: Ratio) -> float:
    """Return the denominator for someone who answers."""
    return float((estimands.decoder.rows @ ratio.under).max())


def counts_of(counts: tuple[int, ...]) -> Vector:
    """Return counts as numbers to compute with."""
    return np.array(counts, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class TestReader(Reader):
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

        It is assumed that values farther from the estimate are then rejected too (``confidence_set`` says why).
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


_FAR = 1e3  # a ratio of which the answers only say that it is somewhere within this is not estimated


class NormalReader(Reader):
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
        return inside + side * sign_change(beyond, 0.0, far, close=1e-9)[1]


READERS: Mapping[str, type[Reader]] = {
    "population": PopulationReader,
    "anytime": AnytimeReader,
    "normal": NormalReader,
}


def reader_of(kind: IntervalKind) -> type[Reader]:
    """Return what reads counts by a kind of interval."""
    return READERS[kind.name]
