"""Clients: what they feed into the channel of every question, and how many of each kind there are."""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from fairgauge.errors import CannotAnswer, InvalidInput, MissingExtra
from fairgauge.simulation.population import Cell, Population
from fairgauge.study import Attribute, Question, Study, Table
from fairgauge.study.field_checks import check_arguments
from fairgauge.study.numbers import MOST_CLIENTS

try:
    import numpy as np
except ImportError:
    raise MissingExtra("simulating needs numpy", "lab") from None

# What a table takes: the group, and a value for each question that it answers.
Input = tuple[int | None, *tuple[Fraction | None, ...]]
# What makes a simulation repeatable: a number, or a generator that goes on where it was.
Seed = int | np.random.Generator | None


@dataclass(frozen=True)
class Clients:
    """Clients of a study: what each kind of client feeds into every table, and how many there are of it."""

    kinds: tuple[tuple[tuple[Input, ...], int], ...]

    @classmethod
    def of(cls, study: Study, population: Population) -> "Clients":
        """Return the clients of a population: each of its people is one.

        Where every metric has its own histogram, their cells are paired in order (the north-west corner rule).
        The law of each table's counts is the same for every pairing, because each client tosses its own coin to pick a
        table; but where a table answers several questions at once, rows must have a column for each metric.

        Raises:
            InvalidInput: If the population does not fit the study, or the study is for sites.
        """
        check_arguments(study=(study, Study), population=(population, Population), channels=(study.channels, tuple))
        _check_columns(study, population)
        columns = [
            [(table_input(table, cell), cell.count) for cell in population.cells_of(_histogram(table, population))]
            for table in study.tables
        ]
        ends = [list(accumulate(count for _, count in column)) for column in columns]
        kinds = []
        for start, end in pairwise(sorted({0}.union(*ends))):
            cells = [column[bisect_right(sums, start)] for column, sums in zip(columns, ends, strict=True)]
            kinds.append((tuple(found for found, _ in cells), end - start))
        return cls(tuple(kinds))

    @property
    def total(self) -> int:
        """How many clients there are."""
        return sum(count for _, count in self.kinds)

    def drawn(self, clients: int, *, seed: Seed = None) -> "Clients":
        """Return so many clients, each drawn from these at random, whoever was drawn before.

        Guarantee: the numbers of each kind are multinomial, up to the rounding of shares to double precision.
        """
        counts = generator(seed).multinomial(checked(clients), [count / self.total for _, count in self.kinds])
        return Clients(tuple((kind, n) for (kind, _), n in zip(self.kinds, counts.tolist(), strict=True)))


def table_input(table: Table, cell: Cell) -> Input:
    """Return what a table takes, as the client would; a simulated value is nobody's, so errors show it.

    Raises:
        InvalidInput: If it takes no such thing; where the cell comes from a file or a frame, its row is named.
    """
    try:
        return _input(table, cell)
    except InvalidInput as error:
        if cell.row is None:
            raise
        raise InvalidInput(f"row {cell.row}: {error.field}", error.value, error.rule) from None


def _input(table: Table, cell: Cell) -> Input:
    group = group_index(table[0].attribute, cell)
    positions = tuple(_position(question, cell) for question in table)
    if not table[0].mechanism.abstain and None in (group, *positions):
        field = "group" if group is None else "value"
        raise InvalidInput(field, "nothing", "must be given: the study does not allow abstaining")
    return group, *positions


def group_index(attribute: Attribute, cell: Cell) -> int | None:
    """Return the number of a cell's group; where attributes cross, a row has a column for each, or names the cell."""
    if not attribute.cross or cell.columns is None or attribute.name in dict(cell.columns):
        return _known(attribute, cell.group_of(attribute.name))
    index = 0
    for factor in attribute.cross:
        place = _known(factor, cell.group_of(factor.name))
        if place is None:
            return None
        index = index * len(factor.groups) + place
    return index


def _known(attribute: Attribute, group: str | None) -> int | None:
    if group is None:
        return None
    if group not in attribute.groups:
        raise InvalidInput("group", group, f"must be one of {', '.join(attribute.groups)}")
    return attribute.groups.index(group)


def _position(question: Question, cell: Cell) -> Fraction | None:
    value = cell.value_of(question.metric.name)
    try:
        return None if value is None else question.metric.position(value)
    except CannotAnswer as refusal:
        raise InvalidInput("value", value, str(refusal)) from None


def _histogram(table: Table, population: Population) -> str:
    """Return the metric whose histogram a table's clients are taken from."""
    name = table[0].metric.name
    if len(table) > 1 and all(cell.columns is None for cell in population.cells):
        named = " and ".join(question.metric.name for question in table)
        rule = f"must be a column for each of {named}: one answer is about all of them"
        raise InvalidInput("column", "value", rule)
    return name


def _check_columns(study: Study, population: Population) -> None:
    """Refuse columns that the study does not ask for: a name that is typed wrong must not be left out silently."""
    asked = {"group", "value", *(metric.name for metric in study.metrics)}
    for attribute in study.attributes:
        asked |= {attribute.name, *(factor.name for factor in attribute.factors)}
    for name in dict.fromkeys(name for cell in population.cells for name, _ in cell.columns or ()):
        if name not in asked:
            raise InvalidInput("column", name, f"must be count, metric, or one of {', '.join(sorted(asked))}")


def checked(clients: int) -> int:
    """Return a number of clients that can be simulated.

    Raises:
        InvalidInput: If it is no whole number, or out of range.
    """
    if type(clients) is not int or not 1 <= clients <= MOST_CLIENTS:
        raise InvalidInput("clients", clients, "must be an integer from 1 to 10^15")
    return clients


def generator(seed: Seed) -> np.random.Generator:
    """Return the generator that a seed stands for; None stands for a new one each time.

    Raises:
        InvalidInput: If it stands for none.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if seed is not None and not (whole and seed >= 0):
        raise InvalidInput("seed", seed, "must be an integer from 0 up, a numpy.random.Generator, or None")
    return np.random.default_rng(seed)
