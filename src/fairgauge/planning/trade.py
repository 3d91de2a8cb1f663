"""What more privacy costs: the error against epsilon, for so many clients."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from fairgauge.channel import Channel
from fairgauge.estimation.kinds import LIVE, check_confidence, kind_of
from fairgauge.goals.goal import Goal
from fairgauge.goals.wish import Wish
from fairgauge.planning.means import means_sentence, simple_means
from fairgauge.planning.parts import PlanPart, Reading, planned_means, planned_parts
from fairgauge.planning.serving import Size, serve
from fairgauge.planning.tables import answering, goal_on
from fairgauge.planning.widths import planned_width
from fairgauge.study import Attribute, Metric, Study


def errors_for(
    goal: Goal, metric: Metric, epsilons: Sequence[Decimal], *, clients: int, confidence: float = 0.99
) -> list[tuple[float, float]]:
    """Return for each epsilon the half-width that so many clients give with the best design, watched at any time.

    It is in the metric's units.
    """
    kind, alpha = kind_of(LIVE), check_confidence(confidence)

    def error(design: str, channel: Channel) -> float:
        return metric.scale * planned_width(goal.by(design), channel, clients, kind, alpha)

    return [(float(epsilon), error(*serve(goal, epsilon, Size(clients)))) for epsilon in epsilons]


def errors_together(
    wishes: Sequence[Wish], epsilons: Sequence[Decimal], *, clients: int, confidence: float = 0.99
) -> list[list[tuple[float, float]]]:
    """Return the same for each question of a study of several, which share the clients as the study's tables do."""
    kind, alpha = kind_of(LIVE), check_confidence(confidence)
    found: list[list[tuple[float, float]]] = [[] for _ in wishes]
    for epsilon in epsilons:
        tables = answering(wishes, epsilon, clients=clients)
        for table in tables:
            for axis, place in enumerate(table.wishes):
                goal = goal_on([Goal.of(wishes[n]) for n in table.wishes], table.design, axis)
                width = planned_width(goal, table.channel, clients / len(tables), kind, alpha)
                found[place].append((float(epsilon), wishes[place].metric.scale * width))
    return found


class Parts(NamedTuple):
    """What a question will tell.

    Args:
        parts: What it is for, the worst first: its comparisons, or each group's mean.
        means: Beside comparisons, each group's mean; none where the table tells none.
        about_means: What the means pay for it, if they do.
    """

    parts: tuple[PlanPart, ...]
    means: tuple[PlanPart, ...]
    about_means: str | None


def parts_together(wishes: Sequence[Wish], epsilon: Decimal, *, clients: int, confidence: float = 0.99) -> list[Parts]:
    """Return for each question of a study what every comparison or mean will be known to, watched at any time.

    The worst of them is what :func:`errors_for` and :func:`errors_together` give.
    """
    kind, alpha = kind_of(LIVE), check_confidence(confidence)
    tables, found = answering(wishes, epsilon, clients=clients), dict[int, Parts]()
    for table in tables:
        for axis, place in enumerate(table.wishes):
            wish = wishes[place]
            goal = goal_on([Goal.of(wishes[n]) for n in table.wishes], table.design, axis)
            reading = Reading(clients, kind, alpha, wish.metric, len(tables))
            found[place] = _parts(_Served(goal, table.channel, epsilon), wish.attribute, reading)
    return [found[place] for place in range(len(wishes))]


def parts_of_study(study: Study, *, clients: int, confidence: float = 0.99) -> list[Parts]:
    """Return the same for a study whose tables are made."""
    kind, alpha = kind_of(LIVE), check_confidence(confidence)
    return [
        _parts(
            _Served(Goal.of(question), question.channel, Decimal(question.epsilon)),
            question.attribute,
            Reading(clients, kind, alpha, question.metric, len(study.tables)),
        )
        for question in study.questions
    ]


class _Served(NamedTuple):
    """A goal, and the channel that serves it."""

    goal: Goal
    channel: Channel
    epsilon: Decimal


def _parts(served: _Served, attribute: Attribute, reading: Reading) -> Parts:
    goal, channel, epsilon = served
    parts = planned_parts(goal, channel, attribute, reading)
    means = parts if goal.target == "means" else planned_means(goal, channel, attribute, reading)
    simple = simple_means(replace(goal, axis=0, beside=()), epsilon, attribute, reading.metric)
    beside = {name: reading.tables * variance for name, variance in simple.items()}
    return Parts(parts, () if goal.target == "means" else means, means_sentence(means, beside, target=goal.target))
