"""Group commit: what is committed together, what has to wait, and what is refused.

Covers: fairgauge.collector.group_commit.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from fairgauge.collector import group_commit as module
from fairgauge.collector.group_commit import Intake
from fairgauge.collector.metrics import Metrics
from fairgauge.collector.stores.store import FRESH, Row
from fairgauge.errors import StoreAway, StoreFull
from fairgauge.server.server_errors import Busy, Stopping


class MemoryStore:
    """Counts commits, and fails when told to."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, bytes], str] = {}
        self.groups: list[int] = []
        self.fail: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def add(self, rows: Sequence[Row], bucket: int) -> list[str]:
        await self.gate.wait()
        assert len({row[:2] for row in rows}) == len(rows)
        if self.fail is not None:
            raise self.fail
        self.groups.append(len(rows))
        return [self.rows.setdefault(row[:2], row[2]) if row[:2] in self.rows else self._new(row) for row in rows]

    def _new(self, row: Row) -> str:
        self.rows[row[:2]] = row[2]
        return FRESH


def play(scene: Any, *, most: int = 1000) -> MemoryStore:
    async def run() -> MemoryStore:
        store = MemoryStore()
        group_commit = Intake(store, Metrics(), lambda: 0, window=0.001, most=most)  # type: ignore[arg-type]
        group_commit.start()
        await scene(store, group_commit)
        await group_commit.stop()
        return store

    return asyncio.run(run())


def row(number: int, symbol: int = 0, study: int = 1) -> Row:
    return study, bytes([number] * 16), str(symbol)


def test_answers_that_wait_together_are_committed_together():
    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        found = await asyncio.gather(*(group_commit.submit([row(n)]) for n in range(50)))
        assert found == [[FRESH]] * 50

    assert play(scene).groups == [50]


def test_the_same_id_within_a_group_counts_once():
    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        sent = [[row(1, 6), row(1, 5), row(2, 7)], [row(1, 5)], [row(1, 8, 2)]]
        # The single answers go first, though they came later.
        assert await asyncio.gather(*map(group_commit.submit, sent)) == [["5", "5", FRESH], [FRESH], [FRESH]]

    assert play(scene).rows == {(1, bytes([1] * 16)): "5", (1, bytes([2] * 16)): "7", (2, bytes([1] * 16)): "8"}


def test_of_two_answers_with_one_id_within_a_group_the_first_counts():
    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        assert await group_commit.submit([row(1, 6), row(1, 5), row(2, 7), row(1, 4)]) == [FRESH, "6", FRESH, "6"]
        singles = [group_commit.submit([row(3, symbol)]) for symbol in (8, 9, 8)]
        assert await asyncio.gather(*singles) == [[FRESH], ["8"], ["8"]]

    found = play(scene)
    assert found.rows == {(1, bytes([1] * 16)): "6", (1, bytes([2] * 16)): "7", (1, bytes([3] * 16)): "8"}
    assert found.groups == [2, 1]


@pytest.mark.parametrize(
    ("error", "told"), [(StoreFull("x"), StoreFull), (StoreAway("x"), StoreAway), (KeyError("x"), StoreAway)]
)
def test_a_failed_commit_tells_everyone_and_the_next_may_succeed(error: Exception, told: type[Exception]):
    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        store.fail = error
        found = await asyncio.gather(*(group_commit.submit([row(n)]) for n in range(3)), return_exceptions=True)
        assert [type(one) for one in found] == [told] * 3
        store.fail = None
        assert await group_commit.submit([row(1)]) == [FRESH]

    play(scene)


def test_nothing_is_acknowledged_before_the_commit_and_a_full_queue_refuses():
    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        store.gate.clear()
        first = asyncio.create_task(group_commit.submit([row(1)]))
        await settle()  # now it is being committed
        rest = [asyncio.create_task(group_commit.submit([row(n)])) for n in (2, 3)]
        await settle()
        with pytest.raises(Busy):
            await group_commit.submit([row(4)])
        assert not first.done()
        store.gate.set()
        assert await asyncio.gather(first, *rest) == [[FRESH]] * 3

    assert play(scene, most=2).groups == [1, 2]


def test_stopping_commits_what_was_taken():
    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        tasks = [asyncio.create_task(group_commit.submit([row(n)])) for n in range(9)]
        await asyncio.sleep(0)
        await group_commit.stop()
        assert [await task for task in tasks] == [[FRESH]] * 9
        with pytest.raises(Stopping):
            await group_commit.submit([row(10)])

    assert len(play(scene).rows) == 9


def batch(first: int, size: int) -> list[Row]:
    return [row(n) for n in range(first, first + size)]


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(10):
        await asyncio.sleep(0.002)


def test_the_queue_counts_answers_not_senders_and_forgets_what_was_committed():
    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        for turn in range(5):  # what was committed does not fill the queue
            store.gate.clear()
            first = 50 * turn
            busy = asyncio.create_task(group_commit.submit(batch(first, 2)))
            await settle()
            waits = asyncio.create_task(group_commit.submit(batch(first + 2, 7)))
            await settle()
            with pytest.raises(Busy):
                await group_commit.submit(batch(first + 10, 4))  # 7 + 4 are more than 10
            fits = asyncio.create_task(group_commit.submit(batch(first + 20, 3)))
            await settle()
            with pytest.raises(Busy):
                await group_commit.submit(batch(first + 30, 2))
            store.gate.set()
            assert [len(told) for told in await asyncio.gather(busy, waits, fits)] == [2, 7, 3]

    assert sum(play(scene, most=10).groups) == 5 * 12


