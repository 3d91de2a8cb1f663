"""Plans: any two of clients, epsilon and error give the third, for every design, and one of them is best.

The questions of a study share its answers: each has a table of its own, or one together with another.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Any, ClassVar

from fairgauge.channel import Channel
from fairgauge.client.budget import STUDY_LIMIT
from fairgauge.designs import LEAST_EPSILON, designs_for, make_channel
from fairgauge.designs.registry import SIMPLEST
from fairgauge.errors import InvalidInput
from fairgauge.estimation.confidence_set import sign_change
from fairgauge.estimation.interval_kinds import DEFAULT, IntervalKind, check_confidence, kind_of
from fairgauge.estimation.interval_readers import reader_of
from fairgauge.lazy import late
from fairgauge.planning.plan_parts import PlanConditions, PlanPart, means_sentence, planned_parts
from fairgauge.planning.planned_widths import planned_power, planned_width
from fairgauge.planning.table_pairing import (
    TOGETHER,
    DesignedTable,
    Planner,
    best_tables,
    fewest_tables,
    name_of,
    shared_tables,
)
from fairgauge.study import Attribute, Mechanism, Metric, Question, Release, TargetName
from fairgauge.study.numbers import MOST_CLIENTS
from fairgauge.targets.scores import Scores, assumption
from fairgauge.targets.target import condition

_AS_GOOD = 1.0005


@dataclass(frozen=True)
class PlanRow:
    """What one design needs or reaches; what was asked for is None where no value of it is enough.

    Args:
        design: The design's name.
        epsilon: The privacy loss of one answer.
        clients: How many answers there are.
        error: The half-width of the interval, in the metric's units.
        variance: K·Var, the variance of the estimate times the number of clients, in total: what randomising adds and
            how clients differ.  It is in units of v, which is from -1 to 1 whatever the metric, so that designs can be
            compared across metrics.  Times the square of half the metric's range it is in the metric's units.
        symbols: How many symbols the channel has.
        levels: How many levels values are rounded to.
        power: The chance of noticing the gap that was asked about.
        privacy_variance: The same for clients whose values and split are fixed: what randomising alone adds, whatever
            values they hold.  ``variance`` is for the values that ``assumes`` names, so it can be the smaller one.
        sampling_variance: The same if nothing were randomised.
        assumes: What the total assumes of the clients, in words.
        crowd_epsilon: What a release of all answers costs a person towards those who see only its counts, certified.
        draws: How many secret draws of the collector that takes, whose scatter is in ``error`` and not in ``variance``.
        pairs: What every comparison will be known to, the worst first.
        means: The same for every group's mean; empty where the channel cannot tell them.
        people: How many people each of the clients holds, where they are sites.
        error_without_privacy: The half-width if nothing were randomised, where that is known.
        mechanism: What is reckoned with; None where no value is enough.
    """

    design: str
    epsilon: float | None
    clients: int | None
    error: float | None
    variance: float | None
    symbols: int | None
    levels: int | None
    power: float | None = None
    privacy_variance: float | None = None
    sampling_variance: float | None = None
    assumes: str | None = None
    crowd_epsilon: float | None = None
    draws: int | None = None
    pairs: tuple[PlanPart, ...] = ()
    means: tuple[PlanPart, ...] = ()
    people: int | None = None
    error_without_privacy: float | None = None
    mechanism: Mechanism | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the row for JSON."""
        variances = ("variance", "privacy_variance", "sampling_variance", "assumes")
        errors = ("error", "error_without_privacy")
        fields = ("design", "epsilon", "clients", "people", *errors, *variances, "symbols", "levels")
        found = {name: getattr(self, name) for name in fields}
        seldom = {"power": self.power, "crowd_epsilon": self.crowd_epsilon, "draws": self.draws}
        parts = {"pairs": [part.to_dict() for part in self.pairs], "means": [part.to_dict() for part in self.means]}
        return found | {name: value for name, value in seldom.items() if value is not None} | parts


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


