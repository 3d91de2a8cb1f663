"""A study in the crowd in a real browser: both promises, both sums, and the check that an answer is under the seal."""

import json
import re
import secrets
from dataclasses import replace

import pytest
from playwright.sync_api import Route, expect

from fairgauge.client import Answer
from fairgauge.crowd import promised
from fairgauge.study import Release, Study
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.taking import fill, new_study, open_form, randomise, shown
from tests.browser.visitor import barriers
from tests.collecting.wire import answer_bytes
from tests.samples import sample_question

SUMS = """async () => {
    const { Ledger, plain } = await import("/static/fairgauge-client.js");
    const { epsilon, delta } = await new Ledger().spentTowardsReaders();
    return [epsilon, delta, await new Ledger().spent()].map(({ n, d }) => Number(n) / Number(d));
}"""


def in_the_crowd(title: str) -> Study:
    return replace(new_study(title), release=Release(300, "0.00000001", "0.5"))


def test_a_person_sees_both_promises_and_checks_the_seal(collector: Collecting, visitor: OpenVisitor) -> None:
    study = in_the_crowd("Crowd: two promises")
    crowd = promised(study)
    assert crowd is not None
    collector.publish(study)
    person = visitor(locale="en-GB")
    page = open_form(person, study)
    expect(page.locator("#crowd")).to_contain_text("counts of at least 300 answers together")
    expect(page.locator("#crowd")).to_contain_text("by at most a factor of 1.63, plus at most 0.00000001.")
    expect(page.locator("#crowd")).to_contain_text("can link it to the connection that it comes over")
    expect(page.locator("#checks")).to_contain_text(re.compile(f"is {crowd.epsilon}1?, and delta is 0.00000001."))
    expect(page.locator("#checks")).to_contain_text("readers who know 150 of 300 answers")
    assert barriers(page) == []
    fill(page)
    randomise(page)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    page.get_by_text("How to check that your answer is counted").click()
    page.get_by_role("button", name="Is my answer under the seal?").click()
    expect(page.locator("#proved")).to_have_text(
        "The collector has no seal to show yet. Please come back when the study is over."
    )
    epsilon, delta, local = page.evaluate(SUMS)
    assert (epsilon, delta) == pytest.approx((float(crowd.epsilon), 1e-8), rel=1e-9)
    assert local == pytest.approx(study.epsilon)
    for _ in range(600):
        body = answer_bytes(study.digest, secrets.token_bytes(16), 1)
        collector.ask("POST", f"/studies/{study.digest}/answers", body)
    collector.ask("POST", f"/studies/{study.digest}/close")
    page.get_by_role("button", name="Is my answer under the seal?").click()
    expect(page.locator("#proved")).to_contain_text("Yes: your answer is among the 601 that were sealed.")
    mine = json.loads(shown(page))
    asked = [request.url for request in person.requests if "inclusion" in request.url]
    assert not any(mine["id"] in url for url in asked)
    assert barriers(page) == []


@pytest.mark.parametrize("part", ["symbol", "leaves", "path", "bucket"])
def test_a_proof_that_is_not_one_is_told_apart(collector: Collecting, visitor: OpenVisitor, part: str) -> None:
    study = in_the_crowd("Crowd: no proof")
    collector.publish(study)
    answers = [Answer(study.digest, f"{n % 16:x}{secrets.token_hex(15)}0", n % 4) for n in range(530)]
    state = collector.ask("GET", f"/studies/{study.digest}/status").json()["status"]
    if state == "open":
        lines = b"\n".join(answer.to_bytes() for answer in answers)
        import httpx

        url = f"{collector.url}/studies/{study.digest}/answers"
        assert httpx.post(url, content=lines, headers={"content-type": "application/x-ndjson"}).status_code == 200
        collector.ask("POST", f"/studies/{study.digest}/close")
        KEPT[study.digest] = answers[0]
    mine = KEPT[study.digest]
    page = visitor().open("/studies")
    script = """async ([answer, proof]) => {
        const { checkIncluded } = await import("/static/fairgauge-inclusion.js");
        return checkIncluded(answer, proof).then(() => "fine", (error) => error.name);
    }"""
    bucket = int(mine.id, 16) >> 126
    proof = collector.ask("GET", f"/studies/{study.digest}/inclusion?bucket={bucket >> 1}").json()
    answer = json.loads(mine.to_bytes())
    assert page.evaluate(script, [answer, proof]) == "fine"
    if part == "symbol":
        answer["symbol"] += 1
    elif part == "bucket":
        proof["bucket"] ^= 1
    else:
        own = mine.to_bytes()
        at = next(n for n in range(len(proof[part])) if proof[part][n] != _leaf(own))
        proof[part][at] = "0" * 64
    assert page.evaluate(script, [answer, proof]) == "SealBroken"


KEPT: dict[str, Answer] = {}


def _leaf(line: bytes) -> str:
    from fairgauge.client.inclusion import leaf_of

    return leaf_of(line).hex()


def test_a_client_without_the_crowd_beside_it_refuses(collector: Collecting, visitor: OpenVisitor) -> None:
    study = in_the_crowd("Crowd: alone")
    collector.publish(study)
    person = visitor(locale="en-GB")

    def gone(route: Route) -> None:
        route.fulfill(status=404, body="")

    person.context.route("**/fairgauge-crowd.js", gone)
    page = person.open("/studies")
    found = page.evaluate(
        """async (digest) => {
            const { Ledger, loadStudy } = await import("/static/fairgauge-client.js");
            const study = await loadStudy(`/studies/${digest}`, { digest });
            const profile = { group: "female", values: { recall: "0.5" } };
            return new Ledger("alone").answer(study, profile).catch(({ message, said }) => [message, said]);
        }""",
        study.digest,
    )
    text = "the study is released in batches, and fairgauge-crowd.js is not beside this client"
    assert found == [text, ["release", {}]]


def test_a_local_epsilon_above_the_limit_is_refused_crowd_or_no_crowd(
    collector: Collecting, visitor: OpenVisitor
) -> None:
    question = sample_question(epsilon="4.2", loss=60)
    study = Study("Crowd: strong", (question,), release=Release(10**9, "0.01", "0"))
    collector.publish(study)
    page = visitor().open("/studies")
    found = page.evaluate(
        """async (digest) => {
            const { Ledger, loadStudy } = await import("/static/fairgauge-client.js");
            const study = await loadStudy(`/studies/${digest}`, { digest });
            const profile = { group: "female", values: { recall: "0.5" } };
            return new Ledger("strong").answer(study, profile).catch((error) => error.message);
        }""",
        study.digest,
    )
    assert "and this device allows 4 a study" in found
