"""What a question can tell: each number as a ratio of two average scores, or as a difference of two such ratios.

A group's mean is its sum over its share.  Where shares are known the denominator is a constant (or the part of
people who answered, times the share); where they are not, it is estimated from the same answers.

Where a study has several questions, each device's coin picks one, so those who answer a question are some of all,
and do not split exactly as all do.  Every average is then over all answers to the study: an answer to another
question is one more symbol that counts nothing, and the part that answers this one is in the denominator.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from fairgauge.goals.decoder import Decoder
from fairgauge.goals.goal import Goal
from fairgauge.goals.inputs import Matrix, Vector
from fairgauge.study import Question


@dataclass(frozen=True)
class Ratio:
    """The average of one score over the average of another, and what that denominator is in words."""

    over: Vector
    under: Vector
    part: str

    @property
    def constant(self) -> float | None:
        """The denominator if it is the same whatever the answers are, else None."""
        first = float(self.under[0])
        return first if np.ptp(self.under) <= 1e-12 * abs(first) else None

    def value(self, law: Vector) -> float:
        """Return the ratio for a law of symbols."""
        return float(self.over @ law / (self.under @ law))

    def __neg__(self) -> "Ratio":
        return Ratio(-self.over, self.under, self.part)

    def influence(self, law: Vector) -> Vector:
        """Return what each symbol adds to the ratio, to first order, at a law of symbols."""
        return (self.over - self.value(law) * self.under) / float(self.under @ law)


@dataclass(frozen=True)
class PickedDecoder(Decoder):
    """The decoder of one of several questions, seen from all answers: the last symbol is an answer to another."""

    questions: int = 1

    @cached_property
    def rows(self) -> Matrix:
        """The probability of each symbol for each input."""
        own = super().rows / self.questions
        return np.column_stack([own, np.full(len(own), 1 - 1 / self.questions)])


@dataclass(frozen=True)
class Estimands:
    """The numbers that a question's channel identifies; None where it cannot tell.

    ``shares`` holds the known shares if estimates rely on them, ``share_error`` how far each may be off, and
    ``constant`` what the gap's score takes from values.
    """

    decoder: Decoder
    shares: Vector | None
    means: tuple[Ratio, ...] | None
    gaps: dict[tuple[int, int], Ratio] | None
    overall: Ratio | None
    group_shares: tuple[Ratio, ...] | None
    answered: Ratio | None
    share_error: float = 0.0
    constant: float = 0.0


@lru_cache(maxsize=64)
def estimands_of(question: Question, *, questions: int = 1) -> Estimands:
    """Return what a question identifies that is one of so many; scores are over the symbols of its decoder."""
    goal = Goal.of(question)
    decoder = goal.decoder(question.channel)
    inputs, groups = decoder.inputs, range(goal.groups)
    one = np.ones(question.channel.symbols)
    answered = decoder.score(inputs.answered()) if goal.abstain else one

    those = "the part of people who answered" if goal.abstain else "the part of the answers that is to this question"

    def ratio(over: Vector | None, under: Vector | None, part: str = those) -> Ratio | None:
        if over is None or under is None:
            return None
        elsewhere = np.zeros(1 if questions > 1 else 0)
        return Ratio(np.append(over, elsewhere), np.append(under, elsewhere), part)

    shares = goal.share_vector if goal.shares_known else None
    sums = [decoder.score(inputs.sum_of(g)) for g in groups]
    if shares is not None:
        unders = [None if answered is None else share * answered for share in shares]
        parts = [those for _ in groups]
    else:
        unders = [decoder.score(inputs.share_of(g)) for g in groups]
        parts = [f"the share of {name}" for name in question.attribute.groups]
    gaps = None
    if shares is not None:
        found = _all([ratio(goal.gap_score(decoder, pair), answered) for pair in goal.pairs])
        gaps = None if found is None else dict(zip(goal.pairs, found, strict=True))
    total = decoder.score(sum((inputs.sum_of(g) for g in groups), np.zeros(inputs.count)))
    return Estimands(
        decoder=decoder
        if questions == 1
        else PickedDecoder(decoder.channel, decoder.shares, decoder.prior, questions=questions),
        shares=shares,
        means=_all([ratio(*parts_of) for parts_of in zip(sums, unders, parts, strict=True)]),
        gaps=gaps,
        overall=ratio(total, answered),
        group_shares=None if shares is not None else _all([ratio(under, answered) for under in unders]),
        answered=ratio(answered, one) if goal.abstain else None,
        share_error=float(question.attribute.share_error or 0) if shares is not None else 0.0,
        constant=goal.gap_constant(decoder),
    )


def _all(ratios: list[Ratio | None]) -> tuple[Ratio, ...] | None:
    found = tuple(r for r in ratios if r is not None)
    return found if len(found) == len(ratios) else None
