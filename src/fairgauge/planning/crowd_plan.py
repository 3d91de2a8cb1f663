"""Plans in the crowd: the local epsilon and the secret draws that keep the crowd's at the least width."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import cache
from typing import Any

from fairgauge.channel import Channel
from fairgauge.client.budget import STUDY_LIMIT
from fairgauge.crowd import Crowd, default_delta, promised
from fairgauge.crowd.crowd_epsilon import crowd_of_channels
from fairgauge.crowd.secret_draws import MOST_FOR_ONE_BATCH
from fairgauge.designs import AUTO, LEAST_EPSILON, designs_for, make_channel
from fairgauge.errors import Impossible, InvalidInput
from fairgauge.estimation.interval_kinds import DEFAULT, check_confidence, kind_of
from fairgauge.planning.planned_widths import planned_width
from fairgauge.planning.plans import Plan, PlanRow, Plans, plan_questions
from fairgauge.planning.table_pairing import designed
from fairgauge.study import Number, Question, Study
from fairgauge.study.numbers import as_count, as_epsilon, as_number, read_decimal
from fairgauge.targets.scores import Scores

# Local epsilons have three digits, rounded down.
_SHORT = Context(prec=3, rounding=ROUND_FLOOR)
_ROUND_UP = Context(prec=3, rounding=ROUND_CEILING)
# Parts of the local limit that are tried, by the normal interval.
_TRIED = tuple(map(Decimal, ("1", "0.7", "0.5", "0.35", "0.25")))
_ALPHA = 0.05
_LEAST_TO_HALVE = 2


@dataclass(frozen=True, slots=True)
class CrowdAim:
    """What a plan is to keep towards those who see only one release of all answers.

    Args:
        epsilon: The crowd's epsilon.
        clients: How many answers the release sums up.
        delta: The crowd's delta.
        local_limit: The most epsilon that one answer may cost: what devices allow unless they say otherwise.
    """

    epsilon: Decimal
    clients: int
    delta: Decimal
    local_limit: Decimal = STUDY_LIMIT

    def __post_init__(self) -> None:
        if not self.epsilon >= LEAST_EPSILON:
            raise InvalidInput("crowd-epsilon", self.epsilon, f"must be {LEAST_EPSILON} or above")
        if not self.local_limit >= LEAST_EPSILON:
            raise InvalidInput("local-limit", self.local_limit, f"must be {LEAST_EPSILON} or above")
        if self.delta.is_finite() and self.delta * self.clients >= 1:
            rule = (
                f"must be below 1 in {self.clients:,}, and better far below: publishing one of so many answers as it "
                "is would keep a promise with this delta, too"
            )
            raise InvalidInput("delta", self.delta, rule)


def read_aim(
    clients: Number | None, epsilon: Number | None, more: Mapping[str, Number | None], *, dash: str = "_"
) -> CrowdAim | None:
    """Read what a plan is to keep in the crowd, as typed; None if no crowd epsilon is given.

    Args:
        clients: How many answers the release sums up.
        epsilon: The crowd's epsilon.
        more: ``delta`` and ``local_limit``, as far as they are given.
        dash: What stands between the words of a name in messages: ``-`` on a command line.

    Raises:
        InvalidInput: If something is missing, or out of range.
    """
    given = {name.replace("_", dash): typed for name, typed in more.items() if typed is not None}
    wanted, mark = f"crowd{dash}epsilon", "--" if dash == "-" else ""
    if epsilon is None:
        for name, typed in given.items():
            raise InvalidInput(name, typed, f"must be given with {mark}{wanted}")
        return None
    if clients is None:
        raise InvalidInput(wanted, epsilon, f"needs {mark}clients: how many will answer")
    read = {name: read_decimal(name, str(typed)) for name, typed in given.items()}
    # auto: the least that reaches an error, which least_aim finds.
    epsilon = LEAST_EPSILON if epsilon == AUTO else epsilon
    batch, limit = as_count("crowd", clients), f"local{dash}limit"
    return CrowdAim(
        read_decimal(wanted, str(epsilon)),
        batch,
        read.get("delta", default_delta(batch)),
        read.get(limit, STUDY_LIMIT),
    )


def check_crowd(name: str, typed: Number | None, **given: Any) -> None:
    """Refuse an epsilon or an error beside a crowd epsilon, but for an error whose least crowd epsilon is asked for.

    Raises:
        InvalidInput: If one is given, or is missing.
    """
    if typed == AUTO:
        if given["error"] is None or given["epsilon"] is not None:
            raise InvalidInput(name, typed, "needs clients and an error, whose least crowd epsilon is found, alone")
    elif given["epsilon"] is not None or given["error"] is not None:
        rule = (
            f"takes the place of epsilon and error: leave them out, or say {AUTO} for the least that reaches an error"
        )
        raise InvalidInput(name, typed, rule)


def least_draws(channels: Sequence[Channel], aim: CrowdAim) -> Crowd:
    """Return the fewest secret draws, to three digits, that keep the aim, and the crowd's numbers there.

    Guarantee: the crowd's epsilon is certified for these very channels.

    Raises:
        Impossible: If more would be needed than a collector draws.
    """

    @cache
    def crowd_at(draws: int) -> Crowd:
        return crowd_of_channels(channels, draws, delta=aim.delta)

    def enough(draws: int) -> bool:
        return crowd_at(draws).epsilon <= aim.epsilon

    low, high = 0, 1
    while not enough(high):
        if high == MOST_FOR_ONE_BATCH:
            raise Impossible(f"a crowd epsilon of {aim.epsilon} takes more than {MOST_FOR_ONE_BATCH:,} secret draws")
        # Epsilon falls with the square root of the draws, nearly.
        low, ratio = high, float(crowd_at(high).epsilon / aim.epsilon)
        high = min(max(2 * high, math.ceil(1.05 * high * ratio**2)), MOST_FOR_ONE_BATCH)
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return crowd_at(high)


def _least_aim(
    question: Question, aim: CrowdAim, asked: Mapping[str, Any], *, progress: Callable[[str], object] = str
) -> CrowdAim:
    """Return the aim with the least crowd epsilon, rounded up to three digits, at which so many clients reach an error.

    At the most that one answer may cost, each design affords some secret draws before its interval is too wide; the
    more it affords, the less counts cost a person.

    Args:
        question: What is asked.
        aim: Clients, delta and local limit; its epsilon does not count.
        asked: The ``error`` to reach, in the metric's units, and ``interval`` and ``confidence``.
        progress: Called with the name of each design before it is worked out.

    Raises:
        Impossible: If no design reaches it in the crowd.
    """
    scores, kind, error = Scores.of(question), kind_of(asked["interval"]), float(asked["error"])
    alpha, widths, found = check_confidence(asked["confidence"]), list[float](), list[Decimal]()
    for design in designs_for(scores):
        progress(design)
        by = scores.by(design)
        _, channel = make_channel(by, aim.local_limit, design=design)

        def width(draws: float, by: Scores = by, channel: Channel = channel) -> float:
            drawn = draws / aim.clients
            return question.metric.scale * planned_width(by, channel, aim.clients, kind, alpha, drawn=drawn)

        widths.append(width(1))
        if (draws := _most_draws(width, aim.clients, error)) is not None:
            found.append(crowd_of_channels([channel], draws, delta=aim.delta).epsilon)
    if not found:
        rule = "allow a larger --error, or add --expect or --confidence 0.95"
        raise Impossible(
            f"no crowd epsilon reaches ±{error:.4g} with {aim.clients:,} clients: ±{min(widths):.4g} is the least at a "
            f"local epsilon of {aim.local_limit}; {rule}"
        )
    return replace(aim, epsilon=max(LEAST_EPSILON, _ROUND_UP.plus(min(found))))


def _most_draws(width: Callable[[float], float], clients: int, error: float) -> int | None:
    """Return about the most draws within an error; None if not even one is.

    The square of a width grows with the draws, nearly in a straight line: some steps along it, and back where the last
    one went too far.
    """
    low, high = 1.0, min(max(10.0, 0.05 * clients), float(MOST_FOR_ONE_BATCH))
    least = width(low)
    if least > error:
        return None
    for _ in range(4):
        grown = width(high) ** 2 - least**2
        reach = math.inf if grown <= 0 else low + (high - low) * (error**2 - least**2) / grown
        high = min(max(reach, low), float(MOST_FOR_ONE_BATCH))
    while high > low and width(math.floor(high)) > error:
        high = max(low, 0.98 * high)
    return math.floor(high)


def _best_local(scores: Scores, design: str, aim: CrowdAim) -> tuple[Decimal, Crowd]:
    """Return the local epsilon, and the crowd's numbers with the draws that it takes, whose interval is narrowest.

    What draws add hardly depends on the table, and a table for a larger epsilon adds less of its own; but scores that
    take a constant from values scatter more over draws.  So some epsilons below the limit are tried.

    Raises:
        Impossible: If none keeps the aim.
    """
    found: list[tuple[float, Decimal, Crowd]] = []
    for part in _TRIED:
        local = _SHORT.multiply(aim.local_limit, part)
        if local < LEAST_EPSILON:
            continue
        _, channel = make_channel(scores, local, design=design)
        try:
            crowd = least_draws([channel], aim)
        except Impossible:
            continue
        kind, drawn = kind_of("normal"), crowd.draws / aim.clients
        found.append((planned_width(scores, channel, aim.clients, kind, _ALPHA, drawn=drawn), local, crowd))
    if not found:
        raise Impossible(f"no local epsilon keeps a crowd epsilon of {aim.epsilon}")
    _, local, crowd = min(found, key=lambda one: one[:2])
    return local, crowd


def planned_study(plan: Plan, question: Question, title: str) -> Study | None:
    """Return the study of a plan's best design, which says how its counts are released; None if no design will do.

    Guarantee: what the study's release promises, certified for its very table, is within what was planned.

    Raises:
        Impossible: If the table that is designed now is not the one that was planned with.
    """
    if plan.best is None or plan.crowd is None:
        return None
    local = Decimal(repr(plan.row(plan.best).epsilon))
    questions = designed([question], local, design=plan.best)
    study = Study(title, questions, planned=int(plan.crowd["batch"]), release=plan.release)
    study.check_privacy()
    crowd = promised(study)
    if crowd is None or crowd.epsilon > Decimal(repr(plan.crowd["epsilon"])):
        raise Impossible(f"the table of {plan.best} does not keep what was planned")
    return study


def plan_in_crowd(
    question: Question,
    aim: CrowdAim,
    asked: Mapping[str, Any],
    *,
    designs: Sequence[str] | None = None,
    progress: Callable[[str], object] = str,
) -> Plans:
    """Return what each design reaches with the local epsilon and the draws that serve it best.

    Args:
        question: What is asked.
        aim: What is to be kept.
        asked: What else a plan takes, such as ``clients`` and ``interval``.  With an ``error`` the least crowd epsilon
            that reaches it takes the place of the aim's.
        designs: Which designs to compare; all that serve the scores unless given.
        progress: Called with the name of each design before it is worked out.
    """
    if asked.get("error") is not None:
        return _plan_least(question, aim, asked, designs=designs, progress=progress)
    rows: list[PlanRow] = []
    plan, crowd, scores = None, None, Scores.of(question)
    for design in designs or designs_for(scores):
        progress(design)
        local, crowd = _best_local(scores.by(design), design, aim)
        told = {"epsilon": local, "designs": [design], "drawn": crowd.draws / aim.clients}
        plan = plan_questions([question], **{**asked, **told})[0]
        rows.append(replace(plan.rows[0], crowd_epsilon=crowd.number, draws=crowd.draws))
    if plan is None or crowd is None:
        raise Impossible("no design serves this question")
    terms = {
        "epsilon": float(aim.epsilon),
        "batch": aim.clients,
        "delta": float(crowd.delta),
        "local_limit": float(aim.local_limit),
    }
    found = replace(plan, rows=tuple(rows), crowd=terms)
    return Plans((question.metric.name,), (replace(found, crowd=terms | _with_half(found, question, asked)),))


def _with_half(plan: Plan, question: Question, asked: Mapping[str, Any]) -> dict[str, float]:
    """Return the best design's error if half of those who are planned with answer: the draws stay as many."""
    if plan.best is None or plan.crowd is None or plan.crowd["batch"] < _LEAST_TO_HALVE:
        return {}
    best, clients = plan.row(plan.best), int(plan.crowd["batch"]) // 2
    told = {"epsilon": Decimal(repr(best.epsilon)), "designs": [best.design], "clients": clients}
    (row,) = plan_questions([question], **{**asked, **told, "drawn": (best.draws or 0) / clients})[0].rows
    return {} if row.error is None else {"error_with_half": row.error}


