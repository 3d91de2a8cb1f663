"""Privacy Pass tokens of type 2 (RFC 9578): a signature under which an issuer cannot find what it signed.

A token is ``type (2 bytes), nonce (32), SHA-256 of the challenge (32), SHA-256 of the key (32), signature (256)``.  The
challenge names the issuer and, as its redemption context, the study, so a token is good for one study.  The issuer does
not see that: so an issuer has one key for each study, which the study names.
"""

import hashlib
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from dataclasses import dataclass
from typing import NamedTuple

from fairgauge.errors import InvalidInput, NotSigned
from fairgauge.unlinkable.blinding import SALT_BYTES, Blinding, PublicKey, blind, finalize, new_blinding

TYPE = b"\x00\x02"
KEY_BITS = 2048
SIGNATURE = 256
_TOKEN = 354
_ID_BYTES = 16
_NONCE = 32
# A public key of RFC 9578 (RSASSA-PSS with SHA-384, a salt of 48 bytes, 2048 bits, e = 65537) is these bytes around n:
# there is one way to write a key, so that its SHA-256 is its name.
_BEFORE = bytes.fromhex(
    "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202a11a301806092a864886f70d010108"
    "300b0609608648016503040202a2030201300382010f003082010a0282010100"
)
_AFTER = bytes.fromhex("0203010001")
_E = 65537


class _IssuerKey(NamedTuple):
    """The public key of an issuer, and its name, which is in every token."""

    public: PublicKey
    id: bytes


@dataclass(frozen=True, slots=True)
class Pass:
    """A token that is being fetched: its nonce, and what hides it from the issuer.  Only the device has this."""

    nonce: bytes
    blinding: Blinding

    def to_bytes(self) -> bytes:
        """Return all of it, to be remembered before anything is sent."""
        return self.nonce + self.blinding.salt + self.blinding.r.to_bytes(SIGNATURE, "big")

    @classmethod
    def from_bytes(cls, data: bytes) -> "Pass":
        """Read what was remembered."""
        if len(data) != _NONCE + SALT_BYTES + SIGNATURE:
            raise InvalidInput("pass", "not shown", "must have a nonce, a salt and a number")
        rest = data[_NONCE:]
        return cls(data[:_NONCE], Blinding(rest[:SALT_BYTES], int.from_bytes(rest[SALT_BYTES:], "big")))

    def request(self, key: _IssuerKey, challenge: bytes) -> bytes:
        """Return the TokenRequest: each time the same bytes."""
        hidden = blind(key.public, self._message(key, challenge), self.blinding)
        return TYPE + key.id[-1:] + hidden

    def token(self, key: _IssuerKey, challenge: bytes, response: bytes) -> bytes:
        """Return the token from the issuer's TokenResponse.

        Raises:
            NotSigned: If the issuer signed something else, or with another key.
        """
        message = self._message(key, challenge)
        return message + finalize(key.public, message, self.blinding, response)

    def _message(self, key: _IssuerKey, challenge: bytes) -> bytes:
        return TYPE + self.nonce + hashlib.sha256(challenge).digest() + key.id


def begin_pass(key: _IssuerKey) -> Pass:
    """Draw everything that a new token needs."""
    return Pass(secrets.token_bytes(_NONCE), new_blinding(key.public))


def challenge_of(issuer: str, study: str) -> bytes:
    """Return the challenge (RFC 9577) that a token for a study answers.

    Args:
        issuer: The host name of the issuer, as the study has it.
        study: The study's digest.
    """
    name = issuer.encode()
    context = bytes.fromhex(study)
    return TYPE + len(name).to_bytes(2, "big") + name + bytes([len(context)]) + context + bytes(2)


def message_of(token: bytes, key: _IssuerKey, challenge_digest: bytes) -> bytes:
    """Return the part of a token that is signed, if it names this challenge and this key.

    Raises:
        NotSigned: If it does not.
    """
    message = token[:-SIGNATURE]
    if len(token) != _TOKEN or message[:2] != TYPE or message[2 + _NONCE :] != challenge_digest + key.id:
        raise NotSigned("the token is not for this study")
    return message


def answer_id(token: bytes) -> str:
    """Return the id of the answer that a token is spent on: so one token counts once."""
    return hashlib.sha256(token).digest()[:_ID_BYTES].hex()


def read_key(text: str, *, field: str = "key") -> _IssuerKey:
    """Read an issuer's public key from base64url.

    Raises:
        InvalidInput: If it is not one of RFC 9578 with 2048 bits, in its one form.
    """
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (Error, ValueError):
        data = b""
    n = int.from_bytes(data[len(_BEFORE) : -len(_AFTER)], "big")
    key = PublicKey(n, _E)
    if n.bit_length() != KEY_BITS or n % 2 == 0 or write_key(key) != text:
        raise InvalidInput(field, text, "must be the public key of an issuer (RFC 9578, type 2), in base64url")
    return _IssuerKey(key, hashlib.sha256(data).digest())


def write_key(key: PublicKey) -> str:
    """Return a public key in base64url without padding, as a study names it."""
    if key.e != _E or key.n.bit_length() != KEY_BITS:
        raise InvalidInput("key", f"{key.n.bit_length()} bits, e = {key.e}", "must have 2048 bits and e = 65537")
    data = _BEFORE + key.n.to_bytes(SIGNATURE, "big") + _AFTER
    return urlsafe_b64encode(data).decode().rstrip("=")
