"""What a template shows of one question: sentences, numbers as people write them, and pictures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from fairgauge.estimation import Estimate, Interval, QuestionEstimate
from fairgauge.reports.figures import (
    Bar,
    Look,
    interval_figure,
    moves_figure,
    odds_figure,
    progress_figure,
    shrinking_figure,
)
from fairgauge.reports.panels import Panel, gap_panels, left_out_sentence, mean_panels, shown_gaps
from fairgauge.reports.sites import protection_sentence
from fairgauge.reports.units import CUT_NOTE, Unit, level_of, mark, part_of_hundred, places_for, unit_of
from fairgauge.reports.words import (
    MILLION,
    NO_RATIO,
    NO_SITE_RATIO,
    Asked,
    Verdict,
    fit_sentence,
    forging_sentence,
    odds_after,
    privacy_sentence,
    progress_sentence,
    question_sentence,
    ratio_sentence,
    share_sentences,
    together_sentence,
    tolerance_sentence,
    verdict,
)
from fairgauge.study import Question, Site, Study

_BELIEFS = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Number:
    """An estimate with its interval, as written and as it is."""

    name: str
    estimate: str
    low: str
    high: str
    unit: str
    exact: Interval


@dataclass(frozen=True)
class PrivacyView:
    """What taking part means for one person."""

    sentence: str
    epsilon: str
    declared: str
    factor: str
    odds: Markup
    symbols: int


@dataclass(frozen=True)
class QuestionView:
    """Everything to show of one question."""

    title: str
    asks: str
    metric: str
    attribute: str
    groups: tuple[str, ...]
    shares: tuple[str, ...] | None
    design: str | None
    abstain: bool
    answers: int
    verdict: Verdict
    tolerance: str | None
    numbers: tuple[Number, ...]
    cut: str | None
    gaps: Markup | None
    means: Markup | None
    ratio: str
    stated: tuple[str, ...]
    forging: str | None
    moves: Markup | None
    fit: str
    notes: tuple[str, ...]
    privacy: PrivacyView | None


@dataclass(frozen=True)
class ProgressView:
    """How far a question has come toward its aim, and how its interval shrank on the way."""

    title: str
    sentence: str
    bar: Markup | None
    shrinking: Markup | None


def question_view(question: Asked, found: QuestionEstimate, estimate: Estimate, *, over: bool = False) -> QuestionView:
    """Return what to show of a question; what sites tell has no design, and no privacy, of its own."""
    own = question if isinstance(question, Question) else None
    confidence, tolerance = estimate.confidence, estimate.tolerance
    sure = f"{part_of_hundred(confidence)} confidence"
    return QuestionView(
        title=title_of(question),
        asks=question_sentence(question),
        metric=question.metric.name,
        attribute=question.attribute.name,
        groups=question.attribute.groups,
        shares=None if own is None else own.attribute.shares,
        design=None if own is None else own.design,
        abstain=own is not None and own.channel.abstain,
        answers=found.answers,
        verdict=verdict(question, found, confidence=confidence, over=over),
        tolerance=None if tolerance is None else tolerance_sentence(question, found, tolerance),
        numbers=tuple(_numbers(question, found)),
        cut=CUT_NOTE if any(interval.cut for _, interval in found.rows()) else None,
        gaps=_gaps(question, found, tolerance, sure),
        means=_means(question, found, sure),
        ratio=ratio_sentence(question, found) or (NO_RATIO if own is not None else NO_SITE_RATIO),
        stated=tuple(share_sentences(question, found)),
        forging=forging_sentence(question, found),
        moves=_moves(question, found),
        fit=fit_sentence(found),
        notes=(*_held(found, confidence), *found.warnings),
        privacy=None if own is None else privacy_view(own),
    )


def title_of(question: Asked) -> str:
    """Return what a question is about, as a heading: metrics named as one word are written as a sentence starts."""
    name = f"{question.metric.name} by {question.attribute.name}"
    return name[0].upper() + name[1:] if name[:2].islower() else name


def privacy_view(question: Question) -> PrivacyView:
    """Return what answering a question means for one person."""
    epsilon = question.channel.epsilon
    said = "that you are in a certain group can, after seeing your answer"
    sentence = privacy_sentence(question)
    return PrivacyView(
        sentence=sentence[0].upper() + sentence[1:] + ".",
        epsilon=_exact_epsilon(epsilon),
        declared=question.epsilon,
        factor="without limit" if math.isinf(epsilon) else f"{math.ceil(math.exp(epsilon) * 100) / 100:.2f}",
        odds=_odds(question.channel.loss, said),
        symbols=question.channel.symbols,
    )


def site_privacy_view(site: Site) -> PrivacyView:
    """Return what a site's answer means for one of its people."""
    return PrivacyView(
        sentence=protection_sentence(site),
        epsilon=str(site.loss),
        declared=site.epsilon,
        factor=f"{math.ceil(math.exp(float(site.loss)) * 100) / 100:.2f}",
        odds=_odds(math.exp(float(site.loss)), "of a person's record at a site can, after seeing the site's counts"),
        symbols=site.cells,
    )


