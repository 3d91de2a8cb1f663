"""A linear program kept in HiGHS, so that new columns and new rows start from the last solution."""

from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from fairgauge.errors import Impossible
from fairgauge.targets.channel_inputs import Matrix, Vector

INFINITY = highspy.kHighsInf
_DUAL_SIMPLEX, _PRIMAL_SIMPLEX = 1, 4
# Unperturbed, the simplex can go round in circles.  From the last solution it takes a few iterations for each row;
# where it takes more, starting anew is quicker.
_MOST_ITERATIONS, _MOST_FOR_A_ROW, _FEW = 20_000, 6, 2_000


class Rows(NamedTuple):
    """The limits of each row."""

    lower: Vector
    upper: Vector


class Variables(NamedTuple):
    """Variables beside the weights: what a unit of each adds to each row, what it costs, and the least it may be."""

    columns: Matrix
    cost: Vector
    least: Vector


class Optimum(NamedTuple):
    """The value, the variables, the weights of the columns, and what one unit of each row is worth."""

    value: float
    variables: Vector
    weights: Vector
    duals: Vector


class LinearProgram:
    """Weights of columns, 0 or above, within limits on rows, at the least cost of some other variables."""

    def __init__(self, rows: Rows, variables: Variables) -> None:
        self.rows = len(rows.lower)
        self._others = len(variables.cost)
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in {
            "output_flag": False,
            "threads": 1,
            "primal_feasibility_tolerance": 1e-9,
            "dual_feasibility_tolerance": 1e-9,
            # Each round starts from the last solution, and perturbing it doubles the iterations.
            "primal_simplex_bound_perturbation_multiplier": 0.0,
        }.items():
            self._highs.setOptionValue(option, value)
        none = np.array([], dtype=np.int32)
        starts = np.zeros(self.rows, dtype=np.int32)
        self._highs.addRows(self.rows, rows.lower, rows.upper, 0, starts, none, np.array([]))
        self._add(variables)
        self._solved = False

    def add(self, columns: Matrix, costs: Vector | None = None) -> None:
        """Add columns, one per row, by what a unit of each adds to the first rows of the program, and its cost."""
        padded = np.hstack([columns, np.zeros((len(columns), self.rows - columns.shape[1]))])
        none = np.zeros(len(columns))
        self._add(Variables(padded, none if costs is None else costs, none))

    def limit(self, rows: Matrix, upper: Vector) -> None:
        """Add rows that may be at most so much, given by what a unit of each variable and column adds to them."""
        where = [np.flatnonzero(row) for row in rows]
        starts = np.cumsum([0, *(len(w) for w in where)])[:-1].astype(np.int32)
        values = np.concatenate([row[w] for row, w in zip(rows, where, strict=True)])
        lower = np.full(len(rows), -INFINITY)
        self._highs.addRows(
            len(rows), lower, upper, len(values), starts, np.concatenate(where).astype(np.int32), values
        )
        self.rows += len(rows)
        self._solved = False  # the last solution may break the new rows, which is where the dual simplex starts

    def drop(self, columns: NDArray[np.int_]) -> None:
        """Remove columns, by number."""
        numbers = np.sort(columns + self._others).astype(np.int32)
        self._highs.deleteCols(len(numbers), numbers)

    def _add(self, variables: Variables) -> None:
        columns = variables.columns
        where = [np.flatnonzero(column) for column in columns]
        starts = np.cumsum([0, *(len(w) for w in where)])[:-1].astype(np.int32)
        values = np.concatenate([column[w] for column, w in zip(columns, where, strict=True)])
        status = self._highs.addCols(
            len(columns),
            variables.cost,
            variables.least,
            np.full(len(columns), INFINITY),
            len(values),
            starts,
            np.concatenate(where).astype(np.int32),
            values,
        )
        if status == highspy.HighsStatus.kError:
            raise Impossible("the linear program of the design has numbers that are too large to solve")

    def solve(self) -> Optimum:
        """Return the optimum."""
        # After new columns the last solution is still feasible, which is where the primal simplex starts.
        self._highs.setOptionValue("simplex_strategy", _PRIMAL_SIMPLEX if self._solved else _DUAL_SIMPLEX)
        few = min(_MOST_ITERATIONS, max(_FEW, _MOST_FOR_A_ROW * self.rows))
        self._highs.setOptionValue("simplex_iteration_limit", few if self._solved else _MOST_ITERATIONS)
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self._highs.clearSolver()
            self._highs.setOptionValue("simplex_strategy", _DUAL_SIMPLEX)
            self._highs.setOptionValue("simplex_iteration_limit", _MOST_ITERATIONS)
            self._highs.run()
            if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                raise Impossible(f"the linear program of the design ended as {self._highs.getModelStatus().name}")
        self._solved = True
        solution = self._highs.getSolution()
        values = np.array(solution.col_value)
        return Optimum(
            self._highs.getInfo().objective_function_value,
            values[: self._others],
            values[self._others :],
            np.array(solution.row_dual),
        )
