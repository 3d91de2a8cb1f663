"""One request over HTTP or HTTPS that says nothing about the device, and gives up in time."""

import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPResponse, HTTPSConnection
from io import BufferedReader, RawIOBase
from ipaddress import ip_address
from socket import inet_aton, inet_ntoa, socket
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from fairgauge.errors import CannotSend, InvalidInput

# The operating system's and the library's names and versions would tell devices apart.
_HEADERS = {"User-Agent": "fairgauge", "Accept": "application/json"}
NO_HEADERS: Mapping[str, str] = {}
# How many timeouts a request may take as a whole.
_TIMEOUTS = 3


class Response(NamedTuple):
    """What came back."""

    status: int
    headers: HTTPMessage
    body: bytes


class _HurriedReader(RawIOBase):
    """Reads until a deadline: a socket's own timeout starts anew with every byte."""

    def __init__(self, connected: socket, raw: RawIOBase, deadline: float) -> None:
        self._socket, self._raw, self._deadline = connected, raw, deadline
        self._timeout = connected.gettimeout()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left if self._timeout is None else min(left, self._timeout))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _HurriedResponse(HTTPResponse):
    """A response whose last byte must be here by a deadline, whether it is one of the headers or of the body."""

    def __init__(self, deadline: float, connected: socket, **more: Any) -> None:
        super().__init__(connected, **more)
        self.fp = BufferedReader(_HurriedReader(connected, self.fp.detach(), deadline))


def _hurried(kind: type[HTTPConnection], host: str, *, timeout: float, **more: Any) -> HTTPConnection:
    connection = kind(host, timeout=timeout, **more)
    deadline = time.monotonic() + _TIMEOUTS * timeout
    connection.response_class = partial(_HurriedResponse, deadline)  # type: ignore[assignment]
    return connection


class _Http(HTTPHandler):
    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(_hurried, HTTPConnection), req)


class _Https(HTTPSHandler):
    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(partial(_hurried, HTTPSConnection), req)


class _NoRedirects(HTTPRedirectHandler):
    """Go nowhere else: an answer is for the collector that was named."""

    def redirect_request(self, *_args: object, **_kwargs: object) -> None:
        return None


def check_url(field: str, url: str) -> None:
    """Refuse what is not a plain web address; a password in it would end up in logs."""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
        _ = parts.port
    except ValueError:
        sound = False
    if not sound or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidInput(field, place(url), "must be an address such as https://example.org")


def check_apart(field: str, url: str, collector: str) -> None:
    """Refuse a relay, or an issuer, that is at the collector's own host, or at one that is named within the other.

    Names are compared and not looked up: who asks for the collector's name shows that to whoever answers for it.  Two
    names of one party are not noticed, nor are two ports of this machine, behind which anybody may be.

    Raises:
        InvalidInput: If it is there.
    """
    (own, port), (other, others) = _host(url), _host(collector)
    here = all(name == "localhost" for name in (own, other))
    within = f".{own}".endswith(f".{other}") or f".{other}".endswith(f".{own}")
    if (here and port == others) or (within and not here):
        rule = "must be run by somebody else than the collector, and not at its address"
        raise InvalidInput(field, place(url), rule)


def _host(url: str) -> tuple[str, int | None]:
    """Return where an address leads, in one form, and its port.

    >>> _host("http://0x7f.1:8642"), _host("https://Collector.Example./studies"), _host("https://[::ffff:192.0.2.1]")
    (('localhost', 8642), ('collector.example', 443), ('192.0.2.1', 443))
    """
    parts = urlsplit(url)
    name = (parts.hostname or "").rstrip(".")
    with suppress(OSError):  # 127.1 and 0x7f000001 are addresses, too
        name = inet_ntoa(inet_aton(name))
    with suppress(ValueError):
        number = ip_address(name)
        number = getattr(number, "ipv4_mapped", None) or number
        name = "localhost" if number.is_loopback or number.is_unspecified else str(number)
    usual = {"http": 80, "https": 443}[parts.scheme]
    return ("localhost" if name.endswith(".localhost") else name), parts.port or usual


def request(
    url: str, *, body: bytes | None = None, headers: Mapping[str, str] = NO_HEADERS, timeout: float, most: int
) -> Response:
    """Ask once: GET, or POST if there is a body.

    Args:
        url: The address.
        body: What to post: JSON, unless the headers say otherwise.
        headers: More headers.
        timeout: Seconds that the other side may be silent; a reply must be here as a whole three times as long after
            the start, however it drips.
        most: How many bytes are read; what comes after them is left.

    Raises:
        CannotSend: If nothing came back.  A status such as 404 is something.
    """
    headers = {**_HEADERS, **({} if body is None else {"Content-Type": "application/json"}), **headers}
    opener = build_opener(_NoRedirects, _Http, _Https)
    opener.addheaders = []
    problem: Exception
    try:
        try:
            response = opener.open(Request(url, body, headers), timeout=timeout)  # noqa: S310 - see check_url
        except HTTPError as error:
            response = error
        with response:
            return Response(response.status, response.headers, _read(response, most))
    except (OSError, HTTPException, ValueError) as caught:
        problem = caught
    raise CannotSend(f"{place(url)} does not answer ({_reason(problem)})")


def place(url: str) -> str:
    """Return the part of an address that may be shown: paths and queries can hold secrets."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.hostname or ''}" + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return "the address"


def _read(response: HTTPError, most: int) -> bytes:
    """Read up to a number of bytes, also of a response that is cut off."""
    found = b""
    while len(found) < most and (part := response.read1(most - len(found))):
        found += part
    return found


def _reason(problem: Exception) -> str:
    """Return what went wrong, in the words of the operating system where it has any."""
    cause = getattr(problem, "reason", problem)
    return str(getattr(cause, "strerror", None) or cause or type(cause).__name__)
