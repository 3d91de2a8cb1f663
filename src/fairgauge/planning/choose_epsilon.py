"""Which epsilon, for so many people: what each of some epsilons gives and costs, and which of them we would take.

Several questions share the answers, and one epsilon serves them all.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from fairgauge.channel import Channel
from fairgauge.estimation.confidence_set import sign_change
from fairgauge.estimation.interval_kinds import DEFAULT, check_confidence, kind_of
from fairgauge.lazy import late
from fairgauge.planning.choose_design import choose_design, chosen_by_width
from fairgauge.planning.plan_parts import PlanConditions, PlanPart, planned_parts
from fairgauge.planning.planned_widths import planned_width
from fairgauge.planning.plans import metric_names, share_sentence
from fairgauge.planning.table_pairing import best_tables, name_of
from fairgauge.study import Attribute, Metric, Question
from fairgauge.study.numbers import MOST_CLIENTS
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import condition

EPSILONS = tuple(Decimal(text) for text in ("0.1", "0.25", "0.5", "1", "2", "4"))
# As parts of the metric's range: an error that most questions about fairness can live with, and one that tells nothing.
GOOD, NO_STUDY = 0.02, 0.1
# From here on one answer tells much about one person, and we recommend it to nobody.
LARGE = 2.0
_STEPS, _NEARLY, _CLOSE = 3, 1.02, 0.02
_FARTHEST = math.log(MOST_CLIENTS)


@dataclass(frozen=True)
class Choice:
    """What one epsilon gives and costs.

    Args:
        epsilon: The privacy loss of one answer.
        design: The best design at it.
        error: The half-width of the interval, in the metric's units.
        odds: By which factor whoever sees an answer can change their odds at most.
        guess: How often somebody who must guess between two groups, 50 to 50 before, is right at most.
        clients: How many clients a good error takes; None where none are enough, because shares may be off.
        parts: What every comparison, or every group's mean, will be known to, the worst first: ``error`` is its error.
    """

    epsilon: float
    design: str
    error: float
    odds: float
    guess: float
    clients: int | None
    parts: tuple[PlanPart, ...] = ()

    @property
    def least(self) -> float:
        """The error of what is told best."""
        return min((part.error for part in self.parts if part.error is not None), default=self.error)

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        names = ("epsilon", "design", "error", "odds", "guess", "clients")
        return {name: getattr(self, name) for name in names} | {"parts": [part.to_dict() for part in self.parts]}


@dataclass(frozen=True)
class Choices:
    """A row for each epsilon, and a recommendation."""

    clients: int
    confidence: float
    interval: str
    target: str
    metric: Metric
    rows: tuple[Choice, ...]
    condition: str | None = None

    @property
    def good(self) -> float:
        """An error that is small enough for most questions, in the metric's units."""
        return 2 * GOOD * self.metric.scale

    def missed_at(self, epsilon: float) -> bool:
        """Tell whether an epsilon gives no good error."""
        return any(row.error > self.good for row in self.rows if row.epsilon == epsilon)

    @property
    def recommended(self) -> float | None:
        """The smallest epsilon that gives a good error without telling much about one person; None if none does."""
        fine = [row.epsilon for row in self.rows if row.error <= self.good and row.epsilon <= LARGE]
        return min(fine, default=None)

    def sentences(self) -> list[str]:
        """Return the recommendation in words, with what it assumes of who answers."""
        return _conditioned(self.condition, self._recommendation())

    def _recommendation(self) -> list[str]:
        last, good = self.rows[-1], f"±{self.good:.3g}"
        several = len(last.parts) > 1
        what = ("every gap" if several else "the gap") if self.target == "gap" else "each group's mean"
        if self.recommended is not None:
            row = next(row for row in self.rows if row.epsilon == self.recommended)
            here = f"±{row.error:.3g} at worst" if several else f"±{row.error:.3g}"
            reason = f"the most private of these that gives {what} to {good} or better, here {here}"
            return [
                f"We would take epsilon {row.epsilon:g}: {reason}.",
                f"For one person: {_person_sentence(row.epsilon)}",
            ]
        one = next(row for row in self.rows if row.epsilon == 1)
        more = f"For {good} at epsilon 1 it takes about {one.clients:,} clients." if one.clients else _never(good)
        no_study = 2 * NO_STUDY * self.metric.scale
        fine = [row for row in self.rows if row.error <= self.good]
        if not fine and several and one.least < no_study:
            worst, best = one.parts[0], one.parts[-1]
            told = f"{worst.name} to ±{worst.error:.3g} at worst, {best.name} to ±{best.error:.3g} at best"
            return [f"None of these gives {what} to {good}. Epsilon 1 gives {told}. {more}"]
        if last.error >= no_study:
            even = f"even at epsilon {last.epsilon:g} so few clients give {what} to ±{last.error:.3g}"
            return [f"This is no study: {even} only, and no smaller gap would show.", more]
        if fine:
            person = f"one answer tells much about a person: {_person_sentence(fine[0].epsilon)}"
            only = f"Only epsilon {fine[0].epsilon:g} gives {what} to {good}, and there {person}"
            return [f"{only} Better ask more people. {more}"]
        larger = f"Epsilon 1 gives ±{one.error:.3g}: take it if larger gaps are what you look for."
        return [f"None of these gives {what} to {good}. {larger} {more}"]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        about = {"metric": self.metric.name, "target": self.target, "condition": self.condition}
        return about | {"epsilons": [row.to_dict() for row in self.rows]}


