"""Whether a study is everybody's: who says so, and who may not, in Python and in JavaScript.

Covers: fairgauge.client.witness
"""

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.client import load_study
from fairgauge.client.http_client import check_apart
from fairgauge.client.study_source import read_study
from fairgauge.client.witness import _UNCONFIRMED, check_signed_for, check_witness
from fairgauge.errors import InvalidInput, NotSigned
from fairgauge.parties.blind_signing import PrivateKey
from fairgauge.study import Issuer, Release, Study
from fairgauge.unlinkable.oblivious_http import KeyConfig
from fairgauge.unlinkable.pass_token import write_key
from tests.recorder import Heard, Recorder, Reply, recorder
from tests.samples import sample_study
from tests.vectors.node import STATIC, needs_node, run_client

RFC9578 = json.loads((Path(__file__).parents[2] / "vectors" / "passes.json").read_text(encoding="utf-8"))["rfc9578"]
SECRET = PrivateKey(int(RFC9578["p"], 16), int(RFC9578["q"], 16), 65537)
GATEWAY = KeyConfig.of(b"7" * 32).to_text()
PLAIN = sample_study()
SENT = replace(PLAIN, admission="open", gateway=GATEWAY)
BLIND = replace(PLAIN, admission="blind", issuer=Issuer("issuer.example", write_key(SECRET.public)))
BOTH = replace(BLIND, gateway=GATEWAY)
SHOWN = replace(PLAIN, admission="open", epoch=3600, release=Release(2, "0.001", 1500))


@pytest.fixture
def server() -> Iterator[Recorder]:
    with recorder() as found:
        yield found


# ------------------------------------------------------------------------------------------------------ the rule
@pytest.mark.parametrize("study", [SENT, BLIND, BOTH], ids=["gateway", "blind", "both"])
def test_a_study_that_hides_who_answers_has_a_witness(study: Study):
    issued = study.issuer is not None
    check_witness(study, digest=study.digest, issuer=None)
    check_witness(study, digest=study.digest, issuer="https://issuer.example")
    for digest, issuer in ((None, None), (PLAIN.digest, None), (PLAIN.digest, "https://issuer.example"), (None, "")):
        with pytest.raises(
            InvalidInput, match=f"digest=nothing: must be confirmed: this study has {study.digest}. Comp"
        ):
            check_witness(study, digest=digest, issuer=issuer)
    if issued:
        check_witness(study, digest=None, issuer="https://issuer.example")
    else:
        with pytest.raises(InvalidInput, match="must be confirmed"):
            check_witness(study, digest=None, issuer="https://issuer.example")


def test_others_need_none():
    for study in (PLAIN, SHOWN):
        check_witness(study, digest=None, issuer=None)


# ------------------------------------------------------------------------------------------------ the library's door
@pytest.mark.parametrize("study", [SENT, BLIND, BOTH], ids=["gateway", "blind", "both"])
def test_a_study_is_not_loaded_on_its_collectors_word(server: Recorder, study: Study, tmp_path: Path):
    """Nor on that of an address, a file or bytes, which the collector may have given."""
    server.reply = lambda _heard: Reply(body=study.to_bytes())
    address, file = f"{server.url}/studies/{study.digest}", tmp_path / "study.json"
    file.write_bytes(study.to_bytes())
    for source in (address, f"{server.url}/latest.json", file, str(file), study.to_bytes()):
        with pytest.raises(InvalidInput, match="must be confirmed"):
            load_study(source)
        assert load_study(source, digest=study.digest) == study
    assert read_study(address) == study
    with pytest.raises(InvalidInput, match="must be confirmed"):
        load_study(study.to_bytes(), relay="https://relay.example")


def test_others_are_loaded(server: Recorder):
    for study in (PLAIN, SHOWN):
        server.reply = lambda _heard, found=study: Reply(body=found.to_bytes())  # type: ignore[misc]
        assert load_study(f"{server.url}/studies/{study.digest}") == study


