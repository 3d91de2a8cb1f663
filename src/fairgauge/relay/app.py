"""The relay: takes an envelope, hands it to the gateway without anything about its sender, and hands the reply back.

It is for tests and small set-ups.  It must be run by somebody else than the collector: whoever runs both sees addresses
and answers.  It keeps nothing, logs no request, and passes on no header of a sender's.
"""

import asyncio
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Lock
from urllib.parse import urlsplit

from starlette.types import Receive, Scope, Send

from fairgauge.client.web import check_url
from fairgauge.collector.bodies import media_type, read_body
from fairgauge.collector.logs import log_fault
from fairgauge.collector.problems import MEDIA_TYPE, Problem, problem_of
from fairgauge.collector.rates import Rate
from fairgauge.collector.refusals import BadMediaType, Busy, TooMany
from fairgauge.envelopes.oblivious import REQUEST_TYPE, RESPONSE_TYPE, WELL_KNOWN
from fairgauge.errors import FairgaugeError

LARGEST = 8192
CARRIED = 2000.0  # envelopes a second
AT_ONCE = 64
SECONDS = 20.0
_SHARED = [(b"access-control-allow-origin", b"*"), (b"cache-control", b"private, no-store")]
_PREFLIGHT = [
    *_SHARED,
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"Content-Type"),
    (b"access-control-max-age", b"86400"),
]
Reply = tuple[int, str, bytes]


class Relay:
    """Carries envelopes to one gateway.

    Args:
        to: The collector's address; its gateway is at the well-known place, unless the address has a path of its own.

    Raises:
        InvalidInput: If the address is none.
    """

    def __init__(self, to: str) -> None:
        check_url("to", to)
        parts = urlsplit(to)
        self._kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._place = parts.netloc
        self._path = parts.path if parts.path.strip("/") else WELL_KNOWN
        self._idle: list[HTTPConnection] = []
        self._lock = Lock()
        self._rate = Rate(CARRIED)
        self._under_way = 0

    def close(self) -> None:
        """Let go of the connections that are kept for the next envelope."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = [*_SHARED]
        try:
            if scope["method"] == "OPTIONS":
                status, kind, body, headers = 204, "", b"", [*_PREFLIGHT]
            else:
                status, kind, body = await self._answer(scope, receive)
        except Exception as error:  # noqa: BLE001 - whatever happens, the sender is told, and nothing is said of it
            if not isinstance(error, FairgaugeError):
                log_fault(error)
            problem = problem_of(error)
            status, kind, body = problem.status, MEDIA_TYPE, problem.to_bytes()
            headers += [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
        headers += [(b"content-length", str(len(body)).encode())]
        headers += [(b"content-type", kind.encode())] if kind else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _answer(self, scope: Scope, receive: Receive) -> Reply:
        if scope["method"] == "GET" and scope["path"] == "/healthz":
            return 200, "application/json", b'{"status":"alive"}'
        if scope["method"] != "POST":
            problem = Problem("bad-method", "A relay takes envelopes with POST.")
            return problem.status, MEDIA_TYPE, problem.to_bytes()
        if seconds := self._rate.take():
            raise TooMany("There is a limit on how many envelopes a second are carried.", seconds)
        if media_type(scope) != REQUEST_TYPE:
            raise BadMediaType(f"Send {REQUEST_TYPE}.")
        envelope = await read_body(scope, receive, LARGEST)
        if self._under_way >= AT_ONCE:
            raise Busy("As many envelopes as fit are on their way.", 1)
        self._under_way += 1
        try:
            return await asyncio.to_thread(self._carry, envelope)
        finally:
            self._under_way -= 1

    def _carry(self, envelope: bytes) -> Reply:
        """Hand an envelope over, on a connection that was used before if there is one."""
        with self._lock:
            kept = self._idle.pop() if self._idle else None
        if kept is not None:
            with suppress(OSError, HTTPException):  # the gateway may have closed it meanwhile
                return self._post(kept, envelope)
            kept.close()
        fresh = self._kind(self._place, timeout=SECONDS)
        try:
            return self._post(fresh, envelope)
        except (OSError, HTTPException):
            fresh.close()
        problem = Problem("store-away", "The gateway does not answer.", {"Retry-After": "5"})
        return problem.status, MEDIA_TYPE, problem.to_bytes()

    def _post(self, connection: HTTPConnection, envelope: bytes) -> Reply:
        connection.request("POST", self._path, envelope, {"Content-Type": REQUEST_TYPE})
        response = connection.getresponse()
        body = response.read(LARGEST + 1)
        if len(body) > LARGEST:
            raise HTTPException
        if response.will_close:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)
        good = response.status == 200 and response.headers.get_content_type() == RESPONSE_TYPE
        return (200, RESPONSE_TYPE, body) if good else (_passed(response.status), MEDIA_TYPE, body)


def _passed(status: int) -> int:
    """Return the status for something that is not a gateway's reply: it must not be taken for one."""
    return status if 400 <= status <= 599 else 502
