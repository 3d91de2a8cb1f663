"""Numbers as people say them: a recall that is 0.04 higher is 4 points higher, and intervals are rounded outward."""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

from fairgauge.estimation.interval import Interval
from fairgauge.languages import MINUS, Label, Numeral, Sentence
from fairgauge.study import Metric
from fairgauge.study.numbers import plain

MOST_PLACES = 6
# Behind a number that was cut to what is possible, and what it means.
CUT = "*"
CUT_NOTE = Sentence.of("table.cut")
_LEAST = 0.01  # points: what is said to be at most less than that, is said to be at most that
# Digits after which a float's own rounding shows: 3.7000000000000004 is meant to be 3.7.
_MEANT = 12


@dataclass(frozen=True)
class Unit:
    """How the numbers of a metric are written: times a factor, and with a word behind them."""

    factor: float
    word: str
    own: str = ""  # what the metric itself has behind its values

    def of(self, size: float, sign: str = "") -> str:
        """Return a size with its unit, and maybe a sign before it.

        >>> points = Unit(100, "point")
        >>> points.of(0.01), points.of(0.025), Unit(1, "").of(12.5)
        ('1 point', '2.5 points', '12.5')
        """
        number = size * self.factor
        return self.after(sign + (f"{number:,.3g}" if abs(number) < 1000 else f"{number:,.0f}"))

    def most(self, size: float, sign: str = "") -> str:
        """Return an upper bound with its unit: to three digits, rounded up.

        >>> points = Unit(100, "point")
        >>> points.most(0.03991), points.most(0.04), Unit(1, "").most(1234.5)
        ('4 points', '4 points', '1,240')
        """
        number = size * self.factor
        if self.word and 0 < number < _LEAST:
            return self.of(_LEAST / self.factor, sign)
        step = 10.0 ** (math.floor(math.log10(number)) - 2) if number > 0 else 1.0
        return self.of(math.ceil(round(number / step, _MEANT - 3)) * step / self.factor, sign)

    def after(self, text: str) -> str:
        """Return a number as written, with the unit behind it."""
        if self.own:
            return Sentence.of("unit.own", number=Numeral(text), unit=self.own)
        return Sentence.of(f"unit.{self.word}", count=text) if self.word else Numeral(text)

    @property
    def name(self) -> str:
        """What numbers are in, to stand in brackets; empty for plain numbers."""
        return self.own or (Sentence.of(f"unit.{self.word}s") if self.word else "")

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
    """Return the unit of differences: the metric's own, else points for a metric from 0 to 1 or from 0 to 100.

    >>> unit_of(Metric("recall", 0, 1)).of(0.04), unit_of(Metric("score", 0, 100)).of(4)
    ('4 points', '4 points')
    >>> unit_of(Metric("delay", 0, 500, unit="ms")).of(4)
    '4 ms'
    """
    if metric.unit is not None:
        return Unit(1, "", metric.unit)
    words = {("0", "1"): Unit(100, "point"), ("0", "100"): Unit(1, "score")}
    return words.get((plain(Decimal(metric.low)), plain(Decimal(metric.high))), Unit(1, ""))


def own_unit_sentences(metric: Metric) -> list[str]:
    """Return what bare numbers are in, where neither the metric nor its range says it.

    >>> own_unit_sentences(Metric("words missed", 0, 40))
    ["Values of words missed are in the metric's own unit, from 0 to 40."]
    >>> own_unit_sentences(Metric("recall", 0, 1)), own_unit_sentences(Metric("delay", 0, 500, unit="ms"))
    ([], [])
    """
    if unit_of(metric).name:
        return []
    low, high = (Numeral(f"{Decimal(end):,f}".replace("-", MINUS)) for end in (metric.low, metric.high))
    return [Sentence.of("unit.none", metric=Label(metric.name), low=low, high=high)]


def level_of(metric: Metric) -> Unit:
    """Return the unit of means: a recall of 0.8 stays 0.8, and a score of 80 from 0 to 100 is 80 points.

    >>> level_of(Metric("recall", 0, 1)).of(0.8), level_of(Metric("score", 0, 100)).of(80)
    ('0.8', '80 points')
    """
    unit = unit_of(metric)
    return unit if unit.factor == 1 else Unit(1, "")


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
    return Sentence.of("number.percent", number=Numeral(f"{100 * confidence:.6g}"))


def part_of(part: float) -> str:
    """Return a part to three digits, as people say it.

    >>> part_of(0.12345)
    '12.3 %'
    """
    return Sentence.of("number.percent", number=Numeral(f"{100 * part:.3g}"))


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
