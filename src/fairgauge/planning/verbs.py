"""The two verbs of planning, as a scientist types them: every number once, and in the metric's units."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, overload

from fairgauge.designs import AUTO
from fairgauge.errors import InvalidInput
from fairgauge.estimation.kinds import DEFAULT
from fairgauge.goals.goal import Goal
from fairgauge.goals.wish import Wish
from fairgauge.planning.asking import make_questions
from fairgauge.planning.crowd import plan_in_crowd, read_aim
from fairgauge.planning.result import Plan
from fairgauge.planning.search import plan_for
from fairgauge.planning.several import Plans, plan_several
from fairgauge.planning.typed import as_count, as_epsilon, as_number, check_comparisons, read_weights
from fairgauge.study import Attribute, Metric, Number, Question


@overload
def plan(
    metric: Metric,
    attribute: Attribute,
    *,
    clients: Number | None = None,
    epsilon: Number | None = None,
    error: Number | None = None,
    confidence: float = 0.99,
    interval: str = DEFAULT,
    target: str | None = None,
    abstain: bool = False,
    abstaining: Number | None = None,
    expect: Number | Mapping[str, Number] | None = None,
    spread: Number | Mapping[str, Number] | None = None,
    detect: Number | None = None,
    crowd_epsilon: Number | None = None,
    delta: Number | None = None,
    observed: Number | None = None,
    local_limit: Number | None = None,
    designs: Sequence[str] | None = None,
    progress: Callable[[str], object] = str,
) -> Plan: ...
@overload
def plan(
    metric: list[Metric] | tuple[Metric, ...],
    attribute: Attribute,
    *,
    clients: Number | None = None,
    epsilon: Number | None = None,
    error: Number | None = None,
    confidence: float = 0.99,
    interval: str = DEFAULT,
    target: str | None = None,
    abstain: bool = False,
    abstaining: Number | None = None,
    expect: Number | Mapping[str, Number] | None = None,
    spread: Number | Mapping[str, Number] | None = None,
    detect: Number | None = None,
    designs: Sequence[str] | None = None,
    weights: Mapping[str, Number] | None = None,
    progress: Callable[[str], object] = str,
) -> Plans: ...
def plan(  # noqa: PLR0913 - two of three are given, and the rest have defaults
    metric: Metric | list[Metric] | tuple[Metric, ...],
    attribute: Attribute,
    *,
    clients: Number | None = None,
    epsilon: Number | None = None,
    error: Number | None = None,
    confidence: float = 0.99,
    interval: str = DEFAULT,
    target: str | None = None,
    abstain: bool = False,
    abstaining: Number | None = None,
    expect: Number | Mapping[str, Number] | None = None,
    spread: Number | Mapping[str, Number] | None = None,
    detect: Number | None = None,
    crowd_epsilon: Number | None = None,
    delta: Number | None = None,
    observed: Number | None = None,
    local_limit: Number | None = None,
    designs: Sequence[str] | None = None,
    weights: Mapping[str, Number] | None = None,
    progress: Callable[[str], object] = str,
) -> Plan | Plans:
    """Return what each design needs or reaches, given two of clients, epsilon and error.

    Clients and a crowd epsilon will do, too.

    Every number is in the metric's units, except ``variance``, which is in units of v, from -1 to 1
    (:class:`~fairgauge.planning.result.PlanRow`).

    Args:
        metric: What is measured; a list of metrics is planned as the questions of one study, which share its answers.
        attribute: How people are grouped, with their shares of the population, and how often they answer.
        clients: How many will answer.
        epsilon: The privacy loss of one answer.
        error: The half-width of the interval.
        confidence: How often the interval is to hold the truth.
        interval: Which interval; see :mod:`fairgauge.estimation.kinds`.
        target: ``"gap"``, which is the default, or ``"means"``.
        abstain: Whether people may prefer not to say.
        abstaining: The part of people who will have nothing to say; a tenth where they may abstain, unless given.
        expect: The overall mean to reckon with; a wrong guess costs precision, never truth.  Of several, by name.
        spread: The standard deviation about it to reckon with; ``"max"`` for any values.  By name for several metrics.
        detect: A gap whose chance of being noticed shall be given too.
        crowd_epsilon: Instead of epsilon and error: what one release of all answers may cost a person towards those who
            see only its counts.  The largest local epsilon that keeps it is found; see ``Plan.release``.
        delta: The crowd's delta; the smaller of 1e-8 and a tenth of one in the number of clients unless given.
        observed: The part of the answers that a reader may know or have made up; a half unless given.
        local_limit: The most epsilon that one answer may cost; 4 unless given, as on devices.
        designs: Which designs to compare; all that serve unless given.
        weights: How much metrics matter beside each other, by name, where several are asked for; each 1 unless given.
        progress: Called with the name of each design before it is worked out.

    Raises:
        InvalidInput: If not exactly two of the three are given, or something is of another type or out of range.

    >>> recall, sex = Metric("recall", 0, 1), Attribute("sex", {"female": 0.5, "male": 0.5})
    >>> found = plan(recall, sex, clients=200_000, epsilon=1, designs=["randomized-response"])
    >>> round(found.rows[0].error, 4)
    0.0222
    >>> both = plan([recall, Metric("fpr", 0, 1)], sex, clients=400_000, epsilon=1, designs=["randomized-response"])
    >>> round(both["fpr"].rows[0].error, 4)
    0.0222
    """
    part = None if abstaining is None else as_number("abstaining", abstaining)
    known = (attribute, target, abstain or part is not None)
    wishes = [
        Wish(each, *known, _own("expect", expect, metric, each), _own("spread", spread, metric, each), weight, part)
        for each, weight in _weighed(metric, weights)
    ]
    check_comparisons(attribute)
    asked: dict[str, Any] = {
        "clients": None if clients is None else as_count("clients", clients),
        "confidence": confidence,
        "interval": interval,
        "detect": None if detect is None else as_number("detect", detect),
    }
    two: dict[str, Any] = {
        "epsilon": None if epsilon is None else as_epsilon(epsilon),
        "error": None if error is None else as_number("error", error),
        "designs": designs,
        "progress": progress,
    }
    aim = read_aim(clients, crowd_epsilon, {"delta": delta, "observed": observed, "local_limit": local_limit})
    if isinstance(metric, list | tuple):
        if aim is not None:
            raise InvalidInput("crowd_epsilon", crowd_epsilon, "takes one metric")
        return plan_several(wishes, **asked, **two)
    goal = Goal.of(wishes[0])
    plan_all = partial(plan_for, goal, metric, attribute=attribute, **asked)
    if aim is not None:
        if epsilon is not None or error is not None:
            raise InvalidInput("crowd_epsilon", crowd_epsilon, "takes the place of epsilon and error: leave them out")
        return plan_in_crowd(
            goal, aim, lambda name, local: plan_all(epsilon=local, designs=[name]), designs=designs, progress=progress
        )
    return plan_all(**two)


@overload
def design(
    metric: Metric,
    attribute: Attribute,
    *,
    epsilon: Number,
    target: str | None = None,
    design: str = AUTO,
    expect: Number | Mapping[str, Number] | None = None,
    spread: Number | Mapping[str, Number] | None = None,
    abstain: bool = False,
    abstaining: Number | None = None,
    clients: Number | None = None,
) -> Question: ...
@overload
def design(
    metric: list[Metric] | tuple[Metric, ...],
    attribute: Attribute,
    *,
    epsilon: Number,
    target: str | None = None,
    design: str = AUTO,
    expect: Number | Mapping[str, Number] | None = None,
    spread: Number | Mapping[str, Number] | None = None,
    abstain: bool = False,
    abstaining: Number | None = None,
    clients: Number | None = None,
    weights: Mapping[str, Number] | None = None,
) -> list[Question]: ...
def design(  # noqa: PLR0913 - what is known beforehand, each by its name
    metric: Metric | list[Metric] | tuple[Metric, ...],
    attribute: Attribute,
    *,
    epsilon: Number,
    target: str | None = None,
    design: str = AUTO,
    expect: Number | Mapping[str, Number] | None = None,
    spread: Number | Mapping[str, Number] | None = None,
    abstain: bool = False,
    abstaining: Number | None = None,
    clients: Number | None = None,
    weights: Mapping[str, Number] | None = None,
) -> Question | list[Question]:
    """Return the question that asks for a metric by an attribute, with the channel that serves it best.

    Guarantee: the channel's exact epsilon, computed from its integers, is at most the epsilon asked for.

    Args:
        metric: What is measured; a list of metrics makes a list of questions, which one table answers at once where
            that is the least error in total.
        attribute: How people are grouped, with their shares of the population, and how often they answer.
        epsilon: The privacy loss of one answer.
        target: ``"gap"``, which is the default, or ``"means"``.
        design: The design's name; ``"auto"`` takes the best.
        expect: The overall mean to reckon with; a wrong guess costs precision, never truth.  Of several, by name.
        spread: The standard deviation about it to reckon with; ``"max"`` for any values.  By name for several metrics.
        abstain: Whether people may prefer not to say.
        abstaining: The part of people who will have nothing to say, whom the channel is made for; a tenth where they
            may abstain, unless given.
        clients: How many will answer.  For a gap whose shares are estimated it decides which design has the narrowest
            interval; 10,000 unless given.
        weights: How much metrics matter beside each other, by name, where several are asked for; each 1 unless given.

    Raises:
        InvalidInput: If something is of another type or out of range.
        Impossible: If no design reaches it.

    >>> recall, sex = Metric("recall", 0, 1), Attribute("sex", {"female": 0.5, "male": 0.5})
    >>> question = design(recall, sex, epsilon=0.5, design="randomized-response")
    >>> question.epsilon, question.target
    ('0.5', 'gap')
    """
    loss = as_epsilon(epsilon)
    part = None if abstaining is None else as_number("abstaining", abstaining)
    known = (attribute, target, abstain or part is not None)
    wishes = [
        Wish(each, *known, _own("expect", expect, metric, each), _own("spread", spread, metric, each), weight, part)
        for each, weight in _weighed(metric, weights)
    ]
    check_comparisons(attribute)
    count = None if clients is None else as_count("clients", clients)
    made = make_questions(wishes, loss, design=design, clients=count)
    return made if isinstance(metric, list | tuple) else made[0]


def _own(
    field: str,
    given: Number | Mapping[str, Number] | None,
    metrics: Metric | list[Metric] | tuple[Metric, ...],
    metric: Metric,
) -> Number | None:
    """Return what is given for a metric: one number for all, or one by its name."""
    if not isinstance(given, Mapping):
        return given
    names = [each.name for each in (metrics if isinstance(metrics, list | tuple) else [metrics])]
    for name in given:
        if name not in names:
            raise InvalidInput(field, name, f"must be one of {', '.join(names)}")
    return given.get(metric.name)


def _weighed(
    metric: Metric | list[Metric] | tuple[Metric, ...], weights: Mapping[str, Number] | None
) -> list[tuple[Metric, Decimal | None]]:
    """Return each metric with how much it matters, if that is said."""
    if not isinstance(metric, list | tuple):
        if weights is not None:
            raise InvalidInput("weights", ", ".join(map(str, weights)), "must be given with a list of metrics")
        return [(metric, None)]
    if not metric:
        raise InvalidInput("metric", "none", "give at least one")
    known = read_weights(metric, [f"{name}={weight}" for name, weight in (weights or {}).items()])
    return [(each, known.get(each.name) if known else None) for each in metric]
