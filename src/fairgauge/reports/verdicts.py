"""What an estimate means, in plain sentences: the same ones on the command line, on the pages and in the report.

What pages show is in the catalogue (``fairgauge.languages``), so that they can say it in other languages too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairgauge.estimation import Estimate, Interval, QuestionEstimate
from fairgauge.estimation.honesty import IMPOSSIBLE, SUSPICIOUS
from fairgauge.estimation.result import Kind
from fairgauge.languages import PLAIN, Label, Numeral, Sentence
from fairgauge.reports.display import display_of
from fairgauge.reports.non_response import response_sentences, tipping_sentences
from fairgauge.reports.units import MOST_PLACES, Unit, own_unit_sentences, part_of_hundred, unit_of
from fairgauge.study import Metric, Question
from fairgauge.study.attribute import ANY


@dataclass(frozen=True)
class Verdict:
    """The line that people remember, and which kind of headline it is (``fairgauge.estimation.Headline``)."""

    kind: Kind
    text: str

    def __str__(self) -> str:
        return self.text


def verdict(question: Question, found: QuestionEstimate, *, confidence: float, over: bool = False) -> Verdict:
    """Return what the answers say about the gap.

    Args:
        question: What was asked.
        found: What was estimated.
        confidence: Of the intervals.
        over: Whether the study is closed, so that no more answers will come.
    """
    name, main = Label(question.metric.name), found.headline
    still = "-over" if over else ""
    if found.answers == 0:
        return Verdict(main.kind, Sentence.of(display_of(question.mechanism).none(still)))
    if found.fit is not None and found.fit < IMPOSSIBLE:
        return Verdict(main.kind, Sentence.of("verdict.impossible", metric=name))
    if main.interval is None or main.groups is None:
        return Verdict(main.kind, Sentence.of("verdict.untold", metric=name))
    unit, interval, (first, second) = unit_of(question.metric), main.interval.shown, main.groups
    about = {"metric": name, "first": first, "second": second}
    if main.kind == "early":
        return Verdict("early", Sentence.of(f"verdict.early{still}", **about))
    about["sure"] = part_of_hundred(confidence)
    if main.kind == "open":
        places = unit.places(interval)
        low, high = (unit.after(unit.up(size, places)) for size in (-interval.low, interval.high))
        text = Sentence.of(f"verdict.open{still}", low=low, high=high, **about)
        return Verdict("open", if_alike(question, text, main.groups))
    direction = Sentence.of(f"direction.{_direction(question.metric, interval)}")
    said = [
        if_alike(
            question,
            Sentence.of("verdict.clear", size=_size(interval, unit), direction=direction, **about),
            main.groups,
        )
    ]
    if main.largest and len(found.gaps) > 1:
        said.append(Sentence.of("verdict.largest-compared" if question.attribute.comparisons else "verdict.largest"))
    return Verdict("clear", Sentence.together(said))


def if_alike(question: Question, said: str, sides: tuple[str, ...] | None = None) -> str:
    """Return a sentence with its condition, where its numbers rest on how often groups answered: IF, in capitals.

    They do where they come from shares that were stated, and where a side of a gap is several groups, who count as they
    answered.  Where a ratio was stated, it is that.

    Args:
        question: What was asked.
        said: The sentence.
        sides: The sides of the gap that it is about.
    """
    how_many = "both" if len(question.attribute.groups) == 2 else "all"
    if question.rests_on_answering(*(sides or ())):
        return Sentence.of(f"verdict.if-{how_many}", said=said)
    if not question.whoever_answers or question.attribute.answering == ANY:
        return said
    return Sentence.of(f"verdict.if-ratio-{how_many}", said=said, ratio=Numeral(question.attribute.answering))


def together_sentence(question: Question, found: QuestionEstimate, *, confidence: float) -> str | None:
    """Return that several gaps hold together; None where there is one."""
    if len(found.gaps) < 2:
        return None
    sure = part_of_hundred(confidence)
    said = Sentence.of("verdict.together", count=len(found.gaps), sure=sure)
    if found.p_values:
        said = Sentence.together([said, Sentence.of("verdict.p-values")])
    return if_alike(question, said, tuple(side for pair in found.gaps for side in pair))


def _direction(metric: Metric, gap: Interval) -> str:
    """Return the key of where a gap that is clear goes, and what that means where less is better."""
    higher = gap.low > 0
    if metric.better is None:
        return "higher" if higher else "lower"
    return "higher-worse" if higher else "lower-better"


def _size(interval: Interval, unit: Unit) -> str:
    """Return the size of a gap that is clear: its near edge rounded down, its far edge up.

    A near edge that is next to nothing beside the interval's width is not told: its digits would be no news.
    """
    places = unit.places(interval)
    near, far = sorted((abs(interval.low), abs(interval.high)))
    for digits in range(places, min(places + 1, MOST_PLACES) + 1):
        if near * unit.factor >= 10.0**-digits:
            return Sentence.of("size.between", near=unit.down(near, digits), far=unit.after(unit.up(far, digits)))
    return Sentence.of("size.up-to", far=unit.after(unit.up(far, places)))


def tolerance_sentence(question: Question, found: QuestionEstimate, tolerance: float) -> str | None:
    """Return how the gap compares with the largest that would be acceptable."""
    gap = found.headline.interval
    if gap is None:
        return None
    low, high = gap.low, gap.high
    within = unit_of(question.metric).of(tolerance, "±")
    sides = found.headline.groups
    if -tolerance <= low and high <= tolerance:
        return if_alike(question, Sentence.of("tolerance.within", within=within), sides)
    if low > tolerance or high < -tolerance:
        return if_alike(question, Sentence.of("tolerance.beyond", within=within), sides)
    return Sentence.of("tolerance.open", within=within)


def stated_sentences(question: Question, found: QuestionEstimate) -> list[str]:
    """Return what is read with the verdict: what bare numbers are in, and what the gap owes to stated shares."""
    numbers = found.headline.interval is not None
    return (own_unit_sentences(question.metric) if numbers else []) + share_sentences(question, found)


def share_sentences(question: Question, found: QuestionEstimate) -> list[str]:
    """Return what the gap owes to the shares that were stated: to be read with the verdict, not after it."""
    moves, attribute, unit = found.sensitivity, question.attribute, unit_of(question.metric)
    if moves is None or moves.share_error is None:
        return []
    said: list[str] = []
    if attribute.share_source is not None:
        said.append(Sentence.of("shares.source", source=attribute.share_source.rstrip(".")))
    key = "shares.wrong"
    if attribute.share_error is not None:
        said.append(Sentence.of("shares.allowed", error=Numeral(attribute.share_error)))
        key = "shares.wrong-more"
    said.append(Sentence.of(key, size=Numeral("0.01"), gap=_which(moves.share_gap), far=unit.most(moves.share_error)))
    return said


def answering_sentences(question: Question, found: QuestionEstimate) -> list[str]:
    """Return how often groups answered beside each other, and what it would take within a group to turn the sign."""
    turns = tipping_sentences(question, found)
    return response_sentences(question, found) + [if_alike(question, said, found.headline.groups) for said in turns]


def forging_sentence(question: Question, found: QuestionEstimate) -> str | None:
    """Return how far forged answers could move the gap, which no interval covers."""
    moves, unit = found.sensitivity, unit_of(question.metric)
    if moves is None:
        return None
    far = Sentence.of("shares.no-limit")
    if moves.forged is not None:
        # No gap is larger than the metric's range, however far the bound goes on.
        largest = 2 * question.metric.scale
        cut = moves.forged > largest
        far = Sentence.of("shares.all" if cut else "shares.up-to", size=unit.most(min(moves.forged, largest)))
    return Sentence.of("shares.forged", part=part_of_hundred(0.01), gap=_which(moves.forged_gap), far=far)


def _which(pair: tuple[str, str] | None) -> str:
    if pair is None:
        return Sentence.of("shares.gap")
    return Sentence.of("shares.gap-between", first=pair[0], second=pair[1])


_FOUR_FIFTHS = 0.8


def ratio_sentence(question: Question, found: QuestionEstimate) -> str | None:
    """Return the impact ratio in words, and whether four fifths can be told; None where no ratio is told."""
    if found.impact_ratio is None:
        return None
    number = Unit(1, "")
    places = number.places(found.impact_ratio)
    low, high = number.down(found.impact_ratio.shown.low, places), number.up(found.impact_ratio.shown.high, places)
    between = Sentence.of("ratio.between", metric=Label(question.metric.name), low=low, high=high)
    if question.metric.better is not None:
        return if_alike(question, between)  # four fifths are about what one wants to have
    told = "ratio.untold"
    if found.impact_ratio.low >= _FOUR_FIFTHS:
        told = "ratio.more"
    elif found.impact_ratio.high < _FOUR_FIFTHS:
        told = "ratio.less"
    return if_alike(question, Sentence.together([between, Sentence.of(told)]))


def fit_sentence(found: QuestionEstimate) -> str:
    """Return whether the check of honesty sees a sign of forging; what it does not see may be there."""
    if found.fit is None:
        return Sentence.of("fit.nothing")
    return Sentence.of("fit.bad" if found.fit < SUSPICIOUS else "fit.good", p=Numeral(f"{found.fit:.2g}"))


def odds_after(loss: float | Fraction | None, before: float) -> tuple[float, float]:
    """Return the least and the most that somebody can believe after an answer, who believed ``before``.

    Args:
        loss: By which factor an answer can change odds at most; None if there is no limit.
        before: What somebody believed.
    """
    if loss is None:
        return 0.0, 1.0
    factor = float(loss)
    return before / (before + factor * (1 - before)), before * factor / (before * factor + 1 - before)


_MANY = 10**7
MILLION = 10**6


def progress_sentence(answers: int, needed: int | None, error: str, million: str | None = None) -> str:
    """Return how far a study has come toward its aim.

    Args:
        answers: How many answers there are.
        needed: How many the aim takes, if any number does.
        error: The aim, as people say it.
        million: The error that a million answers would give, as people say it.

    >>> progress_sentence(412_000, 1_000_000, "±1 point")
    '412,000 of about 1,000,000 answers needed for ±1 point.'
    >>> progress_sentence(0, 410_000_000, "±0.1 points", "±2 points").partition(": ")[0]
    'No answers yet. ±0.1 points would take about 410,000,000 answers, more than most studies get'
    """
    there: str = Sentence.of("study.answers", count=answers)
    if needed is None:
        return Sentence.of("progress.never", answers=there, error=error)
    about = _rounded(needed)
    if answers >= needed:
        return Sentence.of("progress.done", answers=there, needed=about, error=error)
    if needed > _MANY and million is not None:
        there = there if answers else Sentence.of("progress.none")
        return Sentence.of("progress.far", answers=there, needed=about, error=error, million=million)
    return Sentence.of("progress.some", answers=answers, needed=about, error=error)


def _rounded(count: int) -> int:
    """Return a count to two digits, rounded up: a plan knows no more.

    >>> _rounded(1_234_567), _rounded(87)
    (1300000, 87)
    """
    step: int = 10 ** max(0, len(str(count)) - 2)
    return -(-count // step) * step


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> listed(["young", "middle", "old"])
    'young, middle and old'
    """
    return PLAIN.listed(names)


def sentences(question: Question, found: QuestionEstimate, estimate: Estimate) -> list[str]:
    """Return everything that an estimate says about a question, the verdict first."""
    said = [verdict(question, found, confidence=estimate.confidence, over=True).text]
    main = found.headline
    if main.interval is None:
        return said if found.answers and not found.warnings else []
    said += stated_sentences(question, found)
    said += answering_sentences(question, found)
    if estimate.tolerance is not None:
        compared = tolerance_sentence(question, found, estimate.tolerance)
        said += [] if compared is None else [compared]
        if main.p_value is not None:
            p_value = f"That the gap is within ±{estimate.tolerance:g} has p-value {main.p_value:.2g}."
            said.append(if_alike(question, p_value, main.groups))
    more = (
        together_sentence(question, found, confidence=estimate.confidence),
        ratio_sentence(question, found),
        forging_sentence(question, found),
    )
    return said + [sentence for sentence in more if sentence is not None]
