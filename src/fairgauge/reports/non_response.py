"""Who answered, in words: how often groups did beside each other, and what those who did not could change."""

from collections.abc import Iterable
from decimal import ROUND_FLOOR, Decimal

from fairgauge.estimation import Interval, QuestionEstimate
from fairgauge.estimation.tipping import tipping_factor
from fairgauge.languages import Numeral, Sentence
from fairgauge.reports.units import MOST_PLACES, Unit, part_of_hundred
from fairgauge.study import Attribute, Question
from fairgauge.study.attribute import ANY
from fairgauge.study.margins import planned, side_name
from fairgauge.study.question import ANY_VALUES


def any_sentence(asked: Iterable[tuple[Question, QuestionEstimate]]) -> str | None:
    """Return on what gaps rest where groups need not have answered equally often; None where there is none.

    To be said once, and not beside every number.
    """
    ratios = dict.fromkeys(question.attribute.answering for question, found in asked if _whoever(question, found))
    said = [
        Sentence.of("response.any") if r == ANY else Sentence.of("response.within", ratio=Numeral(r)) for r in ratios
    ]
    return Sentence.together(said) if len(said) > 1 else next(iter(said), None)


def _whoever(question: Question, found: QuestionEstimate) -> bool:
    main, groups = found.headline, question.attribute.groups
    if not question.whoever_answers or main.groups is None:
        return False
    return main.kind in ("clear", "open") and all(side in groups for side in main.groups)


def response_sentences(question: Question, found: QuestionEstimate) -> list[str]:
    """Return how often the groups of the headline answered beside each other, where that is told."""
    main = found.headline
    ratio = None if main.groups is None else found.response.get(main.groups)
    said = [] if ratio is None or main.groups is None else [_ratio(question.attribute, main.groups, ratio)]
    return said if found.answered is None or main.groups is None else [*said, _abstained(question, found.answered)]


def _abstained(question: Question, answered: Interval) -> str:
    """Return which part of the answers says nothing, and with which part the study reckoned."""
    number, told = Unit(100, ""), answered.shown
    places = number.places(told)
    said = {"low": number.down(1 - told.high, places), "high": number.up(1 - told.low, places)}
    if question.abstaining is None:
        return Sentence.of("response.abstained", **said)
    return Sentence.of("response.abstained-reckoned", **said, part=part_of_hundred(float(question.abstaining)))


def _ratio(attribute: Attribute, pair: tuple[str, str], ratio: Interval) -> str:
    number = Unit(1, "")
    places = max(2, number.places(ratio))
    said = {"low": number.down(ratio.low, places), "high": number.up(ratio.high, places)}
    first, second = (_people(attribute, side) for side in pair)
    key = "response.ratio"
    if len(attribute.groups) > 2:
        key, said["other"] = "response.ratio-many", second
    return Sentence.as_title(key, first=pair[0], second=pair[1], part=first, **said)


def _people(attribute: Attribute, side: str) -> str:
    """Return which part of the people a side is, as the study states it."""
    groups = next(
        each for one in planned(attribute) for each in (one.of, one.against) if side_name(attribute, each) == side
    )
    shares = [
        Decimal(share) for group, share in zip(attribute.groups, attribute.shares or (), strict=True) if group in groups
    ]
    part = Sentence.of("response.half") if sum(shares) == Decimal("0.5") else part_of_hundred(float(sum(shares)))
    if attribute.share_error is None:
        return part
    off = min(len(groups), len(attribute.groups) - len(groups)) * Decimal(attribute.share_error)
    return Sentence.of("response.about", part=part, error=part_of_hundred(float(off)))


def tipping_sentences(question: Question, found: QuestionEstimate) -> list[str]:
    """Return what it would take within a group to turn the headline's sign."""
    gap, factor = found.headline.interval, found.tipping
    if gap is None or factor is None:
        return []
    said: list[str] = [Sentence.of("response.tipping", factor=factor_down(factor))]
    sharp = found.tipping_of_means
    if sharp is not None and factor_down(sharp) != factor_down(factor):
        said.append(Sentence.of("response.tipping-means", factor=factor_down(sharp)))
    if question.spread not in (None, ANY_VALUES):
        narrow = tipping_factor(gap, float(question.spread or 0))
        if narrow is not None and narrow > factor:
            spread = Numeral(question.spread or "")
            said.append(Sentence.of("response.tipping-spread", factor=factor_down(narrow), spread=spread))
    return said


def factor_down(factor: float) -> str:
    """Return a factor above 1 rounded down, with as many digits as it needs to stay above 1.

    >>> factor_down(1.0492), factor_down(1.00371), factor_down(12.999)
    ('1.04', '1.003', '12.99')
    """
    exact, places = Decimal(factor), 2
    while places < MOST_PLACES and exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_FLOOR) == 1:
        places += 1
    return Numeral(f"{exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_FLOOR):,}")
