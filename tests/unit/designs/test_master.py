"""The program kept in the solver."""

import numpy as np
import pytest

from fairgauge.designs.master import INFINITY, Master, Rows, Variables
from fairgauge.errors import Impossible

# Minimise T with T >= sum of weights * cost, and the weights summing to 1.
ROWS = Rows(np.array([1.0, 0.0]), np.array([1.0, INFINITY]))
TOP = Variables(np.array([[0.0, 1.0]]), np.array([1.0]), np.array([-INFINITY]))


def columns(*costs: float) -> np.ndarray:
    return np.array([[1.0, -cost] for cost in costs])


def test_new_columns_better_the_value_and_dropped_ones_are_gone():
    master = Master(ROWS, TOP)
    master.add(columns(3.0))
    assert master.solve().value == pytest.approx(3)
    master.add(columns(5.0, 2.0))
    found = master.solve()
    assert (found.value, found.variables.tolist(), found.weights.tolist()) == (2, [2], [0, 0, 1])
    assert found.duals == pytest.approx([2, 1])
    master.drop(np.array([2]))
    assert master.solve().weights.tolist() == [1, 0]


def test_what_cannot_be_solved_is_said():
    master = Master(ROWS, TOP)
    with pytest.raises(Impossible, match="ended as"):
        master.solve()