@dataclass(frozen=True)
class Plan:
    """A row for each design, and which of them is best.

    ``chosen`` is the design that serves several comparisons best as a whole, where one number does not tell,
    ``condition`` what the numbers assume of how often groups answer, and ``answering`` what other ways to answer give.
    """

    solved_for: str
    confidence: float
    interval: str
    target: TargetName
    rows: tuple[PlanRow, ...]
    crowd: dict[str, float] | None = None
    chosen: str | None = None
    condition: str | None = None
    answering: tuple[AnsweringLine, ...] = ()

    _repr_html_ = late("_repr_html_")
    plot = late("plot")
    to_frame = late("to_frame")

    @property
    def best(self) -> str | None:
        """The design that needs the least, or None where none is enough."""
        # Where a simpler design does as well, it comes first in the list and is the better choice.
        return self.chosen if self.chosen in self._needed else next(iter(self.as_good), None)

    @property
    def as_good(self) -> list[str]:
        """The designs that need the least, or next to nothing more."""
        least = min(self._needed.values(), default=0)
        return [design for design, needs in self._needed.items() if needs <= least * _AS_GOOD]

    @property
    def _needed(self) -> dict[str, float]:
        needed = {row.design: getattr(row, self.solved_for) for row in self.rows}
        return {design: needs for design, needs in needed.items() if needs is not None}

    @property
    def release(self) -> Release | None:
        """What a study says so that its counts leave as planned: one batch of all; None for a plan without a crowd."""
        draws = None if self.best is None else self.row(self.best).draws
        if self.crowd is None or draws is None:
            return None
        delta = format(Decimal(repr(self.crowd["delta"])).normalize(), "f")
        return Release(int(self.crowd["batch"]), delta, draws)

    def row(self, design: str) -> PlanRow:
        """Return the row of a design.

        Raises:
            InvalidInput: If the plan has none of that name.
        """
        found = next((row for row in self.rows if row.design == design), None)
        if found is None:
            raise InvalidInput("design", design, f"must be one of {', '.join(row.design for row in self.rows)}")
        return found

    def about_means(self) -> str | None:
        """Return what means pay with the best design; None where there is no randomized response to compare with."""
        best = None if self.best is None else self.row(self.best)
        if best is None:
            return None
        simple = next((row for row in self.rows if row.design == SIMPLEST and row.epsilon == best.epsilon), None)
        if simple is None:
            return None
        return means_sentence(best.means, {part.groups: part.variance for part in simple.means}, target=self.target)

    def __str__(self) -> str:
        lines = [f"{'design':<22}{'epsilon':>9}{'clients':>20}{'error ±':>12}"]
        for row in self.rows:
            loss, clients, error = (
                "impossible" if value is None else f"{value:{form}}"
                for value, form in ((row.epsilon, ".4g"), (row.clients, ","), (row.error, ".4g"))
            )
            lines.append(f"{row.design:<22}{loss:>9}{clients:>20}{error:>12}")
        about = (self.target, f"{self.confidence:.4g} confidence", f"{self.interval} interval", self.condition)
        return "\n".join([*lines, f"({', '.join(filter(None, about))})"])

    def to_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {
            "solved_for": self.solved_for,
            "confidence": self.confidence,
            "interval": self.interval,
            "target": self.target,
            "condition": self.condition,
            "best": self.best,
            "designs": [row.to_dict() for row in self.rows],
            "answering": [line.to_dict() for line in self.answering],
            "crowd": self.crowd,
        }


# A plan looks for an epsilon in this range: above it devices refuse, unless their owners allow more.
_LEAST, MOST = max(LEAST_EPSILON, Decimal("0.01")), STUDY_LIMIT
# The search for a number of clients starts here, with so many guesses, and widths fall with it between so and so
# steeply, as logarithms: else it is enclosed.
_START, _GUESSES, _FLATTEST, _STEEPEST = math.log(10_000), 8, 0.1, 2.0


# The half-width for an epsilon and so many clients, in the metric's units.
Width = Callable[[Decimal, float], float]


