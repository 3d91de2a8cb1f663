"""The store in one SQLite file: write-ahead log, synchronous=FULL, one thread that writes.

SQLite 3.40 (Debian 12) can corrupt a write-ahead log when two connections write and checkpoint, so a lock file keeps
a second collector out, and everything else reads through connections that cannot write.
"""

import asyncio
import fcntl
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from fairgauge.collector.stores.base import (
    CLOSED,
    FRESH,
    PAGE,
    Published,
    Row,
    StoreAway,
    StoreError,
    StoreFull,
    check_version,
    migrations,
)
from fairgauge.collector.stores.looks import Pace, from_text, step_of, to_text

APPLICATION_ID = 0x46474155  # "FGAU": tells our files from other programs'
READERS = 2
_WRITER_SETTINGS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA wal_autocheckpoint=4000",  # pages: 16 MiB of log between checkpoints
    "PRAGMA journal_size_limit=67108864",
    "PRAGMA cache_size=-16384",  # 16 MiB; the system keeps the rest of the file in memory as long as there is some
    "PRAGMA foreign_keys=OFF",  # numbers come from our own catalogue; checking each row costs and finds nothing
)
_STUDY = (
    "SELECT digest, {document}, admission, signature, published, closes, number, closed, seal IS NOT NULL, title, "
    "public, aim, opens, hourly "
    "FROM studies"
)

P = ParamSpec("P")
T = TypeVar("T")


