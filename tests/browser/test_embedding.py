"""The form on somebody else's page: another origin, a strict policy, a pinned copy.

Covers: fairgauge.collector.pages.take_part.
"""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from typer.testing import CliRunner

from fairgauge.cli import make_app
from fairgauge.study import Study
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.taking import GROUP, VALUE, new_study, posted, remembered
from tests.browser.visitor import barriers

PAGE = """<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8"><title>Our app</title></head>
<body><main><h1>Our app</h1>
{lines}
</main></body></html>
"""


class Site(SimpleHTTPRequestHandler):
    """A site with a policy that allows its own scripts, and its own and the collector's addresses."""

    collector = ""

    def end_headers(self) -> None:
        policy = f"default-src 'none'; script-src 'self'; connect-src {self.collector}; img-src data:; base-uri 'none'"
        self.send_header("Content-Security-Policy", policy)
        super().end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def site(folder: Path, collector: str) -> Iterator[str]:
    handler = partial(type("Ours", (Site,), {"collector": collector}), directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}"  # another origin than 127.0.0.1, and a secure one
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def embedded(tmp_path: Path, collector: Collecting) -> Iterator[tuple[Path, str]]:
    with site(tmp_path, collector.url) as url:
        yield tmp_path, url


def write_page(folder: Path, collector: Collecting, study: Study, lang: str = "en") -> None:
    """Do what the documentation says: run the command, and paste its two lines."""
    address = f"{collector.url}/studies/{study.digest}"
    told = CliRunner().invoke(make_app(["embed"]), ["embed", address, "--output", str(folder)])
    assert told.exit_code == 0, told.output
    (folder / "index.html").write_text(PAGE.format(lang=lang, lines=told.output), encoding="utf-8")


def answer(page: Page) -> bytes:
    page.get_by_label(GROUP, exact=True).check()
    page.get_by_label("Your recall").fill(VALUE)
    page.get_by_role("button", name="Randomise").click()
    expect(page.get_by_role("heading", name="This is what will leave your device")).to_be_focused()
    return (page.locator("#bytes").text_content() or "").encode()


def test_a_person_takes_part_on_another_site(
    collector: Collecting, visitor: OpenVisitor, embedded: tuple[Path, str]
) -> None:
    folder, url = embedded
    study = new_study("Embedded")
    collector.publish(study, results="public")
    write_page(folder, collector, study)
    person = visitor(url)
    page = person.open("/")
    heard = page.evaluate("addEventListener('fairgauge-sent', ({ detail }) => (document.title = detail.study))")
    expect(page.locator("#form")).to_be_visible()
    assert heard is None
    assert page.get_by_role("heading").all_text_contents()[:2] == ["Our app", "Embedded"]
    expect(page.get_by_role("heading", level=2)).to_have_text("Embedded")
    assert barriers(page) == []
    body = answer(page)
    assert posted(person) == []
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.get_by_role("link", name="what all answers say so far")).to_have_attribute(
        "href", f"{collector.url}/studies/{study.digest}?lang=en"
    )
    assert page.title() == study.digest, "the site hears that it was sent"
    assert posted(person) == [body]
    assert sum(collector.counts(study)) == 1
    (record,) = remembered(page)  # the ledger is the site's
    assert record["state"] == "delivered"
    assert {request.url.split("/")[2] for request in person.requests} == {url[7:], collector.url[7:]}
    sent = next(request for request in person.requests if request.method == "POST")
    assert [name for name in ("cookie", "referer", "authorization") if name in sent.all_headers()] == []
    assert person.complaints == []
    page.reload()
    expect(page.locator("#status")).to_have_text("You have answered this study in this browser before.")


def test_a_copy_that_was_changed_does_not_run(
    collector: Collecting, visitor: OpenVisitor, embedded: tuple[Path, str]
) -> None:
    folder, url = embedded
    study = new_study("Pinned")
    collector.publish(study)
    write_page(folder, collector, study)
    copy = folder / "fairgauge-study.js"
    copy.write_bytes(copy.read_bytes().replace(b"const allowed = ", b"fetch('/typed'); const allowed = ", 1))
    person = visitor(url)
    page = person.open("/")
    page.wait_for_load_state()
    assert page.evaluate("customElements.get('fairgauge-study') === undefined")
    assert any("integrity" in complaint for complaint in person.complaints)


def test_the_site_says_the_language_and_may_change_it(
    collector: Collecting, visitor: OpenVisitor, embedded: tuple[Path, str]
) -> None:
    folder, url = embedded
    study = new_study("Language of the site")
    collector.publish(study)
    write_page(folder, collector, study, lang="de-CH")
    page = visitor(url, locale="en-US").open("/")
    expect(page.get_by_role("button", name="Meine Antwort zufällig machen")).to_be_visible()
    page.locator("fairgauge-study").evaluate("(study) => (study.lang = 'ar')")
    expect(page.get_by_role("button", name="امزج إجابتي بالصدفة")).to_be_visible()
    assert page.locator("fairgauge-study .take-part").evaluate("(it) => getComputedStyle(it).direction") == "rtl"
    page.evaluate("import('/fairgauge-study.js?again')")  # loading it twice is no fault


def test_an_element_without_a_study_says_so(
    collector: Collecting, visitor: OpenVisitor, embedded: tuple[Path, str]
) -> None:
    folder, url = embedded
    study = new_study("Not there")
    collector.publish(study)
    write_page(folder, collector, study)
    page = folder / "index.html"
    page.write_text(re.sub(r"/studies/\w+", "/studies/none", page.read_text(encoding="utf-8")), encoding="utf-8")
    shown = visitor(url).open("/")
    expect(shown.get_by_role("alert")).to_contain_text("Nothing was sent.")
    expect(shown.locator("#form")).to_be_hidden()
