"""What it would save to say what one expects, in one sentence."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from fairgauge.designs import designs_for, make_channel
from fairgauge.goals.goal import CENTRED, Goal
from fairgauge.study import Metric

# Where most metrics that are worth measuring lie: a recall of 0.9.
_LIKELY = 0.8
_HARDLY = 0.01


def expectation_saves(goal: Goal, epsilon: Decimal, metric: Metric) -> str | None:
    """Return how many clients an expectation would save; None where it is given or of no use, or for several gaps.

    The total error of a design made for the expected mean is compared with that of the design made for none, if the
    groups have that mean: the clients needed for an error are in proportion.
    """
    if goal.share_error:
        return None  # what is saved is not in proportion then
    if goal.groups > 2 or goal.expect is not None or not goal.shares_known or CENTRED not in designs_for(goal):
        return None
    likely = _likely(metric)
    told = replace(goal, expect=likely, design=CENTRED)
    best = told.variance(make_channel(told, epsilon, design=CENTRED)[1])
    untold = goal.by(CENTRED).variance_if(make_channel(goal, epsilon, design=CENTRED)[1], told.aim)
    saved = 1 - best / untold
    level = f"{metric.to_metric(likely):.4g}"
    much = "hardly any clients" if saved < _HARDLY else f"{100 * saved:.0f} % of the clients"
    return f"If you expect the {metric.name} to be near {level}, --expect {level} would save {much} at this epsilon."


def _likely(metric: Metric) -> float:
    """Return what people would expect: of what can be negative, such as a difference of two models, about nothing."""
    return metric.to_v(0) if Fraction(metric.low) < 0 < Fraction(metric.high) else _LIKELY
