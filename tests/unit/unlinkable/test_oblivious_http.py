"""Envelopes: the example of RFC 9458 byte for byte, another implementation of HPKE, and what does not open.

Covers: fairgauge.unlinkable.oblivious_http, fairgauge.unlinkable.hpke
"""

import json
import subprocess
import sys
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.unlinkable.hpke import expand, extract, public_of, send_to
from fairgauge.unlinkable.oblivious_http import (
    SEALED_REQUEST,
    SEALED_RESPONSE,
    SIZE,
    KeyConfig,
    open_request,
    open_response,
    seal_request,
)

ROOT = Path(__file__).parents[3]
RFC = {
    name: bytes.fromhex(value)
    for name, value in json.loads((ROOT / "tests/vectors/envelopes.json").read_text(encoding="utf-8")).items()
    if isinstance(value, str) and name != "about"
}
SECRET = RFC["secret"]


def text(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def test_every_envelope_has_one_size():
    config = KeyConfig.of(SECRET)
    sealed = seal_request(config, bytes(SIZE))
    assert len(sealed.data) == SEALED_REQUEST
    assert len(open_request(SECRET, config, sealed.data).seal_response(bytes(SIZE))) == SEALED_RESPONSE


def test_the_example_of_rfc_9458():
    config = KeyConfig.read(text(RFC["config"]))
    assert (config.number, config.public) == (1, public_of(SECRET))
    assert config.to_bytes() == RFC["config"]
    sealed = seal_request(config, RFC["request"], ephemeral=RFC["ephemeral"])
    assert sealed.context.enc == RFC["enc"]
    assert sealed.data == RFC["sealed_request"]
    opened = open_request(SECRET, config, sealed.data)
    assert opened.data == RFC["request"]
    exported = opened.context.export(b"message/bhttp response", 16)
    assert exported == RFC["exported"]
    prk = extract(RFC["enc"] + RFC["nonce"], exported)
    assert prk == RFC["prk"]
    assert (expand(prk, b"key", 16), expand(prk, b"nonce", 12)) == (RFC["key"], RFC["aead_nonce"])
    # As much as HKDF has: 255 blocks, and not one more.
    assert len(expand(prk, b"", 255 * 32)) == 255 * 32
    response = opened.seal_response(RFC["response"], nonce=RFC["nonce"])
    assert response == RFC["sealed_response"]
    assert open_response(sealed, response) == RFC["response"]


def test_another_implementation_opens_what_we_seal_and_we_open_what_it_seals():
    pyhpke = pytest.importorskip("pyhpke")
    ids = (pyhpke.KEMId.DHKEM_X25519_HKDF_SHA256, pyhpke.KDFId.HKDF_SHA256, pyhpke.AEADId.AES128_GCM)
    suite = pyhpke.CipherSuite.new(*ids)
    config, info = KeyConfig.of(SECRET), b"message/bhttp request\0" + KeyConfig.of(SECRET).header
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    private = pyhpke.KEMKey.from_pyca_cryptography_key(X25519PrivateKey.from_private_bytes(SECRET))
    public = pyhpke.KEMKey.from_pyca_cryptography_key(X25519PublicKey.from_public_bytes(config.public))
    ours = seal_request(config, b"hello")
    theirs = suite.create_recipient_context(ours.context.enc, private, info=info)
    assert theirs.open(ours.data[7 + 32 :]) == b"hello"
    assert theirs.export(b"message/bhttp response", 16) == ours.context.export(b"message/bhttp response", 16)
    enc, sender = suite.create_sender_context(public, info=info)
    opened = open_request(SECRET, config, config.header + enc + sender.seal(b"good day"))
    assert opened.data == b"good day"
    assert sender.export(b"message/bhttp response", 16) == opened.context.export(b"message/bhttp response", 16)


def test_each_envelope_is_another_and_opens_once_with_its_own_reply():
    config = KeyConfig.of(SECRET)
    one, other = seal_request(config, b"the same"), seal_request(config, b"the same")
    assert one.data[7:] != other.data[7:]
    reply = open_request(SECRET, config, one.data).seal_response(b"yes")
    assert open_response(one, reply) == b"yes"
    with pytest.raises(InvalidInput, match="must be sealed for this key"):
        open_response(other, reply)
    assert "not shown" in repr(one.context)


def test_what_is_not_for_this_gateway_does_not_open():
    config, other = KeyConfig.of(SECRET), KeyConfig.of(bytes(31) + b"\7")
    sealed = seal_request(config, b"hello").data
    for wrong, field in (
        (b"", "key"),
        (sealed[:6], "key"),
        (sealed[:20], "envelope"),
        (sealed[:-1], "envelope"),
        (sealed[:-1] + bytes([sealed[-1] ^ 1]), "envelope"),
        (bytes([sealed[0] ^ 1]) + sealed[1:], "key"),
        (seal_request(other, b"hello").data, "key"),
        (config.header + seal_request(other, b"hello").data[7:], "envelope"),
        (config.header + bytes(32) + bytes(40), "key"),  # a point that gives everyone the same secret
    ):
        with pytest.raises(InvalidInput) as caught:
            open_request(SECRET, config, wrong)
        assert caught.value.field == field


def test_a_key_configuration_has_one_form():
    good = RFC["config"]
    for wrong in (b"", good[:-1], good + b"\0", good[:1] + b"\0\x10" + good[3:], good[:37] + bytes([0, 1, 0, 3]) * 2):
        with pytest.raises(InvalidInput, match="must be a key configuration"):
            KeyConfig.read(text(wrong))
    for written in (text(good) + "=", "!!", "AB C"):
        with pytest.raises(InvalidInput, match="gateway"):
            KeyConfig.read(written)
    with pytest.raises(InvalidInput, match="must be a public key of X25519"):
        send_to(bytes(31), b"")


def test_without_the_extra_there_is_one_sentence():
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); sys.modules['cryptography'] = None; "
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code + "import fairgauge.unlinkable.oblivious_http"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1].endswith(
        "sending through a relay needs cryptography: pip install 'fairgauge[relay]'"
    )
