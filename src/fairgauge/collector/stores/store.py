"""What every store promises.

Exactly once: a study and an answer id together are stored at most once, whatever is sent how often.
Durable: what ``add`` has returned survives the death of the process, and of the machine if its disk is honest.
One truth: counts change in the transaction that stores the answer, so they always equal the rows.
In batches: what ``tally`` and ``looks`` show of a study with batches are sums of closed ones (see ``released_sums``).
Final: once ``close_study`` has returned, no answer is added to that study by any process.

Nothing in a store says when or in which order answers came, but for how many came in each time bucket, and how the
tally looked when it had so many answers in all (``looks``).
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

FRESH = "fresh"  # in the result of ``add``: the answer was not there before, and is now
CLOSED = "closed"  # the answer is not there, and the study takes no more
PAGE = 10_000

State = Literal["not open yet", "open", "closed", "sealed"]
Row = tuple[int, bytes, str]  # the study's number in this store, the answer's id, what it holds, as text
Note = Callable[[str, int, Mapping[int, int]], None]  # told the study, the batch and its counts before they are seen
_TicketState = Literal["expected", "answered", "late"]


@dataclass(frozen=True, slots=True)
class Published:
    """A study as it is published: its exact bytes, who may answer, and the collector's signature."""

    digest: str
    document: bytes
    admission: str
    signature: str
    published: int
    closes: int | None = None
    number: int = 0
    closed: int | None = None
    sealed: bool = False
    title: str = ""
    public: bool = False  # whether everyone may see its results
    aim: str | None = None  # the error that it aims at, as a part of the metric's range
    opens: int | None = None
    hourly: int | None = None  # how many answers it takes in an hour; any number if None
    key: str = ""  # the public key that signed it
    dropped: int | None = None  # when its answers were dropped, if they were: tally and seal stay
    batch: int | None = None  # how many answers a batch has, if readers see closed batches only
    at_end: bool = False  # whether batches close when the study does, and not before

    @property
    def in_crowd(self) -> bool:
        """Whether closed batches are shown as they come, and a device can check that its answer was sealed."""
        return self.batch is not None and not self.at_end

    def state(self, now: float) -> State:
        """Return what a study is doing at a moment: the one place that says so.

        >>> early = Published("", b"", "open", "", 0, opens=5, closes=9)
        >>> [early.state(now) for now in (4, 5, 8.9, 9)]
        ['not open yet', 'open', 'open', 'closed']
        """
        if self.sealed:
            return "sealed"
        if self.closed is not None or (self.closes is not None and now >= self.closes):
            return "closed"
        return "not open yet" if self.opens is not None and now < self.opens else "open"


