"""Ed25519 signatures: anyone with the collector's public key can tell its studies and seals from forged ones.

What is signed is ``fairgauge <purpose> 1``, a newline, and the bytes: a signature for one purpose is none for another.

A store remembers the fingerprints of the keys that it was used with.  A collector that is started with another folder
of secrets would sign as somebody else and turn valid tickets away, and devices take that for a final no.  So it does
not start, and says what to do.
"""

import base64
import binascii
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from fairgauge.collector.stores.store import Store
from fairgauge.errors import InvalidInput, StoreError
from fairgauge.server import tickets
from fairgauge.server.secrets_folder import locked, read_or_make_secret, read_secret, replace_secret, write_secret

_FILE = "signing.key"
_FORMER = "signing-former.json"  # public keys that were used before, the oldest first
_KEY_BYTES = 32
_SIGNING, _TICKETS = "signing", "tickets"  # the purposes of keys


class Signer:
    """Signs with the collector's key."""

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)

    @classmethod
    def in_folder(cls, folder: Path) -> "Signer":
        """Use the key in a folder of secrets, and make one if there is none."""
        return cls(read_or_make_secret(folder, _FILE, _KEY_BYTES))

    @property
    def public(self) -> str:
        """The public key in base64."""
        return base64.b64encode(self._key.public_key().public_bytes_raw()).decode()

    def sign(self, purpose: str, data: bytes) -> str:
        """Return the signature in base64."""
        return base64.b64encode(self._key.sign(_message(purpose, data))).decode()


def public_of(folder: Path) -> str | None:
    """Return the public key of the folder's signing key, or None if there is none."""
    seed = read_secret(folder, _FILE)
    return None if seed is None else Signer(seed).public


def former_keys(folder: Path) -> list[str]:
    """Return the public keys that were used before the one of now, the oldest first."""
    data = read_secret(folder, _FORMER)
    try:
        return [str(key) for key in json.loads(data or b"[]")]
    except (TypeError, ValueError):
        raise InvalidInput("secrets", folder / _FORMER, "is malformed") from None


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
            write_secret(folder, _FORMER, json.dumps([*former, old]).encode())
        return old, Signer(replace_secret(folder, _FILE, _KEY_BYTES)).public


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


def _fingerprint(purpose: str, key: bytes) -> str:
    """Return what names a key and tells nothing about it: a key has 256 random bits.

    >>> _fingerprint("tickets", bytes(32))[:8]
    '7a3bcceb'
    """
    return sha256(f"fairgauge {purpose} fingerprint 1\n".encode() + key).hexdigest()


def _keys_in(folder: Path) -> dict[str, list[str]]:
    """Return the fingerprints of a folder's keys by purpose: the one of now first, then those of before."""
    found: dict[str, list[str]] = {_SIGNING: [], _TICKETS: []}
    now = public_of(folder)
    for public in [*([] if now is None else [now]), *reversed(former_keys(folder))]:
        found[_SIGNING].append(_fingerprint(_SIGNING, public.encode()))
    key = read_secret(folder, tickets.FILE)
    if key is not None:
        found[_TICKETS].append(_fingerprint(_TICKETS, key))
    return found


async def refuse_other_keys(store: Store, folder: Path) -> None:
    """Do nothing if the store belongs to the keys of this folder, or to none yet; before any key is made.

    Raises:
        StoreError: If it belongs to other keys.
    """
    known, here = await store.keys(), _keys_in(folder)
    for purpose in _foreign(known, here):
        raise StoreError(
            f"this store was used with another {purpose} key than {folder} holds: point --secrets to the folder of "
            "before. If the key was replaced on purpose: fairgauge key adopt --store ADDRESS --secrets FOLDER"
        )


async def remember_keys(store: Store, folder: Path, bucket: int) -> None:
    """Let the store belong to the keys of this folder."""
    known = set(await store.keys())
    for purpose, fingerprints in _keys_in(folder).items():
        if fingerprints and (purpose, fingerprints[0]) not in known:
            await store.remember_key(purpose, fingerprints[0], bucket)


def _foreign(known: list[tuple[str, str]], here: dict[str, list[str]]) -> Iterator[str]:
    for purpose, fingerprints in here.items():
        of_store = [fingerprint for kind, fingerprint in known if kind == purpose]
        # A key that was rotated in this folder is no stranger: the folder says which key came before.
        if of_store and not set(of_store) & set(fingerprints):
            yield purpose
