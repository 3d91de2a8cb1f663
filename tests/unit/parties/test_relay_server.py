"""The relay: what it passes on, what it hands back, and what it says when the gateway is away.

Covers: fairgauge.parties.relay_server, fairgauge.parties.web_app.
"""

import asyncio
from functools import partial

import httpx
import pytest

from fairgauge.errors import InvalidInput
from fairgauge.parties.relay_server import RelayServer
from fairgauge.unlinkable.oblivious_http import KEYS_TYPE, REQUEST_TYPE, RESPONSE_TYPE
from tests.recorder import Heard, Recorder, Reply, recorder

KIND = {"content-type": REQUEST_TYPE}


@pytest.fixture
def gateway():
    with recorder() as found:
        yield found


def ask(relay: RelayServer, *requests: dict[str, object]) -> list[httpx.Response]:
    async def run() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(relay), base_url="http://relay") as client:
            return [await client.request(**{"method": "POST", "url": "/", **one}) for one in requests]  # type: ignore[arg-type]

    try:
        return asyncio.run(run())
    finally:
        relay.close()


def test_an_envelope_is_passed_on_without_its_sender(gateway: Recorder):
    gateway.reply = lambda _heard: Reply(body=b"sealed", headers={"Content-Type": RESPONSE_TYPE, "Set-Cookie": "a=b"})
    told = {**KIND, "cookie": "me", "user-agent": "mine", "x-forwarded-for": "192.0.2.7", "referer": "https://me"}
    (found,) = ask(RelayServer(gateway.url), {"content": b"envelope", "headers": told})
    assert (found.status_code, found.content, found.headers["content-type"]) == (200, b"sealed", RESPONSE_TYPE)
    assert "set-cookie" not in found.headers
    (heard,) = gateway.heard
    assert (heard.path, heard.body) == ("/.well-known/ohttp-gateway", b"envelope")
    assert {name.lower() for name in heard.headers} == {"host", "accept-encoding", "content-length", "content-type"}


def test_a_gateway_elsewhere_has_its_own_path(gateway: Recorder):
    ask(RelayServer(f"{gateway.url}/oblivious"), {"content": b"envelope", "headers": KIND})
    assert gateway.heard[0].path == "/oblivious"
    with pytest.raises(InvalidInput, match="to="):
        RelayServer("collector.example")


def test_what_is_no_reply_of_a_gateway_is_not_handed_on_as_one(gateway: Recorder):
    for reply, status in ((Reply(400), 400), (Reply(200, body=b"a page"), 502), (Reply(429), 429)):
        gateway.reply = partial(_always, reply)
        (found,) = ask(RelayServer(gateway.url), {"content": b"envelope", "headers": KIND})
        assert found.status_code == status
        assert found.headers["content-type"] == "application/problem+json"


def _always(reply: Reply, _heard: Heard) -> Reply:
    return reply


def test_a_gateway_that_is_away_is_said_to_be(gateway: Recorder):
    gateway.reply = lambda _heard: Reply(0)
    (found,) = ask(RelayServer(gateway.url), {"content": b"envelope", "headers": KIND})
    assert (found.status_code, found.json()["detail"]) == (503, "The gateway does not answer.")


def test_what_is_no_envelope_is_refused(gateway: Recorder, monkeypatch: pytest.MonkeyPatch):
    relay = RelayServer(gateway.url)
    found = ask(
        relay,
        {"content": b"x" * 9000, "headers": KIND},
        {"content": b"x", "headers": {"content-type": "application/json"}},
        {"method": "PUT"},
        {"method": "GET", "url": "/healthz"},
        {"method": "OPTIONS"},
    )
    assert [one.status_code for one in found] == [413, 415, 405, 200, 204]
    monkeypatch.setattr(relay._knocks, "take", lambda: 2.0)
    (told,) = ask(relay, {"content": b"x", "headers": KIND})
    assert (told.status_code, told.headers["retry-after"]) == (429, "2")
    assert gateway.heard == []


def test_the_gateways_key_is_handed_to_everyone_and_asked_for_once(gateway: Recorder):
    gateway.reply = lambda _heard: Reply(body=b"keys", headers={"Content-Type": KEYS_TYPE})
    relay = RelayServer(gateway.url)
    asked: dict[str, object] = {"method": "GET", "headers": {"cookie": "me", "user-agent": "mine"}}
    found = ask(relay, asked, asked, asked)
    assert [(one.status_code, one.headers["content-type"], one.content) for one in found] == [
        (200, KEYS_TYPE, b"keys")
    ] * 3
    (heard,) = gateway.heard
    assert (heard.method, heard.path) == ("GET", "/.well-known/ohttp-gateway")
    assert {name.lower() for name in heard.headers} == {"host", "accept-encoding"}


@pytest.mark.parametrize("reply", [Reply(0), Reply(404), Reply(body=b"a page")])
def test_what_is_no_key_of_a_gateway_is_not_handed_on_as_one(gateway: Recorder, reply: Reply):
    gateway.reply = partial(_always, reply)
    (found,) = ask(RelayServer(gateway.url), {"method": "GET"})
    assert found.status_code == 503
