"""The operator's page: a session and a proof for every change, and nothing for anyone else.

Covers: fairgauge.collector.access, fairgauge.planning.input.
"""

import re
from dataclasses import replace
from fractions import Fraction
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest

from fairgauge.planning import design
from fairgauge.server.bearer_tokens import read_tokens, revoke_token
from fairgauge.study import Attribute, Metric, Study
from tests.collecting.desk import Desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_study

STUDY = sample_study()
HTML = {"accept": "text/html"}
DRAFT = {
    "title": "Falls found", "attribute": "sex", "groups": "female=0.5\r\nmale=0.5", "metrics": "recall:0:1",
    "epsilon": "1", "clients": "1e6", "admission": "open", "results": "public", "aim": "0.02",
}  # fmt: skip


async def send(desk: Desk, path: str, fields: dict[str, str], **headers: str) -> httpx.Response:
    kind = {"content-type": "application/x-www-form-urlencoded"}
    return await desk.client.post(path, content=urlencode(fields), headers=HTML | kind | headers)


async def sign_in(desk: Desk, token: str) -> str:
    """Sign in, and return the proof that the pages put into their forms."""
    assert (await send(desk, "/sign-in", {"token": token})).status_code == 303
    found = re.search(r'name="proof" value="([0-9a-f]{64})"', (await desk.client.get("/", headers=HTML)).text)
    assert found is not None
    return found[1]


def complaint(response: httpx.Response) -> str:
    found = re.search(r'class="wrong" role="alert">.*?<p lang="en" dir="ltr">(.*?)</p>', response.text)
    return unescape(found[1]) if found else ""


def test_signing_in_sets_a_cookie_that_scripts_and_other_sites_never_see(ask):
    async def scene(desk: Desk) -> None:
        refused = await send(desk, "/sign-in", {"token": desk.operator + "x"})
        assert (
            refused.status_code,
            '<p class="wrong" role="alert">This token is not good here.</p>' in refused.text,
        ) == (403, True)
        assert "set-cookie" not in refused.headers
        done = await send(desk, "/sign-in", {"token": desk.operator})
        assert (done.status_code, done.headers["location"]) == (303, "/operator")
        cookie = done.headers["set-cookie"]
        for word in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=28800", "Secure"):
            assert word in cookie
        for host, secure in (("127.0.0.1:8642", False), ("localhost", False), ("127.0.0.1.example.org", True)):
            there = await send(desk, "/sign-in", {"token": desk.reader}, host=host)
            assert ("Secure" in there.headers["set-cookie"]) is secure
            assert there.headers["location"] == "/studies"

    ask(scene)


@pytest.mark.parametrize("base", ["https://collector"])
def test_a_session_looks_but_does_not_change_without_a_proof(ask, base: str):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL(base)  # a secure cookie is sent over TLS only
        assert (await desk.client.get("/operator", headers=HTML)).headers["location"] == "/sign-in"
        proof = await sign_in(desk, desk.operator)
        assert (await desk.client.get("/operator", headers=HTML)).status_code == 200
        await desk.publish(STUDY)
        for path in (f"/studies/{STUDY.digest}/tally", "/studies", "/metrics"):
            assert (await desk.client.get(path)).status_code == 200
        # The cookie alone changes nothing, neither through the interface for programs nor through forms.
        for path in ("/studies", f"/studies/{STUDY.digest}/close"):
            assert (await desk.client.post(path, content=STUDY.to_bytes())).status_code == 401
        close = {"study": STUDY.digest, "sure": "yes"}
        for wrong in ("", "0" * 64, "é" * 9):
            assert (await send(desk, "/operator/close", close | {"proof": wrong})).status_code == 403
        for headers in (
            {"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"}, {"origin": "https://collector:81"},
        ):  # fmt: skip
            assert (await send(desk, "/operator/close", close | {"proof": proof}, **headers)).status_code == 403
            assert (await send(desk, "/sign-in", {"token": desk.operator}, **headers)).status_code == 403
        assert (await desk.get("/studies")).json()["studies"][0]["status"] == "open"
        good = {"origin": "https://collector", "sec-fetch-site": "same-origin"}
        assert (await send(desk, "/operator/close", close | {"proof": proof}, **good)).status_code == 303
        assert (await desk.get("/studies")).json()["studies"][0]["status"] == "sealed"

    ask(scene)


