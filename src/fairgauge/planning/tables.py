"""Which questions one table answers at once: by the total error, a coin that picks one table included.

A device answers one table.  With k tables each gets a k-th of the answers, so what counts is the number of tables times
the variance of a question in its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache, lru_cache
from itertools import combinations

from fairgauge.channel import Channel
from fairgauge.designs import AUTO, make_channel
from fairgauge.designs.two_metrics import TwoMetrics, sign_pairs
from fairgauge.errors import Impossible
from fairgauge.goals.goal import CENTRED, Goal
from fairgauge.goals.wish import Wish
from fairgauge.planning.serving import Size, serve

UNCENTRED = "uncentred"
# A table for several is taken if it saves at least this part: separate tables are simpler.
_WORTH = 0.005
# Of more wishes than this not every two are tried together, which takes a second or so each.
_TRIED = 8

Pair = tuple[int, int]


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
    paired = sharing(wishes, epsilon, design=design, alone=alone)
    return paired if len(paired) < len(alone) and _better(wishes, paired, alone) else alone


def sharing(
    wishes: Sequence[Wish], epsilon: Decimal, *, design: str = AUTO, alone: Sequence[Answering] | None = None
) -> list[Answering]:
    """Return the tables where as many wishes share one as can: those two together that have the least error in total.

    Guarantee: up to ``_TRIED`` wishes no other pairs are better, and in whatever order wishes come, the pairs are the
    same.

    Args:
        wishes: What is asked for.
        epsilon: The privacy loss of one answer.
        design: Which design.
        alone: The table of each wish on its own, if it is made already.
    """
    if alone is None:
        alone = [_alone(place, wish, epsilon, (design, Size())) for place, wish in enumerate(wishes)]
    order, tried = _tried(wishes)
    shared = {
        pair: replace(both, wishes=(min(pair), max(pair)))
        for pair in tried
        if (both := together([wishes[min(pair)], wishes[max(pair)]], epsilon, design=design)) is not None
    }
    part = fewest_tables(wishes) / len(wishes)
    chosen = _matched(order, {pair: _cost(wishes, table, alone, part) for pair, table in shared.items()})
    taken = {place for pair in chosen for place in pair}
    found = [shared[pair] for pair in chosen] + [one for one in alone if one.wishes[0] not in taken]
    return sorted(found, key=lambda table: table.wishes)


def fewest_tables(wishes: Sequence[Wish]) -> int:
    """Return how many tables there are where as many wishes share one as can."""
    order, tried = _tried(wishes)
    return len(wishes) - len(_matched(order, dict.fromkeys(tried, (0, 0.0))))


def _tried(wishes: Sequence[Wish]) -> tuple[list[int], list[Pair]]:
    """Return wishes in an order of their own, and every two of them that can share a table: of many only neighbours."""
    order = sorted(range(len(wishes)), key=lambda place: _rank(wishes[place]), reverse=True)
    pairs = combinations(order, 2) if len(order) <= _TRIED else zip(order[::2], order[1::2], strict=False)
    return order, [(a, b) for a, b in pairs if served_together([wishes[a], wishes[b]])]


def _cost(wishes: Sequence[Wish], table: Answering, alone: Sequence[Answering], part: float) -> tuple[int, float]:
    """Return how many of two wishes a table leaves worse off, and what it adds to the sum that decides."""
    ratios = [part * v / alone[n].variances[0] for n, v in zip(table.wishes, table.variances, strict=True)]
    weights = [float(wishes[n].weight or 1) for n in table.wishes]
    # What has a table of its own gets more of the answers, too: what is saved beside that decides.
    saved = sum(weight * (ratio - part) for weight, ratio in zip(weights, ratios, strict=True))
    weighed = any(wish.weight is not None for wish in wishes)
    return 0 if weighed else sum(ratio > 1 + _WORTH for ratio in ratios), saved


def _matched(order: Sequence[int], costs: Mapping[Pair, tuple[int, float]]) -> list[Pair]:
    """Return as many pairs as there can be, no place twice, whose costs are least in sum."""
    if len(order) > _TRIED:
        return list(costs)

    @cache
    def best(left: tuple[int, ...]) -> tuple[int, int, float, tuple[Pair, ...]]:
        if not left:
            return 0, 0, 0.0, ()
        first, *others = left
        found = [best(tuple(others))]
        for other in others:
            if (cost := costs.get((first, other))) is not None:
                pairs, worse, total, chosen = best(tuple(n for n in others if n != other))
                found.append((pairs - 1, worse + cost[0], total + cost[1], ((first, other), *chosen)))
        # Of equals the first: it pairs what comes first.
        return min(found, key=lambda one: (*one[:2], round(one[2], 9), *(order.index(n) for p in one[3] for n in p)))

    return list(best(tuple(order))[3])


def _rank(wish: Wish) -> tuple[float, float, float, str]:
    """Return what wishes are ordered by, however they come."""
    spread = 1.0 if wish.spread_in_v is None else wish.spread_in_v
    return wish.expect_in_v or 0.0, spread, float(wish.weight or 1), wish.metric.name


def together(wishes: Sequence[Wish], epsilon: Decimal, *, design: str = AUTO) -> Answering | None:
    """Return a table that answers two wishes at once; None if none is known: it takes the gaps of two known groups."""
    if not served_together(wishes):
        return None
    # One table for both, however they come: turned round where they come the other way.
    turned = _rank(wishes[0]) < _rank(wishes[1])
    ordered = wishes[::-1] if turned else wishes
    first, second = (Goal.of(wish) for wish in ordered)
    if design in (AUTO, CENTRED):
        name = CENTRED
        both_expected = first.expected is not None and second.expected is not None
        weights = [float(wish.weight or 1) for wish in ordered]
        problem = TwoMetrics(
            shares=(first.shares[0], first.shares[1]),
            epsilon=epsilon,
            aims=(first.aim, second.aim),
            others=(second.expected, first.expected) if both_expected else (None, None),
            weights=(weights[0] / sum(weights), weights[1] / sum(weights)),
        )
        try:
            channel = _joint(problem)
        except Impossible:
            return None  # two tables of their own will do
    elif design == UNCENTRED and first.shares[0] == first.shares[1]:
        name, channel = UNCENTRED, sign_pairs(epsilon)
    else:
        return None
    goals = [first, second]
    variances = [goal_on(goals, name, axis).variance(channel) for axis in range(len(goals))]
    if turned:
        return Answering((0, 1), name, _turned(channel), (variances[1], variances[0]))
    return Answering((0, 1), name, channel, (variances[0], variances[1]))


@lru_cache(maxsize=64)
def _joint(problem: TwoMetrics) -> Channel:
    return problem.channel()


def _turned(channel: Channel) -> Channel:
    """Return the same table for values in the other order."""
    first, second = (range(len(axis)) for axis in channel.axes)
    rows = tuple(channel.row(group, a, b) for group in range(channel.groups) for b in second for a in first)
    return Channel(rows, levels=channel.further[0], groups=channel.groups, further=(channel.levels,))


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
