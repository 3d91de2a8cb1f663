"""Time that is acted on for good: a steady clock, and answers that are removed when their time is over.

A machine's clock can be wrong for a moment: a time server that answers nonsense, a virtual machine that was paused, a
person at the keyboard.  A study that closes because of that is closed for good, devices take it for a final no, and
answers that are removed do not come back.  So time goes on as the monotonic clock says, and the wall clock is believed
again when it has kept to its new time for a while.
"""

import time
from collections.abc import Awaitable, Callable

from fairgauge.collector.stores.store import Event, Published, Store
from fairgauge.server.logs import log
from fairgauge.study import Study

_TOLERANCE = 60.0  # seconds by which the two may differ: clocks are corrected all the time, by little
_PATIENCE = 600.0  # seconds for which a new time must stand before it is believed
DAY, HOUR = 86_400, 3600  # seconds


class SteadyClock:
    """Tells the time, and takes no notice of jumps that do not last.

    >>> wall, steady = [1000.0], [0.0]
    >>> clock = SteadyClock(lambda: wall[0], lambda: steady[0])
    >>> wall[0], steady[0] = 32_000_000.0, 6.0  # a year ahead, for six seconds
    >>> clock()
    1006.0
    """

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._offset = wall() - monotonic()
        self._jumped: tuple[float, float] | None = None  # the offset since a jump, and when it was first seen

    def __call__(self) -> float:
        """Return the seconds since 1970."""
        wall, steady = self._wall(), self._monotonic()
        offset = wall - steady
        if abs(offset - self._offset) <= _TOLERANCE:
            # Small corrections are followed at once, and the jump, if there was one, is over.
            self._offset, self._jumped = offset, None
            return wall
        if self._jumped is None or abs(offset - self._jumped[0]) > _TOLERANCE:
            self._jumped = (offset, steady)
        if steady - self._jumped[1] >= _PATIENCE:
            self._offset, self._jumped = offset, None
            return wall
        return self._offset + steady


class Retention:
    """Removes the answers of sealed studies whose ``retention`` is over.

    A study closes at its own time or, before that, in a time bucket, and days count from that time or from the bucket's
    first second: nothing is kept for longer than the
    study says, give or take the hour between two looks.  Each study's document is read once.
    """

    def __init__(self, store: Store, read: Callable[[str], Awaitable[Study]]) -> None:
        """Take the store, and what reads a study by its digest."""
        self._store, self._read = store, read
        self._days: dict[str, int | None] = {}
        self._looked: int | None = None  # the hour of the last look
        self._began: float | None = None  # when the first look was
        self._said = ""  # why nothing was removed
        self._away = False  # whether the clock says that the collector was away for long, or is wrong

    async def keep_to(self, now: float, bucket: int) -> list[str]:
        """Remove what is to be removed by now, and return the digests of those studies."""
        hour = int(now) // HOUR
        if hour == self._looked:
            return []
        latest = await self._store.latest()
        if latest > now:
            return self._wait("the clock is behind what is stored")
        if self._began is None:
            self._began, self._away = now, bool(latest) and now - latest > DAY  # a new store has nothing to lose
        if self._away and now - self._began < HOUR:
            # A machine that starts with a wrong clock looks like this, too, and what is removed does not come back: the
            # time must stand for an hour, in which time servers correct it.
            return self._wait("the clock is more than a day ahead of what is stored")
        done = [kept.digest for kept in await self._store.studies() if await self._is_over(kept, now)]
        for digest in done:
            kept = await self._store.study(digest)
            if kept is not None:
                gone = await self._store.drop_answers(kept.number, Event(bucket, "clock", "removed answers", digest))
                if gone:
                    log("removed answers", study=digest, reason=await self._store.scrub())
        self._looked, self._said = hour, ""
        return done

    def _wait(self, reason: str) -> list[str]:
        """Remove nothing, and say why: once, not at every look."""
        if reason != self._said:
            self._said = reason
            log("waiting", reason=reason)
        return []

    def look_again(self) -> None:
        """Look before the hour is over: a study was sealed."""
        self._looked = None

    async def _is_over(self, kept: Published, now: float) -> bool:
        if kept.closed is None or not kept.sealed or kept.dropped is not None:
            return False
        if kept.digest not in self._days:
            self._days[kept.digest] = (await self._read(kept.digest)).retention
        days = self._days[kept.digest]
        return days is not None and now >= kept.closed + days * DAY
