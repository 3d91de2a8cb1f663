r"""Shares that are known up to an error: what that does to a gap and to a mean.

If the share of group g is p'_g and not p_g, the score that is made for p averages to

.. math:: \theta = \sum_g p'_g\, E[s \mid g, m_g] ,

not to the gap.  At each p' in the band this is linear in the two means, and an interval of theta is a strip.  The means
are between -1 and 1, and where the channel tells them, p'_g m_g / p_g is in an interval too.  A gap is accepted if for
some p' there are two such means with theta in its strip: the gap is a linear function of them, so it is largest at a
corner of that polygon.
"""

from typing import NamedTuple

import numpy as np

from fairgauge.estimation.estimands import Estimands
from fairgauge.estimation.values import Interval
from fairgauge.goals.inputs import Vector
from fairgauge.goals.sides import Pair, Side, members

# Corners of polygons move smoothly with the share, and are furthest out at the ends of the band nearly always.
_STEPS = 41
_LEAST_SHARE = 1e-9


class Readings(NamedTuple):
    """What counts tell if shares were exact: the gap, the two means if they are told, and the score's means."""

    gap: Interval
    means: tuple[Interval, Interval] | None
    told: Vector


def mean_with_error(mean: Interval, share: float, error: float) -> Interval:
    """Return the interval of a mean whose share may be off.

    Guarantee: as that of the interval given, for every share in the band.
    """
    ends = [share / max(p, _LEAST_SHARE) for p in (share - error, min(share + error, 1.0))]
    found = [x * end for x in (mean.low, mean.high) for end in ends]
    return Interval(mean.estimate, max(min(found), -1.0), min(max(found), 1.0))


def side_error(estimands: Estimands, side: Side) -> float:
    """Return how far the share of a side may be off: by what its groups may be, or all the others together."""
    count = len(members(side))
    return min(count, len(estimands.decoder.shares) - count) * estimands.share_error


def gap_with_error(readings: Readings, estimands: Estimands, pair: Pair) -> Interval:
    """Return the interval of a gap of groups whose shares may be off.

    Guarantee: as that of the intervals given together, for every share in the band.
    """
    if estimands.shares is None:
        raise ValueError("shares that are estimated have no declared error")
    inputs, first, second = estimands.decoder.inputs, *(estimands.share_of(side) for side in pair)
    # What the score averages to for each group: a line in the group's mean, the same for all groups of a side.
    blocks = [inputs.runs(inputs.blocks[members(side)[0]])[0] for side in pair]
    lines = [np.polyfit(inputs.levels, readings.told[block], 1) for block in blocks]
    band = [
        np.linspace(
            max(share - side_error(estimands, side), 0.0), min(share + side_error(estimands, side), 1.0), _STEPS
        )
        for share, side in zip((first, second), pair, strict=True)
    ]
    everyone = sum(len(members(side)) for side in pair) == len(estimands.shares)
    pairs = zip(band[0], 1 - band[0], strict=True) if everyone else ((p, q) for p in band[0] for q in band[1])
    low, high = np.inf, -np.inf
    for p, q in pairs:
        for gap in _corners(readings, lines, (float(p), float(q)), (first, second)):
            low, high = min(low, gap), max(high, gap)
    if low > high:
        return readings.gap
    return Interval(readings.gap.estimate, max(low, -2.0), min(high, 2.0))


def _corners(
    readings: Readings, lines: list[Vector], now: tuple[float, float], declared: tuple[float, float]
) -> list[float]:
    """Return the gaps at the corners of the polygon of means that fit."""
    box = []
    for g in (0, 1):
        low, high = -1.0, 1.0
        if readings.means is not None:
            part = declared[g] / max(now[g], _LEAST_SHARE)
            low, high = max(low, readings.means[g].low * part), min(high, readings.means[g].high * part)
        if low > high:
            return []
        box.append((low, high))
    slopes = [share * line[0] for share, line in zip(now, lines, strict=True)]
    level = sum(share * line[1] for share, line in zip(now, lines, strict=True))
    strip = readings.gap.low, readings.gap.high
    points = [(x, y) for x in box[0] for y in box[1]]
    for edge in strip:
        points += [(x, (edge - level - slopes[0] * x) / slopes[1]) for x in box[0] if slopes[1]]
        points += [((edge - level - slopes[1] * y) / slopes[0], y) for y in box[1] if slopes[0]]
    close = 1e-9
    return [
        x - y
        for x, y in points
        if box[0][0] - close <= x <= box[0][1] + close
        and box[1][0] - close <= y <= box[1][1] + close
        and strip[0] - close <= slopes[0] * x + slopes[1] * y + level <= strip[1] + close
    ]
