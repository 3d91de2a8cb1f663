"""Requests that should not be: bent, cut, oversized and nonsensical ones, over a raw connection."""

import asyncio
import random
import time
from collections import Counter
from contextlib import suppress

from tests.collecting.wire import answer_bytes

METHODS = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "get", "X" * 30)
PATHS = (
    "/", "/studies", "/studies/{d}", "/studies/{d}/answers", "/studies/{d}/tally", "/studies/{d}/estimate",
    "/studies/{d}/sealed", "/studies/{d}/take-part", "/studies/{d}/status", "/studies/{d}/report",
    "/studies/{d}/arrivals", "/sign-in", "/studies/{d}/export?format=ndjson", "/sign-out", "/operator",
    "/operator/publish", "/operator/close",
    "/operator/tokens", "/operator/tickets", "/key", "/healthz", "/readyz", "/metrics", "/openapi.json", "/style.css",
    "/static/../x", "/static/take-part.css", "/%00", "/%ff%fe", "//", "/studies/%7Bx%7D", "/studies/" + "0" * 64, "*",
)  # fmt: skip
KINDS = (
    "application/json",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "text/html",
    "\xff",
    "",
    "a/b;",
)
NAMES = (
    "Origin", "Cookie", "Authorization", "Accept", "Content-Type", "Content-Length", "Transfer-Encoding", "Host",
    "Sec-Fetch-Site", "If-None-Match", "Expect", "Connection", "Upgrade", "Content-Encoding", "X", "Range", "TE",
)  # fmt: skip
VALUES = (
    "http://[", "http://]", "null", "https://x", "fairgauge-session=1.2.3", "fairgauge-session=%", "Bearer x",
    "text/html", "text/html;q=x", ",;=,", "-1", "0", "99999999999999999999", "chunked", "chunked, chunked", "gzip", "é",
    "100-continue", "close", "upgrade", "websocket", "same-origin", "cross-site", "\x00", "\t", "x" * 5000, "*", '"',
    "[::1", "a" * 20_000, "bytes=0-",
)  # fmt: skip
QUERIES = (
    "", "?", "?x=1", "?confidence=nan", "?confidence=0.9&confidence=0.9", "?interval=%00", "?aim=%0a", "?format=",
    "?" + "a=1&" * 300, "?%", "?hourly=-1", "?admission=\xff",
)  # fmt: skip


def request(chance: random.Random, digest: str) -> bytes:
    """Return one request, mostly wrong."""
    path = chance.choice(PATHS).replace("{d}", digest if chance.random() < 0.7 else digest[::-1])
    method = chance.choice(METHODS if chance.random() < 0.2 else METHODS[:2])
    query = chance.choice(QUERIES) if chance.random() < 0.3 else ""
    head = f"{method} {path}{query} HTTP/1.{chance.choice('1110')}\r\nHost: x\r\n"
    body = _body(chance, digest)
    for _ in range(chance.choice((0, 1, 1, 2, 5))):
        head += f"{chance.choice(NAMES)}: {chance.choice(VALUES)}\r\n"
    if chance.random() < 0.8:
        head += f"Content-Type: {chance.choice(KINDS)}\r\n"
    if chance.random() < 0.8:
        head += f"Content-Length: {len(body)}\r\n"
    if method == "POST" and chance.random() < 0.5:  # far enough to be read
        kind = chance.choice(KINDS[:3])
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    data = bytearray(head.encode("latin-1") + b"\r\n" + body)
    if chance.random() < 0.1:
        for _ in range(chance.randrange(4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def _body(chance: random.Random, digest: str) -> bytes:
    good = answer_bytes(digest, chance.randbytes(16), chance.randrange(6))
    return chance.choice(
        (
            b"", good, good[: chance.randrange(len(good))], b"\n".join([good] * 3), b"{" * 500, b"[" * 3000,
            chance.randbytes(50), b"proof=x&token=%ff&study=" + digest.encode(), b"a=" * 60, b"5\r\nhello\r\n0\r\n\r\n",
        )
    )  # fmt: skip


async def fuzz(
    port: int, digest: str, chance: random.Random, *, requests: int, seconds: float, connections: int = 16
) -> Counter[int]:
    """Send so many requests, or for so long, and count the statuses; 0 stands for a connection that was closed."""
    found: Counter[int] = Counter()
    until = time.monotonic() + seconds

    async def one() -> None:
        while found.total() < requests and time.monotonic() < until:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
                try:
                    await _talk(reader, writer)
                finally:
                    writer.transport.abort()

    async def _talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(chance.randrange(1, 20)):
            writer.write(request(chance, digest))
            status = 0
            with suppress(TimeoutError, EOFError, asyncio.LimitOverrunError, ValueError):
                async with asyncio.timeout(1.0):
                    head = await reader.readuntil(b"\r\n\r\n")
                    status = int(head[9:12])
            found[status] += 1
            if status == 0 or b"connection: close" in head.lower():
                return
            await asyncio.sleep(0)
            reader._buffer.clear()  # type: ignore[attr-defined]  # what else came is of no interest

    await asyncio.gather(*(one() for _ in range(connections)))
    return found
