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

_TURNS = 200
_LIKE = 1000.0


def sign_change(function: Callable[[float], float], below: float, above: float, *, close: float) -> tuple[float, float]:
    """Return two points no further apart than ``close``, the function negative at the first and not at the second.

    Chandrupatla's method (1997): a parabola through the last three points where it is safe, else halving; but first a
    straight line through the two.  Where the function jumps, the points enclose the jump.

    Guarantee: exact; the function is negative at the first point and not at the second.

    Args:
        function: Negative at ``below`` and not at ``above``; what it is between does not matter.
        below: A point where it is negative.  It may lie on either side of the other.
        above: A point where it is not.
        close: How far apart the two points may be at the end.

    >>> low, high = sign_change(lambda x: x * x - 2, 1.0, 2.0, close=1e-12)
    >>> low < 2**0.5 <= high, round(high, 9)
    (True, 1.414213562)
    """
    x1, x2 = above, below
    f1, f2 = function(above), function(below)
    # A line leads nowhere where one end is much further off than the other.
    part = f1 / (f1 - f2) if f1 - f2 > 0 and max(abs(f1), abs(f2)) < _LIKE * min(abs(f1), abs(f2)) else 0.5
    for _ in range(_TURNS):
        x = x1 + part * (x2 - x1)
        f = function(x)
        if (f < 0) == (f1 < 0):
            x3, f3 = x1, f1
        else:
            x3, f3 = x2, f2
            x2, f2 = x1, f1
        x1, f1 = x, f
        least = 0.5 * close / max(abs(x2 - x1), 1e-300)
        if least > 0.5:
            break
        part = _part((x1, x2, x3), (f1, f2, f3))
        part = min(max(part, least), 1 - least)
    return (x1, x2) if f1 < 0 else (x2, x1)


def _part(x: tuple[float, float, float], f: tuple[float, float, float]) -> float:
    """Return how far to go from the first point towards the second."""
    (x1, x2, x3), (f1, f2, f3) = x, f
    if f3 in (f1, f2) or abs(f1) > 1e300 or abs(f2) > 1e300 or abs(f3) > 1e300:
        return 0.5
    place, height = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
    if height**2 < place and (1 - height) ** 2 < 1 - place:
        return f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
    return 0.5


# Edges that people read are found to this part of the half-width.
_CLOSE = 1e-5
# For plans a line between two values this close tells where the edge is.
_NEARBY = 0.12
# A first step is never shorter than this part of what is possible.
_LEAST_PART = 1e-7
# Acceptance need not be one run where answers are few: so many values further out are tested too.
_BEYOND, _BEYOND_FEW, _FEW = 2, 7, 2000

_Margin = Callable[[float], float]
# From an accepted and a rejected value to the edge between them; the last is about the half-width.
_EdgeFinder = Callable[[_Margin, float, float, float], float]


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

    def edge(margin: _Margin, inside: float, outside: float, half: float) -> float:
        found = sign_change(margin, inside, outside, close=close * half)[1]
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

    def edge(margin: _Margin, inside: float, outside: float, half: float) -> float:
        accepted, rejected = sign_change(margin, inside, outside, close=_NEARBY * half)
        low, high = margin(accepted), margin(rejected)
        return accepted + (rejected - accepted) * low / (low - high)

    return _hull(test, edge)


def _hull(test: Test, edge: _EdgeFinder) -> tuple[float, float]:
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


def _some_accepted(margin: _Margin, start: float, extent: tuple[float, float]) -> float | None:
    """Return an accepted value near the start, or None if there is none to be found."""
    least, most = extent
    for part in np.geomspace(1e-4, 1, 25):
        for value in (start - part * (start - least), start + part * (most - start)):
            if margin(float(value)) < 0:
                return float(value)
    return None


def _edge(margin: _Margin, start: float, outward: tuple[float, float, int], edge: _EdgeFinder) -> float:
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
