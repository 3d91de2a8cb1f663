r"""From a study and its tally to an estimate.

*The response ratio.*

If p_A and p_B are the shares of two sides in the population, and q is the share of A among those of both who answered,
then A answered

.. math:: R = \frac{q / (1 - q)}{p_A / p_B}

times as often as B.  The answers tell q wherever the table tells shares; p is stated, and R leans on it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from fairgauge.channel import Channel
from fairgauge.crowd import blanket_weights
from fairgauge.errors import CannotEstimate, InvalidInput
from fairgauge.estimation.draws import NO_DRAWS, Draws
from fairgauge.estimation.estimands import Estimands, Ratio, among_tables, estimands_of, sum_of
from fairgauge.estimation.gap_score import Thrown
from fairgauge.estimation.honesty import IMPOSSIBLE, SUSPICIOUS, fit_p_value
from fairgauge.estimation.interval import Interval, impact_ratio
from fairgauge.estimation.interval_kinds import (
    DEFAULT,
    KINDS,
    LIVE,
    SITE_KINDS,
    IntervalKind,
    check_confidence,
    is_number,
    kind_of,
)
from fairgauge.estimation.interval_readers import Contradicted, Reader, counts_of, reader_of
from fairgauge.estimation.result import Estimate, QuestionEstimate
from fairgauge.estimation.sensitivity import sensitivity_of
from fairgauge.estimation.site_inference import estimate_by_names, estimate_sites, fairlearn_metrics
from fairgauge.languages import Numeral, Sentence
from fairgauge.study import Attribute, Metric, NoisyCounts, Question, Study
from fairgauge.study.field_checks import check_arguments
from fairgauge.study.mechanism import Registry
from fairgauge.tallies import Tally
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.comparisons import Pair, Side, members, pair_names


def response_ratios(reader: Reader, attribute: Attribute, alpha: float) -> dict[Pair, Interval]:
    """Return how many times as often the first side of each comparison answered as the second, where that is told.

    It takes shares that are stated and a table that tells shares.  Where all are taken to answer alike it is told too:
    as a check of that.

    Guarantee: as that of the kind of interval, for all comparisons together, if the stated shares are those of the
    population to the error that the study states.
    """
    found: dict[Pair, Interval] = {}
    for pair, (free, among) in shares_among(reader, attribute).items():
        try:
            share = free.ratio(among, alpha / len(free.estimands.compared))
        except CannotEstimate:
            continue
        least, most = free.estimands.band.odds(pair)
        low, high = _odds(share.low) / most, _odds(share.high) / least
        if low > 0 and high < math.inf:
            middle = math.sqrt(least * most) if least != most else most
            estimate = _odds(min(max(share.estimate, share.low), share.high)) / middle
            found[pair] = Interval(estimate, low, high, (0.0, math.inf))
    return found


def shares_among(reader: Reader, attribute: Attribute) -> dict[Pair, tuple[Reader, Ratio]]:
    """Return, for each comparison, the share of its first side among both and what reads it, where that is told."""
    scores = None if attribute.shares is None else _share_scores(reader.estimands)
    if scores is None:
        return {}
    # Shares that are taken as known would decide what they are to be compared with.
    free = replace(reader, estimands=replace(reader.estimands, shares=None))
    found: dict[Pair, tuple[Reader, Ratio]] = {}
    for pair in free.estimands.compared:
        first, second = (sum_of([scores[group] for group in members(side)]) for side in pair)
        found[pair] = free, Ratio(first, first + second, Sentence.of("caution.part-shares"))
    return found


def _share_scores(estimands: Estimands) -> list[Vector] | None:
    """Return the scores of all groups' shares; None where the table does not tell them."""
    if estimands.shares is None:
        return None if estimands.means is None else [mean.under for mean in estimands.means]
    inputs = estimands.decoder.inputs
    scores = [estimands.decoder.score(inputs.share_of(group)) for group in range(inputs.groups)]
    told = [score for score in scores if score is not None]
    return told if len(told) == len(scores) else None


def _odds(share: float) -> float:
    return max(share, 0.0) / (1 - share) if share < 1 else math.inf


# The confidence, or how often an interval may miss; the kind of interval; the tolerance.
Settings = tuple[float, IntervalKind, float | None]


