"""Bearer tokens: who may publish and close (operators) and who may see results (operators and readers).

Only SHA-256 hashes are stored.  A token holds 256 random bits, so its hash needs no salt and no stretching.  Without
a file, with one that cannot be read, or with one that is malformed, no token is good.
"""

import hmac
import json
import secrets
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from fairgauge.collector.vault import read_secret, write_secret
from fairgauge.errors import FairgaugeError, InvalidInput

FILE = "tokens.json"
ROLES = ("operator", "reader")


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token."""

    name: str
    role: str
    hash: str

    def __post_init__(self) -> None:
        if not 1 <= len(self.name) <= 100 or not self.name.isprintable():
            raise InvalidInput("name", self.name, "must be 1 to 100 printable characters")
        if self.role not in ROLES:
            raise InvalidInput("role", self.role, f"must be {' or '.join(ROLES)}")
        if len(self.hash) != 64:
            raise InvalidInput("hash", self.hash, "must be 64 hexadecimal digits")


def read_tokens(folder: Path) -> list[Token]:
    """Return the tokens that are kept in a folder."""
    data = read_secret(folder, FILE)
    if data is None:
        return []
    try:
        return [Token(str(one["name"]), str(one["role"]), str(one["hash"])) for one in json.loads(data)]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput("tokens", folder / FILE, f"is malformed ({type(error).__name__})") from None


def new_token(folder: Path, *, name: str, role: str) -> str:
    """Make a token, keep its hash, and return it: it cannot be shown again."""
    kept = read_tokens(folder)
    if any(token.name == name for token in kept):
        raise InvalidInput("name", name, "is taken: revoke that token, or choose another name")
    text = f"fg{role[0]}_{secrets.token_urlsafe(32)}"
    _write(folder, [*kept, Token(name, role, _hash(text))])
    return text


def revoke_token(folder: Path, *, name: str) -> None:
    """Forget a token."""
    kept = read_tokens(folder)
    left = [token for token in kept if token.name != name]
    if len(left) == len(kept):
        raise InvalidInput("name", name, "is no token's name")
    _write(folder, left)


class Gatekeeper:
    """Tells the role of a token, and notices when the file changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: tuple[int, int, int] | None = None
        self._tokens: list[Token] = []
        self.broken = False

    def role_of(self, text: str) -> str | None:
        """Return the role of a token, or None if it is not good."""
        token = self.find(text)
        return None if token is None else token.role

    def tokens(self) -> list[Token]:
        """Return all tokens that are good now."""
        self._refresh()
        return self._tokens

    def find(self, text: str) -> Token | None:
        """Return what is kept of a token, or None if it is not good."""
        hashed, found = _hash(text), None
        for token in self.tokens():  # all of them: how long it takes tells nothing about which one matched
            if hmac.compare_digest(token.hash, hashed):
                found = token
        return found

    def _refresh(self) -> None:
        try:
            found = (self._folder / FILE).stat()
            now = (found.st_ino, found.st_mtime_ns, found.st_size)
        except OSError:
            self._seen, self._tokens = None, []
            return
        if now != self._seen:
            try:
                self._tokens, self.broken = read_tokens(self._folder), False
            except FairgaugeError:
                self._tokens, self.broken = [], True
            self._seen = now


def _write(folder: Path, tokens: list[Token]) -> None:
    write_secret(folder, FILE, json.dumps([asdict(token) for token in tokens], indent=1).encode())


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
