"""Bearer tokens: who may publish and close (operators) and who may see results (operators and readers).

Only SHA-256 hashes are stored.  A token holds 256 random bits, so its hash needs no salt and no stretching.  Without
a file, with one that cannot be read, or with one that is malformed, no token is good.  A token may expire.

The hour in which each was last used is in a file of its own: the file that says who may do what changes only when that
does.
"""

import hmac
import json
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.server.coarse_time import bucket_of, moment_of, seconds_of
from fairgauge.server.secrets_folder import locked, read_secret, write_secret

_FILE = "tokens.json"
_USES = "token-uses.json"
_HOUR = 3600
_ROLES = ("operator", "reader")


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token."""

    name: str
    role: str
    hash: str
    expires: str | None = None  # such as 2027-01-01T00:00:00Z

    def __post_init__(self) -> None:
        if not 1 <= len(self.name) <= 100 or not self.name.isprintable():
            raise InvalidInput("name", self.name, "must be 1 to 100 printable characters")
        if self.role not in _ROLES:
            raise InvalidInput("role", self.role, f"must be {' or '.join(_ROLES)}")
        if len(self.hash) != 64:
            raise InvalidInput("hash", self.hash, "must be 64 hexadecimal digits")
        if self.expires is not None:
            _check_moment(self.expires)

    def good_at(self, now: float) -> bool:
        """Tell whether the token has not expired."""
        return self.expires is None or now < seconds_of(self.expires)


def read_tokens(folder: Path) -> list[Token]:
    """Return the tokens that are kept in a folder."""
    data = read_secret(folder, _FILE)
    if data is None:
        return []
    try:
        kept = json.loads(data)
        return [Token(str(one["name"]), str(one["role"]), str(one["hash"]), one.get("expires")) for one in kept]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput("tokens", folder / _FILE, f"is malformed ({type(error).__name__})") from None


def new_token(folder: Path, *, name: str, role: str, expires: str | None = None) -> str:
    """Make a token, keep its hash, and return it: it cannot be shown again."""
    text = f"fg{role[:1]}_{secrets.token_urlsafe(32)}"
    made = Token(name, role, _hash(text), expires)
    with locked(folder):
        kept = read_tokens(folder)
        if any(token.name == name for token in kept):
            raise InvalidInput("name", name, "is taken: revoke that token, or choose another name")
        _write(folder, [*kept, made])
    return text


def revoke_token(folder: Path, *, name: str) -> None:
    """Forget a token."""
    with locked(folder):
        kept = read_tokens(folder)
        left = [token for token in kept if token.name != name]
        if len(left) == len(kept):
            raise InvalidInput("name", name, "is no token's name")
        _write(folder, left)


def read_uses(folder: Path) -> dict[str, str]:
    """Return the hour in which each token was last used, by name; a file that is gone or malformed tells none."""
    try:
        found = json.loads(read_secret(folder, _USES) or b"{}")
    except (InvalidInput, ValueError):
        return {}
    return {str(name): str(hour) for name, hour in found.items()} if isinstance(found, dict) else {}


def _note_use(folder: Path, name: str, hour: str) -> None:
    """Remember the hour in which a token was used, unless a later one is known."""
    with locked(folder):
        uses = read_uses(folder)
        if uses.get(name, "") < hour:
            write_secret(folder, _USES, json.dumps(uses | {name: hour}, indent=1).encode())


class Gatekeeper:
    """Tells the role of a token, and notices when the file changes."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._clock = clock
        self._used: dict[str, str] = {}
        self._seen: tuple[int, int, int, int] | None = None
        self._tokens: list[Token] = []
        self.broken = False

    def role_of(self, text: str) -> str | None:
        """Return the role of a token, or None if it is not good."""
        token = self.find(text)
        return None if token is None else token.role

    def tokens(self) -> list[Token]:
        """Return all tokens that are good now."""
        self._refresh()
        now = self._clock()
        return [token for token in self._tokens if token.good_at(now)]

    def kept(self) -> list[Token]:
        """Return all tokens that are kept, also those that have expired."""
        self._refresh()
        return self._tokens

    def find(self, text: str) -> Token | None:
        """Return what is kept of a token, or None if it is not good."""
        hashed, found = _hash(text), None
        for token in self.tokens():  # all of them: how long it takes tells nothing about which one matched
            if hmac.compare_digest(token.hash, hashed):
                found = token
        if found is not None:
            self._note(found)
        return found

    def _note(self, token: Token) -> None:
        """Remember the hour: one small file is written for each token and hour."""
        hour = moment_of(bucket_of(self._clock(), _HOUR))
        if self._used.get(token.name) != hour:
            self._used[token.name] = hour
            with suppress(InvalidInput):  # a folder that cannot be written keeps nobody out
                _note_use(self._folder, token.name, hour)

    def _refresh(self) -> None:
        try:
            found = (self._folder / _FILE).stat()
            now = (found.st_ino, found.st_mtime_ns, found.st_size, found.st_ctime_ns)  # a change of mode moves the last
        except OSError:
            self._seen, self._tokens = None, []
            return
        if now != self._seen:
            try:
                self._tokens, self.broken = read_tokens(self._folder), False
            except FairgaugeError:
                self._tokens, self.broken = [], True
            self._seen = now


def _check_moment(value: object) -> None:
    try:
        good = isinstance(value, str) and moment_of(int(seconds_of(value))) == value
    except ValueError:
        good = False
    if not good:
        raise InvalidInput("expires", value, "must be a moment in UTC such as 2027-01-01T00:00:00Z")


def _write(folder: Path, tokens: list[Token]) -> None:
    write_secret(folder, _FILE, json.dumps([asdict(token) for token in tokens], indent=1).encode())


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