def test_batches_that_wait_keep_no_single_answer_out_and_single_ones_no_batch():
    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        store.gate.clear()
        tasks = [asyncio.create_task(group_commit.submit(batch(0, 2)))]
        await settle()
        tasks += [asyncio.create_task(group_commit.submit(batch(10 * n, 5))) for n in (1, 2)]
        tasks += [asyncio.create_task(group_commit.submit([row(100 + n)])) for n in range(10)]
        await settle()
        for more in ([row(200)], batch(210, 2)):
            with pytest.raises(Busy):
                await group_commit.submit(more)
        store.gate.set()
        assert sum(map(len, await asyncio.gather(*tasks))) == 22

    play(scene, most=10)


def test_single_answers_go_before_batches_that_came_earlier(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_BESIDE_SINGLES", 2)
    order: list[int] = []

    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        async def sent(first: int, size: int) -> None:
            await group_commit.submit(batch(first, size))
            order.append(first)

        store.gate.clear()
        tasks = [asyncio.create_task(sent(0, 1))]
        await settle()
        for first, size in ((10, 2), (20, 2), (30, 1), (40, 1)):
            tasks.append(asyncio.create_task(sent(first, size)))
            await settle()
        store.gate.set()
        await asyncio.gather(*tasks)

    assert play(scene).groups == [1, 4, 2]  # the two single ones and as many of the batches as go beside them
    assert order[0] == 0
    assert set(order[1:4]) == {30, 40, 10}
    assert order[4] == 20


def test_a_batch_larger_than_the_queue_is_taken_when_no_batch_waits_and_only_then():
    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        assert await group_commit.submit(batch(0, 9)) == [FRESH] * 9
        store.gate.clear()
        busy = asyncio.create_task(group_commit.submit(batch(20, 2)))
        await settle()
        waits = asyncio.create_task(group_commit.submit(batch(22, 2)))
        await settle()
        with pytest.raises(Busy):
            await group_commit.submit(batch(30, 9))
        store.gate.set()
        await asyncio.gather(busy, waits)
        assert await group_commit.submit(batch(30, 9)) == [FRESH] * 9

    play(scene, most=5)


def test_a_batch_goes_in_parts_and_is_told_when_all_of_it_is_stored(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_LARGEST_GROUP", 4)

    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        store.gate.clear()
        tasks = [asyncio.create_task(group_commit.submit(batch(0, 2)))]
        await settle()
        for first, size in ((2, 2), (4, 2), (6, 3), (9, 9), (18, 2)):
            tasks.append(asyncio.create_task(group_commit.submit(batch(first, size))))
            await settle()
        store.gate.set()
        assert [len(told) for told in await asyncio.gather(*tasks)] == [2, 2, 2, 3, 9, 2]

    assert play(scene).groups == [2, 4, 4, 4, 4, 2]


def test_after_a_single_answer_groups_of_batches_stay_small_for_a_while(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_AMONG_SINGLES", 3)
    monkeypatch.setattr(module, "_CALM_SECONDS", 3600.0)

    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        group_commit._last_single = -1e9
        assert await group_commit.submit(batch(0, 8)) == [FRESH] * 8
        assert await group_commit.submit([row(50)]) == [FRESH]
        assert await group_commit.submit(batch(10, 8)) == [FRESH] * 8

    assert play(scene).groups == [8, 1, 3, 3, 2]


def test_a_batch_that_fails_in_a_part_fails_as_a_whole_and_the_rest_is_not_tried(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_LARGEST_GROUP", 4)

    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        store.gate.clear()
        sent = asyncio.create_task(group_commit.submit(batch(0, 10)))
        await settle()
        store.fail = StoreFull("x")
        store.gate.set()
        with pytest.raises(StoreFull):
            await sent
        store.fail = None
        assert await group_commit.submit(batch(20, 2)) == [FRESH] * 2
        await settle()
        assert group_commit._batches.count == 0

    assert play(scene).groups == [2]


def test_a_group_has_so_many_single_answers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_LARGEST_GROUP", 4)

    async def scene(store: MemoryStore, group_commit: Intake) -> None:
        store.gate.clear()
        tasks = [asyncio.create_task(group_commit.submit([row(0)]))]
        await settle()
        tasks += [asyncio.create_task(group_commit.submit([row(n)])) for n in range(1, 10)]
        await settle()
        store.gate.set()
        await asyncio.gather(*tasks)

    assert play(scene).groups == [1, 4, 4, 1]


def test_enough_answers_are_committed_without_waiting_for_more():
    async def run() -> None:
        store = MemoryStore()
        group_commit = Intake(store, Metrics(), lambda: 0, window=3600, most=10_000)  # type: ignore[arg-type]
        group_commit.start()
        rows = [(1, n.to_bytes(16), "0") for n in range(module._ENOUGH)]
        async with asyncio.timeout(60):
            assert await group_commit.submit(rows) == [FRESH] * module._ENOUGH
        await group_commit.stop()

    asyncio.run(run())
