"""Batches in PostgreSQL: several collectors fill them together, one group of answers at a time.

Whoever adds to a study in the crowd holds the row that says how many answers it has taken, until its commit is on the
disk.  So every answer has one place in one order, whichever collector stored it, and batches neither split nor mix.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from fairgauge.collector.stores.base import Row
from fairgauge.collector.stores.batches import Note, closed_batches, leaving, placed
from fairgauge.collector.stores.looks import step_of, to_text
from fairgauge.collector.stores.postgres_schema import LONG_SECONDS

TALLY = "SELECT place, sum(count)::bigint FROM tallies WHERE study = $1 GROUP BY place"
_LINE = """
SELECT number, batch, at_end, taken FROM studies JOIN fills ON study = number
WHERE number = ANY($1::int[]) AND closed IS NULL ORDER BY number FOR SHARE OF studies FOR UPDATE OF fills
"""
_INSERT = """
INSERT INTO answers (study, id, payload)
SELECT study, id, payload FROM unnest($1::int[], $2::bytea[], $3::text[]) AS sent (study, id, payload) ORDER BY 1, 2
ON CONFLICT DO NOTHING RETURNING study, id
"""
_WAIT = """
INSERT INTO waiting AS w (study, batch, place, count)
SELECT $1::int, batch, place, count
FROM unnest($2::bigint[], $3::int[], $4::bigint[]) AS sent (batch, place, count)
ON CONFLICT (study, batch, place) DO UPDATE SET count = w.count + excluded.count
"""
_ARRIVE = """
INSERT INTO arrivals AS a (study, bucket, slot, count) VALUES ($1, $2, 0, $3)
ON CONFLICT (study, bucket, slot) DO UPDATE SET count = a.count + excluded.count
"""
_RELEASE = """
WITH gone AS (DELETE FROM waiting WHERE study = $1 AND batch < $2 RETURNING place, count)
INSERT INTO tallies AS t (study, place, slot, count)
SELECT $1, place, 0, sum(count) FROM gone GROUP BY place
ON CONFLICT (study, place, slot) DO UPDATE SET count = t.count + excluded.count
"""
_WAITS = """
SELECT digest, taken, batch, at_end, closed FROM studies JOIN fills ON study = number
WHERE number = $1 FOR UPDATE OF fills
"""
_COUNTS = "SELECT place, sum(count)::bigint FROM waiting WHERE study = $1 AND batch < $2 GROUP BY place"
# Rows lie in a table in the order in which they came.  These are written once more in the order of their random ids, in
# one transaction, so that neither their place nor the number of their transaction says who came first.
_MIX = """
WITH gone AS (DELETE FROM answers WHERE study = $1 RETURNING study, id, payload)
INSERT INTO answers (study, id, payload) SELECT study, id, payload FROM gone ORDER BY id
"""


async def add(connection: Any, rows: Sequence[Row], bucket: int) -> tuple[set[tuple[int, bytes]], list[int]]:
    """Store answers to studies with batches; return the studies and ids of those that are new, and closed batches'."""
    numbers = list({row[0] for row in rows})
    line = {number: tuple(place) for number, *place in await connection.fetch(_LINE, numbers)}
    wanted = [row for row in rows if row[0] in line]
    if not wanted:
        return set(), []
    found = await connection.fetch(_INSERT, *zip(*wanted, strict=True))
    fresh = {(study, id_) for study, id_ in found}
    payloads, due = defaultdict(list), []
    for study, id_, payload in wanted:
        if (study, id_) in fresh:
            payloads[study].append(payload)
    for study in sorted(payloads):
        own, (size, at_end, taken) = payloads[study], line[study]
        await _wait(connection, study, placed(own, taken, size))
        await connection.execute(_ARRIVE, study, bucket, len(own))
        await connection.execute("UPDATE fills SET taken = taken + $2 WHERE study = $1", study, len(own))
        if closed_batches(taken + len(own), size, at_end=at_end) > closed_batches(taken, size):
            due.append(study)
    return fresh, due


async def _wait(connection: Any, study: int, counts: Mapping[tuple[int, int], int]) -> None:
    batches, places = zip(*counts, strict=True)
    await connection.execute(_WAIT, study, batches, places, list(counts.values()))


async def _look(connection: Any, study: int) -> None:
    """Keep the tally as it is, if it has passed a step."""
    tally = {row[0]: row[1] for row in await connection.fetch(TALLY, study)}
    if (step := step_of(sum(tally.values()))) is not None:
        sql = "INSERT INTO looks VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
        await connection.execute(sql, study, step, to_text(tally))


async def let_go(connection: Any, number: int, note: Note) -> int | None:
    """Let the next closed batch be seen, noted before; return the number of the first that waits if none is closed.

    Whoever does that holds the row that says how many answers the study has taken: one collector at a time.
    """
    row = await connection.fetchrow(_WAITS, number)
    if row is None:
        return 0
    digest, taken, size, at_end, closed = row
    first = await connection.fetchval("SELECT min(batch) FROM waiting WHERE study = $1", number)
    until = leaving(first, taken, size, at_end=at_end, closed=closed is not None)
    if until is None:
        return -(-taken // size) if first is None else int(first)
    found = await connection.fetch(_COUNTS, number, until)
    await asyncio.to_thread(note, digest, first, dict(map(tuple, found)))
    await connection.execute(_RELEASE, number, until)
    if not at_end:
        await _look(connection, number)
    return None


async def seal(connection: Any, number: int, document: bytes) -> bool:
    """Keep the seal of a closed study, False if it has one already; in the crowd, let nothing tell who came first."""
    sql = "UPDATE studies SET seal = $1 WHERE number = $2 AND closed IS NOT NULL AND seal IS NULL RETURNING batch"
    found = await connection.fetchrow(sql, document, number)
    if found is not None and found[0] is not None:
        await connection.execute(_MIX, number, timeout=LONG_SECONDS)
    return found is not None
