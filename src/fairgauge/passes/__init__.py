"""Blind tickets: who signs one cannot recognise it when it is spent.  Standard library only."""

from fairgauge.passes.blind_rsa import Blinding, PublicKey, blind, finalize, verify
from fairgauge.passes.token import Pass, answer_id, begin_pass, challenge_of, check_token, read_key, write_key

__all__ = [
    "Blinding",
    "Pass",
    "PublicKey",
    "answer_id",
    "begin_pass",
    "blind",
    "challenge_of",
    "check_token",
    "finalize",
    "read_key",
    "verify",
    "write_key",
]
