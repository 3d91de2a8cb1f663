"""Plans of several questions: what each gets of the answers, with a table of its own or together with another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any

from fairgauge.channel import Channel
from fairgauge.errors import InvalidInput
from fairgauge.goals.goal import Goal
from fairgauge.goals.wish import Wish
from fairgauge.lazy import above
from fairgauge.planning.result import Plan
from fairgauge.planning.search import TOGETHER, Beside, plan_for
from fairgauge.planning.tables import Answering, answering, fewest_tables, goal_on, sharing


@dataclass(frozen=True)
class Plans:
    """A plan for each question of one study, whose questions share its answers.

    Args:
        metrics: What the questions are about, in order.
        plans: The plan of each.
    """

    metrics: tuple[str, ...]
    plans: tuple[Plan, ...]

    _repr_html_ = above("fairgauge.reports.notebook", "plans_html")
    to_frame = above("fairgauge.reports.frames", "plans_frame")

    def __getitem__(self, metric: str) -> Plan:
        """Return the plan of a metric.

        Raises:
            InvalidInput: If none is about it.
        """
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
        """Return how the questions share the answers, and what is enough for all of them."""
        rows = [row for plan in self.plans for row in plan.rows]
        said = [share_sentence(len(self.plans), shared=any(row.design == TOGETHER for row in rows))]
        if self.enough is not None:
            what = f"{self.enough:,} clients" if self.solved_for == "clients" else f"epsilon {self.enough:.4g}"
            most = [name for name, plan in zip(self.metrics, self.plans, strict=True) if _need(plan) == self.enough]
            needs = "" if len(most) == len(self.plans) else f": {' and '.join(most)} needs the most"
            said.append(f"For all of them it takes {what}{needs}.")
        return said

    def __str__(self) -> str:
        parts = [f"{name}\n{plan}" for name, plan in zip(self.metrics, self.plans, strict=True)]
        return "\n\n".join(["\n".join(self.sentences()), *parts])

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


def plan_several(wishes: Sequence[Wish], **asked: Any) -> Plans:
    """Return a plan for each wish of one study, in which all share the answers.

    The best of each is what a study of all of them would have: questions share a table where that serves them best as
    a whole, by their weights.

    Args:
        wishes: What is asked for.
        asked: Two of ``epsilon``, ``clients`` and ``error``, and whatever else a plan takes.

    Raises:
        InvalidInput: If there is none, or two are about one metric; if not exactly two of the three are given, or one
            is out of range.
    """
    names = metric_names(wishes)
    plans = [
        plan_for(Goal.of(wish), wish.metric, beside=_beside(wishes, n), attribute=wish.attribute, **asked)
        for n, wish in enumerate(wishes)
    ]
    return Plans(names, tuple(_as_a_study(wishes, plans, asked)))


def metric_names(wishes: Sequence[Wish]) -> tuple[str, ...]:
    """Return what the questions of a study are about.

    Raises:
        InvalidInput: If there is none, or two are about one metric.
    """
    names = tuple(wish.metric.name for wish in wishes)
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


def _as_a_study(wishes: Sequence[Wish], plans: Sequence[Plan], asked: dict[str, Any]) -> list[Plan]:
    """Return the plans, each with the design that a study of all questions would take."""
    if asked.get("designs"):
        return list(plans)
    if asked.get("epsilon") is not None:
        tables = answering(wishes, asked["epsilon"], clients=asked.get("clients"))
        chosen = {place: table.design for table in tables for place in table.wishes}
        if len(tables) < len(wishes):
            chosen = dict.fromkeys(chosen, TOGETHER)
        return [replace(plan, chosen=chosen[place]) for place, plan in enumerate(plans)]
    # Which epsilon is enough: all questions together, or each alone, whichever takes less for the one that needs most.
    alone = [replace(p, rows=tuple(row for row in p.rows if row.design != TOGETHER)) for p in plans]
    shared = [replace(p, chosen=TOGETHER) for p in plans]
    if all(p.best == TOGETHER for p in shared) and _most(shared) <= _most(alone):
        return shared
    return [replace(p, chosen=one.best) for p, one in zip(plans, alone, strict=True)]


def _most(plans: Sequence[Plan]) -> float:
    found = Plans(("",) * len(plans), tuple(plans)).enough
    return float("inf") if found is None else found


def _beside(wishes: Sequence[Wish], place: int) -> Beside:
    fewer = fewest_tables(wishes)
    if fewer == len(wishes):
        return Beside(len(wishes))
    return Beside(len(wishes), partial(_where_tables_are_shared, tuple(wishes), place), fewer)


def _where_tables_are_shared(wishes: tuple[Wish, ...], place: int, epsilon: Decimal) -> tuple[Goal, Channel]:
    """Return a wish's goal and table where all that can share a table do; what cannot has its own."""
    table = next(table for table in _tables(wishes, epsilon) if place in table.wishes)
    goals = [Goal.of(wishes[n]) for n in table.wishes]
    if len(goals) == 1:
        return goals[0].by(table.design), table.channel
    return goal_on(goals, table.design, table.wishes.index(place)), table.channel


@lru_cache(maxsize=64)
def _tables(wishes: tuple[Wish, ...], epsilon: Decimal) -> tuple[Answering, ...]:
    return tuple(sharing(wishes, epsilon))
