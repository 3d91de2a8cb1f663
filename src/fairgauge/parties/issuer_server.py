"""The issuer over HTTP: an ordinary ticket for a blind one (RFC 9578), and the hook for an operator's own login.

- ``POST /token-request``, ``Authorization: Bearer`` and a ticket, a TokenRequest: gives the TokenResponse.
- ``POST /tickets``, ``Authorization: Bearer`` and a token of this folder, ``{"account": "..."}``: gives the ticket of
  that account, each time the same.  This is the hook: whoever logs people in calls it and hands the ticket on.
- ``GET /.well-known/private-token-issuer-directory``: the key, for other programs, and the digest of the study that
  tickets are for.  A device takes the key from the study, and compares the digest with that of the study that it has:
  who hands out a study of its own to each person, to know them again by it, is noticed.

Nothing about a request is logged, and no address is read.
"""

import asyncio
import hmac
import json
import sqlite3
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import Lock

from starlette.types import Receive, Scope

from fairgauge.errors import InvalidInput, StoreDamaged, StoreError, StoreFull
from fairgauge.parties.blind_signing import PrivateKey, key_in, sign_blinded
from fairgauge.parties.web_app import Reply, SmallApp, check_type, take, told
from fairgauge.server.bearer_tokens import Gatekeeper
from fairgauge.server.problems import Problem
from fairgauge.server.request_body import read_body
from fairgauge.server.secrets_folder import read_or_make_secret
from fairgauge.server.server_errors import BadTicket, NoToken
from fairgauge.server.tickets import Tickets
from fairgauge.server.token_bucket import TokenBucket
from fairgauge.study import Study
from fairgauge.unlinkable.pass_token import SIGNATURE, TYPE, read_key, write_key

