"""What a store promises that no request shows: backups, races between collectors, and failures it recovers from.

Covers: fairgauge.collector.result_endpoints, fairgauge.collector.stores.released_sums,
fairgauge.collector.stores.postgres.
"""

import asyncio
import sqlite3
import subprocess
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import asyncpg
import pytest

from fairgauge.collector.stores import backup, open_store
from fairgauge.collector.stores.sqlite import SqliteStore
from fairgauge.collector.stores.store import CLOSED, FRESH, Event, Published, Row, Store
from fairgauge.errors import OF_BEFORE, StoreAway, StoreError
from tests.collecting.servers import new_database, new_store, postgres

KINDS = ["sqlite", "postgresql"]


async def with_study(store: Store, digest: str = "a" * 64) -> int:
    assert await store.publish(Published(digest, b"document", "open", "signature", 0))
    kept = await store.study(digest)
    assert kept is not None
    return kept.number


def row(study: int, number: int, symbol: int = 0) -> Row:
    return study, number.to_bytes(16), str(symbol)


async def rows_of(store: Store, study: int) -> list[tuple[bytes, str]]:
    return [answer async for page in store.answers(study) for answer in page]


@pytest.mark.parametrize("kind", KINDS)
def test_a_mixed_group_is_told_apart_and_counted_once(kind: str, tmp_path: Path):
    address = new_store(kind, tmp_path)

    async def play() -> None:
        store = await open_store(address)
        one, two, three = [await with_study(store, letter * 64) for letter in "abc"]
        assert await store.add([row(one, 1, 5), row(two, 1, 6), row(three, 1, 7)], 3600) == [FRESH] * 3
        await store.close_study(three, 0)
        mixed = [row(one, 1, 5), row(one, 2, 5), row(two, 1, 9), row(three, 1, 8), row(three, 2, 8), row(99, 1)]
        assert await store.add(mixed, 7200) == ["5", FRESH, "6", "7", CLOSED, CLOSED]
        assert await store.find(mixed) == ["5", "5", "6", "7", CLOSED, CLOSED]
        assert [await store.tally(n) for n in (one, two, three)] == [{5: 2}, {6: 1}, {7: 1}]
        assert await store.arrivals(one) == {3600: 1, 7200: 1}
        assert await rows_of(store, one) == [row(one, 1, 5)[1:], row(one, 2, 5)[1:]]
        assert not await store.seal(one, b"too early")
        assert await store.seal(three, b"seal")
        assert not await store.seal(three, b"again")
        assert await store.sealed(three) == b"seal"
        await store.close()

    asyncio.run(play())


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_of_before_the_first_release_is_refused(kind: str, tmp_path: Path):
    address = new_store(kind, tmp_path)

    async def as_it_was() -> None:
        if kind == "sqlite":
            with closing(sqlite3.connect(tmp_path / "gauge.db")) as connection, connection:
                connection.executescript(f"CREATE TABLE studies (x); PRAGMA application_id={0x46474155}")
        else:
            postgres = await asyncpg.connect(address)
            await postgres.execute("CREATE TABLE fairgauge_schema (version integer NOT NULL)")
            await postgres.close()

    asyncio.run(as_it_was())
    for opened in (open_store, backup.open_to_read, backup.upgrade_steps):
        with pytest.raises(StoreError, match=OF_BEFORE):
            asyncio.run(opened(address))
    with pytest.raises(StoreError, match=OF_BEFORE):
        asyncio.run(backup.back_up(address, tmp_path / "copy"))
    if kind == "sqlite":  # what restores PostgreSQL reads its own copies only
        event = Event(3600, "tester", "restored", "copy")
        with pytest.raises(StoreError, match=OF_BEFORE):
            asyncio.run(backup.restore(tmp_path / "gauge.db", f"{address}.new", event, secrets=tmp_path))


