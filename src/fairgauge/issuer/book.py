"""Who has exchanged a ticket: a file that remembers it before the blind ticket is handed out.

Each ticket is kept with a digest of the request that it was exchanged for, so that a device which crashed, or did not
hear the reply, may ask again with the same bytes and gets the same; with other bytes it gets nothing.  The file has no
time, and rows are sorted by ticket; where on its page a row lies tells the order nevertheless, until all are written
anew, which is done at each start and end.  What was signed cannot be found in any token.
"""

import sqlite3
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock

from fairgauge.errors import InvalidInput, StoreDamaged, StoreError, StoreFull

FILE = "issuer.sqlite3"
APPLICATION = 0x66676931  # "fgi1"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS study (digest TEXT NOT NULL PRIMARY KEY CHECK (length(digest) = 64)) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS exchanged (
        ticket BLOB NOT NULL PRIMARY KEY CHECK (length(ticket) = 16),
        request BLOB NOT NULL CHECK (length(request) = 32)
    ) WITHOUT ROWID""",
)


class Book:
    """The exchanges of one study.

    Args:
        folder: Where the file is, or is made.
        study: The digest of the study.  A file is for one: a second would be signed with the same key.

    Raises:
        InvalidInput: If the file is of another study.
        StoreError: If it cannot be used.
    """

    def __init__(self, folder: Path, study: str) -> None:
        self._lock = Lock()
        path = folder / FILE
        try:
            path.touch(mode=0o600)
            self._file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            # No write-ahead log: it would keep the order in which tickets came, until it is folded in.
            self._file.execute("PRAGMA journal_mode = DELETE")
            self._file.execute("PRAGMA synchronous = EXTRA")  # a commit is on the disk before anyone hears of it
            owner = self._file.execute("PRAGMA application_id").fetchone()[0]
            if owner not in (0, APPLICATION):
                raise InvalidInput("secrets", path, "is a file of another program")
            self._file.execute(f"PRAGMA application_id = {APPLICATION}")
            for statement in _SCHEMA:
                self._file.execute(statement)
            self._file.execute("INSERT INTO study SELECT ? WHERE NOT EXISTS (SELECT * FROM study)", (study,))
            (found,) = self._file.execute("SELECT digest FROM study").fetchone()
        except OSError as error:
            raise StoreError(f"{path} cannot be used: {error.strerror}") from None
        except sqlite3.Error as error:
            raise _told(error) from None
        if found != study:
            self.close()
            raise InvalidInput("study", study, f"must be {found}: an issuer's key is for one study")
        self._mix()

    def exchange(self, ticket: bytes, request: bytes) -> bool:
        """Remember durably that a ticket is exchanged for a request; tell whether it may be: the first, or the same.

        Raises:
            StoreError: If it cannot be remembered; then nothing must be handed out.
        """
        digest = sha256(request).digest()
        try:
            with self._lock:
                self._file.execute("INSERT OR IGNORE INTO exchanged VALUES (?, ?)", (ticket, digest))
                (found,) = self._file.execute("SELECT request FROM exchanged WHERE ticket = ?", (ticket,)).fetchone()
        except sqlite3.Error as error:
            raise _told(error) from None
        return bool(found == digest)

    def may_exchange(self, ticket: bytes, request: bytes) -> bool:
        """Tell whether a ticket is not spent yet, or was for this request: before anything costly is done for it."""
        try:
            with self._lock:
                found = self._file.execute("SELECT request FROM exchanged WHERE ticket = ?", (ticket,)).fetchone()
        except sqlite3.Error as error:
            raise _told(error) from None
        return found is None or bool(found[0] == sha256(request).digest())

    def count(self) -> int:
        """Return how many tickets were exchanged."""
        with self._lock:
            return int(self._file.execute("SELECT count(*) FROM exchanged").fetchone()[0])

    def close(self) -> None:
        """Let go of the file."""
        self._mix()
        self._file.close()

    def _mix(self) -> None:
        """Write all rows anew in the order of their tickets: a row lies where there was room when it came."""
        with suppress(sqlite3.Error):  # a disk that is full must not keep an issuer from its work
            self._file.execute("VACUUM")


def _told(error: sqlite3.Error) -> StoreError:
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    if name == "SQLITE_FULL":
        return StoreFull("there is no room left for the issuer's book")
    return (StoreDamaged if name in ("SQLITE_CORRUPT", "SQLITE_NOTADB") else StoreError)(f"the issuer's book: {name}")