def estimate(
    study: Study,
    tally: Tally,
    *,
    confidence: float = 0.99,
    interval: str = DEFAULT,
    tolerance: float | None = None,
) -> Estimate:
    """Return what a tally says about a study.

    Args:
        study: The study that was answered.
        tally: The count of every symbol, or the sums of what sites counted.
        confidence: How often the interval is to hold the truth.
        interval: The kind of interval; see :mod:`fairgauge.estimation.interval_kinds`.
        tolerance: A gap that would be acceptable, in the metric's units: gives a p-value that it is exceeded.

    Raises:
        BadTally: If the tally is of another study.
        InvalidInput: If an argument is out of range, or of another type.
        CannotEstimate: If its answers come in waves and the interval takes random order.
    """
    check_arguments(study=(study, Study), tally=(tally, Tally))
    reader = SUM_READERS[study.mechanism]
    kind = kind_of(interval, reader.kinds)
    check_confidence(confidence)
    if tolerance is not None and not (is_number(tolerance) and 0 <= tolerance < math.inf):
        raise InvalidInput("tolerance", tolerance, "must be 0 or above")
    if tolerance is not None:
        _check_within(study, tolerance)
    tally.check(study)
    return reader.estimate(study, tally, (confidence, kind, tolerance))


def live_kind(study: Study) -> str:
    """Return which kind of interval people see who look whenever they like, as often as they like.

    Where no such kind holds, because answers come in waves or a mechanism's sums have none, it is the one that holds
    when all have come, at one look.
    """
    return LIVE if study.order is None and LIVE in SUM_READERS[study.mechanism].kinds else DEFAULT


class SumReader(Protocol):
    """What the sums of a mechanism's answers say: all that differs by the mechanism in this room."""

    kinds: Mapping[str, IntervalKind]

    def estimate(self, study: Study, tally: Tally, asked: Settings) -> Estimate:
        """Return what a tally says that belongs to the study."""

    def framed(self, study: Study, attribute: str, metrics: Sequence[str] | None) -> list[tuple[int, Question]]:
        """Return the questions that a metric frame shows, each with its place in the estimate."""

    def estimate_framed(
        self, study: Study, tally: Tally, asked: Sequence[Question], terms: tuple[float, str]
    ) -> Estimate:
        """Return an estimate in which these questions are, at a confidence and with a kind of interval."""

    def with_shares(self, found: QuestionEstimate, first: QuestionEstimate) -> QuestionEstimate:
        """Return the question whose estimate has the groups' shares, of one and of the first."""


class _Symbols:
    """Sums of a channel: how often each symbol was sent."""

    kinds: Mapping[str, IntervalKind] = KINDS

    def estimate(self, study: Study, tally: Tally, asked: Settings) -> Estimate:
        confidence, kind, tolerance = asked
        if study.order is not None and kind.random_order:
            raise CannotEstimate(
                f"answers to this study come in {study.order}, and {kind.name} intervals hold only in random order: "
                f"take {DEFAULT} when the study is over"
            )
        questions = tuple(
            _question(study, tally, index, (1 - confidence, kind, tolerance)) for index in range(len(study.questions))
        )
        return Estimate(study.digest, confidence, kind, tolerance, questions, study.questions)

    def framed(self, study: Study, attribute: str, metrics: Sequence[str] | None) -> list[tuple[int, Question]]:
        found = [(index, asked) for index, asked in enumerate(study.questions) if asked.attribute.name == attribute]
        known = [asked.metric.name for _, asked in found]
        for name in metrics or ():
            if name not in known:
                raise InvalidInput("metrics", name, f"must be of {', '.join(known)}")
        return [(index, asked) for index, asked in found if metrics is None or asked.metric.name in metrics]

    def estimate_framed(
        self, study: Study, tally: Tally, asked: Sequence[Question], terms: tuple[float, str]
    ) -> Estimate:
        del asked
        return estimate(study, tally, confidence=terms[0], interval=terms[1])

    def with_shares(self, found: QuestionEstimate, first: QuestionEstimate) -> QuestionEstimate:
        del first
        return found


