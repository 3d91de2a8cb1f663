"""Plans in the crowd: the largest local epsilon whose released tally still keeps the crowd's."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any

from fairgauge.client.limits import STUDY_LIMIT
from fairgauge.crowd import OBSERVED_IF_OPEN, Crowd, default_delta, promised
from fairgauge.crowd.promise import crowd_of_channels
from fairgauge.designs import LEAST_EPSILON, designs_for, make_channel
from fairgauge.errors import Impossible, InvalidInput
from fairgauge.planning.plans import Plan, PlanRow, Plans, plan_questions
from fairgauge.planning.table_pairing import designed
from fairgauge.study import Number, Question, Study
from fairgauge.study.numbers import as_count, read_decimal
from fairgauge.targets.target import Goal

# Local epsilons have three digits, rounded down.
_SHORT = Context(prec=3, rounding=ROUND_FLOOR)
_PRECISION = 0.004


@dataclass(frozen=True, slots=True)
class CrowdAim:
    """What a plan is to keep towards those who see only one release of all answers.

    Args:
        epsilon: The crowd's epsilon.
        clients: How many answers the release sums up.
        delta: The crowd's delta; the usual one unless given.
        observed: The part of the answers that a reader may know or have made up.
        local_limit: The most epsilon that one answer may cost: what devices allow unless they say otherwise.
    """

    epsilon: Decimal
    clients: int
    delta: Decimal | None = None
    observed: Decimal = OBSERVED_IF_OPEN
    local_limit: Decimal = STUDY_LIMIT

    def __post_init__(self) -> None:
        if not self.epsilon >= LEAST_EPSILON:
            raise InvalidInput("crowd-epsilon", self.epsilon, f"must be {LEAST_EPSILON} or above")
        if not self.local_limit >= LEAST_EPSILON:
            raise InvalidInput("local-limit", self.local_limit, f"must be {LEAST_EPSILON} or above")
        if self.delta is not None and self.delta.is_finite() and self.delta * self.clients >= 1:
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
        more: ``delta``, ``observed`` and ``local_limit``, as far as they are given.
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
        raise InvalidInput(wanted, epsilon, f"needs {mark}clients: among how many a person is hidden")
    read = {name: read_decimal(name, str(typed)) for name, typed in given.items()}
    batch, limit = as_count("crowd", clients), f"local{dash}limit"
    return CrowdAim(
        read_decimal(wanted, str(epsilon)),
        batch,
        read.get("delta", default_delta(batch)),
        read.get("observed", OBSERVED_IF_OPEN),
        read.get(limit, STUDY_LIMIT),
    )


def largest_local(goal: Goal, design: str, aim: CrowdAim) -> tuple[Decimal, Crowd]:
    """Return the largest local epsilon, to three digits, that keeps the aim, and the crowd's numbers there.

    Guarantee: the crowd's epsilon is certified for the very channel that is designed at that local epsilon.

    Raises:
        Impossible: If the least epsilon that can be designed for does not keep it.
    """

    def crowd_at(local: Decimal) -> Crowd:
        _, channel = make_channel(goal, local, design=design)
        return crowd_of_channels([channel], aim.clients, observed=aim.observed, delta=aim.delta)

    def excess(crowd: Crowd) -> float:
        return math.log(crowd.epsilon / aim.epsilon) if crowd.epsilon else -math.inf

    limit = _SHORT.plus(aim.local_limit)
    low = _SHORT.plus(min(aim.epsilon, limit))  # a tally tells no more than the symbols in it
    kept, high = crowd_at(low), limit
    if excess(kept) > 0:
        raise Impossible(f"no local epsilon keeps a crowd epsilon of {aim.epsilon}")
    crowd = kept if low == limit else crowd_at(limit)
    if excess(crowd) <= 0:
        return limit, crowd
    below, above = max(excess(kept), -5.0), excess(crowd)
    while high / low > 1 + _PRECISION:
        # Where the two ends' logarithms are joined by a line; not too near either end, so that both move.
        part = min(max(-below / (above - below), 0.1), 0.9)
        middle = _SHORT.create_decimal_from_float(float(low) * (float(high) / float(low)) ** part)
        if not low < middle < high:
            break
        crowd = crowd_at(middle)
        if excess(crowd) <= 0:
            low, kept, below = middle, crowd, excess(crowd)
        else:
            high, above = middle, excess(crowd)
    return low, kept


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
    """Return what each design reaches at the largest local epsilon that keeps the aim.

    Args:
        question: What is asked.
        aim: What is to be kept.
        asked: What else a plan takes, such as ``clients`` and ``interval``.
        designs: Which designs to compare; all that serve the goal unless given.
        progress: Called with the name of each design before it is worked out.
    """
    rows: list[PlanRow] = []
    plan, crowd, goal = None, None, Goal.of(question)
    for design in designs or designs_for(goal):
        progress(design)
        local, crowd = largest_local(goal.by(design), design, aim)
        plan = plan_questions([question], **{**asked, "epsilon": local, "designs": [design]})[0]
        rows.append(replace(plan.rows[0], crowd_epsilon=crowd.number))
    if plan is None or crowd is None:
        raise Impossible("no design serves this goal")
    terms = {
        "epsilon": float(aim.epsilon),
        "batch": aim.clients,
        "observed": float(aim.observed),
        "delta": float(crowd.delta),
        "local_limit": float(aim.local_limit),
    }
    return Plans((question.metric.name,), (replace(plan, rows=tuple(rows), crowd=terms),))
