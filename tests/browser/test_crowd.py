"""A study in the crowd in a real browser: both promises, both sums, and the check that an answer is under the seal."""

import json
import re
import secrets
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
from playwright.sync_api import Error, Route, expect

from fairgauge.client import Answer
from fairgauge.client.inclusion_proof import buckets_to_ask, leaf_of
from fairgauge.crowd import promised
from fairgauge.study import Release, Study
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.taking import fill, new_study, open_form, randomise, shown
from tests.browser.visitor import barriers
from tests.collecting.wire import answer_bytes
from tests.samples import sample_question

PATIENCE = 60.0
SUMS = """async () => {
    const { Ledger, plain } = await import("/static/fairgauge-client.js");
    const { epsilon, delta } = await new Ledger().spentTowardsReaders();
    return [epsilon, delta, await new Ledger().spent()].map(({ n, d }) => Number(n) / Number(d));
}"""


def in_the_crowd(title: str) -> Study:
    return replace(new_study(title), release=Release(300, "0.00000001", 150))


def send(collector: Collecting, study: Study, answers: list[bytes]) -> None:
    headers = {"content-type": "application/x-ndjson"}
    url = f"{collector.url}/studies/{study.digest}/answers"
    found = httpx.post(url, content=b"\n".join(answers), headers=headers, timeout=PATIENCE)
    assert found.json()["accepted"] == len(answers)


def close(collector: Collecting, study: Study) -> None:
    """Close a study, and wait for its seal as long as that takes."""
    headers = {"authorization": f"Bearer {collector.process.token}"}
    url = f"{collector.url}/studies/{study.digest}/close"
    assert httpx.post(url, headers=headers, timeout=PATIENCE).json()["status"] == "sealed"


def test_a_person_sees_both_promises_and_checks_the_seal(collector: Collecting, visitor: OpenVisitor) -> None:
    study = in_the_crowd("Crowd: two promises")
    crowd = promised(study)
    assert crowd is not None
    collector.publish(study)
    person = visitor(locale="en-GB")
    page = open_form(person, study)
    expect(page.locator("#crowd")).to_contain_text("counts with 150 secret random answers among them")
    expect(page.locator("#crowd")).to_contain_text("by at most a factor of 1.48, plus at most 0.00000001.")
    expect(page.locator("#crowd")).to_contain_text("can link it to the connection that it comes over")
    expect(page.locator("#checks")).to_contain_text(re.compile(f"is {crowd.epsilon}1?, and delta is 0.00000001."))
    expect(page.locator("#checks")).to_contain_text("if the collector adds 150 secret random answers")
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
    send(collector, study, [answer_bytes(study.digest, secrets.token_bytes(16), 1) for _ in range(600)])
    close(collector, study)
    page.get_by_role("button", name="Is my answer under the seal?").click()
    expect(page.locator("#proved")).to_contain_text("Yes: your answer is among the 601 that were sealed.")
    mine = json.loads(shown(page))
    asked = [request.url for request in person.requests if "inclusion" in request.url]
    assert not any(mine["id"] in url for url in asked)
    assert barriers(page) == []


@dataclass(frozen=True)
class Sealed:
    """A sealed study, one of its answers, and the proof that this one is in."""

    answer: Answer
    proof: dict[str, Any]


@pytest.fixture(scope="module")
def sealed(collector: Collecting) -> Sealed:
    study = in_the_crowd("Crowd: no proof")
    collector.publish(study)
    answers = [Answer(study.digest, f"{n % 16:x}{secrets.token_hex(15)}0", (n % 4,)) for n in range(530)]
    send(collector, study, [answer.to_bytes() for answer in answers])
    close(collector, study)
    proof = collector.ask("GET", f"/studies/{study.digest}/inclusion?bucket=0").json()
    return Sealed(answers[0], proof)


@pytest.mark.parametrize("part", ["", "symbol", "leaves", "path", "bucket"])
def test_a_proof_that_is_not_one_is_told_apart(sealed: Sealed, visitor: OpenVisitor, part: str) -> None:
    answer, proof = json.loads(sealed.answer.to_bytes()), deepcopy(sealed.proof)
    if part == "symbol":
        answer["symbol"] += 1
    elif part == "bucket":
        proof["bucket"] ^= 1
    elif part:
        own = leaf_of(sealed.answer.to_bytes()).hex()
        at = next(n for n, text in enumerate(proof[part]) if text != own)
        proof[part][at] = "0" * 64
    script = """async ([answer, proof]) => {
        const { checkIncluded } = await import("/static/fairgauge-inclusion.js");
        return checkIncluded(answer, proof).then(() => "fine", (error) => error.name);
    }"""
    found = visitor().open("/studies").evaluate(script, [answer, proof])
    assert found == ("SealBroken" if part else "fine")


def test_python_and_javascript_ask_for_the_same_buckets_and_for_none_where_the_number_is_too_large(
    collector: Collecting, visitor: OpenVisitor
) -> None:
    collector.publish(in_the_crowd("Crowd: buckets"))
    id_ = "a7" + 15 * "5c"
    asked = [(600, 30), (601, 600), (70_000, 10_000), (511, 9999), (0, 0), (16_384, 1)]
    script = """async ([id, asked]) => {
        const { bucketsToAsk } = await import("/static/fairgauge-inclusion.js");
        return asked.map(([answers, known]) => bucketsToAsk(id, answers, known));
    }"""
    page = visitor().open("/studies")
    found = page.evaluate(script, [id_, asked])
    assert found == [list(buckets_to_ask(bytes.fromhex(id_), answers, known)) for answers, known in asked]
    with pytest.raises(Error, match="too large a number of answers"):
        page.evaluate(script, [id_, [(2**52, 10_000)]])


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
    study = Study("Crowd: strong", (question,), release=Release(10**9, "0.01", 10**6))
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
