"""The relay: takes an envelope, hands it to the gateway without anything about its sender, and hands the reply back.

Who has no study yet, and so no key of the gateway, gets the key from the relay, the same for everyone, and asks for the
study in an envelope: the collector does not see who reads it.

It is for tests and small set-ups.  It must be run by somebody else than the collector: whoever runs both sees addresses
and answers.  It keeps nothing, logs no request, and passes on no header of a sender's.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Lock
from urllib.parse import urlsplit

from starlette.types import Receive, Scope

from fairgauge.client.http_client import check_url
from fairgauge.parties.web_app import Reply, SmallApp, check_type, told
from fairgauge.server.problems import MEDIA_TYPE, Problem
from fairgauge.server.request_body import read_body
from fairgauge.server.server_errors import Busy
from fairgauge.unlinkable.oblivious_http import KEYS_TYPE, REQUEST_TYPE, RESPONSE_TYPE, WELL_KNOWN

_LARGEST = 8192
_LARGEST_REPLY = 2**24 + _LARGEST  # a study, padded
_KEYS_SECONDS = 600.0  # how long a gateway's key is handed out without asking again
_AT_ONCE = 64
_SECONDS = 20.0


class RelayServer(SmallApp):
    """Carries envelopes to one gateway.

    Args:
        to: The collector's address; its gateway is at the well-known place, unless the address has a path of its own.

    Raises:
        InvalidInput: If the address is none.
    """

    def __init__(self, to: str) -> None:
        super().__init__("Content-Type")
        check_url("to", to)
        parts = urlsplit(to)
        self._kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._place = parts.netloc
        self._path = parts.path if parts.path.strip("/") else WELL_KNOWN
        self._idle: list[HTTPConnection] = []
        self._lock = Lock()
        self._under_way = 0
        self._keys: tuple[float, bytes] | None = None

    def close(self) -> None:
        """Let go of the connections that are kept for the next envelope."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    async def answer(self, scope: Scope, receive: Receive) -> Reply:
        """Carry one envelope, or say with which key it is sealed."""
        if scope["method"] == "GET":
            return await self._in_turn(self._gateway_keys)
        if scope["method"] != "POST":
            return told(Problem("bad-method", "A relay takes envelopes with POST."))
        check_type(scope, REQUEST_TYPE)
        envelope = await read_body(scope, receive, _LARGEST)
        return await self._in_turn(partial(self._carry, envelope))

    async def _in_turn(self, work: Callable[[], Reply]) -> Reply:
        if self._under_way >= _AT_ONCE:
            raise Busy("As many envelopes as fit are on their way.", 1)
        self._under_way += 1
        try:
            return await asyncio.to_thread(work)
        finally:
            self._under_way -= 1

    def _gateway_keys(self) -> Reply:
        """Return the gateway's key: asked for seldom, and in nobody's name, so that nobody gets one of their own."""
        now = time.monotonic()
        if self._keys is None or now - self._keys[0] > _KEYS_SECONDS:
            connection = self._kind(self._place, timeout=_SECONDS)
            try:
                connection.request("GET", self._path)
                response = connection.getresponse()
                body = response.read(_LARGEST)
                if response.status != 200 or response.headers.get_content_type() != KEYS_TYPE:
                    return told(Problem("store-away", "The gateway does not give its key."))
            except (OSError, HTTPException):
                return told(Problem("store-away", "The gateway does not answer."))
            finally:
                connection.close()
            self._keys = (now, body)
        return 200, KEYS_TYPE, self._keys[1]

    def _carry(self, envelope: bytes) -> Reply:
        """Hand an envelope over, on a connection that was used before if there is one."""
        with self._lock:
            kept = self._idle.pop() if self._idle else None
        if kept is not None:
            with suppress(OSError, HTTPException):  # the gateway may have closed it meanwhile
                return self._post(kept, envelope)
            kept.close()
        fresh = self._kind(self._place, timeout=_SECONDS)
        try:
            return self._post(fresh, envelope)
        except (OSError, HTTPException):
            fresh.close()
        return told(Problem("store-away", "The gateway does not answer."))

    def _post(self, connection: HTTPConnection, envelope: bytes) -> Reply:
        connection.request("POST", self._path, envelope, {"Content-Type": REQUEST_TYPE})
        response = connection.getresponse()
        body = response.read(_LARGEST_REPLY + 1)
        if len(body) > _LARGEST_REPLY:
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
