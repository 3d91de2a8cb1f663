"""From a solved problem to a good start for the same problem with more levels."""

import numpy as np

from fairgauge.designs.minimax import Problem, Solution
from fairgauge.designs.pricing import Columns, Price
from fairgauge.goals.inputs import Inputs, Matrix


def refined_columns(before: Inputs, solution: Solution, problem: Problem) -> Columns:
    """Return columns for fewer levels as columns for more: between levels a client rounds as before.

    As they are, they make the coarse channel again; pushed to their extremes, they show where to go from there.
    """
    patterns, scores = solution.columns
    fine = patterns @ _between(before, problem.inputs).T
    high = np.exp(problem.epsilon)
    likely = (fine - 1) / (high - 1)
    extremes = [np.where(likely > part, high, 1.0) for part in (0.2, 0.6)]
    return Columns(np.vstack([fine, *extremes]), np.vstack([scores] * 3))


def refined_price(before: Inputs, solution: Solution, problem: Problem) -> Price:
    """Return prices for fewer levels spread over more, keeping the total of each block."""
    spread = _between(before, problem.inputs)
    spread = spread / spread.sum(axis=0)
    _, base, slope, weight, caps = solution.price
    fine_base, fine_slope, fine_weight = spread @ base, spread @ slope, weight[: problem.peaks] @ spread.T
    targets = (problem.basis @ problem.combinations[: problem.peaks].T).T
    value = fine_base.sum() + (fine_slope * problem.basis).sum() - (fine_weight * targets**2).sum() + caps
    return Price(float(value), fine_base, fine_slope, np.vstack([fine_weight, problem.average_weights()]), caps)


def _between(before: Inputs, after: Inputs) -> Matrix:
    """Return each new input as a mixture of the old ones next to it."""
    mixtures = np.zeros((after.count, before.count))
    for old, new in zip(before.blocks, after.blocks, strict=True):
        size = old.stop - old.start
        corners = np.eye(size)
        for i, corner in enumerate(corners):
            levels = after.levels[: new.stop - new.start]
            mixtures[new, old.start + i] = np.interp(levels, before.levels[:size], corner)
    return mixtures
