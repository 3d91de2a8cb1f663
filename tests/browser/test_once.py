"""A browser answers a study once: other visits, other tabs, crashes, and lost receipts."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Browser, Route, expect

from tests.browser.conftest import CHROMIUM, FLAGS, Collecting, OpenVisitor
from tests.browser.taking import (
    ANIMAL,
    fill,
    new_study,
    open_form,
    posted,
    randomise,
    remembered,
    send,
    shown,
)


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
            tab.locator("#form button").evaluate("(button) => setTimeout(() => button.click(), 50)")
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
