"""HPKE in base mode (RFC 9180) with X25519, HKDF-SHA256 and AES-128-GCM: one message in, one secret out.

``cryptography`` has the curve and the cipher; its own HPKE exports no secrets, which the reply of an envelope needs.
"""

import hmac
from dataclasses import dataclass

from fairgauge.errors import InvalidInput, MissingExtra

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError:
    raise MissingExtra("sending through a relay needs cryptography", "relay") from None


class Suite:
    """The algorithms by their numbers, and the sizes of what they take and give."""

    KEM, KDF, AEAD = 0x0020, 0x0001, 0x0001
    KEY_BYTES, NONCE_BYTES, POINT_BYTES, TAG_BYTES = 16, 12, 32, 16


_HASH = 32
_KEM_SUITE = b"KEM" + Suite.KEM.to_bytes(2, "big")
_SUITE = b"HPKE" + b"".join(part.to_bytes(2, "big") for part in (Suite.KEM, Suite.KDF, Suite.AEAD))


@dataclass(frozen=True, slots=True)
class Context:
    """The keys that both sides of one envelope have: it is used for one message, so it counts none."""

    enc: bytes
    key: bytes
    nonce: bytes
    exporter: bytes

    def __repr__(self) -> str:
        return "Context(not shown)"

    def seal(self, plain: bytes) -> bytes:
        """Encrypt the one message."""
        return seal(self.key, self.nonce, plain)

    def open(self, sealed: bytes) -> bytes:
        """Decrypt the one message.

        Raises:
            InvalidInput: If it is not what was encrypted.
        """
        return open_sealed(self.key, self.nonce, sealed)

    def export(self, label: bytes, size: int) -> bytes:
        """Return a secret that only the two sides know."""
        return _labeled_expand(_SUITE, self.exporter, b"sec", label, size)


def send_to(public: bytes, info: bytes, *, ephemeral: bytes | None = None) -> Context:
    """Make the keys of a new envelope for the holder of a public key.

    Raises:
        InvalidInput: If the public key is none.
    """
    own = X25519PrivateKey.generate() if ephemeral is None else X25519PrivateKey.from_private_bytes(ephemeral)
    enc = own.public_key().public_bytes_raw()
    return _context(_agreed(own, public), enc, public, info)


def receive(secret: bytes, enc: bytes, info: bytes) -> Context:
    """Make the keys of an envelope that came in."""
    own = X25519PrivateKey.from_private_bytes(secret)
    return _context(_agreed(own, enc), enc, own.public_key().public_bytes_raw(), info)


def public_of(secret: bytes) -> bytes:
    """Return the public key of a secret one."""
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def seal(key: bytes, nonce: bytes, plain: bytes) -> bytes:
    """Encrypt with AES-128-GCM."""
    return AESGCM(key).encrypt(nonce, plain, b"")


def open_sealed(key: bytes, nonce: bytes, sealed: bytes) -> bytes:
    """Decrypt with AES-128-GCM.

    Raises:
        InvalidInput: If it is not what was encrypted.
    """
    try:
        return AESGCM(key).decrypt(nonce, sealed, b"")
    except InvalidTag:
        pass
    raise InvalidInput("envelope", f"{len(sealed)} bytes", "must be sealed for this key")


def extract(salt: bytes, secret: bytes) -> bytes:
    """HKDF-Extract with SHA-256."""
    return hmac.digest(salt or bytes(_HASH), secret, "sha256")


def expand(secret: bytes, info: bytes, size: int) -> bytes:
    """HKDF-Expand with SHA-256."""
    found = block = b""
    counter = 1
    while len(found) < size:
        block = hmac.digest(secret, block + info + bytes([counter]), "sha256")
        found += block
        counter += 1
    return found[:size]


def _agreed(own: X25519PrivateKey, other: bytes) -> bytes:
    try:
        return own.exchange(X25519PublicKey.from_public_bytes(other))
    except ValueError:  # also a point that gives the same secret to everyone
        pass
    raise InvalidInput("key", f"{len(other)} bytes", "must be a public key of X25519")


def _context(agreed: bytes, enc: bytes, public: bytes, info: bytes) -> Context:
    prk = _labeled_extract(_KEM_SUITE, b"", b"eae_prk", agreed)
    shared = _labeled_expand(_KEM_SUITE, prk, b"shared_secret", enc + public, _HASH)
    about = b"\0" + _labeled_extract(_SUITE, b"", b"psk_id_hash", b"")
    about += _labeled_extract(_SUITE, b"", b"info_hash", info)
    secret = _labeled_extract(_SUITE, shared, b"secret", b"")
    key = _labeled_expand(_SUITE, secret, b"key", about, Suite.KEY_BYTES)
    nonce = _labeled_expand(_SUITE, secret, b"base_nonce", about, Suite.NONCE_BYTES)
    return Context(enc, key, nonce, _labeled_expand(_SUITE, secret, b"exp", about, _HASH))


def _labeled_extract(suite: bytes, salt: bytes, label: bytes, secret: bytes) -> bytes:
    return extract(salt, b"HPKE-v1" + suite + label + secret)


def _labeled_expand(suite: bytes, secret: bytes, label: bytes, info: bytes, size: int) -> bytes:
    return expand(secret, size.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info, size)
