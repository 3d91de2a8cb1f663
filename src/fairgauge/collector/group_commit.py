"""Group commit: answers that arrive within a moment of each other share one durable commit.

While one group is being committed the next one gathers, so a slow disk makes groups larger instead of making everyone
wait longer.  An answer is acknowledged after its group's commit, never before.  Single answers go before batches: each
group takes those that wait, and then as much of the batches as does not hold up the singles that come meanwhile.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from fairgauge.collector.metrics import Metrics
from fairgauge.collector.stores.store import FRESH, Row, Store
from fairgauge.errors import StoreAway, StoreError
from fairgauge.server.logs import log
from fairgauge.server.server_errors import Busy, Stopping

_LARGEST_GROUP = 20_000  # answers; some hundred milliseconds
_AMONG_SINGLES = 2_000  # answers of a group of batches, when single answers came a moment ago and may come again
_BESIDE_SINGLES = 128  # answers of batches in a group that has single ones, too
_CALM_SECONDS = 1.0  # without a single answer for so long, groups are as large as they may be
_ENOUGH = 256  # answers for which a group is committed without waiting for more


_Told = asyncio.Future[list[str]]  # what a sender waits for
_Single = tuple[Row, _Told]


class _Batch:
    """A batch, what its sender waits for, and how far it has come."""

    def __init__(self, rows: list[Row], done: _Told) -> None:
        self._rows = rows
        self._begun = 0
        self._told: list[str] = []
        self.done = done

    @property
    def left(self) -> int:
        """How many answers have not been taken yet."""
        return len(self._rows) - self._begun

    def take(self, most: int) -> list[Row]:
        """Take the next answers."""
        part = self._rows[self._begun : self._begun + most]
        self._begun += len(part)
        return part

    def tell(self, stored: Sequence[str]) -> None:
        """Say what became of the answers that were taken."""
        self._told += stored
        if len(self._told) == len(self._rows) and not self.done.done():
            self.done.set_result(self._told)


class _Batches:
    """Batches in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: deque[_Batch] = deque()
        self.count = 0  # answers that wait, with those of batches that failed until these are passed over

    def add(self, one: _Batch) -> None:
        """Put a batch at the end."""
        self._waiting.append(one)
        self.count += one.left

    def take(self, most: int) -> list[tuple[_Batch, list[Row]]]:
        """Take so many answers from the front, or all there are."""
        found = []
        while self._waiting and most:
            first = self._waiting[0]
            if first.done.done():  # it has failed, or nobody waits for it
                self.count -= first.left
                self._waiting.popleft()
                continue
            part = first.take(most)
            most -= len(part)
            self.count -= len(part)
            found.append((first, part))
            if not first.left:
                self._waiting.popleft()
        return found


class Intake:
    """Gathers answers and hands them to the store, one group at a time."""

    def __init__(self, store: Store, metrics: Metrics, bucket: Callable[[], int], *, window: float, most: int) -> None:
        self._store = store
        self._metrics = metrics
        self._bucket = bucket
        self._window = window
        self._most = most
        self._singles: deque[_Single] = deque()  # by itself, since most answers come one by one
        self._batches = _Batches()
        self._last_single = -_CALM_SECONDS
        metrics.waiting.set_function(lambda: self._count)
        self._wake = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None
        self.failing = ""  # why the last commit failed; empty if it did not
        self.failure: StoreError | None = None  # the same as an error
        self.failed = 0.0  # when that was

    @property
    def _count(self) -> int:
        return len(self._singles) + self._batches.count

    def start(self) -> None:
        """Begin to commit."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Take no more, commit what was taken, then end."""
        self._stopping = True
        self._wake.set()
        if self._task is not None:
            await self._task

    async def submit(self, rows: list[Row]) -> list[str]:
        """Store answers durably.

        Returns:
            For each row ``FRESH``, ``CLOSED``, or what its id held already.

        Raises:
            Busy: If too many are waiting.
            Stopping: If the collector is about to end.
            StoreError: If the store failed; the rows may be sent again.
        """
        if self._stopping:
            raise Stopping("Send it again in a moment.", 2)
        single = len(rows) == 1
        before = len(self._singles) if single else self._batches.count
        if before and before + len(rows) > self._most:
            raise Busy("Too many answers are waiting to be stored.", 1)
        done: _Told = asyncio.get_running_loop().create_future()
        if single:
            self._last_single = time.monotonic()
            self._singles.append((rows[0], done))
        else:
            self._batches.add(_Batch(rows, done))
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
            if self._count < _ENOUGH and not self._stopping:
                await asyncio.sleep(self._window)
            singles = [self._singles.popleft() for _ in range(min(len(self._singles), _LARGEST_GROUP))]
            await self._commit(singles, self._batches.take(self._room(singles)))

    def _room(self, singles: list[_Single]) -> int:
        """Return how many answers of batches go with these single ones."""
        if singles:
            return _BESIDE_SINGLES
        calm = time.monotonic() - self._last_single >= _CALM_SECONDS
        return _LARGEST_GROUP if calm else _AMONG_SINGLES

    async def _commit(self, singles: list[_Single], parts: list[tuple[_Batch, list[Row]]]) -> None:
        rows = [row for row, _ in singles] + [row for _, part in parts for row in part]
        if not rows:
            return
        unique: dict[tuple[int, bytes], Row] | None = None
        if len({row[1] for row in rows}) < len(rows):  # the same id more than once within this group
            unique = {}
            for row in rows:  # the first one sent is the one that counts
                unique.setdefault(row[:2], row)
        started = time.perf_counter()
        try:
            stored = await self._store.add(rows if unique is None else list(unique.values()), self._bucket())
        except Exception as error:  # noqa: BLE001 - whatever happens, nobody may wait for ever
            self._metrics.failures.labels(type(error).__name__).inc()
            if self.failing != type(error).__name__:  # once, not for every group that fails
                self.failing = type(error).__name__
                log("commits fail", reason=self.failing)
            reason = error if isinstance(error, StoreError) else StoreAway(type(error).__name__)
            self.failure, self.failed = reason, time.monotonic()
            for done in [done for _, done in singles] + [batch.done for batch, _ in parts]:
                if not done.done():  # the rest of a batch is not tried
                    done.set_exception(reason)
            return
        if self.failing:
            self.failing, self.failure = "", None
            log("commits succeed again")
        self._metrics.commit.observe(time.perf_counter() - started)
        self._metrics.group.observe(len(stored))
        results = iter(stored if unique is None else _with_repeats(rows, unique, stored))
        for _, done in singles:
            found = [next(results)]
            if not done.done():
                done.set_result(found)
        for batch, part in parts:
            batch.tell(list(islice(results, len(part))))


def _with_repeats(rows: list[Row], unique: dict[tuple[int, bytes], Row], stored: list[str]) -> Iterator[str]:
    """Yield the result of every row: the second time that an id comes within a group it is no longer new."""
    found = dict(zip(unique, stored, strict=True))
    for row in rows:
        key = row[:2]
        yield found[key]
        if found[key] == FRESH:
            found[key] = unique[key][2]