class SqliteStore:
    """A store in one file."""

    kind = "sqlite"

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-reader")
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._connection: sqlite3.Connection | None = None
        self._pace = Pace()

    @classmethod
    async def open(cls, path: Path) -> "SqliteStore":
        """Open or make the file, and bring its schema up to date."""
        store = cls(path, _lock(path))
        try:
            await store._write(_migrate)
        except BaseException:
            await store.close()
            raise
        return store

    async def close(self) -> None:
        """Finish what is being written, then close the file."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writer, self._close_writer)
        await asyncio.to_thread(self._writer.shutdown)
        await asyncio.to_thread(self._readers.shutdown)
        for connection in self._opened:
            connection.close()
        os.close(self._lock)

    async def check(self) -> None:
        """Raise unless the file can be read."""
        await self._read(lambda c: c.execute("SELECT 1 FROM studies LIMIT 1").fetchone())

    async def publish(self, study: Published) -> bool:
        """Keep a study; False if it is there already."""
        return await self._write(_publish, study)

    async def study(self, digest: str) -> Published | None:
        """Return a study, or None."""
        sql = _STUDY.format(document="document") + " WHERE digest = ?"
        rows = await self._read(lambda c: c.execute(sql, (digest,)).fetchall())
        return _published(rows[0]) if rows else None

    async def studies(self) -> list[Published]:
        """Return every study, the newest first, without documents."""
        sql = _STUDY.format(document="x''") + " ORDER BY number DESC"
        return [_published(row) for row in await self._read(lambda c: c.execute(sql).fetchall())]

    async def due(self, now: int) -> list[str]:
        """Return the digests of studies that are not sealed though they are closed, or should be by now."""
        sql = "SELECT digest FROM studies WHERE seal IS NULL AND (closed IS NOT NULL OR closes <= ?)"
        return [digest for (digest,) in await self._read(lambda c: c.execute(sql, (now,)).fetchall())]

    async def add(self, rows: Sequence[Row], bucket: int) -> list[int]:
        """Store answers, and count those that are new, in one transaction."""
        return await self._write(_add, rows, bucket, self._pace)

    async def find(self, rows: Sequence[Row]) -> list[int]:
        """Return for each row the symbol that this id has, or ``CLOSED``."""
        return await self._read(lambda c: [_symbol(c, row) for row in rows])

    async def tally(self, number: int) -> dict[int, int]:
        """Return how often each symbol was sent."""
        sql = "SELECT symbol, count FROM tallies WHERE study = ?"
        return dict(await self._read(lambda c: c.execute(sql, (number,)).fetchall()))

    async def looks(self, number: int) -> list[dict[int, int]]:
        """Return the tally as it was at certain numbers of answers, the oldest first."""
        sql = "SELECT counts FROM looks WHERE study = ? ORDER BY step"
        return [from_text(text) for (text,) in await self._read(lambda c: c.execute(sql, (number,)).fetchall())]

    async def arrivals(self, number: int) -> dict[int, int]:
        """Return how many answers came in each time bucket."""
        sql = "SELECT bucket, count FROM arrivals WHERE study = ? ORDER BY bucket"
        return dict(await self._read(lambda c: c.execute(sql, (number,)).fetchall()))

    async def answers(self, number: int) -> AsyncIterator[list[tuple[bytes, int]]]:
        """Yield all answers sorted by id, in pages."""
        sql = "SELECT id, symbol FROM answers WHERE study = ? AND id > ? ORDER BY id LIMIT ?"
        last = b""
        while True:
            key = (number, last, PAGE)
            page = await self._read(lambda c, key=key: c.execute(sql, key).fetchall())  # type: ignore[misc]
            if not page:
                return
            yield page
            last = page[-1][0]

    async def close_study(self, number: int, bucket: int) -> None:
        """Take no more answers to this study."""
        sql = "UPDATE studies SET closed = ? WHERE number = ? AND closed IS NULL"
        await self._write(_change, sql, (bucket, number))

    async def seal(self, number: int, document: bytes) -> bool:
        """Keep the seal of a closed study; False if it has one already."""
        sql = "UPDATE studies SET seal = ? WHERE number = ? AND closed IS NOT NULL AND seal IS NULL"
        return await self._write(_change, sql, (document, number)) == 1

    async def sealed(self, number: int) -> bytes | None:
        """Return the seal of a study."""
        sql = "SELECT seal FROM studies WHERE number = ?"
        row = await self._read(lambda c: c.execute(sql, (number,)).fetchone())
        return None if row is None else row[0]

    # ------------------------------------------------------------------ threads
    async def _write(
        self, change: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        def run() -> T:
            try:
                if self._connection is None:
                    self._connection = _connect(self.path)
                return change(self._connection, *args, **kwargs)
            except sqlite3.Error as error:
                raise self._after(error) from None

        return await asyncio.get_running_loop().run_in_executor(self._writer, run)

    def _after(self, error: sqlite3.Error) -> StoreError:
        """Undo what was begun, and say what went wrong."""
        with suppress(sqlite3.Error):
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        code = getattr(error, "sqlite_errorcode", 0) or 0
        if code & 0xFF == sqlite3.SQLITE_FULL:
            return StoreFull("the disk is full")
        # After a failed fsync nothing is known about the pages in memory: read them again from the file.
        self._close_writer()
        return StoreAway(f"{self.path.name}: {getattr(error, 'sqlite_errorname', type(error).__name__)}")

    def _close_writer(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    async def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            try:
                connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
                if connection is None:
                    address = f"{self.path.absolute().as_uri()}?mode=ro"
                    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
                    self._local.connection = connection
                    self._opened.append(connection)
                return query(connection)
            except sqlite3.Error as error:
                name = getattr(error, "sqlite_errorname", type(error).__name__)
                raise StoreAway(f"{self.path.name}: {name}") from None

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)


def _lock(path: Path) -> int:
    """Keep a second collector away from the file for as long as this process lives."""
    try:
        handle = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise StoreError(
            f"{path} is in use by another collector: one process per SQLite file, or several on PostgreSQL"
        ) from None
    return handle


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    for setting in _WRITER_SETTINGS:
        connection.execute(setting)
    return connection


def _migrate(connection: sqlite3.Connection) -> None:
    known = migrations("sqlite")
    path = Path(connection.execute("PRAGMA database_list").fetchone()[2])
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if tables and application != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program")
    check_version(found, len(known), str(path))
    for version, sql in enumerate(known[found:], start=found + 1):
        connection.executescript(
            f"BEGIN IMMEDIATE; {sql}; PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={version}; COMMIT;"
        )
    path.chmod(0o600)


def _change(connection: sqlite3.Connection, sql: str, values: tuple[object, ...]) -> int:
    return connection.execute(sql, values).rowcount


def _publish(connection: sqlite3.Connection, study: Published) -> bool:
    sql = (
        "INSERT INTO studies (digest, document, admission, signature, published, closes, title, public, aim, opens, "
        "hourly) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
    )
    values = (
        study.digest, study.document, study.admission, study.signature, study.published, study.closes, study.title,
        study.public, study.aim, study.opens, study.hourly,
    )  # fmt: skip
    return connection.execute(sql, values).rowcount == 1


def _published(row: tuple[Any, ...]) -> Published:
    found = Published(*row)
    return replace(found, sealed=bool(found.sealed), public=bool(found.public))


def _add(connection: sqlite3.Connection, rows: Sequence[Row], bucket: int, pace: Pace) -> list[int]:
    connection.execute("BEGIN IMMEDIATE")
    closed = _closed(connection, {row[0] for row in rows})
    wanted = [row for row in rows if row[0] not in closed] if closed else rows
    insert = "INSERT INTO answers (study, id, symbol) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
    before = connection.total_changes
    connection.execute("SAVEPOINT fast")
    connection.executemany(insert, sorted(wanted))  # neighbours in the tree one after the other
    fresh: Iterable[Row] = rows
    if not closed and connection.total_changes - before == len(rows):
        result = [FRESH] * len(rows)
    else:  # some were there before: which?
        connection.execute("ROLLBACK TO fast")
        result = [
            FRESH if row[0] not in closed and connection.execute(insert, row).rowcount else _symbol(connection, row)
            for row in rows
        ]
        fresh = [row for row, found in zip(rows, result, strict=True) if found == FRESH]
    _count(connection, fresh, bucket)
    for study in pace.due(fresh):
        _look(connection, study, pace)
    connection.execute("COMMIT")
    return result


def _count(connection: sqlite3.Connection, fresh: Iterable[Row], bucket: int) -> None:
    tally = Counter(map(itemgetter(0, 2), fresh))
    arrivals: Counter[int] = Counter()
    for (study, _), count in tally.items():
        arrivals[study] += count
    connection.executemany(
        "INSERT INTO tallies VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
        [(study, symbol, count) for (study, symbol), count in tally.items()],
    )
    connection.executemany(
        "INSERT INTO arrivals VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
        [(study, bucket, count) for study, count in arrivals.items()],
    )


def _look(connection: sqlite3.Connection, study: int, pace: Pace) -> None:
    tally = dict(connection.execute("SELECT symbol, count FROM tallies WHERE study = ?", (study,)).fetchall())
    total = sum(tally.values())
    step = step_of(total)
    if step is not None:
        connection.execute("INSERT INTO looks VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (study, step, to_text(tally)))
    pace.looked(study, total)


def _closed(connection: sqlite3.Connection, numbers: Iterable[int]) -> set[int]:
    sql = "SELECT 1 FROM studies WHERE number = ? AND closed IS NULL"
    return {number for number in numbers if connection.execute(sql, (number,)).fetchone() is None}


def _symbol(connection: sqlite3.Connection, row: Row) -> int:
    found = connection.execute("SELECT symbol FROM answers WHERE study = ? AND id = ?", row[:2]).fetchone()
    return CLOSED if found is None else int(found[0])
