"""What it costs not to know how often groups answer: one plan if they answer as they like, nearly alike, and alike."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from fairgauge.estimation.kinds import IntervalKind, check_confidence, kind_of
from fairgauge.planning.choose_design import choose_design
from fairgauge.planning.choose_epsilon import GOOD, enough
from fairgauge.planning.planned_widths import planned_width
from fairgauge.planning.plans import AnsweringLine, Plan, Plans
from fairgauge.study import Metric, Question
from fairgauge.study.attribute import ALIKE, ANY
from fairgauge.study.numbers import MOST_CLIENTS
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import FEW

# How many times as often as another a group answers at most, if nobody says: about what surveys see at best.
RATIO = 1.1
# Within such a factor widths fall with the square root of the clients, if a band adds nothing.
_NEAR = 3

Width = Callable[[float], float]


def with_answering(questions: Sequence[Question], plans: Plans) -> Plans:
    """Return the plan of one question with what it gives in three ways of answering; other plans as they are."""
    if len(questions) > 1:
        return plans
    (question,), (plan,) = questions, plans
    lines = answering_lines(Scores.of(question), question.metric, plan)
    return replace(plans, plans=(replace(plan, answering=lines),))


def answering_lines(scores: Scores, metric: Metric, plan: Plan) -> tuple[AnsweringLine, ...]:
    """Return what a plan for gaps of up to six groups gives in three ways of answering; nothing for other plans.

    Of several gaps it is the widest.

    Guarantee: each has the table that ``design`` makes then, for as many clients as the plan has.
    """
    best = None if plan.best is None or plan.crowd is not None or len(plan.rows) == 1 else plan.row(plan.best)
    if (
        scores.target.kind != "gap"
        or scores.target.groups > FEW
        or best is None
        or best.epsilon is None
        or best.clients is None
    ):
        return ()
    wanted = 2 * GOOD * metric.scale if plan.solved_for == "error" or best.error is None else best.error
    middle = scores.target.most_ratio if 1 < scores.target.most_ratio < math.inf else RATIO
    reading = _Reading(metric, Decimal(str(best.epsilon)), kind_of(plan.interval), check_confidence(plan.confidence))
    ways = ((ANY, math.inf), (f"{middle:g}", middle), (ALIKE, 1.0))
    return tuple(reading.line(name, _answering(scores, ratio), best.clients, wanted) for name, ratio in ways)


def _answering(scores: Scores, ratio: float) -> Scores:
    return scores.asking(ratio=ratio, share_error=scores.target.share_error if ratio < math.inf else 0.0).by("")


@dataclass(frozen=True)
class _Reading:
    """With what a plan is read."""

    metric: Metric
    epsilon: Decimal
    kind: IntervalKind
    alpha: float

    def line(self, name: str, scores: Scores, clients: int, wanted: float) -> AnsweringLine:
        design, width = self._best(scores, clients)
        banded = scores.by(design).target.shares_known and scores.target.most_ratio > 1
        about = _about(width, clients, wanted)
        if banded or not clients / _NEAR < about < clients * _NEAR:
            needed = _needed(self._best(scores, about)[1], about, wanted)
        else:
            needed = enough(clients, width(clients), wanted)
        return AnsweringLine(name, design, width(clients), wanted, needed)

    def _best(self, scores: Scores, clients: float) -> tuple[str, Width]:
        """Return the design that is best for so many clients, and what it gives."""
        design, channel = choose_design(scores, self.epsilon, clients)

        def width(answers: float) -> float:
            return self.metric.scale * planned_width(scores.by(design), channel, answers, self.kind, self.alpha)

        return design, width


def _about(width: Width, start: float, wanted: float) -> float:
    return min(max(1.0, start * (width(start) / wanted) ** 2), MOST_CLIENTS)


def _needed(width: Width, about: float, wanted: float) -> int | None:
    """Return about how many clients a width takes with the table for about so many; None where none do."""
    about = _about(width, about, wanted)
    # What a band leaves open no number of clients takes away.
    return None if width(about) > 1.1 * wanted else enough(round(about), width(about), wanted)
