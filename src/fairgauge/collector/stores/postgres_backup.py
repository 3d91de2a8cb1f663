"""Copies of a PostgreSQL store: pg_dump makes them from one moment, and every row in them is counted afterwards.

The dump holds the answers as PostgreSQL writes them out, a line each.  Reading those lines back and counting them
says that the copy holds what the database held, not only that a program ended well.
"""

import asyncio
import os
import shutil
from asyncio.subprocess import PIPE, Process
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from fairgauge.collector.seal_record import KEY
from fairgauge.collector.stores.backup_file import refuse_existing, whole_copy
from fairgauge.collector.stores.postgres import version_at
from fairgauge.collector.stores.released_sums import payload_of
from fairgauge.collector.stores.store_check import Checked
from fairgauge.errors import StoreDamaged, StoreError
from fairgauge.study.mechanism import added

_COUNTS = """
SELECT study, place, sum(count)::bigint
FROM (SELECT study, place, count FROM tallies UNION ALL SELECT study, place, count FROM waiting) AS every
GROUP BY 1, 2
"""


async def back_up(address: str, target: Path) -> Checked:
    """Dump a database as it is at one moment, then count every answer in the dump.

    Raises:
        StoreError: If pg_dump is missing or fails, or the target exists.
        StoreDamaged: If the dump does not hold what the database held; it is removed.
    """
    _program("pg_dump")
    refuse_existing(target)
    await version_at(address)  # which refuses a store of before the first release
    connection = await _connected(address)
    try:
        with whole_copy(target) as copy:
            return await _dumped(connection, address, copy)
    finally:
        await connection.close()


async def _connected(address: str) -> asyncpg.Connection:
    try:
        return await asyncpg.connect(address)
    except (OSError, asyncpg.PostgresError, ValueError) as error:
        raise StoreError(f"PostgreSQL cannot be reached: {type(error).__name__}") from None


async def _dumped(connection: asyncpg.Connection, address: str, temporary: Path) -> Checked:
    dump, tool = _program("pg_dump"), _program("pg_restore")
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        snapshot = await connection.fetchval("SELECT pg_export_snapshot()")
        expected = {(study, place): count for study, place, count in await connection.fetch(_COUNTS)}
        seals = await connection.fetchval("SELECT count(*) FROM studies WHERE seal IS NOT NULL")
        kept = {row[0] for row in await connection.fetch("SELECT number FROM studies WHERE dropped IS NULL")}
        sql = "SELECT number FROM studies WHERE batch IS NOT NULL AND NOT at_end"
        crowds = {row[0] for row in await connection.fetch(sql)}
        await _run(
            dump,
            "--format=custom",
            f"--snapshot={snapshot}",
            f"--file={temporary}",
            *_dsn(address),
            address=address,
        )
    found = await _counted(tool, temporary)
    wanted = Counter({key: count for key, count in expected.items() if key[0] in kept})
    # In the crowd secret draws are among the tallies as well, and nobody knows which.
    lost = any(found.sums[key] > wanted[key] for key in found.sums)
    alike = all(found.sums[key] == count for key, count in wanted.items() if key[0] not in crowds)
    if lost or not alike or found.tallies != Counter(expected):
        raise StoreDamaged("the dump does not hold what the database's tallies say, so there is no copy")
    return Checked(found.studies, found.answers, int(seals), pages=False, faults=())


async def restore(source: Path, address: str) -> None:
    """Put a dump into an empty database, all of it or nothing.

    Raises:
        StoreError: If pg_restore is missing or fails, or the database holds tables.
    """
    tool = _program("pg_restore")
    if not source.is_file():
        raise StoreError(f"{source} is not there")
    connection = await _connected(address)
    try:
        used = await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
    finally:
        await connection.close()
    if used:
        raise StoreError("this database holds tables already: make a new one with createdb, nothing is overwritten")
    await _run(tool, "--single-transaction", "--no-owner", *_dsn(address), str(source), address=address)


async def records_in(source: Path) -> set[str]:
    """Return which records of seals a dump belongs to; none if it is no dump, which is said when it is restored."""
    return (await _counted(_program("pg_restore"), source, "--table=keys")).records if source.is_file() else set()


class _Rows:
    """What a dump holds."""

    def __init__(self) -> None:
        self.studies = 0
        self.answers = 0
        self.sums: Counter[tuple[int, int]] = Counter()
        self.tallies: Counter[tuple[int, int]] = Counter()
        self.records: set[str] = set()


async def _counted(tool: str, dump: Path, *more: str) -> _Rows:
    """Read the rows of a dump back, and count them."""
    process = await asyncio.create_subprocess_exec(
        tool, "--data-only", "--file=-", *more, str(dump), stdout=PIPE, stderr=PIPE, limit=2**26
    )
    assert process.stdout is not None  # noqa: S101 - it was asked for
    rows, table, columns = _Rows(), "", {}
    async for raw in process.stdout:
        line = raw.rstrip(b"\n")
        if not table:
            if line.startswith(b"COPY "):
                name, _, rest = line.removeprefix(b"COPY ").partition(b" (")
                table = name.decode().removeprefix("public.")
                columns = {column.strip().decode(): i for i, column in enumerate(rest.partition(b")")[0].split(b","))}
        elif line == rb"\.":
            table = ""
        elif table == "keys":
            purpose, known = (line.split(b"\t")[columns[column]].decode() for column in ("purpose", "fingerprint"))
            rows.records |= {known} if purpose == KEY else set()
        elif table == "studies":
            rows.studies += 1
        elif table in ("tallies", "waiting"):
            study, place, count = (int(line.split(b"\t")[columns[name]]) for name in ("study", "place", "count"))
            rows.tallies[study, place] += count
        elif table.startswith("answers"):
            fields = line.split(b"\t")
            study, payload = int(fields[columns["study"]]), payload_of(fields[columns["payload"]].decode())
            rows.answers += 1
            for place, amount in added(payload):
                rows.sums[study, place] += amount
    await _ended(process, tool)
    return rows


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise StoreError(f"{name} is not installed: it comes with PostgreSQL's client programs (postgresql-client)")
    return found


def _dsn(address: str) -> list[str]:
    """Return the address without its password, which other users of the machine could see among the arguments."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")
    user = host[0].partition(":")[0]
    bare = parts._replace(scheme="postgresql", netloc=f"{user}@{host[2]}" if user else host[2])
    return [f"--dbname={urlunsplit(bare)}"]


async def _run(program: str, *arguments: str, address: str) -> None:
    password = urlsplit(address).password
    environment = os.environ | ({} if password is None else {"PGPASSWORD": password})
    process = await asyncio.create_subprocess_exec(program, *arguments, stdout=PIPE, stderr=PIPE, env=environment)
    await _ended(process, program)


async def _ended(process: Process, program: str) -> None:
    _, said = await process.communicate()
    if process.returncode:
        last = said.decode(errors="replace").strip().splitlines()
        raise StoreError(f"{Path(program).name} failed: {last[-1] if last else f'status {process.returncode}'}")
