r"""Numbers with their intervals, what every result is made of; and the ratio of two.

*Ratios of means*: how much less the worst served group gets than the best served one.

If the intervals of all means hold together, so does the interval of any ratio of two of them:

.. math:: \frac{m_a}{m_b} \in \Big[\frac{low_a}{high_b},\ \frac{high_a}{low_b}\Big]
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fairgauge.lazy import late

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True)
class Interval:
    """An estimate and the range in which the truth lies with the stated confidence.

    ``bounds`` is what the number can be at all.  An estimate from few answers may leave it: people are shown what is
    possible (``shown``), while code gets the numbers as they are, with which it can go on reckoning.

    The estimate is an average score, and the interval is what the answers as a whole allow: how much scores vary tells
    of a number too, where a table tells it badly.  So the estimate need not be in the middle, and may even be outside:
    people and documents then have the nearest value that is allowed.

    >>> recall = Interval(0.98, 0.93, 1.03, bounds=(0, 1))
    >>> recall.shown, recall.cut
    (Interval(estimate=0.98, low=0.93, high=1), True)
    >>> Interval(0.92, 0.84, 0.87, bounds=(0, 1)).shown
    Interval(estimate=0.87, low=0.84, high=0.87)
    """

    estimate: float
    low: float
    high: float
    bounds: tuple[float, float] = field(default=(-math.inf, math.inf), repr=False, compare=False)

    @property
    def clear(self) -> bool:
        """Whether zero is not in it."""
        return not self.low <= 0 <= self.high

    @property
    def size(self) -> "Interval":
        """The interval of the number's absolute value."""
        ends = abs(self.low), abs(self.high)
        reach = max(map(abs, self.bounds))
        return Interval(abs(self.estimate), min(ends) if self.clear else 0.0, max(ends), (0.0, reach))

    @property
    def shown(self) -> "Interval":
        """The part of it that is possible, and the estimate in it."""
        least, most = self.bounds
        low, high = (min(max(x, least), most) for x in (self.low, self.high))
        return Interval(min(max(self.estimate, low), high), low, high, self.bounds)

    @property
    def nearest(self) -> float:
        """The estimate, or where it lies outside the nearest number that the interval holds.

        >>> Interval(1.269, 0.4, 1.0).nearest
        1.0
        """
        return min(max(self.estimate, self.low), self.high)

    @property
    def ruled_out(self) -> bool:
        """Whether the estimate is a possible number that the answers as a whole do not allow."""
        least, most = self.bounds
        return least <= self.estimate <= most and not self.low <= self.estimate <= self.high

    @property
    def cut(self) -> bool:
        """Whether some of it is not possible, so that what is shown differs from it."""
        return self.shown != self

    def scaled(self, scale: float, shift: float = 0.0) -> "Interval":
        """Return the interval in other units, of which one is so much above zero."""
        numbers = (self.estimate, self.low, self.high, *self.bounds)
        estimate, low, high, least, most = (scale * x + shift for x in numbers)
        return Interval(estimate, low, high, (least, most))

    def within(self, least: float, most: float) -> "Interval":
        """Return the interval of a number that can only be in this range."""
        return Interval(self.estimate, self.low, self.high, (least, most))

    _repr_html_ = late("_repr_html_")
    to_frame = late("to_frame")

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON, and beside them what people are shown.

        The estimate is in its interval.  Where the average score is not, it is there too, as ``average``.

        >>> Interval(1.269, 0.4, 1.0).to_dict()["estimate"], Interval(1.269, 0.4, 1.0).to_dict()["average"]
        (1.0, 1.269)
        """
        average = {} if self.nearest == self.estimate else {"average": self.estimate}
        return numbers_of(self) | average | {"shown": numbers_of(self.shown)}

    def __neg__(self) -> "Interval":
        return Interval(-self.estimate, -self.high, -self.low, (-self.bounds[1], -self.bounds[0]))

    def __str__(self) -> str:
        return f"{self.estimate:.4g} [{self.low:.4g}, {self.high:.4g}]"


class Told(dict[_Key, Interval]):
    """What answers tell, by name; whoever asks for a name that is not there hears why.

    Args:
        known: The intervals.
        missing: Makes the error for a name that is not there.
    """

    def __init__(self, known: Mapping[_Key, Interval], missing: Callable[[object], Exception]) -> None:
        super().__init__(known)
        self._missing = missing

    def __missing__(self, key: object) -> Interval:
        raise self._missing(key)


def numbers_of(interval: Interval) -> dict[str, float]:
    """Return the estimate and the ends, for documents and frames."""
    return {"estimate": interval.nearest, "low": interval.low, "high": interval.high}


def at_most_one(a: Interval, b: Interval) -> Interval:
    """Return the smaller of a / b and b / a, of numbers whose intervals hold together and are not below zero.

    >>> print(at_most_one(Interval(0.6, 0.5, 0.7), Interval(0.8, 0.75, 0.85)))
    0.75 [0.5882, 0.9333]
    """
    quotient = a.estimate / b.estimate
    high = 1.0
    if a.high < b.low:
        high = a.high / b.low
    elif b.high < a.low:
        high = b.high / a.low
    return Interval(min(quotient, 1 / quotient), min(a.low / b.high, b.low / a.high), high)


def over(pick: Callable[[Iterable[float]], float], intervals: Iterable[Interval]) -> Interval:
    """Return the smallest or the largest of numbers whose intervals hold together."""
    known = list(intervals)
    estimate, low, high = (pick([getattr(i, end) for i in known]) for end in ("estimate", "low", "high"))
    return Interval(estimate, low, high)


def impact_ratio(means: Iterable[Interval]) -> Interval | None:
    """Return the smallest mean over the largest; None where a mean is not clearly above zero.

    Guarantee: as that of the means' intervals together, which must be of numbers that cannot be below zero.

    Args:
        means: The means of all groups, within what the metric can be.
    """
    shown = [mean.shown for mean in means]
    if not shown or any(mean.bounds[0] < 0 or min(mean.estimate, mean.high) <= 0 for mean in shown):
        return None
    return at_most_one(over(min, shown), over(max, shown)).within(0.0, 1.0)
