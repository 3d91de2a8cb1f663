"""The smallest level at which something is rejected: a p-value."""

from collections.abc import Callable

_LEAST, _MOST, _STEPS = 1e-12, 0.5, 12
# Levels that are fixed beforehand: 0.5, 0.2, 0.1, 0.05, ... down to a millionth.
LEVELS = tuple(digit / 10**place for place in range(1, 7) for digit in (5, 2, 1))

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
    for level in LEVELS:
        if not rejected(level):
            break
        found = level
    return found
