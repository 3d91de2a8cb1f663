"""What a plan says of every comparison and of every group's mean, not only of the worst."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs import make_channel
from fairgauge.designs.making import SIMPLEST
from fairgauge.designs.many import largest_mean_ratio, value_without_cap
from fairgauge.designs.randomized_response import randomized_response
from fairgauge.estimation.kinds import DEFAULT, IntervalKind, kind_of
from fairgauge.estimation.reader import Expected
from fairgauge.goals.contrast import Contrast
from fairgauge.goals.decoder import Decoder
from fairgauge.goals.goal import FEW, Goal
from fairgauge.goals.inputs import Vector
from fairgauge.study import Attribute, Metric, Question
from fairgauge.study.sides import side_name

# Beyond so many different variances, errors of those between are read off a line through this many.
_MOST_WIDTHS, _NODES = 24, 12
# What a cap may cost before it is worth a word.
_HARDLY = 0.01


@dataclass(frozen=True)
class PlanPart:
    """What one comparison, or one group's mean, will be known to.

    Args:
        groups: The names of the two sides, or of the one group.
        variance: K·Var in total, as in :class:`~fairgauge.planning.result.PlanRow`.
        privacy_variance: What randomising alone adds, at worst.
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
    gap = replace(goal, target="gap")
    count = len(gap.contrasts)
    names = [_names(attribute, contrast) for contrast in gap.contrasts]
    # Intervals of several gaps hold together.
    shared = replace(reading, alpha=reading.alpha / count)
    return _parts(gap, goal.decoder(channel), names, shared)


def planned_means(goal: Goal, channel: Channel, attribute: Attribute | None, reading: Reading) -> tuple[PlanPart, ...]:
    """Return every group's mean that the study will report, the worst first; none where the channel cannot tell."""
    means = replace(goal, target="means")
    names = [(name,) for name in _group_names(attribute, goal.groups)]
    return _parts(means, goal.decoder(channel), names, reading)


def planned_parts(goal: Goal, channel: Channel, attribute: Attribute | None, reading: Reading) -> tuple[PlanPart, ...]:
    """Return what the study is for, the worst first: its comparisons, or each group's mean."""
    return (planned_gaps if goal.target == "gap" else planned_means)(goal, channel, attribute, reading)


def _parts(goal: Goal, decoder: Decoder, names: Sequence[tuple[str, ...]], reading: Reading) -> tuple[PlanPart, ...]:
    """Return what is wanted, by the decoder that the study's own goal has: with it answers will be read."""
    wanted = goal.wanted(decoder.inputs)
    scores = [goal.score(decoder, each) for each in wanted]
    if any(score is None for score in scores):
        return ()
    found = [score for score in scores if score is not None]
    totals = np.array(goal.totals_by(decoder, wanted))
    if any(each.centre is not None for each in wanted):
        private = np.array([decoder.variance(s, centre=w.centre) for s, w in zip(found, wanted, strict=True)])
    else:
        private = decoder.variances(found)
    # Where several centres are reckoned with, the worst of them counts.
    count = len(names)
    worst = [max(range(number, len(wanted), count), key=lambda place: totals[place]) for number in range(count)]
    shares = goal.share_vector if goal.shares_known else None
    expected = [Expected(decoder, found[place], shares, float(totals[place])) for place in worst]
    errors = _errors(expected, reading)
    parts = [
        PlanPart(name, reading.tables * float(totals[place]), reading.tables * float(private[place]), error)
        for name, place, error in zip(names, worst, errors, strict=True)
    ]
    return tuple(sorted(parts, key=lambda part: -part.variance))


def _errors(expected: list[Expected], reading: Reading) -> list[float | None]:
    """Return the half-width of each, in the metric's units."""
    answers, kind = reading.answers, reading.kind
    if answers is None:
        return [None for _ in expected]

    def width(one: Expected) -> float:
        return reading.metric.scale * kind.reader.width(one, answers / reading.tables, reading.alpha)

    rounded = [float(f"{one.variance:.6g}") for one in expected]
    different = sorted(set(rounded))
    if len(different) <= _MOST_WIDTHS:
        known = {variance: width(expected[rounded.index(variance)]) for variance in different}
        return [known[variance] for variance in rounded]
    nodes = [different[round(place)] for place in np.linspace(0, len(different) - 1, _NODES)]
    widths = [width(expected[rounded.index(variance)]) for variance in nodes]
    logs: Vector = np.interp(np.log(rounded), np.log(nodes), np.log(widths))
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