def _conditioned(condition: str | None, said: list[str]) -> list[str]:
    """Return sentences whose numbers have a condition, if there is one."""
    return said if condition is None else [f"{condition}: {said[0]}", *said[1:]]


def choices(  # noqa: PLR0913 - the rest have defaults
    scores: Scores,
    metric: Metric,
    clients: int,
    *,
    confidence: float = 0.99,
    interval: str = DEFAULT,
    epsilons: Sequence[Decimal] = EPSILONS,
    attribute: Attribute | None = None,
    progress: Callable[[str], object] = str,
) -> Choices:
    """Return what so many clients tell at each epsilon, with the best design.

    Args:
        scores: What is to be estimated.
        metric: The metric, whose units errors are in.
        clients: How many will answer.
        confidence: How often the interval is to hold the truth.
        interval: Which interval; see :mod:`fairgauge.estimation.interval_kinds`.
        epsilons: From the most private on.
        attribute: Whose names the groups have; they are numbered unless given.
        progress: Called with each epsilon before it is worked out.
    """
    rows, reading = list[Choice](), PlanConditions(clients, kind_of(interval), check_confidence(confidence), metric)
    for epsilon in epsilons:
        progress(str(epsilon))
        design, channel = choose_design(scores, epsilon, clients)
        row = _choice(epsilon, design, (scores.by(design), channel), attribute, reading)
        rows.append(replace(row, clients=_fewest(scores, epsilon, row, (channel, reading))))
    return Choices(clients, confidence, interval, scores.target.kind, metric, tuple(rows), condition(scores.target))


def _fewest(scores: Scores, epsilon: Decimal, row: Choice, read: tuple[Channel, PlanConditions]) -> int | None:
    """Return how many clients a good error takes with the table that is best for so many, not for those there are."""
    (channel, reading), needed = read, row.clients
    if needed is None or not chosen_by_width(scores.target):
        return needed
    design, better = choose_design(scores, epsilon, needed)
    if better == channel:
        return needed
    scale, by = reading.metric.scale, scores.by(design)

    def width(answers: float) -> float:
        return scale * planned_width(by, better, answers, reading.kind, reading.alpha)

    return min(needed, settled(width, needed, 2 * GOOD * scale) or needed)


