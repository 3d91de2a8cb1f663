"""The page itself: its policy, without JavaScript, without barriers, on a narrow screen, below a path."""

import pytest
from playwright.sync_api import expect

from fairgauge.collector.pages.take_part import _POLICY
from fairgauge.study import Attribute
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.taking import (
    changed_study,
    fill,
    new_study,
    open_form,
    randomise,
    send,
)
from tests.browser.visitor import barriers


class TestPage:
    def test_the_policy_is_strict_and_the_page_is_not_kept(self, collector: Collecting) -> None:
        study = new_study("Policy")
        path = collector.publish(study)
        headers = collector.ask("GET", path + "/take-part").headers
        assert headers.get_list("content-security-policy") == [_POLICY]
        assert "unsafe" not in _POLICY
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
        page = changed_study(person, study, lambda text: text.replace("wombat", "koala"))
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
