"""What an estimate means, in plain sentences: the same ones on the command line, on the pages and in the report."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairgauge.estimation import Estimate, Interval, QuestionEstimate
from fairgauge.estimation.fit import SUSPICIOUS
from fairgauge.estimation.headline import Kind
from fairgauge.reports.units import MOST_PLACES, Unit, part_of_hundred, unit_of
from fairgauge.study import Question
from fairgauge.study.site import SiteMetric

Asked = Question | SiteMetric


@dataclass(frozen=True)
class Verdict:
    """The line that people remember, and which kind of headline it is (``fairgauge.estimation.Headline``)."""

    kind: Kind
    text: str

    def __str__(self) -> str:
        return self.text


def question_sentence(question: Asked) -> str:
    """Return what a question asks."""
    if question.attribute.cross:
        by = listed([factor.name for factor in question.attribute.cross])
        return f"Does the model's {question.metric.name} differ by {by} ({len(question.attribute.groups)} cells)?"
    return f"Does the model's {question.metric.name} differ between {listed(question.attribute.groups)}?"


def verdict(question: Asked, found: QuestionEstimate, *, confidence: float, over: bool = False) -> Verdict:
    """Return what the answers say about the gap.

    Args:
        question: What was asked.
        found: What was estimated.
        confidence: Of the intervals.
        over: Whether the study is closed, so that no more answers will come.
    """
    name, main = question.metric.name, found.headline
    if found.answers == 0:
        return Verdict(main.kind, "There were no answers." if over else "There are no answers yet.")
    if main.interval is None or main.groups is None:
        return Verdict(main.kind, f"These answers cannot tell whether the model's {name} differs between groups.")
    unit, interval, (first, second) = unit_of(question.metric), main.interval.shown, main.groups
    if main.kind == "early":
        still = "Too few answers came" if over else "It is too early"
        return Verdict("early", f"{still} to tell whether the model's {name} differs between {first} and {second}.")
    sure = f"({part_of_hundred(confidence)} confidence)"
    if main.kind == "open":
        yet = "do not tell" if over else "do not tell yet"
        low, high = (unit.after(edge) for edge in edges(interval, unit))
        return Verdict(
            "open",
            f"The answers {yet} for whom the model's {name} is higher: "
            f"for {first} it is between {low} lower and {high} higher than for {second} {sure}.",
        )
    word = "higher" if interval.low > 0 else "lower"
    near, far = edges(interval, unit)
    largest = ""
    if main.largest and len(found.gaps) > 1:
        of = "that were to be compared" if question.attribute.comparisons is not None else ""
        largest = f" That is the largest gap {of}".rstrip() + "."
    return Verdict(
        "clear",
        f"The model's {name} is between {near} and {unit.after(far)} {word} for {first} than for {second} {sure}."
        + largest,
    )


def together_sentence(found: QuestionEstimate, *, confidence: float) -> str | None:
    """Return that several gaps hold together; None where there is one."""
    if len(found.gaps) < 2:
        return None
    sure = part_of_hundred(confidence)
    said = f"The {len(found.gaps)} gaps hold together with {sure} confidence, every mean by itself."
    return f"{said} The p-values hold together too." if found.p_values else said


def edges(interval: Interval, unit: Unit) -> tuple[str, str]:
    """Return the sizes of an interval's edges, rounded so that what is said is no more than what is known.

    If the interval excludes zero: the near edge rounded down, with as many digits as it needs to stay above zero, and
    the far edge rounded up.  Else how far it reaches below and above zero, both rounded up.
    """
    places = unit.places(interval)
    if interval.low <= 0 <= interval.high:
        return unit.up(-interval.low, places), unit.up(interval.high, places)
    near, far = sorted((abs(interval.low), abs(interval.high)))
    while places < MOST_PLACES and float(unit.down(near, places).replace(",", "")) == 0:
        places += 1
    return unit.down(near, places), unit.up(far, places)


def tolerance_sentence(question: Asked, found: QuestionEstimate, tolerance: float) -> str | None:
    """Return how the gap compares with the largest that would be acceptable."""
    gap = found.headline.interval
    if gap is None:
        return None
    low, high, within = gap.low, gap.high, f"±{unit_of(question.metric).of(tolerance)}"
    if -tolerance <= low and high <= tolerance:
        return f"The gap is within the tolerance of {within}."
    if low > tolerance or high < -tolerance:
        return f"The gap is beyond the tolerance of {within}."
    return f"Whether the gap is within the tolerance of {within} cannot be told from these answers."


def share_sentences(question: Asked, found: QuestionEstimate) -> list[str]:
    """Return what the gap owes to the shares that were stated: to be read with the verdict, not after it."""
    moves, attribute, unit = found.sensitivity, question.attribute, unit_of(question.metric)
    if moves is None or moves.share_error is None:
        return []
    said = []
    if attribute.share_source is not None:
        said.append(f"The shares come from: {attribute.share_source.rstrip('.')}.")
    more = ""
    if attribute.share_error is not None:
        said.append(f"The interval allows each share to be wrong by {attribute.share_error}.")
        more = " beyond that"
    most = "up to " if moves.share_error_is_bound else ""
    far = "without limit" if moves.share_error == math.inf else f"by {most}{unit.of(moves.share_error)}"
    said.append(f"A share that is wrong by 0.01{more} would move {_which(moves.share_gap)} {far}.")
    return said


def forging_sentence(question: Asked, found: QuestionEstimate) -> str | None:
    """Return how far forged answers could move the gap, which no interval covers."""
    moves, unit = found.sensitivity, unit_of(question.metric)
    if moves is None:
        return None
    limit = "without limit" if moves.forged is None else f"by up to {unit.of(moves.forged)}"
    return f"Forging 1 % of the answers could move {_which(moves.forged_gap)} {limit}."


def _which(pair: tuple[str, str] | None) -> str:
    return "the gap" if pair is None else f"the gap between {pair[0]} and {pair[1]}"


FOUR_FIFTHS = 0.8
NO_RATIO = (
    "Impact ratio: these answers do not tell it. It takes each group's mean, clearly above zero; a study tells those "
    "that is made with the target means."
)


NO_SITE_RATIO = (
    "Impact ratio: these counts do not tell it. It takes a rate of each group, such as the selection rate, clearly "
    "above zero."
)


def ratio_sentence(question: Asked, found: QuestionEstimate) -> str | None:
    """Return the impact ratio in words, and whether four fifths can be told; None where no ratio is told."""
    if found.impact_ratio is None:
        return None
    number = Unit(1, "")
    places = number.places(found.impact_ratio)
    low, high = number.down(found.impact_ratio.shown.low, places), number.up(found.impact_ratio.shown.high, places)
    if found.impact_ratio.low >= FOUR_FIFTHS:
        told = "That is four fifths or more."
    elif found.impact_ratio.high < FOUR_FIFTHS:
        told = "That is less than four fifths."
    else:
        told = "Whether it is four fifths or more cannot be told from these answers."
    name = question.metric.name
    return f"Impact ratio: the lowest group's {name} is between {low} and {high} of the highest group's. {told}"


def fit_sentence(found: QuestionEstimate) -> str:
    """Return whether the check of honesty sees a sign of forging; what it does not see may be there."""
    if found.fit is None:
        return "There is nothing to check yet."
    if found.fit < SUSPICIOUS:
        return f"There are signs of forging: honest answers seldom give such counts (p = {found.fit:.2g})."
    return f"No sign of forging that this check can see (p = {found.fit:.2g})."


def privacy_sentence(question: Question) -> str:
    """Return what a question's privacy means to a person."""
    epsilon = question.channel.epsilon
    if math.isinf(epsilon):
        return "an answer can rule out some groups or values for certain: there is no privacy in it"
    about = listed([f"your {name}" for name in (*(f.name for f in question.attribute.factors), question.metric.name)])
    factor = f"at most a factor {math.ceil(math.exp(epsilon) * 100) / 100:.2f}"
    return f"whoever sees your answer can change their odds about {about} by {factor}"


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


