r"""How far a gap could be off for reasons that no interval covers: upper bounds, each compared with really doing it.

*Forged answers.*  Whoever overwrites a part x of the answers moves the average of any score by at most

.. math:: x\,(\max s - \min s) .

A ratio of averages a = W / U moves to a' with :math:`a' - a = \delta(w - a u) / U'`, where delta is what the averages
move by.  So for the difference of two ratios and any U', which forgers move too, it is that bound for the one score
:math:`(w_A - a u_A) / U'_A - (w_B - b u_B) / U'_B`.  It is convex in both 1/U', so it is largest at their ends.

*Wrong shares.*  If the shares of two sides are p' and not p, the score that is made for p averages to the gap and

.. math:: (p'_A - p_A)\, t_A + (p'_B - p_B)\, t_B, \qquad t_A = \frac{m_A - c}{p_A},\ t_B = -\frac{m_B - c}{p_B},

with the true means.  Where two sides are everyone, what one has more the other has less; else both may be off in the
worst direction, u (\|t_A\| + \|t_B\|).  A mean that is read with p is really p / p' times what it is read to be, and
one that is not told may be anywhere from -1 to 1.
"""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from fairgauge.estimation.estimands import Estimands, Ratio
from fairgauge.estimation.interval import Interval
from fairgauge.estimation.interval_readers import Reader
from fairgauge.estimation.result import Sensitivity
from fairgauge.study import Question
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.comparisons import Pair, Side, members, pair_names

_STEP = 0.01
_LEAST_SHARE = 1e-9


def sensitivity_of(
    reader: Reader,
    question: Question,
    pairs: Iterable[Pair],
    means: Mapping[int, Interval],
    *,
    part: float = 1.0,
) -> Sensitivity:
    """Return the most that wrong shares, or forged answers, could do to the worst of these gaps.

    Args:
        reader: The counts.
        question: What was asked.
        pairs: Which gaps.
        means: The means that are told, by the group's number.
        part: Which part of all answers the reader has: forgers may all answer the same question.
    """
    estimands, scale, names = reader.estimands, question.metric.scale, pair_names(question)
    forged = {pair: _forged_move(gap_ratios(estimands, pair), reader.law, _STEP, part=part) for pair in pairs}
    worst = max(forged, key=lambda pair: np.inf if forged[pair] is None else float(forged[pair] or 0))
    moved = None if estimands.shares is None else {pair: _share_move(estimands, means, pair) for pair in forged}
    most = None if moved is None else max(moved, key=lambda pair: moved[pair])
    limit = forged[worst]
    return Sensitivity(
        share_error=None if moved is None or most is None else moved[most] * scale,
        forged=None if limit is None else limit * scale,
        share_gap=None if most is None else names[most],
        forged_gap=names[worst],
    )


def forging(score: Vector, part: float) -> float:
    """Return the most that the average of a score moves if a part of the answers is overwritten with any symbols.

    A test of a score stays right among such answers if what it accepts is widened by this.
    """
    return part * float(score.max() - score.min())


def gap_ratios(estimands: Estimands, pair: Pair) -> tuple[Ratio, ...]:
    """Return the ratios that a gap is read from: its own, or the two whose difference it is."""
    if estimands.gaps is not None:
        return (estimands.gaps[pair],)
    return estimands.mean_of(pair[0]), -estimands.mean_of(pair[1])


def _forged_move(ratios: tuple[Ratio, ...], law: Vector, forged: float, *, part: float = 1.0) -> float | None:
    """Return the most that a sum of ratios moves if so much of all answers is overwritten, wherever it hurts most.

    None if there is no limit, because forgers could make a denominator vanish.

    Args:
        ratios: The ratios.
        law: How often each symbol came, as parts of these answers.
        forged: Which part of all answers is forged.
        part: Which part of all answers these are.  An answer that moves to or from another table adds or takes away.
    """
    elsewhere = [] if part == 1 else [0.0]
    sizes, scores = [], []
    for ratio in ratios:
        under = np.append(ratio.under, elsewhere)
        moved, size = forging(under, forged / part), float(ratio.under @ law)
        if size <= moved:
            return None
        sizes.append((1 / (size - moved), 1 / (size + moved)))
        scores.append(np.append(ratio.over, elsewhere) - ratio.value(law) * under)
    return max(
        forging(np.asarray(sum(size * score for size, score in zip(each, scores, strict=True))), forged / part)
        for each in product(*sizes)
    )


def _share_move(estimands: Estimands, means: Mapping[int, Interval], pair: Pair, step: float = _STEP) -> float:
    """Return the most that a gap moves if each group's share is off by a step or less.

    Args:
        estimands: What the question can tell; shares are stated.
        means: The means that are told, as read with the stated shares, by the group's number.
        pair: Which gap.
        step: By how much each share may be off.
    """
    (first, off), (second, other) = ((_Side.of(estimands, means, side), _off(estimands, side, step)) for side in pair)
    if sum(len(members(side)) for side in pair) < len(estimands.decoder.shares):
        lines = [(side.lines(-away, away), away) for side, away in ((first, off), (second, other))]
        return sum(away * max(map(abs, line)) for line, away in lines)
    more = [sum(ends) for ends in zip(first.lines(0, off), second.lines(-off, 0), strict=True)]
    less = [sum(ends) for ends in zip(first.lines(-off, 0), second.lines(0, off), strict=True)]
    return off * max(map(abs, more + less))


class _Side(NamedTuple):
    """A side's share, its mean as read with that share, and what the gap's score takes from values."""

    share: float
    low: float
    high: float
    constant: float

    @classmethod
    def of(cls, estimands: Estimands, means: Mapping[int, Interval], side: Side) -> "_Side":
        groups, share = members(side), estimands.share_of(side)
        told = [(means[g].low, means[g].high) if g in means else (-1.0, 1.0) for g in groups]
        parts = estimands.decoder.shares[list(groups)] / share
        low, high = (float(parts @ np.array(ends)) for ends in zip(*told, strict=True))
        return cls(share, low, high, estimands.constant)

    def lines(self, less: float, more: float) -> tuple[float, float]:
        """Return the least and the largest t, whose share may be off by anything between two numbers."""
        really = [self.share / max(self.share + off, _LEAST_SHARE) for off in (less, 0.0, more)]
        true = [min(max(mean * factor, -1.0), 1.0) for mean in (self.low, self.high) for factor in really]
        return (min(true) - self.constant) / self.share, (max(true) - self.constant) / self.share


def _off(estimands: Estimands, side: Side, step: float) -> float:
    """Return how far the share of a side is off at most: by what its groups are, or all the others together."""
    count = len(members(side))
    return min(count, len(estimands.decoder.shares) - count) * step
