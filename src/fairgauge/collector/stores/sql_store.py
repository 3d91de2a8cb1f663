"""What SQLite and PostgreSQL do alike: statements that both understand, and changes that are made of them.

A change is a generator: it yields statements, is given the rows that each one gave, and returns what came of it.  The
store runs it in one transaction, whole or not at all: SQLite in the thread that writes, PostgreSQL in a coroutine.
What a change yields that is no statement is a function, which is called there and then, and ends the change if it
raises.

Values are ``$1``, ``$2`` and so on, as PostgreSQL writes them.
"""

import json
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from importlib.resources import files
from typing import Any, ParamSpec, TypeVar

from fairgauge.collector.stores.released_sums import Pace, closed_batches, drawn, leaving, placed, step_of
from fairgauge.collector.stores.store import PAGE, Event, Note, Published, Row, Ticket
from fairgauge.errors import FairgaugeError, StoreError
from fairgauge.server.logs import log

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement with its values; or with many rows of them, and then it gives nothing.

    ``long`` says that it may be about all answers of a study, which takes as long as it takes.
    """

    sql: str
    values: Sequence[Any] = ()
    many: bool = False
    long: bool = False


Change = Generator[Statement | Callable[[], None], Any, T]

_COLUMNS = (
    "digest, admission, signature, published, closes, number, closed, seal IS NOT NULL AS sealed, title, public, aim, "
    "opens, hourly, key, dropped, batch, at_end"
)
_PUBLISHED = (
    "digest", "document", "admission", "signature", "published", "closes", "title", "public", "aim", "opens", "hourly",
    "key", "batch", "at_end",
)  # fmt: skip
_TALLY = "SELECT place, CAST(sum(count) AS bigint) FROM tallies WHERE study = $1 GROUP BY place"
_WAIT = (
    "INSERT INTO waiting AS w (study, batch, place, count) VALUES ($1, $2, $3, $4) "
    "ON CONFLICT (study, batch, place) DO UPDATE SET count = w.count + excluded.count"
)
_EVERYTHING = ("answers", "tallies", "arrivals", "looks", "waiting", "fills", "tickets")


def migrations(kind: str) -> dict[str, str]:
    """Return the SQL files of a kind of store by their names, in order: ``NNN_*`` makes schema version NNN."""
    folder = files(__package__).joinpath("migrations", kind)
    found = sorted((f.name, f.read_text(encoding="utf-8")) for f in folder.iterdir() if f.name.endswith(".sql"))
    for version, (name, _) in enumerate(found, start=1):
        if int(name[:3]) != version:
            raise StoreError(f"the migration {name} should be number {version:03}")
    return {name.removesuffix(".sql"): sql for name, sql in found}


def check_version(found: int, kind: str, what: str) -> None:
    """Refuse a schema from the future: an old program must not write into it."""
    known = len(migrations(kind))
    if found > known:
        raise StoreError(
            f"{what} has schema version {found}, and this fairgauge knows versions up to {known}: "
            "install a newer fairgauge, or restore the backup from before the upgrade"
        )


def need_version(found: int, kind: str, what: str) -> None:
    """Refuse to read a schema that is not the one of this program."""
    known = len(migrations(kind))
    if found != known:
        raise StoreError(
            f"{what} has schema version {found}, and this fairgauge reads version {known}: run fairgauge store migrate"
        )


class SqlStore(ABC):
    """A store in a database that speaks SQL."""

    kind: str
    _HOLD = ""  # what lets nobody else fill a study's batches until the change is over
    _SLOT = ""  # the rest of the key of what is counted

    def __init__(self) -> None:
        self._pace = Pace()
        self.note: Note = _unnoted

    @abstractmethod
    async def _fetch(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""

    @abstractmethod
    async def _change(self, change: Callable[P, Change[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Make a change in a transaction of its own."""

    async def check(self) -> None:
        """Raise unless the store can be read."""
        await self._fetch("SELECT 1 FROM studies LIMIT 1")

    async def commit_something(self) -> None:
        """Raise unless the store can be written."""
        await self._change(_once, "UPDATE pulse SET beat = beat + 1")

    # ------------------------------------------------------------------ studies
    async def publish(self, study: Published) -> bool:
        """Keep a study; False if it is there already."""
        return await self._change(_publish, study)

    async def study(self, digest: str) -> Published | None:
        """Return a study, or None."""
        rows = await self._fetch(f"SELECT document, {_COLUMNS} FROM studies WHERE digest = $1", digest)  # noqa: S608
        return _published(*rows[0]) if rows else None

    async def studies(self) -> list[Published]:
        """Return every study, the newest first, without documents."""
        rows = await self._fetch(f"SELECT {_COLUMNS} FROM studies ORDER BY number DESC")  # noqa: S608
        return [_published(b"", *row) for row in rows]

    async def due(self, now: int) -> list[str]:
        """Return the digests of studies that are not sealed though they are closed, or should be by now."""
        sql = "SELECT digest FROM studies WHERE seal IS NULL AND (closed IS NOT NULL OR closes <= $1)"
        return [digest for (digest,) in await self._fetch(sql, now)]

    async def close_study(self, number: int, bucket: int) -> None:
        """Take no more answers to this study, and let its batches go; waits for groups that are being committed."""
        await self._change(self._close, number, bucket)
        await self.let_go(number)

    async def let_go(self, number: int) -> int:
        """Let closed batches be seen, each in a transaction of its own."""
        while (first := await self._change(self._let_next_go, number)) is None:
            pass
        return first

    async def sealed(self, number: int) -> bytes | None:
        """Return the seal of a study."""
        rows = await self._fetch("SELECT seal FROM studies WHERE number = $1", number)
        return rows[0][0] if rows else None

    async def drop_answers(self, number: int, event: Event) -> bool:
        """Remove the answers of a sealed study; tally and seal stay."""
        return await self._change(_drop_answers, number, event)

    async def delete(self, number: int, event: Event) -> bool:
        """Remove a closed study with all that belongs to it."""
        return await self._change(_delete, number, event)

    # ------------------------------------------------------------------ answers
    async def tally(self, number: int) -> dict[int, int]:
        """Return the sum of what answers hold, in closed batches if the study has batches."""
        return dict(await self._fetch(_TALLY, number))

    async def counts(self, number: int) -> dict[int, int]:
        """Return the sum of what answers hold, in batches that nobody may see yet too."""
        sql = (
            "SELECT place, CAST(sum(count) AS bigint) FROM (SELECT place, count FROM tallies WHERE study = $1 "
            "UNION ALL SELECT place, count FROM waiting WHERE study = $1) AS every GROUP BY place"
        )
        return dict(await self._fetch(sql, number))

    async def looks(self, number: int) -> list[dict[int, int]]:
        """Return the tally as it was at certain numbers of answers, the oldest first."""
        rows = await self._fetch("SELECT counts FROM looks WHERE study = $1 ORDER BY step", number)
        return [{int(place): count for place, count in json.loads(text).items()} for (text,) in rows]

    async def arrivals(self, number: int) -> dict[int, int]:
        """Return how many answers came in each time bucket."""
        sql = "SELECT bucket, CAST(sum(count) AS bigint) FROM arrivals WHERE study = $1 GROUP BY bucket ORDER BY bucket"
        return dict(await self._fetch(sql, number))

    async def answers(self, number: int, *, start: bytes = b"") -> AsyncIterator[list[tuple[bytes, str]]]:
        """Yield answers sorted by id, in pages, from one id on."""
        sql = "SELECT id, payload FROM answers WHERE study = $1 AND id >= $2 ORDER BY id LIMIT $3"
        while page := await self._fetch(sql, number, start, PAGE):
            yield page
            start = page[-1][0] + b"\0"  # the next one after it, in the order of bytes

    async def _let_go_soon(self, numbers: Iterable[int]) -> None:
        """Let batches go after their answers are stored; if that fails it is tried later, and answers are stored."""
        for number in numbers:
            try:
                await self.let_go(number)
            except (FairgaugeError, OSError) as error:
                log("a batch waits", reason=type(error).__name__)

    # ------------------------------------------------------------------ tickets, keys, log
    async def expect(self, number: int, named: Mapping[bytes, str]) -> None:
        """Remember to whom tickets were given."""
        sql = (
            "INSERT INTO tickets (study, id, name, state) VALUES ($1, $2, $3, 'expected') "
            "ON CONFLICT (study, id) DO UPDATE SET name = excluded.name"
        )
        await self._change(_each, sql, [(number, id_, name) for id_, name in sorted(named.items())])

    async def remember(self, number: int, ticket: Ticket) -> None:
        """Remember what became of a ticket."""
        sql = (
            "INSERT INTO tickets AS t (study, id, state, other) VALUES ($1, $2, $3, $4) "
            "ON CONFLICT (study, id) DO UPDATE SET other = t.other OR excluded.other, "
            "state = CASE t.state WHEN 'answered' THEN t.state ELSE excluded.state END"
        )
        await self._change(_once, sql, number, ticket.id, ticket.state, ticket.other)

    async def ticketed(self, number: int) -> list[Ticket]:
        """Return what is remembered of the tickets of a study, sorted by id."""
        sql = "SELECT id, name, state, other FROM tickets WHERE study = $1 ORDER BY id"
        return [Ticket(id_, name, state, bool(other)) for id_, name, state, other in await self._fetch(sql, number)]

    async def keys(self) -> list[tuple[str, str]]:
        """Return the purposes and fingerprints of the keys that this store belongs to, the oldest first."""
        rows = await self._fetch("SELECT purpose, fingerprint FROM keys ORDER BY since, purpose, fingerprint")
        return [(purpose, fingerprint) for purpose, fingerprint in rows]

    async def remember_key(self, purpose: str, fingerprint: str, bucket: int) -> None:
        """Let the store belong to one more key."""
        sql = "INSERT INTO keys VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
        await self._change(_once, sql, purpose, fingerprint, bucket)

    async def latest(self) -> int:
        """Return the latest time bucket that is stored, or 0."""
        sql = (
            "SELECT coalesce(max(bucket), 0) FROM (SELECT max(published) AS bucket FROM studies UNION "
            "SELECT max(closed) FROM studies UNION SELECT max(bucket) FROM arrivals UNION "
            "SELECT max(bucket) FROM events) AS every"
        )
        return int((await self._fetch(sql))[0][0])

    async def record(self, event: Event) -> None:
        """Add a line to the audit log."""
        await self._change(_record, event)

    async def events(self, most: int) -> list[Event]:
        """Return the latest lines of the audit log, the newest first."""
        sql = "SELECT bucket, who, did, about FROM events ORDER BY number DESC LIMIT $1"
        return [Event(*row) for row in await self._fetch(sql, most)]

    async def sign_out(self, session: str, until: int) -> None:
        """Remember that a session is over."""
        await self._change(_sign_out, session, until)

    async def ended_sessions(self, now: int) -> dict[str, int]:
        """Return the sessions that were ended before their time."""
        return dict(await self._fetch("SELECT session, until FROM signed_out WHERE until > $1", now))

    # ------------------------------------------------------------------ changes of batches
    def _fill(self, study: int, payloads: Sequence[str], batches: tuple[int, bool], taken: int) -> Change[bool]:
        """Put answers into batches, each with its draws if that closes it; tell whether it closed one."""
        size, at_end = batches
        rows = [(study, batch, place, count) for (batch, place), count in placed(payloads, taken, size).items()]
        yield Statement(_WAIT, rows, many=True)
        yield Statement("UPDATE fills SET taken = taken + $2 WHERE study = $1", (study, len(payloads)))
        closing = range(closed_batches(taken, size), closed_batches(taken + len(payloads), size, at_end=at_end))
        for batch in closing:
            yield from _draw(study, batch)
        return bool(closing)

    def _close(self, number: int, bucket: int) -> Change[None]:
        """Take no more answers to a study; what is left over is a batch, and has its draws with that."""
        sql = "UPDATE studies SET closed = $1 WHERE number = $2 AND closed IS NULL RETURNING number"
        if (yield Statement(sql, (bucket, number))):
            sql = f"SELECT taken, batch, at_end FROM fills JOIN studies ON study = number WHERE study = $1{self._HOLD}"  # noqa: S608
            for taken, size, at_end in (yield Statement(sql, (number,))):
                if taken and not at_end:
                    yield from _draw(number, closed_batches(taken, size))

    def _let_next_go(self, number: int) -> Change[int | None]:
        """Let the next closed batch be seen, noted before; return the number of the first that waits if none is closed.

        Whoever does that holds the row that says how many answers the study has taken: one collector at a time.
        """
        sql = (
            f"SELECT digest, taken, batch, at_end, closed FROM studies JOIN fills ON study = number "  # noqa: S608
            f"WHERE number = $1{self._HOLD}"
        )
        rows = yield Statement(sql, (number,))
        if not rows:
            return 0
        digest, taken, size, at_end, closed = rows[0]
        ((first,),) = yield Statement("SELECT min(batch) FROM waiting WHERE study = $1", (number,))
        until = leaving(first, taken, size, at_end=bool(at_end), closed=closed is not None)
        if until is None:
            return -(-taken // size) if first is None else int(first)
        sums = "SELECT {} FROM waiting WHERE study = $1 AND batch < $2 GROUP BY place"
        rows = yield Statement(sums.format("place, CAST(sum(count) AS bigint)"), (number, until))
        yield lambda: self.note(digest, first, dict(rows))
        release = (
            f"INSERT INTO tallies AS t (study, place, count) {sums.format('$1, place, sum(count)')} "
            f"ON CONFLICT (study, place{self._SLOT}) DO UPDATE SET count = t.count + excluded.count"
        )
        yield Statement(release, (number, until))
        yield Statement("DELETE FROM waiting WHERE study = $1 AND batch < $2", (number, until))
        if not at_end:
            yield from look(number)
        return None


def by_study(rows: Iterable[Row]) -> dict[int, list[str]]:
    """Return what answers hold, in their order, for each study."""
    found: dict[int, list[str]] = defaultdict(list)
    for study, _, payload in rows:
        found[study].append(payload)
    return found


def look(study: int) -> Change[int]:
    """Keep the tally as it is, if it has passed a step; return how many answers it has."""
    tally = dict((yield Statement(_TALLY, (study,))))
    total = int(sum(tally.values()))
    if (step := step_of(total)) is not None:
        text = json.dumps({str(place): tally[place] for place in sorted(tally)}, separators=(",", ":"))
        yield Statement("INSERT INTO looks VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", (study, step, text))
    return total


def _unnoted(_study: str, _batch: int, _counts: Mapping[int, int]) -> None:
    """Note nothing: what a store does until a collector gives it a record."""


def _published(document: bytes, digest: str, *row: Any) -> Published:
    found = Published(digest, document, *row)
    return replace(found, sealed=bool(found.sealed), public=bool(found.public), at_end=bool(found.at_end))


def _once(sql: str, *values: object) -> Change[None]:
    yield Statement(sql, values)


def _each(sql: str, rows: Sequence[Sequence[object]]) -> Change[None]:
    yield Statement(sql, rows, many=True)


def _publish(study: Published) -> Change[bool]:
    places = ", ".join(f"${number}" for number in range(1, len(_PUBLISHED) + 1))
    sql = (
        f"INSERT INTO studies ({', '.join(_PUBLISHED)}) VALUES ({places}) "  # noqa: S608 - names of our own
        "ON CONFLICT DO NOTHING RETURNING number"
    )
    made = yield Statement(sql, [getattr(study, name) for name in _PUBLISHED])
    if made and study.batch is not None:
        yield Statement("INSERT INTO fills VALUES ($1, 0)", made[0])
    return bool(made)


def _draw(study: int, batch: int) -> Change[None]:
    """Add its secret draws to a batch that closes: with the answers that close it, once, and never apart from them."""
    ((document,),) = yield Statement("SELECT document FROM studies WHERE number = $1", (study,))
    rows = [(study, batch, place, count) for place, count in sorted(drawn(document).items())]
    yield Statement(_WAIT, rows, many=True)


def _record(event: Event) -> Change[None]:
    yield Statement("INSERT INTO events (bucket, who, did, about) VALUES ($1, $2, $3, $4)", astuple(event))


def _drop_answers(number: int, event: Event) -> Change[bool]:
    sql = "UPDATE studies SET dropped = $1 WHERE number = $2 AND seal IS NOT NULL AND dropped IS NULL RETURNING number"
    found = yield Statement(sql, (event.bucket, number))
    if found:
        yield Statement("DELETE FROM answers WHERE study = $1", (number,), long=True)
        yield from _record(event)
    return bool(found)


def _delete(number: int, event: Event) -> Change[bool]:
    sql = "DELETE FROM studies WHERE number = $1 AND closed IS NOT NULL RETURNING number"
    found = yield Statement(sql, (number,))
    if found:
        for table in _EVERYTHING:
            yield Statement(f"DELETE FROM {table} WHERE study = $1", (number,), long=True)  # noqa: S608
        yield from _record(event)
    return bool(found)


def _sign_out(session: str, until: int) -> Change[None]:
    yield Statement("INSERT INTO signed_out VALUES ($1, $2) ON CONFLICT DO NOTHING", (session, until))
    # Those that would have ended a session's length before this one are over by any clock.
    yield Statement("DELETE FROM signed_out WHERE until < $1", (until - 86_400,))
