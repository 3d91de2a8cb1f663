"""What a plan says of every comparison and of every group's mean, not only of the worst.

Beside it: what the groups' means pay for a table that is made for comparisons, and what more privacy costs.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs import make_channel
from fairgauge.designs.classical_designs import randomized_response
from fairgauge.designs.many_groups import largest_mean_ratio, value_without_cap
from fairgauge.designs.registry import SIMPLEST
from fairgauge.estimation.interval_kinds import DEFAULT, LIVE, IntervalKind, check_confidence, kind_of
from fairgauge.estimation.interval_readers import reader_of
from fairgauge.languages import Numeral, Sentence
from fairgauge.planning.planned_widths import Expected, expected, planned_width
from fairgauge.planning.table_pairing import best_tables
from fairgauge.study import Attribute, Metric, Question, Study, TargetName
from fairgauge.study.margins import side_name
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.comparisons import Contrast
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import FEW, Target

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
# A mean that takes so many times the clients of randomized response is worth a word.
_MORE = 1.1
_FOR_MEANS = "--target means"

_Names = tuple[str, ...]


@dataclass(frozen=True)
class PlanPart:
    """What one comparison, or one group's mean, will be known to.

    Args:
        groups: The names of the two sides, or of the one group.
        variance: K·Var in total, as in :class:`~fairgauge.planning.plans.PlanRow`.
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
class PlanConditions:
    """With what a plan is read: so many answers, an interval, and the metric's units."""

    answers: int | None
    kind: IntervalKind
    alpha: float
    metric: Metric
    tables: int = 1  # a device answers one of them
    drawn: float = 0.0  # secret draws for each answer


def planned_parts(
    scores: Scores,
    channel: Channel,
    attribute: Attribute | None,
    reading: PlanConditions,
    *,
    target: TargetName | None = None,
) -> tuple[PlanPart, ...]:
    """Return every comparison or mean that the study will report, the worst first; none where the channel cannot tell.

    Args:
        scores: What is asked of the channel, and how symbols are read.
        channel: The table.
        attribute: Whose names the groups have.
        reading: With what it is read.
        target: Whether comparisons or means; what the study is for if it is not said.
    """
    target = target or scores.target.kind
    names: list[_Names]
    if target == "gap":
        names = [_names(attribute, contrast) for contrast in scores.target.contrasts]
    else:
        names = [(name,) for name in _group_names(attribute, scores.target.groups)]
    return _parts(scores, channel, target, names, reading)


def _parts(
    scores: Scores, channel: Channel, target: TargetName, names: Sequence[_Names], reading: PlanConditions
) -> tuple[PlanPart, ...]:
    """Return what is wanted, by the decoder of the study's own scores: with it answers will be read."""
    found = expected(scores, channel, target)
    aimed, decoder = scores.asking(kind=target), scores.decoder(channel)
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


def _errors(found: Sequence[Expected], reading: PlanConditions) -> list[float | None]:
    """Return the half-width of each, in the metric's units."""
    answers, kind = reading.answers, reading.kind
    if answers is None:
        return [None for _ in found]

    def width(one: Expected) -> float:
        return reading.metric.scale * one.width(kind, answers / reading.tables, reading.alpha, reading.drawn)

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


def beside_simplest(question: Question, target: TargetName) -> tuple[tuple[PlanPart, ...], dict[_Names, float]]:
    """Return what each comparison or mean of a question varies by, and the same with randomized response, by name."""
    scores, reading = Scores.of(question), PlanConditions(None, kind_of(DEFAULT), 0.01, question.metric)
    found = planned_parts(scores, question.channel, question.attribute, reading, target=target)
    return found, _simplest(scores, Decimal(question.epsilon), question, target)


def _simplest(scores: Scores, epsilon: Decimal, question: Question, target: TargetName) -> dict[_Names, float]:
    """Return what each comparison or mean varies by with randomized response, by name."""
    name, channel = make_channel(scores, epsilon, design=SIMPLEST)
    reading = PlanConditions(None, kind_of(DEFAULT), 0.01, question.metric)
    parts = planned_parts(scores.by(name), channel, question.attribute, reading, target=target)
    return {part.groups: part.variance for part in parts}


