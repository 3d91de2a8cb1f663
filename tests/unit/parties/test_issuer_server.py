"""The issuer over HTTP: tickets for tokens, the hook for a login, and everything that it refuses."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from fairgauge.collector.admission import Gate
from fairgauge.errors import InvalidInput
from fairgauge.parties import issuer_server
from fairgauge.parties.blind_signing import key_in
from fairgauge.parties.issuer_server import _RESPONSE_TYPE, REQUEST_TYPE, IssuerServer
from fairgauge.server.bearer_tokens import new_token
from fairgauge.study import Issuer as Named
from fairgauge.study import Study
from fairgauge.unlinkable.pass_token import begin_pass, challenge_of, read_key, write_key
from tests.samples import sample_study

Ask = Callable[..., Awaitable[httpx.Response]]


@pytest.fixture(scope="module")
def study(folder: Path) -> Study:
    found = key_in(folder)
    assert found is not None
    return replace(sample_study(), admission="blind", issuer=Named("issuer.example", write_key(found.public)))


@pytest.fixture
def issuer(folder: Path, study: Study):
    found = IssuerServer(folder, study)
    yield found
    found.book.close()


def ask(issuer: IssuerServer, method: str, path: str, *, bearer: str = "", **more: object) -> httpx.Response:
    async def run() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(issuer), base_url="http://issuer") as client:
            headers = {"authorization": f"Bearer {bearer}"} if bearer else {}
            headers |= {"content-type": str(more.pop("kind"))} if "kind" in more else {}
            return await client.request(method, path, headers=headers, **more)  # type: ignore[arg-type]

    return asyncio.run(run())


def exchange(issuer: IssuerServer, ticket: str, request: bytes) -> httpx.Response:
    return ask(issuer, "POST", "/token-request", bearer=ticket, kind=REQUEST_TYPE, content=request)


def test_a_ticket_is_exchanged_for_a_token(issuer: IssuerServer, study: Study):
    assert study.issuer is not None
    key, challenge = read_key(study.issuer.key), challenge_of("issuer.example", study.digest)
    begun, ticket = begin_pass(key), issuer.new_ticket()
    request = begun.request(key, challenge)
    first, again = exchange(issuer, ticket, request), exchange(issuer, ticket, request)
    assert (first.status_code, first.headers["content-type"]) == (200, _RESPONSE_TYPE)
    assert first.content == again.content
    assert Gate.of(study).id_of(begun.token(key, challenge, first.content))  # type: ignore[union-attr]
    other = exchange(issuer, ticket, begin_pass(key).request(key, challenge))
    assert other.status_code == 403
    assert other.json()["detail"] == "This ticket was exchanged before, with another request."


def test_what_is_no_ticket_and_no_request_is_refused_and_costs_nobody_a_ticket(issuer: IssuerServer, study: Study):
    assert study.issuer is not None
    key, challenge = read_key(study.issuer.key), challenge_of("issuer.example", study.digest)
    request, ticket, before = begin_pass(key).request(key, challenge), issuer.new_ticket(), issuer.book.count()
    for wrong in ("", "0" * 32, "x", ticket[:-1], ticket[:-1] + ("0" if ticket[-1] != "0" else "1")):
        assert exchange(issuer, wrong, request).status_code == 403
    for bad in (b"", request[:-1], request + b"\0", b"\0\1" + request[2:], bytes([0, 2, request[2] ^ 1]) + request[3:]):
        assert exchange(issuer, ticket, bad).status_code == 400
    assert exchange(issuer, ticket, request[:3] + b"\xff" * 256).status_code == 400
    assert exchange(issuer, ticket, bytes(5000)).status_code == 413
    assert ask(issuer, "POST", "/token-request", bearer=ticket, kind="text/plain", content=request).status_code == 415
    assert issuer.book.count() == before
    assert exchange(issuer, ticket, request).status_code == 200


def test_a_login_gets_the_ticket_of_an_account_each_time_the_same(issuer: IssuerServer, folder: Path):
    token = new_token(folder, name="login", role="operator")
    reader = new_token(folder, name="reader", role="reader")

    def ticket_of(account: object, bearer: str = token) -> httpx.Response:
        return ask(issuer, "POST", "/tickets", bearer=bearer, json={"account": account})

    one, again, other = (ticket_of(account).json()["ticket"] for account in ("anna", "anna", "bert"))
    assert one == again != other
    assert issuer._tickets.good(issuer._study, bytes.fromhex(one))
    assert "anna" not in str(ticket_of("anna").json())
    for bearer in ("", "fgo_wrong", reader):
        assert ticket_of("anna", bearer).status_code == 401
    for wrong in ("", 5, None, "x" * 201):
        told = ticket_of(wrong)
        assert (told.status_code, told.json()["detail"][:18]) == (400, "account=not shown:")
    for content in (b"[", rb'{"account": "\ud800"}'):  # no JSON, and half of a pair that UTF-8 does not have
        told = ask(issuer, "POST", "/tickets", bearer=token, kind="application/json", content=content)
        assert told.status_code == 400


def test_the_directory_names_the_key(issuer: IssuerServer, study: Study):
    assert study.issuer is not None
    found = ask(issuer, "GET", "/.well-known/private-token-issuer-directory")
    assert found.headers["content-type"] == "application/private-token-issuer-directory"
    assert found.json() == {
        "issuer-request-uri": "/token-request",
        "token-keys": [{"token-type": 2, "token-key": study.issuer.key}],
        "studies": [study.digest],
    }
    assert ask(issuer, "GET", "/healthz").json() == {"status": "alive"}
    assert ask(issuer, "GET", "/").status_code == 404
    told = ask(issuer, "OPTIONS", "/token-request")
    assert (told.status_code, told.headers["access-control-allow-headers"]) == (204, "Authorization, Content-Type")


def test_there_is_a_limit_before_the_work(issuer: IssuerServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(issuer._signed, "take", lambda: 3.0)
    begun = begin_pass(read_key(write_key(issuer._key.public)))
    request = begun.request(read_key(write_key(issuer._key.public)), b"anything")
    told = exchange(issuer, issuer.new_ticket(), request)
    assert (told.status_code, told.headers["retry-after"]) == (429, "3")


def test_a_fault_says_nothing(issuer: IssuerServer, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> bytes:
        raise ArithmeticError("secret")

    monkeypatch.setattr(issuer_server, "sign_blinded", broken)
    key = read_key(write_key(issuer._key.public))
    told = exchange(issuer, issuer.new_ticket(), begin_pass(key).request(key, b"anything"))
    assert told.status_code == 500
    assert "secret" not in told.text


def test_an_issuer_needs_its_key_and_its_study(tmp_path: Path, folder: Path, study: Study):
    with pytest.raises(InvalidInput, match="has no issuer's key: fairgauge issuer key makes one"):
        IssuerServer(tmp_path, study)
    with pytest.raises(InvalidInput, match="must name the key of this issuer"):
        IssuerServer(folder, sample_study())
    with pytest.raises(InvalidInput, match="an issuer's key is for one study"):
        IssuerServer(folder, replace(study, planned=5))


def test_a_spent_ticket_is_looked_up_before_anything_is_signed(
    issuer: IssuerServer, study: Study, monkeypatch: pytest.MonkeyPatch
):
    assert study.issuer is not None
    ticket, key, challenge = issuer.new_ticket(), read_key(study.issuer.key), challenge_of("i", study.digest)
    assert exchange(issuer, ticket, begin_pass(key).request(key, challenge)).status_code == 200

    def never(*_: object) -> bytes:
        raise AssertionError("nothing is signed for a spent ticket")

    monkeypatch.setattr(issuer_server, "sign_blinded", never)
    assert exchange(issuer, ticket, begin_pass(key).request(key, challenge)).status_code == 403
