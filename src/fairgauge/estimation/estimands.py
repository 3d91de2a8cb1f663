"""What a question can tell: each number as a ratio of two average scores, or as a difference of two such ratios.

A group's mean is its sum over its share.  Where shares are known the denominator is a constant (or the part of
people who answered, times the share); where they are not, it is estimated from the same answers.

Where a study has several tables, each device's coin picks one.  The coin knows nothing of the client, so those who
answer a table are drawn from the population as all are, and, given how many they are, so independently: a table's own
counts are enough.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from fairgauge.channel import Channel
from fairgauge.errors import CannotEstimate
from fairgauge.estimation.share_band import Band
from fairgauge.languages import Sentence
from fairgauge.study import Question
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.comparisons import Pair, Side, compared, margin_sides, members
from fairgauge.targets.scores import Scores
from fairgauge.targets.symbol_scores import Decoder
from fairgauge.targets.target import Target


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

    def untold(self) -> CannotEstimate:
        """Return why it cannot be told: the denominator may be nothing."""
        return CannotEstimate(Sentence.of("caution.zero", part=self.part))


@dataclass(frozen=True)
class Estimands:
    """The numbers that a question's channel identifies; None where it cannot tell.

    ``shares`` holds the stated shares if estimates rely on them, ``share_error`` how far each may be off, ``ratio`` how
    many times as often as another group one may have answered, ``constant`` what the gap's score takes from values, and
    ``expect`` the overall mean that was expected.  ``compared`` is what is compared, and ``margins`` are groups that
    are taken together, by name.
    """

    decoder: Decoder
    shares: Vector | None
    means: tuple[Ratio, ...] | None
    gaps: dict[Pair, Ratio] | None
    overall: Ratio | None
    group_shares: tuple[Ratio, ...] | None
    answered: Ratio | None
    compared: tuple[Pair, ...]
    margins: dict[str, Side]
    share_error: float = 0.0
    constant: float = 0.0
    expect: float | None = None
    ratio: float = math.inf

    @property
    def exact(self) -> bool:
        """Whether scores that rely on the stated shares tell numbers exactly: nothing of the split is left open."""
        return self.shares is not None and self.band.point

    @cached_property
    def band(self) -> Band:
        """Where the split of those who answered lies, by what is known beforehand."""
        return Band(self.decoder.shares, self.ratio, self.share_error)

    @cached_property
    def sides(self) -> int:
        """How many different sides are compared."""
        return len({side for pair in self.compared for side in pair})

    def mean_of(self, side: Side) -> Ratio:
        """Return the mean of a group, or of several together: everyone in them counts alike.

        Raises:
            CannotEstimate: If the channel does not tell groups apart.
        """
        if self.means is None:
            raise CannotEstimate(Sentence.of("caution.apart"))
        parts = [self.means[group] for group in members(side)]
        if len(parts) == 1:
            return parts[0]
        part = parts[0].part if self.shares is not None else Sentence.of("caution.part-shares")
        return Ratio(sum_of([one.over for one in parts]), sum_of([one.under for one in parts]), part)

    def share_of(self, side: Side) -> float:
        """Return the known share of a side."""
        if self.shares is None:
            raise ValueError("shares that are estimated are not known")
        return float(sum(self.shares[group] for group in members(side)))


@dataclass(frozen=True)
class Asked:
    """What a question asks beside its target: comparisons, names, margins, and how far shares may be off."""

    compared: tuple[Pair, ...]
    groups: tuple[str, ...]
    margins: tuple[tuple[str, Side], ...] = ()
    share_error: float = 0.0

    @classmethod
    def of(cls, target: Target) -> "Asked":
        """Return what a target asks, whose groups have no names."""
        names = tuple(f"group {g + 1}" for g in range(target.groups))
        pairs = tuple((_side(c.of), _side(c.against)) for c in target.contrasts)
        return cls(pairs, names, share_error=target.share_error)


def _side(groups: tuple[int, ...]) -> Side:
    return groups[0] if len(groups) == 1 else groups


@lru_cache(maxsize=64)
def estimands_of(question: Question) -> Estimands:
    """Return what a question identifies; scores are over the symbols of its table."""
    attribute = question.attribute
    scores, margins = Scores.of(question), tuple(margin_sides(question).items())
    asked = Asked(compared(question), attribute.groups, margins, scores.target.share_error)
    return estimands_for(scores, question.channel, asked)


def estimands_for(scores: Scores, channel: Channel, asked: Asked) -> Estimands:
    """Return what a channel identifies, by its scores."""
    decoder = scores.decoder(channel)
    inputs, groups = decoder.inputs, range(scores.target.groups)
    one = np.ones(channel.symbols)
    answered = decoder.score(inputs.answered()) if scores.target.abstain else one

    those: str = Sentence.of("caution.part-people")

    def ratio(over: Vector | None, under: Vector | None, part: str = those) -> Ratio | None:
        return None if over is None or under is None else Ratio(over, under, part)

    shares = scores.target.share_vector if scores.target.shares_known else None
    sums = [decoder.score(inputs.sum_of(g)) for g in groups]
    if shares is not None:
        unders = [None if answered is None else share * answered for share in shares]
        parts = [those for _ in groups]
    else:
        unders = [decoder.score(inputs.share_of(g)) for g in groups]
        parts = [Sentence.of("caution.part-share", group=name) for name in asked.groups]
    gaps = None
    if shares is not None:
        found = _all([ratio(_comparison_score(scores, decoder, pair), answered) for pair in asked.compared])
        gaps = None if found is None else dict(zip(asked.compared, found, strict=True))
    total = decoder.score(sum((inputs.sum_of(g) for g in groups), np.zeros(inputs.count)))
    return Estimands(
        decoder=decoder,
        shares=shares,
        means=_all([ratio(*parts_of) for parts_of in zip(sums, unders, parts, strict=True)]),
        gaps=gaps,
        overall=ratio(total, answered),
        group_shares=None if shares is not None else _all([ratio(under, answered) for under in unders]),
        answered=ratio(answered, one) if scores.target.abstain else None,
        compared=asked.compared,
        margins=dict(asked.margins),
        share_error=asked.share_error,
        constant=scores.gap_constant(decoder),
        expect=scores.values.expect,
        ratio=scores.target.most_ratio,
    )


def among_tables(estimands: Estimands, tables: int) -> Estimands:
    """Return the same of counts that have one symbol more: an answer to another of so many tables, by a fair coin."""

    def wider(ratio: Ratio) -> Ratio:
        return Ratio(np.append(ratio.over, 0.0), np.append(ratio.under, 0.0), ratio.part)

    def each(ratios: tuple[Ratio, ...] | None) -> tuple[Ratio, ...] | None:
        return None if ratios is None else tuple(map(wider, ratios))

    gaps = estimands.gaps
    return replace(
        estimands,
        decoder=replace(estimands.decoder, tables=tables),
        means=each(estimands.means),
        gaps=None if gaps is None else {pair: wider(ratio) for pair, ratio in gaps.items()},
        overall=None if estimands.overall is None else wider(estimands.overall),
        group_shares=each(estimands.group_shares),
        answered=None if estimands.answered is None else wider(estimands.answered),
    )


def _comparison_score(scores: Scores, decoder: Decoder, pair: Pair) -> Vector | None:
    r"""Return the score whose average is the difference of two sides of a population with the known shares.

    .. math:: m_S - m_T = \sum_{g \in S} \sum_{h \in T} \frac{p_g p_h}{p_S p_T} (m_g - m_h)

    Scores of gaps have constants of their own where the design is centred, and so has their sum.
    """
    first, second = map(members, pair)
    if len(first) == len(second) == 1:
        return scores.gap_score(decoder, (first[0], second[0]))
    shares = scores.target.share_vector
    if scores.centred:
        gaps = {(g, h): scores.gap_score(decoder, (g, h)) for g in first for h in second}
        parts = [
            None
            if score is None
            else shares[g] * shares[h] / shares[list(first)].sum() / shares[list(second)].sum() * score
            for (g, h), score in gaps.items()
        ]
        return None if any(part is None for part in parts) else sum_of([part for part in parts if part is not None])
    sums = [sum_of([decoder.inputs.sum_of(g) for g in side]) / shares[list(side)].sum() for side in (first, second)]
    return decoder.score(sums[0] - sums[1])


def sum_of(vectors: Sequence[Vector]) -> Vector:
    """Return the sum of vectors."""
    return np.asarray(np.sum(vectors, axis=0))


def _all(ratios: list[Ratio | None]) -> tuple[Ratio, ...] | None:
    found = tuple(r for r in ratios if r is not None)
    return found if len(found) == len(ratios) else None
