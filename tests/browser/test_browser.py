"""The browser's tests can see what they look for: complaints of the console, foreign requests, barriers."""

from playwright.sync_api import Page

from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.visitor import barriers, until


def show(page: Page, html: str) -> None:
    page.set_content(f"<!doctype html><html lang=en><title>Test</title><main><h1>Test</h1>{html}</main>")


def test_a_quiet_page_is_quiet(collector: Collecting, visitor: OpenVisitor) -> None:
    person = visitor()
    assert person.open("/healthz").text_content("body") == '{"status":"alive"}'
    person.check_quiet()


def test_an_error_in_the_console_is_heard(visitor: OpenVisitor) -> None:
    person = visitor()
    page = person.context.new_page()
    page.evaluate("console.error('ouch')")
    page.evaluate("setTimeout(() => { throw new Error('thrown') })")
    until(page, lambda: "ouch" in str(person.complaints) and "thrown" in str(person.complaints))


def test_a_request_elsewhere_is_seen_and_goes_nowhere(visitor: OpenVisitor) -> None:
    person = visitor()
    show(person.context.new_page(), "<img alt='far away' src='http://elsewhere.example/pixel.png'>")
    assert person.elsewhere == ["http://elsewhere.example/pixel.png"]


def test_a_barrier_is_found(visitor: OpenVisitor) -> None:
    page = visitor().context.new_page()
    show(page, "<label>Name <input></label>")
    assert barriers(page) == []
    show(page, "<input>")
    assert [found["rule"] for found in barriers(page)] == ["label"]
