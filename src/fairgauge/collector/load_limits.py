"""What strangers can take of a collector: a rate for each class of requests, places for what takes long, and turns.

**Rates** say how much is taken in a second, charged before the work is done; a study may say how many answers it takes
in an hour, since an honest study knows how many to expect.

**Places** for what takes long are as many for operators as for readers as for strangers, and bytes of bodies have a
largest number.

**Turns**: single answers go first.  Requests that are no answers begin one by one, each after all that is ready, and
beside answers two thousand in a second: many at once, or without end, are many short waits, not one long one for
whoever answers meanwhile.

Batches and exports go a slice at a time, all of them through one lane.  A slice takes a millisecond or two; then
everything else that is ready gets its turn, and for as long as single answers come in the lane rests three times as
long as it worked.  So whoever sends batches or reads exports, however many there are of them, gets a quarter of the
collector's time at most while devices answer.  So does whoever asks for reports and pages, which are made in threads.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from fairgauge.collector.config import Rates
from fairgauge.collector.stores.store import Published, Store
from fairgauge.server.coarse_time import bucket_of
from fairgauge.server.server_errors import BrokenOff, Busy, TooMany
from fairgauge.server.slow_clients import GONE
from fairgauge.server.token_bucket import TokenBucket

_T = TypeVar("_T")
_BATCHES = 0.5  # batches have rates of their own, half of what single answers have: neither uses up the other's
_HOUR = 3600
_READ_SECONDS = 1.0  # how old may be what is known of the answers that other collectors took
STRANGER = "stranger"
_REST = 3.0  # how much longer the lane rests than it worked
_CALM_SECONDS = 0.1  # without a single answer for so long, it does not rest
_BESIDE_ANSWERS = 2000.0  # requests that are no answers, in a second, while single answers come in: a fifth of the time
_BURST_SECONDS = 0.05  # so many seconds' worth may begin at once


class Turnstile:
    """One rate for each class of requests."""

    def __init__(self, rates: Rates) -> None:
        named = {name: getattr(rates, name) for name in rates.__struct_fields__}
        self._rates = {name: TokenBucket(rate) for name, rate in named.items()}
        self._rates |= {
            f"{name} in batches": TokenBucket(named[name] * _BATCHES) for name in ("answers", "open", "tickets")
        }

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
        start = bucket_of(now, _HOUR)
        hour = self._hours.get(kept.number)
        if hour is None or hour.start != start:
            hour = self._hours[kept.number] = _Hour(start)
        if hour.read is None:  # nobody is let in before it is known how many there are
            async with hour.reading:
                if hour.read is None:
                    await self._read(kept, hour)
        elif time.monotonic() - hour.read >= _READ_SECONDS:
            await self._read(kept, hour)
        if hour.used + count > kept.hourly:
            left = max(0, kept.hourly - hour.used)
            told = f"This study takes {kept.hourly} answers in an hour, and {left} are left of this one."
            raise TooMany(told, start + _HOUR - now)
        hour.used += count
        hour.waiting += count

    async def _read(self, kept: Published, hour: _Hour) -> None:
        if hour.read is not None:
            hour.read = time.monotonic()  # others go on with what is known
        stored = await self._store.arrivals(kept.number)
        known = sum(came for bucket, came in stored.items() if hour.start <= bucket < hour.start + _HOUR)
        hour.used = max(hour.used, known + hour.waiting)
        hour.read = time.monotonic()

    def settle(self, kept: Published, count: int, fresh: int) -> None:
        """Say how many of the answers were new: the others take no room."""
        hour = self._hours.get(kept.number)
        if hour is not None:
            hour.waiting = max(0, hour.waiting - count)
            hour.used = max(0, hour.used - (count - fresh))


class Slots:
    """As many places for operators as for readers as for strangers.

    >>> slots = Slots("exports", 1)
    >>> with slots.taken("stranger"), slots.taken("operator"):
    ...     slots.check("stranger")
    Traceback (most recent call last):
    ...
    fairgauge.server.server_errors.Busy: Too many exports at once: try again later.
    """

    def __init__(self, what: str, most: int) -> None:
        self._what = what
        self._most = most
        self._used: Counter[str] = Counter()

    @property
    def used(self) -> int:
        """How many places are taken in all."""
        return self._used.total()

    def check(self, kind: str) -> None:
        """Refuse if every place of a kind is taken.

        Raises:
            Busy: If so.
        """
        if self._used[kind] >= self._most:
            raise Busy(f"Too many {self._what} at once: try again later.", 30)

    @contextmanager
    def taken(self, kind: str) -> Iterator[None]:
        """Take a place for as long as this lasts."""
        self.check(kind)
        self._used[kind] += 1
        try:
            yield
        finally:
            self._used[kind] -= 1


class Room:
    """Bytes that are held for requests which are not complete yet, no more than so many in all."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.held = 0

    def guest(self) -> "_Guest":
        """Hold bytes for one request for as long as this lasts."""
        return _Guest(self)

    def take(self, count: int) -> None:
        """Hold more.

        Raises:
            Busy: If there is no room for it.
        """
        if self.held + count > self._most:
            raise Busy("Too much is being received at once: send it again in a moment.", 1)
        self.held += count


