"""No party alone can link an answer to a person: what each receives and keeps is searched; and nothing is lost."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairgauge.client import Ledger, Patience, issuer_client
from fairgauge.client.command import main
from fairgauge.client.sending_epoch import shown
from fairgauge.parties.issuer_server import Book, IssuerServer
from fairgauge.unlinkable.pass_token import answer_id
from tests.parties import Parties, three_parties

ROOT = Path(__file__).parents[2]
PERSON = ["--group", "female", "--value", "recall=0.83"]
# FAIRGAUGE_CRASH=every kills a device before every line of the client, which takes minutes.
STRIDE, MOST = (1, 5000) if os.environ.get("FAIRGAUGE_CRASH") == "every" else (97, 100)
AT_ONCE = Patience(tries=4, first=0, longest=0, timeout=10)


@pytest.fixture(scope="module")
def parties(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parties]:
    with three_parties(tmp_path_factory.mktemp("parties")) as found:
        (found.folder / "study.json").write_bytes(found.study.to_bytes())
        (found.folder / "plain.json").write_bytes(found.plain.to_bytes())
        yield found


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def arguments(parties: Parties, ledger: Path, ticket: str) -> list[str]:
    places = {"send": "collector", "issuer": "issuer", "relay": "relay"}
    found = [part for option, party in places.items() for part in (f"--{option}", parties.url(party))]
    return [str(parties.folder / "study.json"), *PERSON, "--ledger", str(ledger), "--ticket", ticket, *found]


# ------------------------------------------------------------------------------------------------------- linkage
def known_to(parties: Parties, name: str) -> bytes:
    """Return all that a party received, said and keeps, as it is and in hexadecimal and base64url."""
    party = parties.parties[name]
    kept = [path.read_bytes() for path in sorted(parties.folder.joinpath(name).rglob("*")) if path.is_file()]
    plain = b"\n".join([*party.heard, *party.said, *kept])
    return plain + plain.hex().encode() + urlsafe_b64encode(plain)


def traces(*secrets: bytes) -> list[bytes]:
    """Return how a secret could be found: itself, in hexadecimal, and in base64url at any offset."""
    found = []
    for secret in secrets:
        found += [secret, secret.hex().encode()]
        for shift in range(3):
            found.append(urlsafe_b64encode(bytes(shift) + secret)[4 : -4 - 4 * (shift > 0)])
    return found


def ties(parties: Parties, ticket: str, answer: bytes) -> dict[str, tuple[bool, bool]]:
    """Tell of each party whether it knows the ticket that a person showed, and whether it knows the answer's id."""
    found = {}
    for name in parties.parties:
        known = known_to(parties, name)
        person = any(trace in known for trace in traces(bytes.fromhex(ticket)))
        found[name] = (person, any(trace in known for trace in traces(answer)))
    return found


def test_each_party_alone_has_nothing_that_ties_a_ticket_to_an_answer(parties: Parties, ledger: Path):
    ticket = parties.issuer.new_ticket()
    assert main([*arguments(parties, ledger, ticket)], patience=AT_ONCE) == 0
    token = Ledger(ledger).token(parties.study.digest)
    assert token is not None
    assert Ledger(ledger).state(parties.study.digest) == "delivered"
    answer = bytes.fromhex(answer_id(token))
    assert ties(parties, ticket, answer) == {
        "collector": (False, True),
        "issuer": (True, False),
        "relay": (False, False),
    }
    # Nor does the issuer know any part of the token, or the relay what it carried.
    for part in (token[2:34], token[-256:], parties.study.digest.encode(), b"recall", b"symbol"):
        assert part not in known_to(parties, "relay")
    for part in (token[2:34], token[-256:]):
        assert not any(trace in known_to(parties, "issuer") for trace in traces(part))
    # The device has forgotten what would tie the two, too.
    assert not any(trace in ledger.read_bytes() for trace in traces(bytes.fromhex(ticket)))


def test_the_collector_sees_the_relay_and_envelopes_of_one_size(parties: Parties, ledger: Path):
    collector, relay = parties.parties["collector"], parties.parties["relay"]
    before = len(collector.heard), len(relay.heard), len(relay.said)  # tests of this file run in any order
    assert main(arguments(parties, ledger, parties.issuer.new_ticket()), patience=AT_ONCE) == 0
    heard = [line for line in collector.heard[before[0] :] if line.startswith(b"127.0.0.1:")]
    posts = [line for line in heard if b" POST /.well-known/ohttp-gateway" in line]
    assert posts
    assert not [line for line in heard if b"/answers" in line]
    names = {name for line in posts for name in re.findall(rb"^([a-z-]+): ", line, re.MULTILINE)}
    assert names == {b"host", b"accept-encoding", b"content-length", b"content-type"}
    bodies = [one for one in relay.heard[before[1] :] if not one.startswith(b"127.0.0.1:")]
    assert {len(body) for body in bodies if body} == {1079}
    assert {len(body) for body in relay.said[before[2] :] if body} == {1056}


