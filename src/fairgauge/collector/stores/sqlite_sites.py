"""What a SQLite store does with the answers of sites: each is one transaction, whole or not at all."""

import sqlite3
from collections.abc import Mapping

from fairgauge.collector.stores.sites import Sent, SiteOutcome, SiteRow, fits, from_text, to_text

_SITES = "SELECT id, name, state, other, counts FROM sites WHERE study = ? ORDER BY id"


def expect(connection: sqlite3.Connection, number: int, named: Mapping[bytes, str]) -> None:
    """Remember to whom tickets were given."""
    sql = (
        "INSERT INTO sites (study, id, name, state) VALUES (?, ?, ?, 'expected') "
        "ON CONFLICT DO UPDATE SET name = excluded.name"
    )
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(sql, [(number, id_, name) for id_, name in named.items()])
    connection.execute("COMMIT")


def add(connection: sqlite3.Connection, sent: Sent, bucket: int, *, takes: bool) -> SiteOutcome:
    """Store a site's answer, unless its ticket has one or the study takes no more."""
    connection.execute("BEGIN IMMEDIATE")
    outcome = _add(connection, sent, bucket, takes=takes)
    connection.execute("COMMIT")
    return outcome


def _add(connection: sqlite3.Connection, sent: Sent, bucket: int, *, takes: bool) -> SiteOutcome:
    key, text = (sent.study, sent.id), to_text(sent.counts)
    study = connection.execute("SELECT closed FROM studies WHERE number = ?", key[:1]).fetchone()
    found = connection.execute("SELECT state, counts FROM sites WHERE study = ? AND id = ?", key).fetchone()
    if found is not None and found[0] == "answered":
        if found[1] in (text, None):
            return "same" if found[1] == text else "closed"
        connection.execute("UPDATE sites SET other = 1 WHERE study = ? AND id = ?", key)
        return "other"
    if study is None:
        return "closed"
    put = (
        "INSERT INTO sites (study, id, state, counts) VALUES (?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET state = excluded.state, counts = excluded.counts"
    )
    if study[0] is not None or not takes:
        connection.execute(put, (*key, "late", None))
        return "closed"
    sql = "SELECT counts FROM sites WHERE study = ? AND state = 'answered'"
    if not fits((kept for (kept,) in connection.execute(sql, key[:1])), sent.counts):
        return "full"
    connection.execute(put, (*key, "answered", text))
    connection.execute(
        "INSERT INTO arrivals VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1", (sent.study, bucket)
    )
    return "fresh"


def rows(connection: sqlite3.Connection, number: int) -> list[SiteRow]:
    """Return what is known of every ticket of a study, sorted by id."""
    found = connection.execute(_SITES, (number,)).fetchall()
    return [
        SiteRow(id_, name, state, bool(other), None if counts is None else from_text(counts))
        for id_, name, state, other, counts in found
    ]
