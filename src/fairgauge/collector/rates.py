"""How much is taken in a second: a rate for each class of requests."""

import time
from collections.abc import Callable

from fairgauge.collector.config import Rates
from fairgauge.collector.refusals import TooMany

BURST_SECONDS = 10.0


class Rate:
    """So many a second on average, and a burst of ten seconds' worth at once.

    What is asked for is taken if anything is left, and then it may owe: so a large batch passes, and those after it
    wait.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._most = max(1.0, rate * BURST_SECONDS)
        self._level = self._most
        self._clock = clock
        self._last = clock()

    def take(self, count: float = 1) -> float:
        """Take some; return 0, or how many seconds to wait before asking again."""
        now = self._clock()
        self._level = min(self._most, self._level + (now - self._last) * self._rate)
        self._last = now
        if self._level < 1:
            return (1 - self._level) / self._rate
        self._level -= count
        return 0.0


class Turnstile:
    """One rate for each class of requests."""

    def __init__(self, rates: Rates) -> None:
        self._rates = {name: Rate(getattr(rates, name)) for name in rates.__struct_fields__}

    def enter(self, kind: str, count: int = 1) -> None:
        """Let a request in.

        Raises:
            TooMany: With the time to wait.
        """
        seconds = self._rates[kind].take(count)
        if seconds:
            raise TooMany(f"There is a limit on how many {kind} a second are taken.", seconds)
