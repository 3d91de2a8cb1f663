"""The master program, against another solver's answer for the same one."""

import numpy as np
import pytest
from scipy.optimize import linprog

from fairgauge.designs.program import Program, Tops
from fairgauge.errors import Impossible
from fairgauge.goals.inputs import Matrix, Vector

ONES, TARGETS, LIMITS = 2, np.array([0.5]), np.array([0.1, 0.2])
TOPS = Tops(
    bound=np.array([[1.0, 0.0], [0.0, 1.0]]),
    peaks=np.array([[0.5, 0.5]]),
    cost=np.array([0.0, 0.01]),
    caps=np.array([np.inf]),
)


def columns(count: int, seed: int = 0) -> Matrix:
    """What each column adds to: two sums, one mean, two second moments."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(-3, 3, count)
    patterns = np.where(rng.random((count, 2)) < 0.5, 1.0, 3.0)
    return np.column_stack([patterns, patterns[:, 0] * score, patterns * score[:, None] ** 2])


def program() -> Program:
    return Program(ones=ONES, targets=TARGETS, limits=LIMITS, tops=TOPS)


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
    weights, duals = solved.solve()
    assert duals.value == pytest.approx(reference(added, cost), rel=1e-6)
    assert duals.value != pytest.approx(reference(added, 0 * cost), rel=1e-3)
    assert weights @ added[:, :3] == pytest.approx([1, 1, 0.5])
    assert weights.min() >= 0


def test_duals_say_what_columns_are_worth():
    added, cost = columns(30), costs(30)
    solved = program()
    solved.add(added, cost)
    weights, duals = solved.solve()
    worth = added[:, :2] @ duals.inputs + added[:, 2:3] @ duals.unbiased - added[:, 3:] @ duals.second - cost
    assert (worth <= 1e-7).all()
    assert worth[weights > 1e-9] == pytest.approx(0, abs=1e-7)
    assert duals.value == pytest.approx(duals.inputs.sum() + duals.unbiased @ TARGETS - duals.second @ LIMITS)


def test_columns_can_come_later_and_go():
    early, late = columns(30), columns(30, seed=9)
    solved = program()
    solved.add(early, costs(30))
    first = solved.solve()[1].value
    solved.add(late, costs(30, seed=9))
    both = solved.solve()[1].value
    cost = np.concatenate([costs(30), costs(30, seed=9)])
    assert both == pytest.approx(reference(np.vstack([early, late]), cost), rel=1e-6)
    assert both < first
    solved.drop(np.arange(59, 29, -1))
    weights, duals = solved.solve()
    assert len(weights) == 30
    assert duals.value == pytest.approx(first)


def test_what_has_no_solution_is_an_error():
    solved = program()
    solved.add(columns(1), costs(1))
    with pytest.raises(Impossible, match="kInfeasible"):
        solved.solve()


def test_numbers_that_the_solver_would_refuse_are_an_error():
    with pytest.raises(Impossible, match="too large"):
        program().add(columns(3) * 1e16, costs(3))


def test_a_solver_that_goes_round_in_circles_is_stopped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fairgauge.designs.master._MOST_ITERATIONS", 1)
    stopped = program()
    stopped.add(columns(40), costs(40))
    with pytest.raises(Impossible, match="kIterationLimit"):
        stopped.solve()