class _Counts:
    """Sums of noisy counts: how many people of each group had each outcome."""

    kinds: Mapping[str, IntervalKind] = SITE_KINDS

    def estimate(self, study: Study, tally: Tally, asked: Settings) -> Estimate:
        confidence, kind, tolerance = asked
        if tolerance is not None:
            raise InvalidInput("tolerance", tolerance, "must not be given in a study for sites")
        return estimate_sites(study, tally, 1 - confidence, kind)

    def framed(self, study: Study, attribute: str, metrics: Sequence[str] | None) -> list[tuple[int, Question]]:
        del attribute
        return list(enumerate(fairlearn_metrics(study.questions[0].counts, metrics)))

    def estimate_framed(
        self, study: Study, tally: Tally, asked: Sequence[Question], terms: tuple[float, str]
    ) -> Estimate:
        return estimate_by_names(study, tally, asked, confidence=terms[0], interval=terms[1])

    def with_shares(self, found: QuestionEstimate, first: QuestionEstimate) -> QuestionEstimate:
        del found
        return first  # all metrics come from the same counts


SUM_READERS: Registry[SumReader] = Registry({Channel: _Symbols(), NoisyCounts: _Counts()})


def _check_within(study: Study, tolerance: float) -> None:
    """Refuse a tolerance that no gap of the study can exceed, such as 20 (per cent?) for a metric from 0 to 1."""
    if all(tolerance >= 2 * question.metric.scale for question in study.questions):
        widest = max((question.metric for question in study.questions), key=lambda metric: metric.scale)
        rule = f"must be below {2 * widest.scale:g}, in the units of {widest.name}: no gap can be larger"
        raise InvalidInput("tolerance", tolerance, rule)


def _question(study: Study, tally: Tally, index: int, asked: Settings) -> QuestionEstimate:
    question, own = study.questions[index], tally.for_question(study, index)
    metric, names = question.metric, question.attribute.groups
    drawn = _drawn(study, tally, index)
    if tally.contributors == 0 or sum(own) == 0:
        return QuestionEstimate(
            metric.name, question.attribute.name, names, 0, {}, {}, None, {}, None, {}, None, None,
            (Sentence.of("verdict.none"),),
        )  # fmt: skip
    alpha, kind, tolerance = asked
    rows = estimands_of(question).decoder.rows
    # Draws are honest as well: one more law that symbols may have.
    rows = np.vstack([rows, drawn.own]) if drawn.draws.count else rows
    fit = fit_p_value(rows, own, name=f"{study.seed} {index}")
    pairs = pair_names(question)
    if fit < IMPOSSIBLE:
        return QuestionEstimate(
            metric.name, question.attribute.name, names, drawn.answers, {}, {}, None, {}, None, {}, fit, None,
            (Sentence.of("caution.impossible", p=Numeral(f"{fit:.2g}")),), untold_gaps=tuple(pairs.values()),
        )  # fmt: skip
    reader = reader_for(study, tally, index, kind)
    teller = Teller(reader, names, alpha)
    read = teller.means()
    means = {group: _level(metric, mean) for group, mean in read.items()}
    margins = {side: _level(metric, mean) for side, mean in teller.margins().items()}
    gaps = teller.gaps(pairs)
    named = {pairs[pair]: gap.scaled(metric.scale).within(*_gap_bounds(metric)) for pair, gap in gaps.items()}
    said: list[str] = []
    if _contradict(named, means | margins):
        read, means, margins = {}, {}, {}
        said.append(Sentence.of("caution.contradict"))
    if teller.contradicted:
        read, means, margins, gaps, named = {}, {}, {}, {}, {}
    overall, shares, answered = teller.overall(), teller.shares(), teller.answered()
    told = {} if tolerance is None else reader.p_values(gaps, tolerance / metric.scale)
    response = {pairs[pair]: ratio for pair, ratio in response_ratios(reader, question.attribute, alpha).items()}
    most = question.attribute.ratio
    if not teller.contradicted and any(ratio.low > most or ratio.high < 1 / most for ratio in response.values()):
        said.append(Sentence.of("caution.not-alike"))
    return QuestionEstimate(
        metric=metric.name,
        attribute=question.attribute.name,
        groups=names,
        answers=drawn.answers,
        gaps=named,
        means=means,
        overall=None if overall is None else _level(metric, overall),
        shares={group: share.within(0, 1) for group, share in shares.items()},
        answered=None if answered is None else answered.within(0, 1),
        p_values={pairs[pair]: p for pair, p in told.items()},
        fit=fit,
        sensitivity=sensitivity_of(
            reader,
            question,
            gaps,
            {names.index(group): mean for group, mean in read.items()},
            part=drawn.part,
        )
        if gaps
        else None,
        warnings=(
            *teller.warnings,
            *said,
            *_cautions(question, drawn.answers, kind, fit, means | margins),
            *([*_of_a_stratum(study), *_of_those_who_answer(question)] if gaps or means else ()),
            *_ruled_out(named, means | margins, overall),
        ),
        margins=margins,
        untold_gaps=tuple(name for pair, name in pairs.items() if pair not in gaps),
        impact_ratio=_ratio(metric, reader, alpha) if len(means) == len(names) else None,
        response=response,
    )


