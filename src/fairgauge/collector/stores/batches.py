"""Batches: which answers of a study its readers may see the sum of, where one by itself is for nobody to see.

Answers join batches of B in the order in which they are stored, whatever their symbols are.  The oldest B leave when 2B
wait; at closing all leave, those that are left over as one batch.  Each batch leaves with secret draws of its own
(:mod:`fairgauge.crowd.secret_draws`), made in the transaction that closes it: what is stored, and what anyone ever
sees, is their sum.  So what counts tell of one person does not depend on how many others there are, or on who knows
those.

A study of sites shows nothing before its end, adds no draws, and shows nothing at all if they are too few: what would
come between two sums of few contributors is one contributor's.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import lru_cache

from fairgauge.collector.stores.payloads import summed
from fairgauge.crowd import blanket_weights, draw_symbols
from fairgauge.errors import FairgaugeError
from fairgauge.server.logs import log
from fairgauge.study import parse

Note = Callable[[str, int, Mapping[int, int]], None]  # told the study, the batch and its counts before they are seen


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


def unnoted(_study: str, _batch: int, _counts: Mapping[int, int]) -> None:
    """Note nothing: what a store does until a collector gives it a record."""


async def let_go_soon(let_go: Callable[[int], Awaitable[int]], numbers: Iterable[int]) -> None:
    """Let batches go after their answers are stored; if that fails it is tried again later, and answers are stored."""
    for number in numbers:
        try:
            await let_go(number)
        except (FairgaugeError, OSError) as error:
            log("a batch waits", reason=type(error).__name__)


def placed(payloads: Iterable[str], taken: int, size: int) -> dict[tuple[int, int], int]:
    """Add up answers by their batch and place, given in order, after so many that were taken before.

    >>> sorted(placed(["7", "7", "5"], taken=9, size=10).items())
    [((0, 7), 1), ((1, 5), 1), ((1, 7), 1)]
    """
    return summed((number // size, payload) for number, payload in enumerate(payloads, start=taken))