MANY = 10**7
MILLION = 10**6


def progress_sentence(answers: int, needed: int | None, error: str, million: str | None = None) -> str:
    """Return how far a study has come toward its aim.

    Args:
        answers: How many answers there are.
        needed: How many the aim takes, if any number does.
        error: The aim, as people say it.
        million: The error that a million answers would give, as people say it.

    >>> progress_sentence(412_000, 1_000_000, "1 point")
    '412,000 of about 1,000,000 answers needed for ±1 point.'
    >>> progress_sentence(0, 410_000_000, "0.1 points", "2 points").partition(": ")[0]
    'No answers yet. ±0.1 points would take about 410,000,000 answers, more than most studies get'
    """
    if needed is None:
        return f"{_answers(answers)}. No number of answers would give the gap to ±{error}."
    if answers >= needed:
        return f"{_answers(answers)}: more than the {rounded(needed):,} or so needed for ±{error}."
    if needed > MANY and million is not None:
        there = "No answers yet" if answers == 0 else _answers(answers)
        return (
            f"{there}. ±{error} would take about {rounded(needed):,} answers, more than most studies get: a million "
            f"would give ±{million}. Aim at that, or make a study with a larger epsilon."
        )
    return f"{answers:,} of about {rounded(needed):,} answers needed for ±{error}."


def rounded(count: int) -> int:
    """Return a count to two digits, rounded up: a plan knows no more.

    >>> rounded(1_234_567), rounded(87)
    (1300000, 87)
    """
    step: int = 10 ** max(0, len(str(count)) - 2)
    return -(-count // step) * step


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> listed(["young", "middle", "old"])
    'young, middle and old'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def sentences(question: Asked, found: QuestionEstimate, estimate: Estimate) -> list[str]:
    """Return everything that an estimate says about a question, the verdict first."""
    said = [verdict(question, found, confidence=estimate.confidence, over=True).text]
    main = found.headline
    if main.interval is None:
        return said if found.answers and not found.warnings else []
    said += share_sentences(question, found)
    if estimate.tolerance is not None:
        compared = tolerance_sentence(question, found, estimate.tolerance)
        said += [] if compared is None else [compared]
        if main.p_value is not None:
            said.append(f"That the gap is within ±{estimate.tolerance:g} has p-value {main.p_value:.2g}.")
    more = (
        together_sentence(found, confidence=estimate.confidence),
        ratio_sentence(question, found),
        forging_sentence(question, found),
    )
    return said + [sentence for sentence in more if sentence is not None]


def _answers(count: int) -> str:
    return "1 answer" if count == 1 else f"{count:,} answers"
