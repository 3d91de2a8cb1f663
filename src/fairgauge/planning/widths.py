"""How wide an interval will be, before a single answer: by the same functions that the estimate uses."""

import math
from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from fairgauge.channel import Channel
from fairgauge.estimation.kinds import IntervalKind
from fairgauge.estimation.reader import Expected
from fairgauge.estimation.spread import Spread
from fairgauge.goals.decoder import Decoder
from fairgauge.goals.goal import Goal
from fairgauge.goals.inputs import Vector


def planned_width(goal: Goal, channel: Channel, answers: float, kind: IntervalKind, alpha: float) -> float:
    """Return the half-width of the worst of the wanted numbers, in [-1, 1] units.

    For more than two groups the gaps' intervals hold together, as they do in the estimate.
    """
    if goal.target == "means":
        return max(_widths(goal, channel, answers, kind, alpha))
    if goal.shares_known or kind.reader.one_score:
        return max(_widths(goal, channel, answers, kind, alpha / len(goal.pairs)))
    # Such a gap is estimated as the difference of two means whose intervals hold together.
    widths = _widths(replace(goal, target="means"), channel, answers, kind, alpha / goal.groups)
    # The widths of all means for one centre follow those for another.
    by_centre = [widths[start : start + goal.groups] for start in range(0, len(widths), goal.groups)]
    return max(sum(sorted(means)[-2:]) for means in by_centre)


def planned_power(goal: Goal, channel: Channel, answers: float, width: float, gap: float) -> float:
    """Return how often an interval of this half-width for a gap will exclude 0 if the gap has this size.

    Guarantee: asymptotic; for the worst values that clients can hold.
    """
    deviation = math.sqrt(goal.variance(channel) / answers)
    return float(ndtr((abs(gap) - width) / deviation) + ndtr((-abs(gap) - width) / deviation))


def _widths(goal: Goal, channel: Channel, answers: float, kind: IntervalKind, alpha: float) -> list[float]:
    decoder = goal.decoder(channel)
    shares = goal.share_vector if goal.shares_known else None
    widths = []
    for functional, centre in goal.wanted(decoder.inputs):
        score = decoder.score(functional)
        if score is None:
            widths.append(math.inf)
            continue
        drawn = centre is None or goal.shares_known
        variance = (
            Spread(decoder, score, shares).drawn_variance if drawn else _seen_variance(decoder, score, centre or 0.0)
        )
        widths.append(kind.reader.width(Expected(decoder, score, shares, variance), answers, alpha))
    return widths


def _seen_variance(decoder: Decoder, score: Vector, centre: float) -> float:
    """Return the largest variance that counts can show, for the guessed shares and values that average to a centre.

    Where shares are estimated the estimate relies on the variance in the counts, which holds the differences
    between clients too.  The score averages to zero, so its variance is its second moment: linear between levels, and
    largest if all values are at two levels.
    """
    second, levels = decoder.rows @ score**2, decoder.inputs.levels
    weights = decoder.inputs.weights(decoder.shares)
    left, right = levels <= centre, levels >= centre
    low, high = levels[left][:, None], levels[right][None, :]
    part = np.where(high > low, (centre - low) / np.maximum(high - low, 1e-300), 0.0)
    total = 0.0
    for block, weight in zip(decoder.inputs.blocks, weights, strict=True):
        here = second[block]
        if len(here) == 1:
            total += float(weight * here[0])
        else:
            total += float(weight * ((1 - part) * here[left][:, None] + part * here[right][None, :]).max())
    return total
