"""What is to be asked, before there is a channel for it: the wish becomes a question, and has the question's goal."""

from dataclasses import dataclass
from decimal import Decimal

from fairgauge.designs import AUTO, make_channel
from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.goals.goal import ANY_VALUES, Goal
from fairgauge.goals.reckoning import USUAL_SPREAD
from fairgauge.planning.typed import as_number
from fairgauge.study import Attribute, Metric, Number, Question, Target
from fairgauge.study.checks import check_is


@dataclass(frozen=True)
class Wish:
    """One metric by one attribute, and what is known beforehand.

    Args:
        metric: What is measured.
        attribute: How people are grouped.
        target: ``"gap"`` or ``"means"``; by default the gap for two groups with known shares, else the means.
        abstain: Whether people may prefer not to say.
        expect: The overall mean to reckon with, in the metric's units; a wrong guess costs precision, never truth.
        guess: Shares to reckon with where they are not known.
        spread: The standard deviation about the mean to reckon with, in the metric's units; ``"max"`` for any values.

    Raises:
        InvalidInput: If something is of another type, or out of range.
    """

    metric: Metric
    attribute: Attribute
    target: str | None = None
    abstain: bool = False
    expect: Number | None = None
    guess: tuple[float, ...] | None = None
    spread: Number | None = None

    def __post_init__(self) -> None:
        _check_order(self.metric, self.attribute)
        check_is("metric", self.metric, Metric)
        check_is("attribute", self.attribute, Attribute)
        if self.target not in ("gap", "means", None):
            raise InvalidInput("target", self.target, "must be gap or means")

    @property
    def goal(self) -> Goal:
        """What the question shall estimate."""
        known = self.attribute.share_values
        count = len(self.attribute.groups)
        default: Target = "gap" if known is not None and count == 2 else "means"
        target: Target = default if self.target is None else "gap" if self.target == "gap" else "means"
        return Goal(
            shares=known or self.guess or (1 / count,) * count,
            shares_known=known is not None,
            target=target,
            abstain=self.abstain,
            expect=None if self.expect is None else self._in_v(self.expect),
            spread=self._spread_in_v(),
        )

    def question(self, epsilon: Decimal, *, design: str = AUTO) -> Question:
        """Return the question with the channel of a design.

        Raises:
            InvalidInput: If the design is not known, or epsilon is outside what a table can hold.
            Impossible: If no design reaches it.
        """
        goal = self.goal
        name, channel = make_channel(goal, epsilon, design=design)
        return Question(self.metric, self.attribute, goal.target, name, epsilon, channel)

    def _spread_in_v(self) -> float | None:
        if self.spread is None:
            return USUAL_SPREAD
        if self.spread == ANY_VALUES:
            return None
        spread = as_number("spread", self.spread) / self.metric.scale
        if not 0 < spread <= 1:
            rule = f"must be above 0 and at most {self.metric.scale:g}, or {ANY_VALUES} for any values"
            raise InvalidInput("spread", self.spread, rule)
        return spread

    def _in_v(self, expect: Number) -> float:
        try:
            return self.metric.to_v(expect)
        except FairgaugeError:
            rule = f"must be from {self.metric.low} to {self.metric.high}"
            raise InvalidInput("expect", expect, rule) from None


def _check_order(metric: object, attribute: object) -> None:
    if isinstance(metric, Attribute) and isinstance(attribute, Metric):
        raise InvalidInput("metric", "an Attribute", "must be a Metric: the metric comes first, then the attribute")
