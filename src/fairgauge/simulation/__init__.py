"""Simulate a study: from a histogram of a population to the tally that its devices would send.

A client's symbol follows one row of probabilities, and clients with the same inputs follow the same row.  So
the tally is a sum of independent multinomials, one for each cell of the histogram: exact at any size, and a
billion clients cost what ten thousand cost.
"""

import csv
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache
from itertools import accumulate, combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairgauge.errors import CannotAnswer, InvalidInput, MissingExtra
from fairgauge.study import Question, Study
from fairgauge.tallies import Tally

try:
    import numpy as np
except ImportError:
    raise MissingExtra("simulating needs numpy", "lab") from None

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

Input = tuple[int | None, Fraction | None]


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

    @classmethod
    def from_csv(cls, path: str | Path) -> "Population":
        """Read columns ``group``, ``value``, ``count`` and perhaps ``metric``; empty means abstaining."""
        try:
            with Path(path).open(encoding="utf-8-sig", newline="") as file:
                return cls._from_rows(csv.DictReader(file, restval="(missing)", strict=True), first=2)
        except (UnicodeDecodeError, csv.Error) as problem:
            raise InvalidInput("population", path, f"must be CSV in UTF-8 ({problem})") from None

    @classmethod
    def from_frame(cls, frame: "IntoFrame") -> "Population":
        """Take the same columns from a data frame of any library that narwhals knows."""
        try:
            import narwhals as nw
        except ImportError:
            raise MissingExtra("reading data frames needs narwhals", "lab") from None
        return cls._from_rows(nw.from_native(frame).lazy().collect().iter_rows(named=True), first=0)

    @classmethod
    def _from_rows(cls, rows: Iterable[Mapping[str, Any]], *, first: int) -> "Population":
        cells = []
        for number, row in enumerate(rows, start=first):
            try:
                cells.append(_cell(row))
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


@dataclass(frozen=True, slots=True)
class Truth:
    """What a study tries to estimate, about those who gave both a group and a value, in the metric's units.

    Groups without such clients are absent.  A gap is the first group's mean less the second's.
    """

    metric: str
    attribute: str
    shares: dict[str, float]
    means: dict[str, float]
    gaps: dict[tuple[str, str], float]
    overall: float | None


def simulate(study: Study, population: Population, rng: np.random.Generator) -> Tally:
    """Draw the tally of a study that every client of a population answers.

    Guarantee: exact in distribution, up to the rounding of probabilities to double precision.

    Raises:
        InvalidInput: If the population does not fit the study.
    """
    questions = study.questions

    @cache
    def law(index: int, group: int | None, position: Fraction | None) -> np.ndarray[Any, np.dtype[np.float64]]:
        row = questions[index].channel.mixture(group, position)
        return np.array([float(p / len(questions)) for p in row])

    counts = np.zeros(study.symbols, dtype=np.int64)
    for inputs, clients in clients_of(study, population):
        laws = [law(index, *channel_input) for index, channel_input in enumerate(inputs)]
        counts += rng.multinomial(clients, np.concatenate(laws))
    return Tally(study.digest, tuple(counts.tolist()))


def true_values(study: Study, population: Population) -> tuple[Truth, ...]:
    """Return, for every question, what the study would find without noise."""
    return tuple(_truth(question, population) for question in study.questions)


def clients_of(study: Study, population: Population) -> Iterator[tuple[tuple[Input, ...], int]]:
    """Yield what clients feed into the channel of every question, and how many of them there are.

    Where every metric has its own histogram, their cells are paired in order (the north-west corner rule).
    The law of each question's counts is the same for every pairing, because each client tosses its own coin
    to pick a question.
    """
    columns = [
        [(_channel_input(question, cell), cell.count) for cell in population.cells_of(question.metric.name)]
        for question in study.questions
    ]
    ends = [list(accumulate(count for _, count in column)) for column in columns]
    for start, end in pairwise(sorted({0}.union(*ends))):
        cells = [column[bisect_right(sums, start)] for column, sums in zip(columns, ends, strict=True)]
        yield tuple(channel_input for channel_input, _ in cells), end - start


def _channel_input(question: Question, cell: Cell) -> Input:
    """Return what a channel takes, as the client would; a simulated value is nobody's, so errors show it."""
    groups, metric = question.attribute.groups, question.metric
    if cell.group is not None and cell.group not in groups:
        raise InvalidInput("group", cell.group, f"must be one of {', '.join(groups)}")
    if not question.channel.abstain and (cell.group is None or cell.value is None):
        field = "group" if cell.group is None else "value"
        raise InvalidInput(field, "nothing", "must be given: the study does not allow abstaining")
    try:
        position = None if cell.value is None else metric.position(cell.value)
    except CannotAnswer as refusal:
        raise InvalidInput("value", cell.value, str(refusal)) from None
    return None if cell.group is None else groups.index(cell.group), position


def _truth(question: Question, population: Population) -> Truth:
    groups = question.attribute.groups
    sizes: dict[str, int] = defaultdict(int)
    sums: dict[str, Fraction] = defaultdict(Fraction)
    for cell in population.cells_of(question.metric.name):
        _channel_input(question, cell)
        if cell.group is not None and cell.value is not None and cell.count:
            sizes[cell.group] += cell.count
            sums[cell.group] += cell.count * Fraction(cell.value)
    present = [group for group in groups if group in sizes]
    total = sum(sizes.values())
    means = {group: sums[group] / sizes[group] for group in present}
    return Truth(
        metric=question.metric.name,
        attribute=question.attribute.name,
        shares={group: sizes[group] / total for group in present},
        means={group: float(mean) for group, mean in means.items()},
        gaps={(a, b): float(means[a] - means[b]) for a, b in combinations(present, 2)},
        overall=float(sum(sums.values()) / total) if total else None,
    )


def _rescaled(cells: tuple[Cell, ...], clients: int) -> list[Cell]:
    total = sum(cell.count for cell in cells)
    counts, remainders = zip(*(divmod(cell.count * clients, total) for cell in cells), strict=True)
    by_remainder = sorted(range(len(cells)), key=lambda i: -remainders[i])
    rounded_up = set(by_remainder[: clients - sum(counts)])
    return [replace(cell, count=counts[i] + (i in rounded_up)) for i, cell in enumerate(cells)]


def _cell(row: Mapping[str, Any]) -> Cell:
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
