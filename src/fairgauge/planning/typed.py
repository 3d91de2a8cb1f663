"""What people type, read into what the library takes, with errors that say what to type instead."""

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from fairgauge.errors import InvalidInput
from fairgauge.study import Attribute, Metric, Model, Number
from fairgauge.study.attribute import ANY
from fairgauge.study.numbers import decimal_text
from fairgauge.study.sides import side_name

MOST_CLIENTS = 10**15
_MOST_DIGITS = 30
_MOST_WEIGHT = 100


def read_groups(typed: list[str], attribute: str, answering: str = ANY) -> Attribute:
    """Read ``female=0.5`` (with its share of the population) or ``female``."""
    names, numbers = [], []
    for text in typed:
        check_share_mark("group", text)
        name, equals, share = text.partition("=")
        names.append(name)
        numbers += [_share(name, share)] if equals else []
    if len(names) < 2:
        raise InvalidInput("group", ", ".join(typed) or "none", "give at least two groups, such as female and male")
    if not numbers:
        return Attribute(attribute, names, answering=answering)
    if len(numbers) < len(names):
        raise InvalidInput("group", ", ".join(typed), "give every group a share (female=0.5), or none")
    if answering == ANY and Decimal("0.999") <= sum(numbers) <= Decimal("1.001"):
        # What nothing is divided by may be rounded, and the last group makes up for it.
        numbers[-1] = 1 - sum(numbers[:-1], Decimal(0))
    return Attribute(attribute, names, tuple(map(_plain, numbers)), answering=answering)


def check_share_mark(field: str, typed: str) -> None:
    """Refuse ``female~0.5``, which would be taken for a name."""
    if re.search(r"~\s*[\d.]+\s*$", typed):
        raise InvalidInput(field, typed, "must have its share behind =, which is a guess unless all answer alike")


def read_metric(typed: str) -> Metric:
    """Read ``recall:0:1``; a name alone runs from 0 to 1."""
    parts = typed.rsplit(":", 2)
    if len(parts) == 1:
        return Metric(typed, "0", "1")
    if len(parts) != 3:
        raise InvalidInput("metric", typed, "must be name:low:high, such as recall:0:1")
    low, high = (_plain(read_decimal("metric", part)) for part in parts[1:])
    return Metric(parts[0], low, high)


def read_model(typed: str) -> Model:
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
    return _plain(number) if number.is_finite() and abs(number.adjusted()) <= _MOST_DIGITS else typed


def check_comparisons(attribute: Attribute) -> None:
    """Refuse comparisons that no table can be made for: one that is there twice, or weights that are too far apart.

    Raises:
        InvalidInput: If there are such.
    """
    planned = attribute.comparisons or ()
    seen = set[frozenset[tuple[str, ...]]]()
    for one in planned:
        sides = frozenset([tuple(one.of), tuple(one.against)])
        if sides in seen:
            name = " and ".join(side_name(attribute, side) for side in (one.of, one.against))
            raise InvalidInput("comparisons", name, "must be there once, in one order")
        seen.add(sides)
    weights = [Decimal(1 if one.weight is None else one.weight) for one in planned]
    if weights and max(weights) > _MOST_WEIGHT * min(weights):
        rule = (
            f"must be at most {_MOST_WEIGHT:,} times the smallest: of what matters less nothing would be left to weigh"
        )
        raise InvalidInput("weigh", max(weights), rule)


def read_decimal(field: str, typed: str) -> Decimal:
    """Read a number exactly as typed."""
    try:
        number = Decimal(typed)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise InvalidInput(field, typed, "must be a number")
    if number and abs(number.adjusted()) > _MOST_DIGITS:
        # Written out it would fill the memory.
        raise InvalidInput(field, typed, f"must be 0, or from 1e-{_MOST_DIGITS} to 1e{_MOST_DIGITS} in size")
    return number


def as_epsilon(given: Number) -> Decimal:
    """Return an epsilon exactly as it was given.

    >>> as_epsilon(0.1), as_epsilon("1"), as_epsilon(2)
    (Decimal('0.1'), Decimal('1'), Decimal('2'))
    """
    epsilon = _as_decimal("epsilon", given)
    if epsilon <= 0:
        raise InvalidInput("epsilon", given, "must be above 0")
    return Decimal(_plain(epsilon))


def as_count(field: str, given: Number) -> int:
    """Return a whole number, which may be given as 1e6 or 1_000_000.

    >>> as_count("clients", "1e6"), as_count("clients", 2e5)
    (1000000, 200000)
    """
    number = _as_decimal(field, given)
    if number != number.to_integral_value() or not 1 <= number <= MOST_CLIENTS:
        raise InvalidInput(field, given, "must be a whole number from 1 to 10^15")
    return int(number)


def as_number(field: str, given: Number) -> float:
    """Return a size, such as an error in the metric's units."""
    return float(_as_decimal(field, given))


def _as_decimal(field: str, given: Number) -> Decimal:
    if isinstance(given, str):
        return read_decimal(field, given)
    try:
        return Decimal(decimal_text(field, given))
    except InvalidInput:
        raise InvalidInput(field, given, "must be a number") from None


def _share(name: str, typed: str) -> Decimal:
    share = read_decimal(f"group {name}", typed)
    if not 0 < share < 1:
        raise InvalidInput(f"group {name}", typed, "must have a share above 0 and below 1")
    return share


def _plain(number: Decimal) -> str:
    """Return the shortest decimal without an exponent, as study documents want it."""
    text = format(number.normalize(), "f")
    return "0" if text == "-0" else text
