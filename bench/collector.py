"""The collector's speed as ratios within one run, its memory, and the long kill tests.

    python -m bench.collector              speed and memory, about two minutes
    python -m bench.collector crowd        10,000 connections opened and left
    python -m bench.collector kills        20 kills each: collector on SQLite, on PostgreSQL, PostgreSQL itself

Everything runs on this machine's loopback, for a fixed number of seconds or answers.
"""

import argparse
import asyncio
import json
import os
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairgauge.study import Study
from tests.collecting.kills import Count, Sent, kill_collectors, kill_database, publish
from tests.collecting.servers import ROOT, SERVE, ServerProcess, free_port, kill_postgres, new_database, new_postgres
from tests.collecting.wire import Wire, answer_bytes
from tests.samples import sample_study

FAST = "[rates]\nanswers = 1e9\nopen = 1e9\n[limits]\nconnections = 2000\n"
CONNECTIONS = 256
BATCH = 10_000

# The least that takes an answer over HTTP: Starlette, JSON, a set in memory, nothing durable.
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
from fairgauge.collector import intake
from fairgauge.collector.config import read_config
from fairgauge.collector.serve import serve
async def submit(self, rows):
    return await self._store.add(rows, self._bucket())
intake.Intake.submit = submit
serve(read_config(Path(sys.argv[1])), announce=lambda address: None)
"""


class Sender(asyncio.Protocol):
    """Sends answers on one connection, the next as soon as the last is acknowledged."""

    def __init__(self, digest: str, deadline: float) -> None:
        self.digest, self.deadline = digest, deadline
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.acknowledged = 0
        self._buffer = b""
        self._head = f"POST /studies/{digest}/answers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

    def connection_made(self, transport: Any) -> None:
        """Send the first answer."""
        self._transport = transport
        self._send()

    def _send(self) -> None:
        body = answer_bytes(self.digest, secrets.token_bytes(16), secrets.randbelow(4))
        self._transport.write(f"{self._head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def data_received(self, data: bytes) -> None:
        """Count a response when it is complete, and send the next answer."""
        self._buffer += data
        if not data.endswith(b"}"):
            return
        told, self._buffer = self._buffer, b""
        if not told.startswith(b"HTTP/1.1 200") or b"accepted" not in told:
            self.done.set_exception(AssertionError(told))
            self._transport.close()
            return
        self.acknowledged += 1
        if time.perf_counter() < self.deadline:
            self._send()
        else:
            self._transport.close()
            self.done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail if it came too early."""
        if not self.done.done():
            self.done.set_exception(exc or EOFError())


def load(port: int, pid: int, study: Study, seconds: float) -> dict[str, float]:
    """Load a server; return acknowledgements per second and the server's CPU time for each."""

    async def run() -> tuple[int, float]:
        begun = time.perf_counter()
        loop = asyncio.get_running_loop()
        senders = [
            (await loop.create_connection(lambda: Sender(study.digest, begun + seconds), "127.0.0.1", port))[1]
            for _ in range(CONNECTIONS)
        ]
        await asyncio.gather(*(sender.done for sender in senders))
        return sum(sender.acknowledged for sender in senders), time.perf_counter() - begun

    import uvloop

    before = cpu_of(pid)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        count, took = runner.run(run())
    return {"per_second": count / took, "cpu_us": (cpu_of(pid) - before) / count * 1e6}


def cpu_of(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(pid: int) -> float:
    """Return the resident memory in MiB."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure_in_memory(study: Study, seconds: float) -> dict[str, float]:
    """Load a server that forgets everything."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-c", _IN_MEMORY, str(port)])
    try:
        for _ in range(200):
            try:
                asyncio.run(_ask(port))
                break
            except (OSError, EOFError):
                time.sleep(0.05)
        return load(port, process.pid, study, seconds)
    finally:
        process.kill()
        process.wait()


async def _ask(port: int) -> None:
    async with Wire(port) as wire:
        await wire.request("GET", "/readyz")


def measure_collector(store: str, folder: Path, study: Study, seconds: float, code: str = SERVE) -> dict[str, float]:
    """Load a collector."""
    with ServerProcess(folder, store, settings=FAST, code=code) as server:
        publish(server, study)
        assert server.process is not None
        return load(server.port, server.process.pid, study, seconds)


