"""Clients: what they feed into the channel of every question, and how many of each kind there are."""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

from fairgauge.errors import CannotAnswer, InvalidInput, MissingExtra
from fairgauge.simulation.cells import Cell
from fairgauge.simulation.population import Population
from fairgauge.study import Question, Study
from fairgauge.study.checks import check_arguments

try:
    import numpy as np
except ImportError:
    raise MissingExtra("simulating needs numpy", "lab") from None

Input = tuple[int | None, Fraction | None]
# What makes a simulation repeatable: a number, or a generator that goes on where it was.
Seed = int | np.random.Generator | None

MOST = 10**15


@dataclass(frozen=True)
class Clients:
    """Clients of a study: the inputs of each kind of client, and how many there are of it."""

    kinds: tuple[tuple[tuple[Input, ...], int], ...]

    @classmethod
    def of(cls, study: Study, population: Population) -> "Clients":
        """Return the clients of a population: each of its people is one.

        Where every metric has its own histogram, their cells are paired in order (the north-west corner rule).
        The law of each question's counts is the same for every pairing, because each client tosses its own coin
        to pick a question.

        Raises:
            InvalidInput: If the population does not fit the study.
            CannotAnswer: If the study is for sites, or a table of it answers several questions at once.
        """
        check_arguments(study=(study, Study), population=(population, Population))
        if study.site is not None:
            raise CannotAnswer("the study is for sites that hold many people, which cannot be simulated yet")
        if any(len(table) > 1 for table in study.tables):
            raise CannotAnswer("a table of the study answers several questions at once, which cannot be simulated yet")
        columns = [
            [(channel_input(question, cell), cell.count) for cell in population.cells_of(question.metric.name)]
            for question in study.questions
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


def channel_input(question: Question, cell: Cell) -> Input:
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


def checked(clients: int) -> int:
    """Return a number of clients that can be simulated.

    Raises:
        InvalidInput: If it is no whole number, or out of range.
    """
    if type(clients) is not int or not 1 <= clients <= MOST:
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
