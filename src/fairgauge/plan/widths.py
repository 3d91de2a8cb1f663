"""How wide an interval will be, before a single answer: by the same functions that the estimate uses."""

import math
from dataclasses import replace

from scipy.special import ndtr, ndtri

from fairgauge.channel import Channel
from fairgauge.designs import Goal
from fairgauge.estimate.intervals import Method, normal
from fairgauge.estimate.spread import Spread


def planned_width(goal: Goal, channel: Channel, answers: float, method: Method, alpha: float) -> float:
    """Return the half-width of the worst of the wanted numbers, in [-1, 1] units.

    For more than two groups the gaps' intervals hold together, as they do in the estimate.
    """
    if goal.target == "means":
        return _worst(goal, channel, answers, method, alpha)
    if goal.shares_known or method is normal:
        return _worst(goal, channel, answers, method, alpha / len(goal.pairs))
    # Such a gap is estimated as the difference of two means whose intervals hold together.
    return 2 * _worst(replace(goal, target="means"), channel, answers, method, alpha / goal.groups)


def planned_power(goal: Goal, channel: Channel, answers: float, width: float, gap: float) -> float:
    """Return how often an interval of this half-width will exclude 0 if the gap has this size.

    Guarantee: asymptotic; for the worst values that clients can hold.
    """
    deviation = math.sqrt(goal.variance(channel) / answers)
    return float(ndtr((abs(gap) - width) / deviation) + ndtr((-abs(gap) - width) / deviation))


def _worst(goal: Goal, channel: Channel, answers: float, method: Method, alpha: float) -> float:
    decoder = goal.decoder(channel)
    shares = goal.share_vector if goal.shares_known else None
    widths = []
    for functional, centre in goal.wanted(decoder.inputs):
        score = decoder.score(functional)
        if score is None:
            return math.inf
        if method is normal:
            # With estimated shares the estimate sees the variance in the counts; here the guessed shares stand in.
            variance = decoder.variance(score, centre=centre)
            widths.append(-float(ndtri(alpha / 2)) * math.sqrt(variance / answers))
        else:
            widths.append(max(method(Spread(decoder, score, shares), answers, alpha)))
    return max(widths)
