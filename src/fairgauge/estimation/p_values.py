"""How surprising a gap is, if the true one were within a tolerance."""

from fairgauge.estimation.reader import Reader
from fairgauge.goals.sides import Pair

_LEAST = 1e-12
_STEPS = 12


def p_value(reader: Reader, pair: Pair, tolerance: float) -> float:
    """Return the smallest alpha at which the interval still excludes every gap within the tolerance.

    Guarantee: as the interval's: a gap within the tolerance gives less than alpha at most as often as alpha.

    Args:
        reader: The counts.
        pair: The two sides, by number.
        tolerance: The largest gap that is acceptable, from 0 to 2.
    """

    def excluded(alpha: float) -> bool:
        return reader.excludes(pair, tolerance, alpha)

    if excluded(_LEAST):
        return _LEAST
    if not excluded(0.5):
        return 1.0
    low, high = _LEAST, 0.5
    for _ in range(_STEPS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if excluded(middle) else (middle, high)
    return high
