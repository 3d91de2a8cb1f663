"""A device that hides asks for its study once, through the relay, and notices a study that is made for it alone.

Covers: fairgauge.client.study_source
"""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.client import Ledger, Patience, issuer_client, study_source, witness
from fairgauge.client.command import main
from fairgauge.collector.admission import PublishingTerms
from fairgauge.collector.service import Collector
from fairgauge.parties.blind_signing import make_key, sign_blinded
from fairgauge.study import Issuer, Study
from fairgauge.unlinkable.pass_token import write_key
from tests.parties import Parties, three_parties
from tests.recorder import Heard, Recorder, Reply, recorder
from tests.vectors.node import needs_node, run_client

AT_ONCE = Patience(tries=4, first=0, longest=0, timeout=10)
PERSON = ["--group", "female", "--value", "recall=0.83"]


@pytest.fixture(scope="module")
def parties(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parties]:
    with three_parties(tmp_path_factory.mktemp("parties")) as found:
        yield found


def arguments(parties: Parties, ledger: Path, digest: str) -> list[str]:
    places = {"send": "collector", "relay": "relay"}
    found = [part for option, party in places.items() for part in (f"--{option}", parties.url(party))]
    address = f"{parties.url('collector')}/studies/{digest}"
    return [address, *PERSON, "--ledger", str(ledger), *found]


def ticketed(parties: Parties) -> list[str]:
    return ["--issuer", parties.url("issuer"), "--ticket", parties.issuer.new_ticket()]


def heard(parties: Parties, since: int) -> list[str]:
    """Return what the collector was asked for directly, and what came through its gateway."""
    lines = [line for line in parties.parties["collector"].heard[since:] if line.startswith(b"127.0.0.1:")]
    return [re.findall(r" (\w+ \S+)", line.decode())[0] for line in lines]


KEYS, ENVELOPE = "GET /.well-known/ohttp-gateway", "POST /.well-known/ohttp-gateway"


def test_the_study_comes_through_the_relay_once_and_the_collector_is_never_asked_by_the_device(
    parties: Parties, tmp_path: Path
) -> None:
    ledger, digest = tmp_path / "ledger", parties.study.digest
    typed = [*arguments(parties, ledger, digest), *ticketed(parties)]
    start = len(parties.parties["collector"].heard)
    assert main(typed, patience=AT_ONCE) == 0
    assert Ledger(ledger).state(digest) == "delivered"
    # The relay asks for the key, which is everyone's; then the study, whether it is open, and the answer.
    assert [line for line in heard(parties, start) if line != KEYS] == [ENVELOPE] * 3
    start = len(parties.parties["collector"].heard)
    assert main([*typed, "--again"], patience=AT_ONCE) == 0
    assert heard(parties, start) == [ENVELOPE], "the study is kept, and the answer is the only thing that leaves"


