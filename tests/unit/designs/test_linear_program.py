"""The linear program kept in the solver, against another solver's answer for the same one."""

import numpy as np
import pytest
from scipy.optimize import linprog

from fairgauge.designs.linear_program import INFINITY, LinearProgram, Rows, Variables
from fairgauge.errors import Impossible
from fairgauge.targets.channel_inputs import Matrix, Vector

# Minimise T with T >= sum of weights * cost, and the weights summing to 1.
ROWS = Rows(np.array([1.0, 0.0]), np.array([1.0, INFINITY]))
TOP = Variables(np.array([[0.0, 1.0]]), np.array([1.0]), np.array([-INFINITY]))
# Two sums, one mean, two second moments that a top of each bounds, and the maximum T of the tops' average.
TARGETS, LIMITS = np.array([0.5]), np.array([0.1, 0.2])


def columns(count: int, seed: int = 0) -> Matrix:
    """What each column adds to: two sums, one mean, two second moments."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(-3, 3, count)
    patterns = np.where(rng.random((count, 2)) < 0.5, 1.0, 3.0)
    return np.column_stack([patterns, patterns[:, 0] * score, patterns * score[:, None] ** 2])


def program() -> LinearProgram:
    equal = np.append([1.0, 1.0], TARGETS)
    rows = Rows(np.append(equal, [-INFINITY] * 3), np.concatenate([equal, LIMITS, [0.0]]))
    free = np.array([[0, 0, 0, -1, 0, 0.5], [0, 0, 0, 0, -1, 0.5], [0, 0, 0, 0, 0, -1]])
    return LinearProgram(rows, Variables(free, np.array([0.0, 0.01, 1.0]), np.full(3, -INFINITY)))


def costs(count: int, seed: int = 0) -> Vector:
    """What each column costs beside what it adds."""
    return np.random.default_rng(seed + 100).uniform(0, 0.3, count)


def reference(added: Matrix, cost: Vector) -> float:
    """Variables: a top for each of two blocks, their maximum, the weights."""
    n = len(added)
    equal = np.hstack([np.zeros((3, 3)), added[:, :3].T])
    tops = np.hstack([-np.eye(2), np.zeros((2, 1)), added[:, 3:].T])
    peak = np.hstack([[0.5, 0.5, -1.0], np.zeros(n)])
    found = linprog(
        np.concatenate([[0.0, 0.01, 1.0], cost]),
        A_ub=np.vstack([tops, peak]),
        b_ub=[*LIMITS, 0.0],
        A_eq=equal,
        b_eq=[1.0, 1.0, 0.5],
        bounds=[(None, None)] * 3 + [(0, None)] * n,
    )
    return float(found.fun or 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_solved(seed: int):
    added, cost = columns(30, seed), costs(30, seed)
    solved = program()
    solved.add(added, cost)
    found = solved.solve()
    assert found.value == pytest.approx(reference(added, cost), rel=1e-6)
    assert found.value != pytest.approx(reference(added, 0 * cost), rel=1e-3)
    assert found.weights @ added[:, :3] == pytest.approx([1, 1, 0.5])
    assert found.weights.min() >= 0


def test_duals_say_what_columns_are_worth():
    added, cost = columns(30), costs(30)
    solved = program()
    solved.add(added, cost)
    found = solved.solve()
    worth = added @ found.duals[:5] - cost
    assert (worth <= 1e-7).all()
    assert worth[found.weights > 1e-9] == pytest.approx(0, abs=1e-7)
    assert found.value == pytest.approx(found.duals[:5] @ np.concatenate([[1.0, 1.0], TARGETS, LIMITS]))


def test_columns_can_come_later_and_go():
    early, late = columns(30), columns(30, seed=9)
    solved = program()
    solved.add(early, costs(30))
    first = solved.solve().value
    solved.add(late, costs(30, seed=9))
    both = solved.solve().value
    cost = np.concatenate([costs(30), costs(30, seed=9)])
    assert both == pytest.approx(reference(np.vstack([early, late]), cost), rel=1e-6)
    assert both < first
    solved.drop(np.arange(59, 29, -1))
    again = solved.solve()
    assert len(again.weights) == 30
    assert again.value == pytest.approx(first)


def test_what_has_no_solution_is_an_error():
    solved = program()
    solved.add(columns(1), costs(1))
    with pytest.raises(Impossible, match="kInfeasible"):
        solved.solve()


def test_numbers_that_the_solver_would_refuse_are_an_error():
    with pytest.raises(Impossible, match="too large"):
        program().add(columns(3) * 1e16, costs(3))


def test_a_solver_that_goes_round_in_circles_is_stopped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fairgauge.designs.linear_program._MOST_ITERATIONS", 1)
    stopped = program()
    stopped.add(columns(40), costs(40))
    with pytest.raises(Impossible, match="kIterationLimit"):
        stopped.solve()


def costing(*each: float) -> Matrix:
    return np.array([[1.0, -cost] for cost in each])


def test_new_columns_better_the_value_and_dropped_ones_are_gone():
    small = LinearProgram(ROWS, TOP)
    small.add(costing(3.0))
    assert small.solve().value == pytest.approx(3)
    small.add(costing(5.0, 2.0))
    found = small.solve()
    assert (found.value, found.variables.tolist(), found.weights.tolist()) == (2, [2], [0, 0, 1])
    assert found.duals == pytest.approx([2, 1])
    small.drop(np.array([2]))
    assert small.solve().weights.tolist() == [1, 0]


def test_what_cannot_be_solved_is_said():
    small = LinearProgram(ROWS, TOP)
    with pytest.raises(Impossible, match="ended as"):
        small.solve()


def test_rows_that_come_later_are_kept():
    small = LinearProgram(ROWS, TOP)
    small.add(costing(3.0, 5.0))
    assert small.solve().weights.tolist() == [1, 0]
    small.limit(np.array([[0.0, 1.0, 0.0]]), np.array([0.25]))
    found = small.solve()
    assert found.value == pytest.approx(4.5)
    assert found.weights == pytest.approx([0.25, 0.75])
