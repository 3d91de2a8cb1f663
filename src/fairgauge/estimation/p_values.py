"""How surprising a gap is, if the true one were within a tolerance."""

from fairgauge.estimation.reader import Reader


def p_value(reader: Reader, pair: tuple[int, int], tolerance: float) -> float:
    """Return the smallest alpha at which the interval still excludes every gap within the tolerance.

    Guarantee: as the interval's: a gap within the tolerance gives alpha or less at most as often as alpha.

    Args:
        reader: The counts.
        pair: The two groups, by number.
        tolerance: The largest gap that is acceptable, from 0 to 2.
    """

    def excluded(alpha: float) -> bool:
        return reader.excludes(pair, tolerance, alpha)

    return reader.least_level(excluded)
