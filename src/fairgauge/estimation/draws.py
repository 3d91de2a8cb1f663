r"""Secret draws among the answers: symbols of a law that everyone knows, so many that everyone knows that, too.

Counts with D draws of the law Q in them are the sum of K answers and of these.  What draws add is removed: its mean is
known, and what it scatters by is paid for.  With a score y of mean 0 for the answers and b = E_Q y,

.. math:: X = \sum_K y + \sum_D (y - b), \qquad E\Big[\prod_K (1 + l y) \prod_D (1 + l y)\Big] = (1 + l b)^D :

sums of all counts less D b have mean 0, and money that is bet on all counts is a martingale if it is divided by the
last.  Bets with fixed stakes on the mean of something over all K + D symbols hold as they do for independent draws of
one law, because the product of K + D numbers is no larger than the power of their average; what draws have of that
mean is known, so what answers have follows.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairgauge.targets.channel_inputs import Vector


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws that were added to counts; none unless given.

    Args:
        count: How many.
        law: How likely each symbol is to be drawn.
    """

    count: float = 0.0
    law: Vector = field(default_factory=lambda: np.zeros(0))

    def mean(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the average of scores over the law; scores of symbols are along the last axis."""
        return np.asarray(scores @ self.law if self.count else np.zeros(scores.shape[:-1]))

    def variance(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return the variance of scores of one draw."""
        return np.asarray(np.maximum(self.mean(scores**2) - self.mean(scores) ** 2, 0.0))

    def won(self, gains: NDArray[Any]) -> NDArray[Any]:
        """Return what draws alone multiply money by on average, as a logarithm, if one symbol does by 1 + gain."""
        return np.asarray(self.count * np.log1p(self.mean(gains)))

    def part_of(self, symbols: float) -> float:
        """Return which part of all symbols are draws."""
        return self.count / symbols if self.count else 0.0

    def removed(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Return counts less what draws add on average; of several parts, by how many symbols each has."""
        if not self.count:
            return counts
        sizes = counts.sum(axis=-1, keepdims=True)
        return np.asarray(counts - sizes * self.part_of(float(counts.sum())) * self.law)

    def of_answers(self, means: NDArray[Any], values: NDArray[Any], answers: float) -> NDArray[Any]:
        """Return the mean that answers have, from that of all symbols."""
        if not self.count:
            return means
        return np.asarray(means + (means - self.mean(values)) * self.count / max(answers, 1e-300))

    def of_all(self, means: NDArray[Any], values: NDArray[Any], answers: float) -> NDArray[Any]:
        """Return the mean that all symbols have, from that of answers."""
        if not self.count:
            return means
        return np.asarray((answers * means + self.count * self.mean(values)) / (answers + self.count))


NO_DRAWS = Draws()