@dataclass(frozen=True)
class Given:
    """Two of epsilon, clients and error: the third is looked for.

    Raises:
        InvalidInput: If not exactly two are given, or one is out of range.
    """

    epsilon: Decimal | None
    clients: int | None
    error: float | None

    def __post_init__(self) -> None:
        given = {"epsilon": self.epsilon, "clients": self.clients, "error": self.error}
        names = [name for name, value in given.items() if value is not None]
        if len(names) != 2:
            rule = "give exactly two of epsilon, clients and error: the plan finds the third"
            raise InvalidInput("given", ", ".join(names) or "none", rule)
        if self.clients is not None and not 1 <= self.clients <= MOST_CLIENTS:
            raise InvalidInput("clients", self.clients, "must be from 1 to 10^15")
        if self.error is not None and not 0 < self.error < math.inf:
            raise InvalidInput("error", self.error, "must be above 0")

    @property
    def missing(self) -> str:
        """The name of what is looked for."""
        return next(name for name in ("epsilon", "clients", "error") if getattr(self, name) is None)

    def solved(self, width: Width, *, close: float = 1e-3) -> tuple[Decimal | None, int | None, float | None]:
        """Return all three; what was looked for is None where no value of it is enough.

        Args:
            width: What an epsilon and a number of clients give.
            close: How close a number of clients comes, where more than so many are needed; as a logarithm.
        """
        epsilon, clients, error = self.epsilon, self.clients, self.error
        if epsilon is None and clients is not None and error is not None:
            return _epsilon_for(width, clients, error), clients, error
        if epsilon is not None and clients is None and error is not None:
            return epsilon, _clients_for(width, epsilon, error, close), error
        if epsilon is not None and clients is not None:
            return epsilon, clients, width(epsilon, clients)
        raise AssertionError  # pragma: no cover - two are given


def _clients_for(width: Width, epsilon: Decimal, error: float, close: float) -> int | None:
    """Return the least number of clients whose interval is narrow enough; to three digits where intervals take long."""

    def spare(logarithm: float) -> float:
        """Return by how much an interval is narrower than it need be, as a logarithm."""
        return -math.log(max(width(epsilon, math.exp(logarithm)), 1e-300) / error)

    enough = _near(spare, close)
    if enough is None:
        if width(epsilon, MOST_CLIENTS) > error:
            return None
        if width(epsilon, 1) <= error:
            return 1
        enough = sign_change(spare, 0.0, math.log(MOST_CLIENTS), close=close)[1]
    clients = math.ceil(math.exp(enough) - 1e-6)
    return clients if width(epsilon, clients) <= error else clients + 1


def _near(spare: Callable[[float], float], close: float) -> float | None:
    """Return where the spare is zero; None if it is not found soon.

    Widths fall with the square root of clients, nearly, so the second guess is good mostly; from then on a line
    through the last two leads on.  From a distance d, as a logarithm, it is off by a part of d^2.
    """
    slope, last, about = 0.5, None, _START
    for _ in range(_GUESSES):
        found = spare(about)
        if last is not None and about != last[0]:
            slope = min(max((found - last[1]) / (about - last[0]), _FLATTEST), _STEEPEST)
        last, about = (about, found), about - found / slope
        if abs(found) <= slope * math.sqrt(close) / 4:
            return about
        if not 0 <= about <= math.log(MOST_CLIENTS):
            return None
    return None


def _epsilon_for(width: Width, clients: int, error: float) -> Decimal | None:
    """Return the least epsilon, rounded up to three digits, whose interval is narrow enough."""

    def excess(log_epsilon: float) -> float:
        # A channel that cannot tell at all has an infinite error, which no search by numbers likes.
        return math.log(min(width(_short(math.exp(log_epsilon)), clients) / error, 1e300))

    # Channels for a large epsilon take longest to design, so look there last.
    low = high = 1.0
    least, most = float(_LEAST), float(MOST)
    while high < most and excess(math.log(high)) > 0:
        low, high = high, min(2 * high, most)
    if excess(math.log(high)) > 0:
        return None
    while low > least and excess(math.log(low)) <= 0:
        low, high = max(low / 4, least), low
    if excess(math.log(low)) <= 0:
        return _LEAST
    lacking = sign_change(excess, math.log(high), math.log(low), close=1e-3)[1]
    epsilon, enough = _short(math.exp(lacking)), _short(high)
    while epsilon < enough and width(epsilon, clients) > error:
        epsilon += Decimal(1).scaleb(epsilon.adjusted() - 2)
    return min(epsilon, enough)


def _short(epsilon: float) -> Decimal:
    """Return the epsilon rounded up to three digits."""
    exact = Decimal(epsilon)
    return min(MOST, exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding=ROUND_CEILING))


