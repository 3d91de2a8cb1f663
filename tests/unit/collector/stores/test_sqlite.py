"""The SQLite store keeps what it has acknowledged: it asks the disk, and does not only promise to.

Covers: fairgauge.collector.stores.file.
"""

import asyncio
from pathlib import Path

import pytest

from fairgauge.collector.stores import file
from fairgauge.collector.stores.base import FRESH, Published
from fairgauge.collector.stores.sqlite import SqliteStore
from tests.collecting.syncs import counted

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
            assert await store.add([(1, bytes([number]) * 16, 0)], 0) == [FRESH]
            found.append(syncs.count - before)
        await store.close()
    return found


def test_every_commit_is_put_onto_the_disk(tmp_path: Path):
    assert min(asyncio.run(syncs_for(tmp_path / "gauge.db", 20))) >= 1


@pytest.mark.parametrize("setting", ["OFF", "NORMAL"])
def test_a_store_that_only_promises_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str):
    lax = tuple(text.replace("FULL", setting) for text in file._WRITER_SETTINGS)
    assert lax != file._WRITER_SETTINGS
    monkeypatch.setattr(file, "_WRITER_SETTINGS", lax)
    assert max(asyncio.run(syncs_for(tmp_path / "gauge.db", 20))) == 0