def cap_cost(question: Question) -> str | None:
    """Return what the cap on symbols costs, in one sentence; None where it costs next to nothing."""
    scores, epsilon = Scores.of(question), Decimal(question.epsilon)
    if scores.target.groups <= FEW or not scores.target.relies_on_shares or question.design == SIMPLEST:
        return None
    best = value_without_cap(scores.target, epsilon)
    units = np.array(
        Scores(Target(scores.target.shares, kind="means")).privacy_variances(randomized_response(scores, epsilon))
    )
    reached = largest_mean_ratio(scores, question.channel, units)
    cost = reached / best - 1
    if cost < _HARDLY:
        return None
    symbols = question.channel.symbols
    return f"A table of {symbols} symbols takes {cost:.1%} more clients than one without a cap: see --symbols."


def means_sentence(means: Sequence[PlanPart], simple: Mapping[_Names, float], *, target: TargetName) -> str | None:
    """Return what the means pay for that a table is made for comparisons, or for the worst mean; None where nothing.

    Args:
        means: What is told of each group's mean; none where the table tells none.
        simple: What each varies by with randomized response.
        target: What the table is made for.
    """
    if not means:
        return Sentence.of("plan.no-means", option=_FOR_MEANS)
    ratios = {part.groups: part.variance / simple[part.groups] for part in means if simple.get(part.groups)}
    worst = max(ratios, key=lambda name: ratios[name], default=None)
    if worst is None or ratios[worst] < _MORE:
        return None
    times = f"{ratios[worst]:.0f}" if ratios[worst] >= 10 else f"{ratios[worst]:.2g}"
    told = {"group": worst[0], "times": Numeral(times), "design": SIMPLEST, "command": f"design --design {SIMPLEST}"}
    if target == "means":
        return Sentence.of("plan.costly-worst", **told)
    return Sentence.of("plan.costly", option=_FOR_MEANS, **told)


def errors_for(
    questions: Sequence[Question], epsilons: Sequence[Decimal], *, clients: int, confidence: float = 0.99
) -> list[list[tuple[float, float]]]:
    """Return for each question, and each epsilon, the half-width that so many clients give, watched at any time.

    It is in the metric's units, with the tables that a study of all questions would have, which share the clients.
    """
    kind, alpha = kind_of(LIVE), check_confidence(confidence)
    found: list[list[tuple[float, float]]] = [[] for _ in questions]
    for epsilon in epsilons:
        tables = best_tables(questions, epsilon, clients=clients)
        for table in tables:
            for place, question in zip(table.places, table.questions, strict=True):
                width = planned_width(Scores.of(question), question.channel, clients / len(tables), kind, alpha)
                found[place].append((float(epsilon), question.metric.scale * width))
    return found


class Parts(NamedTuple):
    """What a question will tell.

    Args:
        parts: What it is for, the worst first: its comparisons, or each group's mean.
        means: Beside comparisons, each group's mean; none where the table tells none.
        about_means: What the means pay for it, if they do.
    """

    parts: tuple[PlanPart, ...]
    means: tuple[PlanPart, ...]
    about_means: str | None


def parts_for(
    questions: Sequence[Question], epsilon: Decimal, *, clients: int, confidence: float = 0.99
) -> list[Parts]:
    """Return for each question what every comparison or mean will be known to, watched at any time.

    The worst of them is what :func:`errors_for` gives.
    """
    tables, found = best_tables(questions, epsilon, clients=clients), dict[int, Parts]()
    for table in tables:
        for place, question in zip(table.places, table.questions, strict=True):
            found[place] = _parts_of(question, clients, len(tables), check_confidence(confidence))
    return [found[place] for place in range(len(questions))]


def parts_of_study(study: Study, *, clients: int, confidence: float = 0.99) -> list[Parts]:
    """Return the same for a study whose tables are made."""
    alpha = check_confidence(confidence)
    return [_parts_of(one, clients, len(study.tables), alpha, drawn=study.drawn_for_each) for one in study.questions]


def _parts_of(question: Question, clients: int, tables: int, alpha: float, *, drawn: float = 0.0) -> Parts:
    scores, channel, attribute = Scores.of(question), question.channel, question.attribute
    reading = PlanConditions(clients, kind_of(LIVE), alpha, question.metric, tables, drawn)
    parts = planned_parts(scores, channel, attribute, reading)
    means = (
        parts if scores.target.kind == "means" else planned_parts(scores, channel, attribute, reading, target="means")
    )
    alone = replace(scores.assuming(beside=()), axis=0)
    simple = _simplest(alone, Decimal(question.epsilon), question, "means")
    beside = {name: tables * variance for name, variance in simple.items()}
    return Parts(
        parts, () if scores.target.kind == "means" else means, means_sentence(means, beside, target=scores.target.kind)
    )
