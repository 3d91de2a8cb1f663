"""Work that may wait, while single answers go first: everything else begins in turn, and long work goes in slices.

Requests that are no answers begin one by one, each after all that is ready: thousands that come at once are thousands
of short waits, not one long one for whoever answers meanwhile.

Batches and exports go a slice at a time, all of them through one lane.  A slice takes a millisecond or two; then
everything else that is ready gets its turn, and for as long as single answers come in the lane rests three times as
long as it worked.  So whoever sends batches or reads exports, however many there are of them, gets a quarter of the
collector's time at most while devices answer.
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
        self._door = asyncio.Lock()
        self._free = asyncio.Lock()
        self._answered = -CALM_SECONDS

    def answering(self) -> None:
        """Say that a single answer came in."""
        self._answered = time.monotonic()

    async def begin(self) -> None:
        """Wait until a request that is no answer may begin: one does in each round of the event loop."""
        async with self._door:
            await asyncio.sleep(0)

    @asynccontextmanager
    async def slice(self) -> AsyncIterator[None]:
        """Do a little work when it is its turn; what is within must not wait for anything."""
        async with self._free:
            began = time.monotonic()
            yield
            now = time.monotonic()
            busy = now - self._answered < CALM_SECONDS
            await asyncio.sleep((now - began) * REST if busy else 0)
