"""Bodies of requests, read no further than allowed."""

from starlette.types import Receive, Scope

from fairgauge.collector.refusals import BadMediaType, BrokenOff, TooLarge


async def read_body(scope: Scope, receive: Receive, most: int) -> bytes:
    """Read a body of at most so many bytes.

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
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BrokenOff("The connection was closed before the body was complete.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return b"".join(parts)


def media_type(scope: Scope) -> str:
    """Return the media type of a body, without its parameters."""
    for name, value in scope["headers"]:
        if name == b"content-type":
            kind: str = value.decode("latin-1").partition(";")[0].strip().lower()
            return kind
    return ""


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"At most {most} bytes are taken here.")
