"""Pages about studies: who sees what, in which form, and nothing in them that could be turned against a reader.

Covers: fairgauge.collector.pages.study_pages, fairgauge.collector.pages.html, fairgauge.collector.pages.live_results,
fairgauge.collector.pages.study_pages, fairgauge.collector.pages.study_pages.
"""

import asyncio
import json
import re
import threading
import time
from html.parser import HTMLParser

import httpx
import pytest

from fairgauge.collector.pages.html import _POLICY
from fairgauge.server.problems import URN
from fairgauge.study import Attribute, Metric, Question, Study
from tests.collecting.desk import Desk
from tests.collecting.wire import answer_bytes
from tests.samples import sample_channel, sample_question, sample_study

STUDY = sample_study()
ONE = f"/studies/{STUDY.digest}"
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
NASTY = '<script>alert("x")</script>'


async def browse(desk: Desk, path: str, *, token: str = "", accept: str = BROWSER) -> httpx.Response:
    headers = {"accept": accept} | ({"authorization": f"Bearer {token}"} if token else {})
    return await desk.client.get(path, headers=headers)


async def publish(desk: Desk, study: Study, query: str) -> httpx.Response:
    return await desk.post(f"/studies?{query}", study.to_bytes())


async def answers(desk: Desk, count: int, *, study: Study = STUDY, start: int = 0) -> None:
    lines = [answer_bytes(study.digest, n.to_bytes(16), n % study.symbols) for n in range(start, start + count)]
    assert (await desk.batch(study, lines)).json()["accepted"] == count


