"""What more privacy costs: the error against epsilon, for so many clients."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from fairgauge.estimation.kinds import LIVE, check_confidence, kind_of
from fairgauge.planning.means import means_sentence, simple_means
from fairgauge.planning.parts import PlanPart, Reading, planned_means, planned_parts
from fairgauge.planning.table_pairing import best_tables
from fairgauge.planning.widths import planned_width
from fairgauge.study import Question, Study
from fairgauge.targets.target import Goal


def errors_for(
    questions: Sequence[Question], epsilons: Sequence[Decimal], *, clients: int, confidence: float = 0.99
) -> list[list[tuple[float, float]]]:
    """Return for each question, and each epsilon, the half-width that so many clients give, watched at any time.

    It is in the metric's units, with the tables that a study of all questions would have, which share the clients.
    """
    kind, alpha = kind_of(LIVE), check_confidence(confidence)
    found: list[list[tuple[float, float]]] = [[] for _ in questions]
    for epsilon in epsilons:
        tables = best_tables(questions, epsilon, clients=clients)
        for table in tables:
            for place, question in zip(table.places, table.questions, strict=True):
                width = planned_width(Goal.of(question), question.channel, clients / len(tables), kind, alpha)
                found[place].append((float(epsilon), question.metric.scale * width))
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


def parts_for(
    questions: Sequence[Question], epsilon: Decimal, *, clients: int, confidence: float = 0.99
) -> list[Parts]:
    """Return for each question what every comparison or mean will be known to, watched at any time.

    The worst of them is what :func:`errors_for` gives.
    """
    tables, found = best_tables(questions, epsilon, clients=clients), dict[int, Parts]()
    for table in tables:
        for place, question in zip(table.places, table.questions, strict=True):
            found[place] = _parts(question, clients, len(tables), check_confidence(confidence))
    return [found[place] for place in range(len(questions))]


def parts_of_study(study: Study, *, clients: int, confidence: float = 0.99) -> list[Parts]:
    """Return the same for a study whose tables are made."""
    alpha = check_confidence(confidence)
    return [_parts(question, clients, len(study.tables), alpha) for question in study.questions]


def _parts(question: Question, clients: int, tables: int, alpha: float) -> Parts:
    goal, channel, attribute = Goal.of(question), question.channel, question.attribute
    reading = Reading(clients, kind_of(LIVE), alpha, question.metric, tables)
    parts = planned_parts(goal, channel, attribute, reading)
    means = parts if goal.target == "means" else planned_means(goal, channel, attribute, reading)
    alone = replace(goal, axis=0, beside=())
    simple = simple_means(alone, Decimal(question.epsilon), attribute, reading.metric)
    beside = {name: tables * variance for name, variance in simple.items()}
    return Parts(parts, () if goal.target == "means" else means, means_sentence(means, beside, target=goal.target))