def test_the_twin_with_ordinary_tickets_over_plain_http_is_caught(parties: Parties, ledger: Path):
    ticket = parties.collector.tickets.new(parties.plain.digest)
    study = str(parties.folder / "plain.json")
    options = ["--ledger", str(ledger), "--ticket", ticket, "--send", parties.url("collector")]
    assert main([study, *PERSON, *options], patience=AT_ONCE) == 0
    assert ties(parties, ticket, bytes.fromhex(ticket))["collector"] == (True, True)


# --------------------------------------------------------------------------------------------------- what is refused
def test_a_ticket_is_exchanged_once(parties: Parties, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    ticket = parties.issuer.new_ticket()
    before = parties.counts(parties.study)
    assert main(arguments(parties, tmp_path / "one", ticket), patience=AT_ONCE) == 0
    assert main(arguments(parties, tmp_path / "other", ticket), patience=AT_ONCE) == 1
    assert "does not take the ticket (HTTP status 403)" in capsys.readouterr().err
    assert Ledger(tmp_path / "other").state(parties.study.digest) is None
    assert parties.counts(parties.study) == before + 1


def test_without_a_relay_nothing_is_drawn(parties: Parties, ledger: Path, capsys: pytest.CaptureFixture[str]):
    given = arguments(parties, ledger, parties.issuer.new_ticket())
    without = given[: given.index("--relay")]
    assert main(without, patience=AT_ONCE) == 2
    assert capsys.readouterr().err == (
        "fairgauge: relay=nothing: must be given: the study has answers sent through a relay, so that the collector "
        "sees no addresses\n"
    )
    assert not ledger.exists() or Ledger(ledger).state(parties.study.digest) is None


def test_a_relay_that_is_none_can_delay_an_answer_and_not_refuse_it(
    parties: Parties, ledger: Path, capsys: pytest.CaptureFixture[str]
):
    given = arguments(parties, ledger, parties.issuer.new_ticket())
    given[given.index("--relay") + 1] = parties.url("issuer")
    assert main(given, patience=AT_ONCE) == 1
    assert "does not pass the answer on (HTTP status 404)" in capsys.readouterr().err
    assert Ledger(ledger).state(parties.study.digest) == "pending"
    given[given.index("--relay") + 1] = parties.url("relay")
    assert main(given, patience=AT_ONCE) == 0
    assert Ledger(ledger).state(parties.study.digest) == "delivered"


# ------------------------------------------------------------------------------------------------------ nothing lost
@pytest.mark.parametrize("party", ["issuer", "relay", "collector"])
@pytest.mark.parametrize("how", ["lose", "drop"])
def test_what_is_lost_on_the_way_is_asked_for_again(parties: Parties, ledger: Path, party: str, how: str):
    """A party that dies before it has done anything, or after it has done it and before it says so."""
    ticket, before = parties.issuer.new_ticket(), parties.counts(parties.study)
    exchanged = parties.issuer.book.count()
    setattr(parties.parties[party], how, 2)
    for _ in range(4):
        if main(arguments(parties, ledger, ticket), patience=AT_ONCE) == 0:
            break
    assert Ledger(ledger).state(parties.study.digest) == "delivered"
    assert parties.counts(parties.study) == before + 1
    assert parties.issuer.book.count() == exchanged + 1


def test_the_twin_that_forgets_what_it_asked_for_loses_its_ticket(
    parties: Parties, ledger: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(issuer_client, "check_signed_for", lambda *_, **__: None)  # the first reply is the signature
    monkeypatch.setattr(Ledger, "begin_pass", lambda _self, _study, _ticket, make: make())
    ticket = parties.issuer.new_ticket()
    parties.parties["issuer"].lose = 1
    assert [main(arguments(parties, ledger, ticket), patience=AT_ONCE) for _ in range(3)] == [1, 1, 1]


def test_an_issuer_that_was_killed_knows_what_it_gave_out(parties: Parties):
    ticket, request = b"t" * 16, b"r" * 259
    assert parties.issuer.book.exchange(ticket, request)
    again = Book(parties.folder / "issuer", parties.study.digest)  # from the file, as after a kill
    assert again.exchange(ticket, request)
    assert not again.exchange(ticket, b"s" * 259)
    again.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_device_that_is_killed_anywhere_ends_with_one_answer(parties: Parties):
    """Killed right before every so many lines of the client, then run again: one exchange and one answer each time."""
    exchanged, counted = parties.issuer.book.count(), parties.counts(parties.study)
    tickets = [parties.issuer.new_ticket() for _ in range(MOST)]
    places = ["--issuer", parties.url("issuer"), "--relay", parties.url("relay")]
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        plan = {
            "url": parties.url("collector"), "study": str(parties.folder / "study.json"), "folder": folder,
            "how": "send", "points": "lines", "stride": STRIDE, "client": "ours", "more": places, "tickets": tickets,
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "tests.e2e.crash_driver", json.dumps(plan)],
            cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(reports) > 10
    assert {(report["again"], report["state"]) for report in reports} == {(0, "delivered")}
    assert parties.issuer.book.count() == exchanged + len(reports)
    assert parties.counts(parties.study) == counted + len(reports)


# -------------------------------------------------------------------------------------------------------- the moment
def test_an_answer_waits_for_its_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with three_parties(tmp_path, epoch=3600) as parties:
        (tmp_path / "study.json").write_bytes(parties.study.to_bytes())
        ticket, ledger = parties.issuer.new_ticket(), tmp_path / "ledger"
        capsys.readouterr()
        given, before = arguments(parties, ledger, ticket), time.time()
        assert main(given, patience=AT_ONCE) == 0
        moment = Ledger(ledger).moment(parties.study.digest)
        assert moment is not None
        hours = {int(now) // 3600 + 1 for now in (before, time.time())}  # one, unless a new hour began meanwhile
        assert moment // 3600 in hours
        text = f"Sample: answered, waits until {shown(moment)}: the same command sends it from then on\n"
        assert capsys.readouterr().out == text
        assert parties.counts(parties.study) == 0
        monkeypatch.setattr(time, "time", lambda: moment + 1.0)
        assert main(given, patience=AT_ONCE) == 0
        assert capsys.readouterr().out == "Sample: answered, delivered\n"
        assert parties.counts(parties.study) == 1
        # The twin: --now sends at once, and says what that costs.
        now = [*arguments(parties, tmp_path / "other", parties.issuer.new_ticket()), "--now"]
        assert main(now, patience=AT_ONCE) == 0
        told = capsys.readouterr()
        assert told.out == "Sample: answered, delivered\n"
        assert told.err.startswith("Sent at once: whoever sees when this device was busy, and when answers arrive")
        assert parties.counts(parties.study) == 2


# ------------------------------------------------------------------------------------------------------ the programs
@pytest.fixture
def programs(parties: Parties) -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate(timeout=120)


def test_the_programs_say_where_they_are_and_stop_when_told(
    parties: Parties, programs: list[subprocess.Popen[str]], tmp_path: Path
):
    secrets = tmp_path / "issuer"
    secrets.mkdir(mode=0o700)
    (secrets / "issuer.pem").write_bytes((parties.folder / "issuer" / "issuer.pem").read_bytes())
    (secrets / "issuer.pem").chmod(0o600)
    study = str(parties.folder / "study.json")
    for command in (
        ["relay", "--to", parties.url("collector"), "--port", "0"],
        ["issuer", "serve", study, "--secrets", str(secrets), "--port", "0"],
    ):
        code = [sys.executable, "-c", "from fairgauge.cli import main; main()", *command]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        programs.append(subprocess.Popen(code, text=True, env=environment, **pipes))  # type: ignore[call-overload]
    places = []
    for process, name in zip(programs, ("relay", "issuer"), strict=True):
        assert process.stdout is not None
        said = process.stdout.readline()
        assert said.startswith(f"fairgauge {name} on http://127.0.0.1:")
        places.append(said.split()[-1])
    issuer = IssuerServer(secrets, parties.study)
    given = arguments(parties, tmp_path / "ledger", issuer.new_ticket())
    issuer.book.close()
    given[given.index("--relay") + 1], given[given.index("--issuer") + 1] = places
    assert main(given, patience=AT_ONCE) == 0
    for process in programs:
        process.terminate()
        said = process.communicate(timeout=120)[1]
        assert process.returncode == 0
        assert said == "It must not be run by whoever runs the collector: docs/no-party-alone.md says why.\n"
