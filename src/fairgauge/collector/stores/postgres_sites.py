"""The answers of sites in PostgreSQL: whoever adds one holds the study's row, so collectors take turns."""

from collections.abc import Mapping
from typing import Any

from fairgauge.collector.stores.sites import Sent, SiteOutcome, SiteRow, fits, from_text, to_text

_PUT = """
INSERT INTO sites (study, id, state, counts) VALUES ($1, $2, $3, $4)
ON CONFLICT (study, id) DO UPDATE SET state = excluded.state, counts = excluded.counts
"""
_ARRIVE = """
INSERT INTO arrivals AS a (study, bucket, slot, count) VALUES ($1, $2, 0, 1)
ON CONFLICT (study, bucket, slot) DO UPDATE SET count = a.count + 1
"""
SITES = "SELECT id, name, state, other, counts FROM sites WHERE study = $1 ORDER BY id"


async def expect(connection: Any, number: int, named: Mapping[bytes, str]) -> None:
    """Remember to whom tickets were given."""
    sql = (
        "INSERT INTO sites (study, id, name, state) VALUES ($1, $2, $3, 'expected') "
        "ON CONFLICT (study, id) DO UPDATE SET name = excluded.name"
    )
    await connection.executemany(sql, [(number, id_, name) for id_, name in sorted(named.items())])


async def add(connection: Any, sent: Sent, bucket: int, takes: bool) -> SiteOutcome:  # noqa: FBT001 - by _alone
    """Store a site's answer, unless its ticket has one or the study takes no more."""
    key, text = (sent.study, sent.id), to_text(sent.counts)
    study = await connection.fetchrow("SELECT closed FROM studies WHERE number = $1 FOR UPDATE", sent.study)
    found = await connection.fetchrow("SELECT state, counts FROM sites WHERE study = $1 AND id = $2", *key)
    if found is not None and found[0] == "answered":
        if found[1] in (text, None):
            return "same" if found[1] == text else "closed"
        await connection.execute("UPDATE sites SET other = true WHERE study = $1 AND id = $2", *key)
        return "other"
    if study is None:
        return "closed"
    if study[0] is not None or not takes:
        await connection.execute(_PUT, *key, "late", None)
        return "closed"
    kept = await connection.fetch("SELECT counts FROM sites WHERE study = $1 AND state = 'answered'", sent.study)
    if not fits((row[0] for row in kept), sent.counts):
        return "full"
    await connection.execute(_PUT, *key, "answered", text)
    await connection.execute(_ARRIVE, sent.study, bucket)
    return "fresh"


def row_of(row: Any) -> SiteRow:
    """Return what is known of a ticket."""
    id_, name, state, other, counts = row
    return SiteRow(id_, name, state, other, None if counts is None else from_text(counts))
