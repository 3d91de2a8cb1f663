"""What it costs not to know how often groups answer: one plan if they answer as they like, nearly alike, and alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from fairgauge.estimation.interval_kinds import IntervalKind, check_confidence, kind_of
from fairgauge.estimation.strata import weighed_width
from fairgauge.planning.choose_epsilon import GOOD, enough
from fairgauge.planning.planned_widths import planned_width
from fairgauge.planning.plans import AnsweringLine, Plan, Plans
from fairgauge.planning.table_pairing import DesignedTable, Planner, best_tables, name_of
from fairgauge.study import Question, Stratum
from fairgauge.study.attribute import ALIKE, ANY
from fairgauge.study.numbers import MOST_CLIENTS
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import FEW, Target

# How many times as often as another a group answers at most, if nobody says: about what surveys see at best.
RATIO = "1.1"
# Within such a factor widths fall with the square root of the clients, if a band adds nothing.
_NEAR = 3

_Width = Callable[[float], float]


def with_answering(questions: Sequence[Question], plans: Plans) -> Plans:
    """Return the plans of questions with what each gives in three ways of answering; plans for sites as they are."""
    if isinstance(questions, Planner):
        return plans
    # Once for all of them: to find the best tables designs are read for every question.
    tables = cache(best_tables)
    lines = [_answering_lines(questions, place, plan, tables) for place, plan in enumerate(plans)]
    return replace(plans, plans=tuple(replace(plan, answering=each) for plan, each in zip(plans, lines, strict=True)))


def _answering_lines(
    questions: Sequence[Question], place: int, plan: Plan, tables: Callable[..., list[DesignedTable]] = best_tables
) -> tuple[AnsweringLine, ...]:
    """Return what a plan for gaps of up to six groups gives in three ways of answering; nothing for other plans.

    Of several gaps it is the widest.

    Guarantee: each has the table that ``design`` makes then of all questions, for as many clients as the plan has.

    Args:
        questions: All that the study asks.
        place: Which of them the plan is of.
        plan: Its plan.
        tables: What finds the best tables.
    """
    target = Target.of(questions[place])
    best = None if plan.best is None or plan.crowd is not None or len(plan.rows) == 1 else plan.row(plan.best)
    if target.kind != "gap" or target.groups > FEW or best is None or best.epsilon is None or best.clients is None:
        return ()
    metric = questions[place].metric
    wanted = 2 * GOOD * metric.scale if plan.solved_for == "error" or best.error is None else best.error
    stated = questions[place].attribute.answering
    middle = RATIO if stated in (ANY, ALIKE) else stated
    terms = Decimal(str(best.epsilon)), kind_of(plan.interval), check_confidence(plan.confidence)
    reading = _Reading(place, tables, *terms)
    ways = {name: tuple(_answering(question, name) for question in questions) for name in (ANY, middle, ALIKE)}
    return tuple(reading.line(name, asked, best.clients, wanted) for name, asked in ways.items())


def weighed_sentence(plan: Plan, stratum: Stratum) -> str | None:
    """Return what a plan for one stratum gives for the gap of all, weighed; None where it plans no one gap."""
    error = None if plan.best is None else plan.row(plan.best).error
    if plan.target != "gap" or error is None:
        return None
    alpha, share = check_confidence(plan.confidence), float(stratum.share)
    two, three = (weighed_width(error, share, strata, alpha=alpha) for strata in (2, 3))
    return (
        f"This is {stratum.name} alone, {stratum.share} of all people. If as many of each thousand answer elsewhere, "
        f"the gap weighed by {stratum.of} is known to about ±{two:.4g} with two parts in all, ±{three:.4g} with three."
    )


def _answering(question: Question, answering: str) -> Question:
    """Return the same question of groups that answer in some way; of equally many people where no shares are stated."""
    attribute = question.attribute
    if answering == ANY:
        return replace(question, attribute=replace(attribute, answering=ANY, share_error=None))
    shares = attribute.shares or _equal(len(attribute.groups))
    return replace(question, attribute=replace(attribute, shares=shares, answering=answering))


def _equal(groups: int) -> tuple[str, ...]:
    each = round(1 / Decimal(groups), 6)
    return (*[str(each)] * (groups - 1), str(1 - each * (groups - 1)))


@dataclass(frozen=True)
class _Reading:
    """Which question is read, and with what."""

    place: int
    tables: Callable[..., list[DesignedTable]]
    epsilon: Decimal
    kind: IntervalKind
    alpha: float

    def line(self, name: str, questions: tuple[Question, ...], clients: int, wanted: float) -> AnsweringLine:
        design, scores, width = self._best(questions, clients)
        banded = scores.target.shares_known and scores.target.most_ratio > 1
        about = _about(width, clients, wanted)
        if banded or not clients / _NEAR < about < clients * _NEAR:
            needed = _needed(self._best(questions, about)[2], about, wanted)
        else:
            needed = enough(clients, width(clients), wanted)
        return AnsweringLine(name, design, width(clients), wanted, needed)

    def _best(self, questions: tuple[Question, ...], clients: float) -> tuple[str, Scores, _Width]:
        """Return the design that is best for so many clients, its scores, and what it gives."""
        tables = self.tables(questions, self.epsilon, clients=clients)
        table = next(table for table in tables if self.place in table.places)
        made = table.questions[table.places.index(self.place)]
        scores, scale = Scores.of(made), made.metric.scale

        def width(answers: float) -> float:
            return scale * planned_width(scores, made.channel, answers / len(tables), self.kind, self.alpha)

        return name_of(table.design, tables=len(tables), questions=len(questions)), scores, width


def _about(width: _Width, start: float, wanted: float) -> float:
    return min(max(1.0, start * (width(start) / wanted) ** 2), MOST_CLIENTS)


def _needed(width: _Width, about: float, wanted: float) -> int | None:
    """Return about how many clients a width takes with the table for about so many; None where none do."""
    about = _about(width, about, wanted)
    # What a band leaves open no number of clients takes away.
    return None if width(about) > 1.1 * wanted else enough(round(about), width(about), wanted)
