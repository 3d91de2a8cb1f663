"""A connection that must hurry up.

uvicorn keeps half-sent requests open for as long as the sender likes, reads headers of any size and number, makes work
of every request that is sent before the last one is answered, and holds a response for as long as nobody reads it.
Here every request has a deadline from its first byte to its last, which no byte in between moves; headers have a size
and a number; so many requests of a connection wait for their answers and no more; bodies come in pieces of a sensible
size; what all connections hold together has a size: headers, bodies, and responses that nobody reads; whoever stops
reading is dropped; and when there are too many connections the one that has waited longest for the other side makes
room: whoever sends whole requests is served.
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Any, ClassVar

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from fairgauge.server.problems import MEDIA_TYPE, Problem
from fairgauge.server.server_config import ConnectionLimits

_SWEEP_SECONDS = 0.5
# A body may have so many pieces, and one more for each so many bytes: each costs about as much as a small request.
# The first of what is read at once is not counted, since it is the network that cuts there.
_MOST_PIECES = 1000
_MOST_HEADERS = 64  # each takes a few microseconds, and more memory than its bytes
_REQUEST_BYTES = 4096  # what a request takes in memory beside its address, headers and body
_HEADER_BYTES = 160  # what a header takes beside its own bytes
_COPIES = 3  # of an address and headers: as they came, decoded, and in what is made of them
GONE = "fairgauge.gone"  # in the scope of a request whose sender has left


class _Peers:
    """The connections of one server; those that wait for the other side, the longest waiting first."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.waiting: dict[HurriedProtocol, float] = {}  # insertion order is the order of deadlines, roughly
        self.asked: dict[HurriedProtocol, None] = {}  # whose request is complete, in that order
        self.evicted = 0
        self.timed_out = 0
        self._sweeping: asyncio.TimerHandle | None = None
        self._received = 0

    def received(self, count: int, connections: Iterable["HurriedProtocol"]) -> None:
        """Count bytes that are held; from time to time see how many, and drop those who have the most.

        A body is held here until it is asked for, which it may never be, headers until the request is answered, and a
        response until it is read.  Bodies of answers are counted again where they are read.
        """
        self._received += count
        if self._received < self.limits.held_bytes // 4:
            return
        self._received = 0
        held = {one: one.held_bytes() for one in connections}
        total = sum(held.values())
        for one in sorted(held, key=held.__getitem__, reverse=True):
            if total <= self.limits.held_bytes:
                return
            total -= held[one]
            self.evicted += 1
            one.drop()

    def wait_for(self, connection: "HurriedProtocol", seconds: float) -> None:
        """Give the other side so many seconds to send a complete request, or to read what it was sent."""
        self.waiting.pop(connection, None)
        self.waiting[connection] = connection.loop.time() + seconds
        if self._sweeping is None:
            self._sweeping = connection.loop.call_later(_SWEEP_SECONDS, self._sweep, connection.loop)

    def make_room(self, connections: int) -> None:
        """Close the connection that has waited longest, if there are too many: for the other side, or for its turn.

        Whoever is told nothing yet waits for its turn, as those do who guess tokens: if no other side is waited for but
        the newcomer's, the one that has done so longest makes room.  Answers take milliseconds.
        """
        if connections <= self.limits.connections or not self.waiting:
            return
        oldest = next(iter(self.waiting))
        if len(self.waiting) == 1:
            oldest = next((one for one in self.asked if not one.cycle.response_started), oldest)
        self.evicted += 1
        self.waiting.pop(oldest, None)
        self.asked.pop(oldest, None)
        oldest.drop()

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for connection in [c for c, deadline in self.waiting.items() if deadline < now]:
            del self.waiting[connection]
            self.timed_out += 1
            connection.give_up()
        self._sweeping = loop.call_later(_SWEEP_SECONDS, self._sweep, loop) if self.waiting else None


class HurriedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 with deadlines, a limit on headers and one on requests that wait for an answer."""

    peers: ClassVar[_Peers]
    _header_bytes = 0
    _headers = 0
    _begun_bytes = 0  # that came in since the request began
    _pieces = 0  # of the body, but for those that are not counted
    _body_bytes = 0
    _in_headers = False
    _in_body = False
    _refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock of the first request."""
        super().connection_made(transport)
        self._cycles: deque[RequestResponseCycle] = deque()
        self._weights: deque[int] = deque()  # of their headers, in the same order
        self.peers.wait_for(self, self.peers.limits.read_seconds)
        self.peers.make_room(len(self.connections))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and tell every request on it; uvicorn tells the last one only."""
        self.peers.waiting.pop(self, None)
        self.peers.asked.pop(self, None)
        self._let_go()
        super().connection_lost(exc)

    def _let_go(self) -> None:
        """Let go of everything that nobody will read the answer to; the first request may have begun."""
        for cycle in self._cycles:
            cycle.disconnected = True
            cycle.scope[GONE] = True  # type: ignore[literal-required]
            cycle.body = bytearray()  # nobody will ask for it, but whoever answers keeps the request for a while
        self.pipeline.clear()
        while len(self._cycles) > 1:
            self._cycles.pop()
            self._weights.pop()
        if self._cycles:  # one that waits for the other side to go, as a live page does, is the one that uvicorn tells
            self.cycle = self._cycles[0]

    def drop(self) -> None:
        """Cut the connection off, without a word, and let go at once: that it is lost is told a while later."""
        self._refused = True
        self._let_go()
        self.transport.abort()

    def held_bytes(self) -> int:
        """Return what is held for the other side: headers and bodies of requests that are under way, and responses."""
        last = getattr(self, "cycle", None)  # answered perhaps, and kept until the next one begins
        bodies = sum(len(cycle.body) for cycle in {*self._cycles, last} if cycle is not None)
        begun = self._weight if self._in_headers else 0
        return bodies + begun + sum(self._weights) + self.transport.get_write_buffer_size()

    def data_received(self, data: bytes) -> None:
        """Go on as uvicorn does, unless the request was refused: then the rest of it is dropped."""
        if self._refused:
            return
        self._begun_bytes = self._begun_bytes + len(data) if self._in_headers else len(data)
        self._pieces -= 1
        super().data_received(data)
        if self._in_headers:
            self.peers.received(_COPIES * len(data), self.connections)  # type: ignore[arg-type]
        if self._in_headers and self._begun_bytes > self.peers.limits.header_bytes:  # a header that does not end
            self._refuse_headers()

    def on_url(self, url: bytes) -> None:
        """Count the address as a header."""
        self._header_bytes += len(url)
        self._check_headers()
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count a header, also one that follows a body."""
        self._headers += 1
        self._header_bytes += len(name) + len(value) + 4
        self._check_headers()
        super().on_header(name, value)

    def _check_headers(self) -> None:
        if self._header_bytes > self.peers.limits.header_bytes or self._headers > _MOST_HEADERS:
            self._refuse_headers()
        if self._refused:
            raise HttpParserError  # which the parser hands on, without a look at what follows

    @property
    def _weight(self) -> int:
        """What the request takes in memory whose headers came last, without its body."""
        return _REQUEST_BYTES + _COPIES * self._header_bytes + _HEADER_BYTES * self._headers

    def _refuse_headers(self) -> None:
        if not self._refused:
            rule = f"At most {self.peers.limits.header_bytes} bytes, and {_MOST_HEADERS} headers."
            self._refuse(Problem("headers-too-large", rule))

    def on_body(self, body: bytes) -> None:
        """Count a part of a body, unless there are too many for its size; then the rest is not even parsed.

        Raises:
            HttpParserError: Which the parser hands on, without a look at what follows.
        """
        self._pieces += 1
        self._body_bytes += len(body)
        if not self._refused and self._pieces > _MOST_PIECES + self._body_bytes // _MOST_PIECES:
            rule = f"A body may come in {_MOST_PIECES} pieces, and one more for each {_MOST_PIECES} bytes."
            self._refuse(Problem("bad-request", rule))
        if self._refused:
            raise HttpParserError
        super().on_body(body)
        self.peers.received(len(body), self.connections)  # type: ignore[arg-type]

    def on_message_begin(self) -> None:
        """Start the clock of this request, unless there are too many before it; then the rest is not even parsed.

        Raises:
            HttpParserError: Which the parser hands on, without a look at what follows.
        """
        if not self._refused and len(self._cycles) >= self.peers.limits.pipelined:
            self.peers.evicted += 1
            self.drop()  # responses are on their way, which a refusal would be taken for
        if self._refused:
            raise HttpParserError
        super().on_message_begin()
        self._in_headers, self._header_bytes, self._headers = True, 0, 0
        self._pieces = self._body_bytes = 0
        self._start_clock()

    def on_headers_complete(self) -> None:
        """Headers are done; the clock goes on for the body."""
        if self._refused:
            return
        self._in_headers, self._in_body = False, True
        super().on_headers_complete()
        self._cycles.append(self.cycle)
        self._weights.append(self._weight)
        self.peers.received(self._weight, self.connections)  # type: ignore[arg-type]

    def on_message_complete(self) -> None:
        """Stop the clock: from here on it is the collector who takes time."""
        if self._refused:
            return
        self._in_body = False
        self._begun_bytes = 0  # what else came along belongs to the next request, which is not known to be too large
        if not self.flow.write_paused:
            self.peers.waiting.pop(self, None)
        self.peers.asked.setdefault(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless the rest of this one is still on its way."""
        self._cycles.popleft()
        self._weights.popleft()
        self.peers.asked.pop(self, None)
        super().on_response_complete()
        if not self._in_body and self in self.connections and self not in self.peers.waiting:
            self.peers.wait_for(self, self.peers.limits.idle_seconds)

    def pause_writing(self) -> None:
        """Start the clock of a response that nobody reads."""
        super().pause_writing()
        self.peers.wait_for(self, self.peers.limits.read_seconds)
        self.peers.received(self.transport.get_write_buffer_size(), self.connections)  # type: ignore[arg-type]

    def resume_writing(self) -> None:
        """Stop it, now that the response is being read; the clock of a request that is on its way goes on."""
        super().resume_writing()
        if self._in_headers or self._in_body:
            return
        self.peers.waiting.pop(self, None)
        if self.cycle.response_complete:
            self.peers.wait_for(self, self.peers.limits.idle_seconds)

    def give_up(self) -> None:
        """End a connection whose request did not arrive in time, or whose response was not read."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()  # closing would wait for it to be read
        elif self._in_headers or (self._in_body and not self.cycle.response_started):
            self._refuse(Problem("too-slow", f"A request must arrive within {self.peers.limits.read_seconds:g} s."))
        elif not self.transport.is_closing():
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Say that this is no request, unless more was said already."""
        if not self._refused:
            super().send_400_response(msg)

    def _start_clock(self) -> None:
        """Start the clock of a request; whoever does not read what they were sent gains no time by asking for more."""
        if not self.flow.write_paused:
            self.peers.wait_for(self, self.peers.limits.read_seconds)

    def _refuse(self, problem: Problem) -> None:
        self._refused = True
        if self.transport.is_closing():
            return
        if len(self._cycles) > (self._in_body and not self.cycle.response_started):
            self.transport.abort()  # a response is on its way, which this would be taken for
            return
        body = problem.to_bytes()
        head = f"HTTP/1.1 {problem.status} {problem.title}\r\ncontent-type: {MEDIA_TYPE}\r\n"
        head += f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()
        self.peers.wait_for(self, self.peers.limits.read_seconds)  # to read this


def make_protocol(limits: ConnectionLimits) -> tuple[type[HurriedProtocol], _Peers]:
    """Return the protocol for one server, and the peers that it keeps."""
    peers = _Peers(limits)
    members: dict[str, Any] = {"peers": peers}
    return type("ServerProtocol", (HurriedProtocol,), members), peers