def test_who_asks_without_a_relay_is_told_that_the_collector_saw_it(
    parties: Parties, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address, ledger = f"{parties.url('collector')}/studies/{parties.study.digest}", tmp_path / "ledger"
    typed = [address, *PERSON, "--ledger", str(ledger), *ticketed(parties)]
    assert main(typed, patience=AT_ONCE) == 0
    assert capsys.readouterr().err.startswith("The collector saw the address that asked for this study; with --relay")
    start = len(parties.parties["collector"].heard)
    assert main(typed, patience=AT_ONCE) == 0
    assert (capsys.readouterr().err, heard(parties, start)) == ("", [])


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
    publishing = parties.collector.publish(study.to_bytes(), PublishingTerms(admission="open"))
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
    publishing = parties.collector.publish(own.to_bytes(), PublishingTerms(admission="tickets"))
    asyncio.run_coroutine_threadsafe(publishing, parties.loop).result(20)
    ledger = tmp_path / "ledger"
    typed = [*arguments(parties, ledger, own.digest), *ticketed(parties)]
    assert main(typed, patience=AT_ONCE) == 1
    assert "does not sign for the study" in capsys.readouterr().err
    assert Ledger(ledger).state(own.digest) is None


@pytest.fixture
def own_issuer(parties: Parties, tmp_path: Path) -> Iterator[tuple[Study, Recorder]]:
    """A study for one person alone, into which the collector wrote itself as the issuer, and its issuer."""
    secret = make_key(tmp_path)
    key = Issuer("tickets.example", write_key(secret.public))
    own = replace(parties.study, purpose="For you alone, by me.", issuer=key)
    publishing = parties.collector.publish(own.to_bytes(), PublishingTerms(admission="tickets"))
    asyncio.run_coroutine_threadsafe(publishing, parties.loop).result(20)

    def reply(heard: Heard) -> Reply:
        if heard.method == "GET":
            return Reply(body=json.dumps({"studies": [own.digest]}).encode())
        return Reply(body=sign_blinded(secret, heard.body[3:]))

    with recorder() as found:
        found.reply = reply
        yield own, found


def test_a_collector_that_names_itself_as_the_issuer_gets_no_answer(
    parties: Parties, own_issuer: tuple[Study, Recorder], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From an address and from a file: the issuer that vouches is one that the person names."""
    (own, issuer), ledger = own_issuer, tmp_path / "ledger"
    typed = [*arguments(parties, ledger, own.digest), "--ticket", "ab" * 16]
    file = tmp_path / "study.json"
    file.write_bytes(own.to_bytes())
    for given in (typed, [str(file), *typed[1:]]):
        assert main(given, patience=AT_ONCE) == 2
        assert f"must be confirmed: this study has {own.digest}. Compare it with what" in capsys.readouterr().err
    assert main([*typed, "--issuer", parties.url("issuer")], patience=AT_ONCE) == 1
    assert "does not sign for the study" in capsys.readouterr().err
    assert main([*typed, "--issuer", parties.url("collector")], patience=AT_ONCE) == 2
    assert "must be run by somebody else than the collector" in capsys.readouterr().err
    assert (issuer.heard, Ledger(ledger).state(own.digest), parties.counts(own)) == ([], None, 0)


def test_it_knows_the_answer_by_its_digest_where_nobody_asks_for_a_witness(
    parties: Parties, own_issuer: tuple[Study, Recorder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, issuer = own_issuer
    monkeypatch.setattr(witness, "check_witness", lambda *_, **__: None)
    monkeypatch.setattr(issuer_client, "issuer_in", lambda _study: issuer.url)
    typed = [*arguments(parties, tmp_path / "ledger", own.digest), "--ticket", "ab" * 16]
    assert main(typed, patience=AT_ONCE) == 0
    assert parties.counts(own) == 1


def test_a_relay_at_the_collectors_own_address_carries_nothing(
    parties: Parties, unissued: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever runs both sees address and answer."""
    ledger, file = tmp_path / "ledger", tmp_path / "study.json"
    file.write_bytes(unissued.to_bytes())
    start = len(parties.parties["collector"].heard)
    typed = [*arguments(parties, ledger, unissued.digest), "--digest", unissued.digest]
    typed[typed.index("--relay") + 1] = f"{parties.url('collector')}/.well-known/ohttp-gateway"
    for given in ([str(file), *typed[1:]], typed):
        assert main(given, patience=AT_ONCE) == 2
        assert "must be run by somebody else than the collector, and not at its address" in capsys.readouterr().err
    assert heard(parties, start) == []
    assert not ledger.exists() or Ledger(ledger).state(unissued.digest) is None


def test_a_kept_study_is_the_one_that_was_named(parties: Parties, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    address = f"{parties.url('collector')}/studies/{'a' * 64}"
    ledger.keep_document(address, parties.study.to_bytes())
    assert main([address, *PERSON, "--ledger", str(tmp_path / "ledger")], patience=AT_ONCE) == 2
    assert ledger.state(parties.study.digest) is None


def test_a_kept_study_does_not_stand_in_for_the_one_that_is_confirmed_later(
    unissued: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An address that gave a study for one person alone gives everybody's later: each is asked for once."""
    own, ledger = replace(unissued, purpose="For you alone."), tmp_path / "ledger"
    with recorder() as server:
        server.reply = lambda _heard: Reply(body=own.to_bytes())
        typed = [f"{server.url}/latest.json", *PERSON, "--ledger", str(ledger), "--to-file", str(tmp_path / "answers")]
        assert main(typed, patience=AT_ONCE) == 2
        assert f"must be confirmed: this study has {own.digest}" in capsys.readouterr().err
        server.reply = lambda _heard: Reply(body=unissued.to_bytes())
        for _ in range(2):
            assert main([*typed, "--digest", unissued.digest], patience=AT_ONCE) == 0
            assert Ledger(ledger).state(own.digest) is None
        assert len(server.heard) == 2
        assert main([*typed, "--digest", own.digest], patience=AT_ONCE) == 0, "what was kept first is kept still"
        assert len(server.heard) == 2


def test_without_what_keeps_and_compares_both_attacks_succeed(
    parties: Parties, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twins: a device that forgets its study asks right before it sends, and answers a study that names it."""
    honest = study_source.read_study
    monkeypatch.setattr(Ledger, "document", lambda *_: None)
    monkeypatch.setattr(study_source, "read_study", lambda source, *, digest, **_: honest(source, digest=digest))
    monkeypatch.setattr(issuer_client, "check_signed_for", lambda *_, **__: None)
    own = replace(parties.study, purpose="For you alone.")
    publishing = parties.collector.publish(own.to_bytes(), PublishingTerms(admission="tickets"))
    asyncio.run_coroutine_threadsafe(publishing, parties.loop).result(20)
    ledger = tmp_path / "ledger"
    typed = [*arguments(parties, ledger, own.digest), *ticketed(parties)]
    start = len(parties.parties["collector"].heard)
    assert main(typed, patience=AT_ONCE) == 0
    assert Ledger(ledger).state(own.digest) == "delivered"
    asked = heard(parties, start)
    assert asked[0] == f"GET /studies/{own.digest}", "the address, and then the envelope"
    assert asked[-1].startswith("POST")


# ---------------------------------------------------------------------------------------------------- JavaScript
@needs_node
def test_javascript_reads_a_study_its_status_and_the_directory_through_the_relay(
    parties: Parties, unissued: Study, tmp_path: Path
) -> None:
    """With an issuer, and without one: the digest must be given, and everybody must be told of it."""
    missing = replace(unissued, purpose="For you.", epoch=3600)
    start = len(parties.parties["collector"].heard)
    found = run_client(
        tmp_path,
        f"""
        const [collector, relay] = {json.dumps([parties.url("collector"), parties.url("relay")])};
        const [first, second, other] = {json.dumps([parties.study.digest, unissued.digest, missing.digest])};
        const at = (digest) => `${{collector}}/studies/${{digest}}`;
        const said = (error) => error.rule ?? error.message;
        const issuer = {json.dumps(parties.url("issuer"))};
        const study = await client.loadStudy(at(first), {{ relay, issuer }});
        const open = await client.loadStudy(at(second), {{ relay, digest: second }});
        console.log(JSON.stringify([
          study.digest,
          open.digest,
          await client.studyStatus(study, collector, {{ relay }}),
          await client.studyStatus(study, collector).catch(said),
          await client.loadStudy(at(second), {{ relay }}).catch(said),
          await client.loadStudy(`${{collector}}/latest.json`, {{ relay }}).catch(said),
        ]));
        """,
    )
    assert found[:3] == [parties.study.digest, unissued.digest, {"status": "open", "results": "public"}]
    assert found[3].startswith("the study has answers sent through a relay")
    assert found[4].startswith(f"must be confirmed: this study has {unissued.digest}. Compare it with what others")
    assert found[5].startswith("must end in /studies/ and a digest")
    assert set(heard(parties, start)) <= {KEYS, ENVELOPE}, "nothing is asked of the collector itself"


@needs_node
def test_javascript_answers_no_study_that_the_collector_does_not_name_to_everybody(
    parties: Parties, unissued: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(_self: Collector) -> list[str]:
        return []

    monkeypatch.setattr(Collector, "directory", nothing)
    found = run_client(
        tmp_path,
        f"""
        const [url, relay, digest] =
          {json.dumps([parties.url("collector"), parties.url("relay"), unissued.digest])};
        const told = client.loadStudy(`${{url}}/studies/${{digest}}`, {{ relay, digest }});
        console.log(JSON.stringify(await told.then(() => "taken", (error) => error.message)));
        """,
    )
    assert "does not name this study to everybody" in found


@needs_node
def test_javascript_waits_for_the_moment_of_the_next_epoch(parties: Parties, unissued: Study, tmp_path: Path) -> None:
    study = published(parties, replace(unissued, epoch=3600, title="Later"))
    ending = replace(study, closes="2026-01-01T00:30:00Z")
    before, start = parties.counts(study), len(parties.parties["collector"].heard)
    waits, kept, sent, after, moments, late = run_client(
        tmp_path,
        f"""
        const [url, relay] = {json.dumps([parties.url("collector"), parties.url("relay")])};
        const [text, ending] = {json.dumps([study.to_bytes().decode(), ending.to_bytes().decode()])};
        const read = (given) => client.parseStudy(new TextEncoder().encode(given));
        const [study, over] = [await read(text), await read(ending)];
        const ledger = new client.Ledger();
        const answer = await ledger.answer(study, {{ group: "female", values: {{ recall: "0.83" }} }});
        const way = {{ tries: 1, relay, gateway: study.gateway }};
        const waits = await client.deliver(ledger, answer, url, way).catch((error) => error.message);
        const {{ moment }} = await ledger.recall(study.digest);
        const honest = Date.now;
        const begins = (Math.floor(honest() / 3600000) + 1) * 3600;
        Date.now = () => 1000 * moment + 1;
        const sent = await client.deliver(ledger, answer, url, way);
        Date.now = honest;
        const after = (await ledger.recall(study.digest)).moment ?? null;
        const moments = [0, 3599].map((n) => client.nextMoment(3700.5, study, () => n));
        const late = await (async () => client.nextMoment(Date.parse("2026-01-01T00:10:00Z") / 1000, over))()
          .catch((error) => error.message);
        console.log(JSON.stringify([waits, moment - begins, sent, after, moments, late]));
        """,
    )
    assert waits.startswith("the answer waits until 2")
    assert 0 <= kept < 3600
    assert (sent, after, moments) == ("accepted", None, [7200, 10799])
    assert "before that begins; nothing was drawn" in late
    assert parties.counts(study) == before + 1
    assert set(heard(parties, start)) == {ENVELOPE}
