"""How far the main gap could be off for reasons that no interval covers."""

import numpy as np

from fairgauge.estimate.estimands import Estimands
from fairgauge.estimate.result import Sensitivity
from fairgauge.estimate.solve import Counts
from fairgauge.scores import Vector
from fairgauge.study import Question

_STEP = 0.01


def sensitivity_of(reader: Counts, question: Question) -> Sensitivity:
    """Return what a wrong share, or forged answers, would do to the gap (the worst gap, for more than two groups)."""
    estimands, scale = reader.estimands, question.metric.scale
    influences = _influences(estimands, reader.law)
    forged = _STEP * max(float(np.abs(influence).max()) for influence in influences)
    means = None if estimands.means is None else [ratio.value(reader.law) for ratio in estimands.means]
    share = None if estimands.shares is None else _share_error(estimands.shares, means)
    return Sensitivity(
        share_error=None if share is None else share * scale,
        share_error_is_bound=share is not None and means is None,
        forged=forged * scale,
    )


def _influences(estimands: Estimands, law: Vector) -> list[Vector]:
    """Return what one answer of each symbol adds to each gap, to first order."""
    if estimands.gaps is not None:
        return [ratio.influence(law) for ratio in estimands.gaps.values()]
    single = [ratio.influence(law) for ratio in estimands.means or ()]
    return [a - b for i, a in enumerate(single) for b in single[i + 1 :]]


def _share_error(shares: Vector, means: list[float] | None) -> float:
    """Return how far a gap moves if one share grows by 0.01 and the others shrink in proportion.

    A mean is a sum over a share, so a share that is wrong by a part moves the mean by that part of itself.  Where
    the means are not known they may be as far as 1 from the middle, with the worst signs.
    """
    worst = 0.0
    for grown in range(len(shares)):
        relative = np.where(np.arange(len(shares)) == grown, _STEP / shares[grown], -_STEP / (1 - shares[grown]))
        moves = np.abs(relative) if means is None else relative * np.array(means)
        for a in range(len(shares)):
            for b in range(a + 1, len(shares)):
                worst = max(worst, float(moves[a] + moves[b] if means is None else abs(moves[a] - moves[b])))
    return worst
