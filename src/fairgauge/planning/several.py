"""Plans of a study's questions: what each gets of the answers, with a table of its own or together with another."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial, singledispatch
from typing import Any

from fairgauge.channel import Channel
from fairgauge.errors import InvalidInput
from fairgauge.lazy import above
from fairgauge.planning.result import Plan
from fairgauge.planning.search import TOGETHER, Beside, plan_for
from fairgauge.planning.table_pairing import Table, best_tables, fewest_tables, shared_tables
from fairgauge.study import Question
from fairgauge.study.question import COUNTED
from fairgauge.targets.target import Goal

# A design is chosen for what a plan found, and what it found depends on the design: soon both stay as they are.
_ROUNDS = 4


@dataclass(frozen=True)
class Plans:
    """A plan for each question of one study, whose questions share its answers; one has them all.

    >>> from fairgauge import Attribute, Metric, plan
    >>> found = plan(Metric("recall", 0, 1), Attribute("sex", ["female", "male"]), epsilon=1, clients=10**6)
    >>> found["recall"].best == found[0].best
    True

    Args:
        metrics: What the questions are about, in order.
        plans: The plan of each.
        whom: Who answers: ``clients``, of one person each, or ``sites``.
    """

    metrics: tuple[str, ...]
    plans: tuple[Plan, ...]
    whom: str = "clients"

    _repr_html_ = above("fairgauge.reports.notebook", "plans_html")
    plot = above("fairgauge.reports.plots", "plot_plans")
    to_frame = above("fairgauge.reports.frames", "plans_frame")

    def __getitem__(self, metric: str | int) -> Plan:
        """Return the plan of a metric, by its name or its place.

        Raises:
            InvalidInput: If none is about it.
        """
        if isinstance(metric, int):
            return self.plans[metric]
        if metric not in self.metrics:
            raise InvalidInput("metric", metric, f"must be one of {', '.join(self.metrics)}")
        return self.plans[self.metrics.index(metric)]

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    @property
    def solved_for(self) -> str:
        """What was asked for: clients, epsilon or error."""
        return self.plans[0].solved_for

    @property
    def enough(self) -> int | float | None:
        """What is enough for every question: the most clients, or the largest epsilon; None where nothing is."""
        needs = [need for plan in self.plans if (need := _need(plan)) is not None]
        return None if self.solved_for == "error" or len(needs) < len(self.plans) else max(needs)

    def sentences(self) -> list[str]:
        """Return how several questions share the answers, and what is enough for all of them; nothing about one."""
        if len(self.plans) == 1:
            return []
        said = [*self._sharing()]
        if self.enough is not None:
            what = f"{self.enough:,} {self.whom}" if self.solved_for == "clients" else f"epsilon {self.enough:.4g}"
            most = [name for name, plan in zip(self.metrics, self.plans, strict=True) if _need(plan) == self.enough]
            needs = "" if len(most) == len(self.plans) else f": {' and '.join(most)} needs the most"
            said.append(f"For all of them it takes {what}{needs}.")
        return said

    def _sharing(self) -> Iterator[str]:
        designs = {row.design for plan in self.plans for row in plan.rows}
        # One table of noisy counts answers all questions at once.
        if designs != {COUNTED}:
            yield share_sentence(len(self.plans), shared=TOGETHER in designs)

    def __str__(self) -> str:
        parts = [f"{name}\n{plan}" for name, plan in zip(self.metrics, self.plans, strict=True)]
        return "\n\n".join([*filter(None, ["\n".join(self.sentences())]), *parts])

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        named = zip(self.metrics, self.plans, strict=True)
        return {
            "solved_for": self.solved_for,
            "enough": self.enough,
            "sentences": self.sentences(),
            "questions": [{"metric": name, **plan.to_dict()} for name, plan in named],
        }


def _need(plan: Plan) -> int | float | None:
    found: int | float | None = None if plan.best is None else getattr(plan.row(plan.best), plan.solved_for)
    return found


@singledispatch
def plan_questions(questions: Sequence[Question], **asked: Any) -> Plans:
    """Return a plan for each question of one study, in which all share the answers.

    Questions that another mechanism than a channel answers have a type of their own, which registers its plan.

    Guarantee: the best of each is what ``fairgauge.design`` makes of the same questions, for the same epsilon and
    number of clients, unless designs are named: questions share a table where that serves them best as a whole.

    Args:
        questions: What is asked.
        asked: Two of ``epsilon``, ``clients`` and ``error``, and whatever else a plan takes.

    Raises:
        InvalidInput: If there is none, or two are about one metric; if not exactly two of the three are given, or one
            is out of range.
    """
    names = metric_names(questions)
    plans = [
        plan_for(
            Goal.of(question), question.metric, beside=_beside(questions, n), attribute=question.attribute, **asked
        )
        for n, question in enumerate(questions)
    ]
    found = Plans(names, tuple(plans))
    return found if asked.get("designs") else _as_designed(questions, found, asked)


def metric_names(questions: Sequence[Question]) -> tuple[str, ...]:
    """Return what the questions of a study are about.

    Raises:
        InvalidInput: If there is none, or two are about one metric.
    """
    names = tuple(question.metric.name for question in questions)
    if not names:
        raise InvalidInput("metric", "none", "give at least one")
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InvalidInput("metric", twice, "must be given once")
    return names


def share_sentence(questions: int, *, shared: bool = False) -> str:
    """Return how several questions share the answers.

    >>> share_sentence(2)
    '2 questions: a device answers one table, so with a table each every question gets about 1/2 of the answers.'
    """
    said = f"{questions} questions: a device answers one table, so with a table each every question gets about "
    said += f"1/{questions} of the answers"
    return f"{said}; {TOGETHER} is one table for two of them." if shared else f"{said}."


def _as_designed(questions: Sequence[Question], plans: Plans, asked: Mapping[str, Any]) -> Plans:
    """Return the plans, each with the design that the questions get for what is given and for what the plan found."""
    for _ in range(_ROUNDS):
        epsilon, clients = (asked.get(name) or _enough(plans, name) for name in ("epsilon", "clients"))
        if epsilon is None or clients is None:
            return plans
        tables = best_tables(questions, Decimal(str(epsilon)), clients=clients)
        chosen = {place: table.design for table in tables for place in table.places}
        if len(tables) < len(questions):
            chosen = dict.fromkeys(chosen, TOGETHER)
        found = replace(plans, plans=tuple(replace(plan, chosen=chosen[n]) for n, plan in enumerate(plans)))
        if found == plans:
            break
        plans = found
    return plans


def _enough(plans: Plans, name: str) -> int | float | None:
    return plans.enough if plans.solved_for == name else None


def _beside(questions: Sequence[Question], place: int) -> Beside:
    fewer = fewest_tables(questions)
    if fewer == len(questions):
        return Beside(len(questions))
    return Beside(len(questions), partial(_where_tables_are_shared, tuple(questions), place), fewer)


def _where_tables_are_shared(questions: tuple[Question, ...], place: int, epsilon: Decimal) -> tuple[Goal, Channel]:
    """Return a question's goal and table where all that can share a table do; what cannot has its own."""
    table = next(table for table in _tables(questions, epsilon) if place in table.places)
    question = table.questions[table.places.index(place)]
    return Goal.of(question), question.channel


@lru_cache(maxsize=64)
def _tables(questions: tuple[Question, ...], epsilon: Decimal) -> tuple[Table, ...]:
    return tuple(shared_tables(questions, epsilon))
