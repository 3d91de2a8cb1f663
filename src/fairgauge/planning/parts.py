"""What a plan says of every comparison and of every group's mean, not only of the worst."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs import make_channel
from fairgauge.designs.many_groups import largest_mean_ratio, value_without_cap
from fairgauge.designs.registry import SIMPLEST
from fairgauge.designs.simple import randomized_response
from fairgauge.estimation.kinds import DEFAULT, IntervalKind, kind_of
from fairgauge.estimation.readers import reader_of
from fairgauge.planning.expected import Expected, expected
from fairgauge.study import Attribute, Metric, Question, Target
from fairgauge.study.sides import side_name
from fairgauge.targets.comparisons import Contrast
from fairgauge.targets.inputs import Vector
from fairgauge.targets.target import FEW, Goal

# Beyond so many different variances, errors of those between are read off a line through this many.
_MOST_WIDTHS, _NODES = 24, 12
# The same where a width takes long.
_SLOW_NODES = 3
# Where shares may be off a width is no such plain function of the variance.
_OFF_NODES = 8
# Wide intervals are cut to what is possible, which a line through few does not follow.
_WIDE, _WIDE_NODES = 0.5, 12
# What a cap may cost before it is worth a word.
_HARDLY = 0.01


@dataclass(frozen=True)
class PlanPart:
    """What one comparison, or one group's mean, will be known to.

    Args:
        groups: The names of the two sides, or of the one group.
        variance: K·Var in total, as in :class:`~fairgauge.planning.result.PlanRow`.
        privacy_variance: What randomising alone adds, at worst: whatever values clients hold.  ``variance`` is for the
            values that are reckoned with, so it can be the smaller one.
        error: The half-width of its interval, in the metric's units; None where the number of clients is not known.
    """

    groups: tuple[str, ...]
    variance: float
    privacy_variance: float
    error: float | None

    @property
    def name(self) -> str:
        """The comparison or the group, for people."""
        return " - ".join(self.groups)

    def to_dict(self) -> dict[str, Any]:
        """Return the part for JSON."""
        numbers = {"variance": self.variance, "privacy_variance": self.privacy_variance, "error": self.error}
        return {"groups": list(self.groups), **numbers}


@dataclass(frozen=True)
class Reading:
    """With what a plan is read: so many answers, an interval, and the metric's units."""

    answers: int | None
    kind: IntervalKind
    alpha: float
    metric: Metric
    tables: int = 1  # a device answers one of them


def planned_gaps(goal: Goal, channel: Channel, attribute: Attribute | None, reading: Reading) -> tuple[PlanPart, ...]:
    """Return every comparison that the study will report, the worst first; none where the channel cannot tell."""
    return _parts(goal, channel, "gap", [_names(attribute, contrast) for contrast in goal.contrasts], reading)


def planned_means(goal: Goal, channel: Channel, attribute: Attribute | None, reading: Reading) -> tuple[PlanPart, ...]:
    """Return every group's mean that the study will report, the worst first; none where the channel cannot tell."""
    names = [(name,) for name in _group_names(attribute, goal.groups)]
    return _parts(goal, channel, "means", names, reading)


def planned_parts(goal: Goal, channel: Channel, attribute: Attribute | None, reading: Reading) -> tuple[PlanPart, ...]:
    """Return what the study is for, the worst first: its comparisons, or each group's mean."""
    return (planned_gaps if goal.target == "gap" else planned_means)(goal, channel, attribute, reading)