@dataclass(frozen=True)
class Beside:
    """The other questions of a study, which share its answers.

    Args:
        tables: How many tables there are if every question has its own.
        together: Gives this question's table, and its scores there, where questions that can share a table do; None
            where none can.
        fewer: How many tables there are then.
    """

    tables: int
    together: Callable[[Decimal], tuple[Scores, Channel]] | None = None
    fewer: int = 1


@dataclass(frozen=True)
class _Asked:
    """What stays the same while a plan is solved."""

    scores: Scores
    kind: IntervalKind
    alpha: float
    design: str
    metric: Metric
    attribute: Attribute | None = None
    tables: int = 1
    make: Callable[[Decimal], tuple[Scores, Channel]] | None = None
    drawn: float = 0.0

    def served(self, epsilon: Decimal) -> tuple[Scores, Channel]:
        if self.make is not None:
            return self.make(epsilon)
        return self.scores, make_channel(self.scores, epsilon, design=self.design)[1]

    def without_privacy(self, clients: float) -> float:
        """Return a width that no epsilon undercuts: that of drawing people from the population alone."""
        spread = math.sqrt(self.tables * self.scores.sampling_variance() / clients)
        return self.metric.scale * NormalDist().inv_cdf(1 - self.alpha / 2) * spread

    def error(self, epsilon: Decimal, clients: float) -> float:
        # A device answers one table, picked by its coin: each gets its part of the answers.
        answers = clients / self.tables
        width = planned_width(*self.served(epsilon), answers, self.kind, self.alpha, drawn=self.drawn)
        return self.metric.scale * width


def plan_for(  # noqa: PLR0913 - two of three are given, and the rest have defaults
    scores: Scores,
    metric: Metric,
    *,
    epsilon: Decimal | None = None,
    clients: int | None = None,
    error: float | None = None,
    confidence: float = 0.99,
    interval: str = DEFAULT,
    detect: float | None = None,
    designs: Sequence[str] | None = None,
    beside: Beside | None = None,
    progress: Callable[[str], object] = str,
    known: Callable[[PlanRow], object] = id,
    attribute: Attribute | None = None,
    drawn: float = 0.0,
) -> Plan:
    """Return what each design needs or reaches, given two of epsilon, clients and error.

    Args:
        scores: What is to be estimated.
        metric: The metric, whose units errors are in.
        epsilon: The privacy loss of one answer.
        clients: How many answers there will be.
        error: The half-width of the interval, in the metric's units.
        confidence: How often the interval is to hold the truth.
        interval: Which interval; see :mod:`fairgauge.estimation.interval_kinds`.
        detect: A gap whose chance of being noticed shall be given too, in the metric's units.
        designs: Which designs to compare; all that serve the scores unless given.
        beside: The other questions of the study, if there are any.
        progress: Called with the name of each design before it is worked out.
        known: Called with the row of each design as soon as it is worked out.
        attribute: Whose names the groups have; they are numbered unless given.
        drawn: How many secret draws there are for each answer.

    Raises:
        InvalidInput: If not exactly two of the three are given, or one is out of range.
    """
    kind, alpha = kind_of(interval), check_confidence(confidence)
    given = Given(epsilon, clients, error)
    if detect is not None and not 0 <= detect < math.inf:
        raise InvalidInput("detect", detect, "must be 0 or above")
    rows = []
    for design in designs or designs_for(scores):
        progress(design)
        tables = 1 if beside is None else beside.tables
        question = _Asked(scores.by(design), kind, alpha, design, metric, attribute, tables, drawn=drawn)
        rows.append(_row(question, given, detect))
        known(rows[-1])
    if beside is not None and beside.together is not None:
        progress(TOGETHER)
        shared = _Asked(scores, kind, alpha, TOGETHER, metric, attribute, beside.fewer, beside.together)
        rows.append(_row(shared, given, detect))
        known(rows[-1])
    return Plan(
        given.missing, confidence, interval, scores.target.kind, tuple(rows), condition=condition(scores.target)
    )


