"""The SQLite store keeps what it has acknowledged: it asks the disk, and does not only promise to."""

import asyncio
import os
import random
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from fairgauge.collector.stores import sqlite
from fairgauge.collector.stores.sqlite import SqliteStore
from fairgauge.collector.stores.store import FRESH, Published
from fairgauge.errors import StoreError
from fairgauge.study import Release
from tests.collecting.syncs import counted
from tests.samples import sample_study

FULL = 2


async def pragma(store: SqliteStore, name: str) -> object:
    """Read a setting of the connection that answers are written through."""
    return await store._write(lambda connection: connection.execute(f"PRAGMA {name}").fetchone()[0])


def test_what_is_removed_leaves_no_trace_in_the_file_whatever_sqlite_was_built_with(tmp_path: Path):
    async def play() -> None:
        store = await SqliteStore.open(tmp_path / "gauge.db")
        assert await pragma(store, "secure_delete") == 1
        await store.close()

    asyncio.run(play())


def test_the_writer_is_set_to_be_durable_also_after_it_was_opened_again(tmp_path: Path):
    async def play() -> None:
        store = await SqliteStore.open(tmp_path / "gauge.db")
        for _ in range(2):
            assert (await pragma(store, "synchronous"), await pragma(store, "journal_mode")) == (FULL, "wal")
            await asyncio.get_running_loop().run_in_executor(store._writer, store._close_writer)  # as after a fault
        await store.close()

    asyncio.run(play())


async def syncs_for(path: Path, groups: int) -> list[int]:
    """Return how many times the log was put onto the disk for each group of answers."""
    with counted() as syncs:
        store = await SqliteStore.open(path)
        await store.publish(Published("a" * 64, b"{}", "open", "", 0))
        found = []
        for number in range(groups):
            before = syncs.count
            assert await store.add([(1, bytes([number]) * 16, "0")], 0) == [FRESH]
            found.append(syncs.count - before)
        await store.close()
    return found


def test_every_commit_is_put_onto_the_disk(tmp_path: Path):
    assert min(asyncio.run(syncs_for(tmp_path / "gauge.db", 20))) >= 1


@pytest.mark.parametrize("setting", ["OFF", "NORMAL"])
def test_a_store_that_only_promises_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str):
    lax = tuple(text.replace("FULL", setting) for text in sqlite._WRITER_SETTINGS)
    assert lax != sqlite._WRITER_SETTINGS
    monkeypatch.setattr(sqlite, "_WRITER_SETTINGS", lax)
    assert max(asyncio.run(syncs_for(tmp_path / "gauge.db", 20))) == 0


CHANCE = random.Random(8)
CAME = [CHANCE.randbytes(16) for _ in range(90)]  # fewer than fill a page


async def sealed_file(path: Path, batch: int | None) -> bytes:
    """Return the file after answers came one by one, and the study was closed and sealed."""
    store = await SqliteStore.open(path)
    release = None if batch is None else Release(batch, "0.001", 2)
    document = replace(sample_study(), release=release).to_bytes()
    await store.publish(Published("a" * 64, document, "open", "", 0, batch=batch))
    for number, id_ in enumerate(CAME):
        await store.add([(1, id_, str(number % 4))], 0)
    await store.close_study(1, 0)
    assert await store.seal(1, b"{}")
    assert not await store.seal(1, b"{}")
    pages = [page async for page in store.answers(1)]
    assert sorted((id_, str(number % 4)) for number, id_ in enumerate(CAME)) == [row for page in pages for row in page]
    # Nothing in the log either, while the collector still runs.
    assert batch is None or not path.with_name(f"{path.name}-wal").stat().st_size
    await store.close()
    return path.read_bytes()


def by_place(data: bytes) -> list[bytes]:
    """Return the ids in the order in which SQLite finds room on a page: from its end to its beginning."""
    return sorted(CAME, key=data.index, reverse=True)


@pytest.mark.parametrize("batch", [10, 500])
def test_where_rows_lie_in_the_file_does_not_tell_who_came_first_once_a_study_in_the_crowd_is_sealed(
    tmp_path: Path, batch: int
):
    assert by_place(asyncio.run(sealed_file(tmp_path / "gauge.db", batch))) == sorted(CAME)


def test_where_rows_lie_tells_everything_if_they_are_not_written_anew(tmp_path: Path):
    assert by_place(asyncio.run(sealed_file(tmp_path / "gauge.db", None))) == CAME


def test_answers_are_written_anew_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sqlite, "_MIXED", 7)
    found = by_place(asyncio.run(sealed_file(tmp_path / "gauge.db", 10)))
    rank = {id_: number for number, id_ in enumerate(CAME)}
    kept = sum(rank[one] < rank[after] for one, after in pairwise(found))
    assert kept < 0.7 * len(CAME)


def test_a_second_collector_is_kept_away_from_the_file_for_as_long_as_the_first_has_it(tmp_path: Path):
    async def play() -> None:
        store = await SqliteStore.open(tmp_path / "gauge.db")
        with pytest.raises(StoreError, match="is in use by another collector"):
            await SqliteStore.open(tmp_path / "gauge.db")
        await store.close()
        await (await SqliteStore.open(tmp_path / "gauge.db")).close()

    asyncio.run(play())


def test_a_second_name_of_the_file_lets_no_second_collector_in(tmp_path: Path):
    """Through a hard link the lock of the name is another one, and so is the log: answers would be lost."""

    async def play() -> None:
        store = await SqliteStore.open(tmp_path / "gauge.db")
        (tmp_path / "other.db").hardlink_to(tmp_path / "gauge.db")
        with pytest.raises(StoreError, match="is in use by another collector"):
            await SqliteStore.open(tmp_path / "other.db")
        await store.close()
        with pytest.raises(StoreError, match=r"has several names \(hard links\)"):
            await SqliteStore.open(tmp_path / "other.db")
        (tmp_path / "other.db").unlink()
        await (await SqliteStore.open(tmp_path / "gauge.db")).close()

    asyncio.run(play())


def test_the_file_is_its_owners_from_its_first_byte_on(tmp_path: Path):
    before = os.umask(0)
    try:
        held = sqlite.Lock(tmp_path / "gauge.db", make=True)
        with closing(sqlite.connect(tmp_path / "gauge.db")) as connection:
            connection.execute("CREATE TABLE one (two)")
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
        held.release()
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}
    assert len(modes) > 2