def _parts(
    goal: Goal, channel: Channel, target: Target, names: Sequence[tuple[str, ...]], reading: Reading
) -> tuple[PlanPart, ...]:
    """Return what is wanted, by the decoder that the study's own goal has: with it answers will be read."""
    found = expected(goal, channel, target)
    aimed, decoder = replace(goal, target=target), goal.decoder(channel)
    if not found:
        return ()
    # Where several centres are reckoned with, the worst of them counts.
    every = aimed.privacy_variances_by(decoder, aimed.wanted(decoder.inputs))
    private = [max(every[number :: len(names)]) for number in range(len(names))]
    parts = [
        PlanPart(name, reading.tables * one.variance, reading.tables * private[number], error)
        for number, (name, one, error) in enumerate(zip(names, found, _errors(found, reading), strict=True))
    ]
    # By what people read; a wider interval need not have the larger variance, where it is cut to what is possible.
    return tuple(sorted(parts, key=lambda part: (-(part.error or 0.0), -part.variance)))


def _errors(found: Sequence[Expected], reading: Reading) -> list[float | None]:
    """Return the half-width of each, in the metric's units."""
    answers, kind = reading.answers, reading.kind
    if answers is None:
        return [None for _ in found]

    def width(one: Expected) -> float:
        return reading.metric.scale * one.width(kind, answers / reading.tables, reading.alpha)

    rounded = [float(f"{one.variance:.6g}") for one in found]
    different = sorted(set(rounded))
    most, nodes = (_MOST_WIDTHS, _NODES) if reader_of(kind).quick else (_SLOW_NODES, _SLOW_NODES)
    if found and found[0].estimands.shares is not None and not found[0].estimands.exact:
        most, nodes = max(most, _OFF_NODES), max(nodes, _OFF_NODES)
    if len(different) <= most:
        known = {variance: width(found[rounded.index(variance)]) for variance in different}
        return [known[variance] for variance in rounded]
    widest = width(found[rounded.index(different[-1])])
    if widest > _WIDE * reading.metric.scale:
        nodes = max(nodes, _WIDE_NODES)
    some = [different[round(place)] for place in np.linspace(0, len(different) - 1, nodes)]
    widths = [*(width(found[rounded.index(variance)]) for variance in some[:-1]), widest]
    logs: Vector = np.interp(np.log(rounded), np.log(some), np.log(widths))
    return [math.exp(value) for value in logs.tolist()]


def _names(attribute: Attribute | None, contrast: Contrast) -> tuple[str, str]:
    if attribute is None:
        first, second = (" or ".join(f"group {g + 1}" for g in side) for side in (contrast.of, contrast.against))
    else:
        first, second = (
            side_name(attribute, tuple(attribute.groups[g] for g in side)) for side in (contrast.of, contrast.against)
        )
    return first, second


def _group_names(attribute: Attribute | None, groups: int) -> tuple[str, ...]:
    return tuple(f"group {g + 1}" for g in range(groups)) if attribute is None else attribute.groups


def gaps_of(question: Question) -> tuple[tuple[PlanPart, ...], dict[tuple[str, ...], float]]:
    """Return what each comparison of a question varies by, and the same with randomized response, by name."""
    goal, epsilon = Goal.of(question), Decimal(question.epsilon)
    reading = Reading(None, kind_of(DEFAULT), 0.01, question.metric)
    found = planned_gaps(goal, question.channel, question.attribute, reading)
    name, simple = make_channel(goal, epsilon, design=SIMPLEST)
    beside = planned_gaps(goal.by(name), simple, question.attribute, reading)
    return found, {part.groups: part.variance for part in beside}


def cap_cost(question: Question) -> str | None:
    """Return what the cap on symbols costs, in one sentence; None where it costs next to nothing."""
    goal, epsilon = Goal.of(question), Decimal(question.epsilon)
    if goal.groups <= FEW or not goal.relies_on_shares or question.design == SIMPLEST:
        return None
    best = value_without_cap(goal, epsilon)
    units = np.array(Goal(goal.shares, target="means").privacy_variances(randomized_response(goal, epsilon)))
    reached = largest_mean_ratio(goal, question.channel, units)
    cost = reached / best - 1
    if cost < _HARDLY:
        return None
    symbols = question.channel.symbols
    return f"A table of {symbols} symbols takes {cost:.1%} more clients than one without a cap: see --symbols."
