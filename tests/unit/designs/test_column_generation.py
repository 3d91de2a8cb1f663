"""Column generation on a problem whose every column can be listed; and how far a search is, for whoever waits.

Each search is told of by its number, and never that it goes back.
"""

import math
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.designs import make_channel
from fairgauge.designs.column_generation import ColumnProblem, Columns, Prices, Search, Stop, generate, watched
from fairgauge.designs.linear_program import INFINITY, LinearProgram, Optimum, Rows, Variables
from fairgauge.errors import Impossible
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target


class Parabola(ColumnProblem):
    """The lowest point of the hull of a parabola's points at x = 0.3: columns (1, x), each at a height of x².

    The optimum mixes the two points of the grid that are next to it.
    """

    grid = np.linspace(-1, 1, 201)

    def __init__(self, stop: Stop, target: float = 0.305) -> None:
        self.stop, self.searches = stop, 0
        # Minimise T with weights that sum to 1, a mean that is the target, and heights of at most T.
        equal = np.array([1.0, target])
        rows = Rows(np.append(equal, 0.0), np.append(equal, INFINITY))
        self.program = LinearProgram(rows, Variables(np.array([[0.0, 0.0, 1.0]]), np.ones(1), np.full(1, -INFINITY)))

    def add(self, columns: Columns) -> None:
        x = columns.scores
        self.program.add(np.column_stack([np.ones_like(x), x, -(x**2)]))

    def prices(self, optimum: Optimum) -> Prices:
        return Prices(optimum.value, *optimum.duals[:3])

    def costs(self, prices: Prices, columns: Columns) -> Vector:
        x = columns.scores
        return np.asarray(prices.squares * x**2 - prices.means * x - prices.ones)

    def search(self, prices: Prices, used: Columns) -> Columns:
        self.searches += 1
        return points(self.grid)


def points(x: Vector) -> Columns:
    return Columns(np.ones((len(x), 1)), x)


ENDS = points(np.array([-1.0, 1.0]))
BEST = (0.30**2 + 0.31**2) / 2


def test_it_finds_the_best_of_all_columns_and_proves_it():
    found = generate(Parabola(Stop(1e-9, per_round=3)), ENDS)
    assert np.sort(found.columns.scores) == pytest.approx([0.30, 0.31])
    assert found.weights == pytest.approx([0.5, 0.5])
    assert found.variables == pytest.approx([BEST])
    assert BEST * (1 - 1e-8) <= found.bound <= BEST * (1 + 1e-12)


@pytest.mark.parametrize("close", [0.3, 0.03])
def test_it_stops_where_the_bound_says_that_it_is_close(close: float):
    near, best = (Parabola(Stop(each, per_round=1)) for each in (close, 1e-9))
    found, whole = generate(near, ENDS), generate(best, ENDS)
    value = float(found.variables[0])
    assert whole.variables[0] <= value <= (1 + 1e-12) * found.bound / (1 - close)
    assert found.bound <= BEST * (1 + 1e-12)
    assert near.searches < best.searches


def test_rounds_end_it_with_what_is_found():
    found = generate(Parabola(Stop(1e-9, rounds=2, per_round=1)), ENDS)
    assert BEST < found.variables[0] < 1
    assert found.weights @ found.columns.scores == pytest.approx(0.305)


def test_it_gives_up_where_the_problem_says_that_it_has_stalled():
    class Impatient(Parabola):
        def stalled(self, values: list[float], bounds: list[float]) -> bool:
            assert bounds == sorted(bounds)
            assert values == sorted(values, reverse=True)
            return len(values) == len(bounds) == 3

    impatient = Impatient(Stop(1e-9, per_round=1))
    generate(impatient, ENDS)
    assert impatient.searches == 5  # one search in the first round, two in each of the others


def test_columns_that_are_not_likely_to_help_are_dropped_and_those_in_use_stay():
    few = Parabola(Stop(1e-9, per_round=4, most_columns=8))
    assert generate(few, ENDS).variables == pytest.approx([BEST])
    assert len(few.program.solve().weights) <= 8
    once = Parabola(Stop(1e-9, rounds=1, per_round=3, most_columns=4))
    found = generate(once, ENDS)
    assert len(once.program.solve().weights) == 2
    assert (found.weights.sum(), found.weights @ found.columns.scores) == pytest.approx((1, 0.305))


