"""The design ``centred``: the least total error about a population.

For the gap of two groups the total is least.  For the gaps of three and more, the largest ratio of a gap's total to
what it is measured by is least, and no gap's total is above that of randomized response.  All scores share one
constant, so that gaps add up.  For seven and more groups it is the best of signed subsets, symbols that ask one group
at a time, and randomized response, each with the best constant; for five and six that differ the second is tried too.
"""

from decimal import Decimal

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.few_groups import Measures, is_large, least_totals
from fairgauge.designs.many_groups import signed_subsets
from fairgauge.designs.references import total_measures
from fairgauge.designs.simple import randomized_response
from fairgauge.designs.two_groups import centred_two
from fairgauge.designs.windows import windows
from fairgauge.targets.target import FEW, Goal

# Above this epsilon a minute of solving a large program finds next to nothing that is better than one group at a time.
_SOLVED = 2.5
# What is aimed at beside randomized response, until it holds: scores by the table alone cost a little.
_SAFELY = (0.985, 0.95, 0.9)


def serves(goal: Goal) -> bool:
    """Return whether a centred design is known for the goal: gaps, without abstaining.

    Where shares are estimated the constant is the expected mean, so one must be expected.
    """
    if goal.groups > 2:
        return goal.target == "gap" and goal.relies_on_shares
    return goal.target == "gap" and not goal.abstain and (goal.shares_known or goal.expect is not None)


def centred(goal: Goal, epsilon: Decimal) -> Channel:
    """Make the channel of least total error."""
    return centred_two(goal, epsilon) if goal.groups == 2 else _several(goal, epsilon)


def _several(goal: Goal, epsilon: Decimal) -> Channel:
    """Make the channel whose gaps have the least totals for what each is measured by."""
    goal = goal.by("centred")
    simple = np.array(goal.by("randomized-response").totals(randomized_response(goal, epsilon)))
    units = total_measures(goal, epsilon)
    channels = [randomized_response(goal, epsilon)]
    if goal.groups > FEW or is_large(goal):
        found = windows(goal, epsilon)
        channels += [] if found is None else [found]
    if goal.groups > FEW:
        channels.append(signed_subsets(goal.by("uncentred"), epsilon))
    weights = np.array([contrast.weight for contrast in goal.contrasts])

    def worth(channel: Channel) -> tuple[bool, float]:
        totals = np.array(goal.totals(channel))
        return bool(np.any(totals > simple * (1 + 1e-9))), float((totals * weights / units).max())

    if goal.groups <= FEW and not (is_large(goal) and epsilon > _SOLVED):
        for part in _SAFELY:
            channels.append(least_totals(goal, epsilon, Measures(units, part * simple)))
            if not worth(channels[-1])[0]:
                break
    return min(channels, key=worth)
