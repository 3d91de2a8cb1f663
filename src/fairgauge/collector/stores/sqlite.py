"""The store in one SQLite file: write-ahead log, synchronous=FULL, one thread that writes.

SQLite 3.40 (Debian 12) can corrupt a write-ahead log when two connections write and checkpoint, so a lock keeps a
second collector out, and everything else reads through connections that cannot write.
"""

import asyncio
import fcntl
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from fairgauge.collector.stores.released_sums import summed
from fairgauge.collector.stores.sql_store import (
    Change,
    SqlStore,
    Statement,
    by_study,
    check_version,
    look,
    migrations,
    need_version,
)
from fairgauge.collector.stores.store import CLOSED, FRESH, Row
from fairgauge.errors import OF_BEFORE, StoreAway, StoreDamaged, StoreError, StoreFull

APPLICATION_ID = 0x46474753  # "FGGS": tells our files from other programs'
_MIXED = 50_000  # answers that are written anew at a time: some hundred milliseconds, in which others wait
_READERS = 2
_SCRUBS = 10  # times to try for a second each
_START_SECONDS = 5.0  # a start may take so long to look for damage: most of a file of a few gigabytes
_LOG_MILLISECONDS = 1000  # how long the log may take to become free of readers
_LEAST_ROOM = 2**17
_DRAFT = 0x46474155  # what stood there before the first release
_WRITER_SETTINGS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA wal_autocheckpoint=4000",  # pages: 16 MiB of log between checkpoints
    "PRAGMA journal_size_limit=67108864",
    "PRAGMA cache_size=-16384",  # 16 MiB; the system keeps the rest of the file in memory as long as there is some
    "PRAGMA secure_delete=ON",  # answers that are removed leave no trace in free pages, whatever SQLite was built with
    "PRAGMA foreign_keys=OFF",  # numbers come from our own catalogue; checking each row costs and finds nothing
)

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Batches = tuple[int, int]  # how many answers one has, and whether they close at the end only


