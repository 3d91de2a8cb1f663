"""Batches on both stores: never split, never mixed, never below their size, through restarts and races.

Covers: fairgauge.collector.stores.sql_store, fairgauge.collector.stores.postgres.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from fairgauge.collector.stores import open_store
from fairgauge.collector.stores.released_sums import closed_batches, may_leave, placed
from fairgauge.collector.stores.store import FRESH, Published, Row, Store
from fairgauge.study import Release
from tests.collecting.servers import new_database, new_store
from tests.samples import sample_study

SIZE, DRAWS = 10, 2


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_store(request.param, tmp_path)


def on_a_store(address: str, play: Callable[[Store], Awaitable[None]]) -> None:
    async def run() -> None:
        store = await open_store(address)
        await play(store)
        await store.close()

    asyncio.run(run())


async def with_study(store: Store, batch: int | None = SIZE, digest: str = "a" * 64) -> int:
    release = None if batch is None else Release(batch, "0.001", DRAWS)
    document = replace(sample_study(), release=release).to_bytes()
    assert await store.publish(Published(digest, document, "open", "signature", 0, batch=batch))
    kept = await store.study(digest)
    assert kept is not None
    assert kept.batch == batch
    return kept.number


def rows_from(study: int, first: int, count: int) -> list[Row]:
    return [(study, random.Random(n).randbytes(16), str(n % 4)) for n in range(first, first + count)]


def counted(rows: list[Row]) -> dict[int, int]:
    return dict(Counter(int(payload) for _, _, payload in rows))


def drawn_in(shown: dict[int, int], rows: list[Row]) -> int:
    """Return how many draws are among counts that have these answers in them."""
    more = Counter(shown)
    more.subtract(counted(rows))
    assert min(more.values(), default=0) >= 0
    return more.total()


def test_places_are_taken_in_order_whatever_the_symbols_are():
    assert placed(["1"] * 25, taken=0, size=10) == {(0, 1): 10, (1, 1): 10, (2, 1): 5}
    assert placed(["3", "1", "3"], taken=19, size=10) == {(1, 3): 1, (2, 1): 1, (2, 3): 1}
    assert [closed_batches(n, 1) for n in range(4)] == [0, 0, 1, 2]
    assert (may_leave(0, 1), may_leave(1, 1)) == (False, True)


@pytest.mark.parametrize("came", [2, 3, 7])
def test_where_batches_close_at_the_end_nothing_is_seen_before(address: str, came: int):
    """What several numbers hold is added up place by place, and may be below zero."""

    async def play(store: Store) -> None:
        await store.publish(Published("a" * 64, b"document", "tickets", "signature", 0, batch=3, at_end=True))
        for number in range(came):
            assert await store.add([(1, bytes([number] * 16), f"{number},-7,0")], 0) == [FRESH]
            assert (await store.tally(1), await store.looks(1)) == ({}, [])
        sums = {0: came * (came - 1) // 2, 1: -7 * came, 2: 0}
        assert await store.counts(1) == sums
        await store.close_study(1, 0)
        assert await store.tally(1) == (sums if came >= 3 else {})
        assert (await store.counts(1), await store.looks(1)) == (sums, [])

    on_a_store(address, play)


def test_only_closed_batches_are_seen_also_after_a_restart(address: str):
    async def play() -> None:
        store = await open_store(address)
        study, other = await with_study(store), await with_study(store, None, "b" * 64)
        sent: list[Row] = []
        for group in (3, 16, 1, 9, 1, 45, 12):
            rows = rows_from(study, len(sent), group)
            assert await store.add([*rows, (other, rows[0][1], "0")], 0) == [FRESH] * (group + 1)
            assert (await store.add(rows, 0))[0] == rows[0][2]  # again: counted once
            sent += rows
            closed = closed_batches(len(sent), SIZE)
            assert drawn_in(await store.tally(study), sent[: closed * SIZE]) == DRAWS * closed
            assert drawn_in(await store.counts(study), sent) == DRAWS * closed
            assert await store.arrivals(study) == {0: len(sent)}
            await store.close()
            store = await open_store(address)
        assert await store.tally(other) == {0: 7}
        await store.close_study(study, 3600)
        last = await store.tally(study)
        await store.close_study(study, 7200)
        assert await store.tally(study) == await store.counts(study) == last, "no draw is made again"
        assert drawn_in(last, sent) == DRAWS * (len(sent) // SIZE)
        await store.close()

    asyncio.run(play())


def test_fewer_answers_than_a_batch_leave_at_closing_with_draws_of_their_own(address: str):
    async def play(store: Store) -> None:
        study = await with_study(store)
        rows = rows_from(study, 0, SIZE - 1)
        await store.add(rows, 0)
        assert await store.tally(study) == {}
        await store.close_study(study, 0)
        assert await store.seal(study, b"seal")
        assert drawn_in(await store.tally(study), rows) == drawn_in(await store.counts(study), rows) == DRAWS
        empty = await with_study(store, SIZE, "c" * 64)
        await store.close_study(empty, 0)
        assert await store.tally(empty) == {}

    on_a_store(address, play)


def test_two_batches_that_leave_at_once_have_draws_for_both(address: str):
    async def play(store: Store) -> None:
        study = await with_study(store)
        rows = rows_from(study, 0, 3 * SIZE)
        await store.add(rows, 0)
        assert drawn_in(await store.tally(study), rows[: 2 * SIZE]) == 2 * DRAWS

    on_a_store(address, play)


def test_looks_back_are_at_closed_batches_only(address: str):
    async def play(store: Store) -> None:
        study = await with_study(store, 150)
        for first in range(0, 900, 90):
            await store.add(rows_from(study, first, 90), 0)
        looks = [sum(look.values()) for look in await store.looks(study)]
        assert looks == [152, 304, 456, 608, 760]  # one for each power of the square root of 2 that was passed

    on_a_store(address, play)


def test_collectors_that_race_fill_the_same_batches():
    address = new_database()

    async def play() -> None:
        stores = [await open_store(address) for _ in range(3)]
        study = await with_study(stores[0], 50)
        rows = rows_from(study, 0, 1111)
        groups = [rows[at : at + 37] for at in range(0, len(rows), 37)]
        seen = set()

        async def watch() -> None:
            while True:
                seen.add(sum((await stores[2].tally(study)).values()))
                await asyncio.sleep(0)

        watching = asyncio.create_task(watch())
        found = await asyncio.gather(*(stores[k % 2].add(group[:: 1 - 2 * (k % 2)], 0) for k, group in
                                       enumerate([*groups, *groups])))  # fmt: skip
        watching.cancel()
        assert sum(result.count(FRESH) for result in found) == 1111
        assert sum((await stores[0].tally(study)).values()) == 21 * (50 + DRAWS)  # 22 are full, and the last one waits
        assert drawn_in(await stores[1].counts(study), rows) == 21 * DRAWS
        assert all(total % (50 + DRAWS) == 0 for total in seen)
        await asyncio.gather(*(store.close_study(study, 0) for store in stores))
        assert drawn_in(await stores[2].tally(study), rows) == 22 * DRAWS
        for store in stores:
            await store.close()

    asyncio.run(play())


def test_a_sealed_study_lies_in_postgresql_without_the_order_in_which_it_came():
    address = new_database()

    async def play() -> None:
        store = await open_store(address)
        study, other = await with_study(store), await with_study(store, None, "b" * 64)
        for first in range(0, 200, 20):
            rows = rows_from(study, first, 20)
            await store.add([*rows, *((other, id_, symbol) for _, id_, symbol in rows)], 0)
        for number in (study, other):
            await store.close_study(number, 0)
            assert await store.seal(number, b"seal")
        await store.close()
        connection = await asyncpg.connect(address)
        sql = "SELECT xmin::text::bigint AS made, id FROM answers WHERE study = $1 ORDER BY tableoid, ctid"
        mixed, as_it_came = [await connection.fetch(sql, number) for number in (study, other)]
        sql = "SELECT id FROM answers WHERE study = $1 ORDER BY tableoid, id"
        sorted_ids = [row["id"] for row in await connection.fetch(sql, study)]
        await connection.close()
        assert len({row["made"] for row in as_it_came}) == 10  # a mutant: what other studies show
        assert [row["id"] for row in as_it_came] != sorted_ids
        assert len({row["made"] for row in mixed}) == 1
        assert [row["id"] for row in mixed] == sorted_ids

    asyncio.run(play())
