"""Group commit: answers that arrive within a moment of each other share one durable commit.

While one group is being committed the next one gathers, so a slow disk makes groups larger instead of making everyone
wait longer.  An answer is acknowledged after its group's commit, never before.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from itertools import islice

from fairgauge.collector.logs import log
from fairgauge.collector.metrics import Metrics
from fairgauge.collector.refusals import Busy, Stopping
from fairgauge.collector.stores.base import FRESH, Row, Store
from fairgauge.errors import StoreAway, StoreError

LARGEST_GROUP = 20_000
ENOUGH = 256  # answers for which a group is committed without waiting for more


class Intake:
    """Gathers answers and hands them to the store, one group at a time."""

    def __init__(self, store: Store, metrics: Metrics, bucket: Callable[[], int], *, window: float, most: int) -> None:
        self._store = store
        self._metrics = metrics
        self._bucket = bucket
        self._window = window
        self._most = most
        self._pending: list[tuple[list[Row], asyncio.Future[list[int]]]] = []
        self._count = 0
        metrics.waiting.set_function(lambda: self._count)
        self._wake = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None
        self.failing = ""  # why the last commit failed; empty if it did not

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
        if self._count + len(rows) > self._most and self._count:
            raise Busy("Too many answers are waiting to be stored.", 1)
        done: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()
        self._pending.append((rows, done))
        self._count += len(rows)
        self._wake.set()
        return await done

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            if not self._pending:
                if self._stopping:
                    return
                self._wake.clear()
                continue
            if self._count < ENOUGH and not self._stopping:
                await asyncio.sleep(self._window)
            await self._commit(self._next_group())

    def _next_group(self) -> list[tuple[list[Row], asyncio.Future[list[int]]]]:
        size = end = 0
        for rows, _ in self._pending:
            size += len(rows)
            end += 1
            if size >= LARGEST_GROUP:
                break
        group, self._pending = self._pending[:end], self._pending[end:]
        self._count -= size
        return group

    async def _commit(self, group: list[tuple[list[Row], asyncio.Future[list[int]]]]) -> None:
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