class SqliteStore(SqlStore):
    """A store in one file."""

    kind = "sqlite"

    def __init__(self, path: Path, held: "Lock | None") -> None:
        super().__init__()
        self.path = path
        self._lock = held  # None: open to read, beside a collector that may be writing
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="store-reader")
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._connection: sqlite3.Connection | None = None

    @classmethod
    async def open(cls, path: Path) -> "SqliteStore":
        """Open or make the file, look whether it is damaged, and bring its schema up to date.

        Raises:
            StoreError: If another collector uses it, or it is of another program or a later version.
            StoreDamaged: If it is damaged: it is left as it is.
        """
        store = cls(path, Lock(path, make=True))
        try:
            if path.exists() and path.stat().st_size:
                await store.check_pages(_START_SECONDS)
            await store._write(migrate)
        except BaseException:
            await store.close()
            raise
        return store

    @classmethod
    async def open_to_read(cls, path: Path) -> "SqliteStore":
        """Open the file as it is, also beside a collector that writes it; nothing can be changed."""
        if not path.is_file():
            raise StoreError(f"{path} is not there")
        store = cls(path, None)
        try:
            found = await store._read(schema_version)
        except BaseException:
            await store.close()
            raise
        need_version(found, "sqlite", str(path))
        return store

    async def close(self) -> None:
        """Finish what is being written, then close the file: all of it is in the file, and none in a log beside it.

        Readers go first.  SQLite moves the log into the file when the last connection closes, and one that may only
        read cannot do that.
        """
        await asyncio.to_thread(self._readers.shutdown)
        for connection in self._opened:
            connection.close()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writer, self._finish)
        await asyncio.to_thread(self._writer.shutdown)
        if self._lock is None:
            await asyncio.to_thread(tidy, self.path)
        else:
            self._lock.release()

    async def check_pages(self, seconds: float) -> bool:
        """Look for damaged pages; False if there was not enough time to look everywhere."""
        return await asyncio.to_thread(check_pages, self.path, seconds)

    async def add(self, rows: Sequence[Row], bucket: int) -> list[str]:
        """Store answers, and count those that are new, in one transaction; batches that are closed by it leave then."""
        stored, due = await self._write(self._add, rows, bucket)
        await self._let_go_soon(due)
        return stored

    def _add(self, connection: sqlite3.Connection, rows: Sequence[Row], bucket: int) -> tuple[list[str], list[int]]:
        """Store answers whose studies are open, and count new ones; also return studies that closed a batch."""
        connection.execute("BEGIN IMMEDIATE")
        numbers = {row[0] for row in rows}
        sizes = _open(connection, numbers)
        wanted = rows if len(sizes) == len(numbers) else [row for row in rows if row[0] in sizes]
        insert = "INSERT INTO answers (study, id, payload) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        before = connection.total_changes
        connection.execute("SAVEPOINT fast")
        connection.executemany(insert, sorted(wanted))  # neighbours in the tree one after the other
        fresh: Iterable[Row] = rows
        if connection.total_changes - before == len(rows):
            result = [FRESH] * len(rows)
        else:  # some were there before: which?
            connection.execute("ROLLBACK TO fast")
            result = [
                FRESH if row[0] in sizes and connection.execute(insert, row).rowcount else _kept(connection, row)
                for row in rows
            ]
            fresh = [row for row, found in zip(rows, result, strict=True) if found == FRESH]
        _count_arrivals(connection, fresh, bucket)
        at_once, due = fresh, []
        if any(sizes.values()):
            at_once = [row for row in fresh if sizes[row[0]] is None]
            for study, own in by_study(row for row in fresh if sizes[row[0]] is not None).items():
                size, at_end = sizes[study] or (1, 0)
                (taken,) = connection.execute("SELECT taken FROM fills WHERE study = ?", (study,)).fetchone()
                if _steps(connection, self._fill(study, own, (size, bool(at_end)), taken)):
                    due.append(study)
        _count(connection, at_once)
        for study in self._pace.due(at_once):
            self._pace.looked(study, _steps(connection, look(study)))
        connection.execute("COMMIT")
        return result, due

    async def find(self, rows: Sequence[Row]) -> list[str]:
        """Return for each row what this id holds, or ``CLOSED``."""
        return await self._read(lambda c: [_kept(c, row) for row in rows])

    async def seal(self, number: int, document: bytes) -> bool:
        """Keep the seal of a closed study; False if it has one already.  In the crowd, nothing tells who came first."""
        sql = "SELECT 1 FROM studies WHERE number = $1 AND closed IS NOT NULL AND seal IS NULL AND batch IS NOT NULL"
        mixes = bool(await self._fetch(sql, number))
        if mixes:  # before the seal: whoever finds one need not ask whether this was done
            await self._change(_mix_waiting, number)
            start: bytes | None = b""
            while start is not None:  # in parts: answers to other studies come in between
                start = await self._change(_mix, number, start)
        made = await self._change(_seal, number, document)
        if mixes:
            await self._write(_empty_log)
        return made

    async def scrub(self) -> str:
        """Empty the log: in the file itself, what is removed is overwritten at once (``secure_delete``)."""
        for _ in range(_SCRUBS):
            if await self._write(_empty_log):
                return "They are neither in the file nor in its log any more."
        return "They are in the log beside the file until whoever reads from it lets go and the collector stops."

    # ------------------------------------------------------------------ threads
    async def _change(self, change: Callable[_P, Change[_T]], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return await self._write(_whole, change(*args, **kwargs))

    async def _write(
        self, change: Callable[Concatenate[sqlite3.Connection, _P], _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        def run() -> _T:
            if self._lock is None:
                raise StoreError(f"{self.path} is open to read only")
            try:
                if self._connection is None:
                    self._connection = connect(self.path)
                return change(self._connection, *args, **kwargs)
            except sqlite3.Error as error:
                self._undo()
                raise self._after(error) from None
            except BaseException:
                self._undo()
                raise

        return await asyncio.get_running_loop().run_in_executor(self._writer, run)

    def _undo(self) -> None:
        """Undo what was begun."""
        with suppress(sqlite3.Error):
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _after(self, error: sqlite3.Error) -> StoreError:
        """Say what went wrong."""
        if (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF != sqlite3.SQLITE_FULL:
            # After a failed fsync nothing is known about the pages in memory: read them again from the file.
            self._close_writer()
        return failed(self.path, error)

    def _finish(self) -> None:
        """Move the log into the file, and close it."""
        with suppress(sqlite3.Error):
            if self._connection is not None:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._close_writer()

    def _close_writer(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    async def _fetch(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return await self._read(lambda c: c.execute(_numbered(sql), values).fetchall())

    async def _read(self, query: Callable[[sqlite3.Connection], _T]) -> _T:
        def run() -> _T:
            try:
                connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
                if connection is None:
                    connection = read_only(self.path)
                    self._local.connection = connection
                    self._opened.append(connection)
                return query(connection)
            except sqlite3.Error as error:
                raise failed(self.path, error) from None

        return await asyncio.get_running_loop().run_in_executor(self._readers, run)


@lru_cache(maxsize=256)
def _numbered(sql: str) -> str:
    return sql.replace("$", "?")


def _whole(connection: sqlite3.Connection, change: Change[_T]) -> _T:
    """Make a change, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    found = _steps(connection, change)
    connection.execute("COMMIT")
    return found


def _steps(connection: sqlite3.Connection, change: Change[_T]) -> _T:
    """Run the statements of a change within a transaction; whoever began it undoes it if one fails."""
    given: list[tuple[Any, ...]] | None = None
    while True:
        try:
            step = change.send(given)
        except StopIteration as end:
            found: _T = end.value
            return found
        given = []
        if not isinstance(step, Statement):
            step()
        elif step.many:
            connection.executemany(_numbered(step.sql), step.values)
        else:
            given = connection.execute(_numbered(step.sql), step.values).fetchall()


def _open(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, _Batches | None]:
    """Return those studies that take answers, with their batches."""
    sql = "SELECT batch, at_end FROM studies WHERE number = ? AND closed IS NULL"
    found = {number: connection.execute(sql, (number,)).fetchone() for number in numbers}
    return {number: row if row[0] else None for number, row in found.items() if row is not None}


def _count(connection: sqlite3.Connection, fresh: Iterable[Row]) -> None:
    connection.executemany(
        "INSERT INTO tallies VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
        [(study, place, count) for (study, place), count in summed(map(itemgetter(0, 2), fresh)).items()],
    )


def _count_arrivals(connection: sqlite3.Connection, fresh: Iterable[Row], bucket: int) -> None:
    connection.executemany(
        "INSERT INTO arrivals VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
        [(study, bucket, count) for study, count in Counter(map(itemgetter(0), fresh)).items()],
    )


def _kept(connection: sqlite3.Connection, row: Row) -> str:
    """Return what an answer's id holds, or ``CLOSED``."""
    found = connection.execute("SELECT payload FROM answers WHERE study = ? AND id = ?", row[:2]).fetchone()
    return CLOSED if found is None else str(found[0])


def _seal(number: int, document: bytes) -> Change[bool]:
    sql = "UPDATE studies SET seal = $1 WHERE number = $2 AND closed IS NOT NULL AND seal IS NULL RETURNING number"
    return bool((yield Statement(sql, (document, number))))


def _mix(number: int, start: bytes) -> Change[bytes | None]:
    """Write answers of a study anew in the order of their ids, from an id on; return where to go on, None at the end.

    Rows are sorted by id, and still each lies on its page where there was room when it came: the first ones at the end
    of the page.  Written anew they lie there in the order of their ids, which are random.
    """
    sql = "SELECT study, id, payload FROM answers WHERE study = $1 AND id >= $2 ORDER BY id LIMIT $3"
    rows = yield Statement(sql, (number, start, _MIXED))
    if rows:
        sql = "DELETE FROM answers WHERE study = $1 AND id BETWEEN $2 AND $3"
        yield Statement(sql, (number, rows[0][1], rows[-1][1]))
        yield Statement("INSERT INTO answers (study, id, payload) VALUES ($1, $2, $3)", rows, many=True)
    return rows[-1][1] + b"\0" if len(rows) == _MIXED else None


def _mix_waiting(number: int) -> Change[None]:
    """Do the same for counts that never leave: they lie in the order in which each place was first added to."""
    sql = "SELECT study, batch, place, count FROM waiting WHERE study = $1 ORDER BY batch, place"
    rows = yield Statement(sql, (number,))
    yield Statement("DELETE FROM waiting WHERE study = $1", (number,))
    yield Statement("INSERT INTO waiting VALUES ($1, $2, $3, $4)", rows, many=True)


def _empty_log(connection: sqlite3.Connection) -> bool:
    """Move the log into the file and empty it: it has the order of groups, and what was removed.

    False if somebody reads from it for long.
    """
    (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout={_LOG_MILLISECONDS}")
    (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout={usual}")
    return not busy


class Lock:
    """Keeps a second collector away from a file until it is let go: by the file's name, and by the file itself.

    The name alone would not do: a file has several through hard links, and the log beside each would undo the other's.
    The file alone would not either: it may not be there yet.

    Args:
        path: The file.
        make: Whether to make it if it is not there.

    Raises:
        StoreError: If another collector uses it, it cannot be opened, or it has several names.
    """

    def __init__(self, path: Path, *, make: bool) -> None:
        self._held: list[int] = []
        try:
            self._take(path, path.with_name(path.name + ".lock"), os.O_CREAT)
            if make or path.exists():
                # Made with its permissions: SQLite gives those to the log and to the index beside it.
                self._take(path, path, os.O_CREAT if make else 0)
                if os.fstat(self._held[-1]).st_nlink > 1:
                    raise StoreError(f"{path} has several names (hard links): leave one, as logs are beside a name")
        except BaseException:
            self.release()
            raise

    def _take(self, path: Path, file: Path, flags: int) -> None:
        try:
            handle = os.open(file, os.O_RDWR | os.O_CLOEXEC | flags, 0o600)
        except OSError as error:
            raise StoreError(f"{path} cannot be opened: {error.strerror}") from None
        self._held.append(handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(handle), file.stat()):  # removed by whoever held it
                raise FileNotFoundError
        except OSError:
            raise StoreError(
                f"{path} is in use by another collector: one process per SQLite file, or several on PostgreSQL"
            ) from None

    def release(self) -> None:
        """Let it go; every connection to the file must be closed before, since this takes SQLite's own locks along."""
        while self._held:
            os.close(self._held.pop())

    def remove(self, path: Path) -> None:
        """Let it go for a file that was not made after all, and leave nothing beside its name."""
        if not path.exists():
            path.with_name(path.name + ".lock").unlink(missing_ok=True)
        self.release()


def connect(path: Path) -> sqlite3.Connection:
    """Open the file to write, durably; whoever holds its lock has made it."""
    if not os.access(path, os.W_OK):
        raise StoreAway(f"{path} cannot be opened to write")
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10)
    for setting in _WRITER_SETTINGS:
        connection.execute(setting)
    return connection


def read_only(path: Path) -> sqlite3.Connection:
    """Open the file so that nothing can be changed through this connection.

    A kill may have left a change half done, with a journal that undoes it: SQLite does so for whoever may write.
    """
    address = f"{path.absolute().as_uri()}?mode=ro"
    if path.with_name(f"{path.name}-journal").exists():
        _undo(path)
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)


def _undo(path: Path) -> None:
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as found:
        found.execute("SELECT count(*) FROM sqlite_schema").fetchone()


def tidy(path: Path) -> None:
    """Let SQLite remove the empty log that a reader left beside the file, unless somebody uses it.

    A connection that may only read makes a log if there is none, and cannot remove it.
    """
    log = path.with_name(path.name + "-wal")
    with suppress(OSError, sqlite3.Error):
        if log.stat().st_size == 0:
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the schema version of a file of ours; 0 for an empty one.

    Raises:
        StoreError: If it is a database of another program, of a later version of this one, or of before the first.
    """
    path = connection.execute("PRAGMA database_list").fetchone()[2]
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application == _DRAFT:
        raise StoreError(f"{path} {OF_BEFORE}")
    if tables and application != APPLICATION_ID:
        raise StoreError(f"{path} is a database of another program")
    check_version(found, "sqlite", str(path))
    return int(found)


def check_pages(path: Path, seconds: float) -> bool:
    """Let SQLite look for damaged pages; False if there was not enough time to look everywhere.

    Raises:
        StoreDamaged: If there are some, or the file is no database.
    """
    ends = time.monotonic() + seconds
    try:
        with closing(read_only(path)) as connection:
            connection.set_progress_handler(lambda: time.monotonic() > ends, 10_000)
            found = [text for (text,) in connection.execute("PRAGMA quick_check(1)")]
    except sqlite3.Error as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return False
        raise failed(path, error) from None
    if found != ["ok"]:
        raise _damaged(path, found[0] if found else "no result")
    return True


def failed(path: Path, error: sqlite3.Error) -> StoreError:
    """Return what an error of SQLite means: a full disk or a file that cannot be opened is no damage."""
    code, name = getattr(error, "sqlite_errorcode", 0) or 0, getattr(error, "sqlite_errorname", type(error).__name__)
    if code & 0xFF == sqlite3.SQLITE_FULL or (code & 0xFF == sqlite3.SQLITE_IOERR and not _has_room(path)):
        return StoreFull("the disk is full")
    if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return _damaged(path, name)
    return StoreAway(f"{path.name}: {name}")


def _has_room(path: Path) -> bool:
    """Tell whether there is room for the smallest log beside a file, and its index."""
    with suppress(OSError):
        found = os.statvfs(path.parent)
        return found.f_bavail * found.f_frsize >= _LEAST_ROOM
    return True


def _damaged(path: Path, what: str) -> StoreDamaged:
    """Return the error that says what to do with a damaged file."""
    return StoreDamaged(
        f"{path} is damaged ({what}): keep it, and put the last copy in a new place with fairgauge store restore; "
        "devices can send again what came since"
    )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date, one version a transaction."""
    found = schema_version(connection)
    for version, sql in enumerate([*migrations("sqlite").values()][found:], start=found + 1):
        connection.executescript(
            f"BEGIN IMMEDIATE; {sql}; PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={version}; COMMIT;"
        )
    path = Path(connection.execute("PRAGMA database_list").fetchone()[2])
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        with suppress(FileNotFoundError):
            path.with_name(name).chmod(0o600)
