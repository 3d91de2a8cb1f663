"""Throughput as collectors grow: one, two and four processes on one PostgreSQL behind one port.

Everything, the senders and the database too, shares this machine's cores: where there are few, more processes cannot
show more.  CPU time for each answer tells what another core would bring.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.lines import Line
from bench.load import cpu_of, load
from tests.collecting.kills import publish
from tests.collecting.servers import ServerProcess, new_database
from tests.samples import sample_study

PROCESSES, ROUNDS, SECONDS = (1, 2, 4), 3, 4.0
SETTINGS = "reuse_port = true\n[rates]\nanswers = 1e9\nopen = 1e9\n[limits]\nconnections = 2000\n"
STUDY = sample_study()


def several_collectors() -> Iterator[Line]:
    """Acknowledged answers a second, as a ratio to one process; the best of some rounds, which take turns."""
    found: dict[int, list[tuple[float, float]]] = {processes: [] for processes in PROCESSES}
    for _ in range(ROUNDS):
        for processes, rounds in found.items():
            rounds.append(_measure(processes))
    one = max(found[1])[0]
    for processes, rounds in found.items():
        rate, cpu = max(rounds)
        what = f"durable answers, {processes} collector{'s' if processes > 1 else ''} on one PostgreSQL and port"
        yield Line(what, f"{rate:,.0f} /s, {cpu * 1e6:.0f} µs of CPU each", f"one, {one:,.0f} /s", rate / one)


def _measure(processes: int) -> tuple[float, float]:
    """Return acknowledged answers per second, and the collectors' CPU seconds for each."""
    store = new_database()
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="fairgauge-bench-") as name:
        servers: list[ServerProcess] = []
        for _ in range(processes):
            port, token = (servers[0].port, servers[0].token) if servers else (0, "")
            server = ServerProcess(Path(name), store, settings=SETTINGS, port=port, token=token)
            servers.append(stack.enter_context(server))
        publish(servers[0], STUDY)
        pids = [server.process.pid for server in servers if server.process is not None]
        before = sum(map(cpu_of, pids))
        rate = load(servers[0].port, pids[0], STUDY.digest, SECONDS).per_second
        return rate, (sum(map(cpu_of, pids)) - before) / (rate * SECONDS)
