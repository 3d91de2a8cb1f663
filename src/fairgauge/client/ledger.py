"""The ledger: a file that remembers every answer before anyone can see it, so that no study is answered twice.

An answer is drawn, charged and written in one transaction, and handed out only when that transaction is on the
disk.  A crash before then leaves no trace of the answer anywhere; a crash after it finds the answer here, and
what is sent then are the same bytes.  So each study gets one randomisation, whatever crashes; a ledger
that is deleted, or restored from a copy, has forgotten what came since.

The file is SQLite.  It holds the study's digest, the answer's id and payload, whether it was delivered, and what it
cost which attribute, or whichever where the group came without an attribute's name: towards the collector, and towards
those who read released counts.  It holds no group, no value,
no address and no time, but for an answer that waits the moment at which it will be sent, and for a study with blind
tickets what it takes to fetch one: the ordinary ticket and the numbers that hide a token from its issuer, which are
removed as soon as the token is there.  With them, whoever gets hold of the file could tie the token to its ticket.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from decimal import Decimal, InvalidOperation
from pathlib import Path
from secrets import token_hex
from sqlite3 import Connection, DatabaseError, Error, OperationalError, connect
from typing import Any, Literal, get_args

from fairgauge.client.answer import Answer, answer, check_held, check_ticket, is_unnamed
from fairgauge.client.budget import ANY, Limits, ToReaders, add_by_name, add_up, charges, reader_charges, times
from fairgauge.client.durable_files import make_folder, rename_to_free, sync_folder
from fairgauge.client.sending_epoch import next_moment
from fairgauge.errors import OF_BEFORE, BadLedger, CannotAnswer, InvalidInput
from fairgauge.study import Study
from fairgauge.study.field_checks import check_arguments

_VERSION = 1
_APPLICATION = 0x6667676C  # "fggl", where SQLite keeps the name of the program that a file belongs to
_DRAFT = 0x66676C31  # what stood there before the first release
_LONGEST_WAIT = 30.0

State = Literal["pending", "delivered", "refused"]

# Without row ids, rows are in the order of the digests: the file does not tell which study was answered first.
_SCHEMA = (
    """CREATE TABLE answers (
        study TEXT NOT NULL PRIMARY KEY CHECK (length(study) = 64),
        id TEXT NOT NULL CHECK (length(id) = 32),
        payload TEXT NOT NULL CHECK (payload GLOB '[[][-0-9]*]'),
        state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'refused'))
    ) WITHOUT ROWID""",
    """CREATE TABLE charges (
        study TEXT NOT NULL REFERENCES answers (study),
        attribute TEXT NOT NULL,
        epsilon TEXT NOT NULL,
        reader_epsilon TEXT NOT NULL,
        reader_delta TEXT NOT NULL,
        PRIMARY KEY (study, attribute)
    ) WITHOUT ROWID""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
)

