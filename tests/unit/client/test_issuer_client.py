"""Fetching a blind ticket: what is sent, what is kept, and an issuer with another key.

Covers: fairgauge.client.issuer_client, fairgauge.client.ledger
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.client import Ledger
from fairgauge.client.issuer_client import fetch_token
from fairgauge.collector.admission import Gate
from fairgauge.errors import AnswerRefused, CannotAnswer, CannotSend, InvalidInput, NotSigned
from fairgauge.parties.blind_signing import PrivateKey, sign_blinded
from fairgauge.study import Issuer
from fairgauge.unlinkable.pass_token import write_key
from tests.recorder import Heard, Recorder, Reply, recorder
from tests.samples import sample_study

RFC9578 = json.loads((Path(__file__).parents[2] / "vectors" / "passes.json").read_text(encoding="utf-8"))["rfc9578"]
SECRET = PrivateKey(int(RFC9578["p"], 16), int(RFC9578["q"], 16), 65537)
KEY = write_key(SECRET.public)
STUDY = replace(sample_study(), admission="blind", issuer=Issuer("issuer.example", KEY))
TICKET = "0123456789abcdef" * 2
NOBODY = "https://issuer.example"


@pytest.fixture
def issuer():
    """An issuer that names the study, and to a ticket says what a test has it say."""
    with recorder() as found:
        found.reply = names(lambda heard: Reply(body=sign_blinded(SECRET, heard.body[3:])))
        yield found


def names(exchange: Callable[[Heard], Reply], *studies: str) -> Callable[[Heard], Reply]:
    directory = json.dumps({"studies": studies or [STUDY.digest]}).encode()
    return lambda heard: Reply(body=directory) if heard.method == "GET" else exchange(heard)


def exchanged(issuer: Recorder) -> list[Heard]:
    return [heard for heard in issuer.heard if heard.method == "POST"]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


def test_a_ticket_becomes_a_token_that_is_kept(issuer: Recorder, ledger: Ledger):
    token = fetch_token(ledger, STUDY, TICKET, issuer=issuer.url)
    assert Gate("issuer.example", KEY, STUDY.digest).id_of(token)
    (heard,) = exchanged(issuer)
    assert (heard.method, heard.path, len(heard.body)) == ("POST", "/token-request", 259)
    assert heard.headers["Authorization"] == f"Bearer {TICKET}"
    assert heard.headers["Content-Type"] == "application/private-token-request"
    assert fetch_token(ledger, STUDY, None, issuer=issuer.url) == token
    assert len(exchanged(issuer)) == 1
    assert TICKET.encode() not in ledger.path.read_bytes()


def test_the_same_ticket_sends_the_same_request_until_it_is_answered(issuer: Recorder, ledger: Ledger):
    good = issuer.reply

    def reply(heard: Heard) -> Reply:
        return Reply(503) if len(exchanged(issuer)) < 3 else good(heard)

    issuer.reply = names(reply)
    for _ in range(2):
        with pytest.raises(CannotSend, match="is not ready to exchange the ticket"):
            fetch_token(ledger, STUDY, TICKET, issuer=issuer.url)
    fetch_token(ledger, STUDY, TICKET, issuer=issuer.url)
    assert len({heard.body for heard in exchanged(issuer)}) == 1


def test_another_ticket_begins_anew(issuer: Recorder, ledger: Ledger):
    good = issuer.reply
    issuer.reply = names(lambda _heard: Reply(403))
    with pytest.raises(AnswerRefused, match="does not take the ticket"):
        fetch_token(ledger, STUDY, TICKET, issuer=issuer.url)
    issuer.reply = good
    fetch_token(ledger, STUDY, TICKET[::-1], issuer=issuer.url)
    assert len({heard.body for heard in exchanged(issuer)}) == 2


def test_an_issuer_with_another_key_is_refused(issuer: Recorder, ledger: Ledger):
    other = PrivateKey(int(RFC9578["p"], 16), 2**1024 - 105, 65537)
    issuer.reply = names(lambda _heard: Reply(body=other.power(5).to_bytes(300, "big")[-256:]))
    with pytest.raises(NotSigned, match="did not sign with the key that the study names; nothing was drawn"):
        fetch_token(ledger, STUDY, TICKET, issuer=issuer.url)
    assert ledger.token(STUDY.digest) is None


@pytest.mark.parametrize("named", [["a" * 64], [STUDY.digest, "a" * 64], "all", {}], ids=str)
def test_an_issuer_that_does_not_name_this_study_alone_gets_no_ticket(issuer: Recorder, ledger: Ledger, named: object):
    """One that names several may name everyone's own: its key is for one study."""
    issuer.reply = lambda _heard: Reply(body=json.dumps({"studies": named}).encode())
    with pytest.raises(NotSigned, match="does not sign for the study"):
        fetch_token(ledger, STUDY, TICKET, issuer=issuer.url)
    assert exchanged(issuer) == []


def test_what_is_not_there_is_said(ledger: Ledger):
    with pytest.raises(CannotAnswer, match="with a ticket only"):
        fetch_token(ledger, STUDY, None, issuer=NOBODY)
    with pytest.raises(InvalidInput, match="ticket=not shown"):
        fetch_token(ledger, STUDY, "x" * 32, issuer=NOBODY)
    with pytest.raises(InvalidInput, match="takes no blind tickets"):
        fetch_token(ledger, sample_study(), TICKET, issuer=NOBODY)
    wrong = replace(STUDY, issuer=Issuer("issuer.example", "AAAA"))
    with pytest.raises(InvalidInput, match=r"issuer\.key=AAAA: must be the public key"):
        fetch_token(ledger, wrong, TICKET, issuer=NOBODY)
