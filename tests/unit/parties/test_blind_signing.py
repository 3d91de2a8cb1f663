"""The issuer's key: made once, read back, and used so that its timing and its faults tell nothing."""

import shutil
import subprocess
from pathlib import Path

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.parties import blind_signing
from fairgauge.parties.blind_signing import PrivateKey, key_in, make_key, sign_blinded
from fairgauge.unlinkable.pass_token import begin_pass, challenge_of, read_key, write_key

OPENSSL = shutil.which("openssl")


@pytest.fixture(scope="module")
def key(folder: Path) -> PrivateKey:
    found = key_in(folder)
    assert found is not None
    return found


def test_a_key_is_made_once_and_only_its_owner_reads_it(folder: Path, tmp_path: Path):
    assert key_in(tmp_path) is None
    assert (folder / blind_signing._FILE).stat().st_mode & 0o777 == 0o600
    with pytest.raises(InvalidInput, match="a key is for one study"):
        make_key(folder)


def test_what_is_no_key_is_refused(tmp_path: Path):
    (tmp_path / blind_signing._FILE).write_bytes(b"nothing")
    (tmp_path / blind_signing._FILE).chmod(0o600)
    with pytest.raises(InvalidInput, match="must be an RSA private key"):
        key_in(tmp_path)


def test_a_request_that_is_too_large_is_refused(key: PrivateKey):
    for wrong in (b"", bytes(255), key.public.n.to_bytes(256, "big"), bytes(257)):
        with pytest.raises(InvalidInput, match="must be a number of 256 bytes below n"):
            sign_blinded(key, wrong)


def test_the_private_power_is_never_taken_of_what_a_stranger_sent(key: PrivateKey, monkeypatch: pytest.MonkeyPatch):
    seen: list[int] = []
    real = PrivateKey.power

    def power(self: PrivateKey, number: int) -> int:
        seen.append(number)
        return real(self, number)

    monkeypatch.setattr(PrivateKey, "power", power)
    sent = (7).to_bytes(256, "big")
    assert sign_blinded(key, sent) == sign_blinded(key, sent)
    assert len(set(seen)) == 2
    assert 7 not in seen


def test_a_fault_gives_nothing_away(key: PrivateKey, monkeypatch: pytest.MonkeyPatch):
    """A power that is right modulo p only would let whoever sees it factor n."""
    real = PrivateKey.power
    monkeypatch.setattr(PrivateKey, "power", lambda self, number: (real(self, number) + self.p) % self.public.n)
    with pytest.raises(ArithmeticError):
        sign_blinded(key, (7).to_bytes(256, "big"))


@pytest.mark.skipif(OPENSSL is None, reason="there is no openssl here")
def test_openssl_signs_the_same_and_takes_the_token(key: PrivateKey, folder: Path, tmp_path: Path):
    assert OPENSSL is not None
    issuer, challenge = read_key(write_key(key.public)), challenge_of("issuer.example", "5" * 64)
    begun = begin_pass(issuer)
    request = begun.request(issuer, challenge)[3:]
    (tmp_path / "request").write_bytes(request)
    raw = [
        OPENSSL,
        "pkeyutl",
        "-decrypt",
        "-inkey",
        str(folder / blind_signing._FILE),
        "-pkeyopt",
        "rsa_padding_mode:none",
    ]
    signed = subprocess.run([*raw, "-in", str(tmp_path / "request")], capture_output=True, check=True).stdout
    assert signed == sign_blinded(key, request)
    token = begun.token(issuer, challenge, signed)
    (tmp_path / "message").write_bytes(token[:-256])
    (tmp_path / "signature").write_bytes(token[-256:])
    public = [
        OPENSSL,
        "pkey",
        "-in",
        str(folder / blind_signing._FILE),
        "-pubout",
        "-out",
        str(tmp_path / "public.pem"),
    ]
    subprocess.run(public, check=True, capture_output=True)
    options = [part for name in ("rsa_padding_mode:pss", "rsa_pss_saltlen:48") for part in ("-sigopt", name)]
    check = [OPENSSL, "dgst", "-sha384", *options, "-verify", str(tmp_path / "public.pem")]
    files = ["-signature", str(tmp_path / "signature"), str(tmp_path / "message")]
    assert subprocess.run([*check, *files], capture_output=True, check=False).stdout == b"Verified OK\n"
    (tmp_path / "message").write_bytes(b"\0" + token[1:-256] + b"\0")
    assert subprocess.run([*check, *files], capture_output=True, check=False).returncode != 0
