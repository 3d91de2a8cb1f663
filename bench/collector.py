"""The collector's speed beside the least that a server can do, its memory, and what a crowd does to it.

Everything runs on this machine's loopback, and what is compared takes turns, so that whatever else the machine does
hits all alike.
"""

import asyncio
import json
import resource
import secrets
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from bench.lines import Line
from bench.load import CONNECTIONS, Load, load, memory_of, on_one_core
from fairgauge.collector.stores.sql_store import migrations
from tests.collecting.kills import publish
from tests.collecting.servers import SERVE, ServerProcess, free_port, new_database
from tests.collecting.wire import Wire, answer_bytes
from tests.samples import sample_study

STUDY = sample_study()
ROUNDS, SECONDS = 5, 3.0
BATCHES, BATCH = 200, 10_000
CROWD = 10_000
FAST = "[rates]\nanswers = 1e9\nopen = 1e9\n[limits]\nconnections = 2000\n"

# The least that takes an answer over HTTP: Starlette, JSON, a dictionary in memory, nothing durable.
_IN_MEMORY = """
import sys, uvicorn, msgspec
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
seen, counts = {}, [0] * 4
async def answer(request):
    sent = msgspec.json.decode(await request.body())
    if sent["id"] in seen:
        return JSONResponse({"status": "duplicate"})
    seen[sent["id"]] = sent["symbol"]
    counts[sent["symbol"]] += 1
    return JSONResponse({"status": "accepted"})
async def ready(request):
    return JSONResponse({})
app = Starlette(routes=[Route("/studies/{digest}/answers", answer, methods=["POST"]), Route("/readyz", ready)])
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
"""

# The collector with one change: every answer gets a commit of its own.
_COMMIT_EACH = """
import sys
from pathlib import Path
from fairgauge.collector.group_commit import Intake
from fairgauge.collector.config import read_config
from fairgauge.collector.workers import serve
async def submit(self, rows):
    return await self._store.add(rows, self._bucket())
Intake.submit = submit
serve(read_config(Path(sys.argv[1])), announce=lambda address: None)
"""

# The collector with one change: nothing is stored, which leaves HTTP, the checks and the queue.
_NOT_STORED = """
import sys
from pathlib import Path
from fairgauge.collector.config import read_config
from fairgauge.collector.workers import serve
from fairgauge.collector.stores.sqlite import SqliteStore
async def add(self, rows, bucket):
    return ["fresh"] * len(rows)
SqliteStore.add = add
serve(read_config(Path(sys.argv[1])), announce=lambda address: None)
"""


def durable_answers() -> Iterator[Line]:
    """Durable acknowledgements per second, against memory and against one commit for each."""
    found = _take_turns()
    ours, memory, each, postgres = (found[name] for name in ("sqlite", "memory", "each", "postgresql"))
    in_memory = f"in memory, not durable: {_shown(memory)}"
    what = f"durable answers, {CONNECTIONS} connections"
    yield Line(f"{what}, SQLite", _shown(ours), in_memory, ours.per_second / memory.per_second, "at least 0.5")
    yield Line(f"{what}, PostgreSQL", _shown(postgres), in_memory, postgres.per_second / memory.per_second)
    commits = f"a commit for each: {_shown(each)}"
    yield Line(f"{what}, SQLite", _shown(ours), commits, ours.per_second / each.per_second, "at least 4")
    # Where other work takes most of the processors, this ratio still means something.
    cpu, least = ours.cpu_microseconds, memory.cpu_microseconds
    yield Line(
        "CPU for a durable answer, SQLite", f"{cpu:.0f} µs", f"in memory: {least:.0f} µs", cpu / least, "at most 2"
    )
    # Where the time goes: what is left when nothing is stored is HTTP, checks and the queue; the rest is SQLite's.
    bare = found["not stored"]
    what = "of it without storing: HTTP, deadlines, checks, queue"
    yield Line(what, f"{bare.cpu_microseconds:.0f} µs", f"durable: {cpu:.0f} µs", bare.cpu_microseconds / cpu)
    yield Line("answers that are not stored", _shown(bare), in_memory, bare.per_second / memory.per_second)