class _Guest:
    """What one request holds."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.bytes = 0

    def __enter__(self) -> "_Guest":
        return self

    def __exit__(self, *_error: object) -> None:
        self._room.held -= self.bytes

    def hold(self, count: int) -> None:
        """Hold more.

        Raises:
            Busy: If there is no room for it.
        """
        self._room.take(count)
        self.bytes += count


class Lane:
    """One slice at a time, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._door = asyncio.Lock()
        self._free = asyncio.Lock()
        self._answered = -_CALM_SECONDS
        self._next = 0.0  # when a request that is no answer may begin

    def answering(self) -> None:
        """Say that a single answer came in."""
        self._answered = time.monotonic()

    async def begin(self) -> None:
        """Wait until a request that is no answer may begin: one does in each round of the event loop."""
        async with self._door:
            now = time.monotonic()
            self._next = max(self._next, now - _BURST_SECONDS) + 1 / _BESIDE_ANSWERS
            await asyncio.sleep(max(0.0, self._next - now) if now - self._answered < _CALM_SECONDS else 0)

    @asynccontextmanager
    async def slice(self) -> AsyncIterator[None]:
        """Do a little work when it is its turn; what is within must not wait for anything."""
        async with self._free:
            began = time.monotonic()
            yield
            await asyncio.sleep(self.rest(began))

    def rest(self, began: float) -> float:
        """Return for how many seconds to rest after work that began at some time."""
        now = time.monotonic()
        return (now - began) * _REST if now - self._answered < _CALM_SECONDS else 0


@dataclass(frozen=True)
class Asker:
    """Who asks for something: an operator, a reader, a stranger, or everyone who looks; and their request."""

    kind: str
    scope: Mapping[str, Any] = field(default_factory=dict)


EVERYONE = Asker("everyone")


class Desk:
    """Work that takes long, in a thread: one thing at a time for strangers, and one for everybody else.

    All threads share one interpreter with whoever answers: six that made reports for strangers let devices wait for a
    second.  What was made for a stranger is sent at once, and the next thing for one begins after a rest.
    """

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._strangers, self._others = asyncio.Lock(), asyncio.Lock()

    async def work(self, run: Callable[[], _T], asker: Asker) -> _T:
        """Do something for a stranger, or for somebody else, when it is its turn.

        Raises:
            BrokenOff: If the connection that it was asked on is gone by then.
        """
        turn = self._strangers if asker.kind == STRANGER else self._others
        await turn.acquire()
        if GONE in asker.scope:
            turn.release()
            raise BrokenOff("Nobody waits for it any more.")
        began = time.monotonic()

        def done(work: asyncio.Task[_T]) -> None:
            if not work.cancelled():
                work.exception()  # which whoever waits is told, if anybody does
            rest = self._lane.rest(began) if asker.kind == STRANGER else 0
            asyncio.get_running_loop().call_later(rest, turn.release)

        work = asyncio.ensure_future(asyncio.to_thread(run))
        work.add_done_callback(done)
        return await asyncio.shield(work)  # a thread goes on, also when whoever asked has left: it is still its turn


class HeldResponse(StreamingResponse):
    """A response that takes a place for as long as it is being sent; beyond the places, it is refused."""

    def __init__(self, places: AbstractContextManager[None], body: AsyncIterator[bytes], **more: Any) -> None:
        super().__init__(body, **more)
        self._places = places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it.

        Raises:
            Busy: If there is no place left; nothing is sent then.
        """
        with self._places:
            await super().__call__(scope, receive, send)
