"""From a test of values to an interval: the hull of all values that the test accepts.

What is assumed: the search finds the whole hull.  It goes outward from an accepted value until one is rejected, and
asks some values beyond.  Stakes and bounds change with the value, so it is not proven that no further run of accepted
values lies between two that were asked; tests compare what is found with all values of a grid.
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Protocol

import numpy as np

from fairgauge.estimation.crossing import crossing

# Edges that people read are found to this part of the half-width.
_CLOSE = 1e-5
# For plans a line between two values this close tells where the edge is.
_NEARBY = 0.12
# A first step is never shorter than this part of what is possible.
_LEAST_PART = 1e-7
# Acceptance need not be one run where answers are few: so many values further out are tested too.
_BEYOND, _BEYOND_FEW, _FEW = 2, 7, 2000

Margin = Callable[[float], float]
# From an accepted and a rejected value to the edge between them; the last is about the half-width.
EdgeFinder = Callable[[Margin, float, float, float], float]


class Test(Protocol):
    """Something that accepts or rejects values."""

    @property
    def answers(self) -> float:
        """How many answers there are."""

    @property
    def estimate(self) -> float:
        """The value that the counts point to."""

    @property
    def extent(self) -> tuple[float, float]:
        """The range of values that are possible at all."""

    def margin(self, value: float) -> float:
        """Return how far a value is beyond what is accepted: below zero if it is accepted."""

    def limit(self, value: float) -> float:
        """Return about how far from the estimate values are accepted."""


def inverted(test: Test, *, close: float = _CLOSE) -> tuple[float, float]:
    """Return the hull of all values that the test accepts; around the estimate if it accepts none.

    Guarantee: it holds the right value at least as often as the test accepts it, if no run of accepted values lies
    between those that were asked further out (see above).

    Args:
        test: The test.
        close: Edges are found to this part of the half-width, and rounded outward.
    """
    least, most = test.extent

    def edge(margin: Margin, inside: float, outside: float, half: float) -> float:
        found = crossing(margin, inside, outside, close=close * half)[1]
        return min(max(_outward(found, found - inside, _CLOSE * half), least), most)

    return _hull(test, edge)


def _outward(edge: float, away: float, close: float) -> float:
    """Return the next round number outward: processors that stop the search a little apart nearly always tell the same.

    >>> _outward(0.12345678, 1.0, 3e-6), _outward(0.12345678, -1.0, 3e-6)
    (0.12346, 0.12345)
    """
    digits = -math.ceil(math.log10(close))
    step = 10.0**-digits
    return round((math.ceil if away > 0 else math.floor)(edge / step) * step, max(digits, 0))


def nearly_inverted(test: Test) -> tuple[float, float]:
    """Return about the same, for plans: each edge is where a line between two values nearby points to.

    Tests take long near their edges, and margins are nearly straight there: it is off by about a thousandth.
    """

    def edge(margin: Margin, inside: float, outside: float, half: float) -> float:
        accepted, rejected = crossing(margin, inside, outside, close=_NEARBY * half)
        low, high = margin(accepted), margin(rejected)
        return accepted + (rejected - accepted) * low / (low - high)

    return _hull(test, edge)


def _hull(test: Test, edge: EdgeFinder) -> tuple[float, float]:
    least, most = test.extent
    start = min(max(test.estimate, least), most)
    half = max(test.limit(start), _LEAST_PART * (most - least))
    margin = cache(test.margin)
    if margin(start) >= 0:
        found = _some_accepted(margin, start, test.extent)
        if found is None:
            # Rare, and then right for no value: what is wide is at least not misleading.
            return max(start - half, least), min(start + half, most)
        start = found
    beyond = _BEYOND_FEW if test.answers < _FEW else _BEYOND
    low, high = (_edge(margin, start, (end, half, beyond), edge) for end in (least, most))
    return low, high


def _some_accepted(margin: Margin, start: float, extent: tuple[float, float]) -> float | None:
    """Return an accepted value near the start, or None if there is none to be found."""
    least, most = extent
    for part in np.geomspace(1e-4, 1, 25):
        for value in (start - part * (start - least), start + part * (most - start)):
            if margin(float(value)) < 0:
                return float(value)
    return None


def _edge(margin: Margin, start: float, outward: tuple[float, float, int], edge: EdgeFinder) -> float:
    """Return the outermost accepted value from an accepted one outward: to an end, in steps of about this size."""
    end, half, beyond = outward
    reach = end - start
    if reach == 0:
        return end
    inside, outside, step = start, end, 0.9 * half
    while step < abs(reach):
        value = start + math.copysign(step, reach)
        if margin(value) >= 0:
            outside = value
            break
        # Somewhat beyond where a line through the last two points to, in steps that are neither tiny nor huge.
        grown = (margin(value) - margin(inside)) / abs(value - inside)
        ahead = step - 1.03 * margin(value) / grown if grown > 0 else math.inf
        inside, step = value, min(max(ahead, 1.03 * step), 1.5 * step)
    further = np.linspace(outside, end, 1 + beyond)
    for value in further[1:] if outside != end else further[-1:]:
        if margin(float(value)) < 0:
            inside, outside = float(value), end
    if inside == end:
        return end
    return edge(margin, inside, outside, min(half, abs(reach)))
