"""Group commit: answers that arrive within a moment of each other share one durable commit.

While one group is being committed the next one gathers, so a slow disk makes groups larger instead of making everyone
wait longer.  An answer is acknowledged after its group's commit, never before.  Single answers go before batches: each
group takes those that wait, and then as much of the batches as does not hold up the singles that come meanwhile.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

from fairgauge.collector.logs import log
from fairgauge.collector.metrics import Metrics
from fairgauge.collector.refusals import Busy, Stopping
from fairgauge.collector.stores.base import FRESH, Row, Store
from fairgauge.errors import StoreAway, StoreError

LARGEST_GROUP = 4_000  # answers; some twenty milliseconds
BESIDE_SINGLES = 128  # answers of batches in a group that has single ones, too
ENOUGH = 256  # answers for which a group is committed without waiting for more

Submitted = tuple[list[Row], "asyncio.Future[list[int]]"]


class _Queue:
    """Submissions that wait, and how many answers they have."""

    def __init__(self) -> None:
        self._waiting: deque[Submitted] = deque()
        self.count = 0

    def add(self, one: Submitted) -> None:
        """Put a submission at the end."""
        self._waiting.append(one)
        self.count += len(one[0])

    def take(self, most: int) -> list[Submitted]:
        """Take submissions from the front until there are so many answers; the last one may go beyond."""
        found, size = [], 0
        while self._waiting and size < most:
            found.append(self._waiting.popleft())
            size += len(found[-1][0])
        self.count -= size
        return found


class Intake:
    """Gathers answers and hands them to the store, one group at a time."""

    def __init__(self, store: Store, metrics: Metrics, bucket: Callable[[], int], *, window: float, most: int) -> None:
        self._store = store
        self._metrics = metrics
        self._bucket = bucket
        self._window = window
        self._most = most
        self._singles, self._batches = _Queue(), _Queue()
        metrics.waiting.set_function(lambda: self._count)
        self._wake = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None
        self.failing = ""  # why the last commit failed; empty if it did not

    @property
    def _count(self) -> int:
        return self._singles.count + self._batches.count

    def start(self) -> None:
        """Begin to commit."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Take no more, commit what was taken, then end."""
        self._stopping = True
        self._wake.set()
        if self._task is not None:
            await self._task

    async def submit(self, rows: list[Row]) -> list[int]:
        """Store answers durably.

        Returns:
            For each row ``FRESH``, ``CLOSED``, or the symbol that its id had already.

        Raises:
            Busy: If too many are waiting.
            Stopping: If the collector is about to end.
            StoreError: If the store failed; the rows may be sent again.
        """
        if self._stopping:
            raise Stopping("Send it again in a moment.", 2)
        queue = self._singles if len(rows) == 1 else self._batches
        if queue.count and queue.count + len(rows) > self._most:
            raise Busy("Too many answers are waiting to be stored.", 1)
        done: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        queue.add((rows, done))
        self._wake.set()
        return await done

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            if not self._count:
                if self._stopping:
                    return
                self._wake.clear()
                continue
            if self._count < ENOUGH and not self._stopping:
                await asyncio.sleep(self._window)
            await self._commit(self._next_group())

    def _next_group(self) -> list[Submitted]:
        singles = self._singles.take(LARGEST_GROUP)
        return singles + self._batches.take(BESIDE_SINGLES if singles else LARGEST_GROUP)

    async def _commit(self, group: list[Submitted]) -> None:
        rows = [row for submitted, _ in group for row in submitted]
        unique: dict[tuple[int, bytes], Row] | None = None
        if len({row[1] for row in rows}) < len(rows):  # the same id more than once within this group
            unique = {row[:2]: row for row in reversed(rows)}  # reversed: the first one sent is the one that counts
        started = time.perf_counter()
        try:
            stored = await self._store.add(rows if unique is None else list(unique.values()), self._bucket())
        except Exception as error:  # noqa: BLE001 - whatever happens, nobody may wait for ever
            self._metrics.failures.labels(type(error).__name__).inc()
            if self.failing != type(error).__name__:  # once, not for every group that fails
                self.failing = type(error).__name__
                log("commits fail", reason=self.failing)
            reason = error if isinstance(error, StoreError) else StoreAway(type(error).__name__)
            for _, done in group:
                with contextlib.suppress(asyncio.InvalidStateError):
                    done.set_exception(reason)
            return
        if self.failing:
            self.failing = ""
            log("commits succeed again")
        self._metrics.commit.observe(time.perf_counter() - started)
        self._metrics.group.observe(len(stored))
        results = iter(stored if unique is None else _with_repeats(rows, unique, stored))
        for submitted, done in group:
            told = list(islice(results, len(submitted)))
            if not done.done():
                done.set_result(told)


def _with_repeats(rows: list[Row], unique: dict[tuple[int, bytes], Row], stored: list[int]) -> Iterator[int]:
    """Yield the result of every row: the second time that an id comes within a group it is no longer new."""
    found = dict(zip(unique, stored, strict=True))
    for row in rows:
        key = row[:2]
        yield found[key]
        if found[key] == FRESH:
            found[key] = unique[key][2]