@pytest.mark.parametrize("kind", KINDS)
def test_an_export_has_every_page(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("fairgauge.collector.stores.sql_store.PAGE", 7)
    address = new_store(kind, tmp_path)

    async def play() -> None:
        store = await open_store(address)
        study, other = await with_study(store), await with_study(store, "b" * 64)
        for count in (0, 7, 20):
            await store.add([row(study, n) for n in range(count)] + [row(other, 1)], 0)
            assert await rows_of(store, study) == [row(study, n)[1:] for n in range(count)]
        await store.close()

    asyncio.run(play())


def test_collectors_that_race_on_one_database_count_once():
    """Eight groups at a time from two stores with the same ids in opposite orders: a deadlock if locks had no order."""
    address = new_database()

    async def play() -> None:
        stores = [await open_store(address), await open_store(address)]
        study = await with_study(stores[0])
        for turn in range(5):
            rows = [row(study, turn * 1000 + n, n % 7) for n in range(200)]
            found = await asyncio.gather(*(stores[k % 2].add(rows if k < 4 else rows[::-1], 0) for k in range(8)))
            new = sum(result.count(FRESH) for result in found)
            assert new == 200
        kept = await rows_of(stores[1], study)
        assert (len(kept), sum((await stores[0].tally(study)).values())) == (1000, 1000)
        for store in stores:
            await store.close()

    asyncio.run(play())


def test_closing_waits_for_groups_and_groups_after_it_find_it_closed():
    address = new_database()

    async def play() -> None:
        stores = [await open_store(address), await open_store(address)]
        study = await with_study(stores[0])
        adding = [asyncio.create_task(stores[0].add([row(study, n)], 0)) for n in range(40)]
        await asyncio.sleep(0.005)
        await stores[1].close_study(study, 0)
        closed_at = len(await rows_of(stores[1], study))
        results = [await task for task in adding]
        assert results.count([FRESH]) == closed_at == len(await rows_of(stores[1], study))
        assert results.count([FRESH]) + results.count([CLOSED]) == 40
        for store in stores:
            await store.close()

    asyncio.run(play())


def test_a_backup_made_while_it_runs_is_a_store(tmp_path: Path):
    async def play() -> None:
        store = await open_store(f"sqlite:///{tmp_path / 'gauge.db'}")
        study = await with_study(store)
        await store.add([row(study, n) for n in range(100)], 0)
        reader = sqlite3.connect(f"file:{tmp_path / 'gauge.db'}?mode=ro", uri=True)
        reader.execute(f"VACUUM INTO '{tmp_path / 'backup.db'}'")
        reader.close()
        await store.add([row(study, n) for n in range(100, 150)], 0)
        await store.close()
        restored = await open_store(f"sqlite:///{tmp_path / 'backup.db'}")
        assert await restored.add([row(study, n) for n in range(150)], 0) == ["0"] * 100 + [FRESH] * 50
        assert await restored.tally(study) == {0: 150}
        await restored.close()

    asyncio.run(play())


def test_a_dump_of_postgresql_is_a_store():
    address, other = new_database(), new_database()

    async def fill() -> None:
        store = await open_store(address)
        study = await with_study(store)
        await store.add([row(study, n) for n in range(100)], 0)
        await store.close()

    async def check() -> None:
        store = await open_store(other)
        kept = await store.study("a" * 64)
        assert kept is not None
        assert await store.add([row(kept.number, n) for n in range(150)], 0) == ["0"] * 100 + [FRESH] * 50
        assert await with_study(store, "b" * 64) != kept.number
        await store.close()

    asyncio.run(fill())
    tools = postgres().bin_path
    dump = subprocess.run([tools / "pg_dump", "--format=custom", address], capture_output=True, check=True).stdout
    subprocess.run([tools / "pg_restore", "--dbname", other], input=dump, capture_output=True, check=True)
    asyncio.run(check())


def test_an_input_output_error_is_no_loss(tmp_path: Path):
    """The writer is broken under the store: it says so, opens the file again, and goes on."""

    async def play() -> None:
        store = await SqliteStore.open(tmp_path / "gauge.db")
        study = await with_study(store)
        await store.add([row(study, 1)], 0)
        assert store._connection is not None
        store._connection.close()
        with pytest.raises(StoreAway, match=r"gauge\.db: ProgrammingError"):
            await store.add([row(study, 2)], 0)
        assert await store.add([row(study, 1), row(study, 2)], 0) == ["0", FRESH]
        await store.close()

    asyncio.run(play())


@pytest.mark.parametrize("kind", KINDS)
def test_looks_are_few_grow_by_factors_and_equal_the_tally_of_then(kind: str, tmp_path: Path):
    address = new_store(kind, tmp_path)

    async def play() -> None:
        store = await open_store(address)
        study, quiet = await with_study(store), await with_study(store, "b" * 64)
        await store.add([row(quiet, n) for n in range(100)], 0)
        for start in range(0, 3000, 10):
            rows = [row(study, n, n % 3) for n in range(start, start + 10)]
            await store.add(rows, 0)
            await store.add(rows, 0)  # again: what is not new must not be counted twice
        looks = await store.looks(study)
        totals = [sum(look.values()) for look in looks]
        assert await store.looks(quiet) == []
        assert 8 <= len(looks) <= 10
        assert totals == sorted(set(totals))
        assert all(128 <= total <= 3000 for total in totals)
        assert all(later <= 1.6 * earlier for earlier, later in pairwise(totals))
        assert 1.6 * totals[-1] >= 3000
        assert looks == [{s: len(range(s, total, 3)) for s in range(3)} for total in totals]
        await store.close()
        again = await open_store(address)  # a process that starts anew goes on where the last one was
        await again.add([row(study, n) for n in range(10_000, 16_000)], 0)
        assert (await again.looks(study))[:-1] == looks
        await again.close()

    asyncio.run(play())


@pytest.mark.parametrize("kind", KINDS)
def test_who_may_see_results_and_the_aim_are_kept(kind: str, tmp_path: Path):
    address = new_store(kind, tmp_path)

    async def play() -> None:
        store = await open_store(address)
        await store.publish(Published("a" * 64, b"d", "open", "s", 0))
        await store.publish(Published("b" * 64, b"d", "open", "s", 0, public=True, aim="0.005"))
        found = {kept.digest[0]: (kept.public, kept.aim) for kept in await store.studies()}
        assert found == {"a": (False, None), "b": (True, "0.005")}
        one = await store.study("b" * 64)
        assert one is not None
        assert (one.public, one.aim, one.sealed) == (True, "0.005", False)
        await store.close()

    asyncio.run(play())
