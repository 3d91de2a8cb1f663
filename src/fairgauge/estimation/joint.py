r"""The gap where shares are estimated too: one score instead of the difference of two ratios.

For a gap D between groups A and B, let p be the share of A among both, and w and u the scores of a group's sum and
share.  The score

.. math:: \psi = (1-p)\,\big(w_A - (c + (1-\pi) D)\, u_A\big) - p\,\big(w_B - (c - \pi D)\, u_B\big)

averages to zero if D and p are right, for *every* c and pi.  If c is the mean of both groups together and pi is near
p, its average hardly depends on p either.  So p and c are only needed roughly (Berger and Boos, 1994): both get an
interval that together take a part of alpha, and a gap is accepted if it is with some p and c in that rectangle.

* The average of psi is bilinear in (p, c): over a rectangle it is largest and least at corners, and where it changes
  its sign it is zero somewhere inside, which accepts.
* The largest square of psi in the rectangle, symbol by symbol, bounds the variance from above for every p and c inside,
  the least one bounds it from below, and the same goes for higher moments.
* Bets on either side use the least gain at the corners, so no p and c inside would have won less.
* Between corners |phi| differs from that at the middle by at most t E|difference|.

*Why the data may choose the rectangle.*  Shares are cut into cells that are fixed before any answer, so that pi, the
middle of a cell, is no choice of the data.  The stakes of all bets depend on the table, the gap and the number of
answers alone: on what psi can be at most for any p, c and pi.  So for the true p and c there is one score psi and one
martingale for each bet, fixed beforehand, and all of them stay small with the probability that is claimed.  A bet on a
rectangle that holds the true p and c wins no more than that martingale, because each of its factors is no larger, however
the rectangle was found.  What is then computed (moments, |phi|, the tail) holds for every p and c in the rectangle.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fairgauge.estimation.betting import BOLDEST, lower_mean, upper_mean
from fairgauge.estimation.edgeworth import Heard, Moments, Tails, grid_of, modulus
from fairgauge.estimation.laws import Laws
from fairgauge.goals.inputs import Vector

# Parts of alpha: the share's and the mean's intervals, then the variance from above and below, the bets, the average.
BAND = 0.04
_UPPER, _LOWER, _BETS, _MEAN = 0.04, 0.02, 0.04, 0.82
_LEAST_CELL, _CELLS = 0.01, 24
# A rectangle is cut along the mean until psi is nearly the same all over it.
_ALIKE, _CUTS = 0.1, 6
# Prices of variance at which moments are bounded, as parts of the largest that can matter.
_PRICES: Vector = np.array([0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1])
_STAKED: Vector = np.array([1.0, 0.1, 0.01])
_NEVER = 1e30

Cube = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairScores:
    """The scores of the sums and the shares of two groups."""

    sums: tuple[Vector, Vector]
    shares: tuple[Vector, Vector]


@dataclass(frozen=True, eq=False)
class JointTest:
    """Tests gaps between two groups whose shares are estimated.

    Args:
        laws: The laws that the population may have.
        scores: The scores of both groups.
        counts: How often each symbol came.
        alpha: How often a right gap may be rejected.
        band: Intervals of the first group's share among both, and of the mean of both; each may fail with probability
            ``BAND`` alpha.
    """

    laws: Laws
    scores: PairScores
    counts: Vector
    alpha: float
    band: tuple[tuple[float, float], tuple[float, float]]

    @property
    def extent(self) -> tuple[float, float]:
        """The range of gaps that are possible at all."""
        return -2.0, 2.0

    @cached_property
    def estimate(self) -> float:
        """The difference of the two ratios."""
        first, second = (
            float(over @ self.counts) / float(under @ self.counts)
            for over, under in zip(self.scores.sums, self.scores.shares, strict=True)
        )
        return first - second

    @cached_property
    def answers(self) -> float:
        """How many answers there are."""
        return float(self.counts.sum())

    @cached_property
    def _width(self) -> float:
        """How wide a cell of shares is: by the table and the number of answers alone."""
        seconds = self.laws.most(self.laws.rows @ np.column_stack([u**2 for u in self.scores.shares]))
        wide = 4 * math.sqrt(float(seconds.max()) / self.answers) / _CELLS
        return float(max(_LEAST_CELL, min(0.1, _LEAST_CELL * 2 ** math.ceil(math.log2(max(wide / _LEAST_CELL, 1.0))))))

    def _cells(self, gap: float) -> tuple[Cube, Vector]:
        """Return psi at the corners of every rectangle, and how much a gap moves its average there."""
        (low, high), (least, most) = self.band
        (w, x), (u, z) = self.scores.sums, self.scores.shares
        numbers = np.arange(math.floor(low / self._width), math.ceil(high / self._width))
        middles = (numbers + 0.5) * self._width
        cuts = np.linspace(least, most, self._cuts + 1)
        corners = []
        for middle in middles:
            ends = max(middle - self._width / 2, low), min(middle + self._width / 2, high)
            sides = [
                ((1 - p) * (w - (1 - middle) * gap * u) - p * (x + middle * gap * z), p * z - (1 - p) * u) for p in ends
            ]
            for c, d in pairwise(cuts):
                corners.append([base + mean * slope for base, slope in sides for mean in (c, d)])
        weights = np.maximum(middles * (1 - middles), 1e-3)
        return np.array(corners), np.repeat(weights, self._cuts)

    @cached_property
    def _cuts(self) -> int:
        """Into how many parts the interval of the mean is cut."""
        (low, high), (least, most) = self.band
        p, c = (low + high) / 2, (least + most) / 2
        (w, x), (u, z) = self.scores.sums, self.scores.shares
        slope = p * z - (1 - p) * u
        level = (1 - p) * w - p * x + c * slope
        sizes = [math.sqrt(float(score**2 @ self.counts) / self.answers) for score in (slope, level)]
        return int(np.clip(math.ceil((most - least) / 2 * sizes[0] / (_ALIKE * max(sizes[1], 1e-300))), 1, _CUTS))

    def margin(self, value: float) -> float:
        """Return how far a gap is beyond what is accepted: below zero if it is accepted.

        Guarantee: the right gap is accepted with probability at least 1 - alpha, for any number of answers.
        """
        cells, weights = self._cells(value)
        averages = cells @ self.counts / self.answers
        least, most = averages.min(axis=1), averages.max(axis=1)
        if ((least <= 0) & (most >= 0)).any():
            return -float((np.maximum(-least, most) / weights).max()) - 1e-12
        # Zero is outside of every cell: which corner is nearest to it, and on which side of it.
        nearest = np.where(least > 0, least, most)
        sizes = self._sizes(value)
        lost = self._money(cells, sizes) < math.log(2 / (_BETS * self.alpha))
        if not lost.any():
            return float((np.abs(nearest) / weights).min())
        cells, weights, nearest = cells[lost], weights[lost], nearest[lost]
        every, beyond = self._tails(cells, sizes), math.inf
        for number in np.argsort(np.abs(nearest) / weights):
            cell, average = cells[number : number + 1], float(nearest[number])
            scale = math.sqrt(self._upper(cell, sizes) / self.answers)
            # What is near is accepted whatever is left to pay, and what is far for all cells is far for this one.
            z = abs(average) / scale
            if z > self._nearest_z:
                z = self._far(every, average, scale)
                if z <= self._nearest_z and len(cells) > 1:
                    z = self._far(self._tails(cell, sizes), average, scale)
            beyond = min(beyond, (z - self._nearest_z) * scale / float(weights[number]))
            if beyond < 0:
                break
        return float(beyond)

    @cached_property
    def _nearest_z(self) -> float:
        return float(-ndtri(_MEAN * self.alpha / 2))

    def _far(self, tails: Tails | None, average: float, scale: float) -> float:
        """Return how many standard deviations of the normal law are as unlikely as the average is at most."""
        if tails is None:
            return 0.0
        most = np.minimum(tails.moments.most, max(scale**2 * self.answers, float(tails.moments.least[0])))
        # Cases whose variance is beyond the cell's own bound are not there.
        there = tails.moments.least <= most
        likely = np.where(there, (tails.above(average, most) if average > 0 else tails.below(-average, most)), 0.0)
        return -float(ndtri(np.clip(likely.max(), 1e-300, 1.0)))

    def _sizes(self, gap: float) -> Vector:
        """Return how large psi can be for each symbol, whatever p, c and pi are: it is linear in each of them."""
        (w, x), (u, z) = self.scores.sums, self.scores.shares
        corners = [
            (1 - p) * (w - (c + (1 - middle) * gap) * u) - p * (x - (c - middle * gap) * z)
            for p in (0, 1)
            for c in (-1, 1)
            for middle in (0, 1)
        ]
        return np.asarray(np.abs(corners).max(axis=0)) * (1 + 1e-9)

    def _money(self, cells: Cube, sizes: Vector) -> Vector:
        """Return the logarithm of what bets against each cell have won at least."""
        largest = float(self.laws.most((self.laws.rows @ sizes**2)[:, None])[0])
        stakes = np.sqrt(2 * math.log(2 / (_BETS * self.alpha)) / (self.answers * largest * _STAKED))
        stakes = np.minimum(stakes, BOLDEST / float(sizes.max()))
        won = []
        for gains in (cells.min(axis=1), -cells.max(axis=1)):
            each = [np.log1p(stake * gains) @ self.counts for stake in stakes]
            won.append(np.max(each, axis=0) - math.log(len(stakes)))
        return np.asarray(np.maximum(*won))

    def limit(self, value: float) -> float:
        """Return about how far from the estimate gaps are accepted."""
        cells, weights = self._cells(value)
        middles = cells.mean(axis=1)
        number = int(np.abs(middles @ self.counts).argmin())
        high = float(middles[number] ** 2 @ self.counts) / self.answers
        return self._nearest_z * math.sqrt(high / self.answers) / float(weights[number])

    def _upper(self, cell: Cube, sizes: Vector) -> float:
        square = (cell**2).max(axis=(0, 1))
        most = float(self.laws.most((self.laws.rows @ square)[:, None])[0])
        found = upper_mean(square, self.counts, _UPPER * self.alpha, most, float(sizes.max()) ** 2)
        return min(found, most)

    def _tails(self, cells: Cube, sizes: Vector) -> Tails | None:
        """Return how likely averages are, for every share and mean in any of the cells; None if nothing is known."""
        low, high = cells.min(axis=(0, 1)), cells.max(axis=(0, 1))
        middle, half = (low + high) / 2, (high - low) / 2
        largest = np.maximum(low**2, high**2)
        smallest = np.where(low * high > 0, np.minimum(low**2, high**2), 0.0)
        second, blur = (float(found) for found in self.laws.most(self.laws.rows @ np.column_stack([largest, half])))
        size = float(sizes.max()) ** 2
        top = min(upper_mean(largest, self.counts, _UPPER * self.alpha, second, size), second)
        bottom = lower_mean(smallest, self.counts, _LOWER * self.alpha, 0.0, 0.0)
        if bottom <= 1e-3 * top:
            return None
        count = int(np.clip(np.ceil(np.log(top / bottom) / np.log(1.05)), 1, 60))
        edges = np.geomspace(bottom, max(top, bottom), count + 1)
        fourths = self._given(low, high, 4, edges[1:])
        # E psi^4 >= (E psi^2)^2: where it cannot be, no law has a variance in the cell, and it costs nothing.
        there = fourths >= edges[:-1] ** 2
        if not there.any():
            return None
        least, most, fourths = edges[:-1][there], edges[1:][there], fourths[there]
        caps = np.sqrt(most * fourths)
        above, below = (np.clip(self._given(*ends, 3, most), 0.0, caps) for ends in ((low, high), (-high, -low)))
        moments = Moments(least, most, (-below, above), fourths, math.sqrt(float(largest.max())))
        grid, scale = grid_of(self.answers), (top * bottom) ** 0.25
        bound = modulus(self.laws, middle, grid.points / scale) + grid.points[1:] / scale * blur
        return Tails(self.answers, Heard(grid, scale, np.minimum(bound, 1.0)), moments)

    def _given(self, low: Vector, high: Vector, power: int, variances: Vector) -> Vector:
        r"""Return the largest moment of psi, which is between two numbers for each symbol, at most at these variances.

        .. math:: E \psi^n \le \min_{\mu \ge 0} \Big( \max_q E_q \max_{p,c} (\psi^n - \mu \psi^2) + \mu V \Big)

        Between two numbers x^n - mu x^2 is largest at one of them, or at 0 if that is between them.
        """
        size = max(float(np.abs(low).max()), float(np.abs(high).max()))
        prices = size ** (power - 2) * _PRICES
        ends = [x[:, None] ** power - np.multiply.outer(x**2, prices) for x in (low, high)]
        largest = np.maximum(*ends)
        largest = np.where(((low < 0) & (high > 0))[:, None], np.maximum(largest, 0.0), largest)
        return np.asarray((self.laws.most(self.laws.rows @ largest) + np.multiply.outer(variances, prices)).min(axis=1))
