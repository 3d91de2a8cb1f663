"""Those who lay siege to a collector, each in a process of its own, on this machine's loopback and for a few seconds.

``python -m tests.collecting.attackers NAME PORT DIGEST CONNECTIONS SECONDS`` runs one and prints what it saw as JSON.
Every attacker ends by itself: none sends for longer, or on more connections, than it was told to.
"""

import asyncio
import json
import random
import re
import secrets
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fairgauge.unlinkable.oblivious_http import REQUEST_TYPE, SEALED_REQUEST, WELL_KNOWN, KeyConfig
from tests.collecting.servers import PATIENCE
from tests.collecting.wire import Wire, answer_bytes
from tests.programs import ROOT

MOST_CONNECTIONS, MOST_SECONDS = 1000, 120.0
LINES = 10_000
PAUSE = 0.05  # seconds between two answers of a device, on average
NDJSON = "application/x-ndjson"


@dataclass(frozen=True)
class Order:
    """What an attacker is told: where, what about, on how many connections, for how long."""

    port: int
    digest: str
    connections: int
    seconds: float

    def __post_init__(self) -> None:
        assert self.connections <= MOST_CONNECTIONS
        assert self.seconds <= MOST_SECONDS

    @property
    def path(self) -> str:
        return f"/studies/{self.digest}"


@dataclass
class Seen:
    """What an attacker saw: statuses, how long each of its requests took, and bytes that it read."""

    statuses: Counter[int]
    seconds: list[float]
    read: int = 0

    def p99(self) -> float:
        return self.part(0.99)

    def part(self, share: float) -> float:
        """Return in how many seconds so large a part of the requests was answered."""
        return sorted(self.seconds)[int(len(self.seconds) * share)]


Attack = Callable[[Order], Awaitable[Seen]]


async def _many(order: Order, one: Callable[[int, Seen, float], Awaitable[None]]) -> Seen:
    seen, until = Seen(Counter(), []), time.monotonic() + order.seconds

    async def run(number: int) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(order.seconds + PATIENCE):
                await one(number, seen, until)

    await asyncio.gather(*(run(number) for number in range(order.connections)))
    return seen


def _posting(body: Callable[[], bytes], kind: str) -> Attack:
    async def attack(order: Order) -> Seen:
        async def one(_number: int, seen: Seen, until: float) -> None:
            async with Wire(order.port) as wire:
                while time.monotonic() < until:
                    started = time.perf_counter()
                    try:
                        status, told = await wire.request("POST", f"{order.path}/answers", body(), kind=kind)
                    except (OSError, EOFError):
                        status, told = 0, b""
                        await asyncio.sleep(0.01)
                    seen.statuses[status] += 1
                    seen.seconds.append(time.perf_counter() - started)
                    seen.read += len(told)

        return await _many(order, one)

    return attack


def bad_lines(digest: str) -> bytes:
    """Return a batch of which every line looks like an answer, and none is one."""
    line = answer_bytes(digest, bytes(16), 0).replace(b'"symbol":0', b'"symbol":0,"surprise":' + b"1" * 40)
    return b"\n".join([line] * LINES)


def fresh_lines(digest: str, lines: int = LINES) -> bytes:
    """Return a batch of good answers; where tickets are wanted, their ids are none."""
    return b"\n".join([answer_bytes(digest, secrets.token_bytes(16), 0) for _ in range(lines)])


async def honest(order: Order) -> Seen:
    """Send single answers as devices do, each at its own time, whatever became of the one before.

    What counts is how long after that time an answer is acknowledged: whoever is held up for seconds holds up all that
    were to come meanwhile, and a collector that stands still is not seen through one slow answer only.
    """

    async def one(_number: int, seen: Seen, until: float) -> None:
        async with Wire(order.port) as wire:
            due = time.monotonic() + random.uniform(0, 2 * PAUSE)
            while due < until:
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                body = answer_bytes(order.digest, secrets.token_bytes(16), secrets.randbelow(4))
                try:
                    status, _ = await wire.request("POST", f"{order.path}/answers", body)
                except (OSError, EOFError):
                    status = 0
                    await asyncio.sleep(0.01)
                seen.statuses[status] += 1
                seen.seconds.append(time.monotonic() - due)
                due += random.uniform(0, 2 * PAUSE)

    return await _many(order, one)


