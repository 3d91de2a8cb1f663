"""Tickets: an answer id that only the collector's key could have made, so that one ticket counts once.

A ticket is 8 random bytes and the first 8 bytes of HMAC-SHA256(key, study || random), as 32 hexadecimal digits.  The
collector keeps no list of them, so it cannot know to whom one was given; using it twice is a duplicate answer.
A site that holds many people gets a ticket by its name, and whoever runs the study sees which of them answered.
"""

import hmac
import secrets
from pathlib import Path

from fairgauge.errors import InvalidInput
from fairgauge.server.secrets_folder import read_or_make_secret

FILE = "tickets.key"
_KEY_BYTES = 32
_LONGEST_NAME = 100
_HALF = 8


class Tickets:
    """Makes and checks tickets."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def in_folder(cls, folder: Path) -> "Tickets":
        """Use the key in a folder of secrets, and make one if there is none."""
        return cls(read_or_make_secret(folder, FILE, _KEY_BYTES))

    def new(self, study: str) -> str:
        """Return a new ticket for a study."""
        return self.begun(study, secrets.token_bytes(_HALF))

    def begun(self, study: str, start: bytes) -> str:
        """Return the ticket for a study that begins with these bytes, of which it takes eight."""
        half = start[:_HALF]
        return (half + self._proof(study, half)).hex()

    def of_site(self, study: str, name: str) -> str:
        """Return the ticket of the site with this name: always the same one, so that no site gets two.

        Raises:
            InvalidInput: If it is no name.
        """
        if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable() or name != name.strip():
            raise InvalidInput("site", name[:_LONGEST_NAME], f"must be 1 to {_LONGEST_NAME} printable characters")
        return self.begun(study, hmac.digest(self._key, f"site {study} {name}".encode(), "sha256"))

    def good(self, study: str, ticket: bytes) -> bool:
        """Tell whether 16 bytes are a ticket for a study, in constant time."""
        return hmac.compare_digest(ticket[_HALF:], self._proof(study, ticket[:_HALF]))

    def _proof(self, study: str, start: bytes) -> bytes:
        return hmac.digest(self._key, study.encode() + start, "sha256")[:_HALF]