def reader_for(study: Study, tally: Tally, index: int, kind: IntervalKind) -> Reader:
    """Return what reads the answers to a question."""
    drawn, estimands = _drawn(study, tally, index), estimands_of(study.questions[index])
    # What was planned for the whole study is shared by its tables, before any answer.
    planned = None if study.planned is None else max(1, study.planned // len(study.tables))
    if drawn.draws.count and len(study.tables) > 1:
        estimands, planned = among_tables(estimands, len(study.tables)), study.planned
    return reader_of(kind)(estimands, drawn.counts, planned, Thrown(f"{study.seed} {index}"), drawn.draws)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """A question's counts, and the secret draws among them.

    Where a device answers one of several tables, nobody knows how many draws one table has.  Those of all are known, so
    all symbols are read: those of other tables as one more, which says nothing.
    """

    counts: Vector
    draws: Draws
    own: Vector  # how draws of this table are spread over its symbols
    answers: int
    part: float  # of all answers, how many are among the counts


def _drawn(study: Study, tally: Tally, index: int) -> _Drawn:
    own, drawn = tally.for_question(study, index), tally.draws(study)
    if not drawn:
        return _Drawn(counts_of(own), NO_DRAWS, np.zeros(0), sum(own), sum(own) / max(tally.contributors, 1))
    weights = np.array(blanket_weights(study.channels), dtype=np.float64)
    law, start = weights / weights.sum(), study.offset(index)
    mine = law[start : start + len(own)]
    if len(study.tables) == 1:
        return _Drawn(counts_of(own), Draws(drawn, law), law, tally.contributors, 1.0)
    elsewhere = [sum(tally.counts) - sum(own)]
    answers = min(max(round(sum(own) - drawn * float(mine.sum())), 0), tally.contributors)
    counts, whole = counts_of((*own, *elsewhere)), np.append(mine, 1 - mine.sum())
    return _Drawn(counts, Draws(drawn, whole), mine / mine.sum(), answers, 1.0)


def _ratio(metric: Metric, reader: Reader, alpha: float) -> Interval | None:
    """Return the impact ratio, from means that hold together."""
    groups = range(reader.estimands.decoder.inputs.groups)
    try:
        return impact_ratio([_level(metric, mean) for mean in reader.extremes(groups, alpha)])
    except CannotEstimate:
        return None


def _level(metric: Metric, mean: Interval) -> Interval:
    """Return a mean in the metric's units, and what it can be."""
    return mean.scaled(metric.scale, metric.to_metric(0.0)).within(float(metric.low), float(metric.high))


def _gap_bounds(metric: Metric) -> tuple[float, float]:
    reach = float(metric.high) - float(metric.low)
    return -reach, reach


def _contradict(gaps: dict[tuple[str, str], Interval], means: dict[str, Interval]) -> bool:
    """Tell whether a gap has nothing in its interval that the intervals of both means allow."""
    told = [(gap, means[a], means[b]) for (a, b), gap in gaps.items() if a in means and b in means]
    return any(gap.high < a.low - b.high or gap.low > a.high - b.low for gap, a, b in told)


def _ruled_out(
    gaps: dict[tuple[str, str], Interval], means: dict[str, Interval], overall: Interval | None
) -> list[str]:
    """Return a sentence for each number whose average score is a value that the answers as a whole do not allow."""
    numbers = [(Sentence.of("caution.gap", first=a, second=b), gap) for (a, b), gap in gaps.items()]
    numbers += [(Sentence.of("caution.mean", group=group), mean) for group, mean in means.items()]
    numbers += [] if overall is None else [(Sentence.of("caution.overall"), overall)]
    return [Sentence.of("caution.ruled-out", what=what) for what, number in numbers if number.ruled_out]


def _of_a_stratum(study: Study) -> list[str]:
    """Return about which part of the people a study is, where it is not about all."""
    part = study.stratum
    return [] if part is None else [Sentence.of("strata.alone", of=part.of, name=part.name, share=Numeral(part.share))]


def _of_those_who_answer(question: Question) -> list[str]:
    """Return a sentence where shares are stated and people may abstain: nobody knows who does, and how often."""
    if question.attribute.known_shares is None or not question.mechanism.abstain:
        return []
    return [Sentence.of("caution.abstaining")]


def _cautions(
    question: Question, answers: int, kind: IntervalKind, fit: float, means: dict[str, Interval]
) -> list[str]:
    """Return sentences about numbers that are there, but not to be trusted without a thought."""
    said: list[str] = []
    if fit < SUSPICIOUS:
        said.append(Sentence.of("caution.forged", p=Numeral(f"{fit:.2g}")))
    if answers < kind.rough_below:
        said.append(f"With {answers:,} answers the {kind.name} interval is only roughly right: prefer {DEFAULT}.")
    low, high = Numeral(question.metric.low), Numeral(question.metric.high)
    # A sum over a share that is stated too small leaves the range however many answer.
    key = "caution.outside" if question.attribute.known_shares is None else "caution.outside-share"
    return said + [
        Sentence.of(key, group=group, low=low, high=high)
        for group, mean in means.items()
        if not mean.bounds[0] <= mean.estimate <= mean.bounds[1]
    ]


class Teller:
    """Asks counts for numbers, and collects the sentences about those that they do not tell.

    Args:
        reader: The counts.
        names: The groups.
        alpha: How often an interval may miss the truth.
    """

    def __init__(self, reader: Reader, names: Sequence[str], alpha: float) -> None:
        self._reader, self._names, self._alpha = reader, names, alpha
        self.warnings: list[str] = []
        self.contradicted = False

    def means(self) -> dict[str, Interval]:
        """Return the groups' means."""
        estimands = self._reader.estimands
        if estimands.means is None:
            self.warnings.append(Sentence.of("caution.neither" if estimands.gaps is None else "caution.gap-only"))
            return {}
        return self._means_of(dict(zip(self._names, range(len(self._names)), strict=True)))

    def margins(self) -> dict[str, Interval]:
        """Return the means of groups that are taken together, where attributes cross."""
        return {} if self._reader.estimands.means is None else self._means_of(self._reader.estimands.margins)

    def _means_of(self, sides: Mapping[str, Side]) -> dict[str, Interval]:
        found = {
            name: self._told(Sentence.of("caution.mean", group=name), partial(self._reader.mean, side))
            for name, side in sides.items()
        }
        return {name: mean for name, mean in found.items() if mean is not None}

    def gaps(self, names: Mapping[Pair, tuple[str, str]]) -> dict[Pair, Interval]:
        """Return the gaps of all comparisons, which have these names; of all that are compared they hold together."""
        gaps = {}
        for pair in self._reader.estimands.compared:
            try:
                gaps[pair] = self._reader.gap(pair, self._alpha)
            except CannotEstimate as reason:
                self.contradicted |= isinstance(reason, Contradicted)
                first, second = names[pair]
                self.warnings.append(_untold(Sentence.of("caution.gap", first=first, second=second), reason))
        return gaps

    def overall(self) -> Interval | None:
        """Return the mean over everyone who answered."""
        return self._one(Sentence.of("caution.overall"), self._reader.estimands.overall)

    def shares(self) -> dict[str, Interval]:
        """Return the groups' shares, where they are estimated."""
        ratios = self._reader.estimands.group_shares
        return {} if ratios is None else self._shares(ratios)

    def answered(self) -> Interval | None:
        """Return the part of people who did not abstain, where they may."""
        return self._one(Sentence.of("caution.answered"), self._reader.estimands.answered)

    def _shares(self, ratios: Sequence[Ratio]) -> dict[str, Interval]:
        named = zip(self._names, ratios, strict=True)
        found = {name: self._one(Sentence.of("caution.share", group=name), ratio) for name, ratio in named}
        return {name: interval for name, interval in found.items() if interval is not None}

    def _one(self, what: str, ratio: Ratio | None) -> Interval | None:
        return None if ratio is None else self._told(what, partial(self._reader.ratio, ratio))

    def _told(self, what: str, ask: Callable[[float], Interval]) -> Interval | None:
        try:
            return ask(self._alpha)
        except CannotEstimate as reason:
            self.warnings.append(_untold(what, reason))
            return None


def _untold(what: str, reason: CannotEstimate) -> str:
    return Sentence.of("caution.untold", what=what, reason=reason.args[0])
