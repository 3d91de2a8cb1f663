"""A token bucket: so many a second on average, charged before the work is done."""

import asyncio
import time
from collections.abc import Callable

_BURST_SECONDS = 10.0


class TokenBucket:
    """So many a second on average, and a burst of ten seconds' worth at once.

    What is asked for is taken if anything is left, and then it may owe: so a large batch passes, and those after it
    wait.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._most = max(1.0, rate * _BURST_SECONDS)
        self._level = self._most
        self._clock = clock
        self._last = clock()
        self.line = asyncio.Lock()  # those who wait for their turn, in the order in which they came

    def take(self, count: float = 1) -> float:
        """Take some; return 0, or how many seconds to wait before asking again."""
        now = self._clock()
        self._level = min(self._most, self._level + (now - self._last) * self._rate)
        self._last = now
        if self._level < 1:
            return (1 - self._level) / self._rate
        self._level -= count
        return 0.0

    def owe(self, count: float) -> None:
        """Take some more for what has begun already."""
        self._level -= count
