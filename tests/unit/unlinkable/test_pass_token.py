"""Tokens: every vector of RFC 9578, and what is not a token."""

import json
from base64 import b64decode, urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from fairgauge.collector.admission import Gate
from fairgauge.errors import InvalidInput, NotSigned
from fairgauge.parties.blind_signing import PrivateKey, sign_blinded
from fairgauge.server.server_errors import BadTicket
from fairgauge.unlinkable.blinding import Blinding, PublicKey, blind, finalize
from fairgauge.unlinkable.pass_token import (
    TYPE,
    Pass,
    answer_id,
    begin_pass,
    challenge_of,
    read_key,
    write_key,
)

RFC9578 = json.loads((Path(__file__).parents[2] / "vectors" / "passes.json").read_text(encoding="utf-8"))["rfc9578"]
SECRET = PrivateKey(int(RFC9578["p"], 16), int(RFC9578["q"], 16), 65537)
TEXT = write_key(SECRET.public)
KEY = read_key(TEXT)
STUDY = "5" * 64
GATE = Gate("issuer.example", TEXT, STUDY)
CHALLENGE = challenge_of("issuer.example", STUDY)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


@pytest.mark.parametrize("vector", RFC9578["tokens"], ids=range(5))
def test_the_vectors_of_rfc_9578(vector: dict[str, str]):
    found = Pass(bytes.fromhex(vector["nonce"]), Blinding(bytes.fromhex(vector["salt"]), int(vector["blind"], 16)))
    challenge = bytes.fromhex(vector["challenge"])
    request = found.request(KEY, challenge)
    assert digest(request) == vector["request"]
    response = sign_blinded(SECRET, request[3:])
    assert digest(response) == vector["response"]
    token = found.token(KEY, challenge, response)
    assert digest(token) == vector["token"]
    assert answer_id(token) == vector["token"][:32]


def test_a_challenge_is_the_one_of_rfc_9577():
    printed = RFC9578["tokens"][4]["challenge"]
    assert challenge_of("issuer.example", printed[38:102]).hex() == printed


def test_a_key_has_one_name():
    assert KEY.id.hex() == RFC9578["public"]
    text = write_key(SECRET.public)
    for wrong in (text + "=", text[:-1], text[:-1] + "C", "AAAA", "", "!!", text.replace("MIIB", "MIIC")):
        with pytest.raises(InvalidInput, match="must be the public key of an issuer"):
            read_key(wrong)
    with pytest.raises(InvalidInput, match="must have 2048 bits and e = 65537"):
        write_key(PublicKey(SECRET.public.n, 3))


@pytest.fixture(scope="module")
def token() -> bytes:
    begun = begin_pass(KEY)
    return begun.token(KEY, CHALLENGE, sign_blinded(SECRET, begun.request(KEY, CHALLENGE)[3:]))


def test_a_token_is_good_for_one_study_of_one_issuer(token: bytes):
    assert GATE.id_of(token) == bytes.fromhex(answer_id(token))
    for gate in (Gate("issuer.example", TEXT, "6" * 64), Gate("other.example", TEXT, STUDY)):
        with pytest.raises(BadTicket, match="none for it"):
            gate.id_of(token)


def test_a_token_that_was_changed_is_none(token: bytes):
    for at in (0, 2, 40, 70, 100, 353):
        changed = bytearray(token)
        changed[at] ^= 1
        with pytest.raises(BadTicket):
            GATE.id_of(bytes(changed))
    for wrong in (token[:-1], token + b"\0", b""):
        with pytest.raises(BadTicket):
            GATE.id_of(wrong)


@pytest.mark.parametrize("place", [1, 34, 66], ids=["type", "challenge", "key"])
def test_a_token_that_names_something_else_is_none_though_its_issuer_signed_it(place: int):
    """An issuer does not see what it signs: a device may have anything signed, once."""
    begun, message = begin_pass(KEY), bytearray(TYPE + bytes(32) + sha256(CHALLENGE).digest() + KEY.id)
    message[place] ^= 1
    signed = sign_blinded(SECRET, blind(KEY.public, bytes(message), begun.blinding))
    forged = bytes(message) + finalize(KEY.public, bytes(message), begun.blinding, signed)
    with pytest.raises(BadTicket):
        GATE.id_of(forged)


def test_a_key_of_another_size_or_that_is_even_is_none():
    long, n = b64decode(write_key(SECRET.public) + "==", altchars=b"-_"), SECRET.public.n
    for number in (n - 1, n >> 1 | 1, 2**2047 - 1):
        data = long.replace(n.to_bytes(256, "big"), number.to_bytes(256, "big"))
        with pytest.raises(InvalidInput, match=r"must be the public key of an issuer|must have 2048 bits"):
            read_key(urlsafe_b64encode(data).decode().rstrip("="))


def test_what_is_remembered_gives_the_same_request():
    begun = begin_pass(KEY)
    again = Pass.from_bytes(begun.to_bytes())
    assert again.request(KEY, CHALLENGE) == begun.request(KEY, CHALLENGE)
    with pytest.raises(InvalidInput, match="not shown"):
        Pass.from_bytes(begun.to_bytes()[:-1])
    assert str(begun.blinding.r) not in repr(begun)


def test_two_passes_have_nothing_in_common():
    one, other = begin_pass(KEY), begin_pass(KEY)
    assert one.nonce != other.nonce
    assert one.request(KEY, CHALLENGE)[3:] != other.request(KEY, CHALLENGE)[3:]


def test_a_pass_whose_issuer_used_another_key_is_refused():
    begun = begin_pass(KEY)
    with pytest.raises(NotSigned):
        begun.token(KEY, CHALLENGE, begun.request(KEY, CHALLENGE)[3:])
