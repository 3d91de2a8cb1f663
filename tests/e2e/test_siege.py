"""A short siege: every attack of ``make bench ARGS=siege``, small, on a real collector; nothing is timed."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from socket import create_connection, socket

import pytest

from bench.load import memory_of
from fairgauge.study import Study
from tests.collecting.attackers import Order, run, seen_by, start
from tests.collecting.fuzzing import fuzz
from tests.collecting.servers import PATIENCE, ServerProcess
from tests.collecting.wire import Wire, answer_bytes
from tests.samples import sample_study

OPEN = sample_study()
TICKETED = Study("With tickets", OPEN.questions)
SETTINGS = """
[limits]
exports = 2
listeners = 5
held_bytes = 8000000
[rates]
visitors = 20.0
faulty = 1000.0
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp("siege")
    with ServerProcess(folder, f"sqlite:///{folder / 'gauge.db'}", settings=SETTINGS) as found:
        assert ask(found, "POST", "/studies?results=public", OPEN.to_bytes())[0] == 201
        assert ask(found, "POST", "/studies?admission=tickets", TICKETED.to_bytes())[0] == 201
        for first in range(0, 60_000, 10_000):
            lines = [answer_bytes(OPEN.digest, n.to_bytes(16), 0) for n in range(first, first + 10_000)]
            assert ask(found, "POST", f"/studies/{OPEN.digest}/answers", b"\n".join(lines), kind=NDJSON)[0] == 200
        yield found


NDJSON = "application/x-ndjson"


def ask(server: ServerProcess, method: str, path: str, body: bytes = b"", **more: str) -> tuple[int, bytes]:
    async def run() -> tuple[int, bytes]:
        async with Wire(server.port) as wire:
            return await wire.request(method, path, body, token=server.token, **more)

    return asyncio.run(run())


def raw(server: ServerProcess, *parts: bytes) -> bytes:
    """Send bytes as they are, and return the first line of what comes back."""
    with create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        for part in parts:
            connection.sendall(part)
        return first_line(connection)


def first_line(connection: socket) -> bytes:
    data = b""
    while b"\r\n" not in data:
        more = connection.recv(4096)
        if not more:
            break
        data += more
    return data.partition(b"\r\n")[0]


def pid(server: ServerProcess) -> int:
    assert server.process is not None
    return server.process.pid


@pytest.mark.parametrize(("name", "study", "refusal"), [("bad-batches", OPEN, 400), ("bad-tickets", TICKETED, 403)])
def test_devices_are_served_beside_a_flood(server: ServerProcess, name: str, study: Study, refusal: int):
    attacker = start(name, Order(server.port, study.digest, 6, 3.0))
    honest = run("honest", Order(server.port, OPEN.digest, 4, 2.0))
    flood = seen_by(attacker)
    assert set(honest.statuses) == {200}
    assert honest.statuses[200] >= 4
    assert flood.statuses[refusal] > 0
    assert set(flood.statuses) <= {refusal, 429, 503}


