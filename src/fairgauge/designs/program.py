"""The master linear program of a minimax design with vector scores."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.designs.master import INFINITY, Master, Rows, Variables
from fairgauge.goals.inputs import Matrix, Vector

# What a unit beyond a cap costs beside a unit of the maximum.
_DEAR = 30.0


class Duals(NamedTuple):
    """The value of the program, and what one unit of each constraint is worth."""

    value: float
    inputs: Vector
    unbiased: Vector
    second: Vector
    caps: float


class Tops(NamedTuple):
    """How worst variances (and slopes) bound second moments, what the maximum is over, and the rest of the cost.

    ``caps`` says for each of what the maximum is over what it may be at most; going beyond costs dear.  The last
    ``curves`` columns of the bound are of variables that are 0 or above.
    """

    bound: Matrix
    peaks: Matrix
    cost: Vector
    caps: Vector
    curves: int = 0


class Program:
    """Weights of columns that make probabilities sum to 1 and scores unbiased, at the least worst variance."""

    def __init__(self, *, ones: int, targets: Vector, limits: Vector, tops: Tops, shift: Vector | None = None) -> None:
        self.ones, self.targets = ones, targets
        self.shift: Vector = np.zeros(len(targets)) if shift is None else shift
        self.constant = 0.0
        self.equations = ones + len(targets)
        self.rows = self.equations + len(limits)
        equal = np.concatenate([np.ones(ones), targets])
        capped = np.isfinite(tops.caps)
        self.caps = tops.caps[capped]
        rows = Rows(
            lower=np.concatenate([equal, np.full(len(limits) + len(tops.peaks) + capped.sum(), -INFINITY)]),
            upper=np.concatenate([equal, limits, np.zeros(len(tops.peaks)), self.caps]),
        )
        # The free variables: a top for each block of inputs, slopes where means are given, and the maximum T.
        # The last is how far the caps are exceeded: with it there always is a solution.
        # Before it is the constant that scores may take from values.
        width = tops.bound.shape[1]
        above = np.zeros((self.equations, width + 3))
        above[ones:, width + 1] = self.shift
        bound = np.hstack([-tops.bound, np.zeros((len(limits), 3))])
        peaks = np.hstack([tops.peaks, np.tile([-1.0, 0.0, 0.0], (len(tops.peaks), 1))])
        caps = np.hstack([tops.peaks[capped], np.tile([0.0, 0.0, -1.0], (capped.sum(), 1))])
        free = np.vstack([above, bound, peaks, caps]).T
        least = np.full(len(free), -INFINITY)
        least[width - tops.curves : width] = 0.0
        least[-1] = 0.0
        if not self.shift.any():
            least[-2] = 0.0
        self._master = Master(rows, Variables(free, np.concatenate([tops.cost, [1.0, 0.0, _DEAR]]), least))

    def add(self, columns: Matrix, costs: Vector) -> None:
        """Add columns, one per row, given by what they add to each constraint and to the cost."""
        self._master.add(columns, costs)

    def drop(self, columns: NDArray[np.int_]) -> None:
        """Remove columns, by number."""
        self._master.drop(columns)

    def solve(self) -> tuple[Vector, Duals]:
        """Return the weights of the columns and the duals."""
        found = self._master.solve()
        self.constant = float(found.variables[-2])
        return found.weights, Duals(
            found.value,
            found.duals[: self.ones],
            found.duals[self.ones : self.equations],
            -found.duals[self.equations : self.rows],
            float(found.duals[len(found.duals) - len(self.caps) :] @ self.caps),
        )
