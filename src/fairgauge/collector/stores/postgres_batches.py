"""Batches in PostgreSQL: several collectors fill them together, one group of answers at a time.

Whoever adds to a study in the crowd holds the row that says how many answers it has taken, until its commit is on the
disk.  So every answer has one place in one order, whichever collector stored it, and batches neither split nor mix.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from fairgauge.collector.stores.base import Row
from fairgauge.collector.stores.batches import closed_batches, drawn, left_at_closing, may_leave, placed
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
_DRAW = """
INSERT INTO tallies AS t (study, place, slot, count)
SELECT $1, place, 0, count FROM unnest($2::int[], $3::bigint[]) AS drawn (place, count)
ON CONFLICT (study, place, slot) DO UPDATE SET count = t.count + excluded.count
"""
# Rows lie in a table in the order in which they came.  These are written once more in the order of their random ids, in
# one transaction, so that neither their place nor the number of their transaction says who came first.
_MIX = """
WITH gone AS (DELETE FROM answers WHERE study = $1 RETURNING study, id, payload)
INSERT INTO answers (study, id, payload) SELECT study, id, payload FROM gone ORDER BY id
"""


async def add(connection: Any, rows: Sequence[Row], bucket: int) -> set[tuple[int, bytes]]:
    """Store answers to studies with batches, and return the studies and ids of those that are new."""
    numbers = list({row[0] for row in rows})
    line = {number: tuple(place) for number, *place in await connection.fetch(_LINE, numbers)}
    wanted = [row for row in rows if row[0] in line]
    if not wanted:
        return set()
    found = await connection.fetch(_INSERT, *zip(*wanted, strict=True))
    fresh = {(study, id_) for study, id_ in found}
    payloads = defaultdict(list)
    for study, id_, payload in wanted:
        if (study, id_) in fresh:
            payloads[study].append(payload)
    for study in sorted(payloads):
        own, (size, at_end, taken) = payloads[study], line[study]
        await _wait(connection, study, placed(own, taken, size))
        await connection.execute(_ARRIVE, study, bucket, len(own))
        await connection.execute("UPDATE fills SET taken = taken + $2 WHERE study = $1", study, len(own))
        closed = closed_batches(taken + len(own), size, at_end=at_end)
        if (fresh_batches := closed - closed_batches(taken, size)) > 0:
            await _release(connection, study, closed, fresh_batches)
            await _look(connection, study)
    return fresh


async def _wait(connection: Any, study: int, counts: Mapping[tuple[int, int], int]) -> None:
    batches, places = zip(*counts, strict=True)
    await connection.execute(_WAIT, study, batches, places, list(counts.values()))


async def _release(connection: Any, study: int, batches: int, fresh: int) -> None:
    """Let the first so many batches of a study be seen, as one sum: with draws for those that close now."""
    document = await connection.fetchval("SELECT document FROM studies WHERE number = $1", study)
    added = sorted(drawn(bytes(document), fresh).items())
    await connection.execute(_DRAW, study, [place for place, _ in added], [count for _, count in added])
    await connection.execute(_RELEASE, study, batches)


async def _look(connection: Any, study: int) -> None:
    """Keep the tally as it is, if it has passed a step."""
    tally = {row[0]: row[1] for row in await connection.fetch(TALLY, study)}
    if (step := step_of(sum(tally.values()))) is not None:
        sql = "INSERT INTO looks VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
        await connection.execute(sql, study, step, to_text(tally))


async def close_study(connection: Any, number: int, bucket: int) -> None:
    """Take no more answers to a study; what waits leaves with that, if it is enough."""
    sql = "UPDATE studies SET closed = $1 WHERE number = $2 AND closed IS NULL"
    if await connection.execute(sql, bucket, number) == "UPDATE 1":
        sql = (
            "SELECT taken, batch, at_end FROM fills JOIN studies ON study = number WHERE study = $1 FOR UPDATE OF fills"
        )
        fill = await connection.fetchrow(sql, number)
        if fill is not None and may_leave(fill[0], fill[1], at_end=fill[2]):
            left = left_at_closing(fill[0], fill[1], at_end=fill[2])
            await _release(connection, number, fill[0] // fill[1] + 1, left)
            if not fill[2]:
                await _look(connection, number)


async def seal(connection: Any, number: int, document: bytes) -> bool:
    """Keep the seal of a closed study, False if it has one already; in the crowd, let nothing tell who came first."""
    sql = "UPDATE studies SET seal = $1 WHERE number = $2 AND closed IS NOT NULL AND seal IS NULL RETURNING batch"
    found = await connection.fetchrow(sql, document, number)
    if found is not None and found[0] is not None:
        await connection.execute(_MIX, number, timeout=LONG_SECONDS)
    return found is not None