def _choice(
    epsilon: Decimal, design: str, served: tuple[Scores, Channel], attribute: Attribute | None, reading: PlanConditions
) -> Choice:
    """Return what one epsilon gives and costs, with a table and its scores.

    Args:
        epsilon: The privacy loss of one answer.
        design: What the table is called.
        served: The scores, and the table.
        attribute: Whose names the groups have.
        reading: How many answer, how many tables they share, and with which interval.
    """
    scale, clients = reading.metric.scale, reading.answers or 1

    def width(answers: float) -> float:
        return scale * planned_width(*served, answers / reading.tables, reading.kind, reading.alpha)

    return Choice(
        float(epsilon),
        design,
        width(clients),
        math.ceil(100 * math.exp(epsilon)) / 100,
        1 / (1 + math.exp(-epsilon)),
        settled(width, clients, 2 * GOOD * scale),
        planned_parts(*served, attribute, reading),
    )


def settled(width: Callable[[float], float], clients: float, wanted: float) -> int | None:
    """Return about how many clients a width takes: the same, whichever number of clients the search starts from.

    None where no number is enough: shares that may be off leave a width that no answers take away.

    >>> settled(lambda answers: 6 / answers**0.5 + 10 / answers, 200, 0.02)
    91000
    >>> settled(lambda answers: 6 / answers**0.5 + 0.03, 200, 0.02) is None
    True
    """
    about = float(clients)
    for _ in range(_STEPS):  # few clients pay more than the square root says
        about = min(max(1.0, about * (width(about) / wanted) ** 2), MOST_CLIENTS)
    if width(about) > _NEARLY * wanted:
        if width(MOST_CLIENTS) > wanted:
            return None
        lacks = sign_change(lambda n: -math.log(width(math.exp(n)) / wanted), math.log(about), _FARTHEST, close=_CLOSE)
        about = math.exp(lacks[1])
    return enough(round(about), width(about), wanted)


def _never(good: str) -> str:
    """Return that no number of clients is enough."""
    return f"No number of clients gives {good} while shares may be off by so much."


def enough(clients: int, error: float, wanted: float) -> int:
    """Return about how many clients an error takes, if so many have another: widths fall with the square root.

    >>> enough(200, 0.476, 0.02)
    120000
    """
    exact = max(1, math.ceil(clients * (error / wanted) ** 2))
    step: int = 10 ** max(0, len(str(exact)) - 2)
    return -(-exact // step) * step


def _person_sentence(epsilon: float) -> str:
    """Return what an epsilon means for one person.

    >>> _person_sentence(1)[-60:]
    'is right at most 73.2 % of the time after seeing the answer.'
    """
    sure = math.ceil(1000 / (1 + math.exp(-epsilon))) / 10
    return (
        f"somebody who must guess between two groups, 50 to 50 before, is right at most {sure:g} % of the time after "
        "seeing the answer."
    )


def no_study_sentence(
    clients: int,
    error: float,
    metric: Metric,
    parts: Sequence[PlanPart] = (),
    needed: Callable[[], int | None] | None = None,
) -> str | None:
    """Return what to change where so few clients tell next to nothing; None where they tell something.

    Of several comparisons or means some may be told well and others not at all: then it names the worst.

    Args:
        clients: How many there are.
        error: What they give.
        metric: The metric, whose units the error is in.
        parts: What they give of each comparison or mean, the worst first.
        needed: Gives how many clients a good error takes, as :func:`choices` does; by the square root unless given.
    """
    reach = 2 * metric.scale
    if error < NO_STUDY * reach:
        return None
    good = GOOD * reach
    takes = enough(clients, error, good) if needed is None else needed()
    best = min((part.error for part in parts if part.error is not None), default=error)
    if best < NO_STUDY * reach:
        there = f"For ±{good:.3g} there it takes about"
        needs = f"{there} {takes:,} clients, or a larger epsilon." if takes else _never(f"±{good:.3g}")
        groups = parts[0].groups
        whom = f"Of {groups[0]}" if len(groups) == 1 else f"Between {groups[0]} and {groups[1]}"
        return f"{whom} so few clients tell next to nothing. {needs}"
    if error >= reach:
        tells = f"{clients:,} clients tell nothing at this epsilon: the error is as large as any gap can be."
    else:
        tells = f"This is no study: with an error of ±{error:.3g} no smaller gap would show."
    if takes is None:
        return f"{tells} {_never(f'±{good:.3g}')}"
    return f"{tells} For ±{good:.3g} it takes about {takes:,} clients, or a larger epsilon."


@dataclass(frozen=True)
class EpsilonChoices:
    """What each epsilon gives of every question of one study, and a recommendation for all of them.

    ``plan`` with a number of clients alone gives it, for one question as for several.

    Args:
        each: The choices of each question, at the same epsilons.
        shared: The epsilons at which one table answers two of them.
    """

    each: tuple[Choices, ...]
    shared: tuple[float, ...] = ()

    _repr_html_ = late("_repr_html_")
    to_frame = late("to_frame")

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
        """Return how several questions share the answers, and the recommendation in words."""
        if len(self.each) == 1:
            return self.each[0].sentences()
        said = share_sentence(len(self.each))
        if self.shared:
            where = ", ".join(f"{epsilon:g}" for epsilon in self.shared)
            said = f"{said} At epsilon {where} one table for two of them is better, and is reckoned with."
        return [said, *_conditioned(self.each[0].condition, self._recommendation())]

    def _good(self, row: Sequence[Choice]) -> bool:
        return all(one.error <= found.good for one, found in zip(row, self.each, strict=True))

    def _recommendation(self) -> list[str]:
        wanted = self._listed([found.good for found in self.each])
        row = next((row for row in self.rows if row[0].epsilon == self.recommended), None)
        if row is not None:
            reason = f"the most private of these that gives {wanted} or better, here {self._told(row)}"
            person = f"For one person: {_person_sentence(row[0].epsilon)}"
            return [f"We would take epsilon {row[0].epsilon:g}: {reason}.", person]
        one = next(row for row in self.rows if row[0].epsilon == 1)
        needs = self.clients(one)
        more = _never(wanted) if needs is None else f"For {wanted} at epsilon 1 it takes about {needs:,} clients."
        fine, last = [row for row in self.rows if self._good(row)], self.rows[-1]
        if fine:
            person = f"one answer tells much about a person: {_person_sentence(fine[0][0].epsilon)}"
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
            "questions": [found.to_dict() for found in self.each],
        }


