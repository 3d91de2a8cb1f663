"""Tokens, tickets, keys and the folder that they are in.

Covers: fairgauge.collector.signatures, fairgauge.server.tickets, fairgauge.server.bearer_tokens,
fairgauge.server.secrets_folder.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fairgauge.collector.signatures import (
    Signer,
    _keys_in,
    former_keys,
    refuse_other_keys,
    remember_keys,
    rotate_key,
    signature_is_good,
)
from fairgauge.collector.stores import open_store
from fairgauge.errors import InvalidInput, StoreError
from fairgauge.server.bearer_tokens import Gatekeeper, new_token, read_tokens, read_uses, revoke_token
from fairgauge.server.secrets_folder import locked, read_or_make_secret, read_secret, write_secret
from fairgauge.server.tickets import Tickets

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


def test_a_change_of_mode_is_noticed_at_once(tmp_path: Path):
    token, gate = new_token(tmp_path, name="alice", role="operator"), Gatekeeper(tmp_path)
    for mode, role in ((0o600, "operator"), (0o644, None), (0o600, "operator")):
        (tmp_path / "tokens.json").chmod(mode)
        assert gate.role_of(token) == role


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


RACE = """
import sys
from pathlib import Path
from fairgauge.server.bearer_tokens import new_token, revoke_token
folder, me = Path(sys.argv[1]), sys.argv[2]
for n in range(10):
    new_token(folder, name=f"{me}-{n}", role="reader")
    if n % 2:
        revoke_token(folder, name=f"{me}-{n}")
