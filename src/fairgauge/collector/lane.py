"""Work that may wait, a slice at a time: batches and exports, while single answers go first.

All of it goes through one lane.  A slice takes a millisecond or two; then everything else that is ready gets its turn,
and for as long as single answers come in the lane rests three times as long as it worked.  So whoever sends batches or
reads exports, however many there are of them, gets a quarter of the collector's time at most while devices answer.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

REST = 3.0  # how much longer the lane rests than it worked
CALM_SECONDS = 0.1  # without a single answer for so long, it does not rest


class Lane:
    """One slice at a time, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._free = asyncio.Lock()
        self._answered = -CALM_SECONDS

    def answering(self) -> None:
        """Say that a single answer came in."""
        self._answered = time.monotonic()

    @asynccontextmanager
    async def slice(self) -> AsyncIterator[None]:
        """Do a little work when it is its turn; what is within must not wait for anything."""
        async with self._free:
            began = time.monotonic()
            yield
            now = time.monotonic()
            busy = now - self._answered < CALM_SECONDS
            await asyncio.sleep((now - began) * REST if busy else 0)
