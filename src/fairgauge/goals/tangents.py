"""The least values of convex functions of one number: many at once, from values and slopes."""

from collections.abc import Callable

import numpy as np

from fairgauge.goals.inputs import Vector

_TURNS = 40

# The values of all functions, each at its own point, and their slopes there.
Convex = Callable[[Vector], tuple[Vector, Vector]]


def least_values(functions: Convex, low: Vector, high: Vector, *, close: Vector) -> Vector:
    """Return the smallest value that was seen of each function, between two points.

    Two points on either side of the least have tangents, and the next point is where they meet.  Functions that are
    made of few straight pieces are done after few turns: where two neighbouring pieces meet is the least.

    Guarantee: every value is one that the function has; it is the least to ``close``, unless the turns run out.

    Args:
        functions: The functions.
        low: Where to begin.
        high: Where to end.
        close: How far a value may be above the least.

    >>> bent = lambda x: (np.abs(x - 0.3) + 1, np.sign(x - 0.3))
    >>> least_values(bent, np.array([-9.0]), np.array([5.0]), close=np.array([1e-9])).round(9).tolist()
    [1.0]
    """
    (at_low, down), (at_high, up) = functions(low), functions(high)
    best = np.minimum(at_low, at_high)
    for _ in range(_TURNS):
        bend = np.maximum(up - down, 1e-300)
        meet = np.clip((at_low - at_high + up * high - down * low) / bend, low, high)
        if not (best - (at_low + down * (meet - low)) > close).any():
            break
        found, slope = functions(meet)
        best = np.minimum(best, found)
        left = slope < 0
        low, at_low, down = (np.where(left, *pair) for pair in ((meet, low), (found, at_low), (slope, down)))
        high, at_high, up = (np.where(left, *pair) for pair in ((high, meet), (at_high, found), (up, slope)))
    return best
