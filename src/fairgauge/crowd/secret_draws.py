"""Secret draws: symbols of the blanket that a collector adds to a batch, so that no count tells one answer.

Whoever adds them keeps nothing but the sum.  Drawn again for the same answers, they would tell more: two sums differ by
draws alone, and their average has half of the noise.
"""

import math
import secrets
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from fairgauge.channel import ROW_SUM, Channel

# More take longer than a collector may keep others waiting; 1,000,000 give an epsilon of about 0.004.
MOST_FOR_ONE_BATCH = 10**6
_SELDOM = 1e9


def blanket_weights(channels: Sequence[Channel]) -> tuple[int, ...]:
    """Return the blanket's weight of every symbol, tables side by side: the least of its column."""
    return tuple(min(column) for channel in channels for column in zip(*channel.table, strict=True))


def draw_symbols(weights: Sequence[int], count: int) -> Counter[int]:
    """Return how often each symbol comes in so many draws by these weights; secure, and exact.

    >>> draw_symbols((0, 5, 0), 7)
    Counter({1: 7})
    """
    ends = list(accumulate(weights))
    return Counter(bisect_right(ends, secrets.randbelow(ends[-1])) for _ in range(count))


def misfit(weights: Sequence[int], draws: int, found: Sequence[int]) -> str | None:
    r"""Say why counts less answers cannot be draws by these weights, so many in each of some batches; None if they can.

    By Chernoff a symbol of probability q is the part a of D draws with probability at most
    :math:`e^{-D\,\mathrm{kl}(a, q)}` on either side; all symbols together are refused wrongly once in 10^9.

    >>> misfit((1, 3), 10, (2, 8)), misfit((1, 3), 10, (2, 7))
    (None, 'they are 9, which is no number of batches with 10 each')
    """
    total, whole = sum(found), sum(weights)
    if min(found, default=0) < 0:
        return "a symbol is counted less often than it was sent"
    if total % draws:
        return f"they are {total:,}, which is no number of batches with {draws:,} each"
    allowed = math.log(2 * len(weights) * _SELDOM)
    for symbol, (weight, count) in enumerate(zip(weights, found, strict=True)):
        if count and not weight:
            return f"symbol {symbol} is never drawn"
        if total and total * _divergence(count / total, weight / whole) > allowed:
            return (
                f"symbol {symbol} is drawn {count:,} times of {total:,}, and {total * weight / whole:,.0f} are expected"
            )
    return None


def _divergence(part: float, chance: float) -> float:
    return sum(a * math.log(a / q) for a, q in ((part, chance), (1 - part, 1 - chance)) if a > 0 and q > 0)


def usual_draws(channels: Sequence[Channel], batch: int) -> int:
    """Return half of a batch's blanket, rounded up: how many draws there are where nobody says."""
    weight: int = sum(blanket_weights(channels))
    half: int = -(-weight * batch // (2 * ROW_SUM * len(channels)))
    return max(1, min(half, MOST_FOR_ONE_BATCH))
