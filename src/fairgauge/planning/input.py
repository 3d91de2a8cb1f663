"""What people type, read into questions and the terms of a study, with errors that say what to type instead."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import combinations
from typing import Any, TypedDict, Unpack, cast

from fairgauge.errors import InvalidInput
from fairgauge.planning.choose_design import check_comparisons
from fairgauge.planning.table_pairing import can_share
from fairgauge.study import Attribute, Metric, Model, Number, Question, TargetName
from fairgauge.study.numbers import MOST_DIGITS, as_count, plain, read_decimal
from fairgauge.targets.target import FEW

# One number for all metrics, or each by its name.
ByMetric = Number | Mapping[str, Number] | None
# One metric, or several: the questions of one study.
Metrics = Metric | list[Metric] | tuple[Metric, ...]


class Known(TypedDict, total=False):
    """What is known of questions beside the metric and the attribute, as :class:`~fairgauge.study.Question` has it."""

    target: str | None
    abstain: bool
    abstaining: Number | None
    expect: ByMetric
    spread: ByMetric
    weights: Mapping[str, Number] | None
    symbols: int | None


class Typed(TypedDict, total=False):
    """The same as it is typed: a number for all metrics, or recall=0.9 for one."""

    target: str | None
    abstain: bool
    abstaining: Number | None
    expect: Sequence[str] | None
    spread: Sequence[str] | None
    metric_weight: Sequence[str] | None
    symbols: int | None


def ask(metric: Metrics | None, attribute: Attribute, **known: Unpack[Known]) -> list[Question]:
    """Return the questions about a metric, or several, by an attribute: not designed yet.

    Raises:
        InvalidInput: If something is of another type or out of range, or would change nothing.
    """
    found = _asked(metric, attribute, **known)
    _check_weights("weights", list(known.get("weights") or ()), found)
    return found


def _asked(metric: Metrics | None, attribute: Attribute, **known: Unpack[Known]) -> list[Question]:
    metrics = [] if metric is None else list(metric) if isinstance(metric, list | tuple) else [metric]
    if not metrics:
        raise InvalidInput("metric", "none", "give at least one, such as recall:0:1")
    expect, spread, weights = (
        _by_metric(field, known.get(field), metrics) for field in ("expect", "spread", "weights")
    )
    abstaining, symbols = known.get("abstaining"), known.get("symbols")
    found = [
        Question(
            each,
            attribute,
            cast("TargetName", known.get("target") or "gap"),  # which the question checks
            expect=mean,
            spread=deviation,
            weight=weight,
            abstain=known.get("abstain", False) or abstaining is not None,
            abstaining=abstaining,
            symbols=symbols,
        )
        for each, mean, deviation, weight in zip(metrics, expect, spread, weights, strict=True)
    ]
    check_comparisons(attribute)
    if symbols is not None and len(attribute.groups) <= FEW:
        raise InvalidInput("symbols", symbols, f"is for {FEW + 1} and more groups: others have the best table")
    return found


def _check_weights(field: str, given: Sequence[str], questions: Sequence[Question]) -> None:
    """Refuse weights that would change nothing."""
    if given and not any(map(can_share, combinations(questions, 2))):
        can = "several metrics that can share a table: the gaps of two groups that answer alike"
        rule = f"is for {can} (--metric-weight, or weight in a study's file)"
        raise InvalidInput(field, ", ".join(given), rule)


def _by_metric(field: str, given: Any, metrics: Sequence[Metric]) -> list[Any]:
    """Return what is given for each metric: one number for all, or one by its name."""
    if not isinstance(given, Mapping):
        return [given for _ in metrics]
    names = [getattr(metric, "name", None) for metric in metrics]
    for name in given:
        if name not in names:
            raise InvalidInput(field, name, f"must be one of {', '.join(map(str, names))}")
    return [given.get(name) for name in names]


def read_questions(metrics: Sequence[str], attribute: Attribute, **typed: Unpack[Typed]) -> list[Question]:
    """Return the questions that are typed, such as ``recall:0:1``: not designed yet.

    Raises:
        InvalidInput: If something is typed wrong.
    """
    read = read_metrics(metrics)
    weights = typed.get("metric_weight") or ()
    found = _asked(
        read,
        attribute,
        target=typed.get("target"),
        abstain=typed.get("abstain", False),
        abstaining=typed.get("abstaining"),
        expect=read_by_metric("expect", read, typed.get("expect") or ()),
        spread=read_by_metric("spread", read, typed.get("spread") or ()),
        weights=read_weights(read, weights),
        symbols=typed.get("symbols"),
    )
    _check_weights("metric-weight", weights, found)
    return found


def read_terms(**typed: Any) -> dict[str, Any]:
    """Return a study's terms by their names in the document, as they are typed; what is empty is left out.

    >>> read_terms(contact="ada@example.org", planned="2e5", model="fall-detector@3.1", closes="")
    {'contact': 'ada@example.org', 'planned': 200000, 'model': Model(name='fall-detector', version='3.1')}
    """
    read: dict[str, Callable[[Any], object]] = {
        "model": _read_model,
        "planned": partial(as_count, "planned"),
        "retention": partial(as_count, "retention"),
    }
    given = {name: text for name, text in typed.items() if text is not None and text != ""}
    return {name: read[name](text) if name in read else text for name, text in given.items()}


def read_metrics(typed: Sequence[str]) -> list[Metric]:
    """Read metrics, each name once."""
    read = [read_metric(text) for text in typed]
    names = [metric.name for metric in read]
    if len(set(names)) < len(names):
        raise InvalidInput("metric", next(name for name in names if names.count(name) > 1), "must be given once")
    return read


def read_metric(typed: str) -> Metric:
    """Read ``recall:0:1``; a name alone runs from 0 to 1."""
    parts = typed.rsplit(":", 2)
    if len(parts) == 1:
        return Metric(typed, "0", "1")
    if len(parts) != 3:
        raise InvalidInput("metric", typed, "must be name:low:high, such as recall:0:1")
    low, high = (plain(read_decimal("metric", part)) for part in parts[1:])
    return Metric(parts[0], low, high)


def _read_model(typed: str) -> Model:
    """Read ``fall-detector@3.1``; a name alone has no version."""
    name, _, version = typed.rpartition("@")
    return Model(name, version) if name else Model(typed)


def read_weights(metrics: Sequence[Metric], typed: Sequence[str]) -> dict[str, Decimal]:
    """Read ``recall=2``: how much a metric matters beside the others."""
    found: dict[str, Decimal] = {}
    for text in typed:
        name, equals, weight = text.rpartition("=")
        if not equals or name not in [metric.name for metric in metrics]:
            names = ", ".join(metric.name for metric in metrics)
            raise InvalidInput(
                "metric-weight", text, f"must be one of {names} and how much it matters, such as recall=2"
            )
        if name in found:
            raise InvalidInput("metric-weight", text, f"must be given once for {name}")
        found[name] = read_decimal("metric-weight", weight)
        if found[name] <= 0:
            raise InvalidInput("metric-weight", text, "must be above 0")
    return found


def read_by_metric(field: str, metrics: Sequence[Metric], typed: Sequence[str]) -> dict[str, str]:
    """Read ``0.9``, for every metric, or ``recall=0.9``, for one: the second counts where both are given.

    >>> recall, fpr = Metric("recall", 0, 1), Metric("fpr", 0, 1)
    >>> read_by_metric("expect", [recall, fpr], ["0.90", "fpr=0.1"])
    {'recall': '0.9', 'fpr': '0.1'}
    """
    names = [metric.name for metric in metrics]
    if typed and not names:
        raise InvalidInput(field, ", ".join(typed), "must be given with a metric")
    every: str | None = None
    own: dict[str, str] = {}
    for text in typed:
        name, equals, value = text.rpartition("=")
        if equals and name not in names:
            rule = f"must be a number, or one of {', '.join(names)} and its own, such as {names[0]}=0.9"
            raise InvalidInput(field, text, rule)
        if (name in own) if equals else (every is not None):
            raise InvalidInput(field, text, f"must be given once for {name or 'all metrics'}")
        if equals:
            own[name] = _shortest(value)
        else:
            every = _shortest(value)
    return {name: found for name in names if (found := own.get(name, every)) is not None}


def _shortest(typed: str) -> str:
    """Return a number as study documents want it; whatever else is typed as it is, for whoever reads it to refuse."""
    try:
        number = Decimal(typed)
    except InvalidOperation:
        return typed
    return plain(number) if number.is_finite() and abs(number.adjusted()) <= MOST_DIGITS else typed
