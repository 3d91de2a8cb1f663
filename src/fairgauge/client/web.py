"""One request over HTTP or HTTPS that says nothing about the device, and gives up in time."""

import time
from http.client import HTTPException, HTTPMessage
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from fairgauge.errors import CannotSend, InvalidInput

# The operating system's and the library's names and versions would tell devices apart.
HEADERS = {"User-Agent": "fairgauge", "Accept": "application/json"}


class Response(NamedTuple):
    """What came back."""

    status: int
    headers: HTTPMessage
    body: bytes


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


def request(url: str, *, body: bytes | None = None, timeout: float, most: int) -> Response:
    """Ask once: GET, or POST if there is a body.

    Args:
        url: The address.
        body: JSON to post.
        timeout: Seconds that the other side may be silent; as a whole, reading may take three times as long.
        most: How many bytes are read; what comes after them is left.

    Raises:
        CannotSend: If nothing came back.  A status such as 404 is something.
    """
    headers = HEADERS if body is None else {**HEADERS, "Content-Type": "application/json"}
    opener = build_opener(_NoRedirects)
    opener.addheaders = []
    problem: Exception
    try:
        try:
            response = opener.open(Request(url, body, headers), timeout=timeout)  # noqa: S310 - see check_url
        except HTTPError as error:
            response = error
        with response:
            return Response(response.status, response.headers, _read(response, 3 * timeout, most))
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


def _read(response: HTTPError, seconds: float, most: int) -> bytes:
    """Read up to a number of bytes from a server that may send them one by one."""
    deadline, found = time.monotonic() + seconds, b""
    while len(found) < most and (part := response.read1(most - len(found))):
        found += part
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
    return found


def _reason(problem: Exception) -> str:
    """Return what went wrong, in the words of the operating system where it has any."""
    cause = getattr(problem, "reason", problem)
    return str(getattr(cause, "strerror", None) or cause or type(cause).__name__)