def _plan_least(question: Question, aim: CrowdAim, asked: Mapping[str, Any], **more: Any) -> Plans:
    """Return the plan with the least crowd epsilon that reaches an error."""
    aim = _least_aim(question, aim, asked, progress=more["progress"])
    rest, error = {**asked, "error": None}, float(asked["error"])
    while True:
        plans = plan_in_crowd(question, aim, rest, **more)
        found = plans[0].row(str(plans[0].best)).error
        # Local epsilons are chosen by a quicker interval: where that is a hair too wide, counts may cost a hair more.
        if found is None or found <= error or aim.epsilon > aim.local_limit:
            return plans
        aim = replace(aim, epsilon=_ROUND_UP.multiply(aim.epsilon, Decimal("1.02")))


def plan_asked(  # noqa: PLR0913 - what a plan takes
    questions: Sequence[Question],
    *,
    clients: Number | None = None,
    epsilon: Number | None = None,
    error: Number | None = None,
    confidence: float = 0.99,
    interval: str = DEFAULT,
    detect: Number | None = None,
    crowd_epsilon: Number | None = None,
    delta: Number | None = None,
    local_limit: Number | None = None,
    designs: Sequence[str] | None = None,
    progress: Callable[[str], object] = str,
) -> Plans:
    """Plan questions that are asked already; the arguments are those of :func:`plan`.

    Raises:
        InvalidInput: If not exactly two of clients, epsilon and error are given, or one is out of range.
    """
    asked: dict[str, Any] = {
        "clients": None if clients is None else as_count("clients", clients),
        "epsilon": None if epsilon is None else as_epsilon(epsilon),
        "error": None if error is None else as_number("error", error),
        "confidence": confidence,
        "interval": interval,
        "detect": None if detect is None else as_number("detect", detect),
    }
    aim = read_aim(clients, crowd_epsilon, {"delta": delta, "local_limit": local_limit})
    if aim is None:
        return plan_questions(questions, **asked, designs=designs, progress=progress)
    if len(questions) > 1:
        raise InvalidInput("crowd_epsilon", crowd_epsilon, "takes one metric")
    check_crowd("crowd_epsilon", crowd_epsilon, epsilon=epsilon, error=error)
    return plan_in_crowd(questions[0], aim, asked, designs=designs, progress=progress)
