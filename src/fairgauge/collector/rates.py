"""How much is taken in a second: a rate for each class of requests, charged before the work is done."""

import asyncio
import contextlib

from fairgauge.collector.config import Rates
from fairgauge.server.refusals import TooMany
from fairgauge.server.token_bucket import Rate

BATCHES = 0.5  # batches have rates of their own, half of what single answers have: neither uses up the other's


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
