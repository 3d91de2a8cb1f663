"""Estimates: group means, gaps and intervals from the count of every symbol, and an honest word where they end.

>>> from decimal import Decimal
>>> from fairgauge import Attribute, Metric, Population, Question, Study
>>> from fairgauge.designs import make_channel
>>> from fairgauge.goals.goal import Goal
>>> from fairgauge.simulation import Cell, simulate
>>> name, channel = make_channel(Goal((0.5, 0.5)), Decimal(1))
>>> recall, sex = Metric("recall", "0", "1"), Attribute("sex", ("female", "male"), ("0.5", "0.5"))
>>> study = Study("Recall by sex", (Question(recall, sex, "gap", name, "1", channel),))
>>> cells = (Cell("female", Decimal("0.78"), 500_000), Cell("male", Decimal("0.82"), 500_000))
>>> tally = simulate(study, Population(cells), seed=7)
>>> low, high = estimate(study, tally)["recall"].difference_ci("female", "male")
>>> low < -0.04 < high
True
"""

import math

from fairgauge.errors import CannotEstimate, InvalidInput
from fairgauge.estimation.estimands import Estimands, Ratio, estimands_of
from fairgauge.estimation.fit import SUSPICIOUS, fit_p_value
from fairgauge.estimation.intervals import GUARANTEES, INTERVALS, check_confidence, check_interval
from fairgauge.estimation.result import Estimate, Gap, QuestionEstimate, Sensitivity
from fairgauge.estimation.sensitivity import sensitivity_of
from fairgauge.estimation.solve import Counts, Interval, law_of
from fairgauge.study import Question, Study
from fairgauge.tallies import Tally

__all__ = ["GUARANTEES", "INTERVALS", "Estimate", "Gap", "Interval", "QuestionEstimate", "Sensitivity", "estimate"]

_LEAST_P = 1e-12
_P_STEPS = 12
_NORMAL_ANSWERS = 10_000


def estimate(
    study: Study,
    tally: Tally,
    *,
    confidence: float = 0.99,
    interval: str = "finite",
    tolerance: float | None = None,
) -> Estimate:
    """Return what a tally says about a study.

    Args:
        study: The study that was answered.
        tally: The count of every symbol.
        confidence: How often the interval is to hold the truth.
        interval: ``"finite"``, ``"anytime"``, ``"normal"`` or ``"chebyshev"``.
        tolerance: A gap that would be acceptable, in the metric's units: gives a p-value that it is exceeded.

    Raises:
        BadTally: If the tally is of another study.
        InvalidInput: If an argument is out of range.
    """
    check_interval(interval)
    check_confidence(confidence)
    if tolerance is not None and not 0 <= tolerance < math.inf:
        raise InvalidInput("tolerance", tolerance, "must be 0 or above")
    tally.check(study)
    questions = tuple(
        _estimate_question(
            question,
            estimands_of(question, questions=len(study.questions)),
            _counts(study, tally, index),
            (confidence, interval, tolerance),
        )
        for index, question in enumerate(study.questions)
    )
    return Estimate(study.digest, confidence, interval, tolerance, questions)


def _counts(study: Study, tally: Tally, index: int) -> tuple[int, ...]:
    """Return the counts of a question's symbols, and of answers to the other questions where there are any."""
    own = tally.for_question(study, index)
    return own if len(study.questions) == 1 else (*own, tally.total - sum(own))


