"""What many stored answers do to what comes next: intake, report, seal, export and backup beside few of them."""

import asyncio
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.lines import Line
from bench.load import load
from fairgauge.collector.stores import backup, open_store
from tests.collecting.kills import publish
from tests.collecting.servers import ServerProcess, new_store
from tests.collecting.wire import Wire
from tests.samples import sample_study

STUDY = sample_study()
FEW, MANY = 10**5, int(os.environ.get("FAIRGAUGE_STORED", "10000000"))
GROUP = 20_000
SECONDS = 3.0
FAST = "[rates]\nanswers = 1e9\nopen = 1e9\n"
PER_ANSWER = ("seal", "export", "backup")  # which take as long as there are answers


def stored() -> Iterator[Line]:
    """Yield how each step with many answers compares with few; what goes over all answers, for each of them."""
    for kind in ("sqlite", "postgresql"):
        few, many = (_measured(kind, count) for count in (FEW, MANY))
        for step, seconds in many.items():
            times = MANY / FEW if step in PER_ANSWER else 1.0
            each = " for each answer" if step in PER_ANSWER else ""
            value, against = f"{seconds:.4g} s", f"{FEW:,} answers: {few[step]:.4g} s"
            yield Line(f"{step} with {MANY:,} answers, {kind}{each}", value, against, seconds / few[step] / times)


def _measured(kind: str, count: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="fairgauge-stored-") as name:
        folder = Path(name)
        address, found = new_store(kind, folder), {}
        with ServerProcess(folder, address, settings=FAST) as server:
            publish(server, STUDY)
            assert server.stop() == 0
        asyncio.run(_fill(address, count))
        with ServerProcess(folder, address, settings=FAST, token=server.token) as server:
            assert server.process is not None
            found["intake of an answer"] = 1 / load(server.port, server.process.pid, STUDY.digest, SECONDS).per_second
            found["report"] = asyncio.run(_asked(server, "GET", "/report"))
            if kind == "sqlite" or shutil.which("pg_dump"):
                began = time.perf_counter()
                asyncio.run(backup.back_up(address, folder / "copy"))
                found["backup"] = time.perf_counter() - began
            found["seal"] = asyncio.run(_asked(server, "POST", "/close"))
            found["export"] = asyncio.run(_asked(server, "GET", "/export"))
        return found


async def _fill(address: str, count: int) -> None:
    store = await open_store(address)
    kept = await store.study(STUDY.digest)
    assert kept is not None
    for first in range(0, count, GROUP):
        rows = [(kept.number, secrets.token_bytes(16), str(n % 4)) for n in range(first, min(count, first + GROUP))]
        await store.add(rows, 0)
    await store.close()


async def _asked(server: ServerProcess, method: str, path: str) -> float:
    began = time.perf_counter()
    async with Wire(server.port) as wire:
        status, _ = await wire.request(method, f"/studies/{STUDY.digest}{path}", token=server.token)
        assert status == 200, status
    return time.perf_counter() - began
