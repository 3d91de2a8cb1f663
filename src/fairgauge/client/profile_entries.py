"""Entries as an app's code or a site's table gives them: whatever raises where they are read, there is an answer."""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeGuard

from fairgauge.study import Metric
from fairgauge.study.numbers import exact

_WHOLE = re.compile(r"(-?[0-9]+)\.0*")


def is_mapping(given: object) -> TypeGuard[Mapping[str, Any]]:
    """Tell whether something is a mapping, without asking it."""
    return issubclass(type(given), Mapping)


def entry_of(given: Mapping[str, Any], name: str) -> Any:
    """Return an entry by its name; None if there is none, or it cannot be had."""
    try:
        return given.get(name)
    except BaseException:  # noqa: BLE001 - one that gets away would be an answer less
        return None


def plain_text(entry: object) -> str | None:
    """Return a text as one of no class of its own, which might compare as it likes; None for what is no text."""
    return str.__str__(entry) if issubclass(type(entry), str) else None


def is_inside(metric: Metric, value: object) -> bool:
    """Tell whether a value is a number of a metric's range."""
    number = exact(value)
    return number is not None and Fraction(metric.low) <= number <= Fraction(metric.high)


def entry_text(entry: Any) -> str | None:
    """Return an entry of a table as text; None if there is nothing: no entry, no text, not a number, or no words."""
    try:
        # Only what is not a number differs from itself; pandas.NA is neither equal nor unequal; an array is no entry.
        return None if entry is None or bool(entry != entry) else str.strip(str(entry)) or None  # noqa: PLR0124
    except Exception:  # noqa: BLE001 - an integer of 5,000 digits, or a class of somebody's own
        return None


def name_text(entry: Any) -> str | None:
    """Return the person or the group that an entry of a table names; a whole number is the same text in every form.

    A column of whole numbers in which one is missing is often one of floats.  Whether one person's entry is there must
    not change how the entries of all others are read: it would move counts by more than the noise is for.

    >>> name_text(7) == name_text(7.0) == name_text(" 7") == name_text("7.0") == "7"
    True
    """
    text = entry_text(int(entry) if type(entry) is float and entry.is_integer() else entry)
    whole = None if text is None else _WHOLE.fullmatch(text)
    return text if whole is None else whole[1]