@dataclass(frozen=True, slots=True)
class Ticket:
    """What is known of one ticket, where it is no secret who contributes.

    Args:
        id: The ticket, which is the answer's id.
        name: Whom it was given to, if anyone said.
        state: Whether its holder has answered, is still expected, or came after the end.
        other: Whether another answer came with the same ticket, which was refused.
    """

    id: bytes
    name: str = ""
    state: _TicketState = "expected"
    other: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the audit log: who did what, to which study or token, in which hour."""

    bucket: int
    who: str
    did: str
    about: str = ""


class Store(Protocol):
    """Keeps studies, answers, tallies and seals.  Times are buckets: the first second of the hour, by default."""

    kind: str
    note: Note  # called before a batch can be seen, which waits if it raises; its counts are durable and final by then

    async def close(self) -> None:
        """Let go of everything."""

    async def check(self) -> None:
        """Raise ``StoreError`` unless the store can be read."""

    async def commit_something(self) -> None:
        """Raise ``StoreError`` unless the store can commit: write one row that means nothing."""

    async def check_pages(self, seconds: float) -> bool:
        """Look for damage; False if there was not enough time to look everywhere.

        Raises:
            StoreDamaged: If there is some.
        """

    async def publish(self, study: Published) -> bool:
        """Keep a study; False if it is there already."""

    async def study(self, digest: str) -> Published | None:
        """Return a study, or None."""

    async def studies(self) -> list[Published]:
        """Return every study, the newest first, without documents (their bytes are empty)."""

    async def due(self, now: int) -> list[str]:
        """Return the digests of studies that are not sealed though they are closed, or should be by now."""

    async def add(self, rows: Sequence[Row], bucket: int) -> list[str]:
        """Store answers whose (study, id) are all different, and count those that are new.

        Returns:
            For each row ``FRESH``, ``CLOSED``, or what this id already holds.

        Raises:
            StoreFull: There is no room, and none of the rows is stored.
            StoreAway: The rows may or may not be stored.
        """

    async def find(self, rows: Sequence[Row]) -> list[str]:
        """Return for each row what this id holds, or ``CLOSED``; store nothing."""

    async def tally(self, number: int) -> dict[int, int]:
        """Return the sum of what answers hold, as far as readers may see it; places without any may be missing.

        Of a study with batches these are closed batches only.
        """

    async def counts(self, number: int) -> dict[int, int]:
        """Return the sum of what answers hold, whether readers may see it or not: to check, never to show."""

    async def looks(self, number: int) -> list[dict[int, int]]:
        """Return the tally as it was when the number of answers passed certain powers, the oldest first."""

    async def arrivals(self, number: int) -> dict[int, int]:
        """Return how many answers came in each time bucket."""

    def answers(self, number: int, *, start: bytes = b"") -> AsyncIterator[list[tuple[bytes, str]]]:
        """Yield all answers sorted by id, in pages; those whose ids are not below ``start``.

        Pages are read one by one and not from one snapshot: a reader that is slow must not hold up the writer.
        After ``close_study`` nothing changes, so then what is yielded is complete.
        """

    async def expect(self, number: int, named: Mapping[bytes, str]) -> None:
        """Remember to whom tickets of a study were given; again is fine."""

    async def remember(self, number: int, ticket: Ticket) -> None:
        """Remember what became of a ticket: who has answered never comes late, and another answer is not forgotten."""

    async def ticketed(self, number: int) -> list[Ticket]:
        """Return what is remembered of the tickets of a study, sorted by id."""

    async def close_study(self, number: int, bucket: int) -> None:
        """Take no more answers to this study, and let its batches go unless all are fewer than one; again is fine."""

    async def let_go(self, number: int) -> int:
        """Let batches be seen that are closed and are not seen yet; return the number of the first one that waits."""

    async def latest(self) -> int:
        """Return the latest time bucket in which anything is known to have happened, or 0."""

    async def drop_answers(self, number: int, event: Event) -> bool:
        """Remove the answers of a sealed study, and say so in the audit log; False unless there were any to remove.

        Tally, arrivals, looks and the seal stay.
        """

    async def delete(self, number: int, event: Event) -> bool:
        """Remove a closed study with all that belongs to it, and say so in the audit log; False unless it is closed."""

    async def scrub(self) -> str:
        """Overwrite what was removed, as far as this store can; return in words where it may still be."""

    async def keys(self) -> list[tuple[str, str]]:
        """Return the purposes and fingerprints of the keys that this store belongs to, the oldest first."""

    async def remember_key(self, purpose: str, fingerprint: str, bucket: int) -> None:
        """Let the store belong to one more key; again is fine."""

    async def record(self, event: Event) -> None:
        """Add a line to the audit log."""

    async def events(self, most: int) -> list[Event]:
        """Return the latest lines of the audit log, the newest first."""

    async def sign_out(self, session: str, until: int) -> None:
        """Remember that a session is over, until it would have ended by itself."""

    async def ended_sessions(self, now: int) -> dict[str, int]:
        """Return the sessions that were ended before their time and would not have ended by now."""

    async def seal(self, number: int, document: bytes) -> bool:
        """Keep the seal of a closed study; False if it has one already."""

    async def sealed(self, number: int) -> bytes | None:
        """Return the seal of a study."""
