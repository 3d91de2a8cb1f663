"""The collector's pages and the report in a real Chromium.

``FAIRGAUGE_PICTURES=docs/pictures pytest tests/browser/test_pages.py`` also writes the pictures of the documentation.
"""

import json
import os
import random
import re
import secrets
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from fairgauge.designs import make_channel
from fairgauge.simulation import Cell, Population, simulate_exactly
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.visitor import barriers
from tests.programs import programs

PICTURES = os.environ.get("FAIRGAUGE_PICTURES")
SHOWN = ("index-", "study-", "operator-", "report-")
WIDE, PHONE = {"width": 1000, "height": 900}, {"width": 390, "height": 844}
SEX = Attribute("sex", ("female", "male"), ("0.5", "0.5"), answering="alike")


def designed(title: str, metric: str = "recall") -> Study:
    name, channel = make_channel(Scores(Target((0.5, 0.5))), Decimal(1), design="uncentred")
    return Study(title, (Question(Metric(metric, "0", "1"), SEX, "gap", name, "1", channel),))


def means(title: str) -> Study:
    """Two metrics of three groups: several of everything that a page can have to show."""
    scores = Scores(Target((0.25, 0.5, 0.25), kind="means"))
    name, channel = make_channel(scores, Decimal(2), design="randomized-response")
    age = Attribute("age", ("young", "middle", "old"), ("0.25", "0.5", "0.25"), answering="alike")
    asked = (Metric("accuracy", "0", "1"), Metric("words missed", "0", "40"))
    return Study(title, tuple(Question(metric, age, "means", name, "2", channel) for metric in asked))


FALLS, SPEECH = designed("Falls found, by sex"), means("Speech understood, by age")
CLOSED, HIDDEN = designed("Steps counted, by sex", "accuracy"), designed("Faces unlocked, by sex", "acceptance")
OLDER = {"accuracy": ("0.9", "0.85", "0.7"), "words missed": ("4", "7", "12")}
PEOPLE = {
    FALLS.digest: Population((Cell("female", Decimal("0.76"), 1000), Cell("male", Decimal("0.82"), 1000))),
    CLOSED.digest: Population((Cell("female", Decimal("0.9"), 1000), Cell("male", Decimal("0.9"), 1000))),
    SPEECH.digest: Population(
        tuple(
            Cell(group, Decimal(value), count, metric)
            for metric, values in OLDER.items()
            for group, value, count in zip(("young", "middle", "old"), values, (1000, 2000, 1000), strict=True)
        )
    ),
}


def send(collector: Collecting, study: Study, count: int, seed: int) -> None:
    """Let so many simulated devices answer."""
    tally = simulate_exactly(study, PEOPLE[study.digest], clients=count, seed=seed)
    symbols = [symbol for symbol, n in enumerate(tally.counts) for _ in range(n)]
    random.Random(seed).shuffle(symbols)
    lines = [f'{{"id":"{secrets.token_hex(16)}","study":"{study.digest}","symbol":{s}}}' for s in symbols]
    for start in range(0, count, 10_000):
        told = httpx.post(
            f"{collector.url}/studies/{study.digest}/answers",
            content="\n".join(lines[start : start + 10_000]),
            headers={"content-type": "application/x-ndjson"},
            timeout=120,
        )
        assert told.json()["accepted"] == len(lines[start : start + 10_000])


