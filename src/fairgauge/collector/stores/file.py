"""A SQLite file as a collector wants it: whose it is, how it is written, which schema it has, whether it is sound."""

import fcntl
import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from fairgauge.collector.stores.base import check_version, migrations
from fairgauge.errors import OF_BEFORE, StoreAway, StoreDamaged, StoreError, StoreFull

APPLICATION_ID = 0x46474753  # "FGGS": tells our files from other programs'
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
        except OSError:
            raise StoreError(
                f"{path} is in use by another collector: one process per SQLite file, or several on PostgreSQL"
            ) from None

    def release(self) -> None:
        """Let it go; every connection to the file must be closed before, since this takes SQLite's own locks along."""
        while self._held:
            os.close(self._held.pop())


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
    check_version(found, len(migrations("sqlite")), str(path))
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
        raise damaged(path, found[0] if found else "no result")
    return True


def failed(path: Path, error: sqlite3.Error) -> StoreError:
    """Return what an error of SQLite means: a full disk or a file that cannot be opened is no damage."""
    code, name = getattr(error, "sqlite_errorcode", 0) or 0, getattr(error, "sqlite_errorname", type(error).__name__)
    if code & 0xFF == sqlite3.SQLITE_FULL or (code & 0xFF == sqlite3.SQLITE_IOERR and not _has_room(path)):
        return StoreFull("the disk is full")
    if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path, name)
    return StoreAway(f"{path.name}: {name}")


def _has_room(path: Path) -> bool:
    """Tell whether there is room for the smallest log beside a file, and its index."""
    with suppress(OSError):
        found = os.statvfs(path.parent)
        return found.f_bavail * found.f_frsize >= _LEAST_ROOM
    return True


def damaged(path: Path, what: str) -> StoreDamaged:
    """Return the error that says what to do with a damaged file."""
    return StoreDamaged(
        f"{path} is damaged ({what}): keep it, and put the last copy in a new place with fairgauge store restore; "
        "devices can send again what came since"
    )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the schema up to date, one version a transaction."""
    found = schema_version(connection)
    for version, sql in enumerate(migrations("sqlite")[found:], start=found + 1):
        connection.executescript(
            f"BEGIN IMMEDIATE; {sql}; PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={version}; COMMIT;"
        )
    path = Path(connection.execute("PRAGMA database_list").fetchone()[2])
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        with suppress(FileNotFoundError):
            path.with_name(name).chmod(0o600)
