"""What a search for signed subsets is about: columns, their prices, and what is wanted of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.goals.inputs import Inputs, Matrix, Vector

Patterns = NDArray[np.float64]  # column, group, level


class Columns(NamedTuple):
    """Columns: for each group which levels are likely, and a score."""

    patterns: Patterns
    scores: Matrix

    def some(self, chosen: NDArray[np.int_] | NDArray[np.bool_]) -> "Columns":
        """Return some of the columns."""
        return Columns(self.patterns[chosen], self.scores[chosen])

    @classmethod
    def joined(cls, *parts: "Columns") -> "Columns":
        """Return the columns of all parts."""
        return cls(np.concatenate([p.patterns for p in parts]), np.concatenate([p.scores for p in parts]))


class Prices(NamedTuple):
    """What a unit of each row is worth: at each group and level."""

    value: float
    ones: Matrix
    means: Matrix
    own: Matrix
    others: NDArray[np.float64]  # for the squared score of a group, at each input of each group

    def towards(self, other: "Prices", part: float) -> "Prices":
        """Return the prices this part of the way to others."""
        return Prices(
            (1 - part) * self.value + part * other.value,
            (1 - part) * self.ones + part * other.ones,
            (1 - part) * self.means + part * other.means,
            (1 - part) * self.own + part * other.own,
            (1 - part) * self.others + part * other.others,
        )


class Peaks(NamedTuple):
    """What the maximum is over: a row of weights of the groups' variances for each, and what it shall be at most."""

    rows: Matrix
    caps: Vector


@dataclass(frozen=True)
class SubsetGoal:
    """What to minimise.

    Args:
        levels: The levels; for each its opposite is one too.
        shares: The groups' shares.
        units: What each group's variance is measured by: randomized response's, say.
        peaks: What the maximum is over, as combinations of variances in these units.
        high: How much likelier a symbol may be for one input than for another.
    """

    levels: Vector
    shares: Vector
    units: Vector
    peaks: Peaks
    high: float

    @cached_property
    def inputs(self) -> Inputs:
        """The inputs."""
        return Inputs(len(self.shares), self.levels)

    @cached_property
    def slopes(self) -> Vector:
        """The slope of each group's target, in units of its deviation."""
        return 1 / (self.shares * np.sqrt(self.units))

    @cached_property
    def alike(self) -> bool:
        """Whether all groups are each other's images, so that one row stands for all."""
        rows = {tuple(sorted(row)) for row in self.peaks.rows.round(12).tolist()}
        return len(set(self.shares.tolist())) == 1 and len(rows) == 1 and len(self.peaks.rows) == len(self.shares)
