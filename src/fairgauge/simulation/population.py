"""Populations: how many people of each group hold each value."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairgauge.errors import InvalidInput
from fairgauge.simulation.cells import Cell, read_cell


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
