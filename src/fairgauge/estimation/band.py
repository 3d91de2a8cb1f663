r"""The band in which the split of those who answered lies, by what a study says of how often groups answer.

Groups g have the shares p_g of the population, each known to a stated error, and answer at rates of which none is more
than G times another.  Then side A of some groups and side B of others have among the answers

.. math:: \frac{q_A}{q_B} \in \Big[\frac{1}{G} \min \frac{p_A}{p_B},\; G \max \frac{p_A}{p_B}\Big] ,

because each of the two is a weighted average of rates.  G = 1 is a split that is known, and with no limit to G the
split may be anything.
"""

import math
from dataclasses import dataclass

from fairgauge.targets.comparisons import Pair, Side, members
from fairgauge.targets.inputs import Vector


@dataclass(frozen=True, eq=False)
class Band:
    """What is known beforehand of the split of those who answer.

    Args:
        shares: The groups' shares of the population, as stated.
        ratio: How many times as often as another group one may answer at most; infinity for any number.
        error: How far each share may be off.
    """

    shares: Vector
    ratio: float
    error: float = 0.0

    @property
    def point(self) -> bool:
        """Whether the split is known exactly."""
        return self.ratio == 1 and not self.error

    @property
    def bounded(self) -> bool:
        """Whether anything is known of the split."""
        return self.ratio < math.inf

    def off(self, side: Side) -> float:
        """Return how far a side's share of the population may be off: by what its groups are, or all the others."""
        count = len(members(side))
        return min(count, len(self.shares) - count) * self.error

    def stated(self, side: Side) -> float:
        """Return a side's share of the population, as stated."""
        return math.fsum(self.shares[group] for group in members(side))

    def odds(self, pair: Pair) -> tuple[float, float]:
        """Return between what the share of the first side over that of the second is, in the population."""
        first, second = (self.stated(side) for side in pair)
        off, other = (self.off(side) for side in pair)
        if sum(len(members(side)) for side in pair) == len(self.shares):
            other = off  # what one side has more the other has less
        return _over(first - off, second + other), _over(first + off, second - other)

    def among(self, pair: Pair) -> tuple[float, float]:
        """Return between what the share of the first side is among the answers of both."""
        if not self.bounded:
            return 0.0, 1.0
        low, high = self.odds(pair)
        return _share(low / self.ratio), _share(high * self.ratio)

    def of(self, side: Side) -> tuple[float, float]:
        """Return between what a side's share of all answers is.

        >>> import numpy as np
        >>> [round(end, 4) for end in Band(np.array([0.5, 0.5]), 1.1).of(0)]
        [0.4762, 0.5238]
        """
        share, off = self.stated(side), self.off(side)
        low, high = max(share - off, 0.0), min(share + off, 1.0)
        return _share(_over(low, 1 - low) / self.ratio), _share(_over(high, 1 - high) * self.ratio)


def _over(first: float, second: float) -> float:
    return max(first, 0.0) / second if second > 0 else math.inf


def _share(odds: float) -> float:
    return 1.0 if odds == math.inf else odds / (1 + odds)
