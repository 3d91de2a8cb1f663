"""What people type, read into what the library takes, with errors that say what to type instead."""

from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from fairgauge.errors import InvalidInput
from fairgauge.goals.goal import ANY_VALUES, Goal
from fairgauge.goals.reckoning import USUAL_SPREAD
from fairgauge.study import Attribute, Metric

MOST_CLIENTS = 10**15
_MOST_DIGITS = 30


class Groups(NamedTuple):
    """Groups as typed: names, known shares if given, and shares to aim the design at."""

    attribute: Attribute
    guess: tuple[float, ...]


def read_groups(typed: list[str], attribute: str) -> Groups:
    """Read ``female=0.5`` (a known share), ``female~0.3`` (a guess; the share is estimated) or ``female``."""
    names, marks, numbers = [], set(), []
    for text in typed:
        mark = next((m for m in "=~" if m in text), "")
        name, _, share = text.partition(mark) if mark else (text, "", "")
        names.append(name)
        marks.add(mark)
        numbers.append(_share(name, share) if mark else Decimal(0))
    if len(marks) > 1:
        raise InvalidInput(
            "group",
            ", ".join(typed),
            "give every group a share (female=0.5), every group a guess (female~0.5), or none",
        )
    if len(names) < 2:
        raise InvalidInput(
            "group", ", ".join(typed) or "none", "give at least two, such as --group female --group male"
        )
    mark = marks.pop()
    found = Attribute(attribute, tuple(names), tuple(map(_plain, numbers)) if mark == "=" else None)
    total = sum(numbers)
    if mark == "~" and not Decimal("0.999") <= total <= Decimal("1.001"):
        raise InvalidInput("group", ", ".join(typed), "guessed shares must sum to 1")
    guess = tuple(float(n / total) for n in numbers) if mark else (1 / len(names),) * len(names)
    return Groups(found, guess)


def read_metric(typed: str) -> Metric:
    """Read ``recall:0:1``; a name alone runs from 0 to 1."""
    parts = typed.rsplit(":", 2)
    if len(parts) == 1:
        return Metric(typed, "0", "1")
    if len(parts) != 3:
        raise InvalidInput("metric", typed, "must be name:low:high, such as recall:0:1")
    low, high = (_plain(read_decimal("metric", part)) for part in parts[1:])
    return Metric(parts[0], low, high)


class Expected(NamedTuple):
    """What people expect of the values, in the metric's units: their mean, and how far they spread about it."""

    expect: float | None = None
    spread: str | None = None


NOTHING_EXPECTED = Expected()


def read_goal(groups: Groups, metric: Metric, target: str | None, *, abstain: bool, expected: Expected) -> Goal:
    """Return the goal of a question; by default the gap for two groups with known shares, else the means."""
    known = groups.attribute.shares is not None
    if target not in ("gap", "means", None):
        raise InvalidInput("target", target, "must be gap or means")
    gap = target == "gap" or (target is None and known and len(groups.guess) == 2)
    middle = None
    if expected.expect is not None:
        middle = (expected.expect - metric.to_metric(0.0)) / metric.scale
        if not -1 <= middle <= 1:
            raise InvalidInput("expect", expected.expect, f"must be from {metric.low} to {metric.high}")
    return Goal(
        groups.attribute.share_values or groups.guess,
        shares_known=known,
        target="gap" if gap else "means",
        abstain=abstain,
        expect=middle,
        spread=_read_spread(expected.spread, metric),
    )


def _read_spread(typed: str | None, metric: Metric) -> float | None:
    """Read a standard deviation, or ``max`` for any values; in units of [-1, 1]."""
    if typed is None:
        return USUAL_SPREAD
    if typed == ANY_VALUES:
        return None
    spread = float(read_decimal("spread", typed)) / metric.scale
    if not 0 < spread <= 1:
        raise InvalidInput("spread", typed, f"must be above 0 and at most {metric.scale:g}, or {ANY_VALUES}")
    return spread


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


def read_epsilon(typed: str) -> Decimal:
    """Read an epsilon."""
    epsilon = read_decimal("epsilon", typed)
    if epsilon <= 0:
        raise InvalidInput("epsilon", typed, "must be above 0")
    return Decimal(_plain(epsilon))


def read_count(field: str, typed: str) -> int:
    """Read a whole number, also as 1e6 or 1_000_000."""
    number = read_decimal(field, typed)
    if number != number.to_integral_value() or not 1 <= number <= MOST_CLIENTS:
        raise InvalidInput(field, typed, "must be a whole number from 1 to 10^15")
    return int(number)


def _share(name: str, typed: str) -> Decimal:
    share = read_decimal(f"group {name}", typed)
    if not 0 < share < 1:
        raise InvalidInput(f"group {name}", typed, "must have a share above 0 and below 1")
    return share


def _plain(number: Decimal) -> str:
    """Return the shortest decimal without an exponent, as study documents want it."""
    text = format(number.normalize(), "f")
    return "0" if text == "-0" else text
