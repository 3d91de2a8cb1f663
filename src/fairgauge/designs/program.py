"""The master linear program of a minimax design with vector scores."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.designs.master import INFINITY, Master, Rows, Variables
from fairgauge.goals.inputs import Matrix, Vector


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
        equal = np.concatenate([np.ones(ones), targets])
        rows = Rows(
            lower=np.concatenate([equal, np.full(len(limits) + len(tops.peaks), -INFINITY)]),
            upper=np.concatenate([equal, limits, np.zeros(len(tops.peaks))]),
        )
        # The free variables: a top for each block of inputs, slopes where means are given, and the maximum T.
        above = np.zeros((self.equations, tops.bound.shape[1] + 1))
        bound = np.hstack([-tops.bound, np.zeros((len(limits), 1))])
        peaks = np.hstack([tops.peaks, -np.ones((len(tops.peaks), 1))])
        free = np.vstack([above, bound, peaks]).T
        self._master = Master(rows, Variables(free, np.append(tops.cost, 1.0), np.full(len(free), -INFINITY)))

    def add(self, columns: Matrix) -> None:
        """Add columns, one per row, given by what they add to each constraint."""
        self._master.add(columns)

    def drop(self, columns: NDArray[np.int_]) -> None:
        """Remove columns, by number."""
        self._master.drop(columns)

    def solve(self) -> tuple[Vector, Duals]:
        """Return the weights of the columns and the duals."""
        found = self._master.solve()
        return found.weights, Duals(
            found.value,
            found.duals[: self.ones],
            found.duals[self.ones : self.equations],
            -found.duals[self.equations : self.rows],
        )
