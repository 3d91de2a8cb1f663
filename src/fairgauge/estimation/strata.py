r"""The gap within strata, weighed by the strata's shares of all people: directly standardised, as surveys call it.

People are divided by a label that everyone may know, such as a region, and each stratum h answers a study of its own.
With the shares w_h of all people, which the studies state before anyone answers, the gap is

.. math:: \Delta = \sum_h w_h \Delta_h ,

however many of each stratum answered.  It is the gap *within* strata.  Where groups are spread differently over strata
it is not the gap of all people, which has a part between strata as well:
:math:`\sum_h P(h \mid A)\, m_{Ah} - P(h \mid B)\, m_{Bh}`.

*The interval.*  Let P_h be the least level at which the interval of stratum h excludes its true gap.  Strata are
answered by different people, so the P_h are independent, and none is small more often than it says: with
:math:`\zeta_h = \Phi^{-1}(1 - P_h / 2)` the sum of all :math:`\zeta_h^2` is at most what chi-square with as many
degrees of freedom as there are strata is.  So with probability 1 - alpha

.. math:: \Delta \le \max \Big\{ \sum_h w_h\, e_h(\zeta_h) \;:\; \sum_h \zeta_h^2 \le \chi^2_{H, 1 - \alpha} \Big\} ,

e_h(z) the upper end of the interval of stratum h at the level 2 (1 - Phi(z)), and so for lower ends.  If intervals were
normal this were :math:`\sqrt{\chi^2_{H, 1 - \alpha}}` standard errors of the weighed sum: 1.18 times what one normal
interval has for two strata at 99 %, 1.31 for three, 1.41 for four.  To add up intervals that hold together takes 1.54,
1.97 and 2.35 times.  Nothing else is used of an interval but its level, so every kind has the guarantee that it has in
one stratum, and the weights could even be chosen afterwards.

Intervals of more confidence need not hold those of less, so each is widened to do so, which takes nothing from its
level.  Between the levels that are asked for, ends are taken to follow straight lines.
"""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy.special import chdtri, ndtr, ndtri

from fairgauge.errors import CannotEstimate, InvalidInput
from fairgauge.estimation.honesty import IMPOSSIBLE
from fairgauge.estimation.inference import estimate, reader_for
from fairgauge.estimation.interval import Interval
from fairgauge.estimation.interval_kinds import DEFAULT, IntervalKind, check_confidence, kind_of
from fairgauge.estimation.interval_readers import Contradicted, Reader
from fairgauge.estimation.result import Estimate, QuestionEstimate, Sensitivity
from fairgauge.estimation.sensitivity import sensitivity_of
from fairgauge.languages import Numeral, Sentence
from fairgauge.study import Question, Stratum, Study
from fairgauge.tallies import Tally
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.comparisons import Pair, pair_names

# At so many levels each stratum is asked for an interval, and into so many parts chi-square is cut.
_LEVELS, _PARTS = 9, 400
# Nothing is asked at a confidence below that of half a standard deviation.
_LEAST = 0.5


class _Part(NamedTuple):
    """A stratum with its study and its answers."""

    stratum: Stratum
    study: Study
    tally: Tally


def standardised(
    answered: Sequence[tuple[Study, Tally]], *, confidence: float = 0.99, interval: str = DEFAULT
) -> Estimate:
    """Return the gaps within strata, weighed by the strata's shares of all people.

    Args:
        answered: The study of each stratum, and its tally.
        confidence: How often an interval is to hold the truth.
        interval: The kind of interval; see :mod:`fairgauge.estimation.interval_kinds`.

    Guarantee: as that of the kind of interval, for all gaps of a question together.

    Raises:
        BadTally: If a tally is of another study.
        InvalidInput: If the studies are no strata of the same people, or ask for different things.
        CannotEstimate: If nobody of a stratum answered, or fewer than are released at once.
    """
    check_confidence(confidence)
    kind, parts = kind_of(interval), _parts(answered)
    alone = [estimate(part.study, part.tally, confidence=confidence, interval=interval) for part in parts]
    first = parts[0].study
    questions = tuple(
        _question(parts, index, [each.questions[index] for each in alone], (1 - confidence, kind))
        for index in range(len(first.questions))
    )
    return Estimate("+".join(part.study.digest for part in parts), confidence, kind, None, questions, first.questions)


def _design_effect(weights: Vector, answers: Vector) -> float:
    r"""Return by how much weighing multiplies the variance: :math:`\sum_h w_h^2 / f_h`, f_h the parts of the answers.

    >>> round(_design_effect(np.array([0.5, 0.5]), np.array([70, 30])), 2)
    1.19
    """
    return float(np.sum(weights**2 / (answers / answers.sum())))


