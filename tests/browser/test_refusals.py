"""What the page refuses: changed studies, browsers that cannot check, and values and tickets that do not fit."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from fairgauge.study import Metric
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.relay import Relay, relay
from tests.browser.taking import (
    ANIMAL,
    GROUP,
    changed_study,
    fill,
    new_study,
    open_form,
    randomise,
    remembered_nothing,
    send,
    serve_parts,
    shown,
)
from tests.browser.visitor import barriers
from tests.samples import (
    sample_question,
    sample_study,
)


class TestRefusals:
    @pytest.mark.parametrize(
        ("old", "new", "reason"),
        [
            ('"wombat"', '"koala"', "this is another study"),
            ('"title":"', '"title":"Not ', "this is another study"),
            ('"epsilon":"1.1"', '"epsilon":"1.09"', "declares epsilon 1.09, but its table spends more"),
            ('"format":1', '"format":3', "format=3: must be 1"),
            ('"format":1', '"format":1,"format":1', "must be given once"),
        ],
    )
    def test_a_study_that_was_changed_on_its_way(
        self, collector: Collecting, visitor: OpenVisitor, old: str, new: str, reason: str
    ) -> None:
        study = new_study("Changed")
        collector.publish(study)
        person = visitor()
        page = changed_study(person, study, lambda text: text.replace(old, new, 1))
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


class TestValues:
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

    def test_a_percentage_is_understood(self, collector: Collecting, visitor: OpenVisitor) -> None:
        study = new_study("Percentage")
        collector.publish(study)
        person = visitor()
        serve_parts(person)
        page = open_form(person, study)
        found = page.evaluate(
            """async (texts) => {
                const { valueField } = await import("/static/take-part-fields.js");
                const { Words } = await import("/static/take-part-words.js");
                const { position } = await import("/static/fairgauge-client.js");
                const metric = { name: "recall", low: "0", high: "1" };
                const told = { ...metric, help: null, language: "" };
                return Object.entries(texts).filter(([text, level]) => {
                    const field = valueField(new Words(["en"]), { ranges: [metric], told, silent: false }, 7);
                    field.element.querySelector("input").value = text;
                    const [one, other] = [field.read(), level].map((value) => position(metric, value));
                    return one.n * other.d !== other.n * one.d;
                });
            }""",
            {
                "83 %": "0.83",
                "%83": "0.83",
                "83,5 %": "0.835",
                "100%": "1",
                "\u0668\u0663\u066b\u0665 \u066a": "0.835",  # in Arabic and Persian digits
                "\u06f8\u06f3/\u06f1\u06f0\u06f0": "0.83",
            },
        )
        assert found == []
        fill(page, value="83 %")
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


@pytest.fixture
def wire(collector: Collecting) -> Iterator[Relay]:
    with relay(collector.process.port) as found:
        yield found


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