def _odds(loss: float | Fraction | None, said: str) -> Markup:
    rows = [(f"{round(100 * before)} before", before, *odds_after(loss, before)) for before in _BELIEFS]
    low, high = odds_after(loss, 0.5)
    return odds_figure(
        rows,
        description=(
            f"Somebody who held it for 50 in 100 {said}, "
            f"hold it for {math.floor(100 * low)} in 100 at the least and {math.ceil(100 * high)} in 100 at the most."
        ),
    )


def progress_view(
    question: Question, answers: int, *, error: float, needed: int | None, looks: Sequence[Look]
) -> ProgressView:
    """Return how far a question has come.

    Args:
        question: What was asked.
        answers: How many answers there are.
        error: The aim: a half-width of the gap's interval, in the metric's units.
        needed: How many answers that takes, if any number does.
        looks: The gap's interval at numbers of answers that grew.
    """
    unit = unit_of(question.metric)
    million = None if needed is None else unit.of(error * math.sqrt(needed / MILLION))
    sentence = progress_sentence(answers, needed, unit.of(error), million)
    bar = None if needed is None else progress_figure(answers / needed, description=sentence)
    shrinking = None
    if len(looks) > 1:
        drawn = [Look(look.answers, look.interval.shown.scaled(unit.factor)) for look in looks]
        first, last = (_width(look.interval.shown, unit) for look in (looks[0], looks[-1]))
        shrinking = shrinking_figure(
            drawn,
            needed=needed,
            error=error * unit.factor,
            description=(
                f"The interval of the gap was ±{first} after {looks[0].answers:,} answers, "
                f"and is ±{last} after {looks[-1].answers:,}."
            ),
        )
    return ProgressView(title_of(question), sentence, bar, shrinking)


def views(study: Study, estimate: Estimate, *, over: bool = False) -> list[QuestionView]:
    """Return what to show of every question of a study."""
    return [
        question_view(question, found, estimate, over=over)
        for question, found in zip(study.asked, estimate.questions, strict=True)
    ]


def _exact_epsilon(epsilon: float) -> str:
    """Return an epsilon rounded up to six digits, so that what is shown is never too good."""
    if math.isinf(epsilon):
        return "infinite"
    scaled = 10.0 ** (5 - math.floor(math.log10(epsilon))) if epsilon > 0 else 1.0
    return f"{math.ceil(round(epsilon * scaled, 6)) / scaled:.6g}"


