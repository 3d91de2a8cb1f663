"""How much is taken in a second: a rate for each class of requests, charged before the work is done."""

import asyncio
import contextlib
import time
from collections.abc import Callable

from fairgauge.collector.config import Rates
from fairgauge.collector.refusals import TooMany

BURST_SECONDS = 10.0
BATCHES = 0.5  # batches have rates of their own, half of what single answers have: neither uses up the other's


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


class Turnstile:
    """One rate for each class of requests."""

    def __init__(self, rates: Rates) -> None:
        named = {name: getattr(rates, name) for name in rates.__struct_fields__}
        self._rates = {name: Rate(rate) for name, rate in named.items()}
        self._rates |= {f"{name} in batches": Rate(named[name] * BATCHES) for name in ("answers", "open", "tickets")}

    def enter(self, kind: str, count: float = 1) -> None:
        """Let a request in.

        Raises:
            TooMany: With the time to wait.
        """
        seconds = self._rates[kind].take(count)
        if seconds:
            raise _too_many(kind, seconds)

    async def turn(self, kind: str, patience: float) -> None:
        """Let a request in when it is its turn: each waits for those before it.

        Whoever has many connections has as many places in the line, and everybody else has one, too.  And those who
        are refused are refused late: answering a flood at once invites the next one.

        Raises:
            TooMany: If its turn has not come after so many seconds.
        """
        rate, seconds = self._rates[kind], 0.0
        try:
            async with asyncio.timeout(patience), rate.line:
                while seconds := rate.take():
                    await asyncio.sleep(seconds)
        except TimeoutError:
            raise _too_many(kind, max(seconds - patience, 1.0)) from None

    async def slow(self, kind: str, patience: float) -> None:
        """Let a request pass when it is its turn, or after so many seconds."""
        with contextlib.suppress(TooMany):
            await self.turn(kind, patience)

    def owe(self, kind: str, count: float) -> None:
        """Charge what came in after a request was let in."""
        self._rates[kind].owe(count)


def _too_many(kind: str, seconds: float) -> TooMany:
    return TooMany(f"There is a limit on how many {kind} a second are taken.", seconds)