def test_readers_and_strangers_do_not_operate(ask, tmp_path: Path):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        paths = ("/operator/publish", "/operator/close", "/operator/tokens", "/operator/tickets")
        for path in paths:
            assert (await send(desk, path, {})).status_code == 401
            assert (await send(desk, path, {}, authorization=f"Bearer {desk.operator}")).status_code == 401
        proof = await sign_in(desk, desk.reader)
        assert (await desk.client.get("/operator", headers=HTML)).status_code == 403
        for path in paths:
            assert (await send(desk, path, {"proof": proof})).status_code == 403
        revoke_token(tmp_path / "secrets", name="reader")
        assert (await desk.client.get("/studies")).status_code == 401

    ask(scene)


def test_signing_out_forgets_the_cookie(ask):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        proof = await sign_in(desk, desk.operator)
        assert (await send(desk, "/sign-out", {"proof": proof})).status_code == 303
        assert (await desk.client.get("/operator", headers=HTML)).status_code == 303

    ask(scene)


def test_a_draft_is_planned_then_published(ask):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        proof = await sign_in(desk, desk.operator)
        planned = await send(desk, "/operator/publish", DRAFT | {"proof": proof, "action": "plan"})
        assert planned.status_code == 200
        sentence = (
            r"(IF all groups answer equally often: )?"
            r"With epsilon 1, 1,000,000 answers give the gap to about ±([\d.]+) points? \(99.% confidence\)\."
        )
        (condition, error), *_ = re.findall(sentence, planned.text)
        assert (1.6 < float(error) < 1.9, condition) == (True, "")
        alike = DRAFT | {"answering": "alike", "proof": proof, "action": "plan"}
        (condition, error), *_ = re.findall(sentence, (await send(desk, "/operator/publish", alike)).text)
        assert (float(error) < 1, condition) == (True, "IF all groups answer equally often: ")
        assert "at most a factor 2.72" in planned.text
        assert "Falls found" in planned.text
        assert (await desk.get("/studies")).json() == {"studies": []}
        done = await send(desk, "/operator/publish", DRAFT | {"proof": proof, "action": "publish"})
        assert done.status_code == 303
        kept = Study.from_bytes((await desk.client.get(done.headers["location"])).content)
        assert (kept.title, kept.questions[0].attribute.groups) == ("Falls found", ("female", "male"))
        (listed,) = (await desk.get("/studies")).json()["studies"]
        assert (listed["results"], listed["aim"]) == ("public", "0.02")

    ask(scene)


def test_in_a_study_for_everyone_people_outside_of_it_may_abstain(ask):
    """Unless its document is pasted and says otherwise: then its operator is told what that does."""

    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        proof = await sign_in(desk, desk.operator)

        async def drafted(**more: str) -> Study:
            draft = DRAFT | {"proof": proof, "action": "publish"} | more
            place = (await send(desk, "/operator/publish", draft)).headers["location"]
            return Study.from_bytes((await desk.client.get(place)).content)

        found = [
            (await drafted(**more)).questions[0]
            for more in ({}, {"admission": "tickets"}, {"abstain": "yes"}, {"abstaining": "0.3"})
        ]
        assert [one.mechanism.abstain for one in found] == [True, False, True, True]
        assert [None if one.abstaining is None else float(one.abstaining) for one in found] == [0.01, None, None, 0.3]
        note = "cannot abstain"
        assert note not in (await desk.client.get("/operator", headers=HTML)).text
        await drafted(document=STUDY.to_bytes().decode())
        assert note in (await desk.client.get("/operator", headers=HTML)).text

    ask(scene)


def test_the_preview_has_a_row_for_every_comparison_and_one_sentence(ask):
    """Also for a study that is pasted, by its own tables, and for how many will abstain."""
    (question,) = design(
        Metric("recall", 0, 1),
        Attribute("sex", {"women": 0.4, "men": 0.4, "nonbinary": 0.2}, answering="alike"),
        epsilon=1,
        design="randomized-response",
    )

    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        proof = await sign_in(desk, desk.operator)

        async def shown(**changes: str) -> tuple[str, list[tuple[str, str]]]:
            form = DRAFT | {"clients": "2e5", "proof": proof, "action": "plan"} | changes
            page = (await send(desk, "/operator/publish", form)).text
            figure = re.search(r'<figure class="plan">.*?</figure>', page, re.DOTALL)
            assert figure is not None, complaint(await send(desk, "/operator/publish", form))
            caption = re.search("<figcaption>(.*?)</figcaption>", figure[0])
            rows = re.findall(r'<th scope="row">(.*?)</th><td class="n">±(.*?) points</td>', figure[0])
            return (unescape(caption[1]) if caption else ""), rows

        said, rows = await shown(document=Study("Pasted", [question]).to_bytes().decode(), groups="a\r\nb")
        assert [name for name, _ in rows][-1] == "women − men"
        assert sorted(rows, key=lambda row: -float(row[1])) == rows
        assert len(rows) == 3
        worst, best = (f"{name} to about ±{error} points" for name, error in (rows[0], rows[-1]))
        assert f"200,000 answers give {worst} at worst, {best} at best (99\N{NO-BREAK SPACE}% confidence)." in said
        assert "IF all groups answer equally often: With epsilon 1," in said
        few, none = await shown(abstaining="0.1", answering="alike")
        assert none == []
        off, _ = await shown(abstaining="0.1", share_error="0.01", answering="alike")
        assert "It allows for shares that are off by 0.01." in off
        many, _ = await shown(abstaining="0.5", answering="alike")
        errors = [float(re.search(r"±([\d.]+) points", text)[1]) for text in (few, many, off)]  # type: ignore[index]
        assert errors[1] > 1.5 * errors[0]
        assert errors[2] > 1 + errors[0]
        wrong = DRAFT | {"abstaining": "2", "proof": proof, "action": "publish"}
        assert "abstaining=2: must be from 0 to below 1" in complaint(await send(desk, "/operator/publish", wrong))

    ask(scene)


