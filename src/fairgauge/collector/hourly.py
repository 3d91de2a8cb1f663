"""How many answers a study takes in an hour, if it says so: an honest study knows how many to expect."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from fairgauge.collector.buckets import bucket_of
from fairgauge.collector.refusals import TooMany
from fairgauge.collector.stores.base import Published, Store

HOUR = 3600
READ_SECONDS = 1.0  # how old may be what is known of the answers that other collectors took


@dataclass
class _Hour:
    """One hour of one study."""

    start: int
    used: int = 0
    waiting: int = 0  # answers that are being stored
    read: float = field(default=-READ_SECONDS)


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
        if time.monotonic() - hour.read >= READ_SECONDS:
            hour.read = time.monotonic()
            stored = await self._store.arrivals(kept.number)
            known = sum(came for bucket, came in stored.items() if start <= bucket < start + HOUR)
            hour.used = max(hour.used, known + hour.waiting)
        if hour.used + count > kept.hourly:
            left = max(0, kept.hourly - hour.used)
            told = f"This study takes {kept.hourly} answers in an hour, and {left} are left of this one."
            raise TooMany(told, start + HOUR - now)
        hour.used += count
        hour.waiting += count

    def settle(self, kept: Published, count: int, fresh: int) -> None:
        """Say how many of the answers were new: the others take no room."""
        hour = self._hours.get(kept.number)
        if hour is not None:
            hour.waiting = max(0, hour.waiting - count)
            hour.used = max(0, hour.used - (count - fresh))