"""


def test_processes_that_change_tokens_at_once_lose_nothing_and_revive_nothing(tmp_path: Path):
    racers = [subprocess.Popen([sys.executable, "-c", RACE, str(tmp_path), str(me)]) for me in range(4)]
    assert [racer.wait(60) for racer in racers] == [0] * 4
    assert {token.name for token in read_tokens(tmp_path)} == {f"{me}-{n}" for me in range(4) for n in range(0, 10, 2)}


def test_a_token_ends_when_it_expires(tmp_path: Path):
    now = [0.0]
    token = new_token(tmp_path, name="guest", role="reader", expires="1970-01-01T01:00:00Z")
    gate = Gatekeeper(tmp_path, clock=lambda: now[0])
    assert gate.role_of(token) == "reader"
    now[0] = 3600.0
    assert gate.role_of(token) is None


def test_the_last_use_of_a_token_is_known_by_the_hour(tmp_path: Path):
    now = [7300.0]
    token = new_token(tmp_path, name="alice", role="reader")
    new_token(tmp_path, name="bob", role="reader")
    gate = Gatekeeper(tmp_path, clock=lambda: now[0])
    gate.role_of("wrong")
    assert read_uses(tmp_path) == {}
    gate.role_of(token)
    now[0] = 7900.0
    gate.role_of(token)
    assert read_uses(tmp_path) == {"alice": "1970-01-01T02:00:00Z"}
    assert (tmp_path / "token-uses.json").stat().st_mode & 0o777 == 0o600
    Gatekeeper(tmp_path, clock=lambda: 3600.0).role_of(token)  # a clock that went back
    assert read_uses(tmp_path) == {"alice": "1970-01-01T02:00:00Z"}


def test_a_rotated_key_stays_known(tmp_path: Path):
    first = Signer.in_folder(tmp_path).public
    old, second = rotate_key(tmp_path)
    _, third = rotate_key(tmp_path)
    assert old == first
    assert len({first, second, third}) == 3
    assert Signer.in_folder(tmp_path).public == third
    assert former_keys(tmp_path) == [first, second]
    with pytest.raises(InvalidInput, match="no signing key"):
        rotate_key(tmp_path / "empty")


def test_a_store_stays_with_its_keys(tmp_path: Path):
    mine, other, empty = tmp_path / "mine", tmp_path / "other", tmp_path / "empty"
    for folder in (mine, other):
        Signer.in_folder(folder)
        Tickets.in_folder(folder)

    async def play() -> None:
        store = await open_store(f"sqlite:///{tmp_path / 'gauge.db'}")
        try:
            await refuse_other_keys(store, other)  # a new store belongs to nobody
            await remember_keys(store, mine, 0)
            await refuse_other_keys(store, mine)
            for wrong in (other, empty):
                with pytest.raises(StoreError, match="fairgauge key adopt"):
                    await refuse_other_keys(store, wrong)
            assert not empty.exists()  # no key was made on the way
            rotate_key(mine)
            await refuse_other_keys(store, mine)  # the folder says which key came before
            (mine / "tickets.key").write_bytes(bytes(32))
            with pytest.raises(StoreError, match="another tickets key"):
                await refuse_other_keys(store, mine)
            await remember_keys(store, mine, 3600)
            await refuse_other_keys(store, mine)
            assert (mine / "tickets.key").read_bytes().hex() not in str(await store.keys())
        finally:
            await store.close()

    asyncio.run(play())
    assert {len(found) for found in _keys_in(mine).values()} == {1, 2}


@pytest.mark.parametrize("mode", [0o640, 0o620, 0o604, 0o644, 0o610])
def test_a_secret_that_a_group_or_others_may_touch_is_not_used(tmp_path: Path, mode: int):
    write_secret(tmp_path, "a.key", bytes(32))
    (tmp_path / "a.key").chmod(mode)
    with pytest.raises(InvalidInput, match="chmod 600"):
        read_secret(tmp_path, "a.key")


def test_a_folder_that_is_made_for_secrets_is_its_owners(tmp_path: Path):
    write_secret(tmp_path / "one", "a.key", bytes(32))
    read_or_make_secret(tmp_path / "two", "a.key", 32)
    with locked(tmp_path / "three"):
        pass
    assert {folder.stat().st_mode & 0o777 for folder in tmp_path.iterdir()} == {0o700}


@pytest.mark.parametrize(
    "make",
    [lambda folder: write_secret(folder, "a.key", bytes(32)), lambda folder: read_or_make_secret(folder, "a.key", 32)],
    ids=["written", "made"],
)
def test_a_secret_has_its_name_when_it_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object]
):
    """First what it holds, then its name; a key that is used and then gone would be made anew, as another one."""
    synced: list[tuple[bool, bytes | None]] = []

    def sync(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}")
        synced.append(((tmp_path / "a.key").exists(), None if path.is_dir() else path.read_bytes()))

    monkeypatch.setattr("os.fsync", sync)
    make(tmp_path)
    held = (tmp_path / "a.key").read_bytes()
    assert synced == [(False, held), (True, None)]
    assert len(held) == 32


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_key_of_another_length_is_not_used(tmp_path: Path, size: int):
    write_secret(tmp_path, "a.key", bytes(size))
    with pytest.raises(InvalidInput, match=f"{size} bytes: must be 32 bytes"):
        read_or_make_secret(tmp_path, "a.key", 32)


def test_a_secret_that_cannot_be_written_or_read_is_said_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Whoever goes on would take a token for kept, or a key for new."""
    (tmp_path / "a.key").mkdir()
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_secret(tmp_path, "a.key")
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_secret(tmp_path, "a.key", b"secret")
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_secret(tmp_path / "file", "b.key", b"secret")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.key", "file"]

    def interrupted(_handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    for make in (
        lambda: write_secret(tmp_path, "c.key", bytes(32)),
        lambda: read_or_make_secret(tmp_path, "c.key", 32),
    ):
        with pytest.raises(KeyboardInterrupt):
            make()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.key", "file"]


def test_of_two_that_make_a_key_at_once_both_have_the_first_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = Path.hardlink_to

    def late(self: Path, target: Path) -> None:
        if not self.exists():
            write_secret(tmp_path, "a.key", b"f" * 32)
        real(self, target)

    monkeypatch.setattr(Path, "hardlink_to", late)
    assert read_or_make_secret(tmp_path, "a.key", 32) == b"f" * 32
    assert [path.name for path in tmp_path.iterdir()] == ["a.key"]