def choose_epsilon(  # noqa: PLR0913 - the rest have defaults
    questions: Sequence[Question],
    clients: int,
    *,
    confidence: float = 0.99,
    interval: str = DEFAULT,
    epsilons: Sequence[Decimal] = EPSILONS,
    progress: Callable[[str], object] = str,
) -> EpsilonChoices:
    """Return what so many clients tell of questions at each epsilon, with the tables that a study would have.

    Args:
        questions: What is asked.
        clients: How many will answer.
        confidence: How often the interval is to hold the truth.
        interval: Which interval; see :mod:`fairgauge.estimation.interval_kinds`.
        epsilons: From the most private on.
        progress: Called with each epsilon before it is worked out.

    Raises:
        InvalidInput: If there is no question, or two are about one metric.
    """
    metric_names(questions)
    if len(questions) == 1:
        (one,) = questions
        alone = choices(
            Scores.of(one), one.metric, clients, confidence=confidence, interval=interval, epsilons=epsilons,
            attribute=one.attribute, progress=progress,
        )  # fmt: skip
        return EpsilonChoices((alone,))
    kind, alpha = kind_of(interval), check_confidence(confidence)
    rows: list[list[Choice]] = [[] for _ in questions]
    shared = []
    for epsilon in epsilons:
        progress(str(epsilon))
        tables = best_tables(questions, epsilon, clients=clients)
        if len(tables) < len(questions):
            shared.append(float(epsilon))
        for table in tables:
            name = name_of(table.design, tables=len(tables), questions=len(questions))
            for place, question in zip(table.places, table.questions, strict=True):
                served = Scores.of(question), question.channel
                reading = PlanConditions(clients, kind, alpha, question.metric, len(tables))
                rows[place].append(_choice(epsilon, name, served, question.attribute, reading))
    found = [
        Choices(
            clients, confidence, interval, scores.target.kind, question.metric, tuple(own), condition(scores.target)
        )
        for question, scores, own in zip(questions, map(Scores.of, questions), rows, strict=True)
    ]
    return EpsilonChoices(tuple(found), tuple(shared))
