"""A full disk: the collector says 507, nothing acknowledged is lost, and it goes on when there is room again.

Where a small disk can be mounted, it is a real one.  Elsewhere, and here too, each store reaches a limit of its own
that gives the very error of a full disk: SQLite its largest number of pages, PostgreSQL an error 53100 within a group.
"""

import asyncio
import json
import os
import secrets
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from tests.collecting.kills import publish
from tests.collecting.servers import SERVE, ServerProcess, new_database, postgres
from tests.collecting.wire import Wire, answer_bytes
from tests.samples import sample_study

STUDY = sample_study()
PATH = f"/studies/{STUDY.digest}/answers"
BATCH = 500


@dataclass
class Room:
    """A store whose room can be taken away and given back."""

    store: str
    fill: Callable[[], object]
    free: Callable[[], object]
    code: str = SERVE


@contextmanager
def small_disk(owner: int) -> Iterator[Path | None]:
    """A file system of 6 MiB that belongs to a user; None where none can be mounted."""
    folder = tempfile.mkdtemp(prefix="fairgauge-small-")
    options = f"size=6m,mode=0700,uid={owner}"
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    try:
        yield Path(folder) if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", folder], check=True)
        Path(folder).rmdir()


def on_disk(store: str, disk: Path) -> Room:
    """Fill all of a disk but a little, and make room again."""
    ballast = disk / "ballast"

    def fill() -> None:
        found = os.statvfs(disk)
        ballast.write_bytes(b"x" * max(0, found.f_bavail * found.f_frsize - 2**18))

    return Room(store, fill, ballast.unlink)


@contextmanager
def sqlite_on_disk(folder: Path) -> Iterator[Room]:
    with small_disk(os.getuid()) as disk, sqlite_with_a_limit(folder) as other:
        yield other if disk is None else on_disk(f"sqlite:///{disk / 'gauge.db'}", disk)


@contextmanager
def sqlite_with_a_limit(folder: Path) -> Iterator[Room]:
    limit = folder / "pages"
    limit.write_text("1000000")
    code = f"""
from pathlib import Path
from urllib.parse import urlsplit
from fairgauge.collector.stores import sqlite
honest = sqlite.SqliteStore._add
def add(self, connection, rows, bucket):
    connection.execute("PRAGMA max_page_count=" + Path({str(limit)!r}).read_text())
    return honest(self, connection, rows, bucket)
sqlite.SqliteStore._add = add
"""
    yield Room(
        f"sqlite:///{folder / 'gauge.db'}",
        lambda: limit.write_text("1"),  # SQLite takes the number of pages that there are
        lambda: limit.write_text("1000000"),
        code + SERVE,
    )


def run(address: str, *statements: str) -> None:
    """Run statements in a PostgreSQL."""

    async def execute() -> None:
        connection = await asyncpg.connect(address)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    asyncio.run(execute())


@contextmanager
def postgresql_on_disk(folder: Path) -> Iterator[Room]:
    server = postgres()
    with small_disk(Path(server.pgdata).stat().st_uid) as disk, postgresql_with_a_limit(folder) as other:
        if disk is None:
            yield other
            return
        store = new_database()
        name = urlsplit(store).path.strip("/")
        run(server.get_uri(), f"CREATE TABLESPACE small_{name} LOCATION '{disk}'")
        run(server.get_uri(), f"ALTER DATABASE {name} SET default_tablespace = small_{name}")
        try:
            yield on_disk(store, disk)
        finally:
            run(server.get_uri(), f"DROP DATABASE {name} WITH (FORCE)", f"DROP TABLESPACE small_{name}")


@contextmanager
def postgresql_with_a_limit(_folder: Path) -> Iterator[Room]:
    store = new_database()
    refuse = "CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE SQLSTATE '53100'; END $$ LANGUAGE plpgsql"
    trigger = "CREATE TRIGGER no_room AFTER INSERT ON tallies EXECUTE FUNCTION refuse()"
    yield Room(store, lambda: run(store, refuse, trigger), lambda: run(store, "DROP TRIGGER no_room ON tallies"))


WAYS = [sqlite_on_disk, sqlite_with_a_limit, postgresql_on_disk, postgresql_with_a_limit]


async def send(port: int, count: int) -> set[str]:
    """Send new answers in a batch; return the ids of those that were acknowledged, none if the disk is full."""
    ids = [secrets.token_bytes(16) for _ in range(count)]
    async with Wire(port) as wire:
        lines = b"\n".join(answer_bytes(STUDY.digest, id_, 1) for id_ in ids)
        status, body = await wire.request("POST", PATH, lines, kind="application/x-ndjson")
    told = json.loads(body)
    if status == 200:
        assert told["accepted"] == count
        return {id_.hex() for id_ in ids}
    assert (status, told["type"]) == (507, "urn:fairgauge:problem:full")
    return set()


async def state(server: ServerProcess) -> tuple[int, set[str]]:
    """Return the sum of the tally, and the ids of all answers."""
    async with Wire(server.port) as wire:
        tally = await wire.request("GET", f"/studies/{STUDY.digest}/tally", token=server.token)
        export = await wire.request("GET", f"/studies/{STUDY.digest}/export", token=server.token)
    assert (tally[0], export[0]) == (200, 200)
    return sum(json.loads(tally[1])["counts"]), {json.loads(line)["id"] for line in export[1].splitlines()}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_full_disk_refuses_and_recovers(way: Callable[[Path], AbstractContextManager[Room]], tmp_path: Path):
    with ExitStack() as stack:
        room = stack.enter_context(way(tmp_path))
        server = stack.enter_context(ServerProcess(tmp_path, room.store, code=room.code))
        publish(server, STUDY)
        acknowledged = asyncio.run(send(server.port, BATCH))
        assert len(acknowledged) == BATCH
        room.fill()
        for _ in range(100):
            more = asyncio.run(send(server.port, BATCH))
            if not more:
                break
            acknowledged |= more
        else:
            pytest.fail("the disk never was full")
        assert asyncio.run(state(server)) == (len(acknowledged), acknowledged)
        room.free()
        acknowledged |= asyncio.run(send(server.port, BATCH))
        assert asyncio.run(state(server)) == (len(acknowledged), acknowledged)
        server.kill()
        server.start().wait_until_ready()
        assert asyncio.run(state(server)) == (len(acknowledged), acknowledged)
        assert len(acknowledged) >= 2 * BATCH
        assert server.stop() == 0
