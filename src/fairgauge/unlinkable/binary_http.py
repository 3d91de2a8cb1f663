"""HTTP messages as bytes (RFC 9292): what is inside an envelope.

We write messages of known length and pad them with zeros.  We read those of unknown length too: others write them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from fairgauge.errors import InvalidInput

_Headers = tuple[tuple[bytes, bytes], ...]

_KNOWN_REQUEST, _KNOWN_RESPONSE, _OPEN_REQUEST, _OPEN_RESPONSE = range(4)
_BAD = "must be a binary HTTP message (RFC 9292)"


@dataclass(frozen=True, slots=True)
class Message:
    """A request or a response.

    Args:
        start: ``(method, scheme, authority, path)`` of a request, ``(status,)`` of a response.
        headers: Names in lower case, and values.
        content: The body.
    """

    start: tuple[bytes, ...]
    headers: _Headers = ()
    content: bytes = field(default=b"", repr=False)

    @property
    def status(self) -> int:
        """The status of a response."""
        return int(self.start[0])


def write_request(message: Message, *, size: int = 0) -> bytes:
    """Return a request as bytes, padded with zeros to a size if one is given.

    Raises:
        InvalidInput: If it does not fit.
    """
    head = b"".join(_text(part) for part in message.start)
    return _padded(_number(_KNOWN_REQUEST) + head + _rest(message), size)


def write_response(message: Message, *, size: int = 0) -> bytes:
    """Return a response as bytes, padded as :func:`write_request` does."""
    return _padded(_number(_KNOWN_RESPONSE) + _number(message.status) + _rest(message), size)


def read_request(data: bytes) -> Message:
    """Read a request.

    Raises:
        InvalidInput: If it is malformed.
    """
    reader = _Reader(data)
    kind = reader.number()
    if kind not in (_KNOWN_REQUEST, _OPEN_REQUEST):
        raise _bad(data)
    start = tuple(reader.text() for _ in range(4))
    return Message(start, *_read_rest(reader, known=kind == _KNOWN_REQUEST))


def read_response(data: bytes) -> Message:
    """Read a response; those that only inform are passed over."""
    reader = _Reader(data)
    kind = reader.number()
    if kind not in (_KNOWN_RESPONSE, _OPEN_RESPONSE):
        raise _bad(data)
    known = kind == _KNOWN_RESPONSE
    while 100 <= (status := reader.number()) < 200:
        _fields(reader, known=known)
    if not 200 <= status <= 599:
        raise _bad(data)
    return Message((str(status).encode(),), *_read_rest(reader, known=known))


class _Reader:
    """Reads a message from its start; after its end there is nothing but zeros."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def over(self) -> bool:
        return self._at == len(self._data)

    def take(self, count: int) -> bytes:
        found = self._data[self._at : self._at + count]
        if len(found) < count:
            raise _bad(self._data)
        self._at += count
        return found

    def number(self) -> int:
        """Read an integer as QUIC writes it (RFC 9000): the first two bits say how many bytes it has."""
        first = self.take(1)[0]
        size = 1 << (first >> 6)
        return int.from_bytes(bytes([first & 0x3F]) + self.take(size - 1), "big")

    def text(self) -> bytes:
        return self.take(self.number())

    def check_end(self) -> None:
        if self._data[self._at :].strip(b"\0"):
            raise _bad(self._data)


def _read_rest(reader: _Reader, *, known: bool) -> tuple[_Headers, bytes]:
    """Read headers, body and trailers; each of them may be left out at the end of a message."""
    headers = _fields(reader, known=known)
    content = b""
    if not reader.over:
        content = reader.text() if known else b"".join(_chunks(reader))
    _fields(reader, known=known)  # trailers, which nobody here uses
    reader.check_end()
    return headers, content


def _fields(reader: _Reader, *, known: bool) -> _Headers:
    if reader.over:
        return ()
    if not known:
        found = []
        while name := reader.text():
            found.append((name, reader.text()))
        return tuple(found)
    section = _Reader(reader.text())
    found = []
    while not section.over:
        found.append((section.text(), section.text()))
    return tuple(found)


def _chunks(reader: _Reader) -> Iterator[bytes]:
    while chunk := reader.text():
        yield chunk


def _rest(message: Message) -> bytes:
    headers = b"".join(_text(part) for pair in message.headers for part in pair)
    return _text(headers) + _text(message.content) + _text(b"")


def _text(data: bytes) -> bytes:
    return _number(len(data)) + data


def _number(value: int) -> bytes:
    """Return an integer as QUIC writes it.

    >>> _number(200).hex()
    '40c8'
    """
    for power, size in enumerate((1, 2, 4, 8)):
        if value < 1 << (8 * size - 2):
            return (value | power << (8 * size - 2)).to_bytes(size, "big")
    raise InvalidInput("length", value, "must be below 2^62")


def _padded(data: bytes, size: int) -> bytes:
    if size and len(data) > size:
        raise InvalidInput("message", f"{len(data)} bytes", f"must be at most {size} bytes")
    return data.ljust(size, b"\0")


def _bad(data: bytes) -> InvalidInput:
    return InvalidInput("message", f"{len(data)} bytes", _BAD)
