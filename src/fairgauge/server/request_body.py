"""Bodies of requests, read no further than allowed, and counted as they come in."""

from collections.abc import Callable
from functools import lru_cache

from starlette.types import Receive, Scope

from fairgauge.server.server_errors import BadMediaType, BrokenOff, TooLarge


def _nothing(_part: bytes) -> None:
    """Let a part of a body pass."""


async def read_body(scope: Scope, receive: Receive, most: int, meter: Callable[[bytes], None] = _nothing) -> bytes:
    """Read a body of at most so many bytes.

    Args:
        scope: The request.
        receive: Gives the next part.
        most: How many bytes are read at most.
        meter: Is shown every part before the next one is read, and may refuse the rest.

    Raises:
        TooLarge: As soon as it is known to be longer.
        BadMediaType: If it is compressed.
        BrokenOff: If the connection ends before it.
    """
    for name, value in scope["headers"]:
        if name == b"content-length" and (not value.isdigit() or int(value) > most):
            raise _too_large(most)
        if name == b"content-encoding" and value.lower() != b"identity":
            raise BadMediaType("A body must not be compressed.")
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BrokenOff("The connection was closed before the body was complete.")
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_large(most)
        meter(part)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def media_type(scope: Scope) -> str:
    """Return the media type of a body, without its parameters."""
    for name, value in scope["headers"]:
        if name == b"content-type":
            return _kind(value)
    return ""


@lru_cache(maxsize=64)
def _kind(value: bytes) -> str:
    return value.decode("latin-1").partition(";")[0].strip().lower()


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"At most {most} bytes are taken here.")
