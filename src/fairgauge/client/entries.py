"""Entries as an app's code or a site's table gives them: whatever they do where they are read, there is an answer."""

from collections.abc import Mapping
from typing import Any, TypeGuard


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


def entry_text(entry: Any) -> str | None:
    """Return an entry of a table as text; None if there is nothing: no entry, no text, not a number, or no words."""
    try:
        # Only what is not a number differs from itself; pandas.NA is neither equal nor unequal; an array is no entry.
        return None if entry is None or bool(entry != entry) else str.strip(str(entry)) or None  # noqa: PLR0124
    except Exception:  # noqa: BLE001 - an integer of 5,000 digits, or a class of somebody's own
        return None