def test_the_page_asks_who_asks_and_why_and_how_long_answers_are_kept(ask):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        proof = await sign_in(desk, desk.operator)
        said = {"operator": "Acme", "purpose": "To mend it", "model": "fall-detector@3.1", "retention": "30"}
        page = (await desk.client.get("/operator", headers=HTML)).text
        assert all(f'name="{name}"' in page for name in said)
        for typed in ("soon", "0", "1.5", "99999999999"):
            wrong = DRAFT | said | {"retention": typed, "proof": proof, "action": "publish"}
            assert f"retention={typed}: must be" in complaint(await send(desk, "/operator/publish", wrong))
        done = await send(desk, "/operator/publish", DRAFT | said | {"proof": proof, "action": "publish"})
        assert done.status_code == 303, complaint(done)
        kept = Study.from_bytes((await desk.client.get(done.headers["location"])).content)
        assert (kept.operator, kept.purpose, kept.retention) == ("Acme", "To mend it", 30)
        assert kept.model is not None
        assert (kept.model.name, kept.model.version) == ("fall-detector", "3.1")

    ask(scene)


def test_the_page_asks_where_the_shares_come_from_and_readers_see_it_in_the_verdict(ask):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        proof = await sign_in(desk, desk.operator)
        assert "Where do the shares come from?" in (await desk.client.get("/operator", headers=HTML)).text
        form = DRAFT | {"share_source": "Census of 2021", "share_error": "0.02", "proof": proof, "action": "publish"}
        form["answering"] = "alike"
        done = await send(desk, "/operator/publish", form)
        assert done.status_code == 303, complaint(done)
        kept = Study.from_bytes((await desk.client.get(done.headers["location"])).content)
        known = kept.questions[0].attribute
        assert (known.share_source, known.share_error) == ("Census of 2021", "0.02")
        channel = kept.questions[0].channel
        laws = [channel.mixture(group, Fraction(0)) for group in range(2)]  # counts as honest answers give them
        often = [round(200 * sum(chances)) for chances in zip(*laws, strict=True)]
        drawn = [symbol for symbol, times in enumerate(often) for _ in range(times)]
        lines = [answer_bytes(kept.digest, n.to_bytes(16), symbol) for n, symbol in enumerate(drawn)]
        assert (await desk.batch(kept, lines)).json()["accepted"] == len(drawn)
        text = (await desk.client.get(done.headers["location"], headers=HTML)).text
        shown = re.search(r'<p class="verdict .*?</p>', text)
        assert shown is not None
        assert "The shares come from: Census of 2021. The interval allows each share to be wrong by 0.02." in shown[0]
        assert "Shares that are each wrong by up to 0.01 beyond that could move the gap" in shown[0]

    ask(scene)


def test_a_finished_study_is_published_as_it_is(ask):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        proof = await sign_in(desk, desk.operator)
        form = {"proof": proof, "action": "publish", "document": STUDY.to_bytes().decode(), "admission": "tickets"}
        done = await send(desk, "/operator/publish", form)
        assert done.headers["location"] == f"/studies/{STUDY.digest}"
        again = await send(desk, "/operator/publish", form | {"admission": "open"})
        assert again.status_code == 409
        assert "published already" in complaint(again)

    ask(scene)


def test_the_page_says_how_many_share_an_epoch(ask):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        opens, closes = "2999-11-01T00:00:00Z", "2999-11-15T00:00:00Z"
        await desk.publish(replace(STUDY, planned=3000, epoch=60, opens=opens, closes=closes))
        await sign_in(desk, desk.operator)
        page = (await desk.client.get("/operator", headers=HTML)).text
        assert "About 0.149 others share an epoch with an answer, and 86 % of answers are alone in theirs" in page
        german = (await desk.client.get("/operator?lang=de", headers=HTML)).text
        assert re.search(r"Epoche mit etwa 0,149 anderen, und 86\s% der Antworten", german)

    ask(scene)