def _row(question: _Asked, given: Given, detect: float | None) -> PlanRow:
    if given.missing == "epsilon" and question.without_privacy(given.clients or 1) > (given.error or 0):
        return PlanRow(question.design, None, given.clients, given.error, None, None, None)
    epsilon, clients, reached = given.solved(question.error, close=reader_of(question.kind).planned_to)
    if epsilon is None:
        return PlanRow(question.design, None, clients, reached, None, None, None)
    scores, channel = question.served(epsilon)
    power = None
    if detect is not None and clients is not None:
        gap, answers = scores.asking(kind="gap"), clients / question.tables
        width = planned_width(gap, channel, answers, question.kind, question.alpha, drawn=question.drawn)
        power = planned_power(gap, channel, answers, width, detect / question.metric.scale, drawn=question.drawn)
    reading = PlanConditions(clients, question.kind, question.alpha, question.metric, question.tables, question.drawn)
    return PlanRow(
        design=question.design,
        epsilon=float(epsilon),
        clients=clients,
        error=reached,
        variance=question.tables * scores.variance(channel),
        symbols=channel.symbols,
        levels=len(channel.axes[scores.axis]),
        power=power,
        privacy_variance=question.tables * scores.privacy_variance(channel),
        sampling_variance=question.tables * scores.sampling_variance(),
        assumes=assumption(scores, question.metric),
        pairs=planned_parts(scores, channel, question.attribute, reading, target="gap"),
        means=planned_parts(scores, channel, question.attribute, reading, target="means"),
        mechanism=channel,
    )


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
    """

    whom: ClassVar[str] = "clients"  # who answers
    metrics: tuple[str, ...]
    plans: tuple[Plan, ...]

    _repr_html_ = late("_repr_html_")
    plot = late("plot")
    to_frame = late("to_frame")

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
        said = self.sharing()
        if self.enough is not None:
            what = f"{self.enough:,} {self.whom}" if self.solved_for == "clients" else f"epsilon {self.enough:.4g}"
            most = [name for name, plan in zip(self.metrics, self.plans, strict=True) if _need(plan) == self.enough]
            needs = "" if len(most) == len(self.plans) else f": {' and '.join(most)} needs the most"
            said.append(f"For all of them it takes {what}{needs}.")
        return said

    def sharing(self) -> list[str]:
        """Return how several questions share the answers."""
        designs = {row.design for plan in self.plans for row in plan.rows}
        return [share_sentence(len(self.plans), shared=TOGETHER in designs)]

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


def plan_questions(questions: Sequence[Question], **asked: Any) -> Plans:
    """Return a plan for each question of one study, in which all share the answers.

    Questions that another mechanism than a channel answers plan themselves (``table_pairing.Planner``).

    Guarantee: the best of each is what ``fairgauge.design`` makes of the same questions, for the same epsilon and
    number of clients, unless designs are named: questions share a table where that serves them best as a whole.

    Args:
        questions: What is asked.
        asked: Two of ``epsilon``, ``clients`` and ``error``, and whatever else a plan takes.  An error may be given for
            each metric, by its name.

    Raises:
        InvalidInput: If there is none, or two are about one metric; if not exactly two of the three are given, or one
            is out of range.
    """
    if isinstance(questions, Planner):
        own: Plans = questions.planned(**asked)
        return own
    names, error = metric_names(questions), asked.get("error")
    plans = [
        plan_for(
            Scores.of(question), question.metric, beside=_beside(questions, n), attribute=question.attribute,
            **{**asked, "error": error[question.metric.name] if isinstance(error, Mapping) else error},
        )
        for n, question in enumerate(questions)
    ]  # fmt: skip
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
        count = {"tables": len(tables), "questions": len(questions)}
        chosen = {place: name_of(table.design, **count) for table in tables for place in table.places}
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


def _where_tables_are_shared(questions: tuple[Question, ...], place: int, epsilon: Decimal) -> tuple[Scores, Channel]:
    """Return a question's scores and table where all that can share a table do; what cannot has its own."""
    table = next(table for table in _tables(questions, epsilon) if place in table.places)
    question = table.questions[table.places.index(place)]
    return Scores.of(question), question.channel


@lru_cache(maxsize=64)
def _tables(questions: tuple[Question, ...], epsilon: Decimal) -> tuple[DesignedTable, ...]:
    return tuple(shared_tables(questions, epsilon))
