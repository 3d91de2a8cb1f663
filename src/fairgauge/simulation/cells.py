"""The cells of a population's histogram, and how rows of a file or of a data frame become cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from fairgauge.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Cell:
    """So many clients of one group with one value; without a group or a value they abstain."""

    group: str | None
    value: Decimal | None
    count: int
    metric: str | None = None

    def __post_init__(self) -> None:
        if type(self.count) is not int or self.count < 0:
            raise InvalidInput("count", self.count, "must be an integer from 0 up")
        if self.value is not None and not self.value.is_finite():
            raise InvalidInput("value", self.value, "must be a finite number, or empty")


def read_cell(row: Mapping[str, Any]) -> Cell:
    """Read one row, whose entries are text from a CSV file or whatever a data frame holds."""
    unknown = [name for name in row if name not in ("group", "value", "count", "metric")]
    missing = [name for name in ("group", "value", "count") if name not in row]
    if unknown or missing:
        name = unknown[0] if unknown else missing[0]
        raise InvalidInput("column", name, "must be group, value and count, and metric if there are several")
    group, value, count, metric = (_entry(row.get(name)) for name in ("group", "value", "count", "metric"))
    try:
        exact = None if value is None else Decimal(value)
    except (InvalidOperation, TypeError, ValueError):
        raise InvalidInput("value", value, "must be a number, or empty") from None
    try:
        clients = int(count)
        whole = isinstance(count, str) or clients == count
    except (OverflowError, TypeError, ValueError):
        whole = False
    if not whole:
        raise InvalidInput("count", count, "must be an integer from 0 up")
    return Cell(_name(group), exact, clients, _name(metric))


def _entry(entry: Any) -> Any:
    """Return an entry, or None where it is missing: empty text, null, or a data frame's NaN or NA."""
    if isinstance(entry, str):
        return entry.strip() or None
    try:
        return entry if entry == entry else None  # noqa: PLR0124 - what is missing does not equal itself
    except TypeError:
        return None  # pandas.NA is neither equal nor unequal


def _name(entry: Any) -> str | None:
    return None if entry is None else str(entry)
