"""What a question can tell: each number as a ratio of two average scores, or as a difference of two such ratios.

A group's mean is its sum over its share.  Where shares are known the denominator is a constant (or the part of
people who answered, times the share); where they are not, it is estimated from the same answers.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fairgauge.designs import Goal
from fairgauge.scores import Decoder, Vector
from fairgauge.study import Question


@dataclass(frozen=True)
class Ratio:
    """The average of one score over the average of another."""

    over: Vector
    under: Vector

    @property
    def constant(self) -> float | None:
        """The denominator if it is the same whatever the answers are, else None."""
        first = float(self.under[0])
        return first if np.ptp(self.under) <= 1e-12 * abs(first) else None

    def value(self, law: Vector) -> float:
        """Return the ratio for a law of symbols."""
        return float(self.over @ law / (self.under @ law))

    def influence(self, law: Vector) -> Vector:
        """Return what each symbol adds to the ratio, to first order, at a law of symbols."""
        return (self.over - self.value(law) * self.under) / float(self.under @ law)


@dataclass(frozen=True)
class Estimands:
    """The numbers that a question's channel identifies; None where it cannot tell.

    ``shares`` holds the known shares if estimates rely on them.
    """

    decoder: Decoder
    shares: Vector | None
    means: tuple[Ratio, ...] | None
    gaps: dict[tuple[int, int], Ratio] | None
    overall: Ratio | None
    group_shares: tuple[Ratio, ...] | None
    answered: Ratio | None


def goal_of(question: Question) -> Goal:
    """Return the goal that a question serves; where shares are unknown, equal ones are a harmless guess."""
    known = question.attribute.share_values
    d = len(question.attribute.groups)
    return Goal(
        shares=known or (1 / d,) * d,
        shares_known=known is not None,
        target=question.target,
        abstain=question.channel.abstain,
    )


@lru_cache(maxsize=64)
def estimands_of(question: Question) -> Estimands:
    """Return what a question's channel identifies."""
    goal = goal_of(question)
    decoder = goal.decoder(question.channel)
    inputs, groups = decoder.inputs, range(goal.groups)
    one = np.ones(question.channel.symbols)
    answered = decoder.score(inputs.answered()) if goal.abstain else one
    shares = goal.share_vector if goal.shares_known else None
    sums = [decoder.score(inputs.sum_of(g)) for g in groups]
    if shares is not None:
        unders = [None if answered is None else share * answered for share in shares]
    else:
        unders = [decoder.score(inputs.share_of(g)) for g in groups]
    gaps = None
    if shares is not None and answered is not None:
        contrasts = {
            (a, b): decoder.score(inputs.sum_of(a) / shares[a] - inputs.sum_of(b) / shares[b]) for a, b in goal.pairs
        }
        gaps = {pair: Ratio(s, answered) for pair, s in contrasts.items() if s is not None}
        gaps = gaps if len(gaps) == len(contrasts) else None
    total = decoder.score(sum((inputs.sum_of(g) for g in groups), np.zeros(inputs.count)))
    return Estimands(
        decoder=decoder,
        shares=shares,
        means=_all([_ratio(over, under) for over, under in zip(sums, unders, strict=True)]),
        gaps=gaps,
        overall=_ratio(total, answered),
        group_shares=None if shares is not None else _all([_ratio(under, answered) for under in unders]),
        answered=_ratio(answered, one) if goal.abstain else None,
    )


def _ratio(over: Vector | None, under: Vector | None) -> Ratio | None:
    return None if over is None or under is None else Ratio(over, under)


def _all(ratios: list[Ratio | None]) -> tuple[Ratio, ...] | None:
    found = tuple(r for r in ratios if r is not None)
    return found if len(found) == len(ratios) else None
