"""What is to be asked, before there is a channel for it."""

from dataclasses import dataclass, replace

from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.goals.reckoning import USUAL_SPREAD
from fairgauge.study import ANY_VALUES, Attribute, Metric, Number, Question, Target
from fairgauge.study.checks import check_is
from fairgauge.study.numbers import exact
from fairgauge.study.question import MOST_SYMBOLS

LEAST_SYMBOLS, USUAL_SYMBOLS = 128, 400


@dataclass(frozen=True)
class Wish:
    """One metric by one attribute, and what is known beforehand; ``Goal.of`` says what serves it.

    Args:
        metric: What is measured.
        attribute: How people are grouped.
        target: ``"gap"``, which is the default, or ``"means"``.
        abstain: Whether people may prefer not to say.
        expect: The overall mean to reckon with, in the metric's units; a wrong guess costs precision, never truth.
        spread: The standard deviation about the mean to reckon with, in the metric's units; ``"max"`` for any values.
        symbols: How many symbols a channel for seven and more groups may have; 400 unless given.
        weight: How much it matters beside the other questions of its study; 1 unless given.
        abstaining: The part of people who are reckoned to abstain; a tenth unless given, where they may.

    Raises:
        InvalidInput: If something is of another type, or out of range.
    """

    metric: Metric
    attribute: Attribute
    target: str | None = None
    abstain: bool = False
    expect: Number | None = None
    spread: Number | None = None
    weight: Number | None = None
    abstaining: float | None = None
    symbols: int | None = None

    def __post_init__(self) -> None:
        _check_order(self.metric, self.attribute)
        check_is("metric", self.metric, Metric)
        check_is("attribute", self.attribute, Attribute)
        if self.target not in ("gap", "means", None):
            raise InvalidInput("target", self.target, "must be gap or means")
        if self.symbols is not None and not LEAST_SYMBOLS <= self.symbols <= MOST_SYMBOLS:
            raise InvalidInput("symbols", self.symbols, f"must be from {LEAST_SYMBOLS} to {MOST_SYMBOLS}")
        if self.abstaining is not None:
            if not self.abstain:
                raise InvalidInput("abstaining", self.abstaining, "must not be given where nobody may abstain")
            if not 0 <= self.abstaining < 1:
                raise InvalidInput("abstaining", self.abstaining, "must be from 0 to below 1")
        _ = self.expect_in_v, self.spread_in_v  # which say what is wrong

    @classmethod
    def of(cls, question: Question) -> "Wish":
        """Return the wish that a published question serves."""
        asked = cls(question.metric, question.attribute, question.target, question.channel.abstain)
        return replace(asked, expect=question.expect, spread=question.spread)

    @property
    def aim(self) -> Target:
        """The target, as typed or by default."""
        return "means" if self.target == "means" else "gap"

    @property
    def share_error(self) -> float:
        """How far each known share may be off."""
        return float(self.attribute.share_error or 0)

    @property
    def expect_in_v(self) -> float | None:
        """The mean to reckon with, from -1 to 1."""
        if self.expect is None:
            return None
        try:
            return self.metric.to_v(self.expect)
        except FairgaugeError:
            rule = f"must be from {self.metric.low} to {self.metric.high}"
            raise InvalidInput("expect", self.expect, rule) from None

    @property
    def spread_in_v(self) -> float | None:
        """The standard deviation to reckon with, from 0 to 1; None for any values."""
        if self.spread is None:
            return USUAL_SPREAD
        if self.spread == ANY_VALUES:
            return None
        number = exact(self.spread)
        if number is None or not 0 < float(number) <= self.metric.scale:
            rule = f"must be above 0 and at most {self.metric.scale:g}, or {ANY_VALUES} for any values"
            raise InvalidInput("spread", self.spread, rule)
        return float(number) / self.metric.scale


def _check_order(metric: object, attribute: object) -> None:
    if isinstance(metric, Attribute) and isinstance(attribute, Metric):
        raise InvalidInput("metric", "an Attribute", "must be a Metric: the metric comes first, then the attribute")
