"""Taking part in a real browser: what leaves it, what it remembers, and what it refuses.

Covers: fairgauge.collector.pages.take_part.
"""

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from fairgauge.collector.pages.take_part import ASSETS, POLICY
from fairgauge.study import Attribute, Metric, Question, Study
from tests.browser.conftest import CHROMIUM, FLAGS, Collecting, OpenVisitor
from tests.browser.relay import Relay, relay
from tests.browser.visitor import Visitor, barriers
from tests.samples import (
    RECALL,
    SEX,
    THREE_LEVELS,
    sample_channel,
    sample_question,
    sample_study,
    site_study,
    unlinked_study,
)

GROUP, VALUE = "zz-quokka", "0.7731902846"
MARKS = [b"quokka", b"7731902"]
ANIMAL = Attribute("animal", (GROUP, "wombat"))


def new_study(title: str, *, abstain: bool = False, attribute: Attribute = ANIMAL) -> Study:
    """A study of its own for each test: a browser answers a study once, but the collector counts everyone's."""
    return replace(sample_study(sample_question(RECALL, attribute, abstain=abstain)), title=title)


def open_form(person: Visitor, study: Study, *, fragment: str = "") -> Page:
    page = person.open(f"/studies/{study.digest}/take-part{fragment}")
    expect(page.locator("#form")).to_be_visible()
    return page


def fill(page: Page, group: str = GROUP, value: str = VALUE) -> None:
    page.get_by_label(group, exact=True).check()
    page.get_by_label("Your recall").fill(value)


def randomise(page: Page) -> bytes:
    """Press the button and return the bytes that the page shows."""
    page.get_by_role("button", name="Randomise").click()
    return shown(page)


def shown(page: Page) -> bytes:
    expect(page.locator("#ready")).to_be_visible()
    return (page.locator("#bytes").text_content() or "").encode()


def send(page: Page) -> None:
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.locator("#counted-list")).not_to_be_empty()  # the last that the page asks for


def kill(profile: Path) -> None:
    """Kill the browser that uses a profile, as a crash or the system would: it gets no chance to write anything."""
    option = f"--user-data-dir={profile}".encode()
    mine = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if option in (process / "cmdline").read_bytes().split(b"\0"):
                mine.append(int(process.name))
    assert mine
    for number in mine:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def posted(person: Visitor) -> list[bytes | None]:
    return [request.post_data_buffer for request in person.requests if request.method == "POST"]


def remembered(page: Page) -> list[dict[str, Any]]:
    """Everything that the page's site has in IndexedDB."""
    found: list[dict[str, Any]] = page.evaluate(
        """() => new Promise((resolve) => {
            const opening = indexedDB.open("fairgauge");
            opening.onsuccess = () => {
                const database = opening.result;
                const reading = database.transaction("answers").objectStore("answers").getAll();
                reading.onsuccess = () => { database.close(); resolve(reading.result); };
            };
        })"""
    )
    return found


@pytest.fixture
def wire(collector: Collecting) -> Iterator[Relay]:
    with relay(collector.process.port) as found:
        yield found


class TestDrafts:
    """Studies of format 2."""

    def test_crossed_attributes_are_asked_one_by_one(self, collector: Collecting, visitor: OpenVisitor) -> None:
        cells = Attribute.crossed(ANIMAL, Attribute("age", ["young", "old"]))
        channel = sample_channel(groups=len(cells.groups))
        study = Study("Crossed", [Question(RECALL, cells, "means", "sample", 1.1, channel, expect=0.8)])
        collector.publish(study)
        page = open_form(visitor(), study)
        expect(page.locator("#promise")).to_contain_text(f"your {ANIMAL.name}, your age, and your recall")
        fill(page)
        page.get_by_label("old", exact=True).check()
        sent = json.loads(randomise(page))
        assert sent["study"] == study.digest
        send(page)
        assert sum(collector.counts(study)) == 1
        assert [name for name, _ in remembered(page)[0]["charges"]] == [ANIMAL.name, "age"]

    @pytest.mark.parametrize(
        ("study", "text"),
        [
            (site_study(), "The study is for sites that hold many people, and this is a device of one person."),
            (
                unlinked_study(),
                "The study asks for a release in batches that devices check, which this version cannot do",
            ),
        ],
    )
    def test_what_the_page_cannot_do_it_says_before_it_asks(
        self, collector: Collecting, visitor: OpenVisitor, study: Study, text: str
    ) -> None:
        other = new_study(f"Instead of {study.title}")
        collector.publish(other)
        person = visitor()
        document = study.to_bytes()
        person.context.route(f"**/studies/{study.digest}", lambda route: route.fulfill(body=document))
        shell = httpx.get(f"{collector.url}/studies/{other.digest}/take-part").text
        page_path = f"**/studies/{study.digest}/take-part"
        person.context.route(page_path, lambda route: route.fulfill(body=shell, content_type="text/html"))
        page = person.open(f"/studies/{study.digest}/take-part")
        expect(page.locator("#problem")).to_contain_text(text)
        expect(page.locator("#form")).to_be_hidden()


