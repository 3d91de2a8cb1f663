"""The issuer over HTTP: an ordinary ticket for a blind one (RFC 9578), and the hook for an operator's own login.

- ``POST /token-request``, ``Authorization: Bearer`` and a ticket, a TokenRequest: gives the TokenResponse.
- ``POST /tickets``, ``Authorization: Bearer`` and a token of this folder, ``{"account": "..."}``: gives the ticket of
  that account, each time the same.  This is the hook: whoever logs people in calls it and hands the ticket on.
- ``GET /.well-known/private-token-issuer-directory``: the key, for other programs.  A device takes it from the study.

Nothing about a request is logged, and no address is read.
"""

import asyncio
import hmac
import json
from collections.abc import Callable
from pathlib import Path

from starlette.types import Receive, Scope, Send

from fairgauge.collector.bodies import media_type, read_body
from fairgauge.collector.logs import log_fault
from fairgauge.collector.problems import MEDIA_TYPE, Problem, problem_of
from fairgauge.collector.rates import Rate
from fairgauge.collector.refusals import BadMediaType, BadTicket, NoToken, TooMany
from fairgauge.collector.tickets import Tickets
from fairgauge.collector.tokens import Gatekeeper
from fairgauge.collector.vault import read_or_make_secret
from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.issuer.book import Book
from fairgauge.issuer.signing import PrivateKey, key_in, sign_blinded
from fairgauge.passes import read_key, write_key
from fairgauge.passes.token import SIGNATURE, TYPE
from fairgauge.study import Study

REQUEST_TYPE = "application/private-token-request"
RESPONSE_TYPE = "application/private-token-response"
DIRECTORY_TYPE = "application/private-token-issuer-directory"
LARGEST = 4096
SIGNED = 50.0  # requests a second and process that are worked on: each costs some milliseconds
KNOCKS = 2000.0  # requests a second that are looked at
ACCOUNT_FILE = "accounts.key"
LONGEST_ACCOUNT = 200

_SHARED = [(b"access-control-allow-origin", b"*")]
_PREFLIGHT = [
    *_SHARED,
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"Authorization, Content-Type"),
    (b"access-control-max-age", b"86400"),
]
Reply = tuple[int, str, bytes]


class Issuer:
    """Gives out blind tickets for one study.

    Raises:
        InvalidInput: If the folder has no key, or the study names another.
    """

    def __init__(self, folder: Path, study: Study) -> None:
        key = key_in(folder)
        if key is None:
            raise InvalidInput("secrets", folder, "has no issuer's key: fairgauge issuer key makes one")
        if study.issuer is None or study.issuer.key != write_key(key.public):
            raise InvalidInput("study", study.digest, "must name the key of this issuer: see fairgauge issuer key")
        self._key: PrivateKey = key
        self._name = read_key(study.issuer.key).id
        self._study = study.digest
        self._tickets = Tickets.in_folder(folder)
        self._accounts = read_or_make_secret(folder, ACCOUNT_FILE, 32)
        self._logins = Gatekeeper(folder)
        self._knocks, self._signed = Rate(KNOCKS), Rate(SIGNED)
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
        _take(self._signed)
        # Signed before it is remembered: a request that cannot be signed costs nobody a ticket.
        signed = await asyncio.to_thread(sign_blinded, self._key, request[3:])
        if not await asyncio.to_thread(self.book.exchange, ticket, request):
            raise BadTicket("This ticket was exchanged before, with another request.")
        return signed

    # ------------------------------------------------------------------------------------------------ HTTP
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers = [*_SHARED]
        try:
            _take(self._knocks)
            if scope["method"] == "OPTIONS":
                status, kind, body, headers = 204, "", b"", [*_PREFLIGHT]
            else:
                status, kind, body = await self._answer(scope, receive)
        except Exception as error:  # noqa: BLE001 - whatever happens, the sender is told, and nothing is said of it
            problem = _problem(error)
            status, kind, body = problem.status, MEDIA_TYPE, problem.to_bytes()
            headers += [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
        headers += [(b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store")]
        headers += [(b"content-type", kind.encode())] if kind else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _answer(self, scope: Scope, receive: Receive) -> Reply:
        asked: dict[tuple[str, str], Callable[[], Reply]] = {
            ("GET", "/healthz"): lambda: (200, "application/json", b'{"status":"alive"}'),
            ("GET", "/.well-known/private-token-issuer-directory"): self._directory,
        }
        method, path = scope["method"], scope["path"]
        if (method, path) == ("POST", "/token-request"):
            _check_type(scope, REQUEST_TYPE)
            body = await read_body(scope, receive, LARGEST)
            return 200, RESPONSE_TYPE, await self.exchange(_ticket(_bearer(scope)), body)
        if (method, path) == ("POST", "/tickets"):
            if self._logins.role_of(_bearer(scope)) != "operator":
                raise NoToken("Send Authorization: Bearer, with the token of an operator of this issuer.")
            _check_type(scope, "application/json")
            account = _account(await read_body(scope, receive, LARGEST))
            return 200, "application/json", json.dumps({"ticket": self.ticket_for(account)}).encode()
        return asked.get((method, path), _nothing)()

    def _directory(self) -> Reply:
        key = {"token-type": 2, "token-key": write_key(self._key.public)}
        return 200, DIRECTORY_TYPE, json.dumps({"issuer-request-uri": "/token-request", "token-keys": [key]}).encode()


def _nothing() -> Reply:
    problem = Problem("not-found", "An issuer has /token-request, /tickets and a directory.")
    return problem.status, MEDIA_TYPE, problem.to_bytes()


def _problem(error: Exception) -> Problem:
    if not isinstance(error, FairgaugeError):
        log_fault(error)
    return problem_of(error)


def _take(rate: Rate) -> None:
    if seconds := rate.take():
        raise TooMany("There is a limit on how many requests a second are taken.", seconds)


def _check_type(scope: Scope, kind: str) -> None:
    if media_type(scope) != kind:
        raise BadMediaType(f"Send {kind}.")


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
    if not isinstance(account, str) or not 1 <= len(account) <= LONGEST_ACCOUNT or not _is_text(account):
        raise InvalidInput("account", "not shown", f"must be a text of 1 to {LONGEST_ACCOUNT} characters")
    return account


def _is_text(account: str) -> bool:
    """Tell whether there is no half of a pair of surrogates in it, which JSON lets through and UTF-8 has not."""
    return not any("\ud800" <= character <= "\udfff" for character in account)
