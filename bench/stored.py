"""What many stored answers do to what comes next: intake, report, seal, export and backup beside few of them."""

import asyncio
import os
import secrets
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.lines import Line, tell
from bench.load import load, memory_of
from fairgauge.collector.stores import backup, open_store
from tests.collecting.kills import publish
from tests.collecting.servers import ServerProcess, new_store, use_postgres_tools
from tests.samples import sample_study

STUDY = sample_study()
FEW, MANY = 10**5, int(os.environ.get("FAIRGAUGE_STORED", "10000000"))
GROUP = 20_000
SECONDS = 3.0
FAST = "[rates]\nanswers = 1e9\nopen = 1e9\n"
MEMORY = "memory of the collector"
PER_ANSWER = ("seal", "export", "backup")  # which take as long as there are answers


def stored_in(kind: str) -> Iterator[Line]:
    """Yield how each step with many answers compares with few; what goes over all answers, for each of them."""
    use_postgres_tools()
    few, many = (_measured(kind, count) for count in (FEW, MANY))
    for step, seconds in many.items():
        times = MANY / FEW if step in PER_ANSWER else 1.0
        each = " for each answer" if step in PER_ANSWER else ""
        unit = "MiB" if step == MEMORY else "s"
        value, against = f"{seconds:.4g} {unit}", f"{FEW:,} answers: {few[step]:.4g} {unit}"
        yield Line(f"{step} with {MANY:,} answers, {kind}{each}", value, against, seconds / few[step] / times)


def _measured(kind: str, count: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="fairgauge-stored-") as name:
        folder = Path(name)
        address, found = new_store(kind, folder), {}
        with ServerProcess(folder, address, settings=FAST) as server:
            publish(server, STUDY)
            assert server.stop() == 0
        tell(f"{kind}: storing {count:,} answers")
        found["storing by twenty thousand"] = asyncio.run(_fill(address, count))
        with ServerProcess(folder, address, settings=FAST, token=server.token) as server:
            assert server.process is not None
            pid = server.process.pid
            load(server.port, pid, STUDY.digest, SECONDS)  # so that what is known is in memory, with few and with many
            found["intake of an answer"] = 1 / load(server.port, pid, STUDY.digest, SECONDS).per_second
            for step, path in (("page", ""), ("report", "/report")):
                found[step] = median(asyncio.run(_asked(server, "GET", path, accept="text/html")) for _ in range(5))
            tell(f"{kind}: a backup of {count:,}")
            began = time.perf_counter()
            asyncio.run(backup.back_up(address, folder / "copy"))
            found["backup"] = time.perf_counter() - began
            tell(f"{kind}: seal and export of {count:,}")
            found["seal"] = asyncio.run(_asked(server, "POST", "/close"))
            found["export"] = asyncio.run(_asked(server, "GET", "/export"))
            found[MEMORY] = memory_of(pid)
        return found


async def _fill(address: str, count: int) -> float:
    """Store answers; return the seconds for each of the last ones, when most are there."""
    store = await open_store(address)
    kept = await store.study(STUDY.digest)
    assert kept is not None
    took = []
    for first in range(0, count, GROUP):
        rows = [(kept.number, secrets.token_bytes(16), str(n % 4)) for n in range(first, min(count, first + GROUP))]
        began = time.perf_counter()
        await store.add(rows, 0)
        took.append((time.perf_counter() - began) / len(rows))
    await store.close()
    return median(took[-5:])


async def _asked(server: ServerProcess, method: str, path: str, *, accept: str = "*/*") -> float:
    """Return how long a request takes whose response is read to its end, and kept nowhere."""
    head = f"{method} /studies/{STUDY.digest}{path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nContent-Length: 0\r\n"
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=2**22)
    writer.write(f"{head}Authorization: Bearer {server.token}\r\nConnection: close\r\n\r\n".encode())
    first = last = await reader.readline()
    while data := await reader.read(2**20):
        last = last[-64:] + data
    writer.close()
    assert first.startswith(b"HTTP/1.1 200"), first
    assert path != "/export" or last.endswith(b"\r\n0\r\n\r\n"), "the export was cut short"
    return time.perf_counter() - began
