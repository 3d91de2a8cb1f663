"""Populations: how many people of each group hold each value."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.errors import InvalidInput, MissingExtra
from fairgauge.simulation.cells import Cell, read_cell
from fairgauge.simulation.columns import Columns

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

_AS_THEY_ARE = Columns()


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

        >>> print(Population((Cell("female", Decimal("0.7"), 500), Cell("male", Decimal("0.9"), 500))))
        Population of 1,000 clients in 2 cells
        """
        return f"Population of {self.clients:,} clients in {len(self.cells):,} cells"

    @classmethod
    def from_csv(cls, path: str | Path, columns: Columns = _AS_THEY_ARE) -> "Population":
        """Read columns ``group``, ``value``, ``count`` and perhaps ``metric``; empty means abstaining.

        Args:
            path: The file.
            columns: Which columns hold what, where they have names of their own.
        """
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as file:
                return cls._from_rows(csv.DictReader(file, restval="(missing)", strict=True), columns, first=2)
        except (UnicodeDecodeError, csv.Error) as problem:
            raise InvalidInput("population", path, f"must be CSV in UTF-8 ({problem})") from None
        except OSError as problem:
            raise InvalidInput("population", path, f"cannot be read: {problem.strerror or problem}") from None

    @classmethod
    def from_frame(
        cls, frame: "IntoFrame", *, group: str | None = None, value: str | None = None, count: str | None = None
    ) -> "Population":
        """Take the same from a data frame of any library that narwhals knows: a row for each person, or counted.

        Args:
            frame: The frame.
            group: The column with each person's group, such as ``"sex"``.
            value: The column with each person's value, such as ``"recall"``.
            count: The column that says how many people a row stands for.  Where columns are named and there is no
                ``count``, each row is one person.
        """
        try:
            import narwhals as nw
        except ImportError:
            raise MissingExtra("reading data frames needs narwhals", "lab") from None
        try:
            rows = nw.from_native(frame).lazy().collect().iter_rows(named=True)
        except TypeError:
            raise InvalidInput(
                "frame", f"a {type(frame).__name__}", "must be a data frame, such as one of pandas or polars"
            ) from None
        return cls._from_rows(rows, Columns(group, value, count), first=0)

    @classmethod
    def _from_rows(cls, rows: Iterable[Mapping[str, Any]], columns: Columns, *, first: int) -> "Population":
        cells = []
        for number, row in enumerate(rows, start=first):
            try:
                cells.append(replace(read_cell(columns.picked(row) if columns.given else row), row=number))
            except InvalidInput as error:
                raise InvalidInput(f"row {number}: {error.field}", error.value, error.rule) from None
        return cls(tuple(_together(cells) if columns.given else cells))

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


def _together(cells: Iterable[Cell]) -> Iterator[Cell]:
    """Put people who are alike into one cell, in the order in which they first come."""
    counts: dict[tuple[str | None, Decimal | None], Cell] = {}
    for cell in cells:
        before = counts.get((cell.group, cell.value))
        counts[cell.group, cell.value] = cell if before is None else replace(before, count=before.count + cell.count)
    return iter(counts.values())


def _rescaled(cells: tuple[Cell, ...], clients: int) -> list[Cell]:
    total = sum(cell.count for cell in cells)
    counts, remainders = zip(*(divmod(cell.count * clients, total) for cell in cells), strict=True)
    by_remainder = sorted(range(len(cells)), key=lambda i: -remainders[i])
    rounded_up = set(by_remainder[: clients - sum(counts)])
    return [replace(cell, count=counts[i] + (i in rounded_up)) for i, cell in enumerate(cells)]
