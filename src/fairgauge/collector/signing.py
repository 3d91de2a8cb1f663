"""Ed25519 signatures: anyone with the collector's public key can tell its studies and seals from forged ones.

What is signed is ``fairgauge <purpose> 1``, a newline, and the bytes: a signature for one purpose is none for another.
"""

import base64
import binascii
import json
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from fairgauge.errors import InvalidInput
from fairgauge.server.secrets_folder import locked, read_or_make_secret, read_secret, replace_secret, write_secret

FILE = "signing.key"
FORMER = "signing-former.json"  # public keys that were used before, the oldest first
KEY_BYTES = 32


class Signer:
    """Signs with the collector's key."""

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)

    @classmethod
    def in_folder(cls, folder: Path) -> "Signer":
        """Use the key in a folder of secrets, and make one if there is none."""
        return cls(read_or_make_secret(folder, FILE, KEY_BYTES))

    @property
    def public(self) -> str:
        """The public key in base64."""
        return base64.b64encode(self._key.public_key().public_bytes_raw()).decode()

    def sign(self, purpose: str, data: bytes) -> str:
        """Return the signature in base64."""
        return base64.b64encode(self._key.sign(_message(purpose, data))).decode()


def public_of(folder: Path) -> str | None:
    """Return the public key of the folder's signing key, or None if there is none."""
    seed = read_secret(folder, FILE)
    return None if seed is None else Signer(seed).public


def former_keys(folder: Path) -> list[str]:
    """Return the public keys that were used before the one of now, the oldest first."""
    data = read_secret(folder, FORMER)
    try:
        return [str(key) for key in json.loads(data or b"[]")]
    except (TypeError, ValueError):
        raise InvalidInput("secrets", folder / FORMER, "is malformed") from None


def rotate_key(folder: Path) -> tuple[str, str]:
    """Replace the signing key, and return the old and the new public key.

    What was signed before is served with the key that signed it.  The old public key is kept before the new key is
    written, so a crash in between leaves the old key in use.
    """
    with locked(folder):
        old = public_of(folder)
        if old is None:
            raise InvalidInput("secrets", folder, "has no signing key to replace")
        former = former_keys(folder)
        if old not in former:
            write_secret(folder, FORMER, json.dumps([*former, old]).encode())
        return old, Signer(replace_secret(folder, FILE, KEY_BYTES)).public


def signature_is_good(public: str, purpose: str, data: bytes, signature: str) -> bool:
    """Tell whether the holder of a public key signed these bytes for this purpose.

    Raises:
        InvalidInput: If the key is no key.
    """
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public, validate=True))
    except (ValueError, binascii.Error):
        raise InvalidInput("key", public, "must be an Ed25519 public key in base64") from None
    try:
        key.verify(base64.b64decode(signature, validate=True), _message(purpose, data))
    except (ValueError, InvalidSignature):
        return False
    return True


def _message(purpose: str, data: bytes) -> bytes:
    return f"fairgauge {purpose} 1\n".encode() + data
