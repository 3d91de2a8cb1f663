r"""The issuer's private key, and signing what the issuer must not see.

The private operation is done on a number that nobody else knows: the request times a random u to the power e, and u is
divided out afterwards, so that the time it takes tells nothing about the request, which its sender chose.

.. math:: s' = (z \, u^e)^d \, u^{-1} \pmod n

It runs on Python's ``pow``, which is not constant-time: ``cryptography`` has no private operation on a bare number.
What is left to measure is how long a power of a random number takes; docs/threat-model.md says what that means.
"""

import secrets
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from fairgauge.errors import InvalidInput
from fairgauge.server.secrets_folder import locked, read_secret, write_secret
from fairgauge.unlinkable.blinding import PublicKey
from fairgauge.unlinkable.pass_token import KEY_BITS, write_key

_FILE = "issuer.pem"


@dataclass(frozen=True)
class PrivateKey:
    """An RSA key, whole."""

    p: int
    q: int
    e: int

    def __repr__(self) -> str:
        return "PrivateKey(not shown)"

    @cached_property
    def public(self) -> PublicKey:
        """The public part."""
        return PublicKey(self.p * self.q, self.e)

    @cached_property
    def _parts(self) -> tuple[int, int, int]:
        """The exponents for p and q, and the inverse of q, so that a power costs a quarter."""
        return pow(self.e, -1, self.p - 1), pow(self.e, -1, self.q - 1), pow(self.q, -1, self.p)

    def power(self, number: int) -> int:
        """Return a number to the power d, modulo n."""
        for_p, for_q, inverse = self._parts
        at_p, at_q = pow(number, for_p, self.p), pow(number, for_q, self.q)
        return at_q + self.q * ((at_p - at_q) * inverse % self.p)


def sign_blinded(key: PrivateKey, blinded: bytes) -> bytes:
    """Sign what a device sent (BlindSign of RFC 9474): the same request gets the same bytes.

    Raises:
        InvalidInput: If it is not a number below n.
    """
    public = key.public
    z = int.from_bytes(blinded, "big")
    if len(blinded) != public.size or z >= public.n:
        raise InvalidInput("request", f"{len(blinded)} bytes", f"must be a number of {public.size} bytes below n")
    while gcd(u := secrets.randbelow(public.n), public.n) != 1:
        pass
    signed = key.power(z * pow(u, public.e, public.n) % public.n) * pow(u, -1, public.n) % public.n
    # A fault of the hardware in one of the two halves of the power would give the key away to whoever sees the result.
    if pow(signed, public.e, public.n) != z:
        raise ArithmeticError("the private operation failed")
    return signed.to_bytes(public.size, "big")


def key_in(folder: Path) -> PrivateKey | None:
    """Return the key of a folder, or None if there is none.

    Raises:
        InvalidInput: If what is there is no key for this.
    """
    data = read_secret(folder, _FILE)
    if data is None:
        return None
    try:
        found = load_pem_private_key(data, None)
    except (ValueError, TypeError):
        found = None
    if not isinstance(found, rsa.RSAPrivateKey):
        raise InvalidInput(str(folder / _FILE), "not shown", "must be an RSA private key without a password (PEM)")
    numbers = found.private_numbers()
    key = PrivateKey(numbers.p, numbers.q, numbers.public_numbers.e)
    write_key(key.public)  # refuses what RFC 9578 does not take
    return key


def make_key(folder: Path) -> PrivateKey:
    """Make a key in a folder that has none, and return it.

    Raises:
        InvalidInput: If there is one: it is some study's.
    """
    with locked(folder):
        if read_secret(folder, _FILE) is not None:
            raise InvalidInput("secrets", folder, "has an issuer's key already: a key is for one study")
        made = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
        write_secret(folder, _FILE, made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    numbers = made.private_numbers()
    return PrivateKey(numbers.p, numbers.q, numbers.public_numbers.e)
