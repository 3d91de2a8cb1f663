"""What a study asks: a metric, an attribute, and the question that joins them through a channel."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from fairgauge.channel import LEVEL_UNIT, Channel
from fairgauge.errors import BadStudy, CannotAnswer
from fairgauge.study.checks import check_is, check_text, listed, named
from fairgauge.study.numbers import Number, decimal_text, exact

MOST_GROUPS = 64
MOST_SYMBOLS = 4096
ANY_VALUES = "max"

Target = Literal["gap", "means"]


@dataclass(frozen=True, slots=True, init=False)
class Metric:
    """What is measured on a device: a number from low to high, kept as decimals such as "0" or "-0.5".

    Inside a channel a value x becomes v = 2 (x - low) / (high - low) - 1, from -1 to 1.

    >>> Metric("recall", 0, 1)
    Metric(name='recall', low='0', high='1')
    """

    name: str
    low: str
    high: str

    def __init__(self, name: str, low: Number, high: Number) -> None:
        check_text("name", name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "low", decimal_text("low", low))
        object.__setattr__(self, "high", decimal_text("high", high))
        if Fraction(self.low) >= Fraction(self.high):
            raise BadStudy("high", self.high, f"must be above low, which is {self.low}")

    @property
    def scale(self) -> float:
        """How many units of the metric one unit of v is."""
        return float((Fraction(self.high) - Fraction(self.low)) / 2)

    def to_metric(self, v: float) -> float:
        """Return the metric's value for a v from -1 to 1."""
        return float(Fraction(self.low)) + (v + 1) * self.scale

    def to_v(self, value: Number) -> float:
        """Return the v from -1 to 1 of a value of the metric that is no secret, such as what is expected."""
        return float(self.position(value) / LEVEL_UNIT)

    def position(self, value: Number) -> Fraction:
        """Return v times ``LEVEL_UNIT``, exactly: a float counts as the fraction that it is.

        Raises:
            CannotAnswer: If the value is no number from low to high; the text does not hold the value.
        """
        number, low, high = exact(value), Fraction(self.low), Fraction(self.high)
        # Not raised where the value failed to convert: that exception holds it, and would be chained.
        if number is None or not low <= number <= high:
            raise CannotAnswer(f"{self.name} must be a number from {self.low} to {self.high}")
        return LEVEL_UNIT * (2 * number - low - high) / (high - low)