def batches() -> Iterator[Line]:
    """Two million answers in batches: against bare SQLite, and what the second million does to the memory.

    Within the first, SQLite fills the 16 MiB of pages that it may keep.
    """
    with tempfile.TemporaryDirectory(prefix="fairgauge-bench-") as name:
        folder, memory = Path(name), []
        with ServerProcess(folder, f"sqlite:///{folder / 'gauge.db'}", settings=FAST) as server:
            publish(server, STUDY)
            connection, ours, bare = _open_bare(folder / "bare.db"), 0.0, 0.0
            for _ in range(10):
                ours += asyncio.run(_send_batches(server.port, BATCHES // 10))
                bare += _insert_bare(connection, BATCHES // 10)
                memory.append(memory_of(_pid(server)))
            connection.close()
    count = BATCHES * BATCH
    value, against = f"{count / ours:,.0f} answers/s", f"bare executemany: {count / bare:,.0f} rows/s"
    yield Line(f"batches of {BATCH:,} answers, SQLite", value, against, bare / ours, "at least 0.5")
    half, last = memory[4], max(memory[5:])
    what = f"the collector's memory after {count:,} answers"
    yield Line(what, f"{last:.0f} MiB", f"after {count // 2:,}: {half:.0f} MiB", last / half, "at most 1.1")


def crowd() -> Iterator[Line]:
    """Open many connections and leave them, half of them within a request; then see who is still served."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, CROWD + 500)), hard))
    with _new_collector(settings="[rates]\nanswers = 1e9\nopen = 1e9\n") as server:
        alone = load(server.port, _pid(server), STUDY.digest, SECONDS)
        with ExitStack() as left:
            for number in range(CROWD):
                connection = left.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
                if number % 2:
                    connection.sendall(b"POST /studies HTTP/1.1\r\nHost: x\r\nX: ")
            memory = memory_of(_pid(server))
            crowded = load(server.port, _pid(server), STUDY.digest, SECONDS)
    value = f"{_shown(crowded)}, {memory:.0f} MiB"
    ratio = crowded.per_second / alone.per_second
    yield Line(f"answers beside {CROWD:,} connections left open", value, f"alone: {_shown(alone)}", ratio)


def _take_turns() -> dict[str, Load]:
    """Load every server for a while, again and again; return the medians."""
    with ExitStack() as stack:
        servers = {
            "memory": stack.enter_context(_in_memory()),
            "sqlite": _address(stack.enter_context(_new_collector())),
            "not stored": _address(stack.enter_context(_new_collector(code=_NOT_STORED))),
            "each": _address(stack.enter_context(_new_collector(code=_COMMIT_EACH))),
            "postgresql": _address(stack.enter_context(_new_collector(store=new_database()))),
        }
        for _, pid in servers.values():
            on_one_core(pid)
        rounds = [
            {name: load(*server, STUDY.digest, SECONDS) for name, server in servers.items()} for _ in range(ROUNDS)
        ]
    return {name: Load(*map(median, zip(*(one[name] for one in rounds), strict=True))) for name in servers}


def _shown(found: Load) -> str:
    return f"{found.per_second:,.0f}/s, {found.cpu_microseconds:.0f} µs of CPU each"


def _pid(server: ServerProcess) -> int:
    if server.process is None:
        raise RuntimeError("the collector is not running")
    return server.process.pid


def _address(server: ServerProcess) -> tuple[int, int]:
    return server.port, _pid(server)


@contextmanager
def _new_collector(*, store: str = "", settings: str = FAST, code: str = SERVE) -> Iterator[ServerProcess]:
    """Run a collector with the sample study, on a new SQLite file unless told otherwise."""
    with tempfile.TemporaryDirectory(prefix="fairgauge-bench-") as name:
        folder = Path(name)
        with ServerProcess(folder, store or f"sqlite:///{folder / 'gauge.db'}", settings=settings, code=code) as server:
            publish(server, STUDY)
            yield server


@contextmanager
def _in_memory() -> Iterator[tuple[int, int]]:
    """Run a server that forgets everything; yield its port and process."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", _IN_MEMORY, str(port)])
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield port, process.pid
    finally:
        process.kill()
        process.wait()


async def _send_batches(port: int, count: int) -> float:
    """Send batches of new answers; return the seconds that the collector took."""
    spent = 0.0
    async with Wire(port) as wire:
        for _ in range(count):
            answers = [answer_bytes(STUDY.digest, secrets.token_bytes(16), n % STUDY.symbols) for n in range(BATCH)]
            path, body = f"/studies/{STUDY.digest}/answers", b"\n".join(answers)
            begun = time.perf_counter()
            status, told = await wire.request("POST", path, body, kind="application/x-ndjson")
            spent += time.perf_counter() - begun
            if (status, json.loads(told)["accepted"]) != (200, BATCH):
                raise AssertionError(told)
    return spent


def _open_bare(path: Path) -> sqlite3.Connection:
    """Make the same tables, with the settings of the collector."""
    connection = sqlite3.connect(path, isolation_level=None)
    for setting in ("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=4000", "cache_size=-16384"):
        connection.execute(f"PRAGMA {setting}")
    connection.executescript("".join(migrations("sqlite").values()))
    return connection


def _insert_bare(connection: sqlite3.Connection, count: int) -> float:
    """Put as many rows into the same table with bare ``executemany``; return the seconds that SQLite took."""
    spent = 0.0
    for _ in range(count):
        rows = [(1, secrets.token_bytes(16), str(n % 4)) for n in range(BATCH)]
        begun = time.perf_counter()
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO answers VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
        spent += time.perf_counter() - begun
    return spent
