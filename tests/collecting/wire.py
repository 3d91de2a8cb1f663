"""A small HTTP/1.1 client on a raw connection: fast enough to load a server, and open to bad manners."""

import asyncio
from types import TracebackType


class Wire:
    """One kept-alive connection to a server on this machine."""

    def __init__(self, port: int, *, host: str = "127.0.0.1") -> None:
        self._host, self._port = host, port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> "Wire":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()
        self._reader = self._writer = None

    async def request(
        self, method: str, path: str, body: bytes = b"", *, kind: str = "application/json", token: str = ""
    ) -> tuple[int, bytes]:
        """Send a request and return status and body; the connection is made anew when it is gone.

        Raises:
            OSError, EOFError: If it breaks before the response is complete.
        """
        bearer = f"Authorization: Bearer {token}\r\n" if token else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\n{bearer}"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        try:
            return await self._exchange(head.encode() + body)
        except BaseException:
            self.close()
            raise

    async def _exchange(self, data: bytes) -> tuple[int, bytes]:
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        self._writer.write(data)
        head = await self._reader.readuntil(b"\r\n\r\n")
        status, size, chunked = int(head[9:12]), 0, False
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
            chunked |= name.lower() == b"transfer-encoding"
        body = await (self._chunks() if chunked else self._reader.readexactly(size))
        if b"connection: close" in head.lower():
            self.close()
        return status, body

    async def _chunks(self) -> bytes:
        assert self._reader is not None
        parts = []
        while True:
            size = int(await self._reader.readuntil(b"\r\n"), 16)
            parts.append((await self._reader.readexactly(size + 2))[:-2])
            if size == 0:
                return b"".join(parts)


def answer_bytes(study: str, id_: bytes, symbol: int) -> bytes:
    """Return an answer as clients send it."""
    return f'{{"id":"{id_.hex()}","study":"{study}","symbol":{symbol}}}'.encode()
