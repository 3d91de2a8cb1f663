"""What a ledger holds beside answers: blind tickets that are being fetched, and how and when answers are to be sent.

The tables are made when they are first needed; a ledger without them is a ledger all the same.  An ordinary ticket and
the numbers that hide a token from its issuer are removed as soon as the token is there: with them, whoever gets hold of
the file could tie the token to its ticket.
"""

from collections.abc import Callable
from sqlite3 import Connection

_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS passes (
        study TEXT NOT NULL PRIMARY KEY CHECK (length(study) = 64),
        ticket TEXT,
        begun BLOB,
        token BLOB,
        CHECK ((token IS NULL) = (begun IS NOT NULL) AND (ticket IS NULL) = (begun IS NULL))
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS moments (
        study TEXT NOT NULL PRIMARY KEY CHECK (length(study) = 64),
        second INTEGER NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS documents (
        address TEXT NOT NULL PRIMARY KEY,
        document BLOB NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS relayed (
        study TEXT NOT NULL PRIMARY KEY CHECK (length(study) = 64)
    ) WITHOUT ROWID""",
)


def _prepare(connection: Connection) -> None:
    connection.execute("PRAGMA secure_delete = ON")  # what is removed is overwritten
    for statement in _SCHEMA:
        connection.execute(statement)


def begin(connection: Connection, study: str, ticket: str, make: Callable[[], bytes]) -> bytes:
    """Return what was begun with a ticket, or begin: with another ticket it is begun anew."""
    _prepare(connection)
    row = connection.execute(
        "SELECT begun FROM passes WHERE study = ? AND ticket = ? AND begun IS NOT NULL", (study, ticket)
    ).fetchone()
    if row is not None:
        return bytes(row[0])
    made = make()
    connection.execute("INSERT OR REPLACE INTO passes VALUES (?, ?, ?, NULL)", (study, ticket, made))
    return made


def keep_token(connection: Connection, study: str, token: bytes) -> None:
    """Keep a token, and forget what would tie it to its ticket."""
    _prepare(connection)
    connection.execute("INSERT OR REPLACE INTO passes VALUES (?, NULL, NULL, ?)", (study, token))


def token(connection: Connection, study: str) -> bytes | None:
    """Return the token for a study, if there is one."""
    _prepare(connection)
    row = connection.execute("SELECT token FROM passes WHERE study = ?", (study,)).fetchone()
    return None if row is None or row[0] is None else bytes(row[0])


def wait_until(connection: Connection, study: str, second: int) -> None:
    """Remember when the answer to a study is to be sent."""
    _prepare(connection)
    connection.execute("INSERT OR REPLACE INTO moments VALUES (?, ?)", (study, second))


def want_relay(connection: Connection, study: str) -> None:
    """Remember that the answer to a study goes through a relay, whoever sends it."""
    _prepare(connection)
    connection.execute("INSERT OR REPLACE INTO relayed VALUES (?)", (study,))


def wants_relay(connection: Connection, study: str) -> bool:
    """Tell whether the answer to a study goes through a relay."""
    _prepare(connection)
    return connection.execute("SELECT 1 FROM relayed WHERE study = ?", (study,)).fetchone() is not None


def moment(connection: Connection, study: str) -> int | None:
    """Return when the answer to a study is to be sent; None for at once."""
    _prepare(connection)
    row = connection.execute("SELECT second FROM moments WHERE study = ?", (study,)).fetchone()
    return None if row is None else int(row[0])


def forget_moment(connection: Connection, study: str) -> None:
    """Forget when an answer was to be sent: it was."""
    _prepare(connection)
    connection.execute("DELETE FROM moments WHERE study = ?", (study,))


def keep_document(connection: Connection, address: str, document: bytes) -> None:
    """Remember the study that an address gave: whoever asks there again shows when its answer is sent."""
    _prepare(connection)
    connection.execute("INSERT OR IGNORE INTO documents VALUES (?, ?)", (address, document))


def document(connection: Connection, address: str) -> bytes | None:
    """Return the study that an address gave, or None if it was not asked."""
    _prepare(connection)
    row = connection.execute("SELECT document FROM documents WHERE address = ?", (address,)).fetchone()
    return None if row is None else bytes(row[0])
