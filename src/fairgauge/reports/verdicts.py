"""What an estimate means, in plain sentences: the same ones on the command line, on the pages and in the report.

What pages show is in the catalogue (``fairgauge.languages``), so that they can say it in other languages too.
"""

from dataclasses import dataclass
from fractions import Fraction

from fairgauge.estimation import Interval, QuestionEstimate
from fairgauge.estimation.honesty import IMPOSSIBLE, SUSPICIOUS
from fairgauge.estimation.result import Kind
from fairgauge.languages import Label, Numeral, Sentence
from fairgauge.reports.display import display_of
from fairgauge.reports.non_response import response_sentences, tipping_sentences
from fairgauge.reports.units import MOST_PLACES, Unit, own_unit_sentences, part_of_hundred, unit_of
from fairgauge.study import Metric, Question
from fairgauge.study.attribute import ANY

MILLION = 10**6
_MANY = 10**7
_FOUR_FIFTHS = 0.8


@dataclass(frozen=True)
class Verdict:
    """The line that people remember, and which kind of headline it is (``fairgauge.estimation.Headline``)."""

    kind: Kind
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Meaning:
    """What the estimate of one question means.

    Args:
        question: What was asked.
        found: What was estimated.
        confidence: Of the intervals.
        tolerance: The largest gap that would be acceptable, if one was named.
    """

    question: Question
    found: QuestionEstimate
    confidence: float
    tolerance: float | None = None

    def verdict(self, *, over: bool = False) -> Verdict:
        """Return what the answers say about the gap.

        Args:
            over: Whether the study is closed, so that no more answers will come.
        """
        name, main = Label(self.question.metric.name), self.found.headline
        still = "-over" if over else ""
        if self.found.answers == 0:
            return Verdict(main.kind, Sentence.of(display_of(self.question.mechanism).none(still)))
        if self.found.fit is not None and self.found.fit < IMPOSSIBLE:
            return Verdict(main.kind, Sentence.of("verdict.impossible", metric=name))
        if main.interval is None or main.groups is None:
            return Verdict(main.kind, Sentence.of("verdict.untold", metric=name))
        unit, interval, (first, second) = unit_of(self.question.metric), main.interval.shown, main.groups
        about = {"metric": name, "first": first, "second": second}
        if main.kind == "early":
            return Verdict("early", Sentence.of(f"verdict.early{still}", **about))
        about["sure"] = part_of_hundred(self.confidence)
        if main.kind == "open":
            places = unit.places(interval)
            low, high = (unit.after(unit.up(size, places)) for size in (-interval.low, interval.high))
            text = Sentence.of(f"verdict.open{still}", low=low, high=high, **about)
            return Verdict("open", self._if_alike(text))
        about["direction"] = Sentence.of(f"direction.{_direction(self.question.metric, interval)}")
        said = [self._if_alike(Sentence.of("verdict.clear", size=_size(interval, unit), **about))]
        if main.largest and len(self.found.gaps) > 1:
            compared = self.question.attribute.comparisons
            said.append(Sentence.of("verdict.largest-compared" if compared else "verdict.largest"))
        return Verdict("clear", Sentence.together(said))

    def together(self) -> str | None:
        """Return that several gaps hold together; None where there is one."""
        if len(self.found.gaps) < 2:
            return None
        sure = part_of_hundred(self.confidence)
        said = Sentence.of("verdict.together", count=len(self.found.gaps), sure=sure)
        if self.found.p_values:
            said = Sentence.together([said, Sentence.of("verdict.p-values")])
        return if_alike(self.question, said, tuple(side for pair in self.found.gaps for side in pair))

    def against_tolerance(self) -> str | None:
        """Return how the gap compares with the largest that would be acceptable; None where there is no such."""
        gap, tolerance = self.found.headline.interval, self.tolerance
        if gap is None or tolerance is None:
            return None
        low, high = gap.low, gap.high
        within = unit_of(self.question.metric).of(tolerance, "±")
        if -tolerance <= low and high <= tolerance:
            return self._if_alike(Sentence.of("tolerance.within", within=within))
        if low > tolerance or high < -tolerance:
            return self._if_alike(Sentence.of("tolerance.beyond", within=within))
        return Sentence.of("tolerance.open", within=within)

    def stated(self) -> list[str]:
        """Return what is read with the verdict: what bare numbers are in, and what the gap owes to stated shares."""
        numbers = self.found.headline.interval is not None
        return (own_unit_sentences(self.question.metric) if numbers else []) + self._shares()

    def _shares(self) -> list[str]:
        """Return what the gap owes to the shares that were stated: to be read with the verdict, not after it."""
        moves, attribute, unit = self.found.sensitivity, self.question.attribute, unit_of(self.question.metric)
        if moves is None or moves.share_error is None:
            return []
        said: list[str] = []
        if attribute.share_source is not None:
            said.append(Sentence.of("shares.source", source=attribute.share_source.rstrip(".")))
        key = "shares.wrong"
        if attribute.share_error is not None:
            said.append(Sentence.of("shares.allowed", error=Numeral(attribute.share_error)))
            key = "shares.wrong-more"
        said.append(
            Sentence.of(key, size=Numeral("0.01"), gap=_which(moves.share_gap), far=unit.most(moves.share_error))
        )
        return said

    def answering(self) -> list[str]:
        """Return how often groups answered beside each other, and what it would take in a group to turn the sign."""
        turns = [self._if_alike(said) for said in tipping_sentences(self.question, self.found)]
        return response_sentences(self.question, self.found) + turns

    def forging(self) -> str | None:
        """Return how far forged answers could move the gap, which no interval covers."""
        moves, unit = self.found.sensitivity, unit_of(self.question.metric)
        if moves is None:
            return None
        far = Sentence.of("shares.no-limit")
        if moves.forged is not None:
            # No gap is larger than the metric's range, however far the bound goes on.
            largest = 2 * self.question.metric.scale
            cut = moves.forged > largest
            far = Sentence.of("shares.all" if cut else "shares.up-to", size=unit.most(min(moves.forged, largest)))
        return Sentence.of("shares.forged", part=part_of_hundred(0.01), gap=_which(moves.forged_gap), far=far)

    def ratio(self) -> str | None:
        """Return the impact ratio in words, and whether four fifths can be told; None where no ratio is told."""
        ratio, number = self.found.impact_ratio, Unit(1, "")
        if ratio is None:
            return None
        places = number.places(ratio)
        low, high = number.down(ratio.shown.low, places), number.up(ratio.shown.high, places)
        between = Sentence.of("ratio.between", metric=Label(self.question.metric.name), low=low, high=high)
        if self.question.metric.better is not None:
            return if_alike(self.question, between)  # four fifths are about what one wants to have
        told = "ratio.untold"
        if ratio.low >= _FOUR_FIFTHS:
            told = "ratio.more"
        elif ratio.high < _FOUR_FIFTHS:
            told = "ratio.less"
        return if_alike(self.question, Sentence.together([between, Sentence.of(told)]))

    def fit(self) -> str:
        """Return whether the check of honesty sees a sign of forging; what it does not see may be there."""
        if self.found.fit is None:
            return Sentence.of("fit.nothing")
        return Sentence.of("fit.bad" if self.found.fit < SUSPICIOUS else "fit.good", p=Numeral(f"{self.found.fit:.2g}"))

    def sentences(self) -> list[str]:
        """Return everything that an estimate says about a question, the verdict first."""
        said = [self.verdict(over=True).text]
        main = self.found.headline
        if main.interval is None:
            return said if self.found.answers and not self.found.warnings else []
        said += self.stated()
        said += self.answering()
        compared = self.against_tolerance()
        if compared is not None:
            said.append(compared)
            if main.p_value is not None:
                p_value = f"That the gap is within ±{self.tolerance:g} has p-value {main.p_value:.2g}."
                said.append(self._if_alike(p_value))
        more = (self.together(), self.ratio(), self.forging())
        return said + [sentence for sentence in more if sentence is not None]

    def _if_alike(self, said: str) -> str:
        """Return a sentence about the gap of the headline with its condition."""
        return if_alike(self.question, said, self.found.headline.groups)


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


def _which(pair: tuple[str, str] | None) -> str:
    if pair is None:
        return Sentence.of("shares.gap")
    return Sentence.of("shares.gap-between", first=pair[0], second=pair[1])


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
