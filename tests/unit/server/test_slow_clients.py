"""What a connection may have under way: requests without an answer, and responses that nobody reads.

Covers: fairgauge.server.slow_clients.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from uvicorn import Config
from uvicorn.protocols.http import httptools_impl
from uvicorn.server import ServerState

from fairgauge.collector.config import CollectorLimits
from fairgauge.server.slow_clients import (
    _COPIES,
    _MOST_HEADERS,
    _MOST_PIECES,
    _REQUEST_BYTES,
    HurriedProtocol,
    make_protocol,
)

ASK = b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n"
MOST = CollectorLimits().pipelined


class Transport(asyncio.Transport):
    """A connection whose other side reads nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.aborted, self.closing = b"", False, False

    def write(self, data: Any) -> None:
        self.written += data

    def abort(self) -> None:
        self.aborted = self.closing = True

    def close(self) -> None:
        self.closing = True

    def is_closing(self) -> bool:
        return self.closing

    def get_write_buffer_size(self) -> int:
        return len(self.written)

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


async def echo(scope: Any, _receive: Any, send: Any) -> None:
    """Answer with the path."""
    body = scope["path"].encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def connected(limits: CollectorLimits, app: Any = echo) -> Iterator[tuple[HurriedProtocol, Transport]]:
    """A connection to a server of its own."""
    kind, _ = make_protocol(limits)
    config = Config(app, http=kind, ws="none", lifespan="off", log_config=None)
    config.load()
    protocol, transport = kind(config, ServerState(), {}), Transport()
    protocol.connection_made(transport)
    try:
        yield protocol, transport
    finally:  # or what is begun would wait for a reader
        protocol.connection_lost(None)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every request that became work."""
    found: list[Any] = []

    class Counted(httptools_impl.RequestResponseCycle):
        def __init__(self, **how: Any) -> None:
            super().__init__(**how)
            found.append(self)

    monkeypatch.setattr(httptools_impl, "RequestResponseCycle", Counted)
    return found


async def burst(limits: CollectorLimits, count: int) -> tuple[HurriedProtocol, Transport]:
    with connected(limits) as (protocol, transport):
        protocol.data_received(b"".join(ASK % n for n in range(count)))
        for _ in range(10 * MOST):  # whatever was begun goes on
            await asyncio.sleep(0)
    return protocol, transport


def test_a_few_requests_at_once_are_answered_in_order(made: list[Any]):
    _, transport = asyncio.run(burst(CollectorLimits(), MOST))
    bodies = [part.rpartition(b"\r\n\r\n")[2] for part in transport.written.split(b"HTTP/1.1 200 OK")[1:]]
    assert bodies == [b"/%d" % n for n in range(MOST)]
    assert (transport.aborted, len(made)) == (False, MOST)


def test_who_waits_for_the_other_side_to_go_is_told_also_behind_another_request():
    told: list[str] = []

    async def waits(scope: Any, receive: Any, _send: Any) -> None:
        await receive()  # the request itself
        told.append((await receive())["type"])

    async def scene() -> None:
        with connected(CollectorLimits(), waits) as (protocol, _):
            protocol.data_received(ASK % 1 + ASK % 2)
            await asyncio.sleep(0.01)
        for _ in range(100):
            await asyncio.sleep(0)

    asyncio.run(scene())
    assert told == ["http.disconnect"]


@pytest.mark.parametrize("count", [MOST + 1, 5000])
def test_more_requests_than_allowed_make_no_work(count: int, made: list[Any]):
    protocol, transport = asyncio.run(burst(CollectorLimits(), count))
    assert transport.aborted
    assert len(made) == MOST
    assert protocol.peers.evicted == 1
    assert not protocol.pipeline
    assert all(cycle.disconnected or cycle.response_complete for cycle in made)


def test_the_twin_without_a_limit_makes_work_of_them_all(made: list[Any]):
    _, transport = asyncio.run(burst(CollectorLimits(pipelined=10**9), 5000))
    assert (transport.aborted, len(made)) == (False, 5000)


def test_answered_requests_make_room_for_others(made: list[Any]):
    async def run() -> Transport:
        with connected(CollectorLimits(pipelined=2)) as (protocol, transport):
            for n in range(10):
                protocol.data_received(ASK % n + ASK % n)
                while len(made) < 2 * n + 2 or not made[-1].response_complete:
                    await asyncio.sleep(0)
        return transport

    transport = asyncio.run(asyncio.wait_for(run(), 60))
    assert (transport.aborted, len(made)) == (False, 20)


def test_whoever_does_not_read_gains_no_time_by_asking_for_more():
    async def run() -> list[float]:
        with connected(CollectorLimits()) as (protocol, _):
            protocol.data_received(ASK % 0)
            protocol.pause_writing()
            deadlines = [protocol.peers.waiting[protocol]]
            for more in (b"GET / HTTP/1.1\r\n", b"Host: x\r\n\r\n", ASK % 2):
                await asyncio.sleep(0)
                protocol.data_received(more)
                deadlines.append(protocol.peers.waiting[protocol])
            return deadlines

    first, *later = asyncio.run(run())
    assert later == [first] * 3


def test_a_refusal_is_sent_although_more_came_with_it():
    async def run() -> Transport:
        with connected(CollectorLimits(header_bytes=100)) as (protocol, transport):
            protocol.data_received(b"GET / HTTP/1.1\r\nX: " + b"y" * 200 + b"\r\n\r\n" + ASK % 1)
        return transport

    transport = asyncio.run(run())
    assert transport.written.startswith(b"HTTP/1.1 431 ")
    assert transport.written.count(b"HTTP/1.1") == 1
    assert not transport.aborted


BEGIN = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunks(size: int, count: int) -> bytes:
    return b"%x\r\n%b\r\n" % (size, b"x" * size) * count


async def upload(*reads: bytes) -> tuple[int, Transport]:
    """Send a body, and return how many pieces of it were taken before it ended."""
    with connected(CollectorLimits(held_bytes=2**40)) as (protocol, transport):
        taken = 0

        def count(*_: object) -> None:
            nonlocal taken
            taken += protocol._in_body and protocol._body_bytes > 0  # not headers

        protocol.peers.received = count  # type: ignore[assignment,method-assign]
        for read in reads:
            protocol.data_received(read)
    return taken, transport


def test_a_body_in_tiny_pieces_is_refused_and_the_rest_is_not_parsed():
    taken, transport = asyncio.run(upload(BEGIN, chunks(1, 40_000), chunks(1, 40_000)))
    assert taken <= _MOST_PIECES + 2
    assert transport.written.startswith(b"HTTP/1.1 400 ")
    assert b"1000 pieces" in transport.written
    assert transport.closing


@pytest.mark.parametrize(("size", "count"), [(2**16, 32), (1024, 2048), (100, 1000), (1, 1000)])
def test_a_body_in_sensible_pieces_is_taken(size: int, count: int):
    taken, transport = asyncio.run(upload(BEGIN, chunks(size, count), b"0\r\n\r\n"))
    assert (taken, transport.written, transport.aborted) == (count, b"", False)


def test_what_the_network_cuts_is_not_counted():
    begin = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n"
    taken, transport = asyncio.run(upload(begin, *[b"x"] * 5000))
    assert (taken, transport.written, transport.aborted) == (5000, b"", False)


def test_the_bodies_of_all_requests_on_a_connection_are_counted():
    async def run() -> tuple[HurriedProtocol, Transport]:
        with connected(CollectorLimits(pipelined=3, held_bytes=10_000 + 3 * _REQUEST_BYTES)) as (protocol, transport):
            body = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4000\r\n\r\n" + b"x" * 4000
            protocol.data_received(body + body)
            assert 8000 <= protocol.held_bytes() - 2 * _REQUEST_BYTES < 10_000
            assert not transport.aborted
            protocol.data_received(body)
        return protocol, transport

    protocol, transport = asyncio.run(run())
    assert transport.aborted
    assert protocol.peers.evicted == 1
    assert protocol.held_bytes() - _REQUEST_BYTES < 4000, "an answer being made keeps its request, and no body"


def test_headers_have_a_largest_number_and_the_rest_is_not_parsed():
    async def run(count: int) -> tuple[int, bytes]:
        with connected(CollectorLimits()) as (protocol, transport):
            protocol.data_received(b"GET / HTTP/1.1\r\n" + b"".join(b"a%d:\r\n" % n for n in range(count)))
        return len(protocol.headers), transport.written[:13]

    assert asyncio.run(run(_MOST_HEADERS + 1)) == (_MOST_HEADERS, b"")  # the last one may go on
    assert asyncio.run(run(1000)) == (_MOST_HEADERS, b"HTTP/1.1 431 ")


def test_headers_and_addresses_of_all_connections_have_a_largest_size_together():
    """Each connection has what it may; together they have what the process has room for, and no more."""

    async def run() -> tuple[list[bool], int]:
        kind, _ = make_protocol(CollectorLimits(held_bytes=2**20))
        config = Config(echo, http=kind, ws="none", lifespan="off", log_config=None)
        config.load()
        state, transports, protocols = ServerState(), [], []
        head = b"GET /%b HTTP/1.1\r\nHost: x\r\n" % (b"x" * 4000)
        for n in range(200):
            protocol, transport = kind(config, state, {}), Transport()
            protocol.connection_made(transport)
            # Half of them stop within the headers.
            protocol.data_received(head + b"".join(b"a%d:\r\n" % n for n in range(50)) + b"\r\n" * (n % 2))
            transports.append(transport)
            protocols.append(protocol)
        held = sum(one.held_bytes() for one in protocols if not one.transport.is_closing())
        for protocol in protocols:
            protocol.connection_lost(None)
        return [one.aborted for one in transports], held

    aborted, held = asyncio.run(run())
    assert 0 < held <= 2 * 2**20
    assert 100 < sum(aborted) < 200


def test_responses_that_nobody_reads_are_held_bytes():
    async def run() -> tuple[int, int]:
        with connected(CollectorLimits(held_bytes=4 * 10**6)) as (protocol, transport):
            transport.write(b"x" * 10**6)
            one = protocol.held_bytes()
            transport.write(b"x" * 10**7)
            protocol.pause_writing()
        return one, transport.aborted

    one, aborted = asyncio.run(run())
    assert one >= 10**6
    assert aborted


def test_what_a_connection_held_is_let_go_when_it_is_cut_off():
    """It is told that it is lost a while later only: thousands in one turn would all be held until then."""

    async def run() -> int:
        with connected(CollectorLimits()) as (protocol, transport):
            protocol.data_received(b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n" % (b"x" * 8000) * (MOST + 1))
            assert transport.aborted
            return protocol.held_bytes()

    assert asyncio.run(run()) < 2 * _COPIES * 8000 + _REQUEST_BYTES


def test_those_who_wait_for_their_turn_make_room_for_a_newcomer():
    """All places are taken by requests that nobody answers yet: whoever comes next is not the one to go."""

    async def parked(scope: Any, _receive: Any, send: Any) -> None:
        if scope["path"] == "/export":
            await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(3600)

    async def run() -> list[bool]:
        kind, _ = make_protocol(CollectorLimits(connections=3))
        config = Config(parked, http=kind, ws="none", lifespan="off", log_config=None)
        config.load()
        state, protocols, transports = ServerState(), [], []
        for path in (b"/export", b"/first", b"/second", None):
            protocol, transport = kind(config, state, {}), Transport()
            protocol.connection_made(transport)
            if path is not None:
                protocol.data_received(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n")
                await asyncio.sleep(0)
            protocols.append(protocol)
            transports.append(transport)
        for protocol in protocols:
            protocol.connection_lost(None)
        for task in state.tasks:
            task.cancel()
        return [one.aborted for one in transports]

    assert asyncio.run(run()) == [False, True, False, False]
