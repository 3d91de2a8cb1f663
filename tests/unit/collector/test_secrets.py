"""Tokens, tickets, keys and the folder that they are in."""

import json
from pathlib import Path

import pytest

from fairgauge.collector.signing import Signer, signature_is_good
from fairgauge.collector.tickets import Tickets
from fairgauge.collector.tokens import Gatekeeper, new_token, read_tokens, revoke_token
from fairgauge.collector.vault import read_or_make_secret, read_secret, write_secret
from fairgauge.errors import InvalidInput

STUDY, OTHER = "a" * 64, "b" * 64


def test_only_hashes_are_stored_and_only_the_owner_may_read_them(tmp_path: Path):
    token = new_token(tmp_path / "s", name="alice", role="operator")
    kept = tmp_path / "s" / "tokens.json"
    assert token not in kept.read_text()
    assert json.loads(kept.read_text())[0]["name"] == "alice"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "s").stat().st_mode & 0o077 == 0


def test_a_gatekeeper_knows_tokens_as_they_come_and_go(tmp_path: Path):
    gate = Gatekeeper(tmp_path)
    assert gate.role_of("") is None
    alice = new_token(tmp_path, name="alice", role="operator")
    bob = new_token(tmp_path, name="bob", role="reader")
    assert (gate.role_of(alice), gate.role_of(bob), gate.role_of(alice[:-1])) == ("operator", "reader", None)
    revoke_token(tmp_path, name="alice")
    assert (gate.role_of(alice), gate.role_of(bob)) == (None, "reader")
    assert [token.name for token in read_tokens(tmp_path)] == ["bob"]


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"name": "x"}]', '[{"name":"x","role":"king","hash":"00"}]'])
def test_a_malformed_file_lets_nobody_in(tmp_path: Path, text: str):
    gate = Gatekeeper(tmp_path)
    token = new_token(tmp_path, name="alice", role="operator")
    write_secret(tmp_path, "tokens.json", text.encode())
    assert gate.role_of(token) is None
    assert gate.broken


def test_a_file_that_others_may_read_lets_nobody_in(tmp_path: Path):
    token = new_token(tmp_path, name="alice", role="operator")
    (tmp_path / "tokens.json").chmod(0o644)
    assert Gatekeeper(tmp_path).role_of(token) is None
    with pytest.raises(InvalidInput, match="chmod 600"):
        read_secret(tmp_path, "tokens.json")


def test_names_are_taken_once_and_roles_are_known(tmp_path: Path):
    new_token(tmp_path, name="alice", role="reader")
    for name, role in (("alice", "reader"), ("bob", "king"), ("", "reader"), ("a\nb", "reader")):
        with pytest.raises(InvalidInput):
            new_token(tmp_path, name=name, role=role)
    with pytest.raises(InvalidInput, match="no token's name"):
        revoke_token(tmp_path, name="bob")


def test_a_ticket_is_good_for_one_study_and_key(tmp_path: Path):
    book = Tickets.in_folder(tmp_path)
    ticket = bytes.fromhex(book.new(STUDY))
    assert len(ticket) == 16
    assert Tickets.in_folder(tmp_path).good(STUDY, ticket)
    assert not book.good(OTHER, ticket)
    assert not Tickets(bytes(32)).good(STUDY, ticket)
    for bit in range(128):
        bent = bytearray(ticket)
        bent[bit // 8] ^= 1 << bit % 8
        assert not book.good(STUDY, bytes(bent))


def test_a_ticket_is_as_the_contract_says():
    from hashlib import sha256
    from hmac import new as hmac

    key = bytes(range(32))
    ticket = bytes.fromhex(Tickets(key).new(STUDY))
    assert ticket[8:] == hmac(key, STUDY.encode() + ticket[:8], sha256).digest()[:8]


def test_signatures_are_for_one_purpose_key_and_text(tmp_path: Path):
    signer = Signer.in_folder(tmp_path)
    made = signer.sign("study", b"text")
    assert Signer.in_folder(tmp_path).public == signer.public
    assert signature_is_good(signer.public, "study", b"text", made)
    for purpose, text, signature in (("seal", b"text", made), ("study", b"texts", made), ("study", b"text", "AA==")):
        assert not signature_is_good(signer.public, purpose, text, signature)
    assert not signature_is_good(Signer(bytes(32)).public, "study", b"text", made)
    with pytest.raises(InvalidInput, match="Ed25519 public key"):
        signature_is_good("x", "study", b"text", made)


def test_a_key_is_made_once(tmp_path: Path):
    first = read_or_make_secret(tmp_path, "a.key", 32)
    assert read_or_make_secret(tmp_path, "a.key", 32) == first
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.key"]
    with pytest.raises(InvalidInput, match="must be 16 bytes"):
        read_or_make_secret(tmp_path, "a.key", 16)
