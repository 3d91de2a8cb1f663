"""A device that hides asks for its study once, through the relay, and notices a study that is made for it alone.

Covers: fairgauge.client.load
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.client import Ledger, Patience, exchange, load
from fairgauge.client.command import main
from fairgauge.collector.queries import Terms
from fairgauge.collector.service import Collector
from fairgauge.study import Study
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


KEYS, ENVELOPE = "GET /.well-known/ohttp-gateway", "POST /.well-known/ohttp-gateway"


def test_the_study_comes_through_the_relay_once_and_the_collector_is_never_asked_by_the_device(
    parties: Parties, tmp_path: Path
) -> None:
    ledger, digest = tmp_path / "ledger", parties.study.digest
    typed = [*arguments(parties, ledger, digest), "--ticket", parties.issuer.new_ticket()]
    start = len(parties.parties["collector"].heard)
    assert main(typed, patience=AT_ONCE) == 0
    assert Ledger(ledger).state(digest) == "delivered"
    # The relay asks for the key, which is everyone's; then the study, whether it is open, and the answer.
    assert [line for line in heard(parties, start) if line != KEYS] == [ENVELOPE] * 3
    start = len(parties.parties["collector"].heard)
    assert main([*typed, "--again"], patience=AT_ONCE) == 0
    assert heard(parties, start) == [ENVELOPE], "the study is kept, and the answer is the only thing that leaves"


def test_an_address_that_is_no_study_of_a_collector_is_not_read_through_a_relay(
    parties: Parties, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = arguments(parties, tmp_path / "ledger", "latest")
    start = len(parties.parties["collector"].heard)
    assert main(typed, patience=AT_ONCE) == 2
    assert "must end in /studies/ and a digest to be read through a relay" in capsys.readouterr().err
    assert heard(parties, start) == []


# ------------------------------------------------------------------------------- where nobody issues tickets
@pytest.fixture(scope="module")
def unissued(parties: Parties) -> Study:
    return published(parties, replace(parties.study, admission="open", issuer=None))


def published(parties: Parties, study: Study) -> Study:
    publishing = parties.collector.publish(study.to_bytes(), Terms(admission="open"))
    asyncio.run_coroutine_threadsafe(publishing, parties.loop).result(20)
    return study


def test_without_an_issuer_the_digest_is_shown_and_confirmed(
    parties: Parties, unissued: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = tmp_path / "ledger"
    typed = arguments(parties, ledger, unissued.digest)
    assert main(typed, patience=AT_ONCE) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        f"fairgauge: digest=nothing: must be confirmed: this study has {unissued.digest}. Compare it "
    )
    assert said.endswith("Nothing was drawn\n")
    assert Ledger(ledger).state(unissued.digest) is None
    assert main([*typed, "--digest", unissued.digest], patience=AT_ONCE) == 0
    assert Ledger(ledger).state(unissued.digest) == "delivered"


def test_a_study_that_the_collector_does_not_name_to_everybody_is_not_answered(
    parties: Parties,
    unissued: Study,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It hands a study of their own to one person, and cannot know who of all who ask for the directory that is."""
    honest = Collector.directory

    async def without_it(self: Collector) -> list[str]:
        return [digest for digest in await honest(self) if digest != unissued.digest]

    monkeypatch.setattr(Collector, "directory", without_it)
    ledger = tmp_path / "ledger"
    typed = [*arguments(parties, ledger, unissued.digest), "--digest", unissued.digest]
    assert main(typed, patience=AT_ONCE) == 1
    assert "does not name the study" in capsys.readouterr().err
    assert Ledger(ledger).state(unissued.digest) is None


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
    honest = load.load_study
    monkeypatch.setattr(Ledger, "document", lambda *_: None)
    monkeypatch.setattr(load, "load_study", lambda source, *, digest, **_: honest(source, digest=digest))
    monkeypatch.setattr(exchange, "_check_signs_for", lambda *_: None)
    own = replace(parties.study, purpose="For you alone.")
    publishing = parties.collector.publish(own.to_bytes(), Terms(admission="tickets"))
    asyncio.run_coroutine_threadsafe(publishing, parties.loop).result(20)
    ledger = tmp_path / "ledger"
    typed = [*arguments(parties, ledger, own.digest), "--ticket", parties.issuer.new_ticket()]
    start = len(parties.parties["collector"].heard)
    assert main(typed, patience=AT_ONCE) == 0
    assert Ledger(ledger).state(own.digest) == "delivered"
    asked = heard(parties, start)
    assert asked[0] == f"GET /studies/{own.digest}", "the address, and then the envelope"
    assert asked[-1].startswith("POST")
