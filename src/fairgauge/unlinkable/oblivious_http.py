"""Oblivious HTTP (RFC 9458): a request sealed for a gateway, and the response sealed for whoever sent it.

The relay that carries both sees who sends and how much, and not what.  The gateway sees what, and not who.
"""

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from dataclasses import dataclass

from fairgauge.errors import InvalidInput
from fairgauge.unlinkable.hpke import Context, Suite, expand, extract, open_sealed, public_of, receive, seal, send_to

REQUEST_TYPE, RESPONSE_TYPE, KEYS_TYPE = "message/ohttp-req", "message/ohttp-res", "application/ohttp-keys"
WELL_KNOWN = "/.well-known/ohttp-gateway"  # RFC 9540
# Everyone's request has this many bytes before it is sealed, and so has every response: sizes tell nothing.
SIZE = 1024
_REQUEST, _RESPONSE = b"message/bhttp request", b"message/bhttp response"
_HEADER = 7
_RESPONSE_NONCE = max(Suite.KEY_BYTES, Suite.NONCE_BYTES)
_ALGORITHMS = Suite.KDF.to_bytes(2, "big") + Suite.AEAD.to_bytes(2, "big")

SEALED_REQUEST = _HEADER + Suite.POINT_BYTES + SIZE + Suite.TAG_BYTES
SEALED_RESPONSE = _RESPONSE_NONCE + SIZE + Suite.TAG_BYTES


@dataclass(frozen=True, slots=True)
class KeyConfig:
    """The public key of a gateway, with its number and the algorithms that go with it."""

    number: int
    public: bytes
    algorithms: bytes = _ALGORITHMS

    @classmethod
    def of(cls, secret: bytes) -> "KeyConfig":
        """Return the configuration of a secret key: its number is the first byte of the public key."""
        public = public_of(secret)
        return cls(public[0], public)

    @classmethod
    def read(cls, text: str, *, field: str = "gateway") -> "KeyConfig":
        """Read a configuration from base64url without padding.

        Raises:
            InvalidInput: If it is not one with X25519, HKDF-SHA256 and AES-128-GCM.
        """
        try:
            data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (Error, ValueError):
            data = b""
        if urlsafe_b64encode(data).decode().rstrip("=") == text and (found := cls._of_bytes(data)) is not None:
            return found
        rule = "must be a key configuration (RFC 9458) with X25519, HKDF-SHA256 and AES-128-GCM, in base64url"
        raise InvalidInput(field, text, rule)

    @classmethod
    def read_list(cls, data: bytes) -> "KeyConfig":
        """Return the first configuration of a list, as a gateway shows it, that can be used.

        Raises:
            InvalidInput: If there is none.
        """
        at = 0
        while at + 2 <= len(data):
            size = int.from_bytes(data[at : at + 2], "big")
            if (found := cls._of_bytes(data[at + 2 : at + 2 + size])) is not None:
                return found
            at += 2 + size
        rule = "must have a key configuration (RFC 9458) with X25519, HKDF-SHA256 and AES-128-GCM"
        raise InvalidInput("keys", f"{len(data)} bytes", rule)

    @classmethod
    def _of_bytes(cls, data: bytes) -> "KeyConfig | None":
        kem, public, rest = data[1:3], data[3 : 3 + Suite.POINT_BYTES], data[3 + Suite.POINT_BYTES :]
        algorithms = rest[2:]
        listed = [algorithms[at : at + 4] for at in range(0, len(algorithms), 4)]
        if kem != Suite.KEM.to_bytes(2, "big") or int.from_bytes(rest[:2], "big") != len(algorithms):
            return None
        if len(algorithms) % 4 or _ALGORITHMS not in listed:
            return None
        return cls(data[0], public, algorithms)

    def to_bytes(self) -> bytes:
        """Return the configuration as RFC 9458 writes it."""
        return (
            bytes([self.number])
            + Suite.KEM.to_bytes(2, "big")
            + self.public
            + len(self.algorithms).to_bytes(2, "big")
            + self.algorithms
        )

    def to_text(self) -> str:
        """Return it in base64url without padding, as a study names it."""
        return urlsafe_b64encode(self.to_bytes()).decode().rstrip("=")

    @property
    def header(self) -> bytes:
        """The bytes that every request for this key begins with."""
        return bytes([self.number]) + Suite.KEM.to_bytes(2, "big") + _ALGORITHMS


@dataclass(frozen=True, slots=True)
class _SealedRequest:
    """A request in its envelope, and what opens the reply."""

    data: bytes
    context: Context


@dataclass(frozen=True, slots=True)
class Opened:
    """A request out of its envelope, and what seals the reply."""

    data: bytes
    context: Context

    def seal_response(self, plain: bytes, *, nonce: bytes | None = None) -> bytes:
        """Return a response in its envelope."""
        nonce = os.urandom(_RESPONSE_NONCE) if nonce is None else nonce
        return nonce + seal(*_response_keys(self.context, nonce), plain)


def seal_request(config: KeyConfig, plain: bytes, *, ephemeral: bytes | None = None) -> _SealedRequest:
    """Put a request into an envelope that only the holder of the key opens; each envelope is another one."""
    context = send_to(config.public, _info(config), ephemeral=ephemeral)
    return _SealedRequest(config.header + context.enc + context.seal(plain), context)


def open_response(sealed: _SealedRequest, response: bytes) -> bytes:
    """Open the reply.

    Raises:
        InvalidInput: If it is not the gateway's reply to this request.
    """
    nonce, rest = response[:_RESPONSE_NONCE], response[_RESPONSE_NONCE:]
    return open_sealed(*_response_keys(sealed.context, nonce), rest)


def open_request(secret: bytes, config: KeyConfig, data: bytes) -> Opened:
    """Open an envelope with the gateway's secret key.

    Raises:
        InvalidInput: If it is not sealed for this key; its field is ``key`` if it names another one.
    """
    if not data.startswith(config.header):
        raise InvalidInput("key", data[:_HEADER].hex(), "must be the key of this gateway, with its algorithms")
    enc, sealed = data[_HEADER : _HEADER + Suite.POINT_BYTES], data[_HEADER + Suite.POINT_BYTES :]
    if len(enc) < Suite.POINT_BYTES:
        raise InvalidInput("envelope", f"{len(data)} bytes", "must be sealed for this key")
    context = receive(secret, enc, _info(config))
    return Opened(context.open(sealed), context)


def _info(config: KeyConfig) -> bytes:
    return _REQUEST + b"\0" + config.header


def _response_keys(context: Context, nonce: bytes) -> tuple[bytes, bytes]:
    secret = context.export(_RESPONSE, _RESPONSE_NONCE)
    prk = extract(context.enc + nonce, secret)
    return expand(prk, b"key", Suite.KEY_BYTES), expand(prk, b"nonce", Suite.NONCE_BYTES)
