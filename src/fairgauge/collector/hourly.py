"""How many answers a study takes in an hour, if it says so: an honest study knows how many to expect."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fairgauge.collector.stores.base import Published, Store
from fairgauge.server.coarse_time import bucket_of
from fairgauge.server.refusals import TooMany

HOUR = 3600
READ_SECONDS = 1.0  # how old may be what is known of the answers that other collectors took


@dataclass
class _Hour:
    """One hour of one study."""

    start: int
    used: int = 0
    waiting: int = 0  # answers that are being stored
    read: float | None = None  # when the store was last asked
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)


class Hourly:
    """Counts the answers of this hour, for studies that have a limit.

    What is in the store counts, whoever put it there, and so do the answers that wait to be stored here.  Several
    collectors of one database see each other's answers after a second: together they may take what they get in that
    second beyond the limit.
    """

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._hours: dict[int, _Hour] = {}

    async def take(self, kept: Published, count: int) -> None:
        """Make room for answers to a study.

        Raises:
            TooMany: If it has taken its number for this hour.
        """
        if kept.hourly is None:
            return
        now = self._clock()
        start = bucket_of(now, HOUR)
        hour = self._hours.get(kept.number)
        if hour is None or hour.start != start:
            hour = self._hours[kept.number] = _Hour(start)
        if hour.read is None:  # nobody is let in before it is known how many there are
            async with hour.reading:
                if hour.read is None:
                    await self._read(kept, hour)
        elif time.monotonic() - hour.read >= READ_SECONDS:
            await self._read(kept, hour)
        if hour.used + count > kept.hourly:
            left = max(0, kept.hourly - hour.used)
            told = f"This study takes {kept.hourly} answers in an hour, and {left} are left of this one."
            raise TooMany(told, start + HOUR - now)
        hour.used += count
        hour.waiting += count

    async def _read(self, kept: Published, hour: _Hour) -> None:
        if hour.read is not None:
            hour.read = time.monotonic()  # others go on with what is known
        stored = await self._store.arrivals(kept.number)
        known = sum(came for bucket, came in stored.items() if hour.start <= bucket < hour.start + HOUR)
        hour.used = max(hour.used, known + hour.waiting)
        hour.read = time.monotonic()

    def settle(self, kept: Published, count: int, fresh: int) -> None:
        """Say how many of the answers were new: the others take no room."""
        hour = self._hours.get(kept.number)
        if hour is not None:
            hour.waiting = max(0, hour.waiting - count)
            hour.used = max(0, hour.used - (count - fresh))
