"""What more privacy costs: the error against epsilon, for so many clients."""

from collections.abc import Sequence
from decimal import Decimal

from fairgauge.channel import Channel
from fairgauge.designs import make_channel
from fairgauge.estimation.intervals import check_confidence, check_interval
from fairgauge.goals.goal import Goal
from fairgauge.planning.widths import planned_width
from fairgauge.study import Metric


def errors_for(
    goal: Goal, metric: Metric, epsilons: Sequence[Decimal], *, clients: int, confidence: float = 0.99
) -> list[tuple[float, float]]:
    """Return for each epsilon the half-width that so many clients give with the best design, watched at any time.

    It is in the metric's units.
    """
    method, alpha = check_interval("anytime"), check_confidence(confidence)

    def error(design: str, channel: Channel) -> float:
        return metric.scale * planned_width(goal.by(design), channel, clients, method, alpha)

    return [(float(epsilon), error(*make_channel(goal, epsilon))) for epsilon in epsilons]
