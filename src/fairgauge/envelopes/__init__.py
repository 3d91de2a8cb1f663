"""Requests in envelopes that only a gateway opens, so that whoever carries them learns nothing (RFC 9458).

A sender needs the ``[relay]`` extra: the standard library has neither X25519 nor AES.
"""

from fairgauge.envelopes.binary_http import Message, read_request, read_response, write_request, write_response
from fairgauge.envelopes.oblivious import KeyConfig, Opened, Sealed, open_request, open_response, seal_request

__all__ = [
    "KeyConfig",
    "Message",
    "Opened",
    "Sealed",
    "open_request",
    "open_response",
    "read_request",
    "read_response",
    "seal_request",
    "write_request",
    "write_response",
]
