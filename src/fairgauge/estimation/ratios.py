r"""Ratios of means: how much less the worst served group gets than the best served one.

If the intervals of all means hold together, so does the interval of any ratio of two of them:

.. math:: \frac{m_a}{m_b} \in \Big[\frac{low_a}{high_b},\ \frac{high_a}{low_b}\Big]
"""

from collections.abc import Callable, Iterable

from fairgauge.estimation.values import Interval


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
