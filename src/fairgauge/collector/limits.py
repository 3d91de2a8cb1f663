"""Who may take how much: token buckets for rates, and bodies that are read no further than allowed."""

import time
from collections.abc import Callable

from starlette.types import Receive, Scope

from fairgauge.collector.config import Rates
from fairgauge.collector.problems import Problem, wait

BURST_SECONDS = 10.0


class Bucket:
    """A token bucket: so many a second on average, and a burst of ten seconds' worth at once.

    What is asked for is taken if the bucket holds anything, and then it may owe: so a large batch passes, and those
    after it wait.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._most = max(1.0, rate * BURST_SECONDS)
        self._level = self._most
        self._clock = clock
        self._last = clock()

    def take(self, count: int = 1) -> float:
        """Take some; return 0, or how many seconds to wait before asking again."""
        now = self._clock()
        self._level = min(self._most, self._level + (now - self._last) * self._rate)
        self._last = now
        if self._level < 1:
            return (1 - self._level) / self._rate
        self._level -= count
        return 0.0


class Turnstile:
    """One bucket for each class of requests."""

    def __init__(self, rates: Rates) -> None:
        self._buckets = {name: Bucket(getattr(rates, name)) for name in rates.__struct_fields__}

    def enter(self, kind: str, count: int = 1) -> None:
        """Let a request in.

        Raises:
            Problem: 429, with the time to wait.
        """
        seconds = self._buckets[kind].take(count)
        if seconds:
            raise wait("too-many", f"There is a limit on how many {kind} a second are taken.", seconds)


async def read_body(scope: Scope, receive: Receive, most: int) -> bytes:
    """Read a body of at most so many bytes.

    Raises:
        Problem: 413 as soon as it is known to be longer.
    """
    for name, value in scope["headers"]:
        if name == b"content-length" and (not value.isdigit() or int(value) > most):
            raise too_large(most)
        if name == b"content-encoding" and value.lower() != b"identity":
            raise Problem("bad-media-type", "A body must not be compressed.")
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem("too-slow", "The connection was closed before the body was complete.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise too_large(most)
        if not message.get("more_body", False):
            return b"".join(parts)


def too_large(most: int) -> Problem:
    """Return the problem of a body that is too large; the rest of it is not read."""
    return Problem("too-large", f"At most {most} bytes are taken here.", headers={"Connection": "close"})
