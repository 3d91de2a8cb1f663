"""The store in one SQLite file: write-ahead log, synchronous=FULL, one thread that writes.

SQLite 3.40 (Debian 12) can corrupt a write-ahead log when two connections write and checkpoint, so a lock file keeps
a second collector out, and everything else reads through connections that cannot write.
"""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from fairgauge.collector.stores import sqlite_changes as changes
from fairgauge.collector.stores.base import PAGE, Event, Published, Row, Ticket, need_version
from fairgauge.collector.stores.batches import Note, let_go_soon, unnoted
from fairgauge.collector.stores.file import (
    Lock,
    check_pages,
    connect,
    failed,
    migrate,
    read_only,
    schema_version,
    tidy,
)
from fairgauge.collector.stores.looks import Pace, from_text
from fairgauge.errors import StoreError

READERS = 2
SCRUBS = 10  # times to try for a second each
START_SECONDS = 5.0  # a start may take so long to look for damage: most of a file of a few gigabytes
_STUDY = (
    "SELECT digest, {document}, admission, signature, published, closes, number, closed, seal IS NOT NULL, title, "
    "public, aim, opens, hourly, key, dropped, batch, at_end "
    "FROM studies"
)

P = ParamSpec("P")
T = TypeVar("T")


class SqliteStore:
    """A store in one file."""

    kind = "sqlite"

    def __init__(self, path: Path, held: Lock | None) -> None:
        self.path = path
        self._lock = held  # None: open to read, beside a collector that may be writing
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-reader")
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._connection: sqlite3.Connection | None = None
        self._pace = Pace()
        self.note: Note = unnoted

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
                await store.check_pages(START_SECONDS)
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

    async def check(self) -> None:
        """Raise unless the file can be read."""
        await self._read(lambda c: c.execute("SELECT 1 FROM studies LIMIT 1").fetchone())

    async def commit_something(self) -> None:
        """Raise unless the file can be written."""
        await self._write(changes.change, "UPDATE pulse SET beat = beat + 1", ())

    async def check_pages(self, seconds: float) -> bool:
        """Look for damaged pages; False if there was not enough time to look everywhere."""
        return await asyncio.to_thread(check_pages, self.path, seconds)

    async def publish(self, study: Published) -> bool:
        """Keep a study; False if it is there already."""
        return await self._write(changes.publish, study)

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

    async def add(self, rows: Sequence[Row], bucket: int) -> list[str]:
        """Store answers, and count those that are new, in one transaction; batches that are closed by it leave then."""
        stored, due = await self._write(changes.add, rows, bucket, self._pace)
        await let_go_soon(self.let_go, due)
        return stored

    async def find(self, rows: Sequence[Row]) -> list[str]:
        """Return for each row what this id holds, or ``CLOSED``."""
        return await self._read(lambda c: [changes.kept(c, row) for row in rows])

    async def tally(self, number: int) -> dict[int, int]:
        """Return the sum of what answers hold, in closed batches if the study has batches."""
        sql = "SELECT place, count FROM tallies WHERE study = ?"
        return dict(await self._read(lambda c: c.execute(sql, (number,)).fetchall()))

    async def counts(self, number: int) -> dict[int, int]:
        """Return the sum of what answers hold, in batches that nobody may see yet too."""
        sql = (
            "SELECT place, sum(count) FROM (SELECT place, count FROM tallies WHERE study = ? UNION ALL "
            "SELECT place, count FROM waiting WHERE study = ?) GROUP BY place"
        )
        return dict(await self._read(lambda c: c.execute(sql, (number, number)).fetchall()))

    async def looks(self, number: int) -> list[dict[int, int]]:
        """Return the tally as it was at certain numbers of answers, the oldest first."""
        sql = "SELECT counts FROM looks WHERE study = ? ORDER BY step"
        return [from_text(text) for (text,) in await self._read(lambda c: c.execute(sql, (number,)).fetchall())]

    async def arrivals(self, number: int) -> dict[int, int]:
        """Return how many answers came in each time bucket."""
        sql = "SELECT bucket, count FROM arrivals WHERE study = ? ORDER BY bucket"
        return dict(await self._read(lambda c: c.execute(sql, (number,)).fetchall()))

    async def answers(self, number: int, *, start: bytes = b"") -> AsyncIterator[list[tuple[bytes, str]]]:
        """Yield answers sorted by id, in pages, from one id on."""
        sql = "SELECT id, payload FROM answers WHERE study = ? AND id >= ? ORDER BY id LIMIT ?"
        while True:
            key = (number, start, PAGE)
            page = await self._read(lambda c, key=key: c.execute(sql, key).fetchall())  # type: ignore[misc]
            if not page:
                return
            yield page
            start = page[-1][0] + b"\0"  # the next one after it, in the order of bytes

    async def expect(self, number: int, named: Mapping[bytes, str]) -> None:
        """Remember to whom tickets were given."""
        await self._write(changes.expect, number, named)

    async def remember(self, number: int, ticket: Ticket) -> None:
        """Remember what became of a ticket."""
        await self._write(changes.remember, number, ticket)

    async def ticketed(self, number: int) -> list[Ticket]:
        """Return what is remembered of the tickets of a study, sorted by id."""
        sql = "SELECT id, name, state, other FROM tickets WHERE study = ? ORDER BY id"
        rows = await self._read(lambda c: c.execute(sql, (number,)).fetchall())
        return [Ticket(id_, name, state, bool(other)) for id_, name, state, other in rows]

    async def close_study(self, number: int, bucket: int) -> None:
        """Take no more answers to this study, and let its batches go."""
        await self._write(changes.close_study, number, bucket)
        await self.let_go(number)

    async def let_go(self, number: int) -> int:
        """Let closed batches be seen."""
        return await self._write(changes.let_go, number, self.note)

    async def seal(self, number: int, document: bytes) -> bool:
        """Keep the seal of a closed study; False if it has one already.  In the crowd, nothing tells who came first."""
        sql = "SELECT 1 FROM studies WHERE number = ? AND closed IS NOT NULL AND seal IS NULL AND batch IS NOT NULL"
        mixes = bool(await self._read(lambda c: c.execute(sql, (number,)).fetchall()))
        if mixes:  # before the seal: whoever finds one need not ask whether this was done
            await self._mix(number)
        sql = "UPDATE studies SET seal = ? WHERE number = ? AND closed IS NOT NULL AND seal IS NULL"
        made = await self._write(changes.change, sql, (document, number)) == 1
        if mixes:
            await self._write(changes.empty_log)
        return made

    async def _mix(self, number: int) -> None:
        """Write the answers of a study anew, in parts: answers to other studies come in between."""
        await self._write(changes.mix_waiting, number)
        start: bytes | None = b""
        while start is not None:
            start = await self._write(changes.mix, number, start)

    async def sealed(self, number: int) -> bytes | None:
        """Return the seal of a study."""
        sql = "SELECT seal FROM studies WHERE number = ?"
        row = await self._read(lambda c: c.execute(sql, (number,)).fetchone())
        return None if row is None else row[0]

    # ------------------------------------------------------------------ what operators do
    async def latest(self) -> int:
        """Return the latest time bucket that is stored, or 0."""
        sql = (
            "SELECT coalesce(max(bucket), 0) FROM (SELECT max(published) AS bucket FROM studies UNION "
            "SELECT max(closed) FROM studies UNION SELECT max(bucket) FROM arrivals UNION "
            "SELECT max(bucket) FROM events)"
        )
        return int((await self._read(lambda c: c.execute(sql).fetchone()))[0])

    async def drop_answers(self, number: int, event: Event) -> bool:
        """Remove the answers of a sealed study; tally and seal stay."""
        return await self._write(changes.drop_answers, number, event)

    async def delete(self, number: int, event: Event) -> bool:
        """Remove a closed study with all that belongs to it."""
        return await self._write(changes.delete, number, event)

    async def scrub(self) -> str:
        """Empty the log: in the file itself, what is removed is overwritten at once (``secure_delete``)."""
        for _ in range(SCRUBS):
            if await self._write(changes.empty_log):
                return "They are neither in the file nor in its log any more."
        return "They are in the log beside the file until whoever reads from it lets go and the collector stops."

    async def keys(self) -> list[tuple[str, str]]:
        """Return the purposes and fingerprints of the keys that this store belongs to, the oldest first."""
        sql = "SELECT purpose, fingerprint FROM keys ORDER BY since, purpose, fingerprint"
        return await self._read(lambda c: c.execute(sql).fetchall())

    async def remember_key(self, purpose: str, fingerprint: str, bucket: int) -> None:
        """Let the store belong to one more key."""
        sql = "INSERT INTO keys VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
        await self._write(changes.change, sql, (purpose, fingerprint, bucket))

    async def record(self, event: Event) -> None:
        """Add a line to the audit log."""
        await self._write(changes.record, event)

    async def events(self, most: int) -> list[Event]:
        """Return the latest lines of the audit log, the newest first."""
        sql = "SELECT bucket, who, did, about FROM events ORDER BY number DESC LIMIT ?"
        return [Event(*row) for row in await self._read(lambda c: c.execute(sql, (most,)).fetchall())]

    async def sign_out(self, session: str, until: int) -> None:
        """Remember that a session is over."""
        await self._write(
            changes.change, "INSERT INTO signed_out VALUES (?, ?) ON CONFLICT DO NOTHING", (session, until)
        )
        # Those that would have ended a session's length before this one are over by any clock.
        await self._write(changes.change, "DELETE FROM signed_out WHERE until < ?", (until - 86_400,))

    async def ended_sessions(self, now: int) -> dict[str, int]:
        """Return the sessions that were ended before their time."""
        sql = "SELECT session, until FROM signed_out WHERE until > ?"
        return dict(await self._read(lambda c: c.execute(sql, (now,)).fetchall()))

    # ------------------------------------------------------------------ threads
    async def _write(
        self, change: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        def run() -> T:
            if self._lock is None:
                raise StoreError(f"{self.path} is open to read only")
            try:
                if self._connection is None:
                    self._connection = connect(self.path)
                return change(self._connection, *args, **kwargs)
            except sqlite3.Error as error:
                raise self._after(error) from None

        return await asyncio.get_running_loop().run_in_executor(self._writer, run)

    def _after(self, error: sqlite3.Error) -> StoreError:
        """Undo what was begun, and say what went wrong."""
        with suppress(sqlite3.Error):
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
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

    async def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
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


def _published(row: tuple[Any, ...]) -> Published:
    found = Published(*row)
    return replace(found, sealed=bool(found.sealed), public=bool(found.public), at_end=bool(found.at_end))
