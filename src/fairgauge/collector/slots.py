"""Places for what takes long: so many for each kind of visitor, so that strangers cannot take an operator's."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from fairgauge.server.refusals import Busy

STRANGER = "stranger"


class Slots:
    """As many places for operators as for readers as for strangers.

    >>> slots = Slots("exports", 1)
    >>> with slots.taken("stranger"), slots.taken("operator"):
    ...     slots.check("stranger")
    Traceback (most recent call last):
    ...
    fairgauge.server.refusals.Busy: Too many exports at once: try again later.
    """

    def __init__(self, what: str, most: int) -> None:
        self._what = what
        self._most = most
        self._used: Counter[str] = Counter()

    @property
    def used(self) -> int:
        """How many places are taken in all."""
        return self._used.total()

    def check(self, kind: str) -> None:
        """Refuse if every place of a kind is taken.

        Raises:
            Busy: If so.
        """
        if self._used[kind] >= self._most:
            raise Busy(f"Too many {self._what} at once: try again later.", 30)

    @contextmanager
    def taken(self, kind: str) -> Iterator[None]:
        """Take a place for as long as this lasts."""
        self.check(kind)
        self._used[kind] += 1
        try:
            yield
        finally:
            self._used[kind] -= 1


class Room:
    """Bytes that are held for requests which are not complete yet, no more than so many in all."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.held = 0

    @contextmanager
    def guest(self) -> Iterator["Guest"]:
        """Hold bytes for one request for as long as this lasts."""
        found = Guest(self)
        try:
            yield found
        finally:
            self.held -= found.bytes

    def take(self, count: int) -> None:
        """Hold more.

        Raises:
            Busy: If there is no room for it.
        """
        if self.held + count > self._most:
            raise Busy("Too much is being received at once: send it again in a moment.", 1)
        self.held += count


class Guest:
    """What one request holds."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self.bytes = 0

    def hold(self, count: int) -> None:
        """Hold more.

        Raises:
            Busy: If there is no room for it.
        """
        self._room.take(count)
        self.bytes += count
