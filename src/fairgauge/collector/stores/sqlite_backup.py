"""Copies of a SQLite store: made while a collector writes, checked before they get their name."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from fairgauge.collector.seal_record import KEY
from fairgauge.collector.stores.backup_file import refuse_existing, whole_copy
from fairgauge.collector.stores.sqlite import (
    APPLICATION_ID,
    Lock,
    SqliteStore,
    failed,
    read_only,
    schema_version,
    tidy,
)
from fairgauge.collector.stores.store_check import Checked, check_store
from fairgauge.errors import StoreDamaged, StoreError


async def back_up(source: Path, target: Path, *, progress: Callable[[str], object] = str) -> Checked:
    """Write a copy of a store as it is at one moment, also while a collector writes it.

    Guarantee: a file of the target's name is complete, durable and was checked.

    Raises:
        StoreError: If there is nothing to copy, or the target exists.
        StoreDamaged: If the copy does not agree with itself; it is removed.
    """
    if not source.is_file():
        raise StoreError(f"{source} is not there")
    return await _copy(source, target, progress)


async def restore(source: Path, target: Path, *, progress: Callable[[str], object] = str) -> Checked:
    """Put a copy where a collector will look for it.

    Raises:
        StoreError: If a collector uses the target, or there is something already.
        StoreDamaged: If the copy does not agree with itself; nothing is put there.
    """
    if not source.is_file():
        raise StoreError(f"{source} is not there")
    held = Lock(target, make=False)
    try:
        for beside in (target, target.with_name(f"{target.name}-wal"), target.with_name(f"{target.name}-shm")):
            refuse_existing(beside)
        return await _copy(source, target, progress)
    finally:
        held.remove(target)


async def records_in(source: Path) -> set[str]:
    """Return which records of seals a copy belongs to; none if it is no copy, which is said when it is restored."""
    if not source.is_file():
        return set()
    try:
        with closing(read_only(source)) as copy:
            return {name for (name,) in copy.execute("SELECT fingerprint FROM keys WHERE purpose = ?", (KEY,))}
    except sqlite3.Error:
        return set()


async def _copy(source: Path, target: Path, progress: Callable[[str], object]) -> Checked:
    with whole_copy(target) as copy:
        _copy_file(source, copy)
        checked = await _check_copy(copy, progress)
        if checked.faults:
            raise StoreDamaged(f"{source} does not agree with itself, so there is no copy: {checked.faults[0]}")
    return checked


async def _check_copy(copy: Path, progress: Callable[[str], object]) -> Checked:
    store = await SqliteStore.open_to_read(copy)
    try:
        return await check_store(store, progress=progress)
    finally:
        await store.close()


def _copy_file(source: Path, target: Path) -> None:
    try:
        with closing(read_only(source)) as original, closing(sqlite3.connect(target)) as copy:
            schema_version(original)
            if original.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise StoreError(f"{source} is no store: it is empty, or of another program")
            original.backup(copy)  # one step: one moment of the original, and no writer waits
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, with nothing beside it
    except sqlite3.Error as error:
        found = failed(target, error)
        if not isinstance(found, StoreDamaged):
            raise StoreError(f"{source} cannot be copied: {found}") from None
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        raise StoreDamaged(f"{source} cannot be copied: it is damaged, or no store ({name})") from None
    tidy(source)
