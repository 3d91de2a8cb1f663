"""Through a relay: what the relay gets, and what comes of a relay that is none."""

from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.client import Answer, Ledger, Patience, Relay, deliver, send
from fairgauge.client.delivery import check_open
from fairgauge.errors import AnswerRefused, CannotSend, InvalidInput
from fairgauge.unlinkable.binary_http import Message, read_request, write_response
from fairgauge.unlinkable.oblivious_http import SEALED_REQUEST, KeyConfig, open_request
from tests.recorder import Heard, Recorder, Reply, recorder
from tests.samples import sample_study

SECRET = bytes(range(32))
STUDY = replace(sample_study(), gateway=KeyConfig.of(SECRET).to_text())
ANSWER = Answer(STUDY.digest, "fedcba9876543210" * 2, (1,))
AT_ONCE = Patience(tries=3, first=0, longest=0, timeout=5)
COLLECTOR = "https://collector.example/below"


class Gateway:
    """A relay and a gateway in one: opens envelopes, and answers as it is told to."""

    def __init__(self, *replies: Message) -> None:
        self.replies = list(replies)
        self.asked: list[Message] = []

    def __call__(self, heard: Heard) -> Reply:
        opened = open_request(SECRET, KeyConfig.of(SECRET), heard.body)
        self.asked.append(read_request(opened.data))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return Reply(body=opened.seal_response(write_response(reply)))


@pytest.fixture
def server():
    with recorder() as found:
        yield found


def test_an_answer_in_an_envelope_is_the_answer(server: Recorder):
    server.reply = gateway = Gateway(
        Message((b"503",), ((b"retry-after", b"0"),)), Message((b"200",), (), b'{"status":"accepted"}')
    )
    relay = Relay.of(STUDY, server.url)
    assert send(ANSWER, COLLECTOR, patience=AT_ONCE, token=b"t" * 354, relay=relay) == "accepted"
    assert [len(heard.body) for heard in server.heard] == [SEALED_REQUEST] * 2
    assert server.heard[0].headers["Content-Type"] == "message/ohttp-req"
    assert "Authorization" not in server.heard[0].headers
    assert {one.start for one in gateway.asked} == {
        (b"POST", b"https", b"collector.invalid", f"/studies/{STUDY.digest}/answers".encode())
    }
    headers = dict(gateway.asked[0].headers)
    assert headers[b"content-type"] == b"application/json"
    assert headers[b"authorization"].startswith(b'PrivateToken token="')
    assert gateway.asked[0].content == ANSWER.to_bytes()


@pytest.mark.parametrize("address", ["https://anna.collector.example", "https://collector.example:8443/for/anna/"])
def test_an_address_of_ones_own_is_not_in_the_envelope(server: Recorder, address: str):
    server.reply = gateway = Gateway(Message((b"200",), (), b'{"status":"accepted"}'))
    for url in (address, COLLECTOR):
        send(ANSWER, url, patience=AT_ONCE, relay=Relay.of(STUDY, server.url))
        check_open(STUDY.digest, url, patience=AT_ONCE, relay=Relay.of(STUDY, server.url))
    assert gateway.asked[:2] == gateway.asked[2:]


def test_what_the_collector_refuses_is_refused(server: Recorder):
    server.reply = Gateway(Message((b"403",)))
    with pytest.raises(AnswerRefused, match="does not accept the ticket"):
        send(ANSWER, COLLECTOR, patience=AT_ONCE, relay=Relay.of(STUDY, server.url))


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply(403), "does not pass the answer on"),
        (Reply(410), "does not pass the answer on"),
        (Reply(body=b'{"status":"accepted"}'), "does not give the gateway's reply"),
        (Reply(body=bytes(1056)), "does not give the gateway's reply"),
    ],
    ids=["refuses", "closes", "receipt", "zeros"],
)
def test_what_a_relay_says_is_not_what_the_collector_says(server: Recorder, reply: Reply, text: str):
    server.reply = lambda _heard: reply
    with pytest.raises(CannotSend, match=text) as caught:
        send(ANSWER, COLLECTOR, patience=AT_ONCE, relay=Relay.of(STUDY, server.url))
    assert not isinstance(caught.value, AnswerRefused)
    assert len(server.heard) == 3


