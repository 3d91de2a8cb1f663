"""The metric: what is measured on a device."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, cast

from fairgauge.channel import LEVEL_UNIT
from fairgauge.errors import BadStudy, CannotAnswer
from fairgauge.lazy import late
from fairgauge.study.field_checks import check_name, check_prose, named
from fairgauge.study.numbers import Number, decimal_text, exact

LOWER: Literal["lower"] = "lower"


@dataclass(frozen=True, slots=True, init=False)
class Metric:
    """What is measured on a device: a number from low to high, kept as decimals such as "0" or "-0.5".

    Inside a channel a value x becomes v = 2 (x - low) / (high - low) - 1, from -1 to 1.

    Args:
        name: Its name, such as ``"recall"``.
        low: The least value.
        high: The largest value.
        help: What to give as a value, for the person who is asked.
        better: ``"lower"`` where less is better, as of errors; else more is.
        unit: What stands behind a value, such as ``"ms"``.

    >>> Metric("recall", 0, 1).high
    '1'
    """

    name: str
    low: str
    high: str
    help: str | None = None
    better: Literal["lower"] | None = None
    unit: str | None = None

    _repr_html_ = late("_repr_html_")

    def __init__(  # noqa: PLR0913 - what a document may say of a metric
        self,
        name: str,
        low: Number,
        high: Number,
        *,
        help: str | None = None,  # noqa: A002 - the document's word
        better: Literal["lower"] | None = None,
        unit: str | None = None,
    ) -> None:
        check_name("name", name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "low", decimal_text("low", low))
        object.__setattr__(self, "high", decimal_text("high", high))
        object.__setattr__(self, "help", help)
        object.__setattr__(self, "better", better)
        object.__setattr__(self, "unit", unit)
        if _end(self.low) >= _end(self.high):
            raise BadStudy("high", self.high, f"must be above low, which is {self.low}")
        if help is not None:
            check_prose("help", help)
        if better not in (None, LOWER):
            raise BadStudy("better", named(better), f"must be {LOWER}, or left out where more is better")
        if unit is not None:
            check_name("unit", unit)

    @property
    def scale(self) -> float:
        """How many units of the metric one unit of v is."""
        return float((_end(self.high) - _end(self.low)) / 2)

    def to_metric(self, v: float) -> float:
        """Return the metric's value for a v from -1 to 1."""
        return float(_end(self.low)) + (v + 1) * self.scale

    def to_v(self, value: Number) -> float:
        """Return the v from -1 to 1 of a value of the metric that is no secret, such as what is expected."""
        return float(self.position(value) / LEVEL_UNIT)

    def position(self, value: Number) -> Fraction:
        """Return v times ``LEVEL_UNIT``, exactly: a float counts as the fraction that it is.

        For values that are no secret, and where a person may be asked again; :meth:`nearest` refuses nobody.

        Raises:
            CannotAnswer: If the value is no number from low to high; the text does not hold the value.
        """
        number = exact(value)
        # Not raised where the value failed to convert: that exception holds it, and would be chained.
        if number is None or not _end(self.low) <= number <= _end(self.high):
            raise CannotAnswer(f"{self.name} must be a number from {self.low} to {self.high}")
        return self._placed(number)

    def nearest(self, value: object) -> Fraction | None:
        """Return v times ``LEVEL_UNIT``, exactly, of the nearest value from low to high; None for what is no number.

        Nothing is refused: who stays silent because of a value would tell it.  No number is what is not one, what is
        infinite, what is above 10^400 or, but for 0, below 10^-400 in size, and what has more than 400 characters.

        >>> Metric("recall", 0, 1).nearest("76") == LEVEL_UNIT, Metric("recall", 0, 1).nearest("much")
        (True, None)
        """
        number = exact(value)
        low, high = _end(self.low), _end(self.high)
        # What is no number takes the same steps from here on, so that no time tells of it.
        placed = self._placed(max(low, min(high, cast("Fraction", (number, low)[number is None]))))
        return (placed, None)[number is None]

    def _placed(self, number: Fraction) -> Fraction:
        low, high = _end(self.low), _end(self.high)
        return LEVEL_UNIT * (2 * number - low - high) / (high - low)


@lru_cache(maxsize=256)
def _end(text: str) -> Fraction:
    """Return the least or the largest value: those of one metric are needed for each answer."""
    return Fraction(text)
