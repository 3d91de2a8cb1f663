"""A device that hides does not ask for its study again when it sends, and notices a study that is made for it alone.

Covers: fairgauge.client.load
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.client import Ledger, Patience, exchange
from fairgauge.client.command import main
from fairgauge.collector.queries import Terms
from tests.parties import Parties, three_parties

AT_ONCE = Patience(tries=4, first=0, longest=0, timeout=10)
PERSON = ["--group", "female", "--value", "recall=0.83"]


@pytest.fixture(scope="module")
def parties(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parties]:
    with three_parties(tmp_path_factory.mktemp("parties")) as found:
        yield found


def arguments(parties: Parties, ledger: Path, digest: str) -> list[str]:
    places = {"send": "collector", "issuer": "issuer", "relay": "relay"}
    found = [part for option, party in places.items() for part in (f"--{option}", parties.url(party))]
    address = f"{parties.url('collector')}/studies/{digest}"
    return [address, *PERSON, "--ledger", str(ledger), *found]


def heard(parties: Parties, since: int) -> list[str]:
    """Return what the collector was asked for directly, and what came through its gateway."""
    lines = [line for line in parties.parties["collector"].heard[since:] if line.startswith(b"127.0.0.1:")]
    return [re.findall(r" (\w+ \S+)", line.decode())[0] for line in lines]


def test_the_study_is_asked_for_once_and_never_when_the_answer_leaves(
    parties: Parties, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger, digest = tmp_path / "ledger", parties.study.digest
    typed = [*arguments(parties, ledger, digest), "--ticket", parties.issuer.new_ticket()]
    start = len(parties.parties["collector"].heard)
    assert main(typed, patience=AT_ONCE) == 0
    first = heard(parties, start)
    assert [line for line in first if line.startswith("GET")] == [f"GET /studies/{digest}"]
    assert Ledger(ledger).state(digest) == "pending", "the address that asked is not followed by an envelope"
    assert "fetched just now, and whoever gave it saw from where" in capsys.readouterr().out
    start = len(parties.parties["collector"].heard)
    assert main(typed, patience=AT_ONCE) == 0
    assert Ledger(ledger).state(digest) == "delivered"
    assert {line.split("?")[0] for line in heard(parties, start)} == {"POST /.well-known/ohttp-gateway"}


def test_who_wants_it_sent_at_once_says_so(parties: Parties, tmp_path: Path) -> None:
    ledger, digest = tmp_path / "ledger", parties.study.digest
    typed = [*arguments(parties, ledger, digest), "--ticket", parties.issuer.new_ticket(), "--now"]
    assert main(typed, patience=AT_ONCE) == 0
    assert Ledger(ledger).state(digest) == "delivered"


def test_a_study_for_one_person_alone_is_noticed_before_anything_is_drawn(
    parties: Parties, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Same issuer, same key, another word in its purpose: its digest would name the person."""
    own = replace(parties.study, purpose="For you, and nobody else.")
    publishing = parties.collector.publish(own.to_bytes(), Terms(admission="tickets"))
    asyncio.run_coroutine_threadsafe(publishing, parties.loop).result(20)
    ledger = tmp_path / "ledger"
    typed = [*arguments(parties, ledger, own.digest), "--ticket", parties.issuer.new_ticket()]
    assert main(typed, patience=AT_ONCE) == 1
    assert "does not sign for the study" in capsys.readouterr().err
    assert Ledger(ledger).state(own.digest) is None


def test_a_kept_study_is_the_one_that_was_named(parties: Parties, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    address = f"{parties.url('collector')}/studies/{'a' * 64}"
    ledger.keep_document(address, parties.study.to_bytes())
    assert main([address, *PERSON, "--ledger", str(tmp_path / "ledger")], patience=AT_ONCE) == 2
    assert ledger.state(parties.study.digest) is None


def test_without_what_keeps_and_compares_both_attacks_succeed(
    parties: Parties, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twins: a device that forgets its study asks right before it sends, and answers a study that names it."""
    monkeypatch.setattr(Ledger, "document", lambda *_: None)
    monkeypatch.setattr(exchange, "_check_signs_for", lambda *_: None)
    own = replace(parties.study, purpose="For you alone.")
    publishing = parties.collector.publish(own.to_bytes(), Terms(admission="tickets"))
    asyncio.run_coroutine_threadsafe(publishing, parties.loop).result(20)
    ledger = tmp_path / "ledger"
    typed = [*arguments(parties, ledger, own.digest), "--ticket", parties.issuer.new_ticket()]
    assert main(typed, patience=AT_ONCE) == 0
    start = len(parties.parties["collector"].heard)
    assert main([*typed, "--now"], patience=AT_ONCE) == 0
    assert Ledger(ledger).state(own.digest) == "delivered"
    asked = heard(parties, start)
    assert asked[0] == f"GET /studies/{own.digest}", "the address, and then the envelope"
    assert asked[-1].startswith("POST")
