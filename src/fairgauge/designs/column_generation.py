r"""Column generation: the best mixture of a channel's columns, of which there are too many to list.

Every epsilon-private channel splits into columns :math:`\theta z` whose pattern z is 1 or :math:`e^\epsilon` at each
input, and an estimator gives each column a score y.  For given columns the best weights :math:`\theta \ge 0` solve a
linear program, which every kind of design writes in its own rows.  The program's duals are prices; a column that is not
in it helps if it costs less than nothing by them (its *reduced cost*), and looking for such columns is *pricing*.

*The bound.*  Rows that say that probabilities sum to 1 give every mixture a total weight of at most 1, since patterns
are at least 1.  So prices of value V by which no column costs less than -r prove that no mixture is below V - r, by
weak duality.  That holds for any prices, not only for those of the last program: so columns are priced between the best
prices so far and the current ones too, which calms the duals (Wentges 1997).  It is proven as far as pricing finds the
cheapest column.

A kind of design is a :class:`ColumnProblem`: its program, its prices, its pricing and when to stop.  :func:`generate`
is the loop, which is the same for all.  Whoever waits for it is told how far it is (:func:`watched`): a design may take
several searches one after the other, how many is not known beforehand, and the progress of each is how much of the way
to ``close`` it has come.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.designs.linear_program import LinearProgram, Optimum
from fairgauge.errors import Impossible
from fairgauge.targets.channel_inputs import Vector

# Columns of less weight are not in use.
USED = 1e-9
# A column that costs so little less than nothing, as a part of the value, does not help.
_NOTHING = 1e-9
_HANDICAP = 0.05  # prices carried over from a coarser problem prove nothing exactly

_Array = NDArray[np.float64]
_NONE: _Array = np.zeros(())


class Columns(NamedTuple):
    """Columns of a channel, up to a factor, with their scores: the first axis of both says which column."""

    patterns: _Array
    scores: _Array

    def some(self, chosen: NDArray[np.int_] | NDArray[np.bool_]) -> "Columns":
        """Return some of the columns."""
        return Columns(self.patterns[chosen], self.scores[chosen])

    @classmethod
    def joined(cls, *parts: "Columns") -> "Columns":
        """Return the columns of all parts."""
        return cls(np.concatenate([p.patterns for p in parts]), np.concatenate([p.scores for p in parts]))


class Prices(NamedTuple):
    """Duals as prices: the value that they have, and what probability, scores and squared scores are worth at inputs.

    ``further`` is what a problem needs beside: prices of other squares, or what its caps are worth.
    """

    value: float
    ones: _Array
    means: _Array
    squares: _Array
    further: _Array = _NONE

    def towards(self, other: "Prices", part: float) -> "Prices":
        """Return the prices this part of the way to others."""
        value = (1 - part) * self.value + part * other.value
        rest = zip(self[1:], other[1:], strict=True)
        return Prices(value, *(np.asarray((1 - part) * ours + part * theirs) for ours, theirs in rest))


class Stop(NamedTuple):
    """When to stop, and how much to do in a round; a problem may say that a search has stalled, too.

    Args:
        close: Stop where the bound says that no mixture is better by more than this part.
        rounds: Stop after so many rounds.
        per_round: How many columns each pricing adds at most.
        smoothing: How much of the best prices is in those that are priced beside the current ones.
        most_columns: Beyond this the half that is least likely to help is dropped.
    """

    close: float
    rounds: int = 150
    per_round: int = 60
    smoothing: float = 0.7
    most_columns: int | None = None


class Mixture(NamedTuple):
    """Columns in use, how much of each, the other variables, the prices that prove them good, and what they prove."""

    columns: Columns
    weights: Vector
    variables: Vector
    prices: Prices
    bound: float


class ColumnProblem(ABC):
    """A kind of design: a linear program over columns, and how to look for columns that help."""

    program: LinearProgram
    stop: Stop

    @abstractmethod
    def add(self, columns: Columns) -> None:
        """Add columns to the program."""

    @abstractmethod
    def prices(self, optimum: Optimum) -> Prices:
        """Return a solution's duals as prices."""

    @abstractmethod
    def search(self, prices: Prices, used: Columns) -> Columns:
        """Return columns that cost little by these prices, the cheapest one among them; ``used`` are those in use."""

    @abstractmethod
    def costs(self, prices: Prices, columns: Columns) -> Vector:
        """Return the reduced cost of each column: below zero it helps."""

    def distinct(self, columns: Columns) -> Columns:
        """Return columns, the cheapest first, without those that add nothing to earlier ones: unless said so, all."""
        return columns

    def stalled(self, values: list[float], bounds: list[float]) -> bool:  # noqa: ARG002 - for searches that may
        """Return whether to give up, by the values and bounds since rows were added; unless said so, no."""
        return False

    def cut(self, columns: Columns, optimum: Optimum) -> bool:  # noqa: ARG002 - for problems that have too many rows
        """Add rows that a solution breaks, where a problem has too many to list; tell whether there were any."""
        return False


