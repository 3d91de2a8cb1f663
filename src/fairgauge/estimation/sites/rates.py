"""Rates: what can be said of a table of counts, each as the part that some of its cells are of others."""

from dataclasses import dataclass

import numpy as np

from fairgauge.study import NoisyCounts
from fairgauge.targets.inputs import Vector

# Within a group: truth 0 and prediction 0, truth 0 and prediction 1, truth 1 and prediction 0, both 1.
CONFUSION: dict[str, dict[int, float]] = {
    "selection rate": {0: 0, 1: 1, 2: 0, 3: 1},
    "accuracy": {0: 1, 1: 0, 2: 0, 3: 1},
    "true positive rate": {2: 0, 3: 1},
    "false positive rate": {0: 0, 1: 1},
    "precision": {1: 0, 3: 1},
}
_UNIT = 2**30


@dataclass(frozen=True, eq=False)
class Rate:
    """The mean of weights over cells: some cells count 1 and others 0, or a level counts what it is, from 0 to 1.

    Args:
        cells: The cells that it is about.
        weights: What each of them counts.
    """

    cells: tuple[int, ...]
    weights: Vector

    def sum(self, counts: Vector, rate: float | Vector) -> Vector:
        """Return the weighted sum that averages to zero at the right rate."""
        own = counts[list(self.cells)]
        return np.asarray(self.weights @ own - rate * own.sum())

    def people(self, counts: Vector) -> float:
        """Return how many records the rate is about, as the counts say."""
        return float(counts[list(self.cells)].sum())


def metrics_of(site: NoisyCounts) -> dict[str, dict[int, float]]:
    """Return for each metric what the cells of a group count for it."""
    if site.metric is None or site.levels is None:
        return CONFUSION
    return {site.metric.name: {index: (level / _UNIT + 1) / 2 for index, level in enumerate(site.levels)}}


def rate_of(site: NoisyCounts, weights: dict[int, float], groups: list[int]) -> Rate:
    """Return the rate of people in these groups together."""
    size = site.size // len(site.attribute.groups)
    cells = [(size * group + cell, weight) for group in groups for cell, weight in weights.items()]
    return Rate(tuple(cell for cell, _ in cells), np.array([weight for _, weight in cells], dtype=float))


def share_of(site: NoisyCounts, group: int) -> Rate:
    """Return the part of all records that a group has."""
    size = site.size // len(site.attribute.groups)
    weights = np.array([float(cell // size == group) for cell in range(site.size)])
    return Rate(tuple(range(site.size)), weights)