def test_exports_have_places_for_each_kind_and_little_memory(server: ServerProcess):
    before = memory_of(pid(server))
    path = f"/studies/{OPEN.digest}/export"
    with ExitStack() as stack:
        unread = []
        for _ in range(40):
            connection = stack.enter_context(create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            unread.append(connection)
        told = [first_line(connection)[9:12] for connection in unread]
        assert (told.count(b"200"), told.count(b"503")) == (2, 38)
        status, lines = ask(server, "GET", path)  # an operator has places of their own
        assert (status, lines.count(b"\n") >= 60_000) == (200, True)
        assert memory_of(pid(server)) - before < 60


def test_strangers_do_not_take_the_places_of_those_who_have_a_token(server: ServerProcess):
    path = f"/studies/{OPEN.digest}/events"
    token = f"Authorization: Bearer {server.token}\r\n"
    with ExitStack() as stack:
        told = []
        for header in [*[""] * 8, token]:
            connection = stack.enter_context(create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{header}\r\n".encode())
            told.append(first_line(connection)[9:12])
        assert told == [b"200"] * 5 + [b"503"] * 3 + [b"200"]


def test_visitors_wait_in_line_and_are_not_turned_away(server: ServerProcess):
    attacker = start("visitors", Order(server.port, OPEN.digest, 15, 60.0))
    try:
        visitor = run("visitors", Order(server.port, OPEN.digest, 1, 10.0))
    finally:
        attacker.kill()
        attacker.communicate()
    assert set(visitor.statuses) == {200}
    assert visitor.statuses[200] >= 1


def test_bodies_that_are_held_open_take_no_more_than_their_room(server: ServerProcess):
    before = memory_of(pid(server))
    attacker = start("bodies-held", Order(server.port, OPEN.digest, 60, 3.0))  # 114 MB in all
    honest = run("honest", Order(server.port, OPEN.digest, 2, 2.0))
    held = memory_of(pid(server)) - before
    seen_by(attacker)
    assert set(honest.statuses) == {200}
    assert held < 60


BURST = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 7000


def most_memory(server: ServerProcess) -> float:
    """Return the most MiB that the collector ever had."""
    lines = Path(f"/proc/{pid(server)}/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 2**10


@pytest.mark.parametrize("pipelined", [2, 10**9], ids=["as it is", "the twin without a limit"])
def test_requests_that_nobody_waits_for_make_no_work(pipelined: int, tmp_path: Path):
    settings, bounded = f"[limits]\npipelined = {pipelined}\n", pipelined == 2
    store = f"sqlite:///{tmp_path / 'gauge.db'}"
    with ServerProcess(tmp_path, store, settings=settings) as server, ExitStack() as stack:
        before = most_memory(server)
        for _ in range(20 if bounded else 5):
            connection = stack.enter_context(create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            try:
                connection.sendall(BURST)
                closed = b"" if not bounded else connection.recv(1)
            except (BrokenPipeError, ConnectionResetError):
                closed = b""
            assert closed == b""
        assert ask(server, "GET", "/healthz")[0] == 200
        assert (most_memory(server) - before < 10) is bounded


def test_a_few_requests_at_once_are_answered_in_order(server: ServerProcess):
    paths = [b"/nowhere", b"/healthz"]
    with create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        asked = [b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n" for path in paths]
        connection.sendall(b"\r\n".join(asked) + b"Connection: close\r\n\r\n")
        told = b""
        while more := connection.recv(4096):
            told += more
    assert [part[:3] for part in told.split(b"HTTP/1.1 ")[1:]] == [b"404", b"200"]


HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"


def test_headers_have_a_largest_size_however_they_come(server: ServerProcess):
    fits, large = b"X: " + b"y" * 8000, b"X: " + b"y" * 60_000
    many = b"".join(b"X%d: y\r\n" % n for n in range(200))
    assert raw(server, HEAD + fits + b"\r\n\r\n") == b"HTTP/1.1 200 OK"
    for parts in (
        [HEAD + large + b"\r\n\r\n"],
        [HEAD, large[:30_000], large[30_000:] + b"\r\n\r\n"],
        [HEAD + many + b"\r\n"],
        [b"GET /healthz?" + b"z" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"],
    ):
        assert raw(server, *parts)[:12] == b"HTTP/1.1 431", parts[0][:40]
    trailers = b"POST /studies HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + many + b"\r\n"
    assert raw(server, trailers)[9:12] in (b"401", b"431", b"")
    assert raw(server, HEAD + fits[:4000], fits[4000:] + b"\r\n\r\n") == b"HTTP/1.1 200 OK"


@pytest.mark.parametrize("origin", ["http://[", "http://]", "http://[::1", "null", "\xff", "//["])
@pytest.mark.parametrize("path", ["/sign-in", "/sign-out", "/operator/publish", "/operator/close"])
def test_no_origin_is_a_fault(server: ServerProcess, path: str, origin: str):
    form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n"
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nOrigin: {origin}\r\n{form}\r\n"
    assert raw(server, head.encode("latin-1"))[9:12] in (b"403", b"401", b"429")


def test_a_stranger_s_form_is_short_or_not_read(server: ServerProcess):
    form = b"Host: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\n"
    assert raw(server, b"POST /sign-in HTTP/1.1\r\n" + form)[9:12] == b"413"
    assert raw(server, b"POST /operator/publish HTTP/1.1\r\n" + form)[9:12] in (b"401", b"429")


@pytest.mark.parametrize("seed", [1, 2])
def test_no_request_is_a_fault(server: ServerProcess, seed: int):
    found = asyncio.run(fuzz(server.port, OPEN.digest, random.Random(seed), requests=1000, seconds=PATIENCE))
    assert [status for status in found if status >= 500 and status not in (503, 507)] == []
    assert found.total() >= 500
    assert len(found) > 4
    assert ask(server, "GET", "/readyz")[0] == 200
    assert b'"fault"' not in server.log.read_bytes()
