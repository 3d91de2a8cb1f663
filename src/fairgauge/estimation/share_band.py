r"""The band in which the split of those who answered lies, and what it does to a gap and to a mean.

*The band*, by what a study says of how often groups answer.

Groups g have the shares p_g of the population, each known to a stated error, and answer at rates of which none is more
than G times another.  Then side A of some groups and side B of others have among the answers

.. math:: \frac{q_A}{q_B} \in \Big[\frac{1}{G} \min \frac{p_A}{p_B},\; G \max \frac{p_A}{p_B}\Big] ,

because each of the two is a weighted average of rates.  G = 1 is a split that is known, and with no limit to G the
split may be anything.

*Shares that are known up to a band.*

If the share of group g is p'_g and not p_g, the score that is made for p averages to

.. math:: \theta = \sum_g p'_g\, E[s \mid g, m_g] ,

not to the gap.  An interval of theta is a strip for the two sums X = p'_A m_A and Y = p'_B m_B, because
theta is linear in them and in p'.  The means are between -1 and 1, and where the channel tells them, X / p_A and
Y / p_B are in intervals too.  A gap X / p'_A - Y / p'_B is accepted if it fits for some p' in the band.

The band is cut into cells.  Within a cell the strip and the box are taken as wide as they are anywhere in it.  For
given sums the gap is monotone in each share, so it is largest at ends of the cell, and there it is linear in the sums:
largest at a corner of that polygon.  So nothing between the ends of a cell is missed.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.estimation.interval import Interval
from fairgauge.targets.channel_inputs import Inputs, Matrix, Vector
from fairgauge.targets.comparisons import Pair, Side, members


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


# Cells of the band: along it for two groups, whose shares sum to 1; for each of two shares where there are more groups.
_LONG, _SQUARE = 400, 24
_LEAST_SHARE = 1e-9
# What rounding may move a corner by.
_CLOSE = 1e-9

_Cube = NDArray[np.float64]


class Readings(NamedTuple):
    """What counts tell if shares were exact: the gap, the two means if they are told, and the score's means."""

    gap: Interval
    means: tuple[Interval, Interval] | None
    told: Vector


def mean_in_band(mean: Interval, band: Band, side: Side) -> Interval:
    """Return the interval of a mean that was read with the stated share.

    Guarantee: as that of the interval given, for every share in the band.
    """
    ends = [band.stated(side) / max(p, _LEAST_SHARE) for p in band.of(side)]
    found = [x * end for x in (mean.low, mean.high) for end in ends]
    return Interval(mean.estimate, max(min(found), -1.0), min(max(found), 1.0))


def gap_in_band(readings: Readings, band: Band, inputs: Inputs, pair: Pair) -> Interval:
    """Return the interval of a gap of groups whose shares may be off.

    Guarantee: as that of the intervals given together, for every share in the band.
    """
    shares = np.array([band.stated(side) for side in pair])
    # What the score averages to for each group: a line in the group's mean, the same for all groups of a side.
    blocks = [inputs.runs(inputs.blocks[members(side)[0]])[0] for side in pair]
    lines = np.array([np.polyfit(inputs.levels, readings.told[block], 1) for block in blocks])
    everyone = sum(len(members(side)) for side in pair) == len(band.shares)
    ends: tuple[slice, ...] = (slice(None),)
    edges = [np.linspace(*band.of(side), (_LONG if everyone else _SQUARE) + 1) for side in pair]
    first, second = (np.column_stack([ends[:-1], ends[1:]]) for ends in edges)
    if everyone:
        # Two shares sum to 1: what one has more the other has less.
        cells = np.stack([first, 1 - first], axis=1)
    else:
        number = np.indices((len(first), len(second))).reshape(2, -1)
        cells, ends = np.stack([first[number[0]], second[number[1]]], axis=1), (slice(None), slice(None, None, -1))
        cells = _possible(cells, *band.among(pair))
    levels = np.hstack([lines[0, 1] * cells[:, 0] + lines[1, 1] * cells[:, 1, each] for each in ends])
    strips = np.column_stack([readings.gap.low - levels.max(axis=1), readings.gap.high - levels.min(axis=1)])
    box = np.stack([-cells.max(axis=2), cells.max(axis=2)], axis=2)
    if readings.means is not None:
        told = shares[:, None] * np.array([[mean.low, mean.high] for mean in readings.means])
        box = np.stack([np.maximum(box[:, :, 0], told[:, 0]), np.minimum(box[:, :, 1], told[:, 1])], axis=2)
    found = [_largest(lines[side, 0], cells[:, side], box[:, side], strips) for side in ([0, 1], [1, 0])]
    if -found[1] > found[0]:
        return readings.gap
    return Interval(readings.gap.estimate, max(-found[1], -2.0), min(found[0], 2.0))


def _possible(cells: _Cube, low: float, high: float) -> _Cube:
    """Return the cells that hold two shares of which the first has such a part of both, and that sum to at most 1."""
    (least, most), (other_least, other_most) = cells[:, 0].T, cells[:, 1].T
    there = (
        (least + other_least <= 1) & (most * (1 - low) >= low * other_least) & (least * (1 - high) <= high * other_most)
    )
    return np.asarray(cells[there])


def _largest(slopes: Vector, cells: _Cube, box: _Cube, strips: Matrix) -> float:
    """Return the largest gap of the first group over the second in any cell; minus infinity if nothing fits.

    Args:
        slopes: How much a group's sum moves what the score averages to.
        cells: The ends of both shares in each cell: (cell, group, end).
        box: The least and the largest sum of both groups in each cell.
        strips: Between what the sums times their slopes add up to in each cell.
    """
    (a, b), ends = slopes, np.maximum(cells, _LEAST_SHARE)
    points = [(box[:, 0, i], box[:, 1, j]) for i in (0, 1) for j in (0, 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        for edge in strips.T:
            points += [(box[:, 0, i], (edge - a * box[:, 0, i]) / b) for i in (0, 1)]
            points += [((edge - b * box[:, 1, j]) / a, box[:, 1, j]) for j in (0, 1)]
    x, y = (np.array(each) for each in zip(*points, strict=True))
    between = ((x, *box[:, 0].T), (y, *box[:, 1].T), (a * x + b * y, *strips.T))
    there = np.all([(low - _CLOSE < of) & (of < high + _CLOSE) for of, low, high in between], axis=0)
    if not there.any():
        return -np.inf
    mean = np.max([x / ends[:, 0, i] for i in (0, 1)], axis=0)
    other = np.max([-y / ends[:, 1, j] for j in (0, 1)], axis=0)
    # A mean is at most 1, whatever is divided by.
    gaps = np.where(there, mean + other, -np.inf).max(axis=0)
    most = [np.where(there, each, -np.inf).max(axis=0) for each in (mean, other)]
    return float(np.minimum(gaps, np.minimum(most[0], 1.0) + np.minimum(most[1], 1.0)).max())
