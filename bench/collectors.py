"""Throughput as collectors grow: one, two and four processes on one PostgreSQL behind one port.

python -m bench.collectors

Everything, the senders too, shares this machine's cores: where there are few, more processes cannot show more.  CPU
time for each answer tells what another core would bring.
"""

import asyncio
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from bench.collector import CONNECTIONS, FAST, Sender, cpu_of
from fairgauge.study import Study
from tests.collecting.kills import publish
from tests.collecting.servers import ServerProcess, new_database, stop_postgres
from tests.samples import sample_study

PROCESSES = (1, 2, 4)


def measure(processes: int, study: Study, seconds: float) -> tuple[float, float]:
    """Return acknowledged answers per second, and the collectors' CPU seconds for each."""
    store = new_database()
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="fairgauge-bench-") as name:
        folder = Path(name)
        servers: list[ServerProcess] = []
        for _ in range(processes):
            port, token = (servers[0].port, servers[0].token) if servers else (0, "")
            shared = f"reuse_port = true\n{FAST}"
            servers.append(stack.enter_context(ServerProcess(folder, store, settings=shared, port=port, token=token)))
        publish(servers[0], study)
        pids = [server.process.pid for server in servers if server.process is not None]
        before = sum(map(cpu_of, pids))
        count, took = asyncio.run(_load(servers[0].port, study, seconds))
        return count / took, (sum(map(cpu_of, pids)) - before) / count


async def _load(port: int, study: Study, seconds: float) -> tuple[int, float]:
    begun = time.perf_counter()
    loop = asyncio.get_running_loop()
    senders = [
        (await loop.create_connection(lambda: Sender(study.digest, begun + seconds), "127.0.0.1", port))[1]
        for _ in range(CONNECTIONS)
    ]
    await asyncio.gather(*(sender.done for sender in senders))
    return sum(sender.acknowledged for sender in senders), time.perf_counter() - begun


def growth(seconds: float) -> dict[int, tuple[float, float]]:
    """Measure every number of processes in one run."""
    study = sample_study()
    try:
        return {processes: measure(processes, study, seconds) for processes in PROCESSES}
    finally:
        stop_postgres()


if __name__ == "__main__":
    for processes, (rate, cpu) in growth(10.0).items():
        print(f"{processes} processes: {rate:,.0f} answers/s, {cpu * 1e6:.0f} us of CPU each")
