"""Populations: how many people of each group hold each value, and how rows of a file or a data frame become that.

A row may say the group and the value in the columns ``group`` and ``value``, or in columns that have the names of the
study's attributes and metrics: ``sex,age,recall,count``.  Which of them it needs, the study says.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
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


@dataclass(frozen=True, slots=True)
class Population:
    """The histogram of a population: either one for every metric, or one for each metric by name.

    With one for each metric, all of them are about the same clients and have the same total.
    """

    cells: tuple[Cell, ...]

    def __post_init__(self) -> None:
        totals = {name: sum(cell.count for cell in cells) for name, cells in self._by_metric().items()}
        if None in totals and len(totals) > 1:
            raise InvalidInput("metric", "nothing", "must be given in every row, or in none")
        if not any(totals.values()):
            raise InvalidInput("count", 0, "must be above 0 for some cell")
        for name, total in totals.items():
            if total != self.clients:
                rule = f"must total {self.clients} clients like the first metric"
                raise InvalidInput(f"count of {name}", total, rule)

    def __str__(self) -> str:
        """Return how many clients there are, and how many cells.

        >>> from decimal import Decimal
        >>> print(Population((Cell("female", Decimal("0.7"), 500), Cell("male", Decimal("0.9"), 500))))
        Population of 1,000 clients in 2 cells
        """
        return f"Population of {self.clients:,} clients in {len(self.cells):,} cells"

    @classmethod
    def from_csv(cls, path: str | Path) -> "Population":
        """Read columns ``group``, ``value``, ``count`` and perhaps ``metric``; empty means abstaining.

        People's own tables are read by :mod:`fairgauge.simulation.people`, which knows the study.
        """
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as file:
                return cls.of_rows(enumerate(csv.DictReader(file, restval="(missing)", strict=True), start=2))
        except (UnicodeDecodeError, csv.Error) as problem:
            raise InvalidInput("population", path, f"must be CSV in UTF-8 ({problem})") from None
        except OSError as problem:
            raise InvalidInput("population", path, f"cannot be read: {problem.strerror or problem}") from None

    @classmethod
    def of_rows(cls, rows: Iterable[tuple[int, Mapping[str, Any]]]) -> "Population":
        """Take the same from rows, each with its number."""
        cells = []
        for number, row in rows:
            try:
                cells.append(replace(read_cell(row), row=number))
            except InvalidInput as error:
                raise InvalidInput(f"row {number}: {error.field}", error.value, error.rule) from None
        return cls(tuple(cells))

    @property
    def clients(self) -> int:
        """How many clients there are."""
        return sum(cell.count for cell in self.cells if cell.metric == self.cells[0].metric)

    def rescaled(self, clients: int) -> "Population":
        """Return the same proportions for another number of clients, by largest remainders."""
        if type(clients) is not int or clients < 1:
            raise InvalidInput("clients", clients, "must be an integer from 1 up")
        return Population(tuple(cell for cells in self._by_metric().values() for cell in _rescaled(cells, clients)))

    def cells_of(self, metric: str) -> tuple[Cell, ...]:
        """Return the histogram of one metric."""
        by_metric = self._by_metric()
        if None in by_metric:
            return self.cells
        if metric not in by_metric:
            raise InvalidInput("metric", ", ".join(map(str, by_metric)), f"must include {metric}")
        return by_metric[metric]

    def _by_metric(self) -> dict[str | None, tuple[Cell, ...]]:
        names = dict.fromkeys(cell.metric for cell in self.cells)
        return {name: tuple(cell for cell in self.cells if cell.metric == name) for name in names}


def _rescaled(cells: tuple[Cell, ...], clients: int) -> list[Cell]:
    total = sum(cell.count for cell in cells)
    counts, remainders = zip(*(divmod(cell.count * clients, total) for cell in cells), strict=True)
    by_remainder = sorted(range(len(cells)), key=lambda i: -remainders[i])
    rounded_up = set(by_remainder[: clients - sum(counts)])
    return [replace(cell, count=counts[i] + (i in rounded_up)) for i, cell in enumerate(cells)]


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
