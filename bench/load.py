"""Load on a server that takes answers: as many connections as there are, each sending the next answer at once."""

import asyncio
import os
import secrets
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.collecting.wire import answer_bytes

CONNECTIONS = 256


class Load(NamedTuple):
    """What a server did under load: acknowledgements per second, and its CPU time for each."""

    per_second: float
    cpu_microseconds: float


def load(port: int, pid: int, study: str, seconds: float) -> Load:
    """Load a server on this machine for some seconds."""

    async def run() -> tuple[int, float]:
        begun, loop = time.perf_counter(), asyncio.get_running_loop()
        senders = [
            (await loop.create_connection(lambda: _Sender(study, begun + seconds), "127.0.0.1", port))[1]
            for _ in range(CONNECTIONS)
        ]
        await asyncio.gather(*(sender.done for sender in senders))
        return sum(sender.acknowledged for sender in senders), time.perf_counter() - begun

    import uvloop

    before = cpu_of(pid)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        count, took = runner.run(run())
    return Load(count / took, (cpu_of(pid) - before) / count * 1e6)


def cpu_of(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def on_one_core(pid: int) -> None:
    """Let a process use the first core alone, with all its threads: the others are left to whoever sends."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {0})


def memory_of(pid: int) -> float:
    """Return the resident memory in MiB."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class _Sender(asyncio.Protocol):
    """Sends answers on one connection, the next as soon as the last is acknowledged."""

    def __init__(self, study: str, deadline: float) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.acknowledged = 0
        self._study, self._deadline, self._buffer = study, deadline, b""
        self._head = f"POST /studies/{study}/answers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        body = answer_bytes(self._study, secrets.token_bytes(16), secrets.randbelow(4))
        self._transport.write(f"{self._head}Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not data.endswith(b"}"):
            return
        told, self._buffer = self._buffer, b""
        if not told.startswith(b"HTTP/1.1 200") or b"accepted" not in told:
            self.done.set_exception(AssertionError(told))
            self._transport.close()
            return
        self.acknowledged += 1
        if time.perf_counter() < self._deadline:
            self._send()
        else:
            self._transport.close()
            self.done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or EOFError())