def test_rows_that_a_solution_breaks_are_added_before_it_ends():
    class Bounded(Parabola):
        """No column may carry more than a fifth, said of each only where it does."""

        def __init__(self) -> None:
            super().__init__(Stop(1e-9, per_round=3), target=0.3)
            self.cuts = 0

        def cut(self, columns: Columns, optimum: Optimum) -> bool:
            broken = np.flatnonzero(optimum.weights > 0.2 + 1e-9)
            if len(broken):
                rows = np.eye(len(optimum.weights))[broken]
                self.program.limit(np.hstack([np.zeros((len(rows), 1)), rows]), np.full(len(rows), 0.2))
                self.cuts += 1
            return len(broken) > 0

    bounded = Bounded()
    found = generate(bounded, points(bounded.grid))
    assert bounded.cuts > 1
    assert found.weights.max() <= 0.2 + 1e-9
    assert found.weights @ found.columns.scores == pytest.approx(0.3)


def test_a_hint_that_says_too_much_is_no_proof():
    first = generate(Parabola(Stop(1e-9, per_round=1)), ENDS)
    hinted = Parabola(Stop(1e-9, per_round=1))
    again = generate(hinted, ENDS, first.prices)
    assert again.variables == pytest.approx(first.variables)
    assert again.bound <= BEST * (1 + 1e-12)


@pytest.mark.parametrize("solves", [1, 3])
def test_a_solver_that_gives_up_leaves_what_it_had_found(monkeypatch: pytest.MonkeyPatch, solves: int):
    left, solve = [solves], LinearProgram.solve

    def tiring(self: LinearProgram) -> Optimum:
        left[0] -= 1
        if left[0] < 0:
            raise Impossible("the linear program of the design ended as kSolveError")
        return solve(self)

    monkeypatch.setattr(LinearProgram, "solve", tiring)
    found = generate(Parabola(Stop(1e-9, per_round=1)), ENDS)
    assert found.weights @ found.columns.scores == pytest.approx(0.305)
    assert found.variables[0] > BEST
    left[0] = 0
    with pytest.raises(Impossible, match="kSolveError"):
        generate(Parabola(Stop(1e-9)), ENDS)


def test_prices_meet_in_between():
    a, b = (Prices(value, np.arange(3.0) + value, np.eye(2), np.ones(2)) for value in (1.0, 3.0))
    between = a.towards(b, 0.25)
    assert (between.value, between.ones.tolist()) == (1.5, [1.5, 2.5, 3.5])
    assert all(np.all(x == y) for x, y in zip(a.towards(b, 1.0), b, strict=True))


def test_columns_join_and_some_are_taken():
    both = Columns.joined(ENDS, points(np.array([0.5])))
    assert both.scores.tolist() == [-1, 1, 0.5]
    assert both.some(np.array([2, 0])).scores.tolist() == [0.5, -1]
    assert both.some(both.scores > 0).patterns.tolist() == [[1], [1]]


def test_each_search_goes_from_nothing_to_everything_and_never_back():
    told: list[tuple[int, float]] = []
    with watched(lambda number, part: told.append((number, part))):
        for gaps in ((math.inf, 1.0, 3.0, 0.1, 0.001), (0.5, 0.01)):
            search = Search(0.01)
            for gap in gaps:
                search.within(gap)
    first, second = ([part for number, part in told if number == which] for which in (1, 2))
    assert first == sorted(first)
    assert (first[0], first[-1]) == (0.0, 1.0)
    assert second == [0.0, 1.0]


def test_nobody_is_told_where_nobody_watches():
    told: list[float] = []
    with watched(lambda _, part: told.append(part)):
        pass
    Search(0.01).within(0.5)
    assert told == []


def test_a_design_tells_of_its_search():
    told: list[tuple[int, float]] = []
    with watched(lambda number, part: told.append((number, part))):
        make_channel(
            Scores(Target((0.31, 0.69)), AssumedValues(expect=0.5, spread=None)), Decimal("1.25"), design="centred"
        )
    assert {number for number, _ in told} == {1}
    assert told[-1][1] == 1.0
