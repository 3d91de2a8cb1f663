"""How far a gap could be off for reasons that no interval covers."""

import math
from collections.abc import Iterable

import numpy as np

from fairgauge.estimation.estimands import Estimands, Ratio
from fairgauge.estimation.reader import Reader
from fairgauge.estimation.result import Sensitivity
from fairgauge.goals.inputs import Matrix, Vector
from fairgauge.goals.sides import Pair, members, pair_names
from fairgauge.study import Question

_STEP = 0.01
# A share that may be less than this part of what is stated may as well be zero.
_NOTHING = 0.1


def sensitivity_of(reader: Reader, question: Question, pairs: Iterable[Pair], *, part: float = 1.0) -> Sensitivity:
    """Return what a wrong share, or forged answers, would do to the worst of these gaps.

    Args:
        reader: The counts.
        question: What was asked.
        pairs: Which gaps.
        part: Which part of all answers the reader has: forgers may all answer the same question.
    """
    estimands, scale, told = reader.estimands, question.metric.scale, list(pairs)
    names = pair_names(question)
    forged, forged_pair = _forged(estimands, reader.law, told, _STEP / ((1 - _STEP) * part + _STEP))
    means = None if estimands.means is None else np.array([ratio.value(reader.law) for ratio in estimands.means])
    share, share_pair = (None, None) if estimands.shares is None else _share_error(estimands, means, told)
    return Sensitivity(
        share_error=None if share is None else share * scale,
        share_error_is_bound=share is not None and means is None,
        forged=None if forged is None else forged * scale,
        share_gap=None if share_pair is None else names[share_pair],
        forged_gap=names[forged_pair],
    )


def _forged(estimands: Estimands, law: Vector, pairs: list[Pair], step: float) -> tuple[float | None, Pair]:
    """Return the most that a gap moves if such a part of its answers is replaced by a symbol of a forger's choice.

    None if there is no limit, because forgers could make the estimated share of a group vanish; and which gap it is.
    """
    laws = np.column_stack([law, (1 - step) * law[:, None] + step * np.eye(len(law))])
    values = np.array([_gap_values(estimands, pair, laws) for pair in pairs])
    moves = np.abs(values[:, 1:] - values[:, :1])
    if np.isnan(moves).any():
        return None, pairs[int(np.isnan(moves).any(axis=1).argmax())]
    return float(moves.max()), pairs[int(moves.max(axis=1).argmax())]


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


def _share_error(estimands: Estimands, means: Vector | None, pairs: list[Pair]) -> tuple[float, Pair]:
    """Return how far a gap moves, and which, if one share is really 0.01 more or less.

    The other shares make up for it in proportion.

    A mean is a sum over a share, so it moves by as much as the share is wrong in proportion; a gap's score may take a
    constant from all values first.  Where the means are not known they may be as far as 1 from the middle, with the
    worst signs.  A share that could be next to nothing makes what is divided by it infinite.
    """
    shares, constant, worst, which = estimands.shares, estimands.constant, 0.0, pairs[0]
    if shares is None:  # pragma: no cover - who calls this knows them
        return worst, which
    for changed in range(len(shares)):
        for step in (_STEP, -_STEP):
            share = shares[changed] + step
            near = [pair for pair in pairs if changed in pair]
            if share <= _NOTHING * shares[changed] and near:
                return math.inf, near[0]  # a group that is compared by itself
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
                if moved > worst:
                    worst, which = float(moved), pair
    return worst, which
