"""How far a gap could be off for reasons that no interval covers."""

import math
from collections.abc import Iterable

import numpy as np

from fairgauge.estimation.estimands import Estimands, Ratio
from fairgauge.estimation.reader import Reader
from fairgauge.estimation.result import Sensitivity
from fairgauge.goals.inputs import Matrix, Vector
from fairgauge.goals.sides import Pair, members
from fairgauge.study import Question

_STEP = 0.01
# A share that may be less than this part of what is stated may as well be zero.
_NOTHING = 0.1


def sensitivity_of(reader: Reader, question: Question, pairs: Iterable[Pair]) -> Sensitivity:
    """Return what a wrong share, or forged answers, would do to the worst of these gaps."""
    estimands, scale, told = reader.estimands, question.metric.scale, list(pairs)
    forged = _forged(estimands, reader.law, told)
    means = None if estimands.means is None else np.array([ratio.value(reader.law) for ratio in estimands.means])
    share = None if estimands.shares is None else _share_error(estimands, means, told)
    return Sensitivity(
        share_error=None if share is None else share * scale,
        share_error_is_bound=share is not None and means is None,
        forged=None if forged is None else forged * scale,
    )


def _forged(estimands: Estimands, law: Vector, pairs: list[Pair]) -> float | None:
    """Return the most that a gap moves if one answer in a hundred is replaced by a symbol of a forger's choice.

    None if there is no limit, because forgers could make the estimated share of a group vanish.
    """
    laws = np.column_stack([law, (1 - _STEP) * law[:, None] + _STEP * np.eye(len(law))])
    values = np.array([_gap_values(estimands, pair, laws) for pair in pairs])
    moves = np.abs(values[:, 1:] - values[:, :1])
    return None if np.isnan(moves).any() else float(moves.max())


def _gap_values(estimands: Estimands, pair: Pair, laws: Matrix) -> Vector:
    """Return a gap under each law of symbols; not a number where its denominator is not above zero."""
    if estimands.gaps is not None:
        return _values(estimands.gaps[pair], laws)
    first, second = (_values(estimands.mean_of(side), laws) for side in pair)
    return first - second


def _values(ratio: Ratio, laws: Matrix) -> Vector:
    under = ratio.under @ laws
    values: Vector = np.full(laws.shape[1], np.nan)
    np.divide(ratio.over @ laws, under, out=values, where=under > 0)
    return values


def _share_error(estimands: Estimands, means: Vector | None, pairs: list[Pair]) -> float:
    """Return how far a gap moves if one share is really 0.01 more or less and the others make up in proportion.

    A mean is a sum over a share, so it moves by as much as the share is wrong in proportion; a gap's score may take a
    constant from all values first.  Where the means are not known they may be as far as 1 from the middle, with the
    worst signs.  A share that could be next to nothing makes what is divided by it infinite.
    """
    shares, constant, worst = estimands.shares, estimands.constant, 0.0
    if shares is None:  # pragma: no cover - who calls this knows them
        return worst
    for changed in range(len(shares)):
        for step in (_STEP, -_STEP):
            share = shares[changed] + step
            if share <= _NOTHING * shares[changed] and any(changed in pair for pair in pairs):
                return math.inf  # a group that is compared by itself
            if not 0 < share < 1:
                continue
            others = shares * (1 - share) / (1 - shares[changed])
            really = np.where(np.arange(len(shares)) == changed, share, others)
            for pair in pairs:
                sides = [list(members(side)) for side in pair]
                stated, true = ([float(of[side].sum()) for side in sides] for of in (shares, really))
                if means is None:
                    moved = (1 + abs(constant)) * sum(abs(t / s - 1) for s, t in zip(stated, true, strict=True))
                else:
                    of_sides = [float(shares[side] @ means[side]) / s for side, s in zip(sides, stated, strict=True)]
                    first, second = (
                        (mean - constant) * (s / t - 1) for mean, s, t in zip(of_sides, stated, true, strict=True)
                    )
                    moved = abs(first - second)
                worst = max(worst, float(moved))
    return worst
