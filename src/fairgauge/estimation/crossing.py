"""Where a function changes its sign, between two points: a few lines instead of a solver library."""

from collections.abc import Callable

_TURNS = 200
_LIKE = 1000.0


def crossing(function: Callable[[float], float], below: float, above: float, *, close: float) -> tuple[float, float]:
    """Return two points no further apart than ``close``, the function negative at the first and not at the second.

    Chandrupatla's method (1997): a parabola through the last three points where it is safe, else halving; but first a
    straight line through the two.  Where the function jumps, the points enclose the jump.

    Guarantee: exact; the function is negative at the first point and not at the second.

    Args:
        function: Negative at ``below`` and not at ``above``; what it is between does not matter.
        below: A point where it is negative.  It may lie on either side of the other.
        above: A point where it is not.
        close: How far apart the two points may be at the end.

    >>> low, high = crossing(lambda x: x * x - 2, 1.0, 2.0, close=1e-12)
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
