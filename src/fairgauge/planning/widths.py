"""How wide an interval will be, before a single answer: by the kind of interval that the estimate will use.

Intervals about the clients who answered have a width that the table and the number of answers decide.  Intervals about
the population are as wide as its variance: the plan reckons with the goal's, and says so (``assumes``).
"""

import math
from dataclasses import replace
from functools import lru_cache

from scipy.special import ndtr

from fairgauge.channel import Channel
from fairgauge.estimation.kinds import IntervalKind
from fairgauge.estimation.reader import Expected
from fairgauge.goals.goal import Goal

# Of more numbers than this only those that vary most are asked for their width.
_MANY, _WIDEST = 15, 3


def planned_width(goal: Goal, channel: Channel, answers: float, kind: IntervalKind, alpha: float) -> float:
    """Return the half-width of the worst of the wanted numbers, in [-1, 1] units.

    For more than two groups the gaps' intervals hold together, as they do in the estimate.
    """
    if goal.target == "means":
        return max(_widths(goal, channel, answers, kind, alpha))
    if goal.shares_known or kind.reader.one_score:
        return max(_widths(goal, channel, answers, kind, alpha / len(goal.contrasts)))
    # Such a gap is estimated as the difference of two means whose intervals hold together.
    widths = _widths(replace(goal, target="means"), channel, answers, kind, alpha / goal.groups)
    # The widths of all means for one centre follow those for another.
    by_centre = [widths[start : start + goal.groups] for start in range(0, len(widths), goal.groups)]
    return max(sum(sorted(means)[-2:]) for means in by_centre)


def planned_power(goal: Goal, channel: Channel, answers: float, width: float, gap: float) -> float:
    """Return how often an interval of this half-width for a gap will exclude 0 if the gap has this size.

    Guarantee: asymptotic; for the worst values that are reckoned with.
    """
    deviation = math.sqrt(goal.variance(channel) / answers)
    return float(ndtr((abs(gap) - width) / deviation) + ndtr((-abs(gap) - width) / deviation))


def _widths(goal: Goal, channel: Channel, answers: float, kind: IntervalKind, alpha: float) -> list[float]:
    expected = _expected(goal, channel)
    if goal.relies_on_shares and len(expected) > _MANY and None not in expected:
        # The widest is one of those that vary most.
        most = sorted((e for e in expected if e is not None), key=lambda e: -e.variance)[:_WIDEST]
        return [kind.reader.width(e, answers, alpha) for e in most]
    return [math.inf if e is None else kind.reader.width(e, answers, alpha) for e in expected]


@lru_cache(maxsize=64)
def _expected(goal: Goal, channel: Channel) -> tuple[Expected | None, ...]:
    """Return what is reckoned with for each of the wanted numbers; None where the channel cannot tell it."""
    decoder = goal.decoder(channel)
    shares = goal.share_vector if goal.shares_known else None
    found: list[Expected | None] = []
    every = goal.wanted(decoder.inputs)
    for wanted, total in zip(every, goal.totals_by(decoder, every), strict=True):
        score = goal.score(decoder, wanted)
        found.append(None if score is None else Expected(decoder, score, shares, total))
    return tuple(found)