REQUEST_TYPE = "application/private-token-request"
_RESPONSE_TYPE = "application/private-token-response"
_DIRECTORY_TYPE = "application/private-token-issuer-directory"
_LARGEST = 4096
_SIGNED = 50.0  # requests a second and process that are worked on: each costs some milliseconds
_ACCOUNT_FILE = "accounts.key"
_LONGEST_ACCOUNT = 200
_BOOK_FILE = "issuer.sqlite3"
_APPLICATION = 0x66676931  # "fgi1"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS study (digest TEXT NOT NULL PRIMARY KEY CHECK (length(digest) = 64)) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS exchanged (
        ticket BLOB NOT NULL PRIMARY KEY CHECK (length(ticket) = 16),
        request BLOB NOT NULL CHECK (length(request) = 32)
    ) WITHOUT ROWID""",
)


class Book:
    """Who has exchanged a ticket: a file that remembers it before the blind ticket is handed out.

    Each ticket is kept with a digest of the request that it was exchanged for, so that a device which crashed, or did
    not hear the reply, may ask again with the same bytes and gets the same; with other bytes it gets nothing.  The file
    has no time, and rows are sorted by ticket; where on its page a row lies tells the order nevertheless, until all are
    written anew, which is done at each start and end.  What was signed cannot be found in any token.

    Args:
        folder: Where the file is, or is made.
        study: The digest of the study.  A file is for one: a second would be signed with the same key.

    Raises:
        InvalidInput: If the file is of another study.
        StoreError: If it cannot be used.
    """

    def __init__(self, folder: Path, study: str) -> None:
        self._lock = Lock()
        path = folder / _BOOK_FILE
        try:
            path.touch(mode=0o600)
            self._file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            # No write-ahead log: it would keep the order in which tickets came, until it is folded in.
            self._file.execute("PRAGMA journal_mode = DELETE")
            self._file.execute("PRAGMA synchronous = EXTRA")  # a commit is on the disk before anyone hears of it
            owner = self._file.execute("PRAGMA application_id").fetchone()[0]
            if owner not in (0, _APPLICATION):
                raise InvalidInput("secrets", path, "is a file of another program")
            self._file.execute(f"PRAGMA application_id = {_APPLICATION}")
            for statement in _SCHEMA:
                self._file.execute(statement)
            self._file.execute("INSERT INTO study SELECT ? WHERE NOT EXISTS (SELECT * FROM study)", (study,))
            (found,) = self._file.execute("SELECT digest FROM study").fetchone()
        except OSError as error:
            raise StoreError(f"{path} cannot be used: {error.strerror}") from None
        except sqlite3.Error as error:
            raise _trouble(error) from None
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
            raise _trouble(error) from None
        return bool(found == digest)

    def may_exchange(self, ticket: bytes, request: bytes) -> bool:
        """Tell whether a ticket is not spent yet, or was for this request: before anything costly is done for it."""
        try:
            with self._lock:
                found = self._file.execute("SELECT request FROM exchanged WHERE ticket = ?", (ticket,)).fetchone()
        except sqlite3.Error as error:
            raise _trouble(error) from None
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


def _trouble(error: sqlite3.Error) -> StoreError:
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    if name == "SQLITE_FULL":
        return StoreFull("there is no room left for the issuer's book")
    return (StoreDamaged if name in ("SQLITE_CORRUPT", "SQLITE_NOTADB") else StoreError)(f"the issuer's book: {name}")


class IssuerServer(SmallApp):
    """Gives out blind tickets for one study.

    Raises:
        InvalidInput: If the folder has no key, or the study names another.
    """

    def __init__(self, folder: Path, study: Study) -> None:
        super().__init__("Authorization, Content-Type")
        key = key_in(folder)
        if key is None:
            raise InvalidInput("secrets", folder, "has no issuer's key: fairgauge issuer key makes one")
        if study.issuer is None or study.issuer.key != write_key(key.public):
            raise InvalidInput("study", study.digest, "must name the key of this issuer: see fairgauge issuer key")
        self._key: PrivateKey = key
        self._name = read_key(study.issuer.key).id
        self._study = study.digest
        self._tickets = Tickets.in_folder(folder)
        self._accounts = read_or_make_secret(folder, _ACCOUNT_FILE, 32)
        self._logins = Gatekeeper(folder)
        self._signed = TokenBucket(_SIGNED)
        self.book = Book(folder, study.digest)

    def new_ticket(self) -> str:
        """Return a new ordinary ticket."""
        return self._tickets.new(self._study)

    def ticket_for(self, account: str) -> str:
        """Return the ordinary ticket of an account: each time the same, and nobody can tell the account from it."""
        start = hmac.digest(self._accounts, f"{self._study} {account}".encode(), "sha256")
        return self._tickets.begun(self._study, start)

    async def exchange(self, ticket: bytes, request: bytes) -> bytes:
        """Return the TokenResponse for a TokenRequest.

        Raises:
            BadTicket: If the ticket is none, or was exchanged for another request.
            InvalidInput: If the request is malformed.
        """
        if len(ticket) != 16 or not self._tickets.good(self._study, ticket):
            raise BadTicket("This is no ticket for this issuer's study.")
        if len(request) != len(TYPE) + 1 + SIGNATURE or request[:3] != TYPE + self._name[-1:]:
            raise InvalidInput("request", f"{len(request)} bytes", "must be a TokenRequest of type 2 for this key")
        if not await asyncio.to_thread(self.book.may_exchange, ticket, request):
            raise BadTicket("This ticket was exchanged before, with another request.")
        take(self._signed)
        # Signed before it is remembered: a request that cannot be signed costs nobody a ticket.
        signed = await asyncio.to_thread(sign_blinded, self._key, request[3:])
        if not await asyncio.to_thread(self.book.exchange, ticket, request):
            raise BadTicket("This ticket was exchanged before, with another request.")
        return signed

    # ------------------------------------------------------------------------------------------------ HTTP
    async def answer(self, scope: Scope, receive: Receive) -> Reply:
        """Answer one request."""
        method, path = scope["method"], scope["path"]
        if (method, path) == ("POST", "/token-request"):
            check_type(scope, REQUEST_TYPE)
            body = await read_body(scope, receive, _LARGEST)
            return 200, _RESPONSE_TYPE, await self.exchange(_ticket(_bearer(scope)), body)
        if (method, path) == ("POST", "/tickets"):
            if self._logins.role_of(_bearer(scope)) != "operator":
                raise NoToken("Send Authorization: Bearer, with the token of an operator of this issuer.")
            check_type(scope, "application/json")
            account = _account(await read_body(scope, receive, _LARGEST))
            return 200, "application/json", json.dumps({"ticket": self.ticket_for(account)}).encode()
        if (method, path) == ("GET", "/.well-known/private-token-issuer-directory"):
            return self._directory()
        return told(Problem("not-found", "An issuer has /token-request, /tickets and a directory."))

    def _directory(self) -> Reply:
        key = {"token-type": 2, "token-key": write_key(self._key.public)}
        told = {"issuer-request-uri": "/token-request", "token-keys": [key], "studies": [self._study]}
        return 200, _DIRECTORY_TYPE, json.dumps(told).encode()


def _bearer(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, text = value.decode("latin-1").partition(" ")
            if scheme.lower() == "bearer":
                return str(text.strip())
    return ""


def _ticket(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _account(body: bytes) -> str:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    account = document.get("account") if isinstance(document, dict) and len(document) == 1 else None
    if not isinstance(account, str) or not 1 <= len(account) <= _LONGEST_ACCOUNT or not _is_text(account):
        raise InvalidInput("account", "not shown", f"must be a text of 1 to {_LONGEST_ACCOUNT} characters")
    return account


def _is_text(account: str) -> bool:
    """Tell whether there is no half of a pair of surrogates in it, which JSON lets through and UTF-8 has not."""
    return not any("\ud800" <= character <= "\udfff" for character in account)
