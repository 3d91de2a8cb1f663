"""Which questions one table answers at once: by the total error, a coin that picks one table included.

A device answers one table.  With k tables each gets a k-th of the answers, so what counts is the number of tables times
the variance of a question in its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from fairgauge.channel import Channel
from fairgauge.designs import AUTO, make_channel
from fairgauge.designs.together import TogetherProblem, sign_pairs
from fairgauge.goals.goal import CENTRED, Goal
from fairgauge.goals.wish import Wish
from fairgauge.planning.serving import Size, serve

UNCENTRED = "uncentred"
# A table for several is taken if it saves at least this part: separate tables are simpler.
_WORTH = 0.005


@dataclass(frozen=True)
class Answering:
    """A table and the wishes that it serves, by number."""

    wishes: tuple[int, ...]
    design: str
    channel: Channel
    variances: tuple[float, ...]


def answering(
    wishes: Sequence[Wish], epsilon: Decimal, *, design: str = AUTO, clients: float | None = None
) -> list[Answering]:
    """Return the tables that serve wishes best: one for each, or one for every two where that is less error in total.

    Where wishes have weights the weighted sum of their variances decides; else none may be worse off.  How many clients
    there will be decides on the design of a gap whose shares are estimated.

    Raises:
        InvalidInput: If the design is not known, or epsilon is outside what a table can hold.
        Impossible: If no design reaches it.
    """
    size = Size(None if clients is None else clients / len(wishes))
    alone = [_alone(place, wish, epsilon, (design, size)) for place, wish in enumerate(wishes)]
    paired: list[Answering] = []
    for start in range(0, len(wishes), 2):
        some = tuple(range(start, min(start + 2, len(wishes))))
        both = together([wishes[n] for n in some], epsilon, design=design) if len(some) == 2 else None
        if both is None:
            paired += [alone[n] for n in some]
        else:
            paired.append(replace(both, wishes=some))
    return paired if len(paired) < len(alone) and _better(wishes, paired, alone) else alone


def together(wishes: Sequence[Wish], epsilon: Decimal, *, design: str = AUTO) -> Answering | None:
    """Return a table that answers two wishes at once; None if none is known: it takes the gaps of two known groups."""
    if not served_together(wishes):
        return None
    first, second = goals = [Goal.of(wish) for wish in wishes]
    if design in (AUTO, CENTRED):
        name = CENTRED
        both_expected = first.expected is not None and second.expected is not None
        weights = [float(wish.weight or 1) for wish in wishes]
        problem = TogetherProblem(
            shares=(first.shares[0], first.shares[1]),
            epsilon=epsilon,
            aims=(first.aim, second.aim),
            others=(second.expected, first.expected) if both_expected else (None, None),
            weights=(weights[0] / sum(weights), weights[1] / sum(weights)),
        )
        channel = problem.channel()
    elif design == UNCENTRED and first.shares[0] == first.shares[1]:
        name, channel = UNCENTRED, sign_pairs(epsilon)
    else:
        return None
    variances = (goal_on(goals, name, axis).variance(channel) for axis in range(len(goals)))
    return Answering((0, 1), name, channel, tuple(variances))


def goal_on(goals: Sequence[Goal], design: str, axis: int) -> Goal:
    """Return the goal of the question whose value is on an axis of a design's table, which serves all these goals."""
    others = tuple(goal.expected for place, goal in enumerate(goals) if place != axis)
    return replace(goals[axis], design=design, axis=axis, beside=others)


def served_together(wishes: Sequence[Wish]) -> bool:
    """Tell whether a table is known that answers wishes at once: the gaps of two metrics, of two groups with shares."""
    return (
        len(wishes) == 2
        and wishes[0].attribute == wishes[1].attribute
        and all(goal.groups == 2 and goal.target == "gap" and goal.relies_on_shares for goal in map(Goal.of, wishes))
    )


def _alone(place: int, wish: Wish, epsilon: Decimal, by: tuple[str, Size]) -> Answering:
    goal, (design, size) = Goal.of(wish), by
    name, channel = serve(goal, epsilon, size) if design == AUTO else make_channel(goal, epsilon, design=design)
    return Answering((place,), name, channel, (goal.by(name).variance(channel),))


def _better(wishes: Sequence[Wish], paired: Sequence[Answering], alone: Sequence[Answering]) -> bool:
    """Tell whether fewer tables are better: each then gets more answers, and may tell less by each."""
    before = {one.wishes[0]: len(alone) * one.variances[0] for one in alone}
    after = {n: len(paired) * variance for one in paired for n, variance in zip(one.wishes, one.variances, strict=True)}
    ratios = {n: after[n] / before[n] for n in before}
    weights = {n: float(wish.weight or 1) for n, wish in enumerate(wishes)}
    saves = sum(weights[n] * ratios[n] for n in ratios) < (1 - _WORTH) * sum(weights.values())
    return saves and (any(wish.weight is not None for wish in wishes) or max(ratios.values()) <= 1 + _WORTH)
