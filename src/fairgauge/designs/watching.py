"""How far a search for a design is, for whoever waits for it.

A design may take several searches one after the other, and how many is not known beforehand.  Each goes on until what
was found is proven to be close to the best, so its progress is how much of the way to that it has come.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

# Told which search it is, from 1 on, and how much of it is done, from 0 to 1.
Watcher = Callable[[int, float], object]


@dataclass
class _Watch:
    watcher: Watcher
    searches: int = 0


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of every search that is made meanwhile."""
    before = _WATCH.set(_Watch(watcher))
    try:
        yield
    finally:
        _WATCH.reset(before)


@dataclass
class Search:
    """One search, which tells how far it is.

    Args:
        close: The search ends where what was found is this part above what is proven.

    >>> told = []
    >>> with watched(lambda number, part: told.append((number, round(part, 2)))):
    ...     search = Search(0.01)
    ...     for gap in (1.0, 0.1, 0.2, 0.01):
    ...         search.within(gap)
    >>> told
    [(1, 0.0), (1, 0.5), (1, 0.5), (1, 1.0)]
    """

    close: float
    _first: float = field(default=math.inf, init=False)
    _part: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._watch = _WATCH.get()
        if self._watch is not None:
            self._watch.searches += 1
            self._number = self._watch.searches

    def within(self, gap: float) -> None:
        """Tell that what was found is at most this part above the best."""
        if self._watch is None:
            return
        # Before anything is proven the gap may be infinite; the way is measured in powers.
        gap = min(max(gap, self.close), 100.0) if not math.isnan(gap) else 100.0
        if math.isinf(self._first):
            self._first = max(gap, 1.01 * self.close)
        done = math.log(self._first / gap) / math.log(self._first / self.close)
        self._part = min(1.0, max(self._part, done))
        self._watch.watcher(self._number, self._part)
