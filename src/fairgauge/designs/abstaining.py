"""Seven and more groups of known shares, where people may abstain: signed subsets, and now and then another question.

Who abstains answers signed subsets as somebody with a random group and a random value does: then every group's sum is
told as before.  A small part of the answers is about whether one abstains, which tells how many answered.
"""

from dataclasses import replace
from decimal import Decimal

import numpy as np

from fairgauge.channel import ROW_SUM, Channel
from fairgauge.designs.many import many
from fairgauge.designs.rounding import exact_channel
from fairgauge.designs.same_bits import exponential
from fairgauge.goals.goal import Goal
from fairgauge.goals.inputs import Inputs, Matrix

# The part of the answers that is about abstaining: how many answered matters little for gaps, more for means.
_ASKED = {"gap": 0.03, "means": 0.1}


def many_abstaining(goal: Goal, epsilon: Decimal) -> Channel:
    """Make signed subsets for people who may abstain."""
    plain = many(replace(goal, abstain=False, symbols=goal.symbols - 2), epsilon)
    rows: Matrix = np.array(plain.table, dtype=np.float64) / ROW_SUM
    # The levels are even, so that values at random average to nothing.
    rows = np.vstack([rows, rows.mean(axis=0)])
    high, part = exponential(epsilon), _ASKED[goal.target]
    asked = np.tile([1.0, high], (len(rows), 1))
    asked[-1] = asked[-1, ::-1]
    inputs = Inputs.of(plain)
    law = np.hstack([(1 - part) * rows, part * asked / (1 + high)])
    return exact_channel(law, replace(inputs, abstain=True), epsilon)
