"""What a browser will spend, and how a person lowers it."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from fairgauge.errors import OF_BEFORE
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.taking import (
    ANIMAL,
    fill,
    new_study,
    open_form,
    randomise,
    remembered_nothing,
)
from tests.samples import RECALL, sample_question, sample_study


class TestLimits:
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
            f"{ANIMAL.name} has cost epsilon 7.690287 on this device; "
            "an answer would make it 8.788899, and the limit is 8"
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
        expect(now).to_contain_text("only if that costs at most epsilon 4.")
        expect(now).to_contain_text("cost at most 8. So far they have cost 0.")
        one = page.get_by_label("The most that one study may cost")
        for wrong in ("5", "-1", "", "much", "4.01"):
            one.fill(wrong)
            page.get_by_role("button", name="Keep to these limits").click()
            expect(page.get_by_text("A limit is a number from 0 to 4.")).to_be_visible()
        one.fill("0,5")
        page.get_by_role("button", name="Keep to these limits").click()
        expect(now).to_contain_text("at most epsilon 0.5.")
        page = open_form(person, study)  # another visit remembers
        expect(page.locator("#limits-now")).to_contain_text("at most epsilon 0.5.")
        fill(page)
        page.get_by_role("button", name="Randomise").click()
        expect(page.get_by_role("heading", name="This page will not answer")).to_be_visible()
        expect(page.locator("#problem")).to_contain_text("or than this browser allows. Nothing was sent.")
        expect(page.locator("#problem")).to_contain_text(
            "spends epsilon 1.098613, and this browser allows 0.5 a study."
        )
        assert remembered_nothing(page)

    def test_a_new_name_is_no_new_budget_on_the_page(self, collector: Collecting, visitor: OpenVisitor) -> None:
        """Its author may call the same thing otherwise in the next study; the person picks what the page shows."""
        one = new_study("One name")
        other = new_study("Another name", attribute=replace(ANIMAL, name="creature"))
        for study in (one, other):
            collector.publish(study)
        person = visitor()
        page = open_form(person, one)
        page.get_by_text("What this browser will spend").click()
        page.get_by_label("The most that all answers may cost together").fill("2")
        page.get_by_role("button", name="Keep to these limits").click()
        expect(page.locator("#lowered")).not_to_be_empty()  # what is said then moves what is below
        fill(page)
        randomise(page)
        page = open_form(person, other)
        fill(page)
        page.get_by_role("button", name="Randomise").click()
        expect(page.locator("#problem")).to_contain_text(
            "All answers have cost epsilon 1.098613 in this browser; this one would make it 2.197225, "
            "and the limit is 2"
        )

    def test_a_ledger_of_before_is_refused(self, collector: Collecting, visitor: OpenVisitor) -> None:
        page = visitor().open(collector.publish(new_study("Of before")) + "/take-part")
        found = page.evaluate(
            """async () => {
                const client = await import("/static/fairgauge-client.js");
                await new Promise((resolve) => {
                    const request = indexedDB.open("old", 2);
                    request.onsuccess = () => resolve(request.result.close());
                });
                return new client.Ledger("old").spent().catch((error) => error.message);
            }"""
        )
        assert found == f"what this browser remembers {OF_BEFORE}"
