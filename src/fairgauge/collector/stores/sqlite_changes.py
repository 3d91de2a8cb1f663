"""What a SQLite store writes: each change is one transaction, whole or not at all."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from fairgauge.collector.stores.base import CLOSED, FRESH, Event, Published, Row, Ticket
from fairgauge.collector.stores.batches import Note, closed_batches, leaving, placed
from fairgauge.collector.stores.looks import Pace, step_of, to_text
from fairgauge.collector.stores.payloads import summed

MIXED = 50_000  # answers that are written anew at a time: some hundred milliseconds, in which others wait
_LOG_MILLISECONDS = 1000  # how long the log may take to become free of readers
_EVERYTHING = ("answers", "tallies", "arrivals", "looks", "waiting", "fills", "tickets")


def change(connection: sqlite3.Connection, sql: str, values: tuple[object, ...]) -> int:
    """Run one statement; return how many rows it changed."""
    return connection.execute(sql, values).rowcount


def publish(connection: sqlite3.Connection, study: Published) -> bool:
    """Keep a study; False if it is there already."""
    sql = (
        "INSERT INTO studies (digest, document, admission, signature, published, closes, title, public, aim, opens, "
        "hourly, key, batch, at_end) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
    )
    values = (
        study.digest, study.document, study.admission, study.signature, study.published, study.closes, study.title,
        study.public, study.aim, study.opens, study.hourly, study.key, study.batch, study.at_end,
    )  # fmt: skip
    connection.execute("BEGIN IMMEDIATE")
    made = connection.execute(sql, values)
    found = made.rowcount == 1
    if found and study.batch is not None:
        connection.execute("INSERT INTO fills VALUES (?, 0)", (made.lastrowid,))
    connection.execute("COMMIT")
    return found


def close_study(connection: sqlite3.Connection, number: int, bucket: int) -> None:
    """Take no more answers to a study."""
    change(connection, "UPDATE studies SET closed = ? WHERE number = ? AND closed IS NULL", (bucket, number))


def let_go(connection: sqlite3.Connection, number: int, note: Note) -> int:
    """Let closed batches be seen, each noted before; return the number of the first that waits."""
    sql = (
        "SELECT digest, taken, batch, at_end, closed, (SELECT min(batch) FROM waiting WHERE study = number) "
        "FROM studies JOIN fills ON study = number WHERE number = ?"
    )
    while (row := connection.execute(sql, (number,)).fetchone()) is not None:
        digest, taken, size, at_end, closed, first = row
        until = leaving(first, taken, size, at_end=bool(at_end), closed=closed is not None)
        if until is None:
            return -(-taken // size) if first is None else int(first)
        counts = "SELECT place, sum(count) FROM waiting WHERE study = ? AND batch < ? GROUP BY place"
        note(digest, first, dict(connection.execute(counts, (number, until)).fetchall()))
        connection.execute("BEGIN IMMEDIATE")
        _release(connection, number, until)
        if not at_end:
            _look(connection, number)
        connection.execute("COMMIT")
    return 0


def mix(connection: sqlite3.Connection, number: int, start: bytes) -> bytes | None:
    """Write answers of a study anew in the order of their ids, from an id on; return where to go on, None at the end.

    Rows are sorted by id, and still each lies on its page where there was room when it came: the first ones at the end
    of the page.  Written anew they lie there in the order of their ids, which are random.
    """
    connection.execute("BEGIN IMMEDIATE")
    sql = "SELECT study, id, payload FROM answers WHERE study = ? AND id >= ? ORDER BY id LIMIT ?"
    rows = connection.execute(sql, (number, start, MIXED)).fetchall()
    if rows:
        connection.execute(
            "DELETE FROM answers WHERE study = ? AND id BETWEEN ? AND ?", (number, rows[0][1], rows[-1][1])
        )
        connection.executemany("INSERT INTO answers (study, id, payload) VALUES (?, ?, ?)", rows)
    connection.execute("COMMIT")
    return rows[-1][1] + b"\0" if len(rows) == MIXED else None


def mix_waiting(connection: sqlite3.Connection, number: int) -> None:
    """Do the same for counts that never leave: they lie in the order in which each place was first added to."""
    connection.execute("BEGIN IMMEDIATE")
    sql = "SELECT study, batch, place, count FROM waiting WHERE study = ? ORDER BY batch, place"
    rows = connection.execute(sql, (number,)).fetchall()
    connection.execute("DELETE FROM waiting WHERE study = ?", (number,))
    connection.executemany("INSERT INTO waiting VALUES (?, ?, ?, ?)", rows)
    connection.execute("COMMIT")


def empty_log(connection: sqlite3.Connection) -> bool:
    """Move the log into the file and empty it: it has the order of groups, and what was removed.

    False if somebody reads from it for long.
    """
    (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout={_LOG_MILLISECONDS}")
    (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout={usual}")
    return not busy


def record(connection: sqlite3.Connection, event: Event) -> None:
    """Add a line to the audit log."""
    sql = "INSERT INTO events (bucket, who, did, about) VALUES (?, ?, ?, ?)"
    connection.execute(sql, (event.bucket, event.who, event.did, event.about))


def drop_answers(connection: sqlite3.Connection, number: int, event: Event) -> bool:
    """Remove the answers of a sealed study, and say so; False unless there are any to remove."""
    connection.execute("BEGIN IMMEDIATE")
    sql = "UPDATE studies SET dropped = ? WHERE number = ? AND seal IS NOT NULL AND dropped IS NULL"
    found = connection.execute(sql, (event.bucket, number)).rowcount == 1
    if found:
        connection.execute("DELETE FROM answers WHERE study = ?", (number,))
        record(connection, event)
    connection.execute("COMMIT")
    return found


def delete(connection: sqlite3.Connection, number: int, event: Event) -> bool:
    """Remove a closed study with all that belongs to it, and say so; False unless it is closed."""
    connection.execute("BEGIN IMMEDIATE")
    found = connection.execute("DELETE FROM studies WHERE number = ? AND closed IS NOT NULL", (number,)).rowcount == 1
    if found:
        for table in _EVERYTHING:
            connection.execute(f"DELETE FROM {table} WHERE study = ?", (number,))  # noqa: S608 - names of our own
        record(connection, event)
    connection.execute("COMMIT")
    return found


def expect(connection: sqlite3.Connection, number: int, named: Mapping[bytes, str]) -> None:
    """Remember to whom tickets were given."""
    sql = (
        "INSERT INTO tickets (study, id, name, state) VALUES (?, ?, ?, 'expected') "
        "ON CONFLICT DO UPDATE SET name = excluded.name"
    )
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(sql, [(number, id_, name) for id_, name in named.items()])
    connection.execute("COMMIT")


def remember(connection: sqlite3.Connection, number: int, ticket: Ticket) -> None:
    """Remember what became of a ticket."""
    sql = (
        "INSERT INTO tickets (study, id, state, other) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "state = iif(state = 'answered', state, excluded.state), other = max(other, excluded.other)"
    )
    connection.execute(sql, (number, ticket.id, ticket.state, ticket.other))


def add(connection: sqlite3.Connection, rows: Sequence[Row], bucket: int, pace: Pace) -> tuple[list[str], list[int]]:
    """Store answers whose studies are open, and count those that are new; also return studies that closed a batch."""
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
            FRESH if row[0] in sizes and connection.execute(insert, row).rowcount else kept(connection, row)
            for row in rows
        ]
        fresh = [row for row, found in zip(rows, result, strict=True) if found == FRESH]
    _count_arrivals(connection, fresh, bucket)
    at_once, due = fresh, []
    if any(sizes.values()):
        at_once = [row for row in fresh if sizes[row[0]] is None]
        due = _wait(connection, [row for row in fresh if sizes[row[0]] is not None], sizes)
    _count(connection, at_once)
    for study in pace.due(at_once):
        pace.looked(study, _look(connection, study))
    connection.execute("COMMIT")
    return result, due


_Batches = tuple[int, int]  # how many answers one has, and whether they close at the end only


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


def _wait(connection: sqlite3.Connection, fresh: Iterable[Row], sizes: dict[int, _Batches | None]) -> list[int]:
    """Put answers into batches, and return the studies of which that closed one."""
    due = []
    payloads = defaultdict(list)
    for study, _, payload in fresh:
        payloads[study].append(payload)
    for study, own in payloads.items():
        size, at_end = sizes[study] or (1, 0)
        (taken,) = connection.execute("SELECT taken FROM fills WHERE study = ?", (study,)).fetchone()
        connection.executemany(
            "INSERT INTO waiting VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
            [(study, batch, place, count) for (batch, place), count in placed(own, taken, size).items()],
        )
        connection.execute("UPDATE fills SET taken = taken + ? WHERE study = ?", (len(own), study))
        if closed_batches(taken + len(own), size, at_end=bool(at_end)) > closed_batches(taken, size):
            due.append(study)
    return due


def _release(connection: sqlite3.Connection, study: int, batches: int) -> None:
    """Let the first so many batches of a study be seen, as one sum."""
    connection.execute(
        "INSERT INTO tallies SELECT study, place, sum(count) FROM waiting WHERE study = ? AND batch < ? "
        "GROUP BY place ON CONFLICT DO UPDATE SET count = count + excluded.count",
        (study, batches),
    )
    connection.execute("DELETE FROM waiting WHERE study = ? AND batch < ?", (study, batches))


def _look(connection: sqlite3.Connection, study: int) -> int:
    """Keep the tally as it is, if it has passed a step; return how many answers it has."""
    tally = dict(connection.execute("SELECT place, count FROM tallies WHERE study = ?", (study,)).fetchall())
    total = sum(tally.values())
    step = step_of(total)
    if step is not None:
        connection.execute("INSERT INTO looks VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (study, step, to_text(tally)))
    return total


def kept(connection: sqlite3.Connection, row: Row) -> str:
    """Return what an answer's id holds, or ``CLOSED``."""
    found = connection.execute("SELECT payload FROM answers WHERE study = ? AND id = ?", row[:2]).fetchone()
    return CLOSED if found is None else str(found[0])