def _estimate_question(
    question: Question, estimands: Estimands, counts: tuple[int, ...], asked: tuple[float, str, float | None]
) -> QuestionEstimate:
    confidence, interval, tolerance = asked
    names, metric = question.attribute.groups, question.metric
    answers = sum(counts[: question.channel.symbols])
    if answers == 0:
        return QuestionEstimate(
            metric.name, question.attribute.name, names, 0, (), None, None, None, None, None, None,
            ("There are no answers yet.",),
        )  # fmt: skip
    reader = Counts(estimands, law_of(counts), sum(counts), INTERVALS[interval])
    alpha = 1 - confidence
    warnings: list[str] = []
    means = _means(reader, names, alpha, warnings)
    gaps = _gaps(reader, names, alpha, warnings)
    overall = _told(reader, "The overall mean", estimands.overall, alpha, warnings)
    shares = _shares(reader, names, alpha, warnings)
    answered = _told(reader, "The part of people who answered", estimands.answered, alpha, warnings)
    if tolerance is not None:
        gaps = {pair: (i, _p_value(reader, pair, tolerance / metric.scale)) for pair, (i, _) in gaps.items()}
    fit = fit_p_value(estimands.decoder, counts)
    if fit < SUSPICIOUS:
        warnings.append(
            f"The counts do not look like honest answers to this study (p = {fit:.2g}): "
            "they may be forged, miscounted or made with another table."
        )
    if interval == "normal" and answers < _NORMAL_ANSWERS:
        warnings.append(f"With {answers:,} answers the normal interval is only roughly right: prefer finite.")
    low, high = float(metric.low), float(metric.high)
    in_metric = {g: mean.scaled(metric.scale, metric.to_metric(0.0)) for g, mean in means.items()}
    warnings += [
        f"The estimate for {g} is outside {metric.low} to {metric.high}: there are too few answers to place it better."
        for g, mean in in_metric.items()
        if not low <= mean.estimate <= high
    ]
    return QuestionEstimate(
        metric=metric.name,
        attribute=question.attribute.name,
        groups=names,
        answers=answers,
        gaps=tuple(Gap((names[a], names[b]), i.scaled(metric.scale), p) for (a, b), (i, p) in gaps.items()),
        means=in_metric or None,
        overall_interval=None if overall is None else overall.scaled(metric.scale, metric.to_metric(0.0)),
        shares=shares,
        answered=answered,
        fit=fit,
        sensitivity=sensitivity_of(reader, question, gaps) if gaps else None,
        warnings=tuple(warnings),
    )


def _means(reader: Counts, names: tuple[str, ...], alpha: float, warnings: list[str]) -> dict[str, Interval]:
    means: dict[str, Interval] = {}
    if reader.estimands.means is None:
        gap = "neither the gap nor" if reader.estimands.gaps is None else "the gap, not"
        warnings.append(f"This study can estimate {gap} the means of the groups.")
        return means
    for name, ratio in zip(names, reader.estimands.means, strict=True):
        mean = _told(reader, f"The mean of {name}", ratio, alpha, warnings)
        if mean is not None:
            means[name] = mean
    return means


def _gap(reader: Counts, pair: tuple[int, int], alpha: float) -> Interval:
    """Return the interval of one gap, where all gaps are to hold together."""
    estimands = reader.estimands
    if estimands.gaps is not None:
        return reader.ratio(estimands.gaps[pair], alpha / len(estimands.gaps))
    if estimands.means is None:
        raise CannotEstimate("the study's channel does not tell groups apart well enough")
    first, second = (estimands.means[g] for g in pair)
    return reader.difference(first, second, alpha, of=len(estimands.means))


def _gaps(
    reader: Counts, names: tuple[str, ...], alpha: float, warnings: list[str]
) -> dict[tuple[int, int], tuple[Interval, float | None]]:
    gaps: dict[tuple[int, int], tuple[Interval, float | None]] = {}
    for a, first in enumerate(names):
        for b, second in enumerate(names[a + 1 :], start=a + 1):
            try:
                gaps[a, b] = (_gap(reader, (a, b), alpha), None)
            except CannotEstimate as reason:
                warnings.append(f"The gap between {first} and {second} cannot be estimated: {reason}.")
    return gaps


def _told(reader: Counts, what: str, ratio: Ratio | None, alpha: float, warnings: list[str]) -> Interval | None:
    """Return the interval of a ratio, or None and a sentence that says why there is none."""
    if ratio is None:
        return None
    try:
        return reader.ratio(ratio, alpha)
    except CannotEstimate as reason:
        warnings.append(f"{what} cannot be estimated: {reason}.")
        return None


def _shares(reader: Counts, names: tuple[str, ...], alpha: float, warnings: list[str]) -> dict[str, Interval] | None:
    ratios = reader.estimands.group_shares
    if ratios is None:
        return None
    found = {
        name: _told(reader, f"The share of {name}", ratio, alpha, warnings)
        for name, ratio in zip(names, ratios, strict=True)
    }
    return {name: share for name, share in found.items() if share is not None} or None


def _p_value(reader: Counts, pair: tuple[int, int], tolerance: float) -> float:
    """Return the smallest alpha at which the interval still excludes every gap within the tolerance."""
    gaps = reader.estimands.gaps

    def excluded(alpha: float) -> bool:
        if gaps is not None:
            gap = gaps[pair] if gaps[pair].value(reader.law) > 0 else -gaps[pair]
            return reader.beyond(gap, tolerance, alpha / len(gaps))
        try:
            interval = _gap(reader, pair, alpha)
        except CannotEstimate:
            return False
        return interval.low > tolerance or interval.high < -tolerance

    if excluded(_LEAST_P):
        return _LEAST_P
    if not excluded(0.5):
        return 1.0
    low, high = _LEAST_P, 0.5
    for _ in range(_P_STEPS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if excluded(middle) else (middle, high)
    return high
