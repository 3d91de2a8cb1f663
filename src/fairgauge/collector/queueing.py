"""Answers that wait to be committed: a batch may go in parts, and is told when all of it is stored."""

import asyncio
from collections import deque
from collections.abc import Sequence

from fairgauge.collector.stores.base import Row


class Submission:
    """One answer or a batch, what its sender waits for, and how far it has come."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self._begun = 0
        self._told: list[str] = []
        self.done: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()

    @property
    def left(self) -> int:
        """How many answers have not been taken yet."""
        return len(self._rows) - self._begun

    def take(self, most: int) -> list[Row]:
        """Take the next answers."""
        part = self._rows[self._begun : self._begun + most]
        self._begun += len(part)
        return part

    def tell(self, stored: Sequence[str]) -> None:
        """Say what became of the answers that were taken."""
        self._told += stored
        if len(self._told) == len(self._rows) and not self.done.done():
            self.done.set_result(self._told)

    def fail(self, reason: Exception) -> None:
        """Say that some could not be stored; the rest is not tried."""
        if not self.done.done():
            self.done.set_exception(reason)


class Queue:
    """Submissions in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: deque[Submission] = deque()
        self.count = 0  # answers that wait, with those of submissions that failed until these are passed over

    def add(self, one: Submission) -> None:
        """Put a submission at the end."""
        self._waiting.append(one)
        self.count += one.left

    def take(self, most: int) -> list[tuple[Submission, list[Row]]]:
        """Take so many answers from the front, or all there are."""
        found = []
        while self._waiting and most:
            first = self._waiting[0]
            if first.done.done():  # it has failed, or nobody waits for it
                self.count -= first.left
                self._waiting.popleft()
                continue
            part = first.take(most)
            most -= len(part)
            self.count -= len(part)
            found.append((first, part))
            if not first.left:
                self._waiting.popleft()
        return found
