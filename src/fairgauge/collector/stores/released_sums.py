"""Sums of answers: what an answer adds to them, which of them may be seen when, and how they were at a few moments.

**Batches.**  Where one answer by itself is for nobody to see, answers join batches of B in the order in which they are
stored, whatever their symbols are.  The oldest B leave when 2B wait; at closing all leave, those that are left over as
one batch.  Each batch leaves with secret draws of its own (:mod:`fairgauge.crowd.secret_draws`), made in the
transaction that closes it: what is stored, and what anyone ever sees, is their sum.  So what counts tell of one person
does not depend on how many others there are, or on who knows those.  A study of sites shows nothing before its end,
adds no draws, and shows nothing at all if they are too few: what would come between two sums of few contributors is one
contributor's.

**Looks.**  A page shows how an interval shrank: the tally is kept as it was when the number of answers passed a power
of the square root of 2, from 128 on, two rows for each doubling, so some 60 for a billion answers.  A look has no time
and no ids.  All it adds to what the tally says is how often each symbol was among the first so many.
"""

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from operator import itemgetter
from typing import TypeVar

from fairgauge.collector.stores.store import Row
from fairgauge.crowd import blanket_weights, draw_symbols
from fairgauge.study import parse
from fairgauge.study.mechanism import added

_LEAST = 128  # answers before the first look
_PART = 16  # answers since the last check, as a part of all before, that make another check worth its cost

_K = TypeVar("_K")


def payload_text(payload: Iterable[int]) -> str:
    """Return what an answer holds as it is kept."""
    return ",".join(map(str, payload))


def payload_of(text: str) -> tuple[int, ...]:
    """Return what was kept."""
    return tuple(map(int, text.split(",")))


def summed(payloads: Iterable[tuple[_K, str]]) -> dict[tuple[_K, int], int]:
    """Add up what answers hold, apart for each key, place by place.

    >>> summed([("a", "5"), ("b", "3,-4"), ("a", "5"), ("b", "1,4")])
    {('a', 5): 2, ('b', 0): 4, ('b', 1): 0}
    """
    sums: dict[tuple[_K, int], int] = {}
    for (key, text), times in Counter(payloads).items():  # the same symbol comes often
        for place, amount in added(payload_of(text)):
            sums[key, place] = sums.get((key, place), 0) + times * amount
    return sums


def placed(payloads: Iterable[str], taken: int, size: int) -> dict[tuple[int, int], int]:
    """Add up answers by their batch and place, given in order, after so many that were taken before.

    >>> sorted(placed(["7", "7", "5"], taken=9, size=10).items())
    [((0, 7), 1), ((1, 5), 1), ((1, 7), 1)]
    """
    return summed((number // size, payload) for number, payload in enumerate(payloads, start=taken))


def closed_batches(taken: int, size: int, *, at_end: bool = False) -> int:
    """Return how many batches of an open study are closed when it has taken so many answers.

    >>> [closed_batches(taken, 10) for taken in (9, 10, 19, 20, 29, 30)]
    [0, 0, 0, 1, 1, 2]
    >>> closed_batches(30, 10, at_end=True)
    0
    """
    return 0 if at_end else max(0, taken // size - 1)


def may_leave(taken: int, size: int, *, at_end: bool = False) -> bool:
    """Tell whether a study that closes with so many answers shows what they were.

    >>> may_leave(9, 10), may_leave(0, 10), may_leave(9, 10, at_end=True), may_leave(10, 10, at_end=True)
    (True, False, False, True)
    """
    return taken >= (size if at_end else 1)


def drawn(document: bytes) -> Counter[int]:
    """Return fresh secret draws for a batch of a study; none if it has no crowd."""
    count, weights = _terms(document)
    return draw_symbols(weights, count) if count else Counter()


@lru_cache(maxsize=16)
def _terms(document: bytes) -> tuple[int, tuple[int, ...]]:
    """Return how many draws each batch of a study has, and the weights that they are drawn by."""
    study = parse(document)
    return (0, ()) if study.release is None else (study.release.draws, blanket_weights(study.channels))


def leaving(first: int | None, taken: int, size: int, *, at_end: bool, closed: bool) -> int | None:
    """Return up to which batch what waits is seen next, if this is the first one that waits; None if it has to wait.

    It depends on nothing that a kill could change: whoever tries again lets the same counts go.

    >>> leaving(0, 29, 10, at_end=False, closed=False), leaving(1, 29, 10, at_end=False, closed=False)
    (1, None)
    >>> leaving(0, 29, 10, at_end=False, closed=True), leaving(1, 29, 10, at_end=False, closed=True)
    (1, 3)
    """
    if first is None:
        return None
    if first < closed_batches(taken, size, at_end=at_end):
        return first + 1
    return taken // size + 1 if closed and may_leave(taken, size, at_end=at_end) else None


def step_of(total: int) -> int | None:
    """Return the number of the last power of the square root of 2 that a total has passed; None if it is too small.

    >>> step_of(127), step_of(128), step_of(181), step_of(182), step_of(256)
    (None, 14, 14, 15, 16)
    """
    return None if total < _LEAST else (total * total).bit_length() - 1


class Pace:
    """Tells when to look: seldom enough that answers do not wait for it, often enough to miss no step.

    Every process has a pace of its own.  That two of them look at the same step does no harm: the first one counts.
    """

    def __init__(self) -> None:
        self._since: dict[int, int] = {}
        self._total: dict[int, int] = {}

    def due(self, fresh: Iterable[Row]) -> list[int]:
        """Count new answers, and return the studies that are worth a look."""
        found = []
        for study, count in Counter(map(itemgetter(0), fresh)).items():
            since = self._since[study] = self._since.get(study, 0) + count
            if since >= self._total.get(study, _LEAST) // _PART:
                found.append(study)
        return found

    def looked(self, study: int, total: int) -> None:
        """Remember how many answers a study has."""
        self._since.pop(study, None)
        self._total[study] = max(total, _LEAST)
