"""How surprising a gap is, if the true one were within a tolerance."""

from collections.abc import Iterable, Mapping

from fairgauge.estimation.reader import Reader
from fairgauge.targets.comparisons import Pair


def p_value(reader: Reader, pair: Pair, tolerance: float) -> float:
    """Return the smallest alpha at which the interval still excludes every gap within the tolerance.

    All gaps that are compared hold together at alpha, so this is Bonferroni's p-value; :func:`holm` sharpens them.

    Guarantee: as the interval's: a gap within the tolerance gives alpha or less at most as often as alpha.

    Args:
        reader: The counts.
        pair: The two sides, by number.
        tolerance: The largest gap that is acceptable, from 0 to 2.
    """

    def excluded(alpha: float) -> bool:
        return reader.excludes(pair, tolerance, alpha)

    return reader.least_level(excluded)


def p_values(reader: Reader, pairs: Iterable[Pair], tolerance: float) -> dict[Pair, float]:
    """Return the p-values of the gaps that are told, of all that are compared.

    Guarantee: as the intervals'; they hold together.  They are Holm's: every gap has its own equal part of alpha.
    """
    found = {pair: p_value(reader, pair, tolerance) for pair in pairs}
    return holm(found, len(reader.estimands.compared))


def holm(together: Mapping[Pair, float], compared: int) -> dict[Pair, float]:
    r"""Return Holm's p-values from Bonferroni's: those of m comparisons that are each m times their own.

    Whether a gap is told depends on the answers, so those that are not count, too: as if their p-values were 1.

    .. math:: p'_{(k)} = \max_{j \le k} \, \min(1, (m - j + 1) \, p_{(j)})

    Guarantee: as the intervals'; however the comparisons depend on each other, the chance that any gap within the
    tolerance gets a p-value of alpha or less is at most alpha.  None is larger than Bonferroni's.

    >>> holm({(0, 1): 0.003, (0, 2): 0.015, (1, 2): 1.0}, 3)
    {(0, 1): 0.003, (0, 2): 0.01, (1, 2): 1.0}
    """
    m, least, found = compared, 0.0, {}
    for place, pair in enumerate(sorted(together, key=lambda pair: together[pair])):
        p = together[pair]
        # What is not excluded at 1/2 was not looked for any further: it may be anything up to 1.
        least = max(least, 1.0 if p >= 1 else p if place == 0 else p * (m - place) / m)
        found[pair] = least
    return {pair: found[pair] for pair in together}