@dataclass(frozen=True, slots=True, init=False)
class Attribute:
    """How people are grouped, and each group's known share of the clients, if known.

    Args:
        name: What the groups are groups of, such as ``"sex"``.
        groups: The groups' names; with ``{"female": 0.5, "male": 0.5}`` also their shares.
        shares: The groups' shares, if ``groups`` is a list and they are known; their sum is exactly 1.
        share_error: By how much each share may be off, such as ``"0.01"``.
        share_source: Where the shares come from, for people.

    >>> Attribute("sex", {"female": 0.5, "male": 0.5}).shares
    ('0.5', '0.5')
    """

    name: str
    groups: tuple[str, ...]
    shares: tuple[str, ...] | None = None
    share_error: str | None = None
    share_source: str | None = None

    def __init__(
        self,
        name: str,
        groups: Mapping[str, Number] | Iterable[str],
        shares: Iterable[Number] | None = None,
        *,
        share_error: Number | None = None,
        share_source: str | None = None,
    ) -> None:
        check_text("name", name)
        if isinstance(groups, Mapping):
            if shares is not None:
                raise BadStudy("shares", named(shares), "must not be given twice: the groups have theirs already")
            shares = tuple(groups.values())
            groups = tuple(groups)
        found = listed("groups", groups, "names, or names with their shares")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "groups", found)
        self._check_groups()
        known = None if shares is None else listed("shares", shares, "numbers, one for each group")
        object.__setattr__(self, "shares", None if known is None else self._shares(known))
        object.__setattr__(self, "share_error", self._share_error(share_error))
        object.__setattr__(self, "share_source", share_source)
        if share_source is not None:
            self._check_known("share_source", share_source)
            check_text("share_source", share_source)

    def _check_groups(self) -> None:
        if not 2 <= len(self.groups) <= MOST_GROUPS:
            raise BadStudy("groups", f"{len(self.groups)} groups", f"must be from 2 to {MOST_GROUPS}")
        for index, group in enumerate(self.groups):
            check_text(f"groups[{index}]", group)
            if group in self.groups[:index]:
                raise BadStudy(f"groups[{index}]", group, "must be listed once")

    def _shares(self, given: tuple[Number, ...]) -> tuple[str, ...]:
        if len(given) != len(self.groups):
            raise BadStudy("shares", f"{len(given)} shares", f"must be one for each of {len(self.groups)} groups")
        shares = tuple(decimal_text(f"shares[{index}]", share) for index, share in enumerate(given))
        for index, share in enumerate(shares):
            if Fraction(share) <= 0:
                raise BadStudy(f"shares[{index}]", share, "must be above 0")
        if sum(map(Fraction, shares)) != 1:
            raise BadStudy("shares", ", ".join(shares), "must sum to exactly 1")
        return shares

    def _share_error(self, given: Number | None) -> str | None:
        if given is None:
            return None
        self._check_known("share_error", given)
        error = decimal_text("share_error", given)
        if not 0 < Fraction(error) < 1:
            raise BadStudy("share_error", error, "must be above 0 and below 1")
        return error

    def _check_known(self, field: str, value: object) -> None:
        if self.shares is None:
            raise BadStudy(field, named(value), "must not be given where shares are not")

    @property
    def share_values(self) -> tuple[float, ...] | None:
        """The known shares as numbers."""
        return None if self.shares is None else tuple(map(float, self.shares))


@dataclass(frozen=True, slots=True, init=False)
class Question:
    """One metric of one attribute, asked through a channel that spends at most the declared epsilon.

    Args:
        metric: What is measured.
        attribute: How people are grouped.
        target: What the design was made for: ``"gap"``, the differences between groups, or ``"means"``.
        design: How the channel was made.
        epsilon: The declared epsilon.
        channel: The table that randomises.
        expect: The overall mean to reckon with, in the metric's units.
        spread: The standard deviation to reckon with, in the metric's units; ``"max"`` for any values.
    """

    metric: Metric
    attribute: Attribute
    target: Target
    design: str
    epsilon: str
    channel: Channel
    expect: str | None = None
    spread: str | None = None

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
    ) -> None:
        check_is("metric", metric, Metric)
        check_is("attribute", attribute, Attribute)
        check_is("channel", channel, Channel)
        if target not in ("gap", "means"):
            raise BadStudy("target", target, 'must be "gap" or "means"')
        check_text("design", design)
        object.__setattr__(self, "metric", metric)
        object.__setattr__(self, "attribute", attribute)
        object.__setattr__(self, "target", target)
        object.__setattr__(self, "design", design)
        object.__setattr__(self, "epsilon", decimal_text("epsilon", epsilon))
        object.__setattr__(self, "channel", channel)
        object.__setattr__(self, "expect", None if expect is None else _expect(metric, expect))
        object.__setattr__(self, "spread", None if spread is None else _spread(metric, spread))
        if Fraction(self.epsilon) <= 0:
            raise BadStudy("epsilon", self.epsilon, "must be above 0")
        if channel.groups != len(attribute.groups):
            raise BadStudy("channel.groups", channel.groups, f"must be {len(attribute.groups)}")
        if channel.symbols > MOST_SYMBOLS:
            raise BadStudy("table", f"{channel.symbols} symbols", f"must be at most {MOST_SYMBOLS}")

    @property
    def private(self) -> bool:
        """Whether the table spends at most the declared epsilon; decided exactly."""
        return self.channel.within(Decimal(self.epsilon))


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
        raise BadStudy("spread", text, f'must be above 0 and at most {float(most):g}, or "{ANY_VALUES}" for any values')
    return text
