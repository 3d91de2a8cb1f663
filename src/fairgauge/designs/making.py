"""Making a channel by the name of a design, with its privacy checked whoever made it."""

import math
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.randomized_response import randomized_response
from fairgauge.designs.references import total_measures
from fairgauge.designs.registry import AUTO, designs_for, known_designs, tried_by_auto
from fairgauge.errors import Impossible, InvalidInput, NotPrivate
from fairgauge.goals.goal import Goal

# Beyond these a table of 2^53 draws cannot express the channel, or privacy means nothing.
LEAST_EPSILON, MOST_EPSILON = Decimal("0.001"), Decimal(12)
# Where a simpler design is as good as the best, it is the better choice: fewer symbols, easier to check.
_AS_GOOD = 1.001
SIMPLEST = "randomized-response"


def make_channel(goal: Goal, epsilon: Decimal, *, design: str = AUTO) -> tuple[str, Channel]:
    """Make a channel, and return the name of the design that made it beside it.

    Guarantee: the channel's exact epsilon, computed from its integers, is at most the epsilon asked for.

    Raises:
        InvalidInput: If the design is not known, or epsilon is outside what a table can hold.
        Impossible: If no table reaches what was asked.
        NotPrivate: If a design of another package breaks its promise.
    """
    check_design(design)
    # A table is made for the shares as they are stated; one that is made already need not be made again.
    goal = replace(goal, share_error=0.0)
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise InvalidInput("epsilon", epsilon, f"must be from {LEAST_EPSILON} to {MOST_EPSILON}")
    if design != AUTO:
        possible = designs_for(goal)
        if design not in possible:
            raise InvalidInput("design", design, f"does not serve this question; {', '.join(possible)} do")
        return design, _made(goal.by(design), epsilon)
    tried = tried_by_auto(goal)
    spared = {other for name in tried for other in known_designs()[name].instead_of}
    if goal.balanced:
        spared = set()  # of several gaps a design may serve some better and others worse
    channels: dict[str, Channel] = {}
    for name in tried:
        if name in spared:
            continue
        try:
            channels[name] = _made(goal.by(name), epsilon)
        except Impossible:
            continue
    if not channels:
        raise Impossible(f"no design makes a channel for epsilon={epsilon}")
    merits = _merits(goal, epsilon, channels)
    least = min(merits.values())
    best = next(name for name, merit in merits.items() if merit <= least * _AS_GOOD)
    return best, channels[best]


def _merits(goal: Goal, epsilon: Decimal, channels: dict[str, Channel]) -> dict[str, float]:
    """Return what each design is judged by, the less the better: its total, or the largest of its gaps' ratios.

    Of several gaps none shall be worse than with randomized response.
    """
    if not goal.balanced:
        return {name: goal.by(name).variance(channel) for name, channel in channels.items()}
    simple = np.array(goal.by(SIMPLEST).totals(randomized_response(goal, epsilon)))
    measures, found = total_measures(goal, epsilon), {}
    for name, channel in channels.items():
        totals = np.array(goal.by(name).totals(channel))
        weights = [wanted.weight for wanted in goal.wanted(goal.decoder(channel).inputs)]
        fair = bool(np.all(totals <= simple * (1 + 1e-9)))
        found[name] = float((totals * weights / measures).max()) if fair else math.inf
    return found


def check_design(design: str) -> None:
    """Refuse a name that no design has.

    Raises:
        InvalidInput: If the design is not known.
    """
    names = [AUTO, *known_designs()]
    if design not in names:
        raise InvalidInput("design", design, f"must be one of {', '.join(names)}")


@lru_cache(maxsize=256)
def _made(goal: Goal, epsilon: Decimal) -> Channel:
    design = goal.design
    channel = known_designs()[design].make(goal, epsilon)
    if not channel.within(epsilon):
        raise NotPrivate(f"design {design} made a table with epsilon {channel.epsilon!r}, above {epsilon}")
    if (channel.groups, channel.abstain) != (goal.groups, goal.abstain):
        raise InvalidInput("design", design, "made a table for other groups than those asked for")
    return channel
