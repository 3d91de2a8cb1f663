"""The schema of a PostgreSQL store: which version a database has, and bringing it up to date."""

from typing import Any

import asyncpg

from fairgauge.collector.stores.base import check_version, migrations, need_version
from fairgauge.errors import OF_BEFORE, StoreError

# For a statement or a connection; then the sender is told to come again.  An answer may wait for the group before its
# own, and devices give up after 20 seconds of silence: both must have ended by then.
SECONDS = 8
LONG_SECONDS = 86_400  # a large table takes as long as it takes
_MIGRATING = 0x46474753  # the key of the advisory lock
_WHAT = "this PostgreSQL database"


async def check_durable(connection: Any) -> None:
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
        connection = await asyncpg.connect(address, timeout=SECONDS, command_timeout=SECONDS)
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
    check_version(found, len(migrations("postgres")), _WHAT)
    return found


async def check_read(connection: Any) -> None:
    """Refuse a database whose schema is not the one of this program."""
    need_version(await _schema_version(connection), "postgres", _WHAT)


async def migrate(connection: Any) -> None:
    """Bring the schema up to date, in one transaction; one collector at a time."""
    known = migrations("postgres")
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _MIGRATING, timeout=LONG_SECONDS)
        found = await _schema_version(connection)
        await connection.execute("CREATE TABLE IF NOT EXISTS fairgauge_version (version integer NOT NULL)")
        for version, sql in enumerate(known[found:], start=found + 1):
            await connection.execute(sql, timeout=LONG_SECONDS)
            await connection.execute("INSERT INTO fairgauge_version VALUES ($1)", version)
