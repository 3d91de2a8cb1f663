"""For how long single answers are kept, if a study says so: then they are removed, and the tally and the seal stay."""

from collections.abc import Awaitable, Callable

from fairgauge.collector.stores.base import Event, Published, Store
from fairgauge.server.logs import log
from fairgauge.study import Study

DAY, HOUR = 86_400, 3600  # seconds


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
