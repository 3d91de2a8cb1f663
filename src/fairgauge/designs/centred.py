"""The design of least total error about a population, for the gap of two groups.

With known shares the score may have a constant of its own, and the best one is part of the design.  With shares to
estimate the constant is the mean that is expected (the gap's influence function says so), and a small part of
randomized response identifies everything else.
"""

from decimal import Decimal

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.centred_several import centred_several
from fairgauge.designs.levels import even_levels, levels_about
from fairgauge.designs.rounding import exact_channel
from fairgauge.designs.total import TotalProblem
from fairgauge.goals.goal import Goal
from fairgauge.goals.inputs import Matrix, Vector

# How many levels up to an epsilon: with more, rounding to them costs less and the program takes longer.
_LEVELS = {0.5: 7, 1: 9, 4: 11}
_MORE_LEVELS = 13
# A symmetry makes the program smaller, so that it can have more levels: equal groups, and values about the middle.
_EQUAL_LEVELS = {0.5: 7, 1: 9, 2: 11, 8: 13}
_MIRRORED_LEVELS = {0.5: 7, 1: 9, 2: 13}
_MORE_MIRRORED_LEVELS = 17
# How much randomized response is mixed in where shares are estimated.
_IDENTIFYING = 0.05


def serves(goal: Goal) -> bool:
    """Return whether a centred design is known for the goal: gaps, without abstaining.

    Where shares are estimated the constant is the expected mean, so one must be expected.
    """
    if goal.groups > 2:
        return goal.target == "gap" and goal.relies_on_shares
    return goal.target == "gap" and not goal.abstain and (goal.shares_known or goal.expect is not None)


def centred(goal: Goal, epsilon: Decimal) -> Channel:
    """Make the channel of least total error."""
    if goal.groups > 2:
        return centred_several(goal, epsilon)
    first, second = goal.shares
    problem = TotalProblem(
        levels=_levels(goal, float(epsilon)),
        shares=(first, second),
        epsilon=epsilon,
        reckoning=goal.aim,
        constant=None if goal.shares_known else goal.aim.mean,
    )
    law = problem.unfolded(problem.solve())
    if not goal.shares_known:
        law = np.hstack([(1 - _IDENTIFYING) * law, _IDENTIFYING * _responses(problem)])
    return exact_channel(law, problem.inputs, epsilon)


def _levels(goal: Goal, epsilon: float) -> Vector:
    aim = goal.aim
    if aim.any_values:
        # Whatever the values are, two levels lose nothing: a second moment's largest average is at the ends.
        return even_levels(2)
    if aim.mean == 0:
        counts, more = _MIRRORED_LEVELS, _MORE_MIRRORED_LEVELS
    else:
        counts, more = (_EQUAL_LEVELS if goal.shares[0] == goal.shares[1] else _LEVELS), _MORE_LEVELS
    count = next((count for most, count in counts.items() if epsilon <= most), more)
    return even_levels(count) if goal.expect is None else levels_about(aim.mean, aim.widest, count)


def _responses(problem: TotalProblem) -> Matrix:
    """Return randomized response on (group, sign), for values between the ends too."""
    up = (1 + problem.levels) / 2
    own = np.zeros((problem.inputs.count, 4))
    for g, block in enumerate(problem.inputs.blocks):
        own[block, 2 * g : 2 * g + 2] = np.column_stack([1 - up, up])
    more = problem.high - 1
    return (1 + more * own) / (4 + more)