def _numbers(question: Asked, found: QuestionEstimate) -> list[Number]:
    gaps, level = unit_of(question.metric), level_of(question.metric)
    rows = [_number(f"{a} − {b}", gap, gaps) for (a, b), gap in shown_gaps(found)]
    rows += [_number(group, mean, level) for group, mean in (found.margins | found.means).items()]
    if found.overall is not None:
        rows.append(_number("everyone", found.overall, level))
    if found.impact_ratio is not None:
        rows.append(_number("impact ratio", found.impact_ratio, Unit(1, "")))
    rows += [_number(f"share of {group}", share, Unit(1, "")) for group, share in found.shares.items()]
    if found.answered is not None:
        rows.append(_number("part that did not abstain", found.answered, Unit(1, "")))
    return rows


def _number(name: str, interval: Interval, unit: Unit) -> Number:
    places, shown = unit.places(interval), interval.shown
    word = f"{unit.word}s" if unit.word else ""
    return Number(
        name,
        unit.near(shown.estimate, places) + mark(shown.estimate, interval.estimate),
        unit.down(shown.low, places) + mark(shown.low, interval.low),
        unit.up(shown.high, places) + mark(shown.high, interval.high),
        word,
        interval,
    )


def _gaps(question: Asked, found: QuestionEstimate, tolerance: float | None, sure: str) -> Markup | None:
    if not found.gaps:
        return None
    unit = unit_of(question.metric)
    bars = _bars(gap_panels(question, found), unit, unit.factor)
    main, first = found.headline, ""
    if main.groups is not None and main.interval is not None:
        first = f" {main.groups[0]} minus {main.groups[1]}: {_said(main.interval, unit)}."
    return interval_figure(
        bars,
        zero=True,
        tolerance=None if tolerance is None else tolerance * unit.factor,
        description=f"The gap in {question.metric.name} with its interval, against zero.{first} {sure}.",
    )


def _means(question: Asked, found: QuestionEstimate, sure: str) -> Markup | None:
    if not found.means:
        return None
    unit = level_of(question.metric)
    bars = _bars(mean_panels(question, found), unit, 1.0)
    said = "; ".join(f"{bar.label} {bar.said}".strip() for bar in bars)
    return interval_figure(bars, description=f"The mean {question.metric.name} of each group: {said}. {sure}.")


def _held(found: QuestionEstimate, confidence: float) -> list[str]:
    """Return what is to be said of many gaps."""
    said = (together_sentence(found, confidence=confidence), left_out_sentence(found))
    return [one for one in said if one is not None]


def _bars(panels: Sequence[Panel], unit: Unit, factor: float) -> list[Bar]:
    """Return the rows of panels below each other, against one axis."""
    bars: list[Bar] = []
    for panel in panels:
        bars += [] if panel.title is None else [Bar(panel.title, None, "")]
        bars += [Bar(name, each.shown.scaled(factor), _said(each, unit)) for name, each in panel.rows]
    return bars


def _moves(question: Asked, found: QuestionEstimate) -> Markup | None:
    gap, moves = found.headline.interval, found.sensitivity
    if gap is None or moves is None:
        return None
    unit = unit_of(question.metric)
    sizes = [("the interval", (gap.high - gap.low) / 2)]
    sizes += (
        []
        if moves.share_error is None or math.isinf(moves.share_error)
        else [("a share wrong by 0.01", moves.share_error)]
    )
    sizes += [] if moves.forged is None else [("1 % forged", moves.forged)]
    bars = [(label, size * unit.factor, f"±{unit.of(size)}") for label, size in sizes]
    said = "; ".join(f"{label} {size}" for label, _, size in bars)
    return moves_figure(bars, description=f"How far the gap could be off: {said}.")


def _said(interval: Interval, unit: Unit) -> str:
    places, shown = unit.places(interval), interval.shown
    return f"{unit.down(shown.low, places)} to {unit.up(shown.high, places)}"


def _width(interval: Interval, unit: Unit) -> str:
    half = (interval.high - interval.low) / 2
    return unit.after(unit.up(half, places_for(half * unit.factor)))
