"""Randomized response on (group, sign): the paper's M_R with the allocation that makes it private.

The paper keeps the group with budget e1 and the bit with budget e2, and claims max(e1, e2).  The exact loss is
max(e2, e1 + ln(2 e^e2 / (1 + e^e2))), so e2 = e and e1 = ln((e^e + 1) / 2) is the best sound choice, and it is
generalized randomized response on the 2d pairs: the true pair with probability e^e / (e^e + 2d - 1).
"""

from decimal import Decimal

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.rounding import exact_channel
from fairgauge.goals.goal import Goal
from fairgauge.goals.inputs import Inputs, Matrix


def response_rows(inputs: int, epsilon: float) -> Matrix:
    """Return the law of generalized randomized response on so many inputs."""
    # Decimals, because processors round the last bit of exp differently: this design's table is the same on all.
    more = float(Decimal(epsilon).exp() - 1)
    rows: Matrix = (np.ones((inputs, inputs)) + more * np.eye(inputs)) / (inputs + more)
    return rows


def randomized_response(goal: Goal, epsilon: Decimal) -> Channel:
    """Make the sound M_R for any number of groups; abstaining is one more pair."""
    inputs = Inputs(goal.groups, np.array([-1.0, 1.0]), goal.abstain)
    return exact_channel(response_rows(inputs.count, float(epsilon)), inputs, epsilon)