def generate(problem: ColumnProblem, first: Columns, hint: Prices | None = None) -> Mixture:
    """Return the best mixture of columns, from first ones that are feasible together.

    Guarantee: the value is at most ``stop.close`` above the best there is, as far as pricing finds the cheapest column
    and the search ends neither by its rounds nor because it stalled.

    Args:
        problem: The problem; its program is empty.
        first: Columns to begin with.
        hint: Prices near the final ones, which save the rounds in which the duals wander.

    Raises:
        Impossible: If the first program has no solution.
    """
    stop, columns = problem.stop, first
    problem.add(columns)
    best, bound = hint, -math.inf
    if best is not None:
        bound = _proven(best, problem.costs(best, problem.search(best, columns)))
        bound -= _HANDICAP * abs(bound)
    optimum = problem.program.solve()
    values: list[float] = []
    bounds: list[float] = []
    progress = Search(stop.close)
    for _ in range(stop.rounds):
        broken = problem.cut(columns, optimum)
        if broken:
            optimum = problem.program.solve()
            values, bounds = [], []  # values were too low
        current, used = problem.prices(optimum), columns.some(optimum.weights > USED)
        found = []
        for prices in [current] if best is None else [best.towards(current, 1 - stop.smoothing), current]:
            new = problem.search(prices, used)
            costs = problem.costs(prices, new)
            if (proven := _proven(prices, costs)) > bound:
                best, bound = prices, proven
            costs = costs if prices is current else problem.costs(current, new)
            found.append(_worth_adding(problem, new, costs, abs(current.value)))
        fresh = Columns.joined(*found)
        values.append(current.value)
        bounds.append(bound)
        gap = current.value - bound
        progress.within(gap / abs(current.value))
        done = gap <= stop.close * current.value or not len(fresh.scores) or problem.stalled(values, bounds)
        if done and not broken:
            break
        try:
            if len(fresh.scores):
                problem.add(fresh)
            optimum = problem.program.solve()
        except Impossible:
            break  # what has been found so far is a good channel, though no longer proven to be the best
        columns = Columns.joined(columns, fresh)
        if stop.most_columns is not None and len(columns.scores) > stop.most_columns:
            costs = np.where(optimum.weights > 0, -np.inf, problem.costs(problem.prices(optimum), columns))
            likely = np.sort(np.argsort(costs, kind="stable")[: stop.most_columns // 2])
            problem.program.drop(np.setdiff1d(np.arange(len(costs)), likely))
            columns, optimum = columns.some(likely), optimum._replace(weights=optimum.weights[likely])
    kept = optimum.weights > USED
    return Mixture(columns.some(kept), optimum.weights[kept], optimum.variables, best or current, bound)


def _proven(prices: Prices, costs: Vector) -> float:
    """Return what no mixture can be better than, if no column has a lower cost than these."""
    return prices.value + min(0.0, float(costs.min()))


def _worth_adding(problem: ColumnProblem, columns: Columns, costs: Vector, value: float) -> Columns:
    """Return the columns that help most; in one order, so that programs are the same on every processor."""
    order = np.argsort(costs, kind="stable")
    helpful = problem.distinct(columns.some(order[costs[order] < -_NOTHING * value]))
    return helpful.some(np.arange(len(helpful.scores)) < problem.stop.per_round)


# Told which search it is, from 1 on, and how much of it is done, from 0 to 1.
_Watcher = Callable[[int, float], object]


@dataclass
class _Watch:
    watcher: _Watcher
    searches: int = 0


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(watcher: _Watcher) -> Iterator[None]:
    """Tell a watcher of every search that is made meanwhile."""
    before = _WATCH.set(_Watch(watcher))
    try:
        yield
    finally:
        _WATCH.reset(before)


@dataclass
class Search:
    """One search, which tells how far it is.

    Args:
        close: The search ends where what was found is this part above what is proven.

    >>> told = []
    >>> with watched(lambda number, part: told.append((number, round(part, 2)))):
    ...     search = Search(0.01)
    ...     for gap in (1.0, 0.1, 0.2, 0.01):
    ...         search.within(gap)
    >>> told
    [(1, 0.0), (1, 0.5), (1, 0.5), (1, 1.0)]
    """

    close: float
    _first: float = field(default=math.inf, init=False)
    _part: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._watch = _WATCH.get()
        if self._watch is not None:
            self._watch.searches += 1
            self._number = self._watch.searches

    def within(self, gap: float) -> None:
        """Tell that what was found is at most this part above the best."""
        if self._watch is None:
            return
        # Before anything is proven the gap may be infinite; the way is measured in powers.
        gap = min(max(gap, self.close), 100.0) if not math.isnan(gap) else 100.0
        if math.isinf(self._first):
            self._first = max(gap, 1.01 * self.close)
        done = math.log(self._first / gap) / math.log(self._first / self.close)
        self._part = min(1.0, max(self._part, done))
        self._watch.watcher(self._number, self._part)
