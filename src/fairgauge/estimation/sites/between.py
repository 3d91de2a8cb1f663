r"""Intervals about sites like these: how much sites differ is what their answers themselves say.

For a sum over S sites that averages to zero at the right rate, :math:`X = \sum_s X_s`,

.. math:: \frac{X}{\sqrt{\frac{S}{S-1} \big(\sum_s X_s^2 - X^2 / S\big)}}

is close to Student's law with S - 1 degrees of freedom.  The squares come from the tally's products: with a the weights
of the cells, :math:`\sum_s X_s^2 = a^\top P a`.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import stdtrit

from fairgauge.estimation.sites.rates import Rate
from fairgauge.estimation.values import Interval
from fairgauge.targets.inputs import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Between:
    """Counts of sites that are a sample of sites.

    Args:
        counts: The sum of the sites' counts.
        products: For every two cells the sum over sites of the product of both.
        sites: How many sites there are, two at least.
    """

    counts: Vector
    products: Matrix
    sites: int

    def rate(self, rate: Rate, alpha: float) -> Interval:
        """Return the interval of a rate: all rates whose sum is not too far from zero (Fieller); maybe everything."""
        one, slope = self._weights(rate, 0.0), self._slope(rate)
        total, people = float(one @ self.counts), float(slope @ self.counts)
        level = self._quantile(alpha) ** 2
        a = people**2 - level * self._variance(slope, slope)
        b = -2 * (total * people - level * self._variance(one, slope))
        c = total**2 - level * self._variance(one, one)
        root = b**2 - 4 * a * c
        if a <= 0 or root < 0:
            return Interval(min(max(total / max(people, 1.0), 0.0), 1.0), 0.0, 1.0)
        half = math.sqrt(root)
        return Interval(total / people, (-b - half) / (2 * a), (-b + half) / (2 * a))

    def gap(self, first: Rate, second: Rate, alpha: float) -> Interval:
        """Return the interval of a gap, from the difference of both sums over their numbers of people.

        Where one of these numbers may be zero it is everything, as that of a rate is.
        """
        people = [float(self._slope(rate) @ self.counts) for rate in (first, second)]
        sums = [
            float(self._weights(rate, 0.0) @ self.counts) / max(number, 1.0)
            for rate, number in zip((first, second), people, strict=True)
        ]
        quantile = self._quantile(alpha)
        for rate, number in zip((first, second), people, strict=True):
            slope = self._slope(rate)
            if number <= quantile * math.sqrt(max(self._variance(slope, slope), 0.0)):
                return Interval(min(max(sums[0] - sums[1], -1.0), 1.0), -1.0, 1.0)
        weights = self._weights(first, sums[0]) / people[0] - self._weights(second, sums[1]) / people[1]
        half = quantile * math.sqrt(max(self._variance(weights, weights), 0.0))
        return Interval(sums[0] - sums[1], sums[0] - sums[1] - half, sums[0] - sums[1] + half)

    @cached_property
    def _spread(self) -> Matrix:
        centred = self.products - np.multiply.outer(self.counts, self.counts) / self.sites
        return np.asarray(centred * self.sites / (self.sites - 1))

    def _variance(self, first: Vector, second: Vector) -> float:
        return float(first @ self._spread @ second)

    def _weights(self, rate: Rate, value: float) -> Vector:
        weights = np.zeros(len(self.counts))
        weights[list(rate.cells)] = rate.weights - value
        return weights

    def _slope(self, rate: Rate) -> Vector:
        """Return the weights that count the people of a rate."""
        return self._weights(rate, 0.0) - self._weights(rate, 1.0)

    def _quantile(self, alpha: float) -> float:
        return float(-stdtrit(self.sites - 1, alpha / 2))
