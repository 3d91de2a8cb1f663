"""The smallest level at which something is rejected: a p-value, and those of several gaps together."""

from collections.abc import Callable, Mapping

from fairgauge.targets.comparisons import Pair

_LEAST, _MOST, _STEPS = 1e-12, 0.5, 12
# Levels that are fixed beforehand: 0.5, 0.2, 0.1, 0.05, ... down to a millionth.
_LEVELS = tuple(digit / 10**place for place in range(1, 7) for digit in (5, 2, 1))

Rejected = Callable[[float], bool]


def by_halving(rejected: Rejected) -> float:
    """Return the smallest level that rejects, of a test that rejects at every level above one that does.

    >>> round(by_halving(lambda level: level >= 0.03), 2)
    0.03
    """
    if rejected(_LEAST):
        return _LEAST
    if not rejected(_MOST):
        return 1.0
    low, high = _LEAST, _MOST
    for _ in range(_STEPS):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if rejected(middle) else (middle, high)
    return high


def by_levels(rejected: Rejected) -> float:
    """Return the last of some levels, from the largest down, at which a test rejects, which need not be nested.

    Guarantee: p <= a only if the largest of the levels up to a rejects, so a test that errs at most as often as its
    level gives p <= a at most as often as a.  If a test rejects at one level, it may accept at a larger one:
    halving would rely on that not happening.

    >>> by_levels(lambda level: level >= 0.03), by_levels(lambda level: False)
    (0.05, 1.0)
    """
    found = 1.0
    for level in _LEVELS:
        if not rejected(level):
            break
        found = level
    return found


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
