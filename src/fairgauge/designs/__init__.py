"""Designs: ways of making a channel for a goal.

========================  ==========================================================================
``randomized-response``   the paper's M_R with the allocation that makes it private
``laplace``               the paper's M_L (k = 2) on a lattice, with tails as single symbols
``optimal``               the least worst-case variance there is; never worse than the other two
``auto``                  whichever of them has the least variance
========================  ==========================================================================

Every design ends in a table of integers whose privacy is checked exactly, and every variance is computed from that
table.
"""

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

from fairgauge.channel import Channel
from fairgauge.designs.laplace import laplace
from fairgauge.designs.optimal import optimal
from fairgauge.designs.randomized_response import randomized_response
from fairgauge.errors import InvalidInput
from fairgauge.goals.goal import Goal

__all__ = ["AUTO", "DESIGNS", "make_channel"]

AUTO = "auto"
DESIGNS: dict[str, Callable[[Goal, Decimal], Channel]] = {
    "randomized-response": randomized_response,
    "laplace": laplace,
    "optimal": optimal,
}
# Beyond these a table of 2^53 draws cannot express the channel, or privacy means nothing.
LEAST_EPSILON, MOST_EPSILON = Decimal("0.001"), Decimal(12)


@lru_cache(maxsize=256)
def make_channel(goal: Goal, epsilon: Decimal, *, design: str = AUTO) -> tuple[str, Channel]:
    """Make a channel, and return the name of the design that made it beside it.

    Guarantee: the channel's exact epsilon, computed from its integers, is at most the epsilon asked for.

    Raises:
        InvalidInput: If the design is not known, or epsilon is outside what a table can hold.
    """
    if design not in (AUTO, *DESIGNS):
        raise InvalidInput("design", design, f"must be one of {', '.join([AUTO, *DESIGNS])}")
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise InvalidInput("epsilon", epsilon, f"must be from {LEAST_EPSILON} to {MOST_EPSILON}")
    if design != AUTO:
        return design, DESIGNS[design](goal, epsilon)
    channels = {name: make(goal, epsilon) for name, make in DESIGNS.items()}
    # Where a simple design is as good as the optimum, it is the better choice: fewer symbols, easier to check.
    least = goal.variance(channels["optimal"])
    return next((name, channel) for name, channel in channels.items() if goal.variance(channel) <= least * 1.001)
