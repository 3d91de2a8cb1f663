r"""Blind RSA signatures (RFC 9474): a message is signed by someone who learns nothing about it.

The device encodes its message (PSS with SHA-384), multiplies the code m by a random number that only the signer's
private operation removes, and divides it out again:

.. math:: z = m \, r^e, \qquad s' = z^d = m^d \, r, \qquad s = s' \, r^{-1} = m^d \pmod n

For every message there is exactly one r that gives z, so z says nothing about m: the signer could have unlimited time.

This is the device's part, with ``pow`` and ``hashlib``.  Nothing here depends on a private key, so it needs no constant
time towards others; r and the message are secrets of this device, and what runs beside it on the device could time it.
"""

import hashlib
import secrets
from dataclasses import dataclass
from math import gcd

from fairgauge.errors import InvalidInput, NotSigned

SALT_BYTES = 48  # as long as SHA-384
_HASH = 48
_TRAILER = 0xBC


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An RSA public key."""

    n: int
    e: int

    @property
    def size(self) -> int:
        """How many bytes a signature has."""
        return (self.n.bit_length() + 7) // 8


@dataclass(frozen=True, slots=True)
class Blinding:
    """What only the device knows of a request: the salt of the code, and the number r that hides it."""

    salt: bytes
    r: int

    def __repr__(self) -> str:
        return "Blinding(not shown)"


def new_blinding(key: PublicKey) -> Blinding:
    """Draw a salt, and a number that is uniform among those that can be divided out again."""
    while True:
        r = secrets.randbelow(key.n)
        if gcd(r, key.n) == 1:
            return Blinding(secrets.token_bytes(SALT_BYTES), r)


def blind(key: PublicKey, message: bytes, blinding: Blinding) -> bytes:
    """Return what to send to the signer.

    Guarantee: exact; it is uniform over the numbers that are coprime to n, whatever the message is.

    Raises:
        InvalidInput: If the key is no key for this.
    """
    code = int.from_bytes(encode(message, key.n.bit_length() - 1, blinding.salt), "big")
    if gcd(code, key.n) != 1:
        raise InvalidInput("key", "not shown", "must be the product of two large primes")
    return (code * pow(blinding.r, key.e, key.n) % key.n).to_bytes(key.size, "big")


def finalize(key: PublicKey, message: bytes, blinding: Blinding, signed: bytes) -> bytes:
    """Return the signature of a message from what the signer sent back.

    Raises:
        NotSigned: If the signer did not sign with this key.
    """
    if len(signed) != key.size:
        raise NotSigned(f"a blind signature must have {key.size} bytes")
    found = int.from_bytes(signed, "big") * pow(blinding.r, -1, key.n) % key.n
    signature = found.to_bytes(key.size, "big")
    if not verify(key, message, signature, salt_bytes=len(blinding.salt)):
        raise NotSigned("the signer did not sign with the key that was expected")
    return signature


def verify(key: PublicKey, message: bytes, signature: bytes, *, salt_bytes: int = SALT_BYTES) -> bool:
    """Tell whether a signature (RSASSA-PSS, SHA-384) is good."""
    number = int.from_bytes(signature, "big")
    if len(signature) != key.size or number >= key.n:
        return False
    bits = key.n.bit_length() - 1
    opened = pow(number, key.e, key.n)
    if opened.bit_length() > bits:
        return False
    code = opened.to_bytes((bits + 7) // 8, "big")
    masked, digest, trailer = code[: -_HASH - 1], code[-_HASH - 1 : -1], code[-1]
    data = _clear(_xor(masked, _mask(digest, len(masked))), bits)
    zeros = len(masked) - salt_bytes - 1
    if trailer != _TRAILER or masked != _clear(masked, bits) or data[:zeros].strip(b"\0") or data[zeros] != 1:
        return False
    return digest == _digest(message, data[zeros + 1 :])


def encode(message: bytes, bits: int, salt: bytes) -> bytes:
    """Return the code of a message, of so many bits (EMSA-PSS-ENCODE of RFC 8017, SHA-384 and MGF1)."""
    size = (bits + 7) // 8
    zeros = size - len(salt) - _HASH - 2
    if zeros < 0:
        raise InvalidInput("key", f"{bits + 1} bits", "is too short for this signature")
    digest = _digest(message, salt)
    data = bytes(zeros) + b"\x01" + salt
    return _clear(_xor(data, _mask(digest, len(data))), bits) + digest + bytes([_TRAILER])


def _digest(message: bytes, salt: bytes) -> bytes:
    return hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()


def _mask(seed: bytes, size: int) -> bytes:
    """MGF1 of RFC 8017."""
    blocks = (hashlib.sha384(seed + counter.to_bytes(4, "big")).digest() for counter in range(-(-size // _HASH)))
    return b"".join(blocks)[:size]


def _clear(data: bytes, bits: int) -> bytes:
    """Clear the bits of the first byte that a code of so many bits does not have."""
    return bytes([data[0] & (0xFF >> (-bits % 8))]) + data[1:]


def _xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))