def weighed_width(half: float, share: float, strata: int, *, alpha: float = 0.01) -> float:
    r"""Return about the half-width of a weighed gap, from that of one stratum; each answers by its share.

    Guarantee: asymptotic, if all strata have tables and variances as this one has.  Its own is
    :math:`z \sqrt{V / (w K)}`, and the weighed one :math:`\sqrt{\chi^2_{H, 1 - \alpha}} \sqrt{V / K}`.

    >>> round(weighed_width(0.02, 0.5, 2), 4)
    0.0167

    Args:
        half: The half-width in this stratum.
        share: Its share of all people.
        strata: How many strata there are.
        alpha: How often an interval may miss the truth.
    """
    return half * math.sqrt(share * float(chdtri(strata, alpha))) / -float(ndtri(alpha / 2))


def _parts(answered: Sequence[tuple[Study, Tally]]) -> list[_Part]:
    if len(answered) < 2:
        raise InvalidInput("strata", f"{len(answered)} stratum", "must be two or more, each a study and its tally")
    found = []
    for study, tally in answered:
        if study.stratum is None:
            raise InvalidInput("stratum", "nothing", f"must be stated by {study.title}, to be weighed with others")
        tally.check(study)
        found.append(_Part(study.stratum, study, tally))
    _check_same(found)
    for part in found:
        least = 1 if part.study.release is None else part.study.release.batch
        if part.tally.contributors < least:
            said = "nobody" if not part.tally.contributors else f"{part.tally.contributors:,}"
            raise CannotEstimate(
                f"of {part.stratum.name} {said} answered, and {least:,} are needed: without it the strata are not "
                "everyone"
            )
    return found


def _check_same(parts: Sequence[_Part]) -> None:
    """Refuse strata that are not of the same people, and studies that do not ask for the same."""
    first, *others = parts
    for part in others:
        if part.stratum.of != first.stratum.of:
            raise InvalidInput("stratum.of", part.stratum.of, f"must be {first.stratum.of}, as in the first study")
        if _asked(part.study) != _asked(first.study):
            raise InvalidInput("questions", part.study.title, "must compare the same groups by the same metrics")
    names = [part.stratum.name for part in parts]
    if len(set(names)) < len(names):
        raise InvalidInput("stratum.name", next(n for n in names if names.count(n) > 1), "must be given once")
    total = sum(Fraction(part.stratum.share) for part in parts)
    if total != 1:
        listed = ", ".join(f"{part.stratum.name} {part.stratum.share}" for part in parts)
        raise InvalidInput("stratum.share", listed, f"must sum to 1, not {float(total):g}: is a stratum missing?")


def _asked(study: Study) -> list[object]:
    """Return what a study compares, whatever its tables are."""
    return [
        (q.metric.name, q.metric.low, q.metric.high, q.attribute.name, q.attribute.groups, tuple(pair_names(q).items()))
        for q in study.questions
    ]


def _question(
    parts: Sequence[_Part], index: int, alone: Sequence[QuestionEstimate], asked: tuple[float, IntervalKind]
) -> QuestionEstimate:
    alpha, kind = asked
    question = parts[0].study.questions[index]
    names, answers = pair_names(question), np.array([float(each.answers) for each in alone])
    warnings, gaps, moves = _cautions(parts, alone), {}, None
    # What is impossible in one stratum has no place in a sum.
    if all(each.fit is None or each.fit >= IMPOSSIBLE for each in alone):
        readers = [reader_for(part.study, part.tally, index, kind) for part in parts]
        weights = np.array([float(part.stratum.share) for part in parts])
        found = {pair: _weighed(readers, weights, pair, alpha / len(names)) for pair in names}
        scale, reach = question.metric.scale, float(question.metric.high) - float(question.metric.low)
        gaps = {pair: gap.scaled(scale).within(-reach, reach) for pair, gap in found.items() if gap is not None}
    if gaps:
        moves = _sensitivity(readers, weights, [part.study.questions[index] for part in parts])
        warnings = (_about(parts), _effect(_design_effect(weights, answers)), *warnings)
    return QuestionEstimate(
        metric=question.metric.name,
        attribute=question.attribute.name,
        groups=question.attribute.groups,
        answers=int(answers.sum()),
        gaps={names[pair]: gap for pair, gap in gaps.items()},
        means={},
        overall=None,
        shares={},
        answered=None,
        p_values={},
        fit=None,
        sensitivity=moves,
        warnings=warnings,
        untold_gaps=tuple(name for pair, name in names.items() if pair not in gaps),
    )


def _cautions(parts: Sequence[_Part], alone: Sequence[QuestionEstimate]) -> tuple[str, ...]:
    """Return what is to be known of a stratum whose answers tell no gap."""
    return tuple(
        Sentence.of("strata.caution", stratum=part.stratum.name, said=said)
        for part, found in zip(parts, alone, strict=True)
        if not found.gaps
        for said in found.warnings
    )