def test_an_issuer_that_is_named_is_asked_for_which_study_it_signs(server: Recorder):
    with recorder() as issuer:
        server.reply = lambda _heard: Reply(body=BLIND.to_bytes())
        issuer.reply = names(BLIND.digest)
        address = f"{server.url}/studies/{BLIND.digest}"
        assert load_study(address, issuer=issuer.url) == BLIND
        issuer.reply = names(BOTH.digest)
        with pytest.raises(NotSigned, match="somebody may have made this one for you alone"):
            load_study(address, issuer=issuer.url)
        with pytest.raises(InvalidInput, match=r"issuer=.*must be run by somebody else than the collector"):
            load_study(address, issuer=server.url)


@pytest.mark.parametrize(("length", "fine"), [(2**16, True), (2**16 + 1, False)])
def test_an_issuers_directory_has_64_kib_at_most(length: int, fine: bool):
    told = json.dumps({"studies": [BLIND.digest]}).encode()
    with recorder() as issuer, nullcontext() if fine else pytest.raises(NotSigned):
        issuer.script(Reply(body=told[:-1] + b" " * (length - len(told)) + told[-1:]))
        check_signed_for(BLIND, issuer.url, timeout=5)


def names(*studies: str) -> Callable[[Heard], Reply]:
    def reply(heard: Heard) -> Reply:
        assert heard.path == "/.well-known/private-token-issuer-directory"
        return Reply(body=json.dumps({"studies": studies}).encode())

    return reply


# -------------------------------------------------------------------------------------------------- who is who
COLLECTOR = "https://collector.example/studies"
SAME = [
    ("https://collector.example", COLLECTOR),
    ("https://collector.example:8443/relay", COLLECTOR),
    ("http://Collector.Example./relay", COLLECTOR),
    ("https://relay.collector.example", COLLECTOR),
    ("https://collector.example", "https://studies.collector.example"),
    ("https://192.0.2.1:1", "https://192.0.2.1:2"),
    ("https://3221225985", "https://192.0.2.1"),
    ("https://[2001:db8::1]", "https://[2001:DB8:0:0::1]:8443"),
    ("https://[::ffff:192.0.2.1]", "https://192.0.2.1"),
    ("http://127.0.0.1:8642", "http://localhost:8642"),
    ("http://[::1]:8642", "http://127.1:8642"),
    ("http://a.localhost", "http://127.0.0.1:80"),
    ("http://0.0.0.0:8642", "http://[::]:8642"),
    ("http://[::ffff:7f00:1]:8642", "http://localhost:8642"),
]
APART = [
    ("https://relay.example", COLLECTOR),
    ("https://notcollector.example", COLLECTOR),
    ("https://collector.example.org", COLLECTOR),
    ("https://192.0.2.2", "https://192.0.2.1"),
    ("https://[2001:db8::2]", "https://[2001:db8::1]"),
    ("http://127.0.0.1:8644", "http://127.0.0.1:8642"),
    ("http://localhost:8644", "http://127.0.0.1:8642"),
]


@pytest.mark.parametrize(("other", "collector"), SAME)
def test_a_party_at_the_collectors_own_host_is_refused(other: str, collector: str):
    with pytest.raises(
        InvalidInput, match=r"^relay=.*: must be run by somebody else than the collector, and not at its"
    ):
        check_apart("relay", other, collector)


@pytest.mark.parametrize(("other", "collector"), APART)
def test_others_are_apart(other: str, collector: str):
    check_apart("relay", other, collector)


# ---------------------------------------------------------------------------------------------------- JavaScript
@needs_node
def test_javascript_tells_parties_apart_as_python_does(tmp_path: Path):
    found = run_client(
        tmp_path,
        f"""
        globalThis.fetch = () => Promise.reject(new TypeError());
        const study = {{ digest: "{"a" * 64}", gateway: "{GATEWAY}" }};
        const told = [];
        for (const [relay, url] of {json.dumps(SAME + APART)}) {{
          const drawn = {{ study: study.digest, id: "{"b" * 32}", symbol: 1 }};
          for (const asked of [
            () => client.send(drawn, url, {{ relay, gateway: study.gateway, tries: 1, first: 0 }}),
            () => client.studyStatus(study, url, {{ relay }}),
            () => client.loadStudy(`${{new URL(url).origin}}/studies/${{study.digest}}`, {{ relay }}),
          ]) told.push(await asked().catch((error) => [error.name, error.field, error.rule]));
        }}
        console.log(JSON.stringify(told));
        """,
    )
    refused = ["InvalidInput", "relay", "must be run by somebody else than the collector, and not at its address"]
    assert [one == refused for one in found] == [True] * 3 * len(SAME) + [False] * 3 * len(APART)


