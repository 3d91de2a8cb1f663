"""The store in PostgreSQL, which several collectors may share.

A group of answers is one statement, so one round trip and one transaction: it stores the new answers, counts them,
and holds the study's row so that nobody can close the study in between.  Rows are locked in the order of their keys;
should two collectors still block each other, one is rolled back by PostgreSQL and tries again.  Each connection counts
in a slot of its own, and a tally is the sum over slots: otherwise all would wait for one row until another's commit
is on the disk.

Batches are filled by several collectors together, one group of answers at a time: whoever adds to a study in the crowd
holds the row that says how many answers it has taken, until its commit is on the disk.  So every answer has one place
in one order, whichever collector stored it, and batches neither split nor mix.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

import asyncpg

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
from fairgauge.errors import OF_BEFORE, StoreAway, StoreError, StoreFull

# For a statement or a connection; then the sender is told to come again.  An answer may wait for the group before its
# own, and devices give up after 20 seconds of silence: both must have ended by then.
_SECONDS = 8
_LONG_SECONDS = 86_400  # a large table takes as long as it takes
_MIGRATING = 0x46474753  # the key of the advisory lock
_WHAT = "this PostgreSQL database"
_CONNECTIONS = 6
_MOST_KNOWN = 10_000  # studies of which it is remembered whether they have batches
_TRIES = 5
_SCRUBBED = (*(f"answers_{part}" for part in range(8)), "tickets", "waiting")  # what is removed may have been here
_SCRUBS = 20  # seconds to wait for whoever still sees what is removed
# A connection that ends while it is used can be an internal error to asyncpg.
_AWAY = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)

_ADD = """
WITH open AS (
    SELECT number FROM studies WHERE number = ANY($1::int[]) AND closed IS NULL ORDER BY number FOR SHARE
), fresh AS (
    INSERT INTO answers (study, id, payload)
    SELECT sent.study, sent.id, sent.payload
    FROM unnest($2::int[], $3::bytea[], $4::text[]) AS sent (study, id, payload)
    JOIN open ON open.number = sent.study
    ORDER BY 1, 2
    ON CONFLICT DO NOTHING
    RETURNING study, id, payload
), counted AS (
    INSERT INTO tallies AS t (study, place, slot, count)
    SELECT study, place, pg_backend_pid() % 64, sum(amount)
    FROM fresh JOIN unnest($6::text[], $7::int[], $8::bigint[]) AS added (payload, place, amount) USING (payload)
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (study, place, slot) DO UPDATE SET count = t.count + excluded.count
), arrived AS (
    INSERT INTO arrivals AS a (study, bucket, slot, count)
    SELECT study, $5::bigint, pg_backend_pid() % 64, count(*) FROM fresh GROUP BY 1 ORDER BY 1
    ON CONFLICT (study, bucket, slot) DO UPDATE SET count = a.count + excluded.count
)
SELECT study, id FROM fresh
"""
_FIND = """
SELECT answers.study, answers.id, answers.payload
FROM unnest($1::int[], $2::bytea[]) AS sent (study, id) JOIN answers USING (study, id)
"""
_LINE = """
SELECT number, batch, at_end, taken FROM studies JOIN fills ON study = number
WHERE number = ANY($1::int[]) AND closed IS NULL ORDER BY number FOR SHARE OF studies FOR UPDATE OF fills
"""
_INSERT = """
INSERT INTO answers (study, id, payload)
SELECT study, id, payload FROM unnest($1::int[], $2::bytea[], $3::text[]) AS sent (study, id, payload) ORDER BY 1, 2
ON CONFLICT DO NOTHING RETURNING study, id
"""
_ARRIVE = """
INSERT INTO arrivals AS a (study, bucket, slot, count) VALUES ($1, $2, 0, $3)
ON CONFLICT (study, bucket, slot) DO UPDATE SET count = a.count + excluded.count
"""
# Rows lie in a table in the order in which they came.  These are written once more in the order of their random ids, in
# one transaction, so that neither their place nor the number of their transaction says who came first.
_MIX = """
WITH gone AS (DELETE FROM answers WHERE study = $1 RETURNING study, id, payload)
INSERT INTO answers (study, id, payload) SELECT study, id, payload FROM gone ORDER BY id
"""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class PostgresStore(SqlStore):
    """A store in a PostgreSQL database."""

    kind = "postgresql"
    _HOLD = " FOR UPDATE OF fills"
    _SLOT = ", slot"

    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]") -> None:
        super().__init__()
        self._pool = pool
        self._batched: dict[int, bool] = {}

    @classmethod
    async def open(cls, address: str) -> "PostgresStore":
        """Connect, and bring the schema up to date."""
        return await cls._connected(address, _migrate)

    @classmethod
    async def open_to_read(cls, address: str) -> "PostgresStore":
        """Connect to a database as it is; nothing can be changed."""
        return await cls._connected(address, _check_read, {"default_transaction_read_only": "on"})

    @classmethod
    async def _connected(
        cls, address: str, prepare: Callable[[Any], Awaitable[None]], more: dict[str, str] | None = None
    ) -> "PostgresStore":
        settings = {"application_name": "fairgauge", "synchronous_commit": "on"} | (more or {})
        try:
            pool = await asyncpg.create_pool(
                address,
                min_size=1,
                max_size=_CONNECTIONS,
                command_timeout=_SECONDS,
                timeout=_SECONDS,
                server_settings=settings,
            )
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
            raise StoreError(f"PostgreSQL cannot be reached: {type(error).__name__}") from None
        store = cls(pool)
        try:
            async with pool.acquire() as connection:
                await _check_durable(connection)
                await prepare(connection)
        except BaseException:
            await pool.close()
            raise
        return store

    async def close(self) -> None:
        """Finish what is running, then disconnect."""
        try:
            async with asyncio.timeout(_SECONDS):
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    async def check_pages(self, seconds: float) -> bool:  # noqa: ARG002 - a server looks after its own pages
        """PostgreSQL's own tools look for damage (pg_amcheck, data checksums); nothing is looked for here."""
        return False

    async def add(self, rows: Sequence[Row], bucket: int) -> list[str]:
        """Store answers, and count those that are new: in one transaction, or two if only some have batches."""
        await self._know({row[0] for row in rows} - self._batched.keys())
        in_batches = [row for row in rows if self._batched.get(row[0])]
        at_once = rows if not in_batches else [row for row in rows if not self._batched.get(row[0])]
        fresh: set[tuple[int, bytes]] = set()
        if in_batches:
            own, due = await self._change(self._add_to_batches, in_batches, bucket)
            fresh |= own
            await self._let_go_soon(due)
        if at_once:
            fresh |= await self._add_at_once(at_once, bucket)
        if len(fresh) == len(rows):
            return [FRESH] * len(rows)
        # A second statement: the first one cannot see what another collector committed while it ran.
        old = iter(await self.find([row for row in rows if row[:2] not in fresh]))
        return [FRESH if row[:2] in fresh else next(old) for row in rows]

    async def _add_at_once(self, rows: Sequence[Row], bucket: int) -> set[tuple[int, bytes]]:
        studies, ids, payloads = zip(*rows, strict=True)
        sums = summed((payload, payload) for payload in set(payloads))
        added = [text for text, _ in sums], [place for _, place in sums], list(sums.values())
        fresh = set(await self._fetch(_ADD, list(set(studies)), studies, ids, payloads, bucket, *added))
        await self._look((study, id_, "") for study, id_ in fresh)
        return fresh

    def _add_to_batches(self, rows: Sequence[Row], bucket: int) -> Change[tuple[set[tuple[int, bytes]], list[int]]]:
        """Store answers to studies with batches; return the keys of new ones, and the studies that closed one."""
        found = yield Statement(_LINE, (list({row[0] for row in rows}),))
        line = {number: place for number, *place in found}
        wanted = [row for row in rows if row[0] in line]
        if not wanted:
            return set(), []
        fresh = set((yield Statement(_INSERT, tuple(zip(*wanted, strict=True)))))
        due = []
        for study, own in sorted(by_study(row for row in wanted if row[:2] in fresh).items()):
            size, at_end, taken = line[study]
            yield Statement(_ARRIVE, (study, bucket, len(own)))
            if (yield from self._fill(study, own, (size, at_end), taken)):
                due.append(study)
        return fresh, due

    async def _know(self, numbers: set[int]) -> None:
        """Learn which studies have batches: that never changes, and numbers are not used again."""
        if not numbers:
            return
        if len(self._batched) > _MOST_KNOWN:
            self._batched.clear()
        sql = "SELECT number, batch IS NOT NULL FROM studies WHERE number = ANY($1::int[])"
        self._batched |= dict(await self._fetch(sql, list(numbers)))

    async def find(self, rows: Sequence[Row]) -> list[str]:
        """Return for each row what this id holds, or ``CLOSED``."""
        found = await self._fetch(_FIND, [row[0] for row in rows], [row[1] for row in rows])
        kept = {(study, id_): payload for study, id_, payload in found}
        return [kept.get(row[:2], CLOSED) for row in rows]

    async def _look(self, fresh: Iterable[Row]) -> None:
        """Keep the tally of studies that have grown enough; it is of committed answers, so a failure loses a look."""
        for study in self._pace.due(fresh):
            with suppress(StoreError):  # the answers are stored, and their sender shall hear so
                self._pace.looked(study, await self._change(look, study))

    async def seal(self, number: int, document: bytes) -> bool:
        """Keep the seal of a closed study; False if it has one already.  In the crowd, nothing tells who came first."""
        return await self._change(_seal, number, document)

    async def scrub(self) -> str:
        """Write the tables anew that answers were removed from, one after the other, and drop the old ones.

        A row that is removed stays where it was, and a vacuum that only makes its room free leaves its bytes there.
        """
        log = "PostgreSQL's write-ahead log, and its archive if it has one, hold them until they are overwritten."
        try:
            async with self._pool.acquire() as connection:
                await _until_unseen(connection)
                await connection.execute(f"SET lock_timeout = '{_SECONDS}s'")
                for table in _SCRUBBED:
                    await connection.execute(f"VACUUM (FULL) {table}", timeout=_LONG_SECONDS)
                await connection.execute("RESET lock_timeout")
        except (StoreError, *_AWAY) as error:
            told = (
                f"They are still in the tables' files ({type(error).__name__}): run VACUUM FULL when nobody else does."
            )
            return f"{told} {log}"
        return f"They are in no table and no index any more. {log}"

    async def _fetch(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await self._ask(lambda: self._pool.fetch(sql, *values))]

    async def _change(self, change: Callable[_P, Change[_T]], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        async def make() -> _T:
            async with self._pool.acquire() as connection, connection.transaction():
                return await _steps(connection, change(*args, **kwargs))

        return await self._ask(make)

    async def _ask(self, query: Callable[[], Awaitable[_T]]) -> _T:
        """Run a query; try again where PostgreSQL says that nothing was done and another try may succeed."""
        for attempt in range(1, _TRIES + 1):
            try:
                return await query()
            except (asyncpg.DeadlockDetectedError, asyncpg.SerializationError) as error:
                if attempt == _TRIES:
                    raise StoreAway(f"PostgreSQL: {type(error).__name__}") from None
                await asyncio.sleep(0.005 * attempt)
            except asyncpg.DiskFullError:
                raise StoreFull("PostgreSQL has no room left") from None
            except _AWAY as error:
                raise StoreAway(f"PostgreSQL: {type(error).__name__}") from None
        raise AssertionError("the last try returns or raises")


async def _steps(connection: Any, change: Change[_T]) -> _T:
    """Run the statements of a change, within a transaction."""
    given: list[tuple[Any, ...]] | None = None
    while True:
        try:
            step = change.send(given)
        except StopIteration as end:
            found: _T = end.value
            return found
        given = []
        if not isinstance(step, Statement):
            await asyncio.to_thread(step)
            continue
        seconds = _LONG_SECONDS if step.long else None  # None: as long as any statement
        if step.many:
            await connection.executemany(step.sql, step.values, timeout=seconds)
        else:
            given = [tuple(row) for row in await connection.fetch(step.sql, *step.values, timeout=seconds)]


def _seal(number: int, document: bytes) -> Change[bool]:
    sql = "UPDATE studies SET seal = $1 WHERE number = $2 AND closed IS NOT NULL AND seal IS NULL RETURNING batch"
    found = yield Statement(sql, (document, number))
    if found and found[0][0] is not None:
        yield Statement(_MIX, (number,), long=True)
    return bool(found)


async def _until_unseen(connection: Any) -> None:
    """Wait until nobody can see rows any more that are removed by now: they would be written anew as well."""
    # Whoever looks from now on sees no older state once every change that began before is over, in any database.
    sql = (
        "SELECT pg_snapshot_xmin(pg_current_snapshot()) <= $1::text::xid8 OR EXISTS (SELECT FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND age(backend_xmin) > age($1::text::xid8::xid))"
    )
    now = str(await connection.fetchval("SELECT pg_current_xact_id()::text"))
    for _ in range(_SCRUBS):
        if not await connection.fetchval(sql, now):
            return
        await asyncio.sleep(1)
    raise StoreAway("somebody reads an older state")


async def _check_durable(connection: Any) -> None:
    """Refuse a server that would forget what it has acknowledged."""
    for setting in ("fsync", "full_page_writes"):
        if await connection.fetchval(f"SHOW {setting}") != "on":
            raise StoreError(f"PostgreSQL runs with {setting}=off and could lose answers: turn it on")


async def version_at(address: str) -> int:
    """Return the schema version of the database at an address, and change nothing.

    Raises:
        StoreError: If it cannot be reached, or has a later version than this program knows, or one of before the first.
    """
    try:
        connection = await asyncpg.connect(address, timeout=_SECONDS, command_timeout=_SECONDS)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
        raise StoreError(f"PostgreSQL cannot be reached: {type(error).__name__}") from None
    try:
        return await _schema_version(connection)
    finally:
        await connection.close()


async def _schema_version(connection: Any) -> int:
    """Return the schema version of a database; 0 for one that has none."""
    if await connection.fetchval("SELECT to_regclass('fairgauge_schema')") is not None:
        raise StoreError(f"{_WHAT} {OF_BEFORE}")
    if await connection.fetchval("SELECT to_regclass('fairgauge_version')") is None:
        return 0
    found = int(await connection.fetchval("SELECT coalesce(max(version), 0) FROM fairgauge_version"))
    check_version(found, "postgres", _WHAT)
    return found


async def _check_read(connection: Any) -> None:
    """Refuse a database whose schema is not the one of this program."""
    need_version(await _schema_version(connection), "postgres", _WHAT)


async def _migrate(connection: Any) -> None:
    """Bring the schema up to date, in one transaction; one collector at a time."""
    known = [*migrations("postgres").values()]
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _MIGRATING, timeout=_LONG_SECONDS)
        found = await _schema_version(connection)
        await connection.execute("CREATE TABLE IF NOT EXISTS fairgauge_version (version integer NOT NULL)")
        for version, sql in enumerate(known[found:], start=found + 1):
            await connection.execute(sql, timeout=_LONG_SECONDS)
            await connection.execute("INSERT INTO fairgauge_version VALUES ($1)", version)
