"""The cells of a population's histogram, and how rows of a file or of a data frame become cells.

A row may say the group and the value in the columns ``group`` and ``value``, or in columns that have the names of the
study's attributes and metrics: ``sex,age,recall,count``.  Which of them it needs, the study says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from fairgauge.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Cell:
    """So many clients of one group with one value; without a group or a value they abstain.

    Args:
        group: The group, where the study has one attribute.
        value: The value, where it is of one metric.
        count: How many clients.
        metric: Which metric the row is about, where every metric has rows of its own.
        columns: Groups and values by the names of attributes and metrics, where there are several.
        row: Where it stands in a file or a frame, for whoever has to mend it.
    """

    group: str | None
    value: Decimal | None
    count: int
    metric: str | None = None
    columns: tuple[tuple[str, str | None], ...] | None = None
    row: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if type(self.count) is not int or self.count < 0:
            raise InvalidInput("count", self.count, "must be an integer from 0 up")
        if self.value is not None and not self.value.is_finite():
            raise InvalidInput("value", self.value, "must be a finite number, or empty")

    def group_of(self, attribute: str) -> str | None:
        """Return the group of an attribute that is not crossed.

        Raises:
            InvalidInput: If the row has no column for it.
        """
        return self.group if self.columns is None else self._column(attribute, "group")

    def value_of(self, metric: str) -> Decimal | None:
        """Return the value of a metric.

        Raises:
            InvalidInput: If the row has no column for it, or no number there.
        """
        if self.columns is None:
            return self.value
        return _number(metric, self._column(metric, "value"))

    def _column(self, name: str, otherwise: str) -> str | None:
        columns = dict(self.columns or ())
        if name not in columns and otherwise not in columns:
            raise InvalidInput("column", name, f"must be there; the rows have {', '.join(columns)} and count")
        return columns[name if name in columns else otherwise]


def read_cell(row: Mapping[str, Any]) -> Cell:
    """Read one row, whose entries are text from a CSV file or whatever a data frame holds."""
    if "count" not in row:
        rule = "must be there, beside the groups and the values"
        raise InvalidInput("column", "count", rule)
    counted = _entry(row["count"])
    try:
        clients = int(counted)
        whole = isinstance(counted, str) or clients == counted
    except (OverflowError, TypeError, ValueError):
        whole = False
    if not whole:
        raise InvalidInput("count", counted, "must be an integer from 0 up")
    metric = _name(_entry(row.get("metric")))
    if set(row) - {"metric"} == {"group", "value", "count"}:
        return Cell(_name(_entry(row["group"])), _number("value", _entry(row["value"])), clients, metric)
    for name in map(str, row):  # what is beyond the columns of a CSV file has the name None
        if name.strip() in ("", "None"):
            raise InvalidInput("column", name, "must have a name: group and value, or those of attributes and metrics")
    found = {str(name): _name(_entry(entry)) for name, entry in row.items() if name not in ("count", "metric")}
    return Cell(None, None, clients, metric, tuple(found.items()))


def _number(field: str, entry: Any) -> Decimal | None:
    try:
        exact = None if entry is None else Decimal(entry)
    except (InvalidOperation, TypeError, ValueError):
        raise InvalidInput(field, entry, "must be a number, or empty") from None
    if exact is not None and not exact.is_finite():
        raise InvalidInput(field, exact, "must be a finite number, or empty")
    return exact


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
