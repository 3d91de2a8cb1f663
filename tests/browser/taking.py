"""Taking part as a person does: what the tests in a browser share."""

import re
from dataclasses import replace
from typing import Any

from playwright.sync_api import Page, Route, expect

from fairgauge.collector.pages.take_part import _source, bundle
from fairgauge.study import Attribute, Study
from tests.browser.visitor import Visitor
from tests.samples import RECALL, sample_question, sample_study

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


def remembered_nothing(page: Page) -> bool:
    return page.locator("#ready").is_hidden() and remembered(page) == []


def changed_study(person: Visitor, study: Study, change: Any) -> Page:
    """Open the page while somebody in between changes the study."""

    def tamper(route: Route) -> None:
        route.fulfill(body=change(route.fetch().text()), content_type="application/json")

    person.context.route(f"**/studies/{study.digest}", tamper)
    page = person.open(f"/studies/{study.digest}/take-part")
    expect(page.get_by_role("alert")).to_be_visible()
    assert page.locator("#form").is_hidden()
    assert posted(person) == []
    return page


def change_script(person: Visitor, old: str, new: str) -> None:
    """Serve the page's script with one change: how a mutant twin comes to a browser.

    A script that has changed meanwhile fails here, and not in a request that nobody answers.
    """
    text = bundle().decode()
    assert text.count(old) == 1, f"the script says this {text.count(old)} times: {old}"
    body = text.replace(old, new)
    person.context.route(
        "**/fairgauge-study.js", lambda route: route.fulfill(body=body, content_type="text/javascript")
    )


def serve_parts(person: Visitor) -> None:
    """Serve the modules that the page's script is made of, each by itself."""

    def serve(route: Route) -> None:
        route.fulfill(body=_source(route.request.url.rpartition("/")[2]), content_type="text/javascript")

    person.context.route(re.compile(r"/static/(take-part-\w+|languages|style)\.js$"), serve)
