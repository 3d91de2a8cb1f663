"""What more privacy costs: the error against epsilon, for so many clients."""

from collections.abc import Sequence
from decimal import Decimal

from fairgauge.channel import Channel
from fairgauge.designs import make_channel
from fairgauge.estimation.kinds import LIVE, check_confidence, kind_of
from fairgauge.goals.goal import Goal
from fairgauge.goals.wish import Wish
from fairgauge.planning.tables import answering, goal_on
from fairgauge.planning.widths import planned_width
from fairgauge.study import Metric


def errors_for(
    goal: Goal, metric: Metric, epsilons: Sequence[Decimal], *, clients: int, confidence: float = 0.99
) -> list[tuple[float, float]]:
    """Return for each epsilon the half-width that so many clients give with the best design, watched at any time.

    It is in the metric's units.
    """
    kind, alpha = kind_of(LIVE), check_confidence(confidence)

    def error(design: str, channel: Channel) -> float:
        return metric.scale * planned_width(goal.by(design), channel, clients, kind, alpha)

    return [(float(epsilon), error(*make_channel(goal, epsilon))) for epsilon in epsilons]


def errors_together(
    wishes: Sequence[Wish], epsilons: Sequence[Decimal], *, clients: int, confidence: float = 0.99
) -> list[list[tuple[float, float]]]:
    """Return the same for each question of a study of several, which share the clients as the study's tables do."""
    kind, alpha = kind_of(LIVE), check_confidence(confidence)
    found: list[list[tuple[float, float]]] = [[] for _ in wishes]
    for epsilon in epsilons:
        tables = answering(wishes, epsilon)
        for table in tables:
            for axis, place in enumerate(table.wishes):
                goal = goal_on([Goal.of(wishes[n]) for n in table.wishes], table.design, axis)
                width = planned_width(goal, table.channel, clients / len(tables), kind, alpha)
                found[place].append((float(epsilon), wishes[place].metric.scale * width))
    return found
