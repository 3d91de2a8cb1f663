"""Something that reads counts: the base of all kinds of intervals."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.draws import NO_DRAWS, Draws
from fairgauge.estimation.estimands import Estimands, Ratio
from fairgauge.estimation.levels import Rejected, by_halving
from fairgauge.estimation.ratios import over
from fairgauge.estimation.share_error import Readings, gap_in_band, mean_in_band
from fairgauge.estimation.splitting import Split, Thrown
from fairgauge.estimation.values import Interval
from fairgauge.targets.comparisons import Pair, Side
from fairgauge.targets.inputs import Matrix, Vector

# Parts that are fixed, too, but not by a study: for counts that belong to none.
_UNNAMED = Thrown("")
# Where shares may be off, the gap as it is and each of two groups' means share alpha like this.
_GAP, _MEAN = 0.8, 0.1


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
    def difference(self, pair: Pair, alpha: float) -> Interval:
        """Return the interval of the difference of two groups' means, where their shares are estimated."""

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

    def believes_gap(self, pair: Pair, value: float, alpha: float) -> bool:
        """Tell whether the interval of a gap holds a value, where all gaps are to hold together.

        Raises:
            CannotEstimate: If the answers do not tell.
        """
        gaps = self.estimands.gaps
        if gaps is not None and self.estimands.exact:
            return self.believes(gaps[pair], value, alpha / len(gaps))
        found = self.gap(pair, alpha)
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
        return gap_in_band(Readings(asked, means, told), estimands, pair)

    @staticmethod
    def least_level(rejected: Rejected) -> float:
        """Return the smallest level that rejects; intervals of less confidence lie within those of more."""
        return by_halving(rejected)

    def excludes(self, pair: Pair, tolerance: float, alpha: float) -> bool:
        """Tell whether the interval of a gap lies wholly beyond a tolerance, on either side."""
        gaps = self.estimands.gaps
        if gaps is not None and self.estimands.exact:
            gap = gaps[pair] if gaps[pair].value(self.law) > 0 else -gaps[pair]
            return self.beyond(gap, tolerance, alpha / len(gaps))
        try:
            interval = self.gap(pair, alpha)
        except CannotEstimate:
            return False
        return interval.low > tolerance or interval.high < -tolerance


def _answering(estimands: Estimands, ratio: Ratio) -> float:
    """Return the denominator for someone who answers."""
    return float((estimands.decoder.rows @ ratio.under).max())


def counts_of(counts: tuple[int, ...]) -> Vector:
    """Return counts as numbers to compute with."""
    return np.array(counts, dtype=np.float64)
