"""Ed25519 signatures: anyone with the collector's public key can tell its studies and seals from forged ones.

What is signed is ``fairgauge <purpose> 1``, a newline, and the bytes: a signature for one purpose is none for another.
"""

import base64
import binascii
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from fairgauge.collector.vault import read_or_make_secret
from fairgauge.errors import FairgaugeError, InvalidInput

FILE = "signing.key"


class NotSigned(FairgaugeError):  # noqa: N818 - says what went wrong, as all names in fairgauge.errors do
    """A signature is not by the holder of the key."""


class Signer:
    """Signs with the collector's key."""

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)

    @classmethod
    def in_folder(cls, folder: Path) -> "Signer":
        """Use the key in a folder of secrets, and make one if there is none."""
        return cls(read_or_make_secret(folder, FILE, 32))

    @property
    def public(self) -> str:
        """The public key in base64."""
        return base64.b64encode(self._key.public_key().public_bytes_raw()).decode()

    def sign(self, purpose: str, data: bytes) -> str:
        """Return the signature in base64."""
        return base64.b64encode(self._key.sign(_message(purpose, data))).decode()


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
