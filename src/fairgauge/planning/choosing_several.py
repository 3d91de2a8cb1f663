"""Which epsilon, for so many people and several questions: they share the answers, and one epsilon serves them all."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fairgauge.estimation.kinds import DEFAULT, check_confidence, kind_of
from fairgauge.goals.assumption import condition
from fairgauge.goals.goal import Goal
from fairgauge.planning.choosing import (
    EPSILONS,
    LARGE,
    NO_STUDY,
    Choice,
    Choices,
    choice,
    conditioned,
    never,
    person_sentence,
)
from fairgauge.planning.parts import Reading
from fairgauge.planning.search import TOGETHER
from fairgauge.planning.several import metric_names, share_sentence
from fairgauge.planning.table_pairing import best_tables
from fairgauge.study import Question


@dataclass(frozen=True)
class ChoicesOfSeveral:
    """What each epsilon gives of every question of one study, and a recommendation for all of them.

    Args:
        each: The choices of each question, at the same epsilons.
        shared: The epsilons at which one table answers two of them.
    """

    each: tuple[Choices, ...]
    shared: tuple[float, ...] = ()

    @property
    def rows(self) -> list[tuple[Choice, ...]]:
        """What every question gets, epsilon by epsilon."""
        return list(zip(*(found.rows for found in self.each), strict=True))

    @property
    def recommended(self) -> float | None:
        """The smallest epsilon that gives every question a good error without telling much about one person."""
        fine = [row[0].epsilon for row in self.rows if self._good(row) and row[0].epsilon <= LARGE]
        return min(fine, default=None)

    def clients(self, row: Sequence[Choice]) -> int | None:
        """Return how many clients give every question a good error at an epsilon; None where none are enough."""
        needs = [found.clients for found in row]
        return None if None in needs else max(need for need in needs if need is not None)

    def sentences(self) -> list[str]:
        """Return how the questions share the answers, and the recommendation in words."""
        said = share_sentence(len(self.each))
        if self.shared:
            where = ", ".join(f"{epsilon:g}" for epsilon in self.shared)
            said = f"{said} At epsilon {where} one table for two of them is better, and is reckoned with."
        return [said, *conditioned(self.each[0].condition, self._recommendation())]

    def _good(self, row: Sequence[Choice]) -> bool:
        return all(one.error <= found.good for one, found in zip(row, self.each, strict=True))

    def _recommendation(self) -> list[str]:
        wanted = self._listed([found.good for found in self.each])
        row = next((row for row in self.rows if row[0].epsilon == self.recommended), None)
        if row is not None:
            reason = f"the most private of these that gives {wanted} or better, here {self._told(row)}"
            person = f"For one person: {person_sentence(row[0].epsilon)}"
            return [f"We would take epsilon {row[0].epsilon:g}: {reason}.", person]
        one = next(row for row in self.rows if row[0].epsilon == 1)
        needs = self.clients(one)
        more = never(wanted) if needs is None else f"For {wanted} at epsilon 1 it takes about {needs:,} clients."
        fine, last = [row for row in self.rows if self._good(row)], self.rows[-1]
        if fine:
            person = f"one answer tells much about a person: {person_sentence(fine[0][0].epsilon)}"
            only = f"Only epsilon {fine[0][0].epsilon:g} gives {wanted}, and there {person}"
            return [f"{only} Better ask more people. {more}"]
        if all(found.least >= 2 * NO_STUDY * asked.metric.scale for found, asked in zip(last, self.each, strict=True)):
            even = f"even at epsilon {last[0].epsilon:g} so few clients give {self._told(last)}"
            return [f"This is no study: {even} only, and no smaller gap would show.", more]
        return [f"None of these gives {wanted}. Epsilon 1 gives {self._told(one)}. {more}"]

    def _told(self, row: Sequence[Choice]) -> str:
        worst = " at worst" if any(len(one.parts) > 1 for one in row) else ""
        return self._listed([one.error for one in row]) + worst

    def _listed(self, errors: Sequence[float]) -> str:
        named = [f"{found.metric.name} to ±{error:.3g}" for found, error in zip(self.each, errors, strict=True)]
        return f"{', '.join(named[:-1])} and {named[-1]}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        first = self.each[0]
        return {
            "clients": first.clients,
            "confidence": first.confidence,
            "interval": first.interval,
            "recommended": self.recommended,
            "sentences": self.sentences(),
            "questions": [
                {
                    "metric": found.metric.name,
                    "target": found.target,
                    "epsilons": [row.to_dict() for row in found.rows],
                }
                for found in self.each
            ],
        }


def choices_of_several(  # noqa: PLR0913 - the rest have defaults
    questions: Sequence[Question],
    clients: int,
    *,
    confidence: float = 0.99,
    interval: str = DEFAULT,
    epsilons: Sequence[Decimal] = EPSILONS,
    progress: Callable[[str], object] = str,
) -> ChoicesOfSeveral:
    """Return what so many clients tell of several questions at each epsilon, with the tables that a study would have.

    Args:
        questions: What is asked.
        clients: How many will answer.
        confidence: How often the interval is to hold the truth.
        interval: Which interval; see :mod:`fairgauge.estimation.kinds`.
        epsilons: From the most private on.
        progress: Called with each epsilon before it is worked out.

    Raises:
        InvalidInput: If there is no question, or two are about one metric.
    """
    metric_names(questions)
    kind, alpha = kind_of(interval), check_confidence(confidence)
    rows: list[list[Choice]] = [[] for _ in questions]
    shared = []
    for epsilon in epsilons:
        progress(str(epsilon))
        tables = best_tables(questions, epsilon, clients=clients)
        if len(tables) < len(questions):
            shared.append(float(epsilon))
        for table in tables:
            name = TOGETHER if len(table.places) > 1 else table.design
            for place, question in zip(table.places, table.questions, strict=True):
                served = Goal.of(question), question.channel
                reading = Reading(clients, kind, alpha, question.metric, len(tables))
                rows[place].append(choice(epsilon, name, served, question.attribute, reading))
    found = [
        Choices(clients, confidence, interval, goal.target, question.metric, tuple(own), condition(goal))
        for question, goal, own in zip(questions, map(Goal.of, questions), rows, strict=True)
    ]
    return ChoicesOfSeveral(tuple(found), tuple(shared))
