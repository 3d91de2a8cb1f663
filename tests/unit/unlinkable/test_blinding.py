"""Blind RSA: every vector of RFC 9474, and what a dishonest signer gets."""

import json
from hashlib import sha256
from math import gcd
from pathlib import Path

import pytest

from fairgauge.errors import InvalidInput, NotSigned
from fairgauge.parties.blind_signing import PrivateKey, sign_blinded
from fairgauge.unlinkable.blinding import Blinding, PublicKey, blind, encode, finalize, new_blinding, verify

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "passes.json").read_text(encoding="utf-8"))
RFC9474, RFC9578 = VECTORS["rfc9474"], VECTORS["rfc9578"]
KEY = PrivateKey(int(RFC9578["p"], 16), int(RFC9578["q"], 16), 65537)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


@pytest.mark.parametrize("vector", RFC9474["variants"], ids=lambda vector: vector["name"])
def test_the_vectors_of_rfc_9474(vector: dict[str, str]):
    key = PrivateKey(int(RFC9474["p"], 16), int(RFC9474["q"], 16), int(RFC9474["e"], 16))
    message = bytes.fromhex(vector["prefix"] + RFC9474["message"])
    salt = bytes.fromhex(vector["salt"])
    blinding = Blinding(salt, pow(int(RFC9474["inv"], 16), -1, key.public.n))
    assert digest(encode(message, key.public.n.bit_length() - 1, salt)) == vector["encoded"]
    request = blind(key.public, message, blinding)
    assert digest(request) == vector["blinded"]
    signed = sign_blinded(key, request)
    assert digest(signed) == vector["blind_signature"]
    signature = finalize(key.public, message, blinding, signed)
    assert digest(signature) == vector["signature"]
    assert verify(key.public, message, signature, salt_bytes=len(salt))


@pytest.fixture(scope="module")
def signed() -> tuple[bytes, Blinding, bytes, bytes]:
    blinding = new_blinding(KEY.public)
    answer = sign_blinded(KEY, blind(KEY.public, b"hello", blinding))
    return b"hello", blinding, answer, finalize(KEY.public, b"hello", blinding, answer)


def test_a_signature_is_good_for_its_message_and_its_key_only(signed: tuple[bytes, Blinding, bytes, bytes]):
    message, _, _, signature = signed
    assert verify(KEY.public, message, signature)
    assert not verify(KEY.public, b"other", signature)
    assert not verify(KEY.public, message, signature, salt_bytes=0)
    assert not verify(KEY.public, message, signature[:-1])
    assert not verify(KEY.public, message, b"\0" + signature)
    assert not verify(KEY.public, message, bytes([signature[0] ^ 1]) + signature[1:])
    assert not verify(KEY.public, message, (int.from_bytes(signature, "big") + KEY.public.n).to_bytes(257, "big"))
    assert not verify(KEY.public, message, b"\xff" * 256)
    assert not verify(PublicKey(KEY.public.n + 2, KEY.public.e), message, signature)


def test_a_signer_who_signs_something_else_is_caught(signed: tuple[bytes, Blinding, bytes, bytes]):
    message, blinding, answer, _ = signed
    for wrong in (answer[:-1], b"\0" + answer, bytes(256), bytes(255) + b"\1", answer[:-1] + bytes([answer[-1] ^ 1])):
        with pytest.raises(NotSigned):
            finalize(KEY.public, message, blinding, wrong)


def test_the_same_request_is_signed_with_the_same_bytes(signed: tuple[bytes, Blinding, bytes, bytes]):
    message, blinding, answer, _ = signed
    assert sign_blinded(KEY, blind(KEY.public, message, blinding)) == answer


def test_the_request_tells_nothing_about_the_message():
    """For every message there is an r that makes the same request: nobody can tell which message it was."""
    blinding = new_blinding(KEY.public)
    request = blind(KEY.public, b"mine", blinding)
    code = int.from_bytes(encode(b"yours", 2047, blinding.salt), "big")
    r = KEY.power(int.from_bytes(request, "big") * pow(code, -1, KEY.public.n) % KEY.public.n)
    assert blind(KEY.public, b"yours", Blinding(blinding.salt, r)) == request
    # The twin: without r, the request is the code of the message, and tells all.
    assert blind(KEY.public, b"mine", Blinding(blinding.salt, 1)) == encode(b"mine", 2047, blinding.salt)


def test_a_key_of_known_factors_is_no_key():
    tiny = PublicKey(3 * 2**1023, 65537)
    with pytest.raises(InvalidInput, match="key=not shown: must be the product of two large primes"):
        blind(tiny, b"hello", Blinding(bytes(48), 5))
    with pytest.raises(InvalidInput, match="too short"):
        encode(b"hello", 511, bytes(48))


def test_secrets_are_not_shown():
    assert "not shown" in repr(new_blinding(KEY.public))
    assert str(KEY.p) not in repr(KEY)


def test_a_code_that_is_bent_anywhere_is_no_signature_though_the_key_signed_it():
    salt = bytes(48)
    code = encode(b"hello", 2047, salt)

    def signed_as_it_is(bent: bytes) -> bytes:
        return KEY.power(int.from_bytes(bent, "big")).to_bytes(256, "big")

    assert verify(KEY.public, b"hello", signed_as_it_is(code))
    # 158 is the byte between the zeros and the salt.
    for place in (1, 100, 158, len(code) - 60, len(code) - 49, len(code) - 1):
        bent = code[:place] + bytes([code[place] ^ 1]) + code[place + 1 :]
        assert not verify(KEY.public, b"hello", signed_as_it_is(bent)), place


def test_a_signature_has_one_form_or_one_ticket_would_count_twice():
    n = KEY.public.n
    for number in range(60):
        message = bytes([number])
        signature = KEY.power(int.from_bytes(encode(message, 2047, bytes(48)), "big"))
        if signature + n < 2**2048:
            assert verify(KEY.public, message, signature.to_bytes(256, "big"))
            assert not verify(KEY.public, message, (signature + n).to_bytes(256, "big"))
            return
    pytest.fail("no signature is small enough to have a second form")


def test_what_hides_a_message_can_be_divided_out_again():
    assert {gcd(new_blinding(PublicKey(15, 3)).r, 15) for _ in range(200)} == {1}


def test_what_hides_a_message_is_any_number_below_the_key_and_another_each_time():
    """Of 64 numbers none is in the upper half once in 2^64 times; a small one could be tried out by the signer."""
    found = [new_blinding(KEY.public) for _ in range(64)]
    assert max(each.r for each in found) > KEY.public.n // 2 > min(each.r for each in found)
    assert len({each.r for each in found}) == len({each.salt for each in found}) == 64
    assert {len(each.salt) for each in found} == {48}
    # Each of the eight that could be misses 400 draws with probability (7/8)^400.
    assert {new_blinding(PublicKey(15, 3)).r for _ in range(400)} == {1, 2, 4, 7, 8, 11, 13, 14}