def test_what_is_typed_wrong_is_said_and_kept(ask):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        proof = await sign_in(desk, desk.operator)
        for change, text in (
            ({"epsilon": "-1"}, "epsilon=-1: must be above 0"),
            ({"groups": "female=0.5"}, "give at least two"),
            ({"metrics": ""}, "metric=none: give at least one"),
            ({"metrics": "\n".join(f"m{n}" for n in range(9))}, "must be at most 8 here"),
            ({"title": ""}, "title"),
            ({"aim": "2"}, "aim=2: must be a decimal"),
            ({"results": "all"}, "results=all: must be public or readers"),
            ({"document": "{"}, "must be JSON"),
        ):
            wrong = await send(desk, "/operator/publish", DRAFT | {"proof": proof, "action": "publish"} | change)
            assert wrong.status_code == 400, change
            assert text in complaint(wrong), (change, complaint(wrong))
            assert 'value="sex"' in wrong.text
        assert (await desk.get("/studies")).json() == {"studies": []}

    ask(scene)


def test_forms_are_read_strictly(ask):
    async def scene(desk: Desk) -> None:
        for body in (b"token=a&token=b", b"token=a&more=b", b"token=%ff", b"token=\xff", b"x=1&" * 50 + b"token=a"):
            kind = {"content-type": "application/x-www-form-urlencoded"}
            assert (await desk.client.post("/sign-in", content=body, headers=kind)).status_code == 400, body
        assert (await desk.client.post("/sign-in", json={"token": "a"})).status_code == 415
        large = b"token=" + b"a" * 2**20
        kind = {"content-type": "application/x-www-form-urlencoded"}
        assert (await desk.client.post("/sign-in", content=large, headers=kind)).status_code == 413

    ask(scene)


def test_tokens_are_made_shown_once_and_revoked(ask, tmp_path: Path):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        proof = await sign_in(desk, desk.operator)
        new = {"proof": proof, "action": "new", "name": "news <room>", "role": "reader"}
        made = await send(desk, "/operator/tokens", new)
        token = re.search(r'<code dir="ltr">(fgr_[\w-]+)</code>', made.text)
        assert token is not None
        assert (await desk.get("/studies", token=token[1])).status_code == 200
        assert token[1] not in (await desk.client.get("/operator", headers=HTML)).text
        assert "is taken" in complaint(await send(desk, "/operator/tokens", new))
        assert (await send(desk, "/operator/tokens", new | {"role": "king", "name": "x"})).status_code == 400
        revoke = {"proof": proof, "action": "revoke", "name": "news <room>"}
        assert (await send(desk, "/operator/tokens", revoke)).status_code == 200
        assert (await desk.get("/studies", token=token[1])).status_code == 401
        own = await send(desk, "/operator/tokens", revoke | {"name": "operator"})
        assert (own.status_code, own.headers["location"]) == (303, "/sign-in")
        assert [one.name for one in read_tokens(tmp_path / "secrets")] == ["reader"]

    ask(scene)


def test_tickets_are_made_for_a_study(ask):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        await desk.publish(STUDY, admission="tickets")
        proof = await sign_in(desk, desk.operator)
        form = {"proof": proof, "study": STUDY.digest, "count": "3"}
        lines = (await send(desk, "/operator/tickets", form)).text.splitlines()
        assert len(set(lines)) == 3
        assert all(desk.collector.tickets.good(STUDY.digest, bytes.fromhex(line)) for line in lines)
        assert (await desk.answer(STUDY, bytes.fromhex(lines[0]), 1)).json() == {"status": "accepted"}
        for count in ("0", "-1", "100001", "x", "9" * 50, "²"):
            assert (await send(desk, "/operator/tickets", form | {"count": count})).status_code == 400
        assert (await send(desk, "/operator/tickets", form | {"study": "0" * 64})).status_code == 404

    ask(scene)


def test_closing_wants_to_be_sure(ask):
    async def scene(desk: Desk) -> None:
        desk.client.base_url = httpx.URL("https://collector")
        await desk.publish(STUDY)
        proof = await sign_in(desk, desk.operator)
        unsure = await send(desk, "/operator/close", {"proof": proof, "study": STUDY.digest})
        assert (unsure.status_code, "for good" in complaint(unsure)) == (400, True)
        assert (await desk.get("/studies")).json()["studies"][0]["status"] == "open"

    ask(scene)