@needs_node
def test_javascript_has_the_same_rule_in_the_same_words(tmp_path: Path):
    """From an address and from bytes, with and without a relay, digest and issuer, whose directory names one study."""
    studies = [PLAIN, SHOWN, SENT, BLIND, BOTH]
    script = f"""
        const documents = {json.dumps([study.to_bytes().decode() for study in studies])};
        const digests = {json.dumps([study.digest for study in studies])};
        const issuer = "https://issuer.example";
        let signed = [];
        globalThis.fetch = async (url) => {{
          if (String(url).startsWith(issuer)) return new Response(JSON.stringify({{ studies: signed }}));
          return new Response(documents[digests.indexOf(String(url).slice(-64))]);
        }};
        const told = async (work) => work.then(({{ digest }}) => digest, (error) => error.rule ?? error.message);
        const found = [];
        for (const [i, digest] of digests.entries()) {{
          const address = `https://collector.example/studies/${{digest}}`;
          signed = [digest];
          const row = [
            await told(client.loadStudy(address)),
            await told(client.loadStudy(address, {{ digest }})),
            await told(client.loadStudy(address, {{ issuer }})),
            await told(client.loadStudy(new TextEncoder().encode(documents[i]))),
            await told(client.loadStudy(new TextEncoder().encode(documents[i]), {{ relay: "https://relay.example" }})),
            await told(client.loadStudy(address, {{ issuer: "https://issuer.collector.example" }})),
          ];
          for (signed of [[], ["a"], [digest, "a"]]) row.push(await told(client.loadStudy(address, {{ issuer }})));
          found.push(row);
        }}
        const ledger = new client.Ledger();
        const study = await client.parseStudy(new TextEncoder().encode(documents[3]));
        found.push(await client.fetchToken(ledger, study, "{"b" * 32}").catch((error) => error.rule));
        console.log(JSON.stringify(found));
        """
    *rows, token = run_client(tmp_path, script)
    own = "must be run by somebody else than the collector, and not at its address"
    other = "https://issuer.example does not sign for this study, and for no other: somebody may have made it for you "
    other += "alone; nothing was drawn"
    for study, row in zip(studies, rows, strict=True):
        name, no = study.digest, _UNCONFIRMED.format(study.digest)
        if not study.unlinkable:
            assert row == [name] * 9
        elif study.issuer is None:
            assert row == [no, name, no, no, no, no, no, no, no]
        else:
            assert row == [no, name, name, no, no, own, other, other, other]
    assert token == _UNCONFIRMED.format(BLIND.digest)


@needs_node
def test_javascript_asks_for_no_proof_beside_an_answer_that_went_through_a_relay(tmp_path: Path):
    """It would show the collector an address beside some hundred answers; who does it all the same says so."""
    found = run_client(
        tmp_path,
        f"""
        import {{ askIncluded }} from "./fairgauge-inclusion.js";
        const asked = [];
        globalThis.fetch = async (url) => {{ asked.push(String(url)); throw new TypeError(); }};
        const answer = {{ study: "{"a" * 64}", id: "{"b" * 32}", symbol: 1 }};
        const release = {{ batch: 1000 }};
        const told = [];
        const hidden = {{ release, gateway: "key" }};
        for (const [study, way] of [[hidden], [hidden, {{ straight: true }}], [{{ release, gateway: null }}]]) {{
          told.push(await askIncluded(study, answer, "https://collector.example", way).catch((error) => error.message));
          told.push(asked.length);
        }}
        console.log(JSON.stringify(told));
        """,
    )
    told = "the study has answers sent through a relay, and this would show your address beside some hundred"
    away = "https://collector.example does not answer"
    assert found == [told, 0, away, 1, away, 2]


def test_the_words_are_written_once_in_each_client():
    source = (STATIC / "fairgauge-client.js").read_text(encoding="utf-8").replace('" +\n    "', "")
    assert source.count(_UNCONFIRMED) == 1
