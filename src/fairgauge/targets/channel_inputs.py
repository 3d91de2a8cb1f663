"""The inputs of a channel in row order, and the functionals of them that studies ask about."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairgauge.channel import LEVEL_UNIT, Channel

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# Where abstaining is allowed, designs and plans reckon with this part of the answers.
ABSTAINING = 0.1
# And with this part where everyone may answer, also those who have no group or value of the study.
OUTSIDERS = 0.01


def at_constant_value(inputs: "Inputs", functional: Vector) -> Vector:
    """Return what a functional that is proportional to values would be if everyone's value were 1."""
    found = np.zeros(inputs.count)
    for block in inputs.blocks[: inputs.groups]:
        found[block] = (functional[block][-1] - functional[block][0]) / (inputs.levels[-1] - inputs.levels[0])
    return found


@dataclass(frozen=True)
class Inputs:
    """The inputs of a channel in row order, and the functionals that studies ask about.

    Args:
        groups: How many groups there are.
        levels: The levels as values in [-1, 1].
        abstain: Whether a last input stands for those without a group or a value.
        others: How many levels the other values have together, where a channel takes several at once.  The levels of
            this question's own value are then in runs, one run for each of them.
    """

    groups: int
    levels: Vector
    abstain: bool = False
    others: int = 1

    @classmethod
    def of(cls, channel: Channel, axis: int = 0) -> "Inputs":
        """Return the inputs of a channel, for the question whose value is on an axis."""
        axes = channel.axes
        own = axes[axis]
        others = math.prod(map(len, axes)) // len(own)
        return cls(channel.groups, np.array(own) / LEVEL_UNIT, channel.abstain, others)

    @property
    def count(self) -> int:
        """How many inputs there are."""
        return self.groups * len(self.levels) * self.others + self.abstain

    @property
    def blocks(self) -> list[slice]:
        """The inputs of each group, then of those who abstain."""
        m = len(self.levels) * self.others
        blocks = [slice(g * m, (g + 1) * m) for g in range(self.groups)]
        return [*blocks, slice(self.count - 1, self.count)] if self.abstain else blocks

    def runs(self, block: slice) -> list[slice]:
        """Return the parts of a block in which the question's own value goes through its levels."""
        m = len(self.levels)
        return [slice(start, min(start + m, block.stop)) for start in range(block.start, block.stop, m)]

    def points(self) -> tuple[Matrix, NDArray[np.int_]]:
        """Return levels and midpoints as mixtures of inputs, and the block of each: where variances peak."""
        points, block_of = [], []
        for number, block in enumerate(self.blocks):
            for run in self.runs(block):
                rows = np.eye(self.count)[run]
                found = [*rows, *(rows[:-1] + rows[1:]) / 2]
                points += found
                block_of += [number] * len(found)
        return np.array(points), np.array(block_of)

    def weights(self, shares: Vector, abstaining: float = ABSTAINING) -> Vector:
        """Return the part of the answers that each block makes up, for shares among those who answer."""
        return np.append(shares * (1 - abstaining), abstaining) if self.abstain else shares

    def sum_of(self, group: int) -> Vector:
        """The value for members of the group, 0 for others: its average is the group's sum per client."""
        functional = np.zeros(self.count)
        functional[self.blocks[group]] = np.tile(self.levels, self.others)
        return functional

    def share_of(self, group: int) -> Vector:
        """1 for members of the group, 0 for others."""
        functional = np.zeros(self.count)
        functional[self.blocks[group]] = 1.0
        return functional

    def answered(self) -> Vector:
        """1 for those who gave a group and a value, 0 for those who abstain."""
        functional = np.ones(self.count)
        if self.abstain:
            functional[-1] = 0.0
        return functional
