"""The collector as a gateway of Oblivious HTTP (RFC 9458): it opens envelopes, and never sees who sent them.

Whoever relays is the only sender that the collector has.  So limits for each sender would make no sense here, and there
are none: all envelopes together have a rate, which is charged before one is opened, and what is inside is then charged
as if it had come by itself.
Its routes are ``/.well-known/ohttp-gateway`` (RFC 9540).
"""

import asyncio
import json
import re
from collections.abc import Collection, Iterable, MutableMapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message as AsgiMessage
from starlette.types import Scope

from fairgauge.errors import InvalidInput
from fairgauge.server.problems import MEDIA_TYPE, OTHER_KEY, Problem
from fairgauge.server.request_body import media_type, read_body
from fairgauge.server.secrets_folder import read_or_make_secret
from fairgauge.server.server_errors import BadMediaType
from fairgauge.unlinkable.binary_http import Message, read_request, write_response
from fairgauge.unlinkable.oblivious_http import (
    KEYS_TYPE,
    REQUEST_TYPE,
    RESPONSE_TYPE,
    SEALED_REQUEST,
    SIZE,
    KeyConfig,
    Opened,
    open_request,
)

_FILE, _FORMER = "gateway.key", "gateway-{}.key"
_KEY_BYTES = 32
# What may be asked in an envelope: all that a device needs to answer.
_ASKED = re.compile(rb"POST /studies/[0-9a-f]{64}/answers|GET /studies/(directory|[0-9a-f]{64}(/status)?)")
_FINE = 200
_TOLD = (b"content-type", b"retry-after")
_TAKEN = (b"accept", b"authorization", b"content-type")


class Gateway:
    """Opens requests and seals responses, all of one size.

    A study names one key for as long as it runs, so that no key tells people apart.  A gateway whose key is rotated
    keeps those of before, each until the last study that names it is closed.
    """

    def __init__(self, secret: bytes, former: Iterable[bytes] = ()) -> None:
        self.config = KeyConfig.of(secret)
        every = ((KeyConfig.of(one), one) for one in (*former, secret))
        self._keys = {config.number: (one, config) for config, one in every}

    @classmethod
    def in_folder(cls, folder: Path) -> "Gateway":
        """Use the keys in a folder of secrets, and make one if there is none."""
        now = read_or_make_secret(folder, _FILE, _KEY_BYTES)
        return cls(now, [path.read_bytes() for path in sorted(folder.glob(_FORMER.format("*")))])

    @property
    def named(self) -> frozenset[str]:
        """The keys that this gateway has, as studies name them."""
        return frozenset(config.to_text() for _, config in self._keys.values())

    @classmethod
    def rotate(cls, folder: Path) -> "Gateway":
        """Make a new key; the one of before is kept beside it, for studies that name it."""
        before = cls.in_folder(folder)
        (folder / _FILE).rename(folder / _FORMER.format(f"{before.config.number:02x}"))
        while KeyConfig.of(read_or_make_secret(folder, _FILE, _KEY_BYTES)).number in before._keys:
            (folder / _FILE).unlink()  # its number is taken, by which envelopes are told apart
        return cls.in_folder(folder)

    @classmethod
    def forget(cls, folder: Path, named: Collection[str | None]) -> "Gateway":
        """Remove keys of before that no study names any more: envelopes that somebody recorded stay shut."""
        for path in folder.glob(_FORMER.format("*")):
            if KeyConfig.of(path.read_bytes()).to_text() not in named:
                path.unlink()
        return cls.in_folder(folder)

    def keys(self) -> bytes:
        """Return the key configuration as it is fetched: a list of one, with its length."""
        config = self.config.to_bytes()
        return len(config).to_bytes(2, "big") + config

    def open(self, data: bytes) -> Opened:
        """Open an envelope.

        Raises:
            InvalidInput: If it is not sealed for this gateway.
        """
        secret, config = self._keys.get(data[0] if data else -1, (b"", None))
        if config is None:
            raise InvalidInput("key", data[:1].hex(), "must be the number of a key that this gateway has")
        return open_request(secret, config, data)


