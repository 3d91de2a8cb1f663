"""The store in PostgreSQL, which several collectors may share.

A group of answers is one statement, so one round trip and one transaction: it stores the new answers, counts them,
and holds the study's row so that nobody can close the study in between.  Rows are locked in the order of their keys;
should two collectors still block each other, one is rolled back by PostgreSQL and tries again.  Each connection counts
in a slot of its own, and a tally is the sum over slots: otherwise all would wait for one row until another's commit
is on the disk.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import asyncpg

from fairgauge.collector.stores import postgres_batches as batches
from fairgauge.collector.stores.base import CLOSED, FRESH, PAGE, Event, Published, Row, Ticket
from fairgauge.collector.stores.batches import Note, let_go_soon, unnoted
from fairgauge.collector.stores.looks import Pace, from_text, step_of, to_text
from fairgauge.collector.stores.payloads import summed
from fairgauge.collector.stores.postgres_schema import LONG_SECONDS, SECONDS, check_durable, check_read, migrate
from fairgauge.errors import StoreAway, StoreError, StoreFull

CONNECTIONS = 6
MOST_KNOWN = 10_000  # studies of which it is remembered whether they have batches
TRIES = 5
SCRUBBED = (*(f"answers_{part}" for part in range(8)), "tickets", "waiting")  # what is removed may have been here
SCRUBS = 20  # seconds to wait for whoever still sees what is removed
# A connection that ends while it is used can be an internal error to asyncpg.
AWAY = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)

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
_STUDY = (
    "SELECT number, digest, {document} AS document, admission, signature, published, closes, closed, "
    "seal IS NOT NULL AS sealed, title, public, aim, opens, hourly, key, dropped, batch, at_end FROM studies"
)

_REMEMBER = """
INSERT INTO tickets AS t (study, id, state, other) VALUES ($1, $2, $3, $4)
ON CONFLICT (study, id) DO UPDATE SET
state = CASE t.state WHEN 'answered' THEN t.state ELSE excluded.state END, other = t.other OR excluded.other
"""
_RECORD = "INSERT INTO events (bucket, who, did, about) VALUES ($1, $2, $3, $4)"

T = TypeVar("T")


class PostgresStore:
    """A store in a PostgreSQL database."""

    kind = "postgresql"

    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]") -> None:
        self._pool = pool
        self._pace = Pace()
        self._batched: dict[int, bool] = {}
        self.note: Note = unnoted

    @classmethod
    async def open(cls, address: str) -> "PostgresStore":
        """Connect, and bring the schema up to date."""
        return await cls._connected(address, migrate)

    @classmethod
    async def open_to_read(cls, address: str) -> "PostgresStore":
        """Connect to a database as it is; nothing can be changed."""
        return await cls._connected(address, check_read, {"default_transaction_read_only": "on"})

    @classmethod
    async def _connected(
        cls, address: str, prepare: Callable[[Any], Awaitable[None]], more: dict[str, str] | None = None
    ) -> "PostgresStore":
        settings = {"application_name": "fairgauge", "synchronous_commit": "on"} | (more or {})
        try:
            pool = await asyncpg.create_pool(
                address,
                min_size=1,
                max_size=CONNECTIONS,
                command_timeout=SECONDS,
                timeout=SECONDS,
                server_settings=settings,
            )
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
            raise StoreError(f"PostgreSQL cannot be reached: {type(error).__name__}") from None
        store = cls(pool)
        try:
            async with pool.acquire() as connection:
                await check_durable(connection)
                await prepare(connection)
        except BaseException:
            await pool.close()
            raise
        return store

    async def close(self) -> None:
        """Finish what is running, then disconnect."""
        try:
            async with asyncio.timeout(SECONDS):
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    async def check(self) -> None:
        """Raise unless the database can be read."""
        await self._ask(lambda: self._pool.fetchval("SELECT 1 FROM studies LIMIT 1"))

    async def commit_something(self) -> None:
        """Raise unless the database can be written."""
        await self._ask(lambda: self._pool.execute("UPDATE pulse SET beat = beat + 1"))

    async def check_pages(self, seconds: float) -> bool:  # noqa: ARG002 - a server looks after its own pages
        """PostgreSQL's own tools look for damage (pg_amcheck, data checksums); nothing is looked for here."""
        return False

    async def publish(self, study: Published) -> bool:
        """Keep a study; False if it is there already."""
        sql = (
            "WITH made AS (INSERT INTO studies (digest, document, admission, signature, published, closes, title, "
            "public, aim, opens, hourly, key, batch, at_end) "
            "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) "
            "ON CONFLICT DO NOTHING RETURNING number, batch), "
            "filled AS (INSERT INTO fills SELECT number, 0 FROM made WHERE batch IS NOT NULL) "
            "SELECT number FROM made"
        )
        values = (
            study.digest, study.document, study.admission, study.signature, study.published, study.closes, study.title,
            study.public, study.aim, study.opens, study.hourly, study.key, study.batch, study.at_end,
        )  # fmt: skip
        return await self._ask(lambda: self._pool.fetchval(sql, *values)) is not None

    async def study(self, digest: str) -> Published | None:
        """Return a study, or None."""
        sql = _STUDY.format(document="document") + " WHERE digest = $1"
        row = await self._ask(lambda: self._pool.fetchrow(sql, digest))
        return None if row is None else Published(**row)

    async def studies(self) -> list[Published]:
        """Return every study, the newest first, without documents."""
        sql = _STUDY.format(document="''::bytea") + " ORDER BY number DESC"
        return [Published(**row) for row in await self._ask(lambda: self._pool.fetch(sql))]

    async def due(self, now: int) -> list[str]:
        """Return the digests of studies that are not sealed though they are closed, or should be by now."""
        sql = "SELECT digest FROM studies WHERE seal IS NULL AND (closed IS NOT NULL OR closes <= $1)"
        return [digest for (digest,) in await self._ask(lambda: self._pool.fetch(sql, now))]

    async def add(self, rows: Sequence[Row], bucket: int) -> list[str]:
        """Store answers, and count those that are new: in one transaction, or two if only some have batches."""
        await self._know({row[0] for row in rows} - self._batched.keys())
        in_batches = [row for row in rows if self._batched.get(row[0])]
        at_once = rows if not in_batches else [row for row in rows if not self._batched.get(row[0])]
        fresh: set[tuple[int, bytes]] = set()
        if in_batches:
            own, due = await self._ask(lambda: self._alone(batches.add, in_batches, bucket))
            fresh |= own
            await let_go_soon(self.let_go, due)
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
        values = (list(set(studies)), studies, ids, payloads, bucket, *added)
        found = await self._ask(lambda: self._pool.fetch(_ADD, *values))
        fresh = {(study, id_) for study, id_ in found}
        await self._look((study, id_, "") for study, id_ in fresh)
        return fresh

    async def _know(self, numbers: set[int]) -> None:
        """Learn which studies have batches: that never changes, and numbers are not used again."""
        if not numbers:
            return
        if len(self._batched) > MOST_KNOWN:
            self._batched.clear()
        sql = "SELECT number, batch IS NOT NULL FROM studies WHERE number = ANY($1::int[])"
        found = await self._ask(lambda: self._pool.fetch(sql, list(numbers)))
        self._batched |= {row[0]: row[1] for row in found}

    async def _alone(self, change: Callable[..., Awaitable[T]], *values: object) -> T:
        """Make a change of several statements in a transaction of its own."""
        async with self._pool.acquire() as connection, connection.transaction():
            return await change(connection, *values)

    async def find(self, rows: Sequence[Row]) -> list[str]:
        """Return for each row what this id holds, or ``CLOSED``."""
        studies, ids = [row[0] for row in rows], [row[1] for row in rows]
        found = await self._ask(lambda: self._pool.fetch(_FIND, studies, ids))
        kept = {(study, id_): payload for study, id_, payload in found}
        return [kept.get(row[:2], CLOSED) for row in rows]

    async def tally(self, number: int) -> dict[int, int]:
        """Return the sum of what answers hold, in closed batches if the study has batches."""
        return {row[0]: row[1] for row in await self._ask(lambda: self._pool.fetch(batches.TALLY, number))}

    async def counts(self, number: int) -> dict[int, int]:
        """Return the sum of what answers hold, in batches that nobody may see yet too."""
        sql = (
            "SELECT place, sum(count)::bigint FROM (SELECT place, count FROM tallies WHERE study = $1 UNION ALL "
            "SELECT place, count FROM waiting WHERE study = $1) AS every GROUP BY place"
        )
        return {row[0]: row[1] for row in await self._ask(lambda: self._pool.fetch(sql, number))}

    async def _look(self, fresh: Iterable[Row]) -> None:
        """Keep the tally of studies that have grown enough; it is of committed answers, so a failure loses a look."""
        sql = "INSERT INTO looks VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
        for study in self._pace.due(fresh):
            with suppress(StoreError):  # the answers are stored, and their sender shall hear so
                tally = await self.tally(study)
                total = sum(tally.values())
                if (step := step_of(total)) is not None:
                    values = (study, step, to_text(tally))
                    await self._ask(lambda values=values: self._pool.execute(sql, *values))  # type: ignore[misc]
                self._pace.looked(study, total)

    async def looks(self, number: int) -> list[dict[int, int]]:
        """Return the tally as it was at certain numbers of answers, the oldest first."""
        sql = "SELECT counts FROM looks WHERE study = $1 ORDER BY step"
        return [from_text(row[0]) for row in await self._ask(lambda: self._pool.fetch(sql, number))]

    async def arrivals(self, number: int) -> dict[int, int]:
        """Return how many answers came in each time bucket."""
        sql = "SELECT bucket, sum(count)::bigint FROM arrivals WHERE study = $1 GROUP BY bucket ORDER BY bucket"
        return {row[0]: row[1] for row in await self._ask(lambda: self._pool.fetch(sql, number))}

    async def answers(self, number: int, *, start: bytes = b"") -> AsyncIterator[list[tuple[bytes, str]]]:
        """Yield answers sorted by id, in pages, from one id on."""
        sql = "SELECT id, payload FROM answers WHERE study = $1 AND id >= $2 ORDER BY id LIMIT $3"
        while True:
            key = (number, start, PAGE)
            page = await self._ask(lambda key=key: self._pool.fetch(sql, *key))  # type: ignore[misc]
            if not page:
                return
            yield [(id_, payload) for id_, payload in page]
            start = page[-1][0] + b"\0"  # the next one after it, in the order of bytes

    async def expect(self, number: int, named: Mapping[bytes, str]) -> None:
        """Remember to whom tickets were given."""
        sql = (
            "INSERT INTO tickets (study, id, name, state) VALUES ($1, $2, $3, 'expected') "
            "ON CONFLICT (study, id) DO UPDATE SET name = excluded.name"
        )
        rows = [(number, id_, name) for id_, name in sorted(named.items())]
        await self._ask(lambda: self._pool.executemany(sql, rows))

    async def remember(self, number: int, ticket: Ticket) -> None:
        """Remember what became of a ticket."""
        await self._ask(lambda: self._pool.execute(_REMEMBER, number, ticket.id, ticket.state, ticket.other))

    async def ticketed(self, number: int) -> list[Ticket]:
        """Return what is remembered of the tickets of a study, sorted by id."""
        sql = "SELECT id, name, state, other FROM tickets WHERE study = $1 ORDER BY id"
        return [Ticket(*row) for row in await self._ask(lambda: self._pool.fetch(sql, number))]

    async def close_study(self, number: int, bucket: int) -> None:
        """Take no more answers to this study, and let its batches go; waits for groups that are being committed."""
        sql = "UPDATE studies SET closed = $1 WHERE number = $2 AND closed IS NULL"
        await self._ask(lambda: self._pool.execute(sql, bucket, number))
        await self.let_go(number)

    async def let_go(self, number: int) -> int:
        """Let closed batches be seen, each in a transaction of its own."""
        while (first := await self._ask(lambda: self._alone(batches.let_go, number, self.note))) is None:
            pass
        return first

    async def seal(self, number: int, document: bytes) -> bool:
        """Keep the seal of a closed study; False if it has one already."""
        return await self._ask(lambda: self._alone(batches.seal, number, document))

    async def sealed(self, number: int) -> bytes | None:
        """Return the seal of a study."""
        sql = "SELECT seal FROM studies WHERE number = $1"
        found: bytes | None = await self._ask(lambda: self._pool.fetchval(sql, number))
        return found

    async def latest(self) -> int:
        """Return the latest time bucket that is stored, or 0."""
        sql = (
            "SELECT greatest(0, (SELECT max(published) FROM studies), (SELECT max(closed) FROM studies),"
            " (SELECT max(bucket) FROM arrivals), (SELECT max(bucket) FROM events))"
        )
        return int(await self._ask(lambda: self._pool.fetchval(sql)))

    async def drop_answers(self, number: int, event: Event) -> bool:
        """Remove the answers of a sealed study; tally and seal stay."""
        sql = "UPDATE studies SET dropped = $1 WHERE number = $2 AND seal IS NOT NULL AND dropped IS NULL"

        async def drop(connection: Any) -> bool:
            found: bool = await connection.execute(sql, event.bucket, number) == "UPDATE 1"
            if found:
                await connection.execute("DELETE FROM answers WHERE study = $1", number, timeout=LONG_SECONDS)
                await connection.execute(_RECORD, *_values(event))
            return found

        return await self._ask(lambda: self._alone(drop))

    async def delete(self, number: int, event: Event) -> bool:
        """Remove a closed study with all that belongs to it."""

        async def delete(connection: Any) -> bool:
            sql = "DELETE FROM studies WHERE number = $1 AND closed IS NOT NULL"
            found: bool = await connection.execute(sql, number) == "DELETE 1"
            if found:
                for table in ("answers", "tallies", "arrivals", "looks", "waiting", "fills", "tickets"):
                    sql = f"DELETE FROM {table} WHERE study = $1"  # noqa: S608 - names of our own
                    await connection.execute(sql, number, timeout=LONG_SECONDS)
                await connection.execute(_RECORD, *_values(event))
            return found

        return await self._ask(lambda: self._alone(delete))

    async def scrub(self) -> str:
        """Write the tables anew that answers were removed from, one after the other, and drop the old ones.

        A row that is removed stays where it was, and a vacuum that only makes its room free leaves its bytes there.
        """
        log = "PostgreSQL's write-ahead log, and its archive if it has one, hold them until they are overwritten."
        try:
            async with self._pool.acquire() as connection:
                await _until_unseen(connection)
                await connection.execute(f"SET lock_timeout = '{SECONDS}s'")
                for table in SCRUBBED:
                    await connection.execute(f"VACUUM (FULL) {table}", timeout=LONG_SECONDS)
                await connection.execute("RESET lock_timeout")
        except (StoreError, *AWAY) as error:
            told = (
                f"They are still in the tables' files ({type(error).__name__}): run VACUUM FULL when nobody else does."
            )
            return f"{told} {log}"
        return f"They are in no table and no index any more. {log}"

    async def keys(self) -> list[tuple[str, str]]:
        """Return the purposes and fingerprints of the keys that this store belongs to, the oldest first."""
        sql = "SELECT purpose, fingerprint FROM keys ORDER BY since, purpose, fingerprint"
        return [(row[0], row[1]) for row in await self._ask(lambda: self._pool.fetch(sql))]

    async def remember_key(self, purpose: str, fingerprint: str, bucket: int) -> None:
        """Let the store belong to one more key."""
        sql = "INSERT INTO keys VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
        await self._ask(lambda: self._pool.execute(sql, purpose, fingerprint, bucket))

    async def record(self, event: Event) -> None:
        """Add a line to the audit log."""
        await self._ask(lambda: self._pool.execute(_RECORD, *_values(event)))

    async def events(self, most: int) -> list[Event]:
        """Return the latest lines of the audit log, the newest first."""
        sql = "SELECT bucket, who, did, about FROM events ORDER BY number DESC LIMIT $1"
        return [Event(**row) for row in await self._ask(lambda: self._pool.fetch(sql, most))]

    async def sign_out(self, session: str, until: int) -> None:
        """Remember that a session is over."""
        sql = "INSERT INTO signed_out VALUES ($1, $2) ON CONFLICT DO NOTHING"
        await self._ask(lambda: self._pool.execute(sql, session, until))
        # Those that would have ended a session's length before this one are over by any clock.
        await self._ask(lambda: self._pool.execute("DELETE FROM signed_out WHERE until < $1", until - 86_400))

    async def ended_sessions(self, now: int) -> dict[str, int]:
        """Return the sessions that were ended before their time."""
        sql = "SELECT session, until FROM signed_out WHERE until > $1"
        return {row[0]: row[1] for row in await self._ask(lambda: self._pool.fetch(sql, now))}

    async def _ask(self, query: Callable[[], Awaitable[T]]) -> T:
        """Run a query; try again where PostgreSQL says that nothing was done and another try may succeed."""
        for attempt in range(1, TRIES + 1):
            try:
                return await query()
            except (asyncpg.DeadlockDetectedError, asyncpg.SerializationError) as error:
                if attempt == TRIES:
                    raise StoreAway(f"PostgreSQL: {type(error).__name__}") from None
                await asyncio.sleep(0.005 * attempt)
            except asyncpg.DiskFullError:
                raise StoreFull("PostgreSQL has no room left") from None
            except AWAY as error:
                raise StoreAway(f"PostgreSQL: {type(error).__name__}") from None
        raise AssertionError("the last try returns or raises")


async def _until_unseen(connection: Any) -> None:
    """Wait until nobody can see rows any more that are removed by now: they would be written anew as well."""
    sql = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND age(backend_xmin) > age($1::text::xid)"
    )
    now = str(await connection.fetchval("SELECT (pg_current_xact_id()::text::bigint % 4294967296)::text"))
    for _ in range(SCRUBS):
        if not await connection.fetchval(sql, now):
            return
        await asyncio.sleep(1)
    raise StoreAway("somebody reads an older state")


def _values(event: Event) -> tuple[int, str, str, str]:
    return event.bucket, event.who, event.did, event.about
