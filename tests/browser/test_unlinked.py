"""In a real browser: a blind ticket on the page, and an answer through a relay."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from fairgauge.collector.gateway import Gateway
from fairgauge.languages import Voice
from fairgauge.parties.blind_signing import PrivateKey, key_in, make_key, sign_blinded
from fairgauge.study import Issuer, Study
from fairgauge.unlinkable.pass_token import write_key
from tests.browser.conftest import Collecting, OpenVisitor
from tests.samples import sample_study

ENGLISH = Voice()

TICKET = "0123456789abcdef" * 2
NAME = "issuer.example"
VECTORS = Path(__file__).parents[1] / "vectors"


@pytest.fixture(scope="module")
def secret(tmp_path_factory: pytest.TempPathFactory) -> PrivateKey:
    folder = tmp_path_factory.mktemp("issuer")
    make_key(folder)
    found = key_in(folder)
    assert found is not None
    return found


@pytest.fixture
def study(collector: Collecting, secret: PrivateKey) -> Study:
    gateway = Gateway.in_folder(collector.process.folder / "secrets").config.to_text()
    found = replace(
        sample_study(), admission="blind", issuer=Issuer(NAME, write_key(secret.public)), gateway=gateway, epoch=3600
    )
    collector.publish(found)
    return found


def issue(secret: PrivateKey, heard: list[dict[str, str]], route: Route) -> None:
    """Answer as an issuer does; the first time that something is asked for, the reply is lost."""
    request = route.request
    shared = {"access-control-allow-origin": "*", "access-control-allow-headers": "authorization, content-type"}
    if request.method == "OPTIONS":
        route.fulfill(status=204, headers=shared)
        return
    body = request.post_data_buffer or b""
    heard.append({"bearer": request.headers.get("authorization", ""), "body": body.hex()})
    if len(heard) == 1:
        route.abort()
        return
    route.fulfill(body=sign_blinded(secret, body[3:]), headers=shared)


def test_the_page_fetches_a_blind_ticket_and_says_that_it_sends_at_once(
    collector: Collecting, visitor: OpenVisitor, study: Study, secret: PrivateKey
):
    heard: list[dict[str, str]] = []
    person = visitor()
    directory = {"body": json.dumps({"studies": [study.digest]}), "headers": {"access-control-allow-origin": "*"}}
    person.context.route(f"https://{NAME}/.well-known/*", lambda route: route.fulfill(**directory))
    person.context.route(f"https://{NAME}/token-request", lambda route: issue(secret, heard, route))
    page = person.open(f"/studies/{study.digest}/take-part#ticket={TICKET}")
    page.get_by_label("female", exact=True).check()
    page.locator("#fields input[inputmode=decimal]").first.fill("0.5")
    page.locator("#draw").click()
    expect(page.locator("#drawing")).to_contain_text(f"https://{NAME} does not answer.")
    page.locator("#draw").click()
    expect(page.locator("#ready-more")).to_contain_text(ENGLISH.say("ready.at-once"))
    expect(page.locator("#ready-text")).to_have_text(ENGLISH.say("ready.text-blind"))
    page.locator("#send").click()
    expect(page.locator("#ready-title")).to_have_text(ENGLISH.say("thanks.title"))
    expect(page.locator("#ready-text")).to_have_text(ENGLISH.say("thanks.text-blind"))
    assert sum(collector.counts(study)) == 1
    assert len({one["body"] for one in heard}) == 1
    assert {one["bearer"] for one in heard} == {f"Bearer {TICKET}"}
    sent = json.loads(page.locator("#bytes").inner_text())
    assert sent["id"] != TICKET
    kept = page.evaluate(
        """() => new Promise((done) => {
            indexedDB.open("fairgauge").onsuccess = ({ target: { result } }) => {
                result.transaction("settings").objectStore("settings").getAll().onsuccess = (event) =>
                    done(JSON.stringify(event.target.result, (_, value) =>
                        typeof value === "bigint" ? String(value) : value));
            };
        })"""
    )
    assert TICKET not in kept
    assert "token" in kept


def test_an_answer_goes_through_a_relay_in_javascript(collector: Collecting, visitor: OpenVisitor, secret: PrivateKey):
    gateway = Gateway.in_folder(collector.process.folder / "secrets").config.to_text()
    study = replace(sample_study(), gateway=gateway)
    collector.publish(study)
    carried: list[bytes] = []
    person = visitor()

    def carry(route: Route) -> None:
        if route.request.method == "OPTIONS":
            shared = {"access-control-allow-origin": "*", "access-control-allow-headers": "content-type"}
            route.fulfill(status=204, headers=shared)
            return
        carried.append(route.request.post_data_buffer or b"")
        response = route.fetch(url=f"{collector.url}/.well-known/ohttp-gateway")
        route.fulfill(response=response, headers={**response.headers, "access-control-allow-origin": "*"})

    person.context.route("https://relay.example/*", carry)
    person.context.route(
        "**/empty", lambda route: route.fulfill(body="<!doctype html><title>Empty</title>", content_type="text/html")
    )
    page = person.open("/empty")
    receipts = page.evaluate(
        """async ([digest, gateway, url]) => {
            const client = await import("/static/fairgauge-client.js");
            const answer = { study: digest, id: "0123456789abcdef".repeat(2), symbol: 1 };
            const way = { tries: 1, relay: "https://relay.example/relay", gateway };
            const first = await client.send(answer, url, way);
            const again = await client.send(answer, url, way);
            const other = await client.send({ ...answer, symbol: 2 }, url, way).catch((error) => error.message);
            const elsewhere = { ...way, relay: "https://nobody.invalid" };
            const nobody = await client.send(answer, url, elsewhere).catch((e) => e.name);
            const own = await client.send(answer, url, { ...way, relay: `${url}/relay` }).catch((e) => e.rule);
            return [first, again, other, nobody, own];
        }""",
        [study.digest, gateway, collector.url],
    )
    conflict = f"{collector.url} already has another answer with this id (HTTP status 409)"
    own = "must be run by somebody else than the collector, and not at its address"
    assert receipts == ["accepted", "duplicate", conflict, "CannotSend", own]
    assert {len(one) for one in carried} == {1079}
    assert not [one for one in carried if study.digest.encode() in one]
    assert sum(collector.counts(study)) == 1


@pytest.mark.parametrize("name", ["passes", "envelopes"])
def test_what_the_rfcs_print_comes_out_in_chromium(visitor: OpenVisitor, name: str):
    person = visitor()
    source = (VECTORS / f"{name}.js").read_text(encoding="utf-8")
    person.context.route("**/check.js", lambda route: route.fulfill(body=source, content_type="text/javascript"))
    person.context.route(
        "**/empty", lambda route: route.fulfill(body="<!doctype html><title>Empty</title>", content_type="text/html")
    )
    found = person.open("/empty").evaluate(
        """async ([name, text]) => {
            const [module, { check }] = [await import(`/static/fairgauge-${name}.js`), await import("/check.js")];
            return check(module, JSON.parse(text));
        }""",
        [name, (VECTORS / f"{name}.json").read_text(encoding="utf-8")],
    )
    assert found == []