class Safe(HTMLParser):
    """Fails on what the content-security policy would refuse, and on addresses elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.values: list[float] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        assert tag not in ("style", "iframe", "object", "embed", "base")
        assert not [name for name in named if name == "style" or name.startswith("on")]
        assert tag != "script" or named.get("src", "").startswith("/")  # type: ignore[union-attr]
        for name in ("href", "src", "action"):
            assert (named.get(name) or "/").startswith(("/", "#", "?lang=", "data:,")), named
            assert not (named.get(name) or "").startswith("//")
        if tag == "data":
            self.values.append(float(str(named["value"])))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def words(response: httpx.Response) -> str:
    return " ".join("".join(Safe(response.text).text).split())


@pytest.mark.parametrize(
    ("accept", "html"),
    [
        (BROWSER, True), ("text/html", True), ("text/html;q=0.5", True), ("", False), ("*/*", False),
        ("application/json", False), ("application/json, text/html", False), ("text/html;q=x", False),
        ("text/html;q=0.4, application/json;q=0.5", False), ("text/html;q=0", False), (";;,,q=", False),
    ],
)  # fmt: skip
def test_browsers_get_pages_and_devices_get_bytes(ask, accept: str, html: bool):
    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "results=public")
        found = await browse(desk, ONE, accept=accept)
        assert found.status_code == 200
        assert "accept" in found.headers["vary"].lower()
        assert found.headers["content-type"].startswith("text/html" if html else "application/json")
        assert (found.content == STUDY.to_bytes()) is not html

    ask(scene)


def test_results_that_are_not_public_are_for_readers(ask):
    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "")
        await answers(desk, 600)
        stranger = await browse(desk, ONE)
        assert stranger.status_code == 200
        assert "The results of this study are for readers." in words(stranger)
        assert "600" not in words(stranger)
        assert Safe(stranger.text).values == []
        for token in (desk.reader, desk.operator):
            assert "600 answers" in words(await browse(desk, ONE, token=token))
        assert (await browse(desk, ONE, token="wrong")).text == stranger.text
        for path in ("tally", "estimate", "report", "events", "export", "sealed", "arrivals"):
            refused = await browse(desk, f"{ONE}/{path}", accept="*/*")
            assert (refused.status_code, refused.json()["type"]) == (401, URN + "no-token"), path
        index = await browse(desk, "/studies")
        assert STUDY.digest not in index.text
        assert STUDY.digest in (await browse(desk, "/", token=desk.reader)).text

    ask(scene)


def test_public_results_are_for_everyone_but_arrivals_and_the_list_are_not(ask):
    async def scene(desk: Desk) -> None:
        made = await publish(desk, STUDY, "results=public&aim=0.05")
        assert (made.json()["results"], made.json()["aim"]) == ("public", "0.05")
        await answers(desk, 600)
        assert "600 answers" in words(await browse(desk, ONE))
        for path in ("tally", "estimate", "report", "export"):
            assert (await browse(desk, f"{ONE}/{path}", accept="*/*")).status_code == 200, path
        for path in (f"{ONE}/arrivals", "/studies", "/metrics"):
            assert (await browse(desk, path, accept="*/*")).status_code == 401, path
        assert STUDY.digest in (await browse(desk, "/studies")).text
        await desk.post(f"{ONE}/close")
        assert (await browse(desk, f"{ONE}/sealed", accept="*/*")).status_code == 200

    ask(scene)


def test_ids_that_may_be_tickets_stay_with_readers(ask):
    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "results=public&admission=tickets")
        assert (await browse(desk, f"{ONE}/tally", accept="*/*")).status_code == 200
        assert (await browse(desk, f"{ONE}/export", accept="*/*")).status_code == 401
        assert (await browse(desk, f"{ONE}/export", token=desk.reader, accept="*/*")).status_code == 200
        shown = await browse(desk, ONE)
        assert "/export" not in shown.text
        assert "You need a ticket." in words(shown)

    ask(scene)


def test_terms_are_checked_and_do_not_change(ask):
    async def scene(desk: Desk) -> None:
        for query in ("results=all", "aim=1", "aim=0", "aim=0.0", "aim=1e-3", "aim=-0.1", "aim=nan", "aim=0.1234567"):
            assert (await publish(desk, STUDY, query)).status_code == 400, query
        assert (await publish(desk, STUDY, "results=readers")).status_code == 201
        assert (await publish(desk, STUDY, "")).status_code == 200
        for query in ("results=public", "aim=0.05", "admission=tickets"):
            told = await publish(desk, STUDY, query)
            assert (told.status_code, told.json()["type"]) == (409, URN + "other-admission")
        assert (await browse(desk, f"{ONE}/tally", accept="*/*")).status_code == 401

    ask(scene)


def test_every_page_has_the_policy_and_nothing_that_it_refuses(ask):
    name = f"{NASTY} & co"
    question = Question(
        Metric(name, "0", "1"),
        Attribute(NASTY, (NASTY, "b"), ("0.5", "0.5"), answering="alike"),
        "gap",
        NASTY,
        "1.1",
        sample_channel(),
    )
    study = Study(NASTY, (question, sample_question()), contact=NASTY)

    async def scene(desk: Desk) -> None:
        await publish(desk, study, "results=public")
        await answers(desk, 4000, study=study)
        one = f"/studies/{study.digest}"
        for path in ("/", "/studies", one, "/sign-in", f"{one}x", "/nowhere"):
            found = await browse(desk, path)
            assert found.headers["content-security-policy"] == _POLICY, path
            assert found.headers["x-content-type-options"] == "nosniff"
            assert found.headers["referrer-policy"] == "same-origin"
            assert found.headers["cache-control"] == "no-store"
            Safe(found.text)
            assert "alert(" not in found.text.replace("alert(&#34;x", "")
        by_browser = {"accept": "text/html", "content-type": "application/json"}
        refused = await desk.client.post(f"{one}/answers", content=b"{}", headers=by_browser)
        assert (refused.status_code, refused.headers["content-security-policy"]) == (400, _POLICY)
        assert NASTY in words(await browse(desk, one))
        report = await browse(desk, f"{one}/report")
        assert NASTY not in report.text
        assert "script" not in report.headers["content-security-policy"]

    ask(scene)


def test_the_page_for_taking_part_says_that_leaving_can_be_seen(ask):
    async def scene(desk: Desk) -> None:
        await desk.publish(STUDY)
        for language, said in (("en", "You can leave at any time."), ("de", "Sie können jederzeit gehen.")):
            shown = await desk.get(f"{ONE}/take-part?lang={language}", token="")
            assert said in shown.text

    ask(scene)


def test_a_page_says_that_it_varies_by_language_and_which_one_it_is(ask):
    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "results=public")
        for path in ("/", "/studies", ONE, f"{ONE}/report", f"{ONE}/take-part", "/sign-in", "/nowhere"):
            for tag in ("en", "de", "ar"):
                found = await browse(desk, f"{path}?lang={tag}")
                assert found.headers["content-language"] == tag, path
                assert "accept-language" in found.headers["vary"].lower(), path
                assert found.headers["cache-control"] == "no-store", path
                assert "default-src 'none'" in found.headers["content-security-policy"], path
                assert f'<html lang="{tag}"' in found.text, path
        assert (await browse(desk, f"{ONE}?lang=<script>")).status_code == 400
        assert (await browse(desk, f"{ONE}?lang=de&lang=ar")).status_code == 400
        german = await desk.client.get(f"{ONE}/report", headers={"accept-language": "de"})
        assert '<html lang="de"' in german.text
        assert "Worauf die Zahlen beruhen" in german.text

    ask(scene)


def test_a_problem_whose_title_says_it_all_has_no_english_in_other_languages(ask):
    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "")
        for path, status in (("/nowhere", 404), (f"/studies/{'0' * 64}", 404), (f"{ONE}/tally", 401)):
            detail = (await browse(desk, path, accept="*/*")).json()["detail"]
            for tag in ("en", "de", "ar"):
                shown = await browse(desk, f"{path}?lang={tag}")
                assert shown.status_code == status
                assert (detail in words(shown)) == (tag == "en"), (path, tag)
        # What rule was broken is said nowhere else.
        assert "of this request" in words(await browse(desk, f"{ONE}?lang=ar&x=1"))

    ask(scene)


def test_a_problem_is_a_page_to_a_browser_only(ask):
    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "")
        for path, status in (("/studies/none", 404), ("/nowhere", 404), (f"{ONE}/tally", 401), (f"{ONE}?x=1", 400)):
            shown = await browse(desk, path)
            assert (shown.status_code, shown.headers["content-type"]) == (status, "text/html; charset=utf-8")
            told = await browse(desk, path, accept="*/*")
            assert (told.status_code, told.headers["content-type"]) == (status, "application/problem+json")
            assert told.json()["title"] in words(shown)

    ask(scene)


def test_the_page_the_report_and_the_json_have_the_same_numbers(ask):
    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "results=public")
        await answers(desk, 900)
        found = (await desk.get(f"{ONE}/estimate?interval=anytime")).json()["questions"][0]
        gap = [found["headline"][name] for name in ("estimate", "low", "high")]
        shown = Safe((await browse(desk, ONE)).text).values
        assert shown[:3] == pytest.approx(gap, rel=1e-9)  # pages say ten digits
        from tests.unit.reports.test_html_report import Page

        assert [float(v) for v in Page((await browse(desk, f"{ONE}/report")).text).values] == shown

    ask(scene)


def test_progress_and_the_past_are_shown(ask):
    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "results=public&aim=0.05")
        assert "There are no answers yet." in words(await browse(desk, ONE))
        for start in range(0, 3000, 100):
            await answers(desk, 100, start=start)
        shown = await browse(desk, ONE)
        said = words(shown)
        assert "3,000 of about" in said
        assert "answers needed for ±5 points" in said
        assert "The interval shrinks as answers arrive." in said
        await desk.post(f"{ONE}/close")
        closed = await browse(desk, ONE)
        assert "data-events" in shown.text
        assert "data-events" not in closed.text
        assert "fairgauge verify bundle.zip --key" in words(closed)
        assert "do not tell yet" not in words(closed)

    ask(scene)


def test_a_sealed_study_shows_the_interval_of_its_seal_everywhere(ask):
    from tests.unit.reports.test_html_report import Page

    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "results=public&aim=0.05")
        await answers(desk, 3000)
        before = Page((await browse(desk, ONE)).text).values
        await desk.post(f"{ONE}/close")
        sealed = json.loads((await browse(desk, f"{ONE}/sealed", accept="*/*")).text)["estimate"]
        gap = [sealed["questions"][0]["gaps"][0][name] for name in ("estimate", "low", "high")]
        page, report = [(await browse(desk, path)).text for path in (ONE, f"{ONE}/report")]
        for text in (page, report):
            assert [float(value) for value in Page(text).values[:3]] == pytest.approx(gap, rel=1e-9)
        assert Page(page).values[:3] != before[:3]  # on the way it held at every look
        told = json.loads((await browse(desk, f"{ONE}/estimate", accept="*/*")).text)
        assert told["questions"][0]["gaps"] == sealed["questions"][0]["gaps"]
        assert f"{sealed['interval']} intervals" in report
        assert "at every look" not in page

    ask(scene)


def test_forged_answers_are_warned_of(ask):
    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "results=public")
        lines = [answer_bytes(STUDY.digest, n.to_bytes(16), 0) for n in range(2000)]
        await desk.batch(STUDY, lines)
        assert "There are signs of forging" in words(await browse(desk, ONE))

    ask(scene)


def test_assets_are_cached_by_their_digest(ask):
    async def scene(desk: Desk) -> None:
        for path, kind in (("/style.css", "text/css"), ("/live.js", "text/javascript")):
            found = await desk.get(path, token="")
            assert found.headers["content-type"].startswith(kind)
            again = await desk.client.get(path, headers={"if-none-match": found.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        assert len((await desk.get("/live.js", token="")).content) < 2048

    ask(scene)


@pytest.mark.parametrize(
    ("path", "makes"), [(f"{ONE}/report", "render_report"), (ONE, "privacy_views"), (ONE, "page"), ("/", "page")]
)
def test_what_strangers_ask_for_is_made_one_by_one(ask, monkeypatch: pytest.MonkeyPatch, path: str, makes: str):
    """Each is a thread that takes the interpreter from devices: six of them made these wait for a second."""
    from fairgauge.collector.pages import study_pages

    making = most = 0
    real = getattr(study_pages, makes)

    def counted(*given: object, **named: object) -> object:
        nonlocal making, most
        making += 1
        most = max(most, making)
        time.sleep(0.01)
        making -= 1
        threads.add(threading.current_thread())
        return real(*given, **named)

    threads: set[threading.Thread] = set()
    monkeypatch.setattr(study_pages, makes, counted)

    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "results=public")
        await answers(desk, 200)
        found = await asyncio.gather(*(browse(desk, path) for _ in range(6)))
        assert {one.status_code for one in found} == {200}
        assert most == 1
        assert threading.main_thread() not in threads

    ask(scene)


def test_the_list_for_strangers_is_looked_up_once_a_second(ask, monkeypatch: pytest.MonkeyPatch):
    from fairgauge.collector.pages import study_pages

    async def scene(desk: Desk) -> None:
        looked, arrivals = [], desk.collector.store.arrivals

        async def counted(number: int) -> dict[int, int]:
            looked.append(number)
            return await arrivals(number)

        await publish(desk, STUDY, "results=public")
        monkeypatch.setattr(desk.collector.store, "arrivals", counted)
        monkeypatch.setattr(study_pages, "_LISTED_SECONDS", 3600.0)
        first, *others = await asyncio.gather(*(browse(desk, "/") for _ in range(5)))
        assert [one.text for one in others] == [first.text] * 4
        assert len(looked) == 1
        monkeypatch.setattr(study_pages, "_LISTED_SECONDS", 0.0)
        await answers(desk, 7)
        assert "7 answers" in words(await browse(desk, "/"))

    ask(scene)


def test_results_are_worked_out_once_for_each_tally(ask, monkeypatch: pytest.MonkeyPatch):
    from fairgauge.collector.pages import live_results

    worked: list[int] = []
    reckon = live_results._reckon

    def counted(now: live_results._Now, known: live_results._Known) -> live_results.Results:
        worked.append(now.tally.contributors)
        return reckon(now, known)

    monkeypatch.setattr(live_results, "_reckon", counted)
    monkeypatch.setattr(live_results, "_REST", 0)

    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "results=public")
        await answers(desk, 200)
        for _ in range(3):
            await browse(desk, ONE)
            await browse(desk, f"{ONE}/report")
        assert worked == [200]
        await answers(desk, 10, start=200)
        await browse(desk, ONE)
        assert worked == [200, 210]
        monkeypatch.setattr(live_results, "_REST", 1e6)
        await answers(desk, 10, start=210)
        await asyncio.gather(*(browse(desk, ONE) for _ in range(5)))  # who comes together waits for the first
        assert worked == [200, 210, 220]
        await answers(desk, 10, start=220)
        assert "220 answers" in words(await browse(desk, ONE))  # what took long stays for a while
        await desk.post(f"{ONE}/close")
        assert "230 answers" in words(await browse(desk, ONE))  # but the end is seen at once
        assert worked == [200, 210, 220, 230]

    ask(scene)


def since(response: httpx.Response) -> int:
    """Return from how many answers on the picture shows the interval."""
    found = re.search(r"The interval of the gap was ±[^ ]+ points after ([\d,]+) answers", response.text)
    assert found is not None
    return int(found[1].replace(",", ""))


def test_what_is_left_of_the_past_is_worked_out_later(ask, monkeypatch: pytest.MonkeyPatch):
    from fairgauge.collector.pages import live_results

    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "results=public")
        for start in range(0, 2000, 100):
            await answers(desk, 100, start=start)
        monkeypatch.setattr(live_results, "_BUDGET", -1.0)
        first, second = [since(await browse(desk, ONE)) for _ in range(2)]
        assert first > second > 300
        monkeypatch.setattr(live_results, "_BUDGET", 60.0)
        assert since(await browse(desk, ONE)) == 200

    ask(scene)


def test_the_summary_says_who_sees_results(ask):
    async def scene(desk: Desk) -> None:
        await publish(desk, STUDY, "results=public")
        (one,) = json.loads((await desk.get("/studies")).text)["studies"]
        assert (one["results"], one["aim"], one["admission"]) == ("public", "0.01", "open")

    ask(scene)


def test_a_study_is_not_open_before_its_time(ask):
    study = Study("Timed", (sample_question(),), opens="2026-01-01T00:00:00Z", closes="2026-01-02T00:00:00Z")
    now = 1767225600.0 - 1

    async def scene(desk: Desk) -> None:
        nonlocal now
        await publish(desk, study, "results=public")
        path = f"/studies/{study.digest}"
        for moment, states, button in (
            (now, ("not open yet",), False),
            (now + 1, ("open",), True),
            (now + 86_401, ("closed", "sealed"), False),  # the collector seals it when it next looks
        ):
            now = moment
            for shown in (await browse(desk, path), await browse(desk, "/")):
                pill = re.search(r'class="pill[^"]*">([^<]*)<', shown.text)
                assert pill is not None
                assert pill[1] in states
                assert ("/take-part" in shown.text) == (button and "data-part" in shown.text)

    ask(scene, clock=lambda: now)


def test_pages_run_our_own_scripts_and_are_framed_by_nobody():
    """A study's words are escaped; were they not, a browser would still run nothing that came with them."""
    rules = dict(rule.strip().split(" ", 1) for rule in _POLICY.split(";"))
    assert rules == {
        "default-src": "'none'",
        "style-src": "'self'",
        "script-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
    }
