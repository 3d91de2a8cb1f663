"""Yes-or-no questions from a Hadamard matrix: the family for more groups than the exact optimum can handle.

With known shares a client answers "is your value on the side that question k asks of your group?"; rows of the
matrix make the groups' questions orthogonal, so that one group's values do not disturb another's sum.  With
shares to estimate, or abstaining, the questions are about sets of (group, sign) pairs instead, from which everything
can be told.  Both beat randomized response at small epsilon by a factor that grows with the number of groups.
"""

from decimal import Decimal

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.rounding import exact_channel
from fairgauge.designs.signs import Signs
from fairgauge.goals.goal import Goal
from fairgauge.goals.inputs import Inputs


def hadamard(goal: Goal, epsilon: Decimal) -> Channel:
    """Make the channel of Hadamard questions."""
    inputs = Inputs(goal.groups, np.array([-1.0, 1.0]), goal.abstain)
    if goal.shares_known and not goal.abstain:
        questions = _questions(goal.groups)[:, : goal.groups]
        agrees = np.repeat(questions, 2, axis=1) * np.tile([-1, 1], goal.groups)
    else:
        # The first row and the first column are all ones and tell nothing apart.
        agrees = _questions(inputs.count + 1)[1:, 1 : inputs.count + 1]
    likely = np.vstack([agrees, -agrees]) > 0
    weights = np.where(likely, np.exp(float(epsilon)), 1.0).T
    return exact_channel(weights / weights.sum(axis=1, keepdims=True), inputs, epsilon)


def _questions(least: int) -> Signs:
    """Return Sylvester's matrix of at least so many rows; the first row and the first column are all ones."""
    found = np.array([[1]])
    while len(found) < least:
        found = np.kron(np.array([[1, 1], [1, -1]]), found)
    return found
