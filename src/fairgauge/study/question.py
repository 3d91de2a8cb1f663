"""The question: one metric of one attribute, asked through a channel."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from fairgauge.channel import Channel
from fairgauge.errors import BadStudy
from fairgauge.study.attribute import Attribute
from fairgauge.study.checks import check_is, check_text
from fairgauge.study.metric import Metric
from fairgauge.study.numbers import Number, decimal_text

MOST_SYMBOLS = 4096
ANY_VALUES = "max"

Target = Literal["gap", "means"]


@dataclass(frozen=True, slots=True, init=False)
class Question:
    """One metric of one attribute, asked through a channel that spends at most the declared epsilon.

    Args:
        metric: What is measured.
        attribute: How people are grouped.
        target: What the design was made for: ``"gap"``, the differences between groups, or ``"means"``.
        design: How the channel was made.
        epsilon: The declared epsilon.
        channel: The table that randomises.  Questions that are answered together have the same one.
        expect: The overall mean to reckon with, in the metric's units.
        spread: The standard deviation to reckon with, in the metric's units; ``"max"`` for any values.
        weight: How much it matters beside the other questions; 1 unless given.
        axis: Which of the channel's values is the metric's, where it takes several at once; a study sets it.
        beside: The questions about the channel's other values; a study sets it.
    """

    metric: Metric
    attribute: Attribute
    target: Target
    design: str
    epsilon: str
    channel: Channel
    expect: str | None = None
    spread: str | None = None
    weight: str | None = None
    axis: int = 0
    beside: tuple["Question", ...] = ()

    def __init__(  # noqa: PLR0913, PLR0917 - these are the parts of a question
        self,
        metric: Metric,
        attribute: Attribute,
        target: Target,
        design: str,
        epsilon: Number,
        channel: Channel,
        *,
        expect: Number | None = None,
        spread: Number | None = None,
        weight: Number | None = None,
        axis: int = 0,
        beside: tuple["Question", ...] = (),
    ) -> None:
        check_is("metric", metric, Metric)
        check_is("attribute", attribute, Attribute)
        check_is("channel", channel, Channel)
        if target not in ("gap", "means"):
            raise BadStudy("target", target, 'must be "gap" or "means"')
        check_text("design", design)
        put = object.__setattr__
        put(self, "metric", metric)
        put(self, "attribute", attribute)
        put(self, "target", target)
        put(self, "design", design)
        put(self, "epsilon", positive("epsilon", epsilon))
        put(self, "channel", channel)
        put(self, "expect", None if expect is None else _expect(metric, expect))
        put(self, "spread", None if spread is None else _spread(metric, spread))
        put(self, "weight", None if weight is None else positive("weight", weight))
        put(self, "axis", axis)
        put(self, "beside", beside)
        if type(axis) is not int or not 0 <= axis < len(channel.axes):
            raise BadStudy("axis", axis, f"must be from 0 to {len(channel.axes) - 1}")
        if channel.groups != len(attribute.groups):
            raise BadStudy("channel.groups", channel.groups, f"must be {len(attribute.groups)}")
        check_symbols(channel)

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels that the metric's values are rounded to."""
        return self.channel.axes[self.axis]

    @property
    def private(self) -> bool:
        """Whether the table spends at most the declared epsilon; decided exactly."""
        return self.channel.within(Decimal(self.epsilon))


def check_symbols(channel: Channel) -> None:
    """Refuse a table of more symbols than a study may have."""
    if channel.symbols > MOST_SYMBOLS:
        raise BadStudy("table", f"{channel.symbols} symbols", f"must be at most {MOST_SYMBOLS}")


def positive(field: str, given: Number) -> str:
    """Return a number above 0 as a plain decimal."""
    text = decimal_text(field, given)
    if Fraction(text) <= 0:
        raise BadStudy(field, text, "must be above 0")
    return text


def _expect(metric: Metric, given: Number) -> str:
    text = decimal_text("expect", given)
    if not Fraction(metric.low) <= Fraction(text) <= Fraction(metric.high):
        raise BadStudy("expect", text, f"must be from {metric.low} to {metric.high}")
    return text


def _spread(metric: Metric, given: Number) -> str:
    if given == ANY_VALUES:
        return ANY_VALUES
    text = decimal_text("spread", given)
    most = (Fraction(metric.high) - Fraction(metric.low)) / 2
    if not 0 < Fraction(text) <= most:
        raise BadStudy("spread", text, f'must be above 0 and at most half of the range, or "{ANY_VALUES}"')
    return text


def answered_together(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Return the questions of one table, each told its own value's place and the questions beside it."""
    placed = [replace(question, axis=axis, beside=()) for axis, question in enumerate(questions)]
    return tuple(replace(one, beside=tuple(other for other in placed if other is not one)) for one in placed)
