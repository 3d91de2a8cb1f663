"""The question: one metric of one attribute, what is expected of it, and the mechanism that asks it.

It declares an epsilon, which is compared with the exact one of its mechanism.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from fairgauge.channel import Channel
from fairgauge.errors import BadStudy, InvalidInput, NotPrivate
from fairgauge.lazy import late
from fairgauge.study.attribute import Attribute
from fairgauge.study.field_checks import check_is, check_text, named
from fairgauge.study.mechanism import Mechanism
from fairgauge.study.metric import Metric
from fairgauge.study.noisy_counts import NoisyCounts
from fairgauge.study.numbers import Number, decimal_text, exact, positive

LEAST_SYMBOLS, MOST_SYMBOLS = 128, 4096
ANY_VALUES = "max"
COUNTED = "noisy-counts"  # the design of a question that noisy counts answer

TargetName = Literal["gap", "means"]


@dataclass(frozen=True, slots=True, init=False)
class Question:
    """One metric of one attribute: what is asked, and, once it is designed, the mechanism that asks it.

    It is one value from what somebody types to the published study.  ``design``, ``epsilon`` and ``mechanism`` are None
    until ``fairgauge.design`` makes them; a study takes designed questions only.

    >>> Question(Metric("recall", 0, 1), Attribute("sex", ["female", "male"])).designed
    False

    Args:
        metric: What is measured.
        attribute: How people are grouped.
        target: What the design is made for: ``"gap"``, the differences between groups, or ``"means"``.
        design: How the mechanism was made.
        epsilon: The declared epsilon.
        mechanism: What randomises.  Questions that are answered together have the same one.
        expect: The overall mean to reckon with, in the metric's units; a wrong guess costs precision, never truth.
        spread: The standard deviation to reckon with, in the metric's units; ``"max"`` for any values.
        weight: How much it matters beside the other questions; 1 unless given.
        abstain: Whether people may prefer not to say; a mechanism tells.
        abstaining: The part of people who are expected to; a tenth unless given, where they may.
        symbols: The most symbols that a table for seven and more groups is designed with; 400 unless given.
        axis: Which of the mechanism's values is the metric's, where it takes several at once; a study sets it.
        beside: The questions about the mechanism's other values; a study sets it.

    Raises:
        BadStudy: If something is of another type, or out of range.
    """

    metric: Metric
    attribute: Attribute
    target: TargetName
    # These three are None before the question is designed.  They have the types that they have in every study, which
    # refuses questions without them: nobody who reads a study asks again.
    design: str
    epsilon: str
    mechanism: Mechanism
    expect: str | None = None
    spread: str | None = None
    weight: str | None = None
    abstain: bool = False
    abstaining: str | None = None
    symbols: int | None = None
    axis: int = 0
    beside: tuple["Question", ...] = ()

    _repr_html_ = late("_repr_html_")

    def __init__(  # noqa: PLR0913, PLR0917 - these are the parts of a question
        self,
        metric: Metric,
        attribute: Attribute,
        target: TargetName = "gap",
        design: str | None = None,
        epsilon: Number | None = None,
        mechanism: Mechanism | None = None,
        *,
        expect: Number | None = None,
        spread: Number | None = None,
        weight: Number | None = None,
        abstain: bool = False,
        abstaining: Number | None = None,
        symbols: int | None = None,
        axis: int = 0,
        beside: tuple["Question", ...] = (),
    ) -> None:
        _check_order(metric, attribute)
        check_is("metric", metric, Metric)
        check_is("attribute", attribute, Attribute)
        if target not in ("gap", "means"):
            raise BadStudy("target", target, 'must be "gap" or "means"')
        if mechanism is not None:
            _check_mechanism(mechanism)
        put = object.__setattr__
        put(self, "metric", metric)
        put(self, "attribute", attribute)
        put(self, "target", target)
        put(self, "design", design)
        put(self, "epsilon", None if epsilon is None else positive("epsilon", epsilon))
        put(self, "mechanism", mechanism)
        put(self, "expect", None if expect is None else _expect(metric, expect))
        put(self, "spread", None if spread is None else _spread(metric, spread))
        put(self, "weight", None if weight is None else positive("weight", weight))
        put(self, "abstain", abstain or (mechanism is not None and mechanism.abstain))
        put(self, "abstaining", None if abstaining is None else self._part(abstaining))
        put(self, "symbols", symbols)
        put(self, "axis", axis)
        put(self, "beside", beside)
        if symbols is not None and not LEAST_SYMBOLS <= symbols <= MOST_SYMBOLS:
            raise BadStudy("symbols", symbols, f"must be from {LEAST_SYMBOLS} to {MOST_SYMBOLS}")
        if (design, epsilon, mechanism) != (None, None, None):
            self._check_designed()

    def _part(self, given: Number) -> str:
        number = exact(given)
        if not self.abstain:
            raise BadStudy("abstaining", named(given), "must not be given where nobody may abstain")
        if number is None or not 0 <= number < 1:
            raise BadStudy("abstaining", named(given), "must be from 0 to below 1")
        return decimal_text("abstaining", given)

    def _check_designed(self) -> None:
        mechanism, axis, groups = self.mechanism, self.axis, len(self.attribute.groups)
        _check_mechanism(mechanism)
        check_text("design", self.design)
        check_is("epsilon", self.epsilon, str)
        if type(axis) is not int or not 0 <= axis < mechanism.questions:
            raise BadStudy("axis", axis, f"must be from 0 to {mechanism.questions - 1}")
        if mechanism.groups != groups:
            raise BadStudy("mechanism.groups", mechanism.groups, f"must be {groups}")
        if self.abstain and not mechanism.abstain:
            raise BadStudy("abstain", self.abstain, "must be as the mechanism has it, by which nobody may")
        check_symbols(mechanism)

    @property
    def designed(self) -> bool:
        """Whether it has a mechanism."""
        return self.mechanism is not None

    @property
    def channel(self) -> Channel:
        """The mechanism, for what only a channel has.

        Raises:
            InvalidInput: If it is none.
        """
        if not isinstance(self.mechanism, Channel):
            raise InvalidInput("mechanism", "noisy counts", "must be for devices of one person each, and not for sites")
        return self.mechanism

    @property
    def counts(self) -> NoisyCounts:
        """The mechanism, for what only noisy counts have.

        Raises:
            InvalidInput: If it is none.
        """
        if not isinstance(self.mechanism, NoisyCounts):
            raise InvalidInput("mechanism", "a channel", "must be for sites, and not for devices of one person each")
        return self.mechanism

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels that the metric's values are rounded to."""
        return self.channel.axes[self.axis]

    @property
    def named(self) -> bool:
        """Whether a document names the metric, which an outcome of truth and prediction implies."""
        return not isinstance(self.mechanism, NoisyCounts) or self.mechanism.metric is not None

    @property
    def known_shares(self) -> tuple[float, ...] | None:
        """The shares of those who answer, where they are known; None where they are estimated, or all are counted."""
        return None if self.mechanism.counts_people else self.attribute.known_shares

    @property
    def whoever_answers(self) -> bool:
        """Whether people answer for themselves, and gaps between groups hold whoever of a group does."""
        return not self.mechanism.counts_people and self.attribute.known_shares is None

    def rests_on_answering(self, *sides: str) -> bool:
        """Tell whether a number about these sides rests on how often groups answered.

        It does where it comes from known shares, and where a side is several groups, who count as they answered.
        """
        alone = all(side in self.attribute.groups for side in sides)
        return self.known_shares is not None or (self.whoever_answers and not alone)

    @property
    def private(self) -> bool:
        """Whether the table spends at most the declared epsilon; decided exactly."""
        return self.mechanism.within(Decimal(self.epsilon))

    def check_declared(self, place: str) -> None:
        """Compare the declared epsilon with the table's own, which is computed from its integers.

        Raises:
            NotPrivate: If the table spends more; it begins with the question's place in the document.
        """
        if not self.private:
            exact_epsilon = self.mechanism.epsilon
            spent = f"epsilon {exact_epsilon!r}" if math.isfinite(exact_epsilon) else "no finite epsilon"
            asked = f"{place} ({self.metric.name} by {self.attribute.name})"
            raise NotPrivate(f"{asked} declares epsilon {self.epsilon} but its table has {spent}")


