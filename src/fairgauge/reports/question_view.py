"""What a template shows of one question: sentences, numbers as people write them, and pictures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from fairgauge.estimation import Estimate, Interval, QuestionEstimate
from fairgauge.estimation.tipping import gap_bounds
from fairgauge.languages import PLAIN, Label, Numeral, Sentence, Voice
from fairgauge.reports.device_sentences import question_sentence, shares_told
from fairgauge.reports.display import display_of
from fairgauge.reports.figures import (
    Bar,
    Look,
    Marks,
    interval_figure,
    moves_figure,
    odds_figure,
    progress_figure,
    shrinking_figure,
)
from fairgauge.reports.non_response import factor_down
from fairgauge.reports.small_multiples import (
    Panel,
    gap_panels,
    left_out_sentence,
    mean_panels,
    minus,
    shown_gaps,
    shown_response,
)
from fairgauge.reports.translated_names import speaking_of
from fairgauge.reports.units import CUT_NOTE, Unit, level_of, mark, part_of_hundred, places_for, unit_of
from fairgauge.reports.verdicts import (
    MILLION,
    Meaning,
    Verdict,
    if_alike,
    odds_after,
    progress_sentence,
)
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.study.margins import planned

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
class _PrivacyView:
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
    level: str  # what means are in; empty for plain numbers
    attribute: str
    groups: tuple[str, ...]
    shares: str | None
    answering: str | None
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
    response: tuple[str, ...]
    tipping: Markup | None
    forging: str | None
    moves: Markup | None
    moved: str
    fit: str
    notes: tuple[str, ...]
    privacy: _PrivacyView | None


@dataclass(frozen=True)
class Progress:
    """How far a question has come toward its aim.

    Args:
        answers: How many answers there are.
        error: The aim: a half-width of the gap's interval, in the metric's units.
        needed: How many answers that takes, if any number does.
        looks: The gap's interval at numbers of answers that grew.
    """

    answers: int
    error: float
    needed: int | None
    looks: Sequence[Look]


@dataclass(frozen=True)
class ProgressView:
    """How far a question has come toward its aim, and how its interval shrank on the way."""

    title: str
    sentence: str
    bar: Markup | None
    shrinking: Markup | None


def question_view(
    question: Question, found: QuestionEstimate, estimate: Estimate, *, over: bool = False, voice: Voice = PLAIN
) -> QuestionView:
    """Return what to show of a question, in a language."""
    confidence, tolerance, tell = estimate.confidence, estimate.tolerance, voice.tell
    meaning = Meaning(question, found, confidence, tolerance)
    said = meaning.verdict(over=over)
    sure = Sentence.of("picture.sure", sure=part_of_hundred(confidence))
    return QuestionView(
        title=tell(title_of(question.metric, question.attribute)),
        asks=tell(question_sentence(question)),
        metric=tell(Label(question.metric.name)),
        level=tell(level_of(question.metric).name),
        attribute=tell(Label(question.attribute.name)),
        groups=tuple(map(tell, question.attribute.groups)),
        shares=None if question.known_shares is None else tell(shares_told(question.attribute)),
        answering=voice.numeral(question.attribute.answering or "")
        if 1 < question.attribute.ratio < math.inf
        else None,
        design=question.design,
        abstain=question.mechanism.abstain,
        answers=found.answers,
        verdict=Verdict(said.kind, tell(said.text)),
        tolerance=_told(meaning.against_tolerance(), voice),
        numbers=tuple(_numbers(question, found, voice)),
        cut=tell(CUT_NOTE) if any(interval.cut for _, interval in found.rows()) else None,
        gaps=_gaps(question, found, tolerance, sure, voice),
        means=_means(question, found, sure, voice),
        ratio=tell(meaning.ratio() or Sentence.of(display_of(question.mechanism).no_ratio)),
        stated=tuple(map(tell, meaning.stated())),
        response=tuple(map(tell, meaning.answering())),
        tipping=_tipping(question, found, voice),
        forging=_told(meaning.forging(), voice),
        moves=_moves(question, found, voice),
        moved=_moved(found, voice),
        fit=tell(meaning.fit()),
        notes=tuple(map(tell, (*_held(meaning), *found.warnings))),
        privacy=_privacy_view(question, voice),
    )


def title_of(metric: Metric, attribute: Attribute) -> str:
    """Return what a question is about, as a heading: metrics named as one word are written as a sentence starts."""
    return Sentence.as_title("question.title", metric=Label(metric.name), attribute=Label(attribute.name))


def _privacy_view(question: Question, voice: Voice = PLAIN) -> _PrivacyView:
    """Return what answering a question means for one person."""
    mechanism = question.mechanism
    display, epsilon = display_of(mechanism), mechanism.epsilon
    return _PrivacyView(
        sentence=voice.tell(display.protection(question)),
        epsilon=voice.tell(display.exact(question)),
        declared=voice.numeral(question.epsilon),
        factor="without limit" if math.isinf(epsilon) else f"{math.ceil(math.exp(epsilon) * 100) / 100:.2f}",
        odds=_odds(*display.odds(question), voice),
        symbols=mechanism.size,
    )


def privacy_views(study: Study, voice: Voice = PLAIN) -> list[dict[str, object]]:
    """Return what answering means for one person, once for each sentence that says what is asked."""
    asked = [question for question, _ in display_of(study.mechanism).asks(study)]
    own = [(question, naming(study, question, voice)) for question in asked]
    return [
        {"title": one.tell(title_of(question.metric, question.attribute)), "privacy": _privacy_view(question, one)}
        for question, one in own
    ]


def _odds(loss: float | Fraction | None, key: str, voice: Voice) -> Markup:
    rows = [
        (voice.tell(Sentence.of("odds.before", number=round(100 * before))), before, *odds_after(loss, before))
        for before in _BELIEFS
    ]
    low, high = odds_after(loss, 0.5)
    said = Sentence.of(key, low=math.floor(100 * low), high=math.ceil(100 * high))
    return odds_figure(rows, description=said, voice=voice)


def progress_view(question: Question, far: Progress, voice: Voice = PLAIN) -> ProgressView:
    """Return how far a question has come."""
    unit, looks = unit_of(question.metric), far.looks
    million = None if far.needed is None else unit.of(far.error * math.sqrt(far.needed / MILLION), "±")
    error = unit.of(far.error, "±")
    if len(planned(question.attribute)) > 1:  # the aim is for the worst of several comparisons
        error = Sentence.of("progress.every", error=error)
    sentence = if_alike(question, progress_sentence(far.answers, far.needed, error, million))
    bar = None
    if far.needed is not None:
        bar = progress_figure(far.answers / far.needed, description=sentence, voice=voice)
    shrinking = None
    if len(looks) > 1:
        drawn = [Look(look.answers, look.interval.shown.scaled(unit.factor)) for look in looks]
        first, last = (_width(look.interval.shown, unit) for look in (looks[0], looks[-1]))
        shrinking = shrinking_figure(
            drawn,
            needed=far.needed,
            error=far.error * unit.factor,
            description=Sentence.of(
                "progress.shrank", first=first, before=looks[0].answers, last=last, answers=looks[-1].answers
            ),
            voice=voice,
        )
    return ProgressView(voice.tell(title_of(question.metric, question.attribute)), voice.tell(sentence), bar, shrinking)


def views(study: Study, estimate: Estimate, *, over: bool = False, voice: Voice = PLAIN) -> list[QuestionView]:
    """Return what to show of every question of a study, in a language.

    A plain voice keeps to the study's own names; pages and reports call things what the study does there.
    """
    return [
        question_view(question, found, estimate, over=over, voice=naming(study, question, voice))
        for question, found in zip(study.questions, estimate.questions, strict=True)
    ]


def naming(study: Study, question: Question, voice: Voice) -> Voice:
    """Return a voice that calls what a question is about what the study calls it; a plain one keeps to its words."""
    return voice if voice is PLAIN else speaking_of(study, question.attribute, voice)


def _told(said: str | None, voice: Voice) -> str | None:
    return None if said is None else voice.tell(said)


def _numbers(question: Question, found: QuestionEstimate, voice: Voice) -> list[Number]:
    gaps, level, alone = unit_of(question.metric), level_of(question.metric), Unit(1, "")
    rows = [(minus(a, b), gap, gaps) for (a, b), gap in shown_gaps(found)]
    rows += [(group, mean, level) for group, mean in (found.margins | found.means).items()]
    if found.overall is not None:
        rows.append((Sentence.of("table.everyone"), found.overall, level))
    if found.impact_ratio is not None:
        rows.append((Sentence.of("table.ratio"), found.impact_ratio, alone))
    rows += [(Sentence.of("table.share", group=group), share, alone) for group, share in found.shares.items()]
    if found.answered is not None:
        rows.append((Sentence.of("table.answered"), found.answered, alone))
    rows += [
        (Sentence.of("table.response", first=a, second=b), ratio, alone) for (a, b), ratio in shown_response(found)
    ]
    return [_number(*row, voice) for row in rows]


def _number(name: str, interval: Interval, unit: Unit, voice: Voice) -> Number:
    places, shown, numeral = unit.places(interval), interval.shown, voice.numeral
    return Number(
        voice.tell(name),
        numeral(unit.near(shown.estimate, places)) + mark(shown.estimate, interval.estimate),
        numeral(unit.down(shown.low, places)) + mark(shown.low, interval.low),
        numeral(unit.up(shown.high, places)) + mark(shown.high, interval.high),
        voice.tell(unit.name),
        interval,
    )


def _gaps(
    question: Question, found: QuestionEstimate, tolerance: float | None, sure: str, voice: Voice
) -> Markup | None:
    if not found.gaps:
        return None
    unit = unit_of(question.metric)
    main, said = found.headline, [Sentence.of("picture.told-gap", metric=Label(question.metric.name))]
    if main.groups is not None and main.interval is not None:
        first, second = main.groups
        said.append(Sentence.of("picture.told-pair", first=first, second=second, range=_said(main.interval, unit)))
    return interval_figure(
        _bars(gap_panels(question, found), unit, unit.factor, voice),
        marks=Marks(zero=True, tolerance=None if tolerance is None else tolerance * unit.factor),
        description=f"{voice.tell(Sentence.together(said))} {voice.tell(sure)}.",
        voice=voice,
    )


def _means(question: Question, found: QuestionEstimate, sure: str, voice: Voice) -> Markup | None:
    if not found.means:
        return None
    bars = _bars(mean_panels(question, found), level_of(question.metric), 1.0, voice)
    each = "; ".join(f"{bar.label} {bar.said}".strip() for bar in bars)
    said = voice.say("picture.told-means", metric=voice.tell(Label(question.metric.name)), means=each)
    return interval_figure(bars, description=f"{said} {voice.tell(sure)}.", voice=voice)


def _held(meaning: Meaning) -> list[str]:
    """Return what is to be said of many gaps."""
    said = (meaning.together(), left_out_sentence(meaning.found))
    return [one for one in said if one is not None]


def _bars(panels: Sequence[Panel], unit: Unit, factor: float, voice: Voice) -> list[Bar]:
    """Return the rows of panels below each other, against one axis."""
    bars: list[Bar] = []
    for panel in panels:
        bars += [] if panel.title is None else [Bar(voice.named(panel.title), None, "")]
        bars += [
            Bar(voice.named(name), each.shown.scaled(factor), voice.tell(_said(each, unit)))
            for name, each in panel.rows
        ]
    return bars


def _moves(question: Question, found: QuestionEstimate, voice: Voice) -> Markup | None:
    gap, moves = found.headline.interval, found.sensitivity
    if gap is None or moves is None:
        return None
    unit = unit_of(question.metric)
    # Of several gaps each of these is about the one that it moves most, and so is the interval: the widest.
    sizes = [(Sentence.of("report.move-interval"), max(each.high - each.low for each in found.gaps.values()) / 2)]
    if moves.share_error is not None:
        sizes.append((Sentence.of("report.move-shares", size=Numeral("0.01")), moves.share_error))
    if moves.forged is not None:  # at most from one end of what a gap can be to the other
        forged = min(moves.forged, 4 * question.metric.scale)
        sizes.append((Sentence.of("report.move-forged", part=part_of_hundred(0.01)), forged))
    bars = [(voice.tell(label), size * unit.factor, voice.tell(unit.most(size, "±"))) for label, size in sizes]
    said = "; ".join(f"{label} {size}" for label, _, size in bars)
    return moves_figure(bars, description=voice.say("report.moves", what=_moved(found, voice), moves=said), voice=voice)


def _tipping(question: Question, found: QuestionEstimate, voice: Voice) -> Markup | None:
    """Draw the headline's gap with odds of answering that differ: not at all, to half of what turns it, more."""
    gap, turns = found.headline.interval, found.tipping
    if gap is None or turns is None:
        return None
    unit, bars = unit_of(question.metric), []
    for factor in (1.0, (1 + turns) / 2, turns, 2 * turns - 1):
        told = gap_bounds(gap, factor)
        label = "report.as-measured" if factor == 1 else "report.factor"
        parts = {} if factor == 1 else {"factor": factor_down(factor)}
        said = voice.tell(_said(told, unit))
        bars.append(Bar(voice.tell(Sentence.of(label, **parts)), told.scaled(unit.factor), said))
    each = "; ".join(f"{bar.label} {bar.said}" for bar in bars)
    description = voice.say("report.if-differ", said=each)
    return interval_figure(bars, marks=Marks(zero=True), description=description, voice=voice)


def _moved(found: QuestionEstimate, voice: Voice) -> str:
    return voice.say("report.off-gap" if len(found.gaps) == 1 else "report.off-gaps")


def _said(interval: Interval, unit: Unit) -> str:
    places, shown = unit.places(interval), interval.shown
    return Sentence.of("picture.range", low=unit.down(shown.low, places), high=unit.up(shown.high, places))


def _width(interval: Interval, unit: Unit) -> str:
    half = (interval.high - interval.low) / 2
    return unit.after("±" + unit.up(half, places_for(half * unit.factor)))
