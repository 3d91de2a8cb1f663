"""Live pages: one poll of a study for everyone who watches it, sent as server-sent events.

A listener is sent the newest state only.  One that is slow skips states, and holds up nobody.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, contextmanager

from fairgauge.collector.load_limits import STRANGER, Slots
from fairgauge.collector.pages.html import templates
from fairgauge.collector.pages.results import Reckoner, Results
from fairgauge.collector.pages.speaking import ENGLISH
from fairgauge.collector.service import Collector, Entry
from fairgauge.languages import Voice
from fairgauge.server.logs import log_fault
from fairgauge.server.server_errors import Stopping

POLL_SECONDS = 1.0
BEAT_SECONDS = 15.0  # a comment from time to time tells both sides that the other one is still there
_PART = 10  # working results out may take a tenth of the time
_RETRY = b"retry: 3000\n\n"
_OVER = b"event: over\ndata: \n\n"


class Live:
    """Everyone who watches, by study."""

    def __init__(self, collector: Collector, reckoner: Reckoner) -> None:
        self._collector = collector
        self._reckoner = reckoner
        self._watches: dict[str, _Watch] = {}
        self._stopped = asyncio.Event()
        self._places = Slots("listeners", collector.config.limits.listeners)
        collector.metrics.listeners.set_function(lambda: self.listeners)

    @property
    def listeners(self) -> int:
        """How many there are."""
        return sum(watch.listeners for watch in self._watches.values())

    def stop(self) -> None:
        """Let everyone go, so that the collector can end; browsers come back by themselves."""
        self._stopped.set()
        for watch in self._watches.values():
            watch.tell()

    def place(self, kind: str = STRANGER) -> AbstractContextManager[None]:
        """Take a place of a kind for as long as this lasts; whoever is sent something takes it before that begins."""
        return self._places.taken(kind)

    def join(self, entry: Entry, voice: Voice = ENGLISH) -> AsyncIterator[bytes]:
        """Return events for one more listener, in a language.

        Raises:
            Stopping: If the collector is about to end.
        """
        if self._stopped.is_set():
            raise Stopping("The collector is stopping.", 2)
        return self._listen(entry, voice)

    async def _listen(self, entry: Entry, voice: Voice) -> AsyncIterator[bytes]:
        with self._watching(entry) as watch:
            seen = 0
            yield _RETRY
            while not self._stopped.is_set():
                if watch.version > seen:
                    seen, found = watch.version, watch.found
                    yield await asyncio.shield(watch.event(voice))  # others may wait for it too
                    if found is not None and found.over:
                        yield _OVER
                        return
                elif not await watch.wait(BEAT_SECONDS):
                    yield b":\n\n"

    @contextmanager
    def _watching(self, entry: Entry) -> Iterator["_Watch"]:
        watch = self._watches.get(entry.digest)
        if watch is None:
            watch = self._watches[entry.digest] = _Watch()
            watch.task = asyncio.get_running_loop().create_task(self._poll(entry, watch))
        watch.listeners += 1
        try:
            yield watch
        finally:
            watch.listeners -= 1
            if watch.listeners == 0 and watch.task is not None:
                watch.task.cancel()
                self._watches.pop(entry.digest, None)

    async def _poll(self, entry: Entry, watch: "_Watch") -> None:
        last: Results | None = None
        while True:
            started = time.monotonic()
            try:
                found = await self._reckoner.results(entry)
            except Exception as error:  # noqa: BLE001 - a store that is away now may be back at the next turn
                log_fault(error)
            else:
                if found is not last:
                    last = found
                    watch.show(found)
            await asyncio.sleep(max(POLL_SECONDS, _PART * (time.monotonic() - started)))


class _Watch:
    """A study that is watched: what is newest, as an event in every language that is listened to, and a bell."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.listeners = 0
        self.version = 0
        self.found: Results | None = None
        self._events: dict[Voice, asyncio.Future[bytes]] = {}
        self._bell = asyncio.Event()

    def show(self, found: Results) -> None:
        """Take what is newest, and wake everyone who waits."""
        self.found, self._events = found, {}
        self.version += 1
        self.tell()

    def event(self, voice: Voice) -> "asyncio.Future[bytes]":
        """Return what is newest as an event; it is written once for all who listen in the same language."""
        if self.found is None:
            raise LookupError("there is nothing to show yet")
        if voice not in self._events:
            self._events[voice] = asyncio.ensure_future(asyncio.to_thread(event_of, self.found, voice))
        return self._events[voice]

    def tell(self) -> None:
        """Wake everyone who waits."""
        self._bell.set()
        self._bell = asyncio.Event()

    async def wait(self, seconds: float) -> bool:
        """Wait for news; False if there are none for so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._bell.wait()
        except TimeoutError:
            return False
        return True


def event_of(results: Results, voice: Voice) -> bytes:
    """Return what a page shows of results, as an event."""
    text = templates().get_template("live.html").render(results=results, told=results.told(voice), voice=voice)
    lines = "".join(f"data: {line}\n" for line in text.splitlines())
    return f"event: results\n{lines}\n".encode()
