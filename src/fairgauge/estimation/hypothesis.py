r"""A value that is put to the test: if it is right, a score averages to zero over the population.

What is wanted is a ratio of two average scores, over / under (the denominator is often the constant 1).  If the value
is r, then y = over - r under averages to zero under the population's law q.  That says much about the other
moments of y: they are those of laws with q . E[y] = 0, and programs with one or two constraints bound them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairgauge.estimation.edgeworth import Moments
from fairgauge.estimation.laws import Laws
from fairgauge.targets.inputs import Matrix, Vector

# Prices of variance at which moments are bounded, as parts of the largest that can matter.  Every price is valid.
_PRICES: Vector = np.array([-1, -0.4, -0.15, 0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1, 1.3])

# Scores are unbiased to a billionth: what is possible is rounded outward by as much.
_OUTWARD = 1e-9


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """That a score averages to zero over the population.

    Args:
        laws: The laws that the population may have.
        score: A number for each symbol.
    """

    laws: Laws
    score: Vector

    @cached_property
    def mean(self) -> Vector:
        """The score's mean for each input."""
        return self.laws.rows @ self.score

    @cached_property
    def possible(self) -> bool:
        """Whether any population fits."""
        return self.laws.possible(self.mean)

    @property
    def variance(self) -> tuple[float, float]:
        """The least and the largest variance of the score."""
        return self._bounds[0]

    @cached_property
    def _bounds(self) -> tuple[tuple[float, float], Vector, Vector]:
        r"""Bounds of the variance, and of the third and the fourth moment at each price of variance.

        .. math:: \max_{q \cdot m = 0,\ q \cdot w \in [v, V]} q \cdot f
                  \le \min_\mu \Big( \max_{q \cdot m = 0} q \cdot (f - \mu w) + \max(\mu v, \mu V) \Big)
        """
        score, rows, n = self.score, self.laws.rows, len(_PRICES)
        second, third, fourth = (rows @ np.column_stack([score**power for power in (2, 3, 4)])).T
        size = float(np.abs(score).max())
        prices = np.multiply.outer(second, _PRICES)
        columns = [
            np.column_stack([second, -second]),
            third[:, None] - size * prices,
            -third[:, None] - size * prices,
            fourth[:, None] - size**2 * prices,
        ]
        found = self.laws.most_given(np.hstack(columns), self.mean)
        # The size of the third moment at a variance is the larger of two concave functions of it.
        return (max(float(-found[1]), 0.0), float(found[0])), found[2 : 2 * n + 2], found[2 * n + 2 :]

    def moments(self, low: float, high: float, *, ratio: float) -> Moments:
        """Return what is known of the score in cells that cover a range of its variance, each at most this wide."""
        n = len(_PRICES)
        low = max(low, 1e-12 * high, 1e-300)
        high = max(high, low)
        count = int(np.clip(np.ceil(np.log(high / low) / np.log(ratio)), 1, 80))
        edges = np.geomspace(low, high, count + 1)
        least, most = edges[:-1], edges[1:]
        size = float(np.abs(self.score).max())
        _, thirds, fourths = self._bounds

        def bounded(values: Vector, prices: Vector) -> Vector:
            paid = np.where(prices > 0, np.multiply.outer(most, prices), np.multiply.outer(least, prices))
            return np.asarray((values + paid).min(axis=1))

        fourth = np.minimum(bounded(fourths, size**2 * _PRICES), size**2 * most)
        # |E y^3| <= sqrt(E y^2 E y^4), and E y^4 >= (E y^2)^2.
        largest = np.sqrt(most * np.maximum(fourth, 0.0))
        below, above = (np.minimum(bounded(each, size * _PRICES), largest) for each in (thirds[n:], thirds[:n]))
        # Where no law has a variance in the cell the two may cross, and anything is right.
        return Moments(least, most, (np.minimum(-below, above), above), np.maximum(fourth, least**2), size)


def extent(laws: Laws, over: Vector, under: Vector) -> tuple[float, float]:
    """Return the least and the largest value that the ratio of two average scores can have in any population."""
    top, bottom = laws.rows @ over, laws.rows @ under
    return -_largest(laws, -top, bottom) - _OUTWARD, _largest(laws, top, bottom) + _OUTWARD


def _largest(laws: Laws, top: Vector, bottom: Vector) -> float:
    """Return the largest ratio, by halving.

    Inputs whose denominator is zero (those who abstain, say) can only leave a ratio as it is.
    """
    inside = bottom > 1e-9 * np.abs(bottom).max()
    least, most = (
        float(found) for found in ((top[inside] / bottom[inside]).min(), (top[inside] / bottom[inside]).max())
    )
    if laws.shares is None or least == most:
        return most
    if np.ptp(bottom) <= 1e-12 * abs(float(bottom[0])):
        return float(laws.most((top / bottom)[:, None])[0])
    low, high = least, most
    for _ in range(60):
        middle = (low + high) / 2
        values: Matrix = np.where(inside, top - middle * bottom, -1e300)[:, None]
        low, high = (middle, high) if laws.most(values)[0] > 0 else (low, middle)
    return high
