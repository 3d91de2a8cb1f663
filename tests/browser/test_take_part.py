"""Taking part in a real browser: from the link to thanks, and what leaves the device on the way.

Covers: fairgauge.collector.pages.take_part.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from playwright.sync_api import expect

from fairgauge.collector.pages.take_part import ASSETS
from fairgauge.study import Attribute, Metric, Question, Study
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.relay import Relay, relay
from tests.browser.taking import (
    ANIMAL,
    MARKS,
    change_script,
    fill,
    new_study,
    open_form,
    posted,
    randomise,
    remembered,
    send,
    shown,
)
from tests.browser.visitor import barriers, until
from tests.samples import (
    RECALL,
    SEX,
    THREE_LEVELS,
    sample_channel,
    sample_question,
    sample_study,
    site_study,
)


@pytest.fixture
def wire(collector: Collecting) -> Iterator[Relay]:
    with relay(collector.process.port) as found:
        yield found


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

        honest = "const allowed = allLimits("
        change_script(person, honest, "fetch('/healthz?' + Object.values(profile.values));" + honest)
        page = open_form(person, study)
        fill(page)
        randomise(page)
        until(page, lambda: b"7731902" in wire.sent)

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
        expect(page.locator("#ready-title")).to_be_focused()
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


class TestDrafts:
    """Studies that say more than their questions."""

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

    def test_what_the_page_cannot_do_it_says_before_it_asks(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study, text = site_study(), "The study is for sites that hold many people, and this is a device of one person."
        other = new_study(f"Instead of {study.title}")
        collector.publish(other)
        person = visitor()
        document = study.to_bytes()
        person.context.route(f"**/studies/{study.digest}", lambda route: route.fulfill(body=document))
        shell = httpx.get(f"{collector.url}/studies/{other.digest}/take-part", timeout=120).text
        page_path = f"**/studies/{study.digest}/take-part"
        person.context.route(page_path, lambda route: route.fulfill(body=shell, content_type="text/html"))
        page = person.open(f"/studies/{study.digest}/take-part")
        expect(page.locator("#problem")).to_contain_text(text)
        expect(page.locator("#form")).to_be_hidden()


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
            "href", f"{collector.url}{path}?lang=en"
        )
        page.get_by_text("How to check that your answer is counted").click()
        page.get_by_role("button", name="Is my answer counted?").click()
        expect(page.locator("#rechecked")).to_have_text("Yes: the collector has counted exactly these bytes, once.")
        assert posted(person) == [body, body]
        assert sum(collector.counts(study)) == 1
        listed = page.get_by_role("link", name="list of all answers").get_attribute("href") or ""
        assert body in httpx.get(listed, timeout=120).content.splitlines()
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
