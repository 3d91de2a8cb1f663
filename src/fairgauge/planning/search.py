"""Any two of clients, epsilon and error give the third, for every design."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

from scipy.special import ndtri

from fairgauge.channel import Channel
from fairgauge.designs import LEAST_EPSILON, designs_for, make_channel
from fairgauge.errors import InvalidInput
from fairgauge.estimation.crossing import crossing
from fairgauge.estimation.kinds import DEFAULT, IntervalKind, check_confidence, kind_of
from fairgauge.estimation.readers import reader_of
from fairgauge.goals.assumption import assumption, condition
from fairgauge.goals.goal import Goal
from fairgauge.planning.parts import Reading, planned_gaps, planned_means
from fairgauge.planning.result import Plan, PlanRow
from fairgauge.planning.widths import planned_power, planned_width
from fairgauge.study import Attribute, Metric

# A plan looks for an epsilon in this range: above it a promise of privacy would be one in name only.
_LEAST, MOST = max(LEAST_EPSILON, Decimal("0.01")), Decimal(8)
_MOST_CLIENTS = 10**15
# So many guesses of a number of clients, and how steeply widths fall with it, as logarithms: else it is enclosed.
_GUESSES, _FLATTEST, _STEEPEST = 8, 0.1, 2.0
# The row of a table that answers several questions at once.
TOGETHER = "together"


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
    drawn: float = 0.0

    def served(self, epsilon: Decimal) -> tuple[Goal, Channel]:
        if self.make is not None:
            return self.make(epsilon)
        return self.goal, make_channel(self.goal, epsilon, design=self.design)[1]

    def error(self, epsilon: Decimal, clients: float) -> float:
        # A device answers one table, picked by its coin: each gets its part of the answers.
        answers = clients / self.tables
        return self.metric.scale * planned_width(
            *self.served(epsilon), answers, self.kind, self.alpha, drawn=self.drawn
        )


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
    drawn: float = 0.0,
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
        drawn: How many secret draws there are for each answer.

    Raises:
        InvalidInput: If not exactly two of the three are given, or one is out of range.
    """
    kind, alpha = kind_of(interval), check_confidence(confidence)
    given = {"epsilon": epsilon, "clients": clients, "error": error}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        names = ", ".join(name for name, value in given.items() if value is not None) or "none"
        rule = "give exactly two of epsilon, clients and error: the plan finds the third"
        raise InvalidInput("given", names, rule)
    if clients is not None and not 1 <= clients <= _MOST_CLIENTS:
        raise InvalidInput("clients", clients, "must be from 1 to 10^15")
    if error is not None and not 0 < error < math.inf:
        raise InvalidInput("error", error, "must be above 0")
    if detect is not None and not 0 <= detect < math.inf:
        raise InvalidInput("detect", detect, "must be 0 or above")
    rows = []
    for design in designs or designs_for(goal):
        progress(design)
        tables = 1 if beside is None else beside.tables
        question = _Asked(goal.by(design), kind, alpha, design, metric, attribute, tables, drawn=drawn)
        rows.append(_row(question, epsilon, clients, error, detect))
    if beside is not None and beside.together is not None:
        progress(TOGETHER)
        shared = _Asked(goal, kind, alpha, TOGETHER, metric, attribute, beside.fewer, beside.together)
        rows.append(_row(shared, epsilon, clients, error, detect))
    return Plan(missing[0], confidence, interval, goal.target, tuple(rows), condition=condition(goal))


def _row(
    question: _Asked, epsilon: Decimal | None, clients: int | None, error: float | None, detect: float | None
) -> PlanRow:
    if epsilon is None and clients is not None and error is not None:
        epsilon = _epsilon_for(question, clients, error)
        if epsilon is None:
            return PlanRow(question.design, None, clients, error, None, None, None)
    elif clients is None and epsilon is not None and error is not None:
        clients = _clients_for(question, epsilon, error)
    if epsilon is None:  # pragma: no cover - plan_for() makes sure of this
        raise InvalidInput("epsilon", None, "must be given")
    goal, channel = question.served(epsilon)
    reached = question.error(epsilon, clients) if clients is not None and error is None else error
    power = None
    if detect is not None and clients is not None:
        gap, answers = replace(goal, target="gap"), clients / question.tables
        width = planned_width(gap, channel, answers, question.kind, question.alpha, drawn=question.drawn)
        power = planned_power(gap, channel, answers, width, detect / question.metric.scale, drawn=question.drawn)
    reading = Reading(clients, question.kind, question.alpha, question.metric, question.tables, question.drawn)
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
    )


def _clients_for(question: _Asked, epsilon: Decimal, error: float) -> int | None:
    """Return the least number of clients whose interval is narrow enough; to three digits where intervals take long."""
    close = reader_of(question.kind).planned_to

    def spare(logarithm: float) -> float:
        """Return by how much an interval is narrower than it need be, as a logarithm."""
        return -math.log(max(question.error(epsilon, math.exp(logarithm)), 1e-300) / error)

    enough = _near(spare, _normal_clients(question, epsilon, error), close)
    if enough is None:
        if question.error(epsilon, _MOST_CLIENTS) > error:
            return None
        if question.error(epsilon, 1) <= error:
            return 1
        enough = crossing(spare, 0.0, math.log(_MOST_CLIENTS), close=close)[1]
    clients = math.ceil(math.exp(enough) - 1e-6)
    return clients if question.error(epsilon, clients) <= error else clients + 1


def _normal_clients(question: _Asked, epsilon: Decimal, error: float) -> float:
    """Return about how many clients it takes, as a logarithm: what a normal interval with the same variance would."""
    goal, channel = question.served(epsilon)
    deviations = float(ndtri(1 - question.alpha / 2)) * question.metric.scale / error
    return math.log(max(question.tables * goal.variance(channel) * deviations**2, 1.0))


def _near(spare: Callable[[float], float], about: float, close: float) -> float | None:
    """Return where the spare is zero, found from nearby; None if it is not found soon.

    Widths fall with the square root of clients, nearly, so a guess is soon good; from then on a line through the last
    two leads on.  From a distance d, as a logarithm, it is off by a part of d^2.
    """
    slope, last = 0.5, None
    for _ in range(_GUESSES):
        found = spare(about)
        if last is not None and about != last[0]:
            slope = min(max((found - last[1]) / (about - last[0]), _FLATTEST), _STEEPEST)
        last, about = (about, found), about - found / slope
        if abs(found) <= slope * math.sqrt(close) / 4:
            return about
        if not 0 <= about <= math.log(_MOST_CLIENTS):
            return None
    return None


def _epsilon_for(question: _Asked, clients: int, error: float) -> Decimal | None:
    """Return the least epsilon, rounded up to three digits, whose interval is narrow enough."""

    def excess(log_epsilon: float) -> float:
        # A channel that cannot tell at all has an infinite error, which no search by numbers likes.
        return math.log(min(question.error(_short(math.exp(log_epsilon)), clients) / error, 1e300))

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
    while epsilon < enough and question.error(epsilon, clients) > error:
        epsilon += Decimal(1).scaleb(epsilon.adjusted() - 2)
    return min(epsilon, enough)


def _short(epsilon: float) -> Decimal:
    """Return the epsilon rounded up to three digits."""
    exact = Decimal(epsilon)
    return min(MOST, exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), rounding=ROUND_CEILING))
