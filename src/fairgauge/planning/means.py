"""What a table that is made for comparisons tells of the groups' means, beside the simplest table there is."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from fairgauge.designs import make_channel
from fairgauge.designs.registry import SIMPLEST
from fairgauge.estimation.kinds import DEFAULT, kind_of
from fairgauge.planning.parts import PlanPart, Reading, planned_means
from fairgauge.planning.result import Plan
from fairgauge.study import Attribute, Metric, Question, Target
from fairgauge.targets.target import Goal

Names = tuple[str, ...]
# A mean that takes so many times the clients of randomized response is worth a word.
_MORE = 1.1


def simple_means(goal: Goal, epsilon: Decimal, attribute: Attribute | None, metric: Metric) -> dict[Names, float]:
    """Return what each group's mean varies by with randomized response, by name."""
    name, channel = make_channel(goal, epsilon, design=SIMPLEST)
    return _variances(planned_means(goal.by(name), channel, attribute, Reading(None, kind_of(DEFAULT), 0.01, metric)))


def means_of(question: Question) -> tuple[tuple[PlanPart, ...], dict[Names, float]]:
    """Return what each group's mean of a question varies by, and the same with randomized response, by name."""
    goal, reading = Goal.of(question), Reading(None, kind_of(DEFAULT), 0.01, question.metric)
    found = planned_means(goal, question.channel, question.attribute, reading)
    return found, simple_means(goal, Decimal(question.epsilon), question.attribute, question.metric)


def means_sentence(means: Sequence[PlanPart], simple: Mapping[Names, float], *, target: Target) -> str | None:
    """Return what the means pay for that a table is made for comparisons, or for the worst mean; None where nothing.

    Args:
        means: What is told of each group's mean; none where the table tells none.
        simple: What each varies by with randomized response.
        target: What the table is made for.
    """
    made, best = "It is made for comparisons", "--target means makes a table for the worst mean"
    if not means:
        return f"{made}, and tells no group's mean: {best}."
    ratios = {part.groups: part.variance / simple[part.groups] for part in means if simple.get(part.groups)}
    worst = max(ratios, key=lambda name: ratios[name], default=None)
    if worst is None or ratios[worst] < _MORE:
        return None
    times = f"{ratios[worst]:.0f}" if ratios[worst] >= 10 else f"{ratios[worst]:.2g}"
    more = f"for the same error the mean of {worst[0]} takes {times} times the clients of {SIMPLEST}"
    if target == "means":
        return f"It is made for the worst mean: {more}. If every mean matters, take design --design {SIMPLEST}."
    return f"{made}: {more}. If means matter, take design --design {SIMPLEST}; {best}."


def plan_means_sentence(plan: Plan) -> str | None:
    """Return the same for the best design of a plan; None where the plan has no randomized response to compare with."""
    best = None if plan.best is None else plan.row(plan.best)
    if best is None:
        return None
    simple = next((row for row in plan.rows if row.design == SIMPLEST and row.epsilon == best.epsilon), None)
    return None if simple is None else means_sentence(best.means, _variances(simple.means), target=plan.target)


def _variances(parts: Sequence[PlanPart]) -> dict[Names, float]:
    return {part.groups: part.variance for part in parts}
