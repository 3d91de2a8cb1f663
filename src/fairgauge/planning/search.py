"""Any two of clients, epsilon and error give the third, for every design."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

from fairgauge.channel import Channel
from fairgauge.designs import LEAST_EPSILON, designs_for, make_channel
from fairgauge.errors import InvalidInput
from fairgauge.estimation.crossing import crossing
from fairgauge.estimation.kinds import DEFAULT, IntervalKind, check_confidence, kind_of
from fairgauge.estimation.readers import reader_of
from fairgauge.planning.parts import Reading, planned_gaps, planned_means
from fairgauge.planning.result import Plan, PlanRow
from fairgauge.planning.widths import planned_power, planned_width
from fairgauge.study import Attribute, Metric
from fairgauge.targets.target import Goal, assumption, condition

# A plan looks for an epsilon in this range: above it a promise of privacy would be one in name only.
_LEAST, MOST = max(LEAST_EPSILON, Decimal("0.01")), Decimal(8)
_MOST_CLIENTS = 10**15
# The search for a number of clients starts here, and goes on by smaller steps than this, as logarithms.
_START, _STRIDE = math.log(10_000), 0.5
# The row of a table that answers several questions at once.
TOGETHER = "together"


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
        if self.clients is not None and not 1 <= self.clients <= _MOST_CLIENTS:
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
    if width(epsilon, _MOST_CLIENTS) > error:
        return None
    if width(epsilon, 1) <= error:
        return 1

    def lacking(logarithm: float) -> float:
        return -math.log(max(width(epsilon, math.exp(logarithm)), 1e-300) / error)

    # Widths fall with the square root of clients, nearly: a guess is soon between two that are not far apart.
    low, high, about = 0.0, math.log(_MOST_CLIENTS), _START
    while high - low > _STRIDE:
        found = lacking(about)
        low, high = (low, about) if found >= 0 else (about, high)
        about = min(max(about - 2 * found + math.copysign(_STRIDE / 3, -found), low + _STRIDE / 8), high - _STRIDE / 8)
    enough = crossing(lacking, low, high, close=close)[1]
    clients = math.ceil(math.exp(enough) - 1e-6)
    return clients if width(epsilon, clients) <= error else clients + 1


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
    lacking = crossing(excess, math.log(high), math.log(low), close=1e-3)[1]
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
        together: Gives this question's table, and its goal there, where questions that can share a table do; None
            where none can.
        fewer: How many tables there are then.
    """

    tables: int
    together: Callable[[Decimal], tuple[Goal, Channel]] | None = None
    fewer: int = 1


@dataclass(frozen=True)
class _Asked:
    """What stays the same while a plan is solved."""

    goal: Goal
    kind: IntervalKind
    alpha: float
    design: str
    metric: Metric
    attribute: Attribute | None = None
    tables: int = 1
    make: Callable[[Decimal], tuple[Goal, Channel]] | None = None

    def served(self, epsilon: Decimal) -> tuple[Goal, Channel]:
        if self.make is not None:
            return self.make(epsilon)
        return self.goal, make_channel(self.goal, epsilon, design=self.design)[1]

    def error(self, epsilon: Decimal, clients: float) -> float:
        # A device answers one table, picked by its coin: each gets its part of the answers.
        answers = clients / self.tables
        return self.metric.scale * planned_width(*self.served(epsilon), answers, self.kind, self.alpha)


def plan_for(  # noqa: PLR0913 - two of three are given, and the rest have defaults
    goal: Goal,
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
    attribute: Attribute | None = None,
) -> Plan:
    """Return what each design needs or reaches, given two of epsilon, clients and error.

    Args:
        goal: What is to be estimated.
        metric: The metric, whose units errors are in.
        epsilon: The privacy loss of one answer.
        clients: How many answers there will be.
        error: The half-width of the interval, in the metric's units.
        confidence: How often the interval is to hold the truth.
        interval: Which interval; see :mod:`fairgauge.estimation.kinds`.
        detect: A gap whose chance of being noticed shall be given too, in the metric's units.
        designs: Which designs to compare; all that serve the goal unless given.
        beside: The other questions of the study, if there are any.
        progress: Called with the name of each design before it is worked out.
        attribute: Whose names the groups have; they are numbered unless given.

    Raises:
        InvalidInput: If not exactly two of the three are given, or one is out of range.
    """
    kind, alpha = kind_of(interval), check_confidence(confidence)
    given = Given(epsilon, clients, error)
    if detect is not None and not 0 <= detect < math.inf:
        raise InvalidInput("detect", detect, "must be 0 or above")
    rows = []
    for design in designs or designs_for(goal):
        progress(design)
        tables = 1 if beside is None else beside.tables
        question = _Asked(goal.by(design), kind, alpha, design, metric, attribute, tables)
        rows.append(_row(question, given, detect))
    if beside is not None and beside.together is not None:
        progress(TOGETHER)
        shared = _Asked(goal, kind, alpha, TOGETHER, metric, attribute, beside.fewer, beside.together)
        rows.append(_row(shared, given, detect))
    return Plan(given.missing, confidence, interval, goal.target, tuple(rows), condition=condition(goal))


def _row(question: _Asked, given: Given, detect: float | None) -> PlanRow:
    epsilon, clients, reached = given.solved(question.error, close=reader_of(question.kind).planned_to)
    if epsilon is None:
        return PlanRow(question.design, None, clients, reached, None, None, None)
    goal, channel = question.served(epsilon)
    power = None
    if detect is not None and clients is not None:
        gap, answers = replace(goal, target="gap"), clients / question.tables
        width = planned_width(gap, channel, answers, question.kind, question.alpha)
        power = planned_power(gap, channel, answers, width, detect / question.metric.scale)
    reading = Reading(clients, question.kind, question.alpha, question.metric, question.tables)
    return PlanRow(
        design=question.design,
        epsilon=float(epsilon),
        clients=clients,
        error=reached,
        variance=question.tables * goal.variance(channel),
        symbols=channel.symbols,
        levels=len(channel.axes[goal.axis]),
        power=power,
        privacy_variance=question.tables * goal.privacy_variance(channel),
        sampling_variance=question.tables * goal.sampling_variance(),
        assumes=assumption(goal, question.metric),
        pairs=planned_gaps(goal, channel, question.attribute, reading),
        means=planned_means(goal, channel, question.attribute, reading),
        mechanism=channel,
    )
