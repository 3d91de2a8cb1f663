r"""The gap where shares are estimated too: one score instead of the difference of two ratios.

For a gap D between groups A and B, let p be the share of A among both, and w and u the scores of a group's sum and
share.  The score

.. math:: \psi = (1-p)\,\big(w_A - (c + (1-\pi) D)\, u_A\big) - p\,\big(w_B - (c - \pi D)\, u_B\big)

with pi = p averages to (c_0 - c)(p_0 - p) for the right gap, where p_0 is the true share and c_0 the mean of A less
(1 - p) D: to zero if *either* p or c is right, and to next to nothing if both nearly are.  So it is enough to know them
roughly (Berger and Boos, 1994): p is the middle of a cell that the true share lies in, and c is whatever fits the
intervals of both means,

.. math:: c \in (I_A - (1-p) D) \cap (I_B + p D) .

A gap is accepted if it is with some such p and c.  The share's interval and those of the means take a part of alpha,
and a gap that is not the difference of two values in them is rejected.  So what is accepted is never wider than the
difference of these intervals.

* psi is linear in c: over an interval of c its average is largest and least at the ends, and where it changes its sign
  it is zero somewhere inside, which accepts.
* The largest square of psi between the ends, symbol by symbol, bounds the variance from above for every c inside, the
  least one bounds it from below, and the same goes for higher moments.
* Bets on either side use the least gain at the ends, so no c inside would have won less.
* Between the ends |phi| differs from that at the middle by at most t E|difference|.

*Why the data may choose the cells.*  Shares are cut into cells that are fixed before any answer: by the table and the
number of answers.  The true share lies in one of them, and its middle is p.  For the right gap and that p there is one
right c.  Shares and means are cut into regions that are fixed too, and the stakes of all bets depend on the table, the
gap, the number of answers and the region alone: on how large psi can be in it.  So there is one score psi and one
martingale for each bet, fixed beforehand, and all of them stay small with the probability that is claimed.  A bet on
an interval that holds the right c wins no more than that martingale, because each of its factors is no larger, however
the interval was found within its region.  What is then computed (moments, |phi|, the tail) holds for every c in it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fairgauge.estimation.betting import BOLDEST, above_means, lower_mean, upper_mean
from fairgauge.estimation.edgeworth import Heard, Moments, Tails, grid_of, modulus
from fairgauge.estimation.laws import Laws
from fairgauge.goals.inputs import Matrix, Vector

# Parts of alpha: the share's interval and each of the means', then the variance from above and below, the bets, the
# average.
SHARE, SIDE = 0.06, 0.05
_UPPER, _LOWER, _BETS, _MEAN = 0.04, 0.02, 0.04, 0.74
# A cell of shares is one of these wide, and about so many make up an interval of the share.
_WIDTHS, _CELLS = (0.0025, 0.005, 0.01, 0.02, 0.05, 0.1), 8
# Regions of shares and of means.
_SHARES: Vector = np.linspace(0, 1, 11)
_MEANS: Vector = np.linspace(-1, 1, 9)
# An interval of c is cut until psi is nearly the same all over it.
_ALIKE, _CUTS = 0.1, 6
_NEVER = 1e30
# Prices of variance at which moments are bounded, as parts of the largest that can matter.
_PRICES: Vector = np.array([0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1])
# How wide a case of the variance is.
_RATIO = 1.08
_STAKED: Vector = np.array([1.0, 0.1, 0.01])

Cube = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Region:
    """The cells of a region of shares and means.

    Args:
        cells: psi at both ends of c in each cell.
        weights: How much a gap moves the average of psi in each.
        sizes: How large psi can be for each symbol, anywhere in the region.
    """

    cells: Cube
    weights: Vector
    sizes: Vector

    @cached_property
    def top(self) -> float:
        """The largest square of psi anywhere in the region."""
        return float(self.sizes.max()) ** 2

    def only(self, these: NDArray[np.bool_]) -> "Region":
        """Return some of the cells."""
        return Region(self.cells[these], self.weights[these], self.sizes)


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
        share: An interval of the first group's share among both, which may fail with probability ``SHARE`` alpha.
        means: Intervals of both groups' means; each may fail with probability ``SIDE`` alpha.
    """

    laws: Laws
    scores: PairScores
    counts: Vector
    alpha: float
    share: tuple[float, float]
    means: tuple[tuple[float, float], tuple[float, float]]

    @cached_property
    def extent(self) -> tuple[float, float]:
        """The range of gaps that both means allow."""
        (low, high), (least, most) = self.means
        return low - most, high - least

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
        return next((width for width in _WIDTHS if width >= wide), _WIDTHS[-1])

    def _psi(self, gap: float, p: float, middle: float) -> tuple[Vector, Vector]:
        """Return psi at c = 0, and what it gains with c."""
        (w, x), (u, z) = self.scores.sums, self.scores.shares
        slope = p * z - (1 - p) * u
        return (1 - p) * (w - (1 - middle) * gap * u) - p * (x + middle * gap * z), slope

    @cached_property
    def _shares(self) -> Vector:
        """The middles of the cells that the share's interval touches."""
        low, high = (min(max(end, 0.0), 1.0) for end in self.share)
        first = min(math.floor(low / self._width), round(1 / self._width) - 1)
        last = max(math.ceil(high / self._width - 1e-9), first + 1)
        return np.array([(number + 0.5) * self._width for number in range(first, last)])

    def _fitting(self, gap: float, p: float) -> tuple[float, float]:
        """Return which c fit both means, if the gap is right."""
        (low, high), (least, most) = self.means
        start, end = max(low - (1 - p) * gap, least + p * gap), min(high - (1 - p) * gap, most + p * gap)
        return max(start, -1.0), min(end, 1.0)

    def _regions(self, gap: float) -> Iterator[Region]:
        """Yield the regions in which some p and c fit a gap."""
        fitting = [(float(p), self._fitting(gap, float(p))) for p in self._shares]
        widest = max(end - start for _, (start, end) in fitting)
        if widest < 0:
            return
        step = max(widest / self._cuts, 1e-12)
        for a, b in pairwise(_SHARES):
            inside = [each for each in fitting if a < each[0] < b]
            if not inside:
                continue
            bases = [(self._psi(gap, p, middle)) for middle in (a, b) for p in (a, b)]
            for c, d in pairwise(_MEANS):
                cells, weights = [], []
                for p, (least, most) in inside:
                    start, end = max(least, c), min(most, d)
                    if end < start:
                        continue
                    cuts = np.linspace(start, end, max(1, math.ceil((end - start) / step - 1e-9)) + 1)
                    base, slope = self._psi(gap, p, p)
                    ends = base + np.multiply.outer(cuts, slope)
                    cells.append(np.stack([ends[:-1], ends[1:]], axis=1))
                    weights += [max(p * (1 - p), 1e-3)] * (len(cuts) - 1)
                if cells:
                    # Linear in the share, in the mean and in the middle: largest at corners.
                    corners = [base + mean * slope for base, slope in bases for mean in (c, d)]
                    sizes = np.abs(corners).max(axis=0) * (1 + 1e-9)
                    yield Region(np.concatenate(cells), np.array(weights), sizes)

    @cached_property
    def _cuts(self) -> int:
        """Into how many parts the longest interval of c is cut."""
        p = float(self._shares[len(self._shares) // 2])
        start, end = self._fitting(self.estimate, p)
        level, slope = self._psi(self.estimate, p, p)
        level = level + (start + end) / 2 * slope
        sizes = [math.sqrt(float(score**2 @ self.counts) / self.answers) for score in (slope, level)]
        return int(np.clip(math.ceil((end - start) / 2 * sizes[0] / (_ALIKE * max(sizes[1], 1e-300))), 1, _CUTS))

    def margin(self, value: float) -> float:
        """Return how far a gap is beyond what is accepted: below zero if it is accepted.

        Guarantee: the right gap is accepted with probability at least 1 - alpha, for any number of answers.
        """
        least, most = self.extent
        if not least <= value <= most:
            return _NEVER
        beyond = _NEVER
        regions = [(region, self._nearest(region.cells)) for region in self._regions(value)]
        for region, nearest in regions:
            if (nearest == 0).any():
                return -float(region.weights[nearest == 0].max())
        regions.sort(key=lambda told: float((np.abs(told[1]) / told[0].weights).min()))
        for region, nearest in regions:
            beyond = min(beyond, self._beyond(region, nearest))
            if beyond < 0:
                break
        return beyond

    def _nearest(self, cells: Cube) -> Vector:
        """Return the average of psi in each cell that is nearest to zero; zero if it changes its sign there."""
        averages = cells @ self.counts / self.answers
        least, most = averages.min(axis=1), averages.max(axis=1)
        return np.where(least > 0, least, np.where(most < 0, most, 0.0))

    def _beyond(self, region: Region, nearest: Vector) -> float:
        """Return how far the nearest of a region's cells is beyond what is accepted."""
        lost = self._money(region) < math.log(2 / (_BETS * self.alpha))
        far = float((np.abs(nearest) / region.weights).min())
        if not lost.any():
            return far
        region, nearest = region.only(lost), nearest[lost]
        squares = (region.cells**2).max(axis=1)
        # What is clearly far, by Bernstein's inequality.
        size, logarithm = math.sqrt(region.top), -math.log(_MEAN * self.alpha / 2)
        rough = self.answers * nearest**2 / (2 * logarithm) - size * np.abs(nearest) / 3
        lost = ~above_means(squares, self.counts, _UPPER * self.alpha, rough, region.top)
        if not lost.any():
            return far
        region, nearest, squares = region.only(lost), nearest[lost], squares[lost]
        # What is near is accepted whatever is left to pay.
        close = self.answers * (nearest / self._nearest_z) ** 2
        if not above_means(squares, self.counts, _UPPER * self.alpha, close, region.top).all():
            return self._one_by_one(region, nearest, squares)
        # What is far for all cells together is far for each.
        tails = self._tails(region)
        if tails is None:
            return self._one_by_one(region, nearest, squares)
        z, reach = tails.deviations(_MEAN * self.alpha / 2)
        most = self.answers * (np.maximum(np.abs(nearest) - reach / self.answers, 0.0) / z) ** 2
        left = ~above_means(squares, self.counts, _UPPER * self.alpha, most, region.top)
        return self._one_by_one(region.only(left), nearest[left], squares[left]) if left.any() else far

    def _one_by_one(self, region: Region, nearest: Vector, squares: Matrix) -> float:
        """Return how far the nearest cell is beyond what is accepted, or an accepted one."""
        beyond = _NEVER
        for number in np.argsort(nearest**2 / (squares @ self.counts)):
            high = upper_mean(squares[number], self.counts, _UPPER * self.alpha, region.top, region.top)
            scale = math.sqrt(high / self.answers)
            z = abs(float(nearest[number])) / scale
            if z > self._nearest_z:
                only = region.only(np.arange(len(nearest)) == number)
                z = self._far(self._tails(only), float(nearest[number]), high)
            beyond = min(beyond, (z - self._nearest_z) * scale / float(region.weights[number]))
            if beyond < 0:
                break
        return beyond

    @cached_property
    def _nearest_z(self) -> float:
        return float(-ndtri(_MEAN * self.alpha / 2))

    def _far(self, tails: Tails | None, average: float, high: float) -> float:
        """Return how many standard deviations of the normal law are as unlikely as the average is at most."""
        if tails is None:
            return 0.0
        # Cases whose variance is beyond the bound are not there.
        there = tails.moments.least <= high
        most = np.where(there, np.minimum(tails.moments.most, high), tails.moments.most)
        likely = tails.above(average, most) if average > 0 else tails.below(-average, most)
        return -float(ndtri(np.clip(likely[there].max(initial=0.0), 1e-300, 1.0)))

    def _money(self, region: Region) -> Vector:
        """Return the logarithm of what bets against each cell have won at least."""
        largest = float(self.laws.most((self.laws.rows @ region.sizes**2)[:, None])[0])
        stakes = np.sqrt(2 * math.log(2 / (_BETS * self.alpha)) / (self.answers * largest * _STAKED))
        stakes = np.minimum(stakes, BOLDEST / math.sqrt(region.top))
        won = []
        for gains in (region.cells.min(axis=1), -region.cells.max(axis=1)):
            each = [np.log1p(stake * gains) @ self.counts for stake in stakes]
            won.append(np.max(each, axis=0) - math.log(len(stakes)))
        return np.asarray(np.maximum(*won))

    def limit(self, value: float) -> float:
        """Return about how far from the estimate gaps are accepted."""
        found = []
        for region in self._regions(value):
            middles = region.cells.mean(axis=1)
            number = int(np.abs(middles @ self.counts).argmin())
            high = float(middles[number] ** 2 @ self.counts) / self.answers
            found.append(self._nearest_z * math.sqrt(high / self.answers) / float(region.weights[number]))
        least, most = self.extent
        return min(found, default=(most - least) / 2)

    def _tails(self, region: Region) -> Tails | None:
        """Return how likely averages are, for every share and mean in any of the cells; None if nothing is known."""
        low, high = region.cells.min(axis=(0, 1)), region.cells.max(axis=(0, 1))
        middle, half = (low + high) / 2, (high - low) / 2
        largest = np.maximum(low**2, high**2)
        smallest = np.where(low * high > 0, np.minimum(low**2, high**2), 0.0)
        second, blur = (float(found) for found in self.laws.most(self.laws.rows @ np.column_stack([largest, half])))
        top = min(upper_mean(largest, self.counts, _UPPER * self.alpha, second, region.top), second)
        bottom = lower_mean(smallest, self.counts, _LOWER * self.alpha, 0.0, 0.0)
        if bottom <= 1e-3 * top:
            return None
        count = int(np.clip(np.ceil(np.log(top / bottom) / np.log(_RATIO)), 1, 60))
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