@pytest.fixture(scope="module")
def published(collector: Collecting) -> Collecting:
    """A collector with studies of every kind."""
    for study, terms in ((CLOSED, "results=public"), (HIDDEN, "admission=tickets"), (SPEECH, "results=public&aim=0.02"),
                         (FALLS, "results=public")):  # fmt: skip
        collector.ask("POST", f"/studies?{terms}", study.to_bytes())
    for seed, count in enumerate((500, 1500, 6000, 20_000, 60_000)):
        send(collector, FALLS, count, seed)
    part = 1 if PICTURES else 8  # pictures are of a study with many answers; the rest is as true of fewer
    send(collector, SPEECH, 20_000 // part, 1)
    send(collector, SPEECH, 40_000 // part, 2)
    send(collector, CLOSED, 5000, 3)
    collector.ask("POST", f"/studies/{CLOSED.digest}/close")
    return collector


def address(study: Study) -> str:
    return f"/studies/{study.digest}"


def signed_in(visitor: OpenVisitor, collector: Collecting, **options: Any) -> Page:
    page = visitor(**options).open("/operator")
    page.get_by_label("Token").fill(collector.process.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Publish a study")).to_be_visible()
    return page


def picture(page: Page, name: str) -> None:
    if PICTURES and name.startswith(SHOWN):
        path = Path(PICTURES) / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=path, full_page=True)
        from PIL import Image

        # A palette is enough for pages like these, and makes a file half as large.
        few = Image.open(path).convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        few.save(path, optimize=True)


def numbers(page: Page) -> list[float]:
    values: list[str] = page.locator("table data").evaluate_all("found => found.map(one => one.value)")
    return list(map(float, values))


LOOKS = [("light", "wide"), ("dark", "phone")]
if PICTURES:
    LOOKS += [("dark", "wide"), ("light", "phone")]


@pytest.fixture(params=LOOKS, ids="-".join)
def look(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """The name of a look, and what a browser must be told for it."""
    scheme, size = request.param
    return f"{scheme}-{size}", {"color_scheme": scheme, "viewport": WIDE if size == "wide" else PHONE}


def check_fits(page: Page) -> None:
    """Fail, and say what it is, if anything sticks out of the window to the right."""
    sticks_out = "one => one.getBoundingClientRect().right > window.innerWidth + 0.5"
    found = f"[...document.querySelectorAll('body *')].filter({sticks_out}).map(one => one.outerHTML.slice(0, 200))"
    if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
        raise AssertionError(f"too wide: {page.evaluate(found)}")


PATHS = {
    "index": "/",
    "study": address(FALLS),
    "several": address(SPEECH),
    "closed": address(CLOSED),
    "hidden": address(HIDDEN),
    "report": f"{address(FALLS)}/report",
    "long report": f"{address(SPEECH)}/report",
    "sign-in": "/sign-in",
    "problem": "/nowhere",
}


def test_every_page_is_quiet_reachable_and_fits(visitor: OpenVisitor, published: Collecting, look: Any):
    label, options = look
    person = visitor(**options)
    page = person.open("/studies")
    for name, path in PATHS.items():
        page.goto(published.url + path)
        expect(page.locator("h1")).to_be_visible()
        if name in ("study", "several"):
            expect(page.locator("[data-live]")).to_have_text("live")
        check_fits(page)
        assert (name, barriers(page)) == (name, [])
        picture(page, f"{name}-{label}")
        if name == "problem":
            person.complaints.clear()  # Chromium itself complains of the status 404
        person.check_quiet()


def test_the_operators_page_is_quiet_reachable_and_fits(visitor: OpenVisitor, published: Collecting, look: Any):
    label, options = look
    page = signed_in(visitor, published, **options)
    page.get_by_label("Title").fill("Speech understood, by sex")
    page.locator("summary", has_text="More").click()
    for name, typed in (("operator", "Example Phones"), ("purpose", "To train the next version for everyone."),
                        ("model", "listener@3.1"), ("retention", "30")):  # fmt: skip
        page.locator(f"#{name}").fill(typed)
    page.get_by_role("button", name="Show what it will tell").click()
    expect(page.get_by_text("With epsilon 1, 1,000,000 answers give the gap")).to_be_visible()
    expect(page.locator("#retention")).to_have_value("30")
    check_fits(page)
    assert barriers(page) == []
    picture(page, f"operator-{label}")


def test_the_page_follows_the_answers_without_being_loaded_again(visitor: OpenVisitor, published: Collecting):
    study = designed("Watched while it runs")
    PEOPLE[study.digest] = Population((Cell("female", Decimal("0.6"), 1000), Cell("male", Decimal("0.8"), 1000)))
    published.ask("POST", "/studies?results=public&aim=0.05", study.to_bytes())
    person = visitor()
    page = person.open(address(study))
    expect(page.locator("[data-live]")).to_have_text("live")
    expect(page.locator(".verdict")).to_have_text("There are no answers yet.")
    page.evaluate("window.stayed = true")
    send(published, study, 400, 1)
    expect(page.locator("[data-part=count]")).to_have_text("400 answers")
    expect(page.locator(".verdict")).to_contain_text("The answers do not tell yet")
    expect(page.get_by_text("400 of about")).to_be_visible()
    first = numbers(page)
    send(published, study, 9600, 2)
    expect(page.locator("[data-part=count]")).to_have_text("10,000 answers")
    expect(page.locator(".verdict")).to_contain_text("points lower for female than for male")
    expect(page.get_by_text("The interval shrinks as answers arrive.")).to_be_visible()
    then = numbers(page)
    assert then[2] - then[1] < (first[2] - first[1]) / 3
    published.ask("POST", f"{address(study)}/close")
    expect(page.locator("[data-live]")).to_have_text("")
    assert page.evaluate("window.stayed") is True
    assert [r.url for r in person.requests if r.resource_type == "document"] == [person.url + address(study)]
    person.check_quiet()


def test_offline_is_called_offline_and_a_command_is_copied(visitor: OpenVisitor, published: Collecting):
    person = visitor(permissions=["clipboard-read", "clipboard-write"])
    page = person.open(address(FALLS))
    expect(page.locator("[data-live]")).to_have_text("live")
    page.context.set_offline(True)
    expect(page.locator("[data-live]")).to_have_text("offline")
    page.context.set_offline(False)
    expect(page.locator("[data-live]")).to_have_text("live")
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == (page.locator("pre").first.text_content() or "").strip()
    assert copied.startswith("curl -o study.json http://127.0.0.1:")


def test_a_card_says_when_how_many_and_which(visitor: OpenVisitor, published: Collecting):
    card = visitor().open("/studies").locator(".cards > li", has_text="Falls found")
    expect(card).to_contain_text(re.compile(r"Published on \d+ \w+ \d{4}, \d\d:00 UTC\."))
    expect(card).to_contain_text(re.compile(r"[\d,]+ answers"))
    expect(card.locator("code")).to_have_text(FALLS.digest[:16])


def test_a_page_that_lost_its_collector_finds_it_again(visitor: OpenVisitor, tmp_path: Path):
    from concurrent.futures import ThreadPoolExecutor

    from tests.collecting.servers import ServerProcess

    process = ServerProcess(tmp_path, f"sqlite:///{tmp_path / 'gauge.db'}")
    with ThreadPoolExecutor(1) as elsewhere:
        try:
            elsewhere.submit(lambda: process.start().wait_until_ready()).result()
            own = Collecting(process, f"http://127.0.0.1:{process.port}")
            own.ask("POST", "/studies?results=public", FALLS.to_bytes())
            person = visitor(own.url)
            page = person.open(address(FALLS))
            expect(page.locator("[data-live]")).to_have_text("live")
            assert process.stop() == 0  # in spite of a listener that would stay for ever
            expect(page.locator("[data-live]")).to_have_text("reconnecting")
            elsewhere.submit(lambda: process.start().wait_until_ready()).result()
            send(own, FALLS, 300, 1)
            expect(page.locator("[data-part=count]")).to_have_text("300 answers")
            assert person.elsewhere == []
        finally:
            process.stop()


def test_without_javascript_the_numbers_are_there(visitor: OpenVisitor, published: Collecting):
    person = visitor(java_script_enabled=False)
    page = person.open(address(FALLS))
    expect(page.locator(".verdict")).to_contain_text("points lower for female than for male")
    expect(page.locator("table data")).to_have_count(3)
    expect(page.locator("svg:visible")).to_have_count(4)  # progress, shrinking, gap, odds
    assert not [r.url for r in person.requests if "/events" in r.url]
    operator = signed_in(visitor, published, java_script_enabled=False)
    expect(operator.get_by_role("heading", name="Tokens")).to_be_visible()
    person.check_quiet()


def test_page_json_command_line_and_report_say_the_same_numbers(
    visitor: OpenVisitor, published: Collecting, tmp_path: Path
):
    person = visitor()
    shown = person.open(address(CLOSED))
    reported = person.open(f"{address(CLOSED)}/report")
    told = published.ask("GET", f"{address(CLOSED)}/estimate?interval=population").json()
    (tmp_path / "study.json").write_bytes(CLOSED.to_bytes())
    (tmp_path / "tally.json").write_bytes(published.ask("GET", f"{address(CLOSED)}/tally").content)

    def fairgauge(*arguments: str) -> str:
        done = programs().fairgauge(*arguments, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    asked = ("study.json", "tally.json")  # the one interval of a study that is over is that of its seal
    printed = json.loads(fairgauge("estimate", *asked, "--json"))
    fairgauge("report", *asked, "-o", "report.html")
    written = visitor("file://").open(str(tmp_path / "report.html"))
    gap = [printed["questions"][0]["headline"][name] for name in ("estimate", "low", "high")]
    assert told == printed
    assert numbers(shown) == numbers(reported) == numbers(written)
    assert numbers(shown) == pytest.approx(gap, rel=1e-9)  # pages have ten digits, the same on every processor
    # The verdict, and what a wrong share would do to it, are read together.
    sentence = " ".join(fairgauge("estimate", *asked).splitlines()[3:5])
    for page in (shown, reported, written):
        assert page.locator(".verdict").first.inner_text().replace("\N{NO-BREAK SPACE}", " ") == sentence


def test_an_operator_publishes_hands_out_tickets_and_closes(visitor: OpenVisitor, published: Collecting):
    page = signed_in(visitor, published)
    page.get_by_label("Title").fill("Published by hand")
    page.get_by_label("devices with a ticket").check()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("heading", name="Published by hand")).to_be_visible()
    expect(page.get_by_text("You need a ticket.")).to_be_visible()
    page.get_by_role("link", name="Operator").click()
    card = page.locator(".cards > li", has_text="Published by hand")
    with page.expect_download() as download:
        card.get_by_role("button", name="Make tickets").click()
    assert len(Path(download.value.path()).read_text().split()) == 100
    card.get_by_text("Close it").click()
    card.get_by_label("Take no more answers").check()
    card.get_by_role("button", name="Close Published by hand").click()
    expect(page.locator(".pill").first).to_have_text("sealed")
    expect(page.get_by_role("link", name="Sealed snapshot")).to_be_visible()
    page.get_by_role("link", name="Operator").click()
    page.get_by_label("Whose").fill("newsroom")
    page.get_by_role("button", name="Make a token").click()
    expect(page.locator(".done-note code")).to_have_text(re.compile(r"^fgr_"))
    page.get_by_role("button", name="Revoke newsroom").click()
    expect(page.get_by_role("button", name="Revoke newsroom")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()


def test_everything_is_reached_by_keyboard(visitor: OpenVisitor, published: Collecting):
    page = visitor().open(address(FALLS))
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim()"))
        if page.evaluate("document.activeElement === document.body"):
            break
    assert reached[0] == "Skip to content"
    for name in ("Studies", "Sign in", "Take part", "Report", "Tally", "All answers"):
        assert name in reached


def test_the_report_prints_well(visitor: OpenVisitor, published: Collecting, tmp_path: Path):
    page = visitor().open(f"{address(SPEECH)}/report")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 665, "height": 979})  # what an A4 sheet has between these margins
    pages = page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n")
    for part in ("figure", "tr", ".verdict"):
        heights = page.locator(part).evaluate_all("found => found.map(one => one.getBoundingClientRect().height)")
        assert 0 < max(heights) < 500, part  # so that it fits on a page without leaving half of it empty
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth + 1")
    assert 4 <= pages <= 10


def test_names_of_any_length_fit(visitor: OpenVisitor, published: Collecting):
    long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamte" * 2
    study = designed(f"{long} x")
    groups = Attribute(long, (f"{long} 1", f"{long} 2"), ("0.5", "0.5"), answering="alike")
    study = Study(long, (replace(study.questions[0], attribute=groups, metric=Metric(long, "0", "1")),), contact=long)
    PEOPLE[study.digest] = Population(tuple(Cell(group, Decimal("0.5"), 1000) for group in groups.groups))
    published.ask("POST", "/studies?results=public", study.to_bytes())
    send(published, study, 1000, 1)
    person = visitor(viewport=PHONE)
    for path in ("/", address(study), f"{address(study)}/report"):
        check_fits(person.open(path))
    operator = signed_in(visitor, published, viewport=PHONE)
    operator.locator("summary", has_text="Close it").first.click()
    check_fits(operator)


def test_a_study_in_a_notebook_fits_a_phone(visitor: OpenVisitor):
    terms: dict[str, Any] = {
        "operator": "Examplewatch, Responsible AI",
        "contact": f"{'fairness' * 5}@example.org",
        "purpose": "To see.",
    }
    page = visitor(viewport={"width": 360, "height": 700}).context.new_page()
    page.set_content(f"<!doctype html><title>A notebook</title>{replace(FALLS, **terms)._repr_html_()}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
