"""Laplace noise on a lattice: the paper's M_L with k = 2, the only k for which it is private.

The group passes through randomized response with budget e1.  Who keeps the group sends v plus noise of budget
e2 for the whole range [-1, 1]; who does not sends noise about 0.  The loss is max(e2, e1 + e2/2).  Noise on a
lattice of step 1/N is two-sided geometric with ratio exp(-e2 / 2N).  Beyond the ends its tail is memoryless, so
all that an output there tells is "beyond": one symbol per end, and the table is finite without any clipping.
"""

from decimal import Decimal

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.levels import even_levels, levels_needed
from fairgauge.designs.randomized_response import response_rows
from fairgauge.designs.rounding import exact_channel
from fairgauge.goals.goal import Goal
from fairgauge.goals.inputs import Inputs, Matrix

_MOST_LEVELS = 33
_MOST_SYMBOLS = 150


def laplace(goal: Goal, epsilon: Decimal) -> Channel:
    """Make the sound M_L, with the budget split between group and value so that the variance is least."""
    most = min(_MOST_LEVELS, max(3, (_MOST_SYMBOLS // goal.groups - 1) // 2 * 2 + 1))
    count, needed = 0, 3
    while needed > count:
        count = needed
        channel = _best_split(goal, epsilon, count)
        needed = min(levels_needed(goal, goal.privacy_variance(channel), count), most)
    return channel


def _best_split(goal: Goal, epsilon: Decimal, count: int) -> Channel:
    # Loaded by who asks for this design: a third of a second that all others need not wait.
    from scipy.optimize import minimize_scalar

    inputs = Inputs(goal.groups, even_levels(count), goal.abstain)
    total = float(epsilon)

    def channel(part: float) -> Channel:
        return exact_channel(_rows(inputs, total - part * total / 2, part * total), inputs, epsilon)

    best = minimize_scalar(
        lambda part: goal.privacy_variance(channel(part)),
        bounds=(0.3, 1.0),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return min((channel(best.x), channel(1.0)), key=goal.privacy_variance)


def _rows(inputs: Inputs, group_epsilon: float, value_epsilon: float) -> Matrix:
    """Return the law for a budget of the group and a budget of the value."""
    m, d = len(inputs.levels), inputs.groups
    noise = _noise(m, value_epsilon)
    about_zero = noise[m // 2]
    keep = response_rows(d + inputs.abstain, group_epsilon)
    rows = np.zeros((inputs.count, d * m + inputs.abstain))
    for g, block in enumerate(inputs.blocks):
        for h in range(d):
            rows[block, h * m : (h + 1) * m] = keep[g, h] * (noise if g == h else about_zero)
        if inputs.abstain:
            rows[block, -1] = keep[g, -1]
    return rows


def _noise(m: int, epsilon: float) -> Matrix:
    """Return the law of the noisy level, for each of m levels."""
    half = m // 2
    ratio = np.exp(-epsilon / (2 * half))
    distance = np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    law: Matrix = ratio**distance / (1 + ratio)
    law[:, 1:-1] *= 1 - ratio
    return law