async def bad_batches(order: Order) -> Seen:
    """Send batches of bad lines, one after the other."""
    body = bad_lines(order.digest)
    return await _posting(lambda: body, NDJSON)(order)


async def bad_answers(order: Order) -> Seen:
    """Send single answers that are none, one after the other."""
    body = bad_lines(order.digest).partition(b"\n")[0]
    return await _posting(lambda: body, "application/json")(order)


async def bad_tickets(order: Order) -> Seen:
    """Send batches of answers whose ids are no tickets."""
    body = fresh_lines(order.digest)
    return await _posting(lambda: body, NDJSON)(order)


async def forged(order: Order) -> Seen:
    """Send batches of answers that nobody gave."""
    return await _posting(lambda: fresh_lines(order.digest), NDJSON)(order)


async def bodies_held(order: Order) -> Seen:
    """Send almost all of a large body, and then nothing."""
    head = f"POST {order.path}/answers HTTP/1.1\r\nHost: x\r\nContent-Type: {NDJSON}\r\nContent-Length: 1900000\r\n\r\n"
    line = answer_bytes(order.digest, bytes(16), 0) + b"\n"
    body = (line * (1_900_000 // len(line) + 1))[:1_899_000]

    async def one(_number: int, seen: Seen, until: float) -> None:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", order.port)
            try:
                writer.write(head.encode() + body)
                with suppress(TimeoutError):
                    async with asyncio.timeout(until - time.monotonic()):
                        told = await reader.read(64)
                        seen.statuses[int(told[9:12] or 0)] += 1
            finally:
                writer.transport.abort()

    return await _many(order, one)


def _getting(path: str, *, reads: bool, accept: str = "application/json") -> Attack:
    async def attack(order: Order) -> Seen:
        async def one(_number: int, seen: Seen, until: float) -> None:
            while time.monotonic() < until:
                with suppress(OSError):
                    reader, writer = await asyncio.open_connection("127.0.0.1", order.port, limit=2**12)
                    try:
                        where = path.replace("{study}", order.path)
                        where = where.replace("{confidence}", f"{random.uniform(0.6, 0.99):.9f}")
                        writer.write(f"GET {where} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\n\r\n".encode())
                        await _look(reader, seen, until, reads=reads)
                    finally:
                        writer.transport.abort()
                await asyncio.sleep(0.02)

        return await _many(order, one)

    return attack


async def _look(reader: asyncio.StreamReader, seen: Seen, until: float, *, reads: bool) -> None:
    started = time.perf_counter()
    with suppress(TimeoutError, EOFError):
        async with asyncio.timeout(max(0.0, until - time.monotonic())):
            head = await reader.readuntil(b"\r\n\r\n")
            status = int(head[9:12])
            seen.statuses[status] += 1
            if status == 200 and not reads:
                await asyncio.sleep(until - time.monotonic())
            elif status == 200:
                while data := await reader.read(2**16):
                    seen.read += len(data)
                    if b"chunked" in head.lower() and data.endswith(b"0\r\n\r\n"):
                        break
                    if b"content-length" in head.lower():
                        break
    seen.seconds.append(time.perf_counter() - started)


exports_unread = _getting("{study}/export", reads=False)
exports_read = _getting("{study}/export", reads=True)
listeners = _getting("{study}/events", reads=False)
visitors = _getting("{study}", reads=True, accept="text/html")


reporters = _getting("{study}/report", reads=True, accept="text/html")
reckoners = _getting("{study}/estimate?confidence={confidence}", reads=True)
listers = _getting("/", reads=True, accept="text/html")


async def _kept(order: Order, request: bytes) -> Seen:
    """Ask the same again and again on connections that stay."""

    async def one(_number: int, seen: Seen, until: float) -> None:
        while time.monotonic() < until:
            with suppress(OSError, EOFError):
                reader, writer = await asyncio.open_connection("127.0.0.1", order.port)
                try:
                    while time.monotonic() < until:
                        writer.write(request)
                        head = await reader.readuntil(b"\r\n\r\n")
                        seen.statuses[int(head[9:12])] += 1
                        if length := re.search(rb"content-length: (\d+)", head):
                            await reader.readexactly(int(length[1]))
                finally:
                    writer.transport.abort()
            await asyncio.sleep(0.01)

    return await _many(order, one)


async def participants(order: Order) -> Seen:
    """Ask for the page for taking part, again and again."""
    return await _kept(order, f"GET {order.path}/take-part HTTP/1.1\r\nHost: x\r\n\r\n".encode())


async def preflights(order: Order) -> Seen:
    """Ask as browsers do before a page of another origin sends an answer, again and again."""
    return await _kept(order, f"OPTIONS {order.path}/answers HTTP/1.1\r\nHost: x\r\n\r\n".encode())


async def envelopes(order: Order) -> Seen:
    """Send envelopes that look as they should, and hold nothing."""
    async with Wire(order.port) as wire:
        _, told = await wire.request("GET", WELL_KNOWN)
    header = KeyConfig.read_list(told).header
    body = header + secrets.token_bytes(SEALED_REQUEST - len(header))
    start = f"POST {WELL_KNOWN} HTTP/1.1\r\nHost: x\r\nContent-Type: {REQUEST_TYPE}\r\n"
    return await _kept(order, f"{start}Content-Length: {len(body)}\r\n\r\n".encode() + body)


async def pipelined(order: Order) -> Seen:
    """Send thousands of requests at once, read nothing, and come again when cut off."""
    burst = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 2000

    async def one(_number: int, seen: Seen, until: float) -> None:
        while time.monotonic() < until:
            with suppress(OSError, TimeoutError):
                reader, writer = await asyncio.open_connection("127.0.0.1", order.port, limit=2**12)
                try:
                    writer.write(burst)
                    async with asyncio.timeout(max(0.0, until - time.monotonic())):
                        await reader.read(1)
                        seen.statuses[0] += 1
                        await writer.wait_closed()
                finally:
                    writer.transport.abort()
            await asyncio.sleep(0.02)

    return await _many(order, one)


async def burst(order: Order) -> Seen:
    """Send thousands of requests at once on every connection, once, and be silent."""
    data = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 7000

    async def one(_number: int, seen: Seen, until: float) -> None:
        with suppress(OSError, TimeoutError):
            _, writer = await asyncio.open_connection("127.0.0.1", order.port, limit=2**12)
            try:
                writer.write(data)
                seen.statuses[0] += 1
                await asyncio.sleep(max(0.0, until - time.monotonic()))
            finally:
                writer.transport.abort()

    return await _many(order, one)


def _holding(data: Callable[[Order], bytes]) -> Attack:
    """Send something on every connection, read nothing, and come again when cut off."""

    async def attack(order: Order) -> Seen:
        sent = data(order)

        async def one(_number: int, seen: Seen, until: float) -> None:
            while time.monotonic() < until:
                with suppress(OSError, TimeoutError):
                    reader, writer = await asyncio.open_connection("127.0.0.1", order.port, limit=2**12)
                    try:
                        writer.write(sent)
                        seen.statuses[0] += 1
                        async with asyncio.timeout(max(0.0, until - time.monotonic())):
                            await reader.read(1)
                            await asyncio.sleep(until - time.monotonic())
                    finally:
                        writer.transport.abort()
                await asyncio.sleep(0.02)

        return await _many(order, one)

    return attack


_TINY = "".join(f"a{n}:\r\n" for n in range(60))
headers_held = _holding(lambda _: f"GET /healthz HTTP/1.1\r\nHost: x\r\n{_TINY}".encode())
headers_sent = _holding(lambda _: 2 * f"GET /{'x' * 7000} HTTP/1.1\r\nHost: x\r\n{_TINY}\r\n".encode())
scripts_unread = _holding(lambda _: 2 * b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")
studies_unread = _holding(lambda order: 2 * f"GET {order.path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
pages_unread = _holding(lambda order: 2 * f"GET {order.path}/take-part HTTP/1.1\r\nHost: x\r\n\r\n".encode())


async def guesses(order: Order) -> Seen:
    """Try tokens that nobody has, one after the other."""

    async def one(_number: int, seen: Seen, until: float) -> None:
        while time.monotonic() < until:
            started = time.perf_counter()
            try:
                async with Wire(order.port) as wire:
                    status, _ = await wire.request("GET", "/studies", token=secrets.token_urlsafe(32))
            except (OSError, EOFError):
                status = 0
            seen.statuses[status] += 1
            seen.seconds.append(time.perf_counter() - started)

    return await _many(order, one)


def _leaving(asks: str, sees: bytes) -> Attack:
    """Connect, ask, and leave where a line begins with some bytes; again and again."""

    async def attack(order: Order) -> Seen:
        async def one(_number: int, seen: Seen, until: float) -> None:
            while time.monotonic() < until:
                with suppress(OSError, TimeoutError, EOFError):
                    reader, writer = await asyncio.open_connection("127.0.0.1", order.port, limit=2**16)
                    try:
                        writer.write(asks.replace("{study}", order.path).encode())
                        async with asyncio.timeout(5):
                            line = await reader.readline()
                            seen.statuses[int(line[9:12] or 0)] += 1
                            while line and not line.startswith(sees):
                                line = await reader.readline()
                    finally:
                        writer.transport.abort()
                await asyncio.sleep(0.01)

        return await _many(order, one)

    return attack


_EVENTS = "GET {study}/events HTTP/1.1\r\nHost: x\r\n\r\n"
leavers = _leaving(_EVENTS + "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP")
joiners = _leaving(_EVENTS, b"data:")  # a live page whose first figures are read


ATTACKERS: dict[str, Attack] = {
    "honest": honest,
    "bad-batches": bad_batches,
    "bad-answers": bad_answers,
    "bad-tickets": bad_tickets,
    "forged": forged,
    "bodies-held": bodies_held,
    "exports-unread": exports_unread,
    "exports-read": exports_read,
    "listeners": listeners,
    "visitors": visitors,
    "reporters": reporters,
    "reckoners": reckoners,
    "listers": listers,
    "participants": participants,
    "preflights": preflights,
    "envelopes": envelopes,
    "pipelined": pipelined,
    "burst": burst,
    "guesses": guesses,
    "leavers": leavers,
    "joiners": joiners,
    "headers-held": headers_held,
    "headers-sent": headers_sent,
    "scripts-unread": scripts_unread,
    "studies-unread": studies_unread,
    "pages-unread": pages_unread,
}


@asynccontextmanager
async def attacked(name: str, order: Order) -> AsyncIterator[None]:
    """Let an attacker run beside what is within."""
    process = start(name, order)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def start(name: str, order: Order) -> subprocess.Popen[bytes]:
    """Start an attacker in a process of its own, and wait until it begins."""
    command = [sys.executable, "-m", "tests.collecting.attackers", name]
    command += [str(order.port), order.digest, str(order.connections), str(order.seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline() == b"begins\n"
    return process


def run(name: str, order: Order) -> Seen:
    """Run an attacker to its end, and return what it saw."""
    return seen_by(start(name, order))


def seen_by(process: "subprocess.Popen[bytes]") -> Seen:
    """Wait for an attacker, and return what it saw."""
    out, _ = process.communicate(timeout=MOST_SECONDS + 2 * PATIENCE)
    found: dict[str, Any] = json.loads(out)
    return Seen(Counter({int(k): v for k, v in found["statuses"].items()}), found["seconds"], found["read"])


# Reads requests and drops them: what a flood costs a machine at the least.
DRAIN = """
import asyncio, sys
REPLY = b"HTTP/1.1 400 x\\r\\ncontent-length: 0\\r\\n\\r\\n"
class Drain(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.head, self.left = transport, b"", 0
    def data_received(self, data):
        while data:
            if self.left:
                used = min(self.left, len(data))
                self.left -= used
                data = data[used:]
                if not self.left:
                    self.transport.write(REPLY)
                continue
            self.head += data
            head, end, data = self.head.partition(b"\\r\\n\\r\\n")
            if not end:
                return
            self.head = b""
            for line in head.lower().split(b"\\r\\n"):
                if line.startswith(b"content-length:"):
                    self.left = int(line[15:])
            if not self.left:
                self.transport.write(REPLY)
async def main():
    server = await asyncio.get_running_loop().create_server(Drain, "127.0.0.1", int(sys.argv[1]), backlog=1024)
    await server.serve_forever()
try:
    import uvloop
    uvloop.run(main())
except ImportError:
    asyncio.run(main())
"""


def main() -> None:
    name, port, digest, connections, seconds = sys.argv[1:]
    order = Order(int(port), digest, int(connections), float(seconds))

    async def go() -> Seen:
        return await ATTACKERS[name](order)

    import uvloop

    sys.stdout.write("begins\n")
    sys.stdout.flush()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        seen = runner.run(go())
    json.dump({"statuses": seen.statuses, "seconds": seen.seconds, "read": seen.read}, sys.stdout)


if __name__ == "__main__":
    main()
