"""How surprising a gap is, if the true one were within a tolerance."""

from fairgauge.estimation.reader import Reader
from fairgauge.goals.sides import Pair


def p_value(reader: Reader, pair: Pair, tolerance: float) -> float:
    """Return the smallest alpha at which the interval still excludes every gap within the tolerance.

    Guarantee: as the interval's: a gap within the tolerance gives alpha or less at most as often as alpha.

    Args:
        reader: The counts.
        pair: The two sides, by number.
        tolerance: The largest gap that is acceptable, from 0 to 2.
    """

    def excluded(alpha: float) -> bool:
        return reader.excludes(pair, tolerance, alpha)

    return reader.least_level(excluded)