def test_whether_a_study_is_open_is_asked_through_the_relay_too(server: Recorder):
    document = f'{{"study":"{STUDY.digest}","status":"closed"}}'.encode()
    server.reply = gateway = Gateway(Message((b"200",), (), document))
    with pytest.raises(AnswerRefused, match="has closed the study; nothing was drawn"):
        check_open(STUDY.digest, COLLECTOR, patience=AT_ONCE, relay=Relay.of(STUDY, server.url))
    assert gateway.asked[0].start[0] == b"GET"


def test_a_study_without_a_gateway_has_no_relay():
    with pytest.raises(InvalidInput, match="the study names no gateway"):
        Relay.of(sample_study(), "https://relay.example")
    with pytest.raises(InvalidInput, match="relay="):
        Relay.of(STUDY, "relay.example")
    with pytest.raises(InvalidInput, match="gateway=AQAgMTIz: must be a key configuration"):
        Relay.of(replace(STUDY, gateway="AQAgMTIz"), "https://relay.example")


def test_a_ledger_remembers_that_an_answer_goes_through_a_relay(server: Recorder, tmp_path: Path):
    ledger = Ledger(tmp_path / "ledger")
    drawn = ledger.answer(STUDY, {"group": "female", "values": {"recall": 0.5}})
    with pytest.raises(CannotSend, match="sent through a relay, and none is given"):
        deliver(ledger, drawn, server.url, patience=AT_ONCE)
    assert server.heard == []
    server.reply = Gateway(Message((b"200",), (), b'{"status":"accepted"}'))
    assert deliver(ledger, drawn, COLLECTOR, patience=AT_ONCE, relay=Relay.of(STUDY, server.url)) == "accepted"
    plain = ledger.answer(sample_study(), {"group": "female", "values": {"recall": 0.5}})
    assert not ledger.wants_relay(plain.study)


# ---------------------------------------------------------------------------------------- a study that is still unread
def keys_of(config: KeyConfig) -> bytes:
    data = config.to_bytes()
    return len(data).to_bytes(2, "big") + data


def test_a_key_of_the_relay_s_own_opens_no_answer(server: Recorder):
    """It learns which study is read; what is sent goes by the key in the study, whose digest the device knows."""
    own = KeyConfig.of(bytes(31) + b"\5")
    server.reply = lambda _heard: Reply(body=keys_of(own))
    assert Relay.unread(server.url, timeout=5).gateway == own
    relay = Relay.of(STUDY, server.url)
    with pytest.raises(CannotSend):
        send(ANSWER, COLLECTOR, patience=Patience(tries=1), relay=relay)
    with pytest.raises(InvalidInput, match="must be the key of this gateway"):
        open_request(bytes(31) + b"\5", own, server.heard[-1].body)
    assert read_request(open_request(SECRET, KeyConfig.of(SECRET), server.heard[-1].body).data).content


@pytest.mark.parametrize("reply", [Reply(404), Reply(body=b""), Reply(body=b"\0\3abc"), Reply(body=b"\xff" * 40)])
def test_a_relay_without_the_gateway_s_key_needs_the_study_as_a_file(server: Recorder, reply: Reply):
    server.reply = lambda _heard: reply
    with pytest.raises(CannotSend, match="give the study as a file, from somebody else than the collector"):
        Relay.unread(server.url, timeout=5)


def test_of_several_keys_the_first_that_can_be_used_is_taken(server: Recorder):
    strange = b"\0\4\1\0\x99\0"
    server.reply = lambda _heard: Reply(body=strange + keys_of(KeyConfig.of(SECRET)))
    assert Relay.unread(server.url, timeout=5).gateway == KeyConfig.of(SECRET)
