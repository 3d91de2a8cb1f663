"""What it costs not to know how often groups answer: one plan if they answer as they like, nearly alike, and alike."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any

from fairgauge.channel import Channel
from fairgauge.estimation.kinds import check_confidence, kind_of
from fairgauge.goals.goal import Goal
from fairgauge.planning.choose_design import choose_design
from fairgauge.planning.choosing import GOOD, enough
from fairgauge.planning.result import Plan
from fairgauge.planning.widths import planned_width
from fairgauge.study import Metric
from fairgauge.study.attribute import ALIKE, ANY
from fairgauge.study.numbers import MOST_CLIENTS

# How many times as often as another a group answers at most, if nobody says: about what surveys see at best.
RATIO = 1.1
# Within such a factor widths fall with the square root of the clients, if a band adds nothing.
_NEAR = 3


@dataclass(frozen=True)
class AnsweringLine:
    """What a plan gives if groups answer in one way.

    Args:
        answering: What ``--answering`` says: any, a ratio or alike.
        design: The best design then.
        error: The half-width for as many clients as the plan has, in the metric's units.
        wanted: The half-width that is wanted, in the metric's units.
        clients: About how many clients give that; None where none do.
    """

    answering: str
    design: str
    error: float
    wanted: float
    clients: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return asdict(self)


def answering_lines(goal: Goal, metric: Metric, plan: Plan) -> tuple[AnsweringLine, ...]:
    """Return what a plan for the gap of two groups gives in three ways of answering; nothing for other plans.

    Guarantee: each has the table that ``design`` makes then, for as many clients as the plan has.
    """
    best = None if plan.best is None or plan.crowd is not None or len(plan.rows) == 1 else plan.row(plan.best)
    if goal.target != "gap" or goal.groups != 2 or best is None or best.epsilon is None or best.clients is None:
        return ()
    wanted = 2 * GOOD * metric.scale if plan.solved_for == "error" or best.error is None else best.error
    middle = goal.most_ratio if 1 < goal.most_ratio < math.inf else RATIO
    kind, alpha, found = kind_of(plan.interval), check_confidence(plan.confidence), []
    for name, ratio in ((ANY, math.inf), (f"{middle:g}", middle), (ALIKE, 1.0)):
        error = goal.share_error if ratio < math.inf else 0.0
        asked = replace(goal, ratio=ratio, share_error=error).by("")
        design, channel = choose_design(asked, Decimal(str(best.epsilon)), best.clients)
        read = asked.by(design)

        def width(clients: float, read: Goal = read, channel: Channel = channel) -> float:
            return metric.scale * planned_width(read, channel, clients, kind, alpha)

        banded = read.shares_known and ratio > 1
        needed = _clients(width, best.clients, wanted, banded=banded)
        found.append(AnsweringLine(name, design, width(best.clients), wanted, needed))
    return tuple(found)


def _clients(width: Callable[[float], float], start: int, wanted: float, *, banded: bool) -> int | None:
    """Return about how many clients a width takes, near a number whose width is known already."""
    about = min(max(1.0, start * (width(start) / wanted) ** 2), MOST_CLIENTS)
    if start / _NEAR < about < start * _NEAR and not banded:
        return enough(start, width(start), wanted)
    if width(about) > 1.1 * wanted:
        return None  # what a band leaves open no number of clients takes away
    return enough(round(about), width(about), wanted)
