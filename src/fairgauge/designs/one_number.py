r"""Which column helps most where a score is one number: searched exactly, over all scores and all patterns.

A column (z, y) with duals :math:`\alpha, \beta, w` costs :math:`\sum_x z_x b_x(y)`,
:math:`b_x(y) = -\alpha_x - \beta_x y + w_x y^2`.  For a given y the best pattern has :math:`z_x = e^\epsilon` exactly
where :math:`b_x(y) < 0`, so the pattern changes only at roots of the :math:`b_x`.  Between two of them the cost is one
parabola, least at :math:`y = z \cdot \beta / (2\, z \cdot w)` or at an end.
"""

from typing import NamedTuple

import numpy as np

from fairgauge.designs.same_bits import weighted_sums
from fairgauge.goals.inputs import Matrix, Vector

# Scores are in units of randomized response's standard deviation: none that helps is so far out.
_FARTHEST = 50.0
_NOTHING = 1e-14


class Worth(NamedTuple):
    """What a unit of probability, of a score and of its square is worth at each input."""

    value: float
    base: Vector
    slope: Vector
    weight: Vector

    def towards(self, other: "Worth", part: float) -> "Worth":
        """Return the worths that far on the way to others."""
        return Worth(
            (1 - part) * self.value + part * other.value,
            (1 - part) * self.base + part * other.base,
            (1 - part) * self.slope + part * other.slope,
            (1 - part) * self.weight + part * other.weight,
        )

    def costs(self, patterns: Matrix, scores: Vector) -> Vector:
        """Return the reduced cost of each column."""
        base, slope, weight = (weighted_sums(patterns, of) for of in (self.base, self.slope, self.weight))
        return weight * scores**2 - slope * scores - base


def best_columns(worth: Worth, high: float) -> tuple[Matrix, Vector]:
    """Return the best column of every stretch of scores on which the pattern stays the same.

    Guarantee: no column within reach costs less than the best of them.
    """
    edges = np.concatenate([[-_FARTHEST], _changes(worth), [_FARTHEST]])
    middle = (edges[:-1] + edges[1:])[:, None] / 2
    gains = -worth.base - worth.slope * middle + worth.weight * middle**2
    patterns = np.where(gains < 0, high, 1.0)
    pull, curve = (weighted_sums(patterns, of) for of in (worth.slope, worth.weight))
    lowest = np.where(
        curve > _NOTHING,
        pull / (2 * np.maximum(curve, _NOTHING)),
        np.where(pull > 0, edges[1:], edges[:-1]),
    )
    return patterns, np.clip(lowest, edges[:-1], edges[1:])


def _changes(worth: Worth) -> Vector:
    """Return the scores at which some input's gain changes its sign."""
    _, base, slope, weight = worth
    inside = slope**2 + 4 * base * weight
    curved = (weight > _NOTHING) & (inside > 0)
    root, twice = np.sqrt(inside[curved]), 2 * weight[curved]
    straight = (weight <= _NOTHING) & (np.abs(slope) > _NOTHING)
    found = np.concatenate(
        [(slope[curved] - root) / twice, (slope[curved] + root) / twice, -base[straight] / slope[straight]]
    )
    return np.unique(found[np.abs(found) < _FARTHEST])
