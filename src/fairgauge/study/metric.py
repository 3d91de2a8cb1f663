"""The metric: what is measured on a device."""

from dataclasses import dataclass
from fractions import Fraction

from fairgauge.channel import LEVEL_UNIT
from fairgauge.errors import BadStudy, CannotAnswer
from fairgauge.study.checks import check_prose, check_text
from fairgauge.study.numbers import Number, decimal_text, exact


@dataclass(frozen=True, slots=True, init=False)
class Metric:
    """What is measured on a device: a number from low to high, kept as decimals such as "0" or "-0.5".

    Inside a channel a value x becomes v = 2 (x - low) / (high - low) - 1, from -1 to 1.

    Args:
        name: Its name, such as ``"recall"``.
        low: The least value.
        high: The largest value.
        help: What to give as a value, for the person who is asked.

    >>> Metric("recall", 0, 1).high
    '1'
    """

    name: str
    low: str
    high: str
    help: str | None = None

    def __init__(self, name: str, low: Number, high: Number, *, help: str | None = None) -> None:  # noqa: A002 - the document's word
        check_text("name", name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "low", decimal_text("low", low))
        object.__setattr__(self, "high", decimal_text("high", high))
        object.__setattr__(self, "help", help)
        if Fraction(self.low) >= Fraction(self.high):
            raise BadStudy("high", self.high, f"must be above low, which is {self.low}")
        if help is not None:
            check_prose("help", help)

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