def counted(mechanism: NoisyCounts) -> tuple[Question, ...]:
    """Return the questions that noisy counts answer, one for each metric that they tell.

    >>> sex = Attribute("sex", ["female", "male"])
    >>> [question.metric.name for question in counted(NoisyCounts(sex, "confusion", 1))][:2]
    ['selection rate', 'accuracy']
    """
    attribute, epsilon = mechanism.attribute, mechanism.declared
    return tuple(
        Question(metric, attribute, "gap", COUNTED, epsilon, mechanism, axis=axis)
        for axis, metric in enumerate(mechanism.metrics)
    )


def reworded(
    questions: Iterable[Question], metric: Callable[[Metric], Metric], attribute: Callable[[Attribute], Attribute]
) -> tuple[Question, ...]:
    """Return the questions of a study with other texts, and the mechanism that holds the same texts with them."""
    asked = tuple(questions)
    counts = asked[0].mechanism
    if not isinstance(counts, NoisyCounts):
        return tuple(replace(one, metric=metric(one.metric), attribute=attribute(one.attribute)) for one in asked)
    own = counts.metric and metric(counts.metric)
    return counted(replace(counts, metric=own, attribute=attribute(counts.attribute)))


def _check_mechanism(mechanism: object) -> None:
    # Whether something else is one is asked of every attribute, and an exact loss takes a while.
    if not isinstance(mechanism, Channel | NoisyCounts):
        check_is("mechanism", mechanism, Mechanism)


def check_symbols(mechanism: Mechanism) -> None:
    """Refuse a table of more symbols than a study may have."""
    if mechanism.size > MOST_SYMBOLS:
        raise BadStudy("table", f"{mechanism.size} symbols", f"must be at most {MOST_SYMBOLS}")


def _check_order(metric: object, attribute: object) -> None:
    if isinstance(metric, Attribute) and isinstance(attribute, Metric):
        raise BadStudy("metric", "an Attribute", "must be a Metric: the metric comes first, then the attribute")


def _expect(metric: Metric, given: Number) -> str:
    number = exact(given)
    if number is None or not Fraction(metric.low) <= number <= Fraction(metric.high):
        raise BadStudy("expect", named(given), f"must be from {metric.low} to {metric.high}")
    return decimal_text("expect", given)


def _spread(metric: Metric, given: Number) -> str:
    if given == ANY_VALUES:
        return ANY_VALUES
    number = exact(given)
    if number is None or not 0 < number <= (Fraction(metric.high) - Fraction(metric.low)) / 2:
        raise BadStudy("spread", named(given), f'must be above 0 and at most half of the range, or "{ANY_VALUES}"')
    return decimal_text("spread", given)


def answered_together(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Return the questions of one table, each told its own value's place and the questions beside it."""
    placed = [replace(question, axis=axis, beside=()) for axis, question in enumerate(questions)]
    return tuple(replace(one, beside=tuple(other for other in placed if other is not one)) for one in placed)