def _about(parts: Sequence[_Part]) -> str:
    """Return what the number is about."""
    listed = ", ".join(f"{part.stratum.name} {part.stratum.share}" for part in parts)
    return Sentence.of("strata.about", of=parts[0].stratum.of, shares=listed)


def _effect(effect: float) -> str:
    return Sentence.of("strata.effect", effect=Numeral(f"{effect:.2f}"))


def _sensitivity(readers: Sequence[Reader], weights: Vector, asked: Sequence[Question]) -> Sensitivity:
    """Return how far forgers move the worst of the gaps: they do most if all of them answer in one stratum."""
    total = sum(reader.answers for reader in readers)
    each = [
        sensitivity_of(reader, question, reader.estimands.compared, {}, part=reader.answers / total)
        for reader, question in zip(readers, asked, strict=True)
    ]
    # No stratum's gap moves farther than from one end of what it can be to the other.
    most = 4 * asked[0].metric.scale
    moved = [w * (most if one.forged is None else min(one.forged, most)) for one, w in zip(each, weights, strict=True)]
    worst = int(np.argmax(moved))
    # Shares may be wrong in all strata, and each by as much.
    wrong = [w * one.share_error for one, w in zip(each, weights.tolist(), strict=True) if one.share_error is not None]
    return Sensitivity(
        share_error=sum(wrong) if len(wrong) == len(each) else None,
        forged=float(moved[worst]),
        share_gap=each[worst].share_gap,
        forged_gap=each[worst].forged_gap,
    )


def _weighed(readers: Sequence[Reader], weights: Vector, pair: Pair, alpha: float) -> Interval | None:
    """Return the interval of one weighed gap; None if the answers of a stratum contradict what its study says."""
    limit = float(chdtri(len(readers), alpha))
    try:
        ends = [_Ends.of(reader, pair, math.sqrt(limit)) for reader in readers]
    except Contradicted:
        return None
    estimate_ = float(weights @ [each.estimate for each in ends])
    high = _furthest([w * each.highs(limit) for w, each in zip(weights, ends, strict=True)])
    low = -_furthest([-w * each.lows(limit) for w, each in zip(weights, ends, strict=True)])
    return Interval(estimate_, low, high)


@dataclass(frozen=True, eq=False)
class _Ends:
    """The ends of a stratum's intervals, by how many standard deviations of the normal law their levels are."""

    estimate: float
    deviations: Vector
    low: Vector
    high: Vector

    @classmethod
    def of(cls, reader: Reader, pair: Pair, most: float) -> "_Ends":
        estimands = reader.estimands
        alone = None if estimands.gaps is None else {pair: estimands.gaps[pair]}
        reader = replace(reader, estimands=replace(estimands, compared=(pair,), gaps=alone))
        deviations = np.linspace(most, _LEAST, _LEVELS)
        told = {most: _interval(reader, pair, 2 * float(ndtr(-most)))}
        for z in deviations[1:].tolist():
            # At less confidence answers may contradict what is known beforehand by chance: nothing is accepted then.
            with contextlib.suppress(Contradicted):
                told[z] = _interval(reader, pair, 2 * float(ndtr(-z)))
        found = [told[z] for z in sorted(told)]
        # Those of more confidence hold those of less.
        low = np.minimum.accumulate([each.low for each in found])
        high = np.maximum.accumulate([each.high for each in found])
        return cls(told[most].estimate, np.array(sorted(told)), low, high)

    def highs(self, limit: float) -> Vector:
        """Return upper ends, for each part of chi-square that this stratum may have."""
        return np.interp(_roots(limit), self.deviations, self.high)

    def lows(self, limit: float) -> Vector:
        """Return lower ends."""
        return np.interp(_roots(limit), self.deviations, self.low)


def _roots(limit: float) -> Vector:
    return np.sqrt(np.arange(1, _PARTS + 1) / _PARTS * limit)


def _interval(reader: Reader, pair: Pair, alpha: float) -> Interval:
    """Return a stratum's interval; all that a gap can be where its answers do not tell."""
    try:
        found = reader.gap(pair, alpha)
    except Contradicted:
        raise
    except CannotEstimate:
        return Interval(0.0, -2.0, 2.0)
    return Interval(min(max(found.estimate, -2.0), 2.0), max(found.low, -2.0), min(found.high, 2.0))


def _furthest(ends: Sequence[Vector]) -> float:
    """Return the largest sum of one number from each, the k-th of each costing k + 1, that costs no more than all.

    What a stratum needs is rounded up to a whole part, so each may have one part more.
    """
    budget = _PARTS + len(ends)
    best = np.zeros(1)  # by what was spent
    for values in ends:
        sums = np.full(len(best) + len(values), -math.inf)
        for spent, so_far in enumerate(best):
            if so_far > -math.inf:
                place = slice(spent + 1, spent + 1 + len(values))
                sums[place] = np.maximum(sums[place], so_far + values)
        best = sums[: budget + 1]
    return float(best.max())
