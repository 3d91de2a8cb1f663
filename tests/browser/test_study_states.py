"""A study that does not take answers says so before it asks, and an outage loses nothing."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.taking import (
    change_script,
    fill,
    new_study,
    open_form,
    posted,
    randomise,
    remembered,
)
from tests.browser.visitor import barriers


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
        page.wait_for_url(re.compile(re.escape(collector.url + path) + r"(\?lang=\w+)?$"))
        person.check_quiet()

    def test_a_page_that_does_not_ask_again_would_be_seen(self, collector: Collecting, visitor: OpenVisitor) -> None:
        """The mutant twin: without the second check the same visit spends privacy on a closed study."""
        study = new_study("Closed and not asked")
        path = collector.publish(study)
        person = visitor()

        change_script(person, "await takesAnswers(visit, study, true)", "await Promise.resolve(true)")
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

    def test_a_study_that_is_over_or_to_come_asks_nothing(self, collector: Collecting, visitor: OpenVisitor) -> None:
        person = visitor()
        over = replace(new_study("Over"), closes="2020-01-01T00:00:00Z")
        to_come = replace(new_study("To come"), opens="2999-01-01T00:00:00Z")
        for study, text in ((over, "The study closed on"), (to_come, "The study opens on")):
            collector.publish(study)
            page = person.open(f"/studies/{study.digest}/take-part")
            expect(page.get_by_text(text)).to_be_visible()
            assert page.locator("#form").is_hidden()


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
