"""How surprising a gap is, if the true one were within a tolerance."""

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.solve import Counts
from fairgauge.estimation.telling import gap_interval

_LEAST = 1e-12
_STEPS = 12


def p_value(reader: Counts, pair: tuple[int, int], tolerance: float) -> float:
    """Return the smallest alpha at which the interval still excludes every gap within the tolerance.

    Guarantee: as the interval's: a gap within the tolerance gives less than alpha at most as often as alpha.

    Args:
        reader: The counts.
        pair: The two groups, by number.
        tolerance: The largest gap that is acceptable, from 0 to 2.
    """
    gaps = reader.estimands.gaps

    def excluded(alpha: float) -> bool:
        if gaps is not None:
            gap = gaps[pair] if gaps[pair].value(reader.law) > 0 else -gaps[pair]
            return reader.beyond(gap, tolerance, alpha / len(gaps))
        try:
            interval = gap_interval(reader, pair, alpha)
        except CannotEstimate:
            return False
        return interval.low > tolerance or interval.high < -tolerance

    if excluded(_LEAST):
        return _LEAST
    if not excluded(0.5):
        return 1.0
    low, high = _LEAST, 0.5
    for _ in range(_STEPS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if excluded(middle) else (middle, high)
    return high
