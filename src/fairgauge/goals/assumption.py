"""What a variance assumes of the clients, in words and in the metric's units."""

import math

from fairgauge.goals.goal import Goal
from fairgauge.study import Metric


def assumption(goal: Goal, metric: Metric) -> str:
    """Return what the total variance of a goal assumes, for the sentence beside it.

    >>> assumption(Goal((0.5, 0.5), expect=0.8), Metric("recall", "0", "1"))
    'every group averages 0.9, with a standard deviation of at most 0.15'
    >>> assumption(Goal((0.5, 0.5), spread=None), Metric("recall", "0", "1"))
    'the worst level from 0.1 to 0.9, the same in every group, with any values'
    """
    means = [metric.to_metric(reckoning.mean) for reckoning in goal.reckonings]
    spread = goal.reckonings[0].spread
    values = "any values" if spread is None else f"a standard deviation of at most {spread * metric.scale:.4g}"
    if goal.abstain:
        values += f", and {100 * goal.abstaining:.4g} % who abstain"
    if goal.expect is not None:
        return f"every group averages {means[0]:.4g}, with {values}"
    if goal.relies_on_shares:
        return f"the worst level from {means[0]:.4g} to {means[-1]:.4g}, the same in every group, with {values}"
    named = ", ".join(f"{mean:.4g}" for mean in means[:-1])
    return f"the worst of the levels {named} and {means[-1]:.4g}, the same in every group, with {values}"


def condition(goal: Goal) -> str | None:
    """Return what a plan assumes of how often groups answer, to stand behind its numbers; None where nothing.

    >>> condition(Goal((0.5, 0.5))), condition(Goal((0.5, 0.5), shares_known=False))
    ('IF all groups answer equally often', None)
    >>> condition(Goal((0.5, 0.5), ratio=1.1))
    'if no group answers more than 1.1 times as often as another'
    """
    if goal.most_ratio == math.inf:
        return None
    if goal.most_ratio == 1:
        return "IF all groups answer equally often"
    return f"if no group answers more than {goal.most_ratio:g} times as often as another"
