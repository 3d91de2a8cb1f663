"""The same for every kind of store, by its address: check, back up, restore, upgrade."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from fairgauge.collector.keeping import postgres, sqlite
from fairgauge.collector.keeping.check import Checked, check_store
from fairgauge.collector.record import FILE, Record, disagreements, join, read_record
from fairgauge.collector.signing import Signer
from fairgauge.collector.stores import open_store
from fairgauge.collector.stores.base import Event, Store, migration_names
from fairgauge.collector.stores.file import read_only, schema_version, tidy
from fairgauge.collector.stores.postgres import PostgresStore
from fairgauge.collector.stores.postgres_schema import version_at
from fairgauge.collector.stores.sqlite import SqliteStore
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
        return await postgres.back_up(address, target)
    return await sqlite.back_up(path, target, progress=progress)


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
    known = await (postgres.records_in(source) if path is None else sqlite.records_in(source))
    lost = bool(known) and not read_record(secrets).of(known)
    if lost and not without_record:
        raise StoreError(
            f"{secrets / FILE} is not the record of seals that this copy belongs to, and tells what was sealed after "
            "it was made: give --secrets. If it is lost: --without-record, and every later seal says so"
        )
    if path is None:
        await postgres.restore(source, address)
    else:
        checked = await sqlite.restore(source, path, progress=progress)
    store: Store = await (PostgresStore.open(address) if path is None else SqliteStore.open(path))
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
        return migration_names("postgres")[await version_at(address) :]
    if not path.exists():
        return migration_names("sqlite")
    with closing(read_only(path)) as connection:
        found = schema_version(connection)
    tidy(path)
    return migration_names("sqlite")[found:]


async def migrate(address: str) -> None:
    """Run them."""
    path = _path(address)
    store: Store = await (PostgresStore.open(address) if path is None else SqliteStore.open(path))
    await store.close()


def _path(address: str) -> Path | None:
    """Return the file of a SQLite store, or None if the address is of PostgreSQL."""
    if address.startswith(_FILE) and len(address) > len(_FILE):
        return Path(address.removeprefix(_FILE))
    if address.startswith(("postgresql://", "postgres://")):
        return None
    raise InvalidInput("store", address.partition(":")[0], "must be sqlite:///FILE or postgresql://...")
