"""The master linear program of a minimax design, kept in HiGHS so that new columns start from the last solution."""

from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from fairgauge.errors import Impossible
from fairgauge.goals.inputs import Matrix, Vector

_DUAL_SIMPLEX, _PRIMAL_SIMPLEX = 1, 4
# Unperturbed, the simplex can go round in circles.  Programs that end at all end long before this.
_MOST_ITERATIONS = 20_000


class Duals(NamedTuple):
    """The value of the program, and what one unit of each constraint is worth."""

    value: float
    inputs: Vector
    unbiased: Vector
    second: Vector


class Tops(NamedTuple):
    """How worst variances (and slopes) bound second moments, what the maximum is over, and the rest of the cost."""

    bound: Matrix
    peaks: Matrix
    cost: Vector


class Program:
    """Weights of columns that make probabilities sum to 1 and scores unbiased, at the least worst variance."""

    def __init__(self, *, ones: int, targets: Vector, limits: Vector, tops: Tops) -> None:
        self.ones, self.targets = ones, targets
        self.equations = ones + len(targets)
        self.rows = self.equations + len(limits)
        self._free = tops.bound.shape[1] + 1
        infinity = highspy.kHighsInf
        equal = np.concatenate([np.ones(ones), targets])
        upper = np.concatenate([equal, limits, np.zeros(len(tops.peaks))])
        lower = np.concatenate([equal, np.full(len(limits) + len(tops.peaks), -infinity)])
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in {
            "output_flag": False,
            "threads": 1,
            "primal_feasibility_tolerance": 1e-9,
            "dual_feasibility_tolerance": 1e-9,
            # Each round starts from the last solution, and perturbing it doubles the iterations.
            "primal_simplex_bound_perturbation_multiplier": 0.0,
            "simplex_iteration_limit": _MOST_ITERATIONS,
        }.items():
            self._highs.setOptionValue(option, value)
        none = np.array([], dtype=np.int32)
        self._highs.addRows(len(upper), lower, upper, 0, np.zeros(len(upper), dtype=np.int32), none, np.array([]))
        # The free variables: a top for each block of inputs, slopes where means are given, and the maximum T.
        above = np.zeros((self.equations, self._free))
        bound = np.hstack([-tops.bound, np.zeros((len(limits), 1))])
        peaks = np.hstack([tops.peaks, -np.ones((len(tops.peaks), 1))])
        self._add(np.vstack([above, bound, peaks]).T, np.append(tops.cost, 1.0), -infinity)
        self._solved = False

    def add(self, columns: Matrix) -> None:
        """Add columns, one per row, given by what they add to each constraint."""
        padded = np.hstack([columns, np.zeros((len(columns), self._highs.getNumRow() - columns.shape[1]))])
        self._add(padded, np.zeros(len(columns)), 0.0)

    def drop(self, columns: NDArray[np.int_]) -> None:
        """Remove columns, by number."""
        numbers = np.sort(columns + self._free).astype(np.int32)
        self._highs.deleteCols(len(numbers), numbers)

    def _add(self, columns: Matrix, cost: Vector, lower: float) -> None:
        where = [np.flatnonzero(column) for column in columns]
        starts = np.cumsum([0, *(len(w) for w in where)])[:-1].astype(np.int32)
        values = np.concatenate([column[w] for column, w in zip(columns, where, strict=True)])
        status = self._highs.addCols(
            len(columns),
            cost,
            np.full(len(columns), lower),
            np.full(len(columns), highspy.kHighsInf),
            len(values),
            starts,
            np.concatenate(where).astype(np.int32),
            values,
        )
        if status == highspy.HighsStatus.kError:
            raise Impossible("the linear program of the design has numbers that are too large to solve")

    def solve(self) -> tuple[Vector, Duals]:
        """Return the weights of the columns and the duals."""
        # After new columns the last solution is still feasible, which is where the primal simplex starts.
        self._highs.setOptionValue("simplex_strategy", _PRIMAL_SIMPLEX if self._solved else _DUAL_SIMPLEX)
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self._highs.clearSolver()
            self._highs.setOptionValue("simplex_strategy", _DUAL_SIMPLEX)
            self._highs.run()
            if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                raise Impossible(f"the linear program of the design ended as {self._highs.getModelStatus().name}")
        self._solved = True
        solution = self._highs.getSolution()
        dual = np.array(solution.row_dual)
        return np.array(solution.col_value)[self._free :], Duals(
            self._highs.getInfo().objective_function_value,
            dual[: self.ones],
            dual[self.ones : self.equations],
            -dual[self.equations : self.rows],
        )
