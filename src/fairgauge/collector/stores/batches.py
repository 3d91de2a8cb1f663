"""Batches: which answers of a study in the crowd its readers may see the counts of.

Answers join batches of B in the order in which they are stored, whatever their symbols are.  The oldest B leave when 2B
wait, so what waits always suffices for one more batch.  At closing all leave, unless there are fewer than B in all:
then nothing ever does.  So whatever is visible is a sum of batches, each of at least B answers.
"""

from collections import Counter
from collections.abc import Iterable


def closed_batches(taken: int, size: int) -> int:
    """Return how many batches of an open study are closed when it has taken so many answers.

    >>> [closed_batches(taken, 10) for taken in (9, 10, 19, 20, 29, 30)]
    [0, 0, 0, 1, 1, 2]
    """
    return max(0, taken // size - 1)


def may_leave(taken: int, size: int) -> bool:
    """Tell whether a study that closes with so many answers shows what they were.

    >>> may_leave(9, 10), may_leave(10, 10)
    (False, True)
    """
    return taken >= size


def placed(symbols: Iterable[int], taken: int, size: int) -> Counter[tuple[int, int]]:
    """Count answers by their batch and symbol, given in order, after so many that were taken before.

    >>> sorted(placed([7, 7, 5], taken=9, size=10).items())
    [((0, 7), 1), ((1, 5), 1), ((1, 7), 1)]
    """
    return Counter((place // size, symbol) for place, symbol in enumerate(symbols, start=taken))
