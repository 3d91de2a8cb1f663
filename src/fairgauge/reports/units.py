"""Numbers as people say them: a recall that is 0.04 higher is 4 points higher, and intervals are rounded outward."""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from fairgauge.estimation.interval import Interval
from fairgauge.languages import MINUS, Numeral, Told
from fairgauge.study import Metric

MOST_PLACES = 6
# Behind a number that was cut to what is possible, and what it means.
CUT = "*"
CUT_NOTE = Told.of("table.cut")
# Digits after which a float's own rounding shows: 3.7000000000000004 is meant to be 3.7.
_MEANT = 12


@dataclass(frozen=True)
class Unit:
    """How the numbers of a metric are written: times a factor, and with a word behind them."""

    factor: float
    word: str

    def of(self, size: float) -> str:
        """Return a size with its unit.

        >>> points = Unit(100, "point")
        >>> points.of(0.01), points.of(0.025), Unit(1, "").of(12.5)
        ('1 point', '2.5 points', '12.5')
        """
        number = size * self.factor
        return self.after(f"{number:,.3g}" if abs(number) < 1000 else f"{number:,.0f}")

    def most(self, size: float) -> str:
        """Return an upper bound with its unit: to three digits, rounded up.

        >>> points = Unit(100, "point")
        >>> points.most(0.03991), points.most(0.04), Unit(1, "").most(1234.5)
        ('4 points', '4 points', '1,240')
        """
        number = size * self.factor
        step = 10.0 ** (math.floor(math.log10(number)) - 2) if number > 0 else 1.0
        return self.of(math.ceil(round(number / step, _MEANT - 3)) * step / self.factor)

    def after(self, text: str) -> str:
        """Return a number as written, with the unit behind it."""
        return Told.of(f"unit.{self.word}", count=text) if self.word else Numeral(text)

    def places(self, interval: Interval) -> int:
        """Return how many decimal places show an interval's width to two digits."""
        width = (interval.high - interval.low) * self.factor
        return places_for(width)

    def near(self, value: float, places: int) -> str:
        """Return a number rounded to the nearest."""
        return _written(value * self.factor, places, ROUND_HALF_EVEN)

    def down(self, value: float, places: int) -> str:
        """Return a number rounded down."""
        return _written(value * self.factor, places, ROUND_FLOOR)

    def up(self, value: float, places: int) -> str:
        """Return a number rounded up."""
        return _written(value * self.factor, places, ROUND_CEILING)


def unit_of(metric: Metric) -> Unit:
    """Return the unit of differences: percentage points for a metric from 0 to 1, else the metric's own."""
    return Unit(100, "point") if Decimal(metric.low) == 0 and Decimal(metric.high) == 1 else Unit(1, "")


def level_of(metric: Metric) -> Unit:
    """Return the unit of means: a recall of 0.8 stays 0.8."""
    return Unit(1, "") if unit_of(metric).word else unit_of(metric)


def places_for(width: float) -> int:
    """Return how many decimal places show a width to two digits.

    >>> places_for(1.07), places_for(0.25), places_for(37.0)
    (1, 2, 0)
    """
    if not 0 < width < math.inf:
        return 2
    return max(0, min(MOST_PLACES, math.ceil(1 - math.log10(width))))


def part_of_hundred(confidence: float) -> str:
    """Return a confidence as people say it.

    >>> part_of_hundred(0.99), part_of_hundred(0.9995)
    ('99 %', '99.95 %')
    """
    return Told.of("number.percent", number=Numeral(f"{100 * confidence:.6g}"))


def steady(number: float) -> str:
    """Return a number for programs, to ten digits: further ones differ between processors, and a report must not.

    >>> steady(0.1 + 0.2), steady(-0.04000000000000001)
    ('0.3', '-0.04')
    """
    return f"{number:.10g}"


def mark(shown: float, exact: float) -> str:
    """Return what stands behind a number as shown, if it was cut."""
    return "" if shown == exact else CUT


def _written(value: float, places: int, rounding: str) -> str:
    meant = Decimal(f"{value:.{_MEANT}g}")
    number = meant.quantize(Decimal(1).scaleb(-places), rounding=rounding)
    text = f"{abs(number):,.{places}f}"
    return Numeral(f"{MINUS}{text}" if number < 0 else text)