class TestEndToEnd:
    def test_only_the_symbol_leaves_the_browser(self, collector: Collecting, visitor: OpenVisitor, wire: Relay) -> None:
        study = new_study("Only the symbol")
        collector.publish(study)
        person = visitor(wire.url)
        page = open_form(person, study)
        fill(page)
        body = randomise(page)
        assert b"POST" not in wire.sent  # seen before it is sent
        send(page)

        answer = json.loads(body)
        assert list(answer) == ["id", "study", "symbol"]
        assert answer["study"] == study.digest
        counts = collector.counts(study)
        assert sum(counts) == counts[answer["symbol"]] == 1

        # The very bytes that were shown, once, and nothing beside them: in no header, address or body.
        assert wire.sent.count(body) == wire.sent.count(b"POST ") == 1
        assert [mark for mark in MARKS if mark in wire.sent] == []
        headers = wire.sent[wire.sent.index(b"POST ") : wire.sent.index(body)].lower()
        assert f"content-length: {len(body)}".encode() in headers
        assert [name for name in (b"cookie", b"referer", b"authorization") if name in headers] == []
        assert b"cookie" not in wire.sent.lower()
        one = f"/studies/{study.digest}"
        asked = re.findall(r"(?:GET|POST) (\S+) HTTP", wire.sent.decode())
        known = {one, f"{one}/take-part", f"{one}/answers", "/style.css", *(f"/static/{name}" for name in ASSETS)}
        once = [path for path in asked if path != f"{one}/status"]
        assert set(once) <= known
        assert len(once) == len(set(once))
        # Whether it is open: before it asks, before it draws, and once more for who sees the results.
        assert len(asked) - len(once) == 3

        # Nor is anything kept: not in the page, the address, the memory, or the browser's own stores.
        (record,) = remembered(page)
        assert {**answer, "state": "delivered"} == {name: record[name] for name in ("id", "study", "symbol", "state")}
        assert [mark for mark in MARKS if mark in json.dumps(record).encode()] == []
        assert page.url == f"{wire.url}/studies/{study.digest}/take-part"
        fields = page.eval_on_selector_all("input", "all => all.map((one) => one.value + one.checked)")
        assert fields == ["4false", "8false"], "the limits, and nothing that was typed"
        assert person.context.storage_state()["cookies"] == []
        assert page.evaluate("localStorage.length + sessionStorage.length") == 0
        person.check_quiet()

    def test_the_leak_would_be_seen(self, collector: Collecting, visitor: OpenVisitor, wire: Relay) -> None:
        """The mutant twin: a client that also sends the value is caught by the same search."""
        study = new_study("The leak")
        collector.publish(study)
        person = visitor(wire.url)

        def leak(route: Route) -> None:
            source = route.fetch().text()
            honest = "const allowed = allLimits("
            assert source.count(honest) == 1
            route.fulfill(
                body=source.replace(honest, "fetch('/healthz?' + Object.values(profile.values));" + honest),
                content_type="text/javascript",
            )

        person.context.route("**/fairgauge-client.js", leak)
        page = open_form(person, study)
        fill(page)
        randomise(page)
        page.wait_for_timeout(100)
        assert b"7731902" in wire.sent

    def test_with_the_keyboard_alone(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Keyboard")
        collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        page.get_by_text("What this browser will spend").focus()
        page.keyboard.press("Tab")  # the groups
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        page.keyboard.type("0.5")
        page.keyboard.press("Enter")
        body = shown(page)
        assert page.evaluate("document.activeElement.id") == "ready-title"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Thank you")).to_be_focused()
        assert posted(person) == [body]
        person.check_quiet()

    def test_counts_make_an_exact_fraction(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Counts")
        collector.publish(study)
        page = open_form(visitor(), study)
        page.get_by_label("wombat").check()
        page.get_by_text("Work it out").click()
        page.get_by_label("How many were right").fill("2")
        page.get_by_label("Out of how many").fill("3")
        expect(page.get_by_label("Your recall")).to_have_value("2/3")
        randomise(page)

    def test_a_study_of_several_questions_takes_silence(self, collector: Collecting, visitor: OpenVisitor) -> None:
        land = Attribute("region", tuple(f"region {i}" for i in range(12)))
        study = sample_study(
            sample_question(RECALL, SEX, levels=THREE_LEVELS, abstain=True),
            sample_question(Metric("error", "-0.5", "2"), land, abstain=True),
        )
        collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        expect(page.get_by_text("one of the 2 questions")).to_be_visible()
        page.get_by_role("radio", name="Prefer not to say").check()
        page.get_by_label("By region, which group are you in?").select_option("Prefer not to say")
        page.get_by_label("Your recall").fill("0,25")
        page.get_by_role("checkbox").last.check()
        assert page.get_by_label("Your error").is_disabled()
        randomise(page)
        send(page)
        assert sum(collector.counts(study)) == 1
        person.check_quiet()

    def test_what_a_study_says_is_text_and_never_markup(self, collector: Collecting, visitor: OpenVisitor) -> None:
        mark = "<img src=x onerror=alert(1)>"
        study = new_study(mark, attribute=Attribute(f"a{mark}", (f"b{mark}", f"c{mark}")))
        collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        expect(page.get_by_role("heading", level=1)).to_have_text(mark)
        expect(page.get_by_role("radio").first).to_have_accessible_name(f"b{mark}")
        assert page.locator("img").count() == 0
        person.check_quiet()

    def test_nothing_typed_comes_back_with_the_page(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Back")
        collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        fill(page)
        page.goto(person.url + "/healthz")
        page.go_back()
        expect(page.locator("#form")).to_be_visible()
        assert page.get_by_label("Your recall").input_value() == ""
        assert page.locator("input:checked").count() == 0


class TestOnce:
    def test_a_second_visit_shows_the_same_answer_and_sends_nothing(
        self, collector: Collecting, visitor: OpenVisitor
    ) -> None:
        study = new_study("Second visit")
        collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        fill(page)
        body = randomise(page)
        send(page)
        page.close()
        again = person.open(f"/studies/{study.digest}/take-part")
        assert shown(again) == body
        expect(again.get_by_role("status").first).to_have_text("You have answered this study in this browser before.")
        assert again.locator("#form").is_hidden()
        assert again.get_by_role("button", name="Send").is_hidden()
        assert posted(person) == [body]
        assert sum(collector.counts(study)) == 1
        person.check_quiet()

    def test_an_answer_that_was_not_sent_is_sent_on_the_next_visit(
        self, collector: Collecting, visitor: OpenVisitor
    ) -> None:
        study = new_study("Not sent")
        collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        fill(page)
        body = randomise(page)
        page.reload()
        assert shown(page) == body
        assert posted(person) == []
        send(page)
        assert posted(person) == [body]

    def test_a_browser_that_is_killed_remembers(self, browser: Browser, collector: Collecting, tmp_path: Path) -> None:
        study = new_study("Killed")
        path = collector.publish(study)
        found = []
        for end in ("killed", "closed"):
            context = browser.browser_type.launch_persistent_context(tmp_path, executable_path=CHROMIUM, args=FLAGS)
            page = context.new_page()
            page.goto(f"{collector.url}{path}/take-part")
            if end == "killed":
                fill(page)
                page.get_by_role("button", name="Randomise").click()
            found.append(shown(page))
            if end == "killed":
                with context.expect_event("close"):
                    kill(tmp_path)
            else:
                context.close()
        assert found[0] == found[1]

    def test_two_tabs_at_once_draw_once(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Two tabs")
        collector.publish(study)
        person = visitor()
        tabs = [open_form(person, study) for _ in range(2)]
        for tab, group in zip(tabs, ANIMAL.groups, strict=True):
            fill(tab, group)
        for tab in tabs:
            tab.evaluate("setTimeout(() => document.querySelector('#form button').click(), 50)")
        first, second = (shown(tab) for tab in tabs)
        assert first == second
        assert len(remembered(tabs[0])) == 1

    def test_a_crowd_of_calls_draws_once(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Crowd")
        path = collector.publish(study)
        page = visitor().open(path + "/take-part")
        answers = page.evaluate(
            """async (path) => {
                const client = await import("/static/fairgauge-client.js");
                const study = await client.loadStudy(path);
                const profile = { group: study.questions[0].attribute.groups[0], values: { recall: "0.5" } };
                const all = Array.from({ length: 40 }, () => new client.Ledger().answer(study, profile));
                return (await Promise.all(all)).map((answer) => JSON.stringify(answer));
            }""",
            path,
        )
        assert len(answers) == 40
        assert len(set(answers)) == 1

    def test_a_lost_receipt_and_a_busy_collector_get_the_same_bytes(
        self, collector: Collecting, visitor: OpenVisitor
    ) -> None:
        study = new_study("Lost receipt")
        collector.publish(study)
        person = visitor()
        tries: list[bytes | None] = []

        def trouble(route: Route) -> None:
            tries.append(route.request.post_data_buffer)
            if len(tries) == 1:
                route.fetch()  # it arrives, but the receipt is lost
                route.abort()
            elif len(tries) == 2:
                route.fulfill(status=503, headers={"Retry-After": "1"}, body="{}")
            else:
                route.continue_()

        person.context.route("**/answers", trouble)
        page = open_form(person, study)
        fill(page)
        body = randomise(page)
        send(page)
        assert tries == [body] * 3
        assert sum(collector.counts(study)) == 1

    def test_a_closed_study_is_told_and_not_tried_again(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Closed")
        path = collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        fill(page)
        randomise(page)
        collector.ask("POST", path + "/close")
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#sending")).to_contain_text("has closed the study")
        expect(page.get_by_role("button", name="Send")).to_be_hidden()
        assert remembered(page)[0]["state"] == "refused"
        assert len(posted(person)) == 1


class TestStates:
    """A study that does not take answers says so before it asks, and nothing is spent on it."""

    def test_a_study_that_was_closed_early_asks_nothing(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Closed early")
        path = collector.publish(study)
        collector.ask("POST", path + "/close")
        person = visitor()
        page = person.open(path + "/take-part")
        expect(page.locator("#status")).to_have_text(
            "The study is closed and takes no more answers. Thank you for your interest."
        )
        assert page.locator("#form").is_hidden()
        assert page.get_by_role("link", name="results").count() == 0
        assert remembered(page) == []
        assert posted(person) == []
        assert barriers(page) == []
        person.check_quiet()

    def test_one_that_closes_meanwhile_spends_nothing(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Closed meanwhile")
        path = collector.publish(study, results="public")
        person = visitor()
        page = open_form(person, study)
        fill(page)
        collector.ask("POST", path + "/close")
        page.get_by_role("button", name="Randomise").click()
        told = page.locator("#status")
        expect(told).to_contain_text("takes no more answers")
        expect(told).to_contain_text("Nothing was drawn, and nothing was sent. See its results.")
        expect(told).to_be_focused()
        assert page.locator("#form").is_hidden()
        assert page.get_by_label("Your recall").count() == 0, "nothing typed stays"
        assert remembered(page) == []
        assert posted(person) == []
        page.get_by_role("link", name="See its results").click()
        page.wait_for_url(collector.url + path)
        person.check_quiet()

    def test_a_page_that_does_not_ask_again_would_be_seen(self, collector: Collecting, visitor: OpenVisitor) -> None:
        """The mutant twin: without the second check the same visit spends privacy on a closed study."""
        study = new_study("Closed and not asked")
        path = collector.publish(study)
        person = visitor()

        def careless(route: Route) -> None:
            source = route.fetch().text()
            check = "await takesAnswers(visit, study, true).catch((error) => error)"
            assert source.count(check) == 1
            route.fulfill(body=source.replace(check, "true"), content_type="text/javascript")

        person.context.route("**/take-part.js", careless)
        page = open_form(person, study)
        fill(page)
        collector.ask("POST", path + "/close")
        randomise(page)
        assert len(remembered(page)) == 1

    @pytest.mark.parametrize("answer", ["none", "nonsense", "another"])
    def test_a_collector_that_does_not_say_gets_no_answer(
        self, collector: Collecting, visitor: OpenVisitor, answer: str
    ) -> None:
        study = new_study(f"Not said: {answer}")
        collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        fill(page)

        def trouble(route: Route) -> None:
            if answer == "none":
                route.abort()
            else:
                name = "0" * 64 if answer == "another" else study.digest
                status = "open" if answer == "another" else "ajar"
                route.fulfill(json={"study": name, "status": status, "results": "public"})

        person.context.route("**/status", trouble)
        page.get_by_role("button", name="Randomise").click()
        expect(page.locator("#drawing")).to_contain_text(
            "does not say whether the study is open. Nothing was drawn. Please try again in a moment."
        )
        assert remembered(page) == []
        person.context.unroute("**/status")
        randomise(page)  # what was typed is still there

    def test_an_answer_that_was_not_sent_in_time(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Not in time")
        path = collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        fill(page)
        randomise(page)
        collector.ask("POST", path + "/close")
        page.reload()
        expect(page.locator("#status")).to_contain_text("The study closed before you sent your answer.")
        expect(page.get_by_role("button", name="Send")).to_be_hidden()
        assert posted(person) == []


class TestOutage:
    """Whoever pressed Send need not come back to press it again."""

    def test_the_page_sends_by_itself_when_the_network_is_back(
        self, collector: Collecting, visitor: OpenVisitor
    ) -> None:
        study = new_study("Outage")
        collector.publish(study)
        person = visitor()
        person.context.route("**/answers", lambda route: route.abort())
        page = open_form(person, study)
        fill(page)
        body = randomise(page)
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#sending")).to_contain_text("This page sends it by itself as soon as that works")
        assert barriers(page) == []
        person.context.unroute("**/answers")
        page.evaluate("dispatchEvent(new Event('online'))")
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
        assert set(posted(person)) == {body}
        assert sum(collector.counts(study)) == 1

    def test_the_page_tries_again_after_a_while(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Outage and patience")
        collector.publish(study)
        person = visitor()
        person.context.add_init_script(
            "const wait = setTimeout; globalThis.setTimeout = (work, time) => wait(work, time / 40);"
        )
        person.context.route("**/answers", lambda route: route.fulfill(status=503, body="{}"))
        page = open_form(person, study)
        fill(page)
        body = randomise(page)
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#sending")).to_contain_text("is not ready to take the answer")
        person.context.unroute("**/answers")
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
        expect(page.locator("#sending")).to_be_empty()
        assert set(posted(person)) == {body}
        assert sum(collector.counts(study)) == 1

    def test_whoever_changes_their_mind_stops_it(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Outage and another mind")
        collector.publish(study)
        person = visitor()
        person.context.route("**/answers", lambda route: route.abort())
        page = open_form(person, study)
        fill(page)
        randomise(page)
        expect(page.locator("#rather-not")).to_be_visible()
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#rather-not")).to_be_hidden()
        page.get_by_role("button", name="Stop trying").click()
        expect(page.locator("#sending")).to_have_text("This page has stopped trying.")
        person.context.unroute("**/answers")
        before = len(posted(person))
        page.evaluate("dispatchEvent(new Event('online'))")
        page.reload()
        expect(page.locator("#status")).to_have_text("Your answer was drawn on an earlier visit.")
        expect(page.get_by_role("button", name="Send")).to_be_visible()
        page.wait_for_timeout(300)
        assert len(posted(person)) == before
        assert sum(collector.counts(study)) == 0

    def test_the_next_visit_sends_what_was_to_be_sent(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Outage and a next visit")
        path = collector.publish(study)
        person = visitor()
        person.context.route("**/answers", lambda route: route.abort())
        page = open_form(person, study)
        fill(page)
        body = randomise(page)
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#sending")).to_have_text("Sending…")
        page.close()
        person.context.unroute("**/answers")
        again = person.open(path + "/take-part")
        expect(again.get_by_role("heading", name="Thank you")).to_be_visible()
        assert set(posted(person)) == {body}
        assert sum(collector.counts(study)) == 1


class TestThanks:
    def test_results_that_are_public_are_linked_and_the_answer_is_found(
        self, collector: Collecting, visitor: OpenVisitor
    ) -> None:
        study = new_study("Thanks")
        path = collector.publish(study, results="public")
        person = visitor()
        page = open_form(person, study)
        fill(page)
        body = randomise(page)
        send(page)
        expect(page.get_by_role("link", name="what all answers say so far")).to_have_attribute(
            "href", collector.url + path
        )
        page.get_by_text("How to check that your answer is counted").click()
        page.get_by_role("button", name="Is my answer counted?").click()
        expect(page.locator("#rechecked")).to_have_text("Yes: the collector has counted exactly these bytes, once.")
        assert posted(person) == [body, body]
        assert sum(collector.counts(study)) == 1
        listed = page.get_by_role("link", name="list of all answers").get_attribute("href") or ""
        assert body in httpx.get(listed).content.splitlines()
        expect(page.locator("#counted-list")).to_contain_text(json.loads(body)["id"])
        assert barriers(page) == []
        person.check_quiet()

    def test_results_that_are_not_public_are_not_linked(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Thanks, in private")
        collector.publish(study)
        page = open_form(visitor(), study)
        fill(page)
        randomise(page)
        send(page)
        page.get_by_text("How to check that your answer is counted").click()
        expect(page.locator("#counted-list")).to_contain_text("The list of all answers is not public.")
        assert page.locator("#ready").get_by_role("link").count() == 0

    def test_an_answer_that_was_lost_is_counted_then(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Lost")
        collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        fill(page)
        randomise(page)
        person.context.route("**/answers", lambda route: route.fulfill(json={"status": "accepted"}))
        send(page)
        person.context.unroute("**/answers")
        assert sum(collector.counts(study)) == 0
        page.get_by_text("How to check that your answer is counted").click()
        page.get_by_role("button", name="Is my answer counted?").click()
        expect(page.locator("#rechecked")).to_have_text("It was missing. The collector has counted it now.")


class TestWho:
    """Who asks and why, as far as the study says."""

    def test_the_page_says_who_asks_why_for_how_long_and_whom_to_ask(
        self, collector: Collecting, visitor: OpenVisitor
    ) -> None:
        recall = Metric("recall", "0", "1", help="Out of the last 100 commands, the part that was understood.")
        animal = Attribute(ANIMAL.name, ANIMAL.groups, help="As your friends would say.")
        study = Study(
            "Who asks",
            [sample_question(recall, animal)],
            operator="Fairness Office",
            purpose="To find out whom the assistant understands less well.",
            retention=30,
            contact="fairness@example.org",
        )
        collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        terms = page.locator("#who-list dt").all_text_contents()
        assert terms == ["Who asks", "Why", "What happens with it", "For how long", "Whom to ask"]
        who, why, what, long, whom = page.locator("#who-list dd").all_text_contents()
        assert who == "Fairness Office"
        assert why == "To find out whom the assistant understands less well."
        assert "counted together with everyone’s" in what
        assert long == (
            "The study promises that single answers are deleted 30 days after it closes. Only the counts stay."
        )
        assert whom == "fairness@example.org"
        expect(page.get_by_role("link", name=whom)).to_have_attribute("href", "mailto:fairness@example.org")
        expect(page.get_by_label("Your recall")).to_have_accessible_description(
            re.compile("^Out of the last 100 commands, the part that was understood. A number from 0 to 1")
        )
        expect(page.get_by_role("radiogroup")).to_have_accessible_description("As your friends would say.")
        assert barriers(page) == []
        fill(page)
        randomise(page)
        person.check_quiet()

    def test_a_study_that_says_nothing_of_it_has_no_such_part(
        self, collector: Collecting, visitor: OpenVisitor
    ) -> None:
        study = new_study("Silent")
        collector.publish(study)
        assert open_form(visitor(), study).locator("#who").is_hidden()

    def test_a_contact_is_a_link_only_if_it_is_an_address(self, collector: Collecting, visitor: OpenVisitor) -> None:
        person = visitor()
        for contact in ("javascript:alert(1)", "https://example.org\\@evil.example", "the front desk"):
            study = replace(new_study(f"Contact {contact}"), contact=contact)
            collector.publish(study)
            page = open_form(person, study)
            expect(page.locator("#who-list dd").last).to_have_text(contact)
            assert page.locator("#who a").count() == 0


class TestRefusals:
    def changed(self, person: Visitor, study: Study, change: Any) -> Page:
        """Open the page while somebody in between changes the study."""

        def tamper(route: Route) -> None:
            route.fulfill(body=change(route.fetch().text()), content_type="application/json")

        person.context.route(f"**/studies/{study.digest}", tamper)
        page = person.open(f"/studies/{study.digest}/take-part")
        expect(page.get_by_role("alert")).to_be_visible()
        assert page.locator("#form").is_hidden()
        assert posted(person) == []
        return page

    @pytest.mark.parametrize(
        ("old", "new", "reason"),
        [
            ('"wombat"', '"koala"', "this is another study"),
            ('"title":"', '"title":"Not ', "this is another study"),
            ('"epsilon":"1.1"', '"epsilon":"1.09"', "declares epsilon 1.09, but its table spends more"),
            ('"format":1', '"format":3', "format=3: must be 1 or 2"),
            ('"format":1', '"format":1,"format":1', "must be given once"),
        ],
    )
    def test_a_study_that_was_changed_on_its_way(
        self, collector: Collecting, visitor: OpenVisitor, old: str, new: str, reason: str
    ) -> None:
        study = new_study("Changed")
        collector.publish(study)
        person = visitor()
        page = self.changed(person, study, lambda text: text.replace(old, new, 1))
        expect(page.get_by_role("alert")).to_contain_text(reason)
        person.check_quiet()

    @pytest.mark.parametrize(
        ("handicap", "reason"),
        [
            ("Object.defineProperty(crypto, 'subtle', { value: undefined })", "open the page with https"),
            ("Object.defineProperty(globalThis, 'indexedDB', { value: undefined })", "does not let the page remember"),
            ("IDBFactory.prototype.open = () => { throw new Error('no') }", "does not let the page remember"),
        ],
    )
    def test_a_browser_that_cannot_check_or_remember(
        self, collector: Collecting, visitor: OpenVisitor, handicap: str, reason: str
    ) -> None:
        study = new_study("Handicapped")
        collector.publish(study)
        person = visitor()
        person.context.add_init_script(handicap)
        page = person.open(f"/studies/{study.digest}/take-part")
        expect(page.get_by_role("alert")).to_contain_text(reason)
        assert page.locator("#form").is_hidden()
        person.check_quiet()

    def test_a_value_outside_the_range_is_named_by_its_rule_alone(
        self, collector: Collecting, visitor: OpenVisitor
    ) -> None:
        study = new_study("Range")
        collector.publish(study)
        page = open_form(visitor(), study)
        complaint = page.locator("#complaint-value-0")
        for value in ("", "1.0000001", "-0.1", "much", "5/4", "1/0", "1e5000"):
            fill(page, value=value)
            page.get_by_role("button", name="Randomise").click()
            expect(complaint).to_have_text("Recall must be a number from 0 to 1.")
            expect(page.get_by_label("Your recall")).to_be_focused()
            page.get_by_label("Your recall").fill("0.5")
            expect(complaint).to_have_text("")
        assert remembered_nothing(page)
        randomise(page)

    @pytest.mark.parametrize(
        ("text", "level"),
        [
            ("83 %", "0.83"),
            ("%83", "0.83"),
            ("83,5 %", "0.835"),
            ("100%", "1"),
            ("\u0668\u0663\u066b\u0665 \u066a", "0.835"),  # in Arabic and Persian digits
            ("\u06f8\u06f3/\u06f1\u06f0\u06f0", "0.83"),
        ],
    )
    def test_a_percentage_is_understood(
        self, collector: Collecting, visitor: OpenVisitor, text: str, level: str
    ) -> None:
        study = new_study(f"Percentage {text}")
        collector.publish(study)
        page = open_form(visitor(), study)
        found = page.evaluate(
            """async ([text, level]) => {
                const { valueField } = await import("/static/take-part-fields.js");
                const { Words } = await import("/static/take-part-words.js");
                const { position } = await import("/static/fairgauge-client.js");
                const metric = { name: "recall", low: "0", high: "1" };
                const told = { ...metric, help: null, language: "" };
                const field = valueField(new Words(["en"]), { ranges: [metric], told, silent: false }, 7);
                field.element.querySelector("input").value = text;
                const [one, other] = [field.read(), level].map((value) => position(metric, value));
                return one.n * other.d === other.n * one.d;
            }""",
            [text, level],
        )
        assert found is True
        fill(page, value=text)
        randomise(page)

    def test_what_was_probably_meant_is_answered(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Meant in percent")
        collector.publish(study)
        page = open_form(visitor(), study)
        complaint = page.locator("#complaint-value-0")
        for value in ("83", "83.5", "100", "2"):
            fill(page, value=value)
            page.get_by_role("button", name="Randomise").click()
            expect(complaint).to_have_text("Recall must be a number from 0 to 1: for 83 in 100 write 0.83 or 83%.")
        for value in ("101 %", "% 83 %", "8 3 %", "1000"):
            fill(page, value=value)
            page.get_by_role("button", name="Randomise").click()
            expect(complaint).to_have_text("Recall must be a number from 0 to 1.")
        assert remembered_nothing(page)

    def test_another_range_takes_no_percentage(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = replace(sample_study(sample_question(Metric("recall", "0", "100"), ANIMAL)), title="In hundreds")
        collector.publish(study)
        page = open_form(visitor(), study)
        fill(page, value="83 %")
        page.get_by_role("button", name="Randomise").click()
        expect(page.locator("#complaint-value-0")).to_have_text(
            "Recall must be a number from 0 to 100, written without a percent sign."
        )
        fill(page, value="83")
        randomise(page)

    def test_a_group_must_be_picked(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("No group")
        collector.publish(study)
        page = open_form(visitor(), study)
        page.get_by_label("Your recall").fill("0.5")
        page.get_by_role("button", name="Randomise").click()
        expect(page.get_by_text("Please pick a group by animal.")).to_be_visible()
        expect(page.get_by_label(GROUP, exact=True)).to_be_focused()
        assert remembered_nothing(page)

    @pytest.mark.parametrize(
        ("limits", "reason"),
        [
            ({"study": "1"}, "spends epsilon 1.098613, and this device allows 1 a study"),
            ({"lifetime": "2"}, "animal has cost epsilon 1.098613 on this device; an answer would make it 2.197225"),
            ({"lifetime": 2}, "lifetime=2: must be a number from 0 up in quotes"),
            ({"lifetme": "2"}, "limits=lifetme: must be study or lifetime"),
        ],
    )
    def test_the_limits_of_a_person(
        self, collector: Collecting, visitor: OpenVisitor, limits: dict[str, object], reason: str
    ) -> None:
        first, second = (collector.publish(new_study(f"Limits {i}")) for i in range(2))
        page = visitor().open(first + "/take-part")
        found = page.evaluate(
            """async ([paths, limits]) => {
                const client = await import("/static/fairgauge-client.js");
                const ledger = new client.Ledger("limits");
                const [first, second] = await Promise.all(paths.map((path) => client.loadStudy(path)));
                const profile = { group: { animal: "wombat" }, values: { recall: 0.5 } };
                await ledger.answer(first, profile);
                const refused = await ledger.answer(second, profile, { limits }).catch((error) => error.message);
                return [refused, await ledger.recall(second.digest), (await ledger.pending()).length];
            }""",
            [[first, second], limits],
        )
        assert reason in found[0]
        assert found[1:] == [None, 1]

    def test_a_browser_that_was_told_nothing_has_limits(self, collector: Collecting, visitor: OpenVisitor) -> None:
        """Studies that differ in their title only: answered until 8 is spent, and a costly one is not answered."""
        paths = [collector.publish(new_study(f"Again {i}")) for i in range(8)]
        costly = replace(sample_study(sample_question(RECALL, ANIMAL, loss=60, epsilon="5")), title="Costly")
        page = visitor().open(paths[0] + "/take-part")
        found = page.evaluate(
            """async (paths) => {
                const client = await import("/static/fairgauge-client.js");
                const ledger = new client.Ledger("defaults");
                const profile = { group: "wombat", values: { recall: 0.5 } };
                const said = [];
                for (const path of paths) {
                    const study = await client.loadStudy(path);
                    said.push(await ledger.answer(study, profile).then(() => "", (error) => error.message));
                }
                const costly = await client.loadStudy(paths.at(-1));
                const limits = { study: null, lifetime: null };
                said.push(await ledger.answer(costly, profile, { limits }).then(() => ""));
                return said;
            }""",
            [*paths, collector.publish(costly)],
        )
        assert found[:7] == [""] * 7
        assert found[7] == (
            "the group has cost epsilon 7.690287 on this device; an answer would make it 8.788899, and the limit is 8"
        )
        assert found[8].endswith("spends epsilon 4.094345, and this device allows 4 a study")
        assert found[9] == "", "unless somebody says otherwise"

    def test_a_person_lowers_the_limits(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Lowered")
        collector.publish(study)
        person = visitor()
        page = open_form(person, study)
        page.get_by_text("What this browser will spend").click()
        now = page.locator("#limits-now")
        expect(now).to_contain_text("only if that costs at most epsilon 4, and")
        expect(now).to_contain_text("cost at most 8. So far they have cost 0.")
        one = page.get_by_label("The most that one study may cost")
        for wrong in ("5", "-1", "", "much", "4.01"):
            one.fill(wrong)
            page.get_by_role("button", name="Keep to these limits").click()
            expect(page.get_by_text("A limit is a number from 0 to 4.")).to_be_visible()
        one.fill("0,5")
        page.get_by_role("button", name="Keep to these limits").click()
        expect(now).to_contain_text("at most epsilon 0.5, and")
        page = open_form(person, study)  # another visit remembers
        expect(page.locator("#limits-now")).to_contain_text("at most epsilon 0.5, and")
        fill(page)
        page.get_by_role("button", name="Randomise").click()
        expect(page.get_by_role("heading", name="This page will not answer")).to_be_visible()
        expect(page.locator("#problem")).to_contain_text("or than this browser allows. Nothing was sent.")
        expect(page.locator("#problem")).to_contain_text(
            "spends epsilon 1.098613, and this browser allows 0.5 a study."
        )
        assert remembered_nothing(page)

    def test_a_ledger_of_before_keeps_its_answers(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Of before")
        path = collector.publish(study)
        page = visitor().open(path + "/take-part")
        found = page.evaluate(
            """async (path) => {
                const client = await import("/static/fairgauge-client.js");
                const study = await client.loadStudy(path);
                const charges = [["", "7.5"]];
                const old = { study: study.digest, id: "0".repeat(32), symbol: 1, state: "pending", charges };
                await new Promise((resolve) => {
                    const request = indexedDB.open("old", 1);
                    request.onupgradeneeded = () => request.result.createObjectStore("answers", { keyPath: "study" });
                    request.onsuccess = () => {
                        const transaction = request.result.transaction("answers", "readwrite");
                        transaction.objectStore("answers").put(old);
                        transaction.oncomplete = () => resolve(request.result.close());
                    };
                });
                const ledger = new client.Ledger("old");
                const answer = await ledger.answer(study, { group: "wombat", values: { recall: 0.5 } });
                return [answer.id, client.roundedUp(await ledger.spent(), 6), await ledger.limits()];
            }""",
            path,
        )
        assert found == ["0" * 32, "7.5", {"study": "4", "lifetime": "8"}]

    def test_a_study_that_is_over_or_to_come_asks_nothing(self, collector: Collecting, visitor: OpenVisitor) -> None:
        person = visitor()
        over = replace(new_study("Over"), closes="2020-01-01T00:00:00Z")
        to_come = replace(new_study("To come"), opens="2999-01-01T00:00:00Z")
        for study, text in ((over, "The study closed on"), (to_come, "The study opens on")):
            collector.publish(study)
            page = person.open(f"/studies/{study.digest}/take-part")
            expect(page.get_by_text(text)).to_be_visible()
            assert page.locator("#form").is_hidden()


def remembered_nothing(page: Page) -> bool:
    return page.locator("#ready").is_hidden() and remembered(page) == []


class TestTickets:
    def test_a_link_brings_a_ticket_that_no_server_sees_before_it_is_sent(
        self, collector: Collecting, visitor: OpenVisitor, wire: Relay
    ) -> None:
        study = new_study("Tickets")
        collector.publish(study, admission="tickets")
        ticket = collector.ticket(study)
        person = visitor(wire.url)
        page = open_form(person, study, fragment=f"#ticket={ticket}")
        assert page.url.endswith("/take-part")
        fill(page)
        body = randomise(page)
        assert json.loads(body)["id"] == ticket
        assert ticket.encode() not in wire.sent
        send(page)
        assert sum(collector.counts(study)) == 1
        person.check_quiet()

    def test_without_a_ticket_the_page_asks_for_one(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("No ticket")
        collector.publish(study, admission="tickets")
        page = open_form(visitor(), study)
        fill(page)
        page.get_by_role("button", name="Randomise").click()
        expect(page.get_by_text("A ticket has 32 digits")).to_be_visible()
        page.get_by_label("Your ticket").fill(collector.ticket(study).upper())
        randomise(page)
        send(page)

    def test_another_ticket_takes_the_same_symbol(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Wrong ticket")
        collector.publish(study, admission="tickets")
        person = visitor()
        page = open_form(person, study, fragment=f"#ticket={'0' * 32}")
        fill(page)
        first = json.loads(randomise(page))
        page.get_by_role("button", name="Send").click()
        expect(page.locator("#sending")).to_contain_text("does not accept the ticket")
        assert barriers(page) == []
        ticket = collector.ticket(study)
        page.get_by_label("Your ticket").fill(ticket)
        page.get_by_role("button", name="Use this ticket").click()
        expect(page.get_by_role("button", name="Send")).to_be_visible()
        assert json.loads(shown(page)) == {**first, "id": ticket}
        send(page)
        assert collector.counts(study)[first["symbol"]] == 1
        # What was counted keeps its ticket.
        refused = page.evaluate(
            """async (answer) => {
                const { Ledger } = await import("/static/fairgauge-client.js");
                return new Ledger().useTicket(answer, "1".repeat(32)).catch((error) => error.message);
            }""",
            {**first, "id": ticket},
        )
        assert refused == "only an answer that was refused gets another ticket"


class TestPage:
    def test_the_policy_is_strict_and_the_page_is_not_kept(self, collector: Collecting) -> None:
        study = new_study("Policy")
        path = collector.publish(study)
        headers = collector.ask("GET", path + "/take-part").headers
        assert headers.get_list("content-security-policy") == [POLICY]
        assert "unsafe" not in POLICY
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "no-referrer"

    def test_an_unknown_study_has_no_page(self, visitor: OpenVisitor) -> None:
        person = visitor()
        page = person.context.new_page()
        response = page.goto(f"{person.url}/studies/{'0' * 64}/take-part")
        assert response is not None
        assert response.status == 404

    def test_without_javascript_one_sentence_says_what_to_do(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("No JavaScript")
        collector.publish(study)
        person = visitor(java_script_enabled=False)
        page = person.open(f"/studies/{study.digest}/take-part")
        expect(page.get_by_text("Your answer can only be randomised on this device")).to_be_visible()
        expect(page.get_by_text("fairgauge answer")).to_be_visible()
        assert page.get_by_role("button").count() == 0
        assert page.get_by_role("textbox").count() == 0
        person.check_quiet()

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_nobody_stumbles(self, collector: Collecting, visitor: OpenVisitor, scheme: str) -> None:
        study = new_study(f"Barriers {scheme}", abstain=True)
        collector.publish(study)
        person = visitor(color_scheme=scheme)
        page = open_form(person, study)
        for summary in page.locator("summary").all():
            if summary.is_visible():
                summary.click()
        assert barriers(page) == []
        page.get_by_role("button", name="Randomise").click()
        expect(page.locator("#complaint-value-0")).to_be_visible()
        assert barriers(page) == []
        fill(page)
        randomise(page)
        assert barriers(page) == []
        send(page)
        page.get_by_text("What this browser remembers").click()
        assert barriers(page) == []
        person.check_quiet()

    def test_a_refusal_has_no_barrier(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Refused")
        collector.publish(study)
        person = visitor()
        page = TestRefusals().changed(person, study, lambda text: text.replace("wombat", "koala"))
        assert barriers(page) == []

    def test_a_narrow_screen_does_not_scroll_sideways(self, collector: Collecting, visitor: OpenVisitor) -> None:
        long = Attribute("Bevölkerungsgruppenzugehörigkeit", ("Donaudampfschifffahrtsgesellschaft" * 2, "other"))
        study = new_study("Donaudampfschifffahrtsgesellschaftskapitän", attribute=long)
        collector.publish(study)
        page = open_form(visitor(viewport={"width": 320, "height": 600}), study)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.get_by_role("radio", name="other").check()
        page.get_by_label("Your recall").fill("1")
        randomise(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320

    def test_the_page_works_below_a_path(self, collector: Collecting, visitor: OpenVisitor) -> None:
        """A reverse proxy may serve the collector below a path of its own."""
        study = new_study("Below a path")
        path = collector.publish(study)
        person = visitor()
        person.context.route(
            "**/gauge/**",
            lambda route: route.fulfill(response=route.fetch(url=route.request.url.replace("/gauge/", "/"))),
        )
        page = person.open(f"/gauge{path}/take-part")
        expect(page.locator("#form")).to_be_visible()
        fill(page)
        randomise(page)
        send(page)
        assert {request.url.split("/")[3] for request in person.requests} <= {"gauge", ""}
        assert sum(collector.counts(study)) == 1