def _inner_scope(opened: Opened, outer: Scope) -> tuple[Scope, bytes] | Problem:
    """Return the request in an envelope as the application takes it, or what is wrong with it."""
    try:
        message = read_request(opened.data)
    except InvalidInput as error:
        return Problem("bad-request", str(error))
    method, _scheme, _authority, path = message.start
    if not _ASKED.fullmatch(method + b" " + path):
        return Problem("not-found", "An envelope may hold an answer, or ask for a study, its status, or the directory.")
    headers = [(name.lower(), value) for name, value in message.headers if name.lower() in _TAKEN]
    scope: Scope = {
        "type": "http",
        "asgi": outer["asgi"],
        "http_version": "1.1",
        "method": method.decode(),
        "scheme": "https",
        "path": path.decode(),
        "raw_path": path,
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "server": None,
        "client": None,
    }
    return scope, message.content


class _Caught:
    """Catches what the application sends for the request in an envelope."""

    def __init__(self, content: bytes) -> None:
        self._content, self._given = content, False
        self.status = 500
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""

    async def receive(self) -> MutableMapping[str, Any]:
        """Give the request's body, once; nobody hangs up after that."""
        if self._given:
            await asyncio.Event().wait()
        self._given = True
        return {"type": "http.request", "body": self._content, "more_body": False}

    async def send(self, message: AsgiMessage) -> None:
        """Keep a part of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = [(name, value) for name, value in message["headers"] if name.lower() in _TOLD]
        else:
            self.body += message.get("body", b"")

    @classmethod
    def of(cls, problem: Problem) -> "_Caught":
        """Return a response that tells a problem."""
        found = cls(b"")
        found.status, found.body = problem.status, problem.to_bytes()
        found.headers = [(b"content-type", MEDIA_TYPE.encode())]
        return found

    def to_bytes(self) -> bytes:
        """Return the response, padded to the size that all have; a study or the directory to a power of two above it.

        What went wrong never has another size than what went well: a problem that is too long loses its body.
        """
        message = Message((str(self.status).encode(),), tuple(self.headers), self.body)
        size = max(SIZE, 1 << (len(write_response(message)) - 1).bit_length())
        if size > SIZE and self.status != _FINE:
            return write_response(Message(message.start), size=SIZE)
        return write_response(message, size=size)


_OTHER_KEY = json.dumps(
    {
        "type": OTHER_KEY,
        "title": "key identifier unknown",
        "status": 400,
        "detail": "Take the key that the study names; /.well-known/ohttp-gateway shows all that are taken.",
    }
).encode()
_NOT_KEPT = {"Cache-Control": "private, no-store"}


async def show_keys(request: Request) -> Response:
    """Show the gateway's key configuration; a device takes it from the study, and compares nothing else."""
    return Response(_gateway_of(request).keys(), 200, {"Cache-Control": "public, max-age=3600"}, KEYS_TYPE)


async def take_envelope(request: Request) -> Response:
    """Open an envelope, do what it asks, and seal the response."""
    if media_type(request.scope) != REQUEST_TYPE:
        raise BadMediaType(f"Send {REQUEST_TYPE}.")
    body = await read_body(request.scope, request.receive, SEALED_REQUEST)
    try:
        opened = _gateway_of(request).open(body)
    except InvalidInput as error:
        if error.field != "key":
            raise
        return Response(_OTHER_KEY, 400, _NOT_KEPT, MEDIA_TYPE)
    # From here on whatever is said is said in an envelope, also what is wrong: a relay must not learn it.
    found = _inner_scope(opened, request.scope)
    if isinstance(found, Problem):
        caught = _Caught.of(found)
    else:
        scope, content = found
        caught = _Caught(content)
        await request.scope["app"](scope, caught.receive, caught.send)
    return Response(opened.seal_response(caught.to_bytes()), 200, _NOT_KEPT, RESPONSE_TYPE)


def _gateway_of(request: Request) -> Gateway:
    found: Gateway = request.scope["app"].collector.gateway
    return found
