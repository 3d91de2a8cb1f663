"""Sessions: a browser that has shown a good token stays signed in for a working day.

The collector keeps no list of sessions, only of those that ended early.  A cookie holds when it ends, a random number,
and an HMAC over both and the hash of the token, so it is good for as long as that token is: revoking a token ends all
its sessions at once.  What a signed-in browser sends to change something must also show a proof that only our own pages
know (``proof``).
"""

import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fairgauge.server.bearer_tokens import Gatekeeper, Token
from fairgauge.server.secrets_folder import read_or_make_secret

_FILE = "sessions.key"
_KEY_BYTES = 32
SECONDS = 8 * 3600
COOKIE = "fairgauge-session"
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that is signed in: the name and role of its token, and its proof."""

    name: str
    role: str
    proof: str

    def is_own(self, proof: str) -> bool:
        """Tell whether a form carries this session's proof, which only our own pages know."""
        return hmac.compare_digest(self.proof.encode(), proof.encode())


def _name_of(cookie: str) -> str:
    """Return what a session is remembered by: from it nobody can make the cookie."""
    return sha256(cookie.encode()).hexdigest()


class Sessions:
    """Makes and checks the cookies of signed-in browsers."""

    def __init__(self, key: bytes, gatekeeper: Gatekeeper, *, clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self._gatekeeper = gatekeeper
        self._clock = clock
        self._ended: dict[str, int] = {}  # sessions that ended before their time, and when they would have ended

    @classmethod
    def in_folder(cls, folder: Path, gatekeeper: Gatekeeper, *, clock: Callable[[], float] = time.time) -> "Sessions":
        """Use the key in a folder of secrets, and make one if there is none."""
        return cls(read_or_make_secret(folder, _FILE, _KEY_BYTES), gatekeeper, clock=clock)

    def start(self, text: str) -> str | None:
        """Return a cookie for a browser that shows this token, or None if the token is not good."""
        token = self._gatekeeper.find(text)
        if token is None:
            return None
        start = f"{int(self._clock()) + SECONDS}.{secrets.token_hex(16)}"
        return f"{start}.{self._sign('session', start, token)}"

    def find(self, cookie: str) -> Session | None:
        """Return the session of a cookie, or None if it is forged, over, or its token was revoked."""
        start, _, signature = cookie.rpartition(".")
        ends = start.partition(".")[0]
        if len(cookie) > _LONGEST or not cookie.isascii() or not ends.isdecimal() or int(ends) <= self._clock():
            return None
        if _name_of(cookie) in self._ended:
            return None
        found = None
        for token in self._gatekeeper.tokens():  # all of them: how long it takes tells nothing
            if hmac.compare_digest(signature, self._sign("session", start, token)):
                found = Session(token.name, token.role, self._sign("proof", start, token))
        return found

    def end(self, cookie: str) -> tuple[str, int] | None:
        """End a session for good, and return its name and until when that must be remembered; None if it is none."""
        if self.find(cookie) is None:
            return None
        name, until = _name_of(cookie), int(cookie.partition(".")[0])
        self._ended[name] = until
        return name, until

    def remember_ended(self, sessions: dict[str, int]) -> None:
        """Learn of sessions that were ended elsewhere, and forget those that would be over by now."""
        now = self._clock()
        self._ended = {name: until for name, until in (self._ended | sessions).items() if until > now}

    def _sign(self, purpose: str, start: str, token: Token) -> str:
        return hmac.digest(self._key, f"{purpose} {start} {token.hash}".encode(), "sha256").hex()
