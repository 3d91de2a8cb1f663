"""What keeps an operator's data safe, for every kind of store by its address: check, back up, restore, upgrade."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from fairgauge.collector.seal_record import FILE, Record, disagreements, join, read_record
from fairgauge.collector.signatures import Signer
from fairgauge.collector.stores import open_store, postgres_backup, sqlite_backup
from fairgauge.collector.stores.postgres import PostgresStore, version_at
from fairgauge.collector.stores.sql_store import migrations
from fairgauge.collector.stores.sqlite import SqliteStore, read_only, schema_version, tidy
from fairgauge.collector.stores.store import Event, Store
from fairgauge.collector.stores.store_check import Checked, check_store
from fairgauge.errors import InvalidInput, StoreError

_FILE = "sqlite:///"


async def open_to_read(address: str) -> Store:
    """Open a store as it is, also beside a collector that writes it."""
    path = _path(address)
    return await (PostgresStore.open_to_read(address) if path is None else SqliteStore.open_to_read(path))


async def open_existing(address: str) -> Store:
    """Open a store to change it, as a collector does, but make none: a name that is mistyped is no new store.

    Raises:
        StoreError: If there is none.
    """
    path = Path(address.removeprefix(_FILE))
    if address.startswith(_FILE) and not path.is_file():
        raise StoreError(f"{path} is not there")
    return await open_store(address)


async def check(address: str, *, secrets: Path | None = None, progress: Callable[[str], object] = str) -> Checked:
    """Look for contradictions in a store, and between it and the record of seals of a folder of secrets."""
    store = await open_to_read(address)
    try:
        found = await check_store(store, progress=progress)
        if secrets is None or not found.studies:  # or it cannot be read
            return found
        return replace(found, faults=(*found.faults, *await disagreements(store, read_record(secrets))))
    finally:
        await store.close()


async def back_up(address: str, target: Path, *, progress: Callable[[str], object] = str) -> Checked:
    """Copy a store as it is at one moment, and check the copy."""
    path = _path(address)
    if path is None:
        return await postgres_backup.back_up(address, target)
    return await sqlite_backup.back_up(path, target, progress=progress)


async def restore(  # noqa: PLR0913 - what, where, and by which record
    source: Path,
    address: str,
    event: Event,
    *,
    secrets: Path,
    without_record: bool = False,
    progress: Callable[[str], object] = str,
) -> Checked:
    """Put a copy where a collector will use it, check it there, and say so in its audit log.

    Raises:
        StoreError: If the record that the copy belongs to is not among the secrets, unless it is said to be lost.
    """
    path, checked = _path(address), None
    known = await (postgres_backup.records_in(source) if path is None else sqlite_backup.records_in(source))
    lost = bool(known) and not read_record(secrets).of(known)
    if lost and not without_record:
        raise StoreError(
            f"{secrets / FILE} is not the record of seals that this copy belongs to, and tells what was sealed after "
            "it was made: give --secrets. If it is lost: --without-record, and every later seal says so"
        )
    if path is None:
        await postgres_backup.restore(source, address)
    else:
        checked = await sqlite_backup.restore(source, path, progress=progress)
    store = await _open(address)
    over: list[str] = []
    try:
        if known:
            record = Record(secrets, Signer.in_folder(secrets))
            over = await join(store, record, lambda: event.bucket, anew=lost)
        await store.record(event)
    finally:
        await store.close()
    return replace(checked or await check(address, progress=progress), over=tuple(over))


async def upgrade_steps(address: str) -> list[str]:
    """Return the names of the migrations that a collector would run at its next start."""
    path = _path(address)
    if path is None:
        return [*migrations("postgres")][await version_at(address) :]
    found = 0
    if path.exists():
        with closing(read_only(path)) as connection:
            found = schema_version(connection)
        tidy(path)
    return [*migrations("sqlite")][found:]


async def migrate(address: str) -> None:
    """Run them."""
    await (await _open(address)).close()


async def _open(address: str) -> Store:
    path = _path(address)
    return await (PostgresStore.open(address) if path is None else SqliteStore.open(path))


def _path(address: str) -> Path | None:
    """Return the file of a SQLite store, or None if the address is of PostgreSQL."""
    if address.startswith(_FILE) and len(address) > len(_FILE):
        return Path(address.removeprefix(_FILE))
    if address.startswith(("postgresql://", "postgres://")):
        return None
    raise InvalidInput("store", address.partition(":")[0], "must be sqlite:///FILE or postgresql://...")