# Made when they are first needed; a ledger without them is a ledger all the same.
_FURTHER = (
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


class Ledger:
    """A device's memory of what it answered and what that cost; several processes may share one.

    Args:
        path: The file.  One that is missing becomes a new ledger, readable by its owner only.
        at_once: Whether answers are sent at once, also where the study has them wait for an epoch.

    Raises:
        BadLedger: From every method, if the file is empty, damaged, of another program or version, or out of reach.
            It is then left as it is.
    """

    def __init__(self, path: str | Path, *, at_once: bool = False) -> None:
        self.path = Path(path)
        self._at_once = at_once

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def answer(
        self,
        study: Study,
        profile: Any,
        *,
        limit: Limits | Decimal | None = None,
        ticket: str | None = None,
    ) -> Answer:
        """Answer a study, or return the answer that it got before; either way it is on the disk first.

        Guarantee: exact; over the ledger's lifetime each study gets at most one randomisation, and the answers
        about an attribute have a summed epsilon within the lifetime limit.  Every attribute that the study asks about
        is charged by its name, whoever answers: neither group nor value decides whether there is an answer, nor what
        pays for it.  A group without an attribute's name is of whatever the study names: all answers together are
        within the limit then, and such an answer counts against every attribute from then on.  So a program gives the
        name for everybody or for nobody: a form that goes by what a person has would show in when it refuses.

        Args:
            study: The study.
            profile: As for :func:`fairgauge.client.answer`.
            limit: What the device is willing to spend; a decimal is the lifetime limit.  Unless it says otherwise,
                epsilon 4 for a study and 8 for an attribute over its lifetime.
            ticket: Proof that the device may answer; it becomes the answer's id.  An answer that was refused gets
                another one, and stays what it was: a ticket may have been mistyped, and nothing is drawn twice.  Not
                where the study hides who answers or when.

        Raises:
            NotPrivate: If a table spends more than the study declares, or more than one study may.
            CannotAnswer: If the study is not open, the lifetime limit forbids it, or the profile is none.
        """
        limits = limit if isinstance(limit, Limits) else Limits() if limit is None else Limits(limit)
        check_arguments(study=(study, Study))
        if ticket is not None:
            check_ticket(ticket)
        with self._transaction() as connection:
            found = self._find(connection, study.digest)
            if found is None:
                check_held(study, profile)
                limits.check_study(study)
                unnamed = is_unnamed(study, profile)
                costs = charges(study)
                limits.check_lifetime(costs, self._charges(connection) if unnamed else self._past(connection))
                if unnamed:
                    limits.check_unnamed(costs, self._costs(connection))
                moment = self._moment_for(study)
                found = answer(study, profile, limit=limits, ticket=ticket)
                row = (found.study, found.id, json.dumps(found.payload))
                connection.execute("INSERT INTO answers VALUES (?, ?, ?, 'pending')", row)
                self._charge(connection, study, costs)
                if unnamed:
                    _charge_any(connection, study, max(costs.values()))
                if moment is not None:
                    _wait_until(connection, found.study, moment)
                if study.gateway is not None:
                    _want_relay(connection, found.study)
            elif ticket is not None and ticket != found.id and _is_known(study):
                found = self._with_ticket(connection, found, ticket)
        # Someone else may have been killed between removing the journal and making that last: a power cut could
        # still undo the answer that we found.  Not after this.
        self._sync_folder()
        return found

    def check(self, study: Study, *, limit: Limits) -> None:
        """Refuse a study that costs more than the device allows, whatever the profile says.

        What the answer would be is not looked at.

        Raises:
            NotPrivate: If a table spends more than one study may.
            CannotAnswer: If the lifetime limit forbids it.
        """
        limit.check_study(study)
        with self._transaction() as connection:
            limit.check_lifetime(charges(study), self._past(connection))

    def pending(self) -> list[Answer]:
        """Return the answers that still have to be delivered, in the order of their studies' digests."""
        with self._transaction() as connection:
            rows = connection.execute("SELECT study, id, payload FROM answers WHERE state = 'pending'").fetchall()
            found = [self._read(row) for row in rows]
        self._sync_folder()
        return found

    def state(self, study: str) -> State | None:
        """Return what became of the answer to the study with this digest; None if there is none."""
        with self._transaction() as connection:
            return self._state_of(connection, "answers", study)

    def moment(self, study: str) -> int | None:
        """Return the second at which the answer to the study with this digest is to be sent; None for at once."""
        if self._at_once:
            return None
        with self._transaction() as connection:
            return _moment(connection, study)

    def wants_relay(self, study: str) -> bool:
        """Tell whether the study with this digest has its answer sent through a relay."""
        with self._transaction() as connection:
            return _wants_relay(connection, study)

    def keep_document(self, address: str, document: bytes) -> None:
        """Keep the study that an address gave, so that nobody asks there again."""
        with self._transaction() as connection:
            _keep_document(connection, address, document)
        self._sync_folder()

    def document(self, address: str) -> bytes | None:
        """Return the study that an address gave, or None if it was not kept."""
        with self._transaction() as connection:
            return _document(connection, address)

    def begin_pass(self, study: str, ticket: str, make: Callable[[], bytes]) -> bytes:
        """Return what was begun for a blind ticket with this ordinary one, or begin: it is on the disk first."""
        with self._transaction() as connection:
            found = _begin(connection, study, ticket, make)
        self._sync_folder()
        return found

    def keep_token(self, study: str, token: bytes) -> None:
        """Keep the token for a study, and forget what would tie it to its ticket."""
        with self._transaction() as connection:
            _keep_token(connection, study, token)

    def token(self, study: str) -> bytes | None:
        """Return the token for a study, or None if there is none."""
        with self._transaction() as connection:
            return _token(connection, study)

    def spent(self) -> dict[str, Decimal]:
        """Return what the answers cost each attribute in sum."""
        with self._transaction() as connection:
            return add_by_name(self._charges(connection))

    def spent_towards_readers(self) -> dict[str, ToReaders]:
        """Return the same towards those who read released counts: epsilons and deltas both add up."""
        with self._transaction() as connection:
            sql = "SELECT attribute, reader_epsilon, reader_delta FROM charges WHERE attribute <> ? ORDER BY attribute"
            rows = connection.execute(sql, (ANY,)).fetchall()
        found: dict[str, ToReaders] = {}
        for name, *costs in rows:
            epsilon, delta = (self._cost(cost) for cost in costs)
            before = found.get(name, ToReaders(Decimal(0), Decimal(0)))
            found[name] = ToReaders(add_up((before.epsilon, epsilon)), add_up((before.delta, delta)))
        return found

    def find(self, study: str) -> Answer | None:
        """Return the answer to the study with this digest; None if there is none."""
        with self._transaction() as connection:
            return self._find(connection, study)

    def mark_sent(self, answer: Answer) -> None:
        """Remember that the answer was delivered."""
        self._mark(answer, "delivered")

    def mark_refused(self, answer: Answer) -> None:
        """Remember that the collector refused the answer for good; the study still counts as answered."""
        self._mark(answer, "refused")

    def _moment_for(self, study: Study) -> int | None:
        """Draw the moment at which an answer that is drawn now is sent; None for at once."""
        if study.epoch is None or self._at_once:
            return None
        return next_moment(time.time(), study.epoch, study.closes)

    def _mark(self, answer: Answer, state: State) -> None:
        with self._transaction() as connection:
            if self._find(connection, answer.study) != answer:
                raise InvalidInput("answer", answer.id, "is not in this ledger")
            _forget_moment(connection, answer.study)
            self._set_state(connection, "answers", answer.study, state)

    def _state_of(self, connection: Connection, table: str, study: str) -> State | None:
        row = connection.execute(f"SELECT state FROM {table} WHERE study = ?", (study,)).fetchone()  # noqa: S608
        if row is None:
            return None
        if row[0] not in get_args(State):
            raise BadLedger("ledger", self.path, "is damaged: an answer has no proper state")
        state: State = row[0]
        return state

    def _set_state(self, connection: Connection, table: str, study: str, state: State) -> None:
        """Remember what became of an answer; what was delivered stays so, whatever a second sender heard."""
        sql = f"UPDATE {table} SET state = ? WHERE study = ? AND state <> 'delivered'"  # noqa: S608 - names of our own
        connection.execute(sql, (state, study))

    def _charge(self, connection: Connection, study: Study, costs: Mapping[str, Decimal]) -> None:
        """Write down what the answer to a study costs each attribute: towards the collector, and towards readers."""
        towards = reader_charges(study, costs)
        connection.executemany(
            "INSERT INTO charges VALUES (?, ?, ?, ?, ?)",
            [
                (study.digest, name, str(cost), str(towards[name].epsilon), str(towards[name].delta))
                for name, cost in costs.items()
            ],
        )

    def _find(self, connection: Connection, study: str) -> Answer | None:
        row = connection.execute("SELECT study, id, payload FROM answers WHERE study = ?", (study,)).fetchone()
        return None if row is None else self._read(row)

    def _with_ticket(self, connection: Connection, found: Answer, ticket: str) -> Answer:
        """Give an answer that was refused another ticket; any other keeps the one that it has."""
        sql = "UPDATE answers SET id = ?, state = 'pending' WHERE study = ? AND state = 'refused'"
        changed = connection.execute(sql, (ticket, found.study)).rowcount
        return Answer(found.study, ticket, found.payload) if changed else found

    def _read(self, row: tuple[Any, ...]) -> Answer:
        study, name, payload = row
        try:
            return Answer(study, name, tuple(json.loads(payload)))
        except InvalidInput as problem:
            raise BadLedger("ledger", self.path, f"is damaged: {problem.field} {problem.rule}") from None
        except (ValueError, TypeError):
            raise BadLedger("ledger", self.path, "is damaged: an answer holds no numbers") from None

    def _charges(self, connection: Connection) -> list[tuple[str, Decimal]]:
        """Return what was charged to each attribute; equal costs, of which there may be thousands, as one."""
        sql = "SELECT attribute, epsilon, COUNT(*) FROM charges WHERE attribute <> ? GROUP BY attribute, epsilon"
        return self._counted(connection.execute(sql, (ANY,)))

    def _past(self, connection: Connection) -> list[tuple[str, Decimal]]:
        """Return what counts against the limit of each attribute, where an answer without a name has one cost: ANY's.

        It may have been about each of them, so that it is added to all, and to none twice.
        """
        sql = (
            "SELECT attribute, epsilon, COUNT(*) FROM charges WHERE attribute = ?1 "
            "OR study NOT IN (SELECT study FROM charges WHERE attribute = ?1) GROUP BY attribute, epsilon"
        )
        return self._counted(connection.execute(sql, (ANY,)))

    def _counted(self, rows: Iterable[tuple[Any, Any, int]]) -> list[tuple[str, Decimal]]:
        return [(str(attribute), times(self._cost(epsilon), count)) for attribute, epsilon, count in rows]

    def _costs(self, connection: Connection) -> list[dict[str, Decimal]]:
        """Return for each answer what it cost each attribute."""
        found: dict[str, dict[str, Decimal]] = {}
        for study, name, cost in connection.execute("SELECT study, attribute, epsilon FROM charges"):
            found.setdefault(study, {})[name] = self._cost(cost)
        return list(found.values())

    def _cost(self, typed: Any) -> Decimal:
        try:
            cost = Decimal(typed)
        except (InvalidOperation, TypeError, ValueError):
            cost = Decimal("NaN")
        if not (cost.is_finite() and cost >= 0):
            raise BadLedger("ledger", self.path, "is damaged: a cost is not a number from 0 up")
        return cost

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Do everything or nothing; alone, and on the disk when it is over.

        A connection lives as long as its transaction, so threads, forks and forgotten closes are no concern.
        """
        try:
            with closing(self._open()) as connection:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    self._identify(connection)
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
        except OSError as problem:
            raise BadLedger("ledger", self.path, f"cannot be used: {problem.strerror}") from None
        except OperationalError as problem:
            if "locked" in str(problem):
                raise CannotAnswer(f"the ledger {self.path} is in use by another program; try again later") from None
            raise BadLedger("ledger", self.path, f"cannot be used: {problem}") from None
        except DatabaseError as problem:
            raise BadLedger("ledger", self.path, f"is not a ledger, or is damaged: {problem}") from None
        except Error as problem:
            raise BadLedger("ledger", self.path, f"cannot be used: {problem}") from None

    def _open(self) -> Connection:
        if not self.path.exists():
            self._make()
        # Not "rwc": SQLite would make a file of no bytes first, and a crash would leave that.
        uri = f"{self.path.absolute().as_uri()}?mode=rw"
        connection = connect(uri, uri=True, timeout=_LONGEST_WAIT, isolation_level=None)
        try:
            # FULL would let a power cut right after a commit bring the journal back and with it undo the commit:
            # the answer would be out and forgotten.  EXTRA waits for the journal's removal to be on the disk.
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA fullfsync = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
        except BaseException:
            connection.close()
            raise
        return connection

    def _make(self) -> None:
        """Make an empty ledger under another name, write it out, and only then give it its own: whole or not at all."""
        path = self.path.resolve()
        new = path.with_name(f".{path.name}.{token_hex(8)}.new")
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode=0o600))
        try:
            with closing(connect(new, isolation_level=None)) as connection:
                connection.execute("PRAGMA journal_mode = MEMORY")  # a crash leaves this file for nobody
                connection.execute("PRAGMA synchronous = EXTRA")
                connection.execute("PRAGMA fullfsync = ON")
                connection.execute("BEGIN")
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute("COMMIT")
            with suppress(FileExistsError):  # another process was first: its ledger is as good
                rename_to_free(new, path)
            sync_folder(path)
        finally:
            new.unlink(missing_ok=True)

    def _identify(self, connection: Connection) -> None:
        """Make sure, inside the transaction, that the file is a ledger of this version."""
        # SQLite takes a file of a few bytes for an empty database and would write over it; so ask the file system.
        found = self.path.stat()
        if os.name == "posix" and found.st_mode & 0o022:
            rule = "must be writable by its owner only (chmod 600): others could make it forget what was answered"
            raise BadLedger("ledger", self.path, rule)
        if found.st_size == 0:
            rule = "is empty, as a ledger never is, so what it held is lost; delete it only if it never held an answer"
            raise BadLedger("ledger", self.path, rule)
        application = _pragma(connection, "application_id")
        if application == _DRAFT:
            raise BadLedger("ledger", self.path, OF_BEFORE)
        if application != _APPLICATION:
            raise BadLedger("ledger", self.path, "is not a ledger but a file of another program")
        version = _pragma(connection, "user_version")
        if version != _VERSION:
            raise BadLedger(
                "ledger", self.path, f"has version {version}, and this program knows versions up to {_VERSION} only"
            )
        check = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if check != "ok":
            raise BadLedger("ledger", self.path, f"is damaged: {check}")

    def _sync_folder(self) -> None:
        """Make the names in the ledger's folder last through a power cut."""
        try:
            sync_folder(self.path)
        except OSError as problem:
            raise BadLedger("ledger", self.path, f"cannot be made to last: {problem.strerror}") from None


def _charge_any(connection: Connection, study: Study, cost: Decimal) -> None:
    """Write down that an answer's group had no name, and the most that it costs whichever attribute it was about."""
    connection.execute("INSERT INTO charges VALUES (?, ?, ?, '0', '0')", (study.digest, ANY, str(cost)))


def _is_known(study: Study) -> bool:
    """Tell whether the collector may know who answers and when: nothing waits then, and nothing goes by another way."""
    return study.admission != "blind" and study.gateway is None and study.epoch is None


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def default_ledger() -> Path:
    """Return where a person's ledger is unless they say otherwise; its folder is made if need be."""
    try:
        home = os.environ.get("XDG_STATE_HOME")
        path = (Path(home) if home else Path.home() / ".local" / "state") / "fairgauge" / "ledger.sqlite3"
        make_folder(path)
        return path
    except (OSError, RuntimeError) as problem:
        reason = getattr(problem, "strerror", None) or "there is no home folder"
    raise BadLedger("ledger", "none given", f"must be given, for {reason}")


def _make_further(connection: Connection) -> None:
    connection.execute("PRAGMA secure_delete = ON")  # what is removed is overwritten
    for statement in _FURTHER:
        connection.execute(statement)


def _begin(connection: Connection, study: str, ticket: str, make: Callable[[], bytes]) -> bytes:
    """Return what was begun with a ticket, or begin: with another ticket it is begun anew."""
    _make_further(connection)
    row = connection.execute(
        "SELECT begun FROM passes WHERE study = ? AND ticket = ? AND begun IS NOT NULL", (study, ticket)
    ).fetchone()
    if row is not None:
        return bytes(row[0])
    made = make()
    connection.execute("INSERT OR REPLACE INTO passes VALUES (?, ?, ?, NULL)", (study, ticket, made))
    return made


def _keep_token(connection: Connection, study: str, token: bytes) -> None:
    """Keep a token, and forget what would tie it to its ticket."""
    _make_further(connection)
    connection.execute("INSERT OR REPLACE INTO passes VALUES (?, NULL, NULL, ?)", (study, token))


def _token(connection: Connection, study: str) -> bytes | None:
    """Return the token for a study, if there is one."""
    _make_further(connection)
    row = connection.execute("SELECT token FROM passes WHERE study = ?", (study,)).fetchone()
    return None if row is None or row[0] is None else bytes(row[0])


def _wait_until(connection: Connection, study: str, second: int) -> None:
    """Remember when the answer to a study is to be sent."""
    _make_further(connection)
    connection.execute("INSERT OR REPLACE INTO moments VALUES (?, ?)", (study, second))


def _want_relay(connection: Connection, study: str) -> None:
    """Remember that the answer to a study goes through a relay, whoever sends it."""
    _make_further(connection)
    connection.execute("INSERT OR REPLACE INTO relayed VALUES (?)", (study,))


def _wants_relay(connection: Connection, study: str) -> bool:
    """Tell whether the answer to a study goes through a relay."""
    _make_further(connection)
    return connection.execute("SELECT 1 FROM relayed WHERE study = ?", (study,)).fetchone() is not None


def _moment(connection: Connection, study: str) -> int | None:
    """Return when the answer to a study is to be sent; None for at once."""
    _make_further(connection)
    row = connection.execute("SELECT second FROM moments WHERE study = ?", (study,)).fetchone()
    return None if row is None else int(row[0])


def _forget_moment(connection: Connection, study: str) -> None:
    """Forget when an answer was to be sent: it was."""
    _make_further(connection)
    connection.execute("DELETE FROM moments WHERE study = ?", (study,))


def _keep_document(connection: Connection, address: str, document: bytes) -> None:
    """Remember the study that an address gave: whoever asks there again shows when its answer is sent."""
    _make_further(connection)
    connection.execute("INSERT OR IGNORE INTO documents VALUES (?, ?)", (address, document))


def _document(connection: Connection, address: str) -> bytes | None:
    """Return the study that an address gave, or None if it was not asked."""
    _make_further(connection)
    row = connection.execute("SELECT document FROM documents WHERE address = ?", (address,)).fetchone()
    return None if row is None else bytes(row[0])