def measure_batches(folder: Path, study: Study, batches: int) -> dict[str, Any]:
    """Send batches to a collector, and put the same into the same table with bare ``executemany``."""
    memory: list[float] = []
    with ServerProcess(folder, f"sqlite:///{folder / 'gauge.db'}", settings=FAST) as server:
        publish(server, study)
        assert server.process is not None
        pid = server.process.pid

        async def run() -> float:
            spent = 0.0
            async with Wire(server.port) as wire:
                for number in range(batches):
                    lines = b"\n".join(
                        answer_bytes(study.digest, secrets.token_bytes(16), n % study.symbols) for n in range(BATCH)
                    )
                    begun = time.perf_counter()
                    status, body = await wire.request(
                        "POST", f"/studies/{study.digest}/answers", lines, kind="application/x-ndjson"
                    )
                    spent += time.perf_counter() - begun
                    assert (status, json.loads(body)["accepted"]) == (200, BATCH)
                    if number % max(1, batches // 10) == 0:
                        memory.append(memory_of(pid))
            return spent

        ours = asyncio.run(run())
    return {"per_second": batches * BATCH / ours, "memory": memory, "bare": _bare(folder, batches)}


def _bare(folder: Path, batches: int) -> float:
    from fairgauge.collector.stores.base import migrations

    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    for setting in ("journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=4000", "cache_size=-16384"):
        connection.execute(f"PRAGMA {setting}")
    connection.executescript(migrations("sqlite")[0])
    spent = 0.0
    for _ in range(batches):
        rows = [(1, secrets.token_bytes(16), n % 4) for n in range(BATCH)]
        begun = time.perf_counter()
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO answers VALUES (?, ?, ?)", rows)
        connection.execute("COMMIT")
        spent += time.perf_counter() - begun
    connection.close()
    return batches * BATCH / spent


def speed(seconds: float, batches: int) -> dict[str, Any]:
    """Measure everything in one run."""
    study = sample_study()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="fairgauge-bench-") as name:
        folder = Path(name)
        for part in ("group", "each", "batches", "pg"):
            (folder / part).mkdir()
        sqlite = f"sqlite:///{folder / 'group' / 'gauge.db'}"
        found["in memory"] = measure_in_memory(study, seconds)
        found["collector, SQLite"] = measure_collector(sqlite, folder / "group", study, seconds)
        each = f"sqlite:///{folder / 'each' / 'gauge.db'}"
        found["commit per request"] = measure_collector(each, folder / "each", study, seconds, _COMMIT_EACH)
        found["collector, PostgreSQL"] = measure_collector(new_database(), folder / "pg", study, seconds)
        found["batches"] = measure_batches(folder / "batches", study, batches)
    return found


def show(found: dict[str, Any]) -> None:
    """Print the ratios."""
    for name in ("in memory", "collector, SQLite", "collector, PostgreSQL", "commit per request"):
        print(f"{name:<24} {found[name]['per_second']:>9,.0f} /s   {found[name]['cpu_us']:6.0f} us of CPU each")
    ours = found["collector, SQLite"]["per_second"]
    print(
        f"durable / in memory at {CONNECTIONS} connections   {ours / found['in memory']['per_second']:.2f}   (aim 0.5)"
    )
    print(f"group commit / commit per request     {ours / found['commit per request']['per_second']:.1f}   (aim 4)")
    batches = found["batches"]
    print(f"batches: {batches['per_second']:,.0f} answers/s, bare executemany {batches['bare']:,.0f}")
    print(f"batches / bare executemany            {batches['per_second'] / batches['bare']:.2f}   (aim 0.5)")
    print("memory in MiB while they arrive: " + ", ".join(f"{mib:.0f}" for mib in batches["memory"]))


def kills(count: int) -> None:
    """Run the long kill tests and print what was lost."""
    study = sample_study()
    with tempfile.TemporaryDirectory(prefix="fairgauge-kills-") as name:
        folder = Path(name)
        for part in ("sqlite", "pg", "two", "db"):
            (folder / part).mkdir()
        own = new_postgres()
        runs: dict[str, Callable[[], tuple[Sent, Count]]] = {
            "collector on SQLite": lambda: kill_collectors(
                folder / "sqlite", f"sqlite:///{folder / 'sqlite' / 'gauge.db'}", study, kills=count
            ),
            "collector on PostgreSQL": lambda: kill_collectors(folder / "pg", new_database(), study, kills=count),
            "two on one PostgreSQL": lambda: kill_collectors(
                folder / "two", new_database(), study, kills=count, processes=2
            ),
            "PostgreSQL itself": lambda: kill_database(
                folder / "db", new_database(own), study, kills=count, restart=lambda _: kill_postgres(own)
            ),
        }
        for title, run in runs.items():
            sent, left = run()
            print(
                f"{title:<24} {count} kills: {len(sent.acknowledged):,} acknowledged, {sent.retried:,} retries, "
                f"{len(sent.acknowledged) - sent.accepted} heard of only by a retry, "
                f"{left.lost} lost, {left.altered} altered, {left.rows:,} rows, tally {left.tally:,}, "
                f"{'equal' if left.tally_is_rows else 'NOT EQUAL'}",
                flush=True,
            )


def crowd(count: int) -> None:
    """Open many connections and leave them, half of them within a request; then see who is still served."""
    import resource
    import socket

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, count + 500)), hard))
    study = sample_study()
    with (
        tempfile.TemporaryDirectory(prefix="fairgauge-crowd-") as name,
        ServerProcess(Path(name), f"sqlite:///{Path(name) / 'gauge.db'}") as server,
    ):
        publish(server, study)
        assert server.process is not None
        idle: list[socket.socket] = []
        try:
            for number in range(count):
                idle.append(socket.create_connection(("127.0.0.1", server.port), timeout=10))
                if number % 2:
                    idle[-1].sendall(b"POST /studies HTTP/1.1\r\nHost: x\r\nX: ")
            files = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
            memory = memory_of(server.process.pid)
            found = load(server.port, server.process.pid, study, 2.0)
        finally:
            for connection in idle:
                connection.close()
    print(
        f"{count:,} connections opened and left: the collector keeps {files:,} files and {memory:.0f} MiB, "
        f"and takes {found['per_second']:,.0f} answers/s from others"
    )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", nargs="?", choices=["speed", "kills", "crowd"], default="speed")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--batches", type=int, default=100, help=f"of {BATCH:,} answers")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.what == "kills":
        kills(options.kills)
        return
    if options.what == "crowd":
        crowd(10_000)
        return
    found = speed(options.seconds, options.batches)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
