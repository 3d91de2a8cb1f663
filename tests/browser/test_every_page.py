"""Every page there is, in every language: no barriers, nothing cut, turned around or out of the window."""

import random
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page

from fairgauge.client import answer
from fairgauge.collector.routes import TABLE
from fairgauge.designs import make_channel
from fairgauge.languages import catalogue
from fairgauge.study import Attribute, Metric, Question, Release, Study
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests import sites
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.test_order import PHONE, WIDE, cut, turned
from tests.browser.visitor import barriers
from tests.samples import sample_question

RATES = {"female": (0.7, 0.2), "male": (0.9, 0.1)}
LOOKS: dict[str, dict[str, Any]] = {
    "en-GB": {"viewport": WIDE, "color_scheme": "dark"},
    "de-DE": {"viewport": PHONE, "color_scheme": "dark"},
    "ar-EG": {"viewport": PHONE, "color_scheme": "light"},
}
FORMAL = "#groups, #metrics, #document"  # a line such as "18–29=0.4" is no sentence of any language
SAID_RATES = ("rate.selection-rate", "rate.accuracy", "rate.tpr")
# Names of a list, which a reader meets in the order in which they are written: where two of them are turned around.
LISTS = """
  ([lists, back]) => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const names of lists) {
        const places = names.map((name) => node.data.indexOf(name));
        if (places.includes(-1) || !node.parentElement.checkVisibility()) continue;
        const boxes = names.map((name, k) => {
          const range = document.createRange();
          range.setStart(node, places[k]);
          range.setEnd(node, places[k] + name.length);
          return range.getClientRects()[0];
        });
        const after = (a, b) =>
          b.top > a.top + 5 || (Math.abs(a.top - b.top) <= 5 && (back ? b.left < a.left : b.left > a.left));
        found.push(boxes.every((box, k) => !k || after(boxes[k - 1], box)));
      }
    }
    return found;
  }
"""


# What people read: without what is for programs.
SAID = """
  () => {
    const shown = document.querySelector("main").cloneNode(true);
    for (const other of shown.querySelectorAll("pre, code, .for-programs, textarea")) other.remove();
    for (const label of shown.querySelectorAll("text, td, th, dd, dt")) label.append(" ");
    return shown.textContent;
  }
"""


def gap(title: str, **more: Any) -> Study:
    ages = Attribute("age_band", ("18–29", "65+"), ("0.5", "0.5"), answering="alike")
    name, channel = make_channel(Scores(Target((0.5, 0.5))), Decimal(1), design="uncentred")
    metric = Metric("fpr", 0, 1, better="lower")
    return Study(title, (Question(metric, ages, "gap", name, "1", channel),), **more)


STUDIES = {
    "hidden": gap("Faces that were missed"),
    "waits": gap("Not begun", opens="2999-01-01T00:00:00Z", closes="2999-02-01T00:00:00Z"),
    "crowd": replace(gap("Counts of a crowd"), release=Release(300, "0.00000001", 150)),
    "silent": Study("Who may abstain", [sample_question(abstain=True)]),
}
ALARMS = sites.confusion_study()


@pytest.fixture(scope="module")
def there(collector: Collecting) -> dict[str, str]:
    """Publish studies of several kinds; return the paths of their pages."""
    for name, study in STUDIES.items():
        collector.publish(study, results="readers" if name == "hidden" else "public")
    chance, ids = random.Random(5), iter(range(1, 10_000))
    for study, count in ((STUDIES["crowd"], 700), (STUDIES["silent"], 60)):
        lines = (
            f'{{"id":"{next(ids):032x}","study":"{study.digest}","symbol":{chance.randrange(study.symbols)}}}'
            for _ in range(count)
        )
        sent = httpx.post(
            f"{collector.url}/studies/{study.digest}/answers",
            content="\n".join(lines),
            headers={"content-type": "application/x-ndjson"},
            timeout=60,
        )
        assert sent.json()["accepted"] == count
    collector.ask("POST", f"/studies/{STUDIES['crowd'].digest}/close")
    collector.publish(ALARMS, admission="tickets", results="public")
    with httpx.Client(base_url=collector.url, timeout=60) as operator:
        operator.post("/sign-in", data={"token": collector.process.token})
        proof = re.search('name="proof" value="([^"]+)"', operator.get("/operator").text)
        assert proof is not None
        form = {"proof": proof[1], "study": ALARMS.digest, "count": "", "sites": "St. Mary\nCharité\nمستشفى"}
        tickets = operator.post("/operator/tickets", data=form).text.splitlines()
    for ticket in (line.partition("\t")[0] for line in tickets):
        held = sites.read(sites.site_of(ALARMS), sites.records(chance, 400, RATES))
        body = answer(ALARMS, held, ticket=ticket).to_bytes()
        headers = {"content-type": "application/json"}
        httpx.post(f"{collector.url}/studies/{ALARMS.digest}/answers", content=body, headers=headers).raise_for_status()
    collector.ask("POST", f"/studies/{ALARMS.digest}/close")
    of = {name: f"/studies/{study.digest}" for name, study in (STUDIES | {"sites": ALARMS}).items()}
    pages = {"list": "/studies", "front": "/", "sign in": "/sign-in", "problem": "/nowhere"} | of
    pages |= {f"{name}, report": f"{of[name]}/report" for name in ("crowd", "silent", "sites")}
    return pages | {f"{name}, taking part": f"{of[name]}/take-part" for name in ("waits", "crowd", "silent", "sites")}


def rates(tag: str) -> list[str]:
    return [str(catalogue()[tag[:2]][key]) for key in SAID_RATES]


def faults(page: Page, tag: str) -> dict[str, Any]:
    """Return what is wrong with a page; everything that unfolds is unfolded first."""
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    back = tag.startswith("ar")
    found = {
        "barriers": barriers(page),
        "cut": cut(page),
        "turned": turned(page),
        "lists": [right for right in page.evaluate(LISTS, [[rates(tag)], back]) if not right],
        "wide": page.evaluate("Math.max(0, document.documentElement.scrollWidth - window.innerWidth)"),
        "markup": re.findall(r"</?[a-z]+[ >]|&[a-z]+;", page.locator("main").inner_text()),
        "raw": re.findall(r"\b(?:fpr|age_band|\d+e-\d+)\b|list\[str\]|[.,]\d*[1-9]\d{6}", page.evaluate(SAID)),
    }
    return {what: told for what, told in found.items() if told}


@pytest.mark.parametrize("tag", LOOKS)
def test_every_page_is_right_in_every_language(
    there: dict[str, str], visitor: OpenVisitor, collector: Collecting, tag: str
) -> None:
    person = visitor(locale=tag, **LOOKS[tag])
    seen: set[tuple[str, str]] = set()
    wrong: dict[str, Any] = {}

    def look(page: Page, name: str, method: str = "GET") -> None:
        seen.add(
            (method, re.sub("[0-9a-f]{64}", "{digest}", page.url.removeprefix(person.url)).split("?")[0].split("#")[0])
        )
        assert page.locator("html").get_attribute("lang") == tag[:2]
        if found := faults(page, tag):
            wrong[name] = found
        # Templates are the same in all languages, so whether their links lead somewhere is seen in one.
        for link in page.locator(".languages a").all() if tag == "en-GB" else ():
            other = httpx.get(httpx.URL(page.url).join(link.get_attribute("href") or ""), headers=_cookie(page))
            if other.status_code >= 400 and name != "problem":
                wrong[f"{name} in another language"] = str(other.url)

    page = person.open("/sign-in")  # one tab for all of them: a new one takes as long as a page
    for name, path in there.items():
        page.goto(person.url + path)
        page.locator("h1").wait_for()
        if name.endswith("taking part") and not name.startswith("sites"):
            page.locator("#form, #status").locator("visible=true").first.wait_for()
        look(page, name)

    page.goto(f"{person.url}/sign-in")
    page.locator("#token").fill("fgo_wrong")
    page.locator("main button").click()
    page.locator(".wrong").wait_for()
    look(page, "a wrong token", "POST")
    page.locator("#token").fill(collector.process.token)
    page.locator("main button").click()
    page.locator("#publish").wait_for()
    look(page, "operator")
    page.locator("#title").fill("Speech")
    page.locator("#groups").fill("18–29=0.4\n65+=0.4\nx=0.2")
    page.locator("#metrics").fill("wait:0:100")
    page.locator("button[value=plan]").click()
    page.locator("figure.plan").first.wait_for()
    look(page, "a plan", "POST")
    assert (
        page.eval_on_selector_all(FORMAL, "(all) => all.map((one) => getComputedStyle(one).direction)") == ["ltr"] * 3
    )
    page.locator("#epsilon").fill("-1")
    page.locator("button[value=plan]").click()
    page.locator(".wrong").wait_for()
    look(page, "a wrong plan", "POST")
    page.locator("#name").fill(f"reader {tag}")
    page.locator("#tokens button[value=new]").click()
    page.locator(".done-note").wait_for()
    look(page, "a new token", "POST")
    page.goto(f"{person.url}{there['hidden']}")
    look(page, "hidden, for its operator")
    assert wrong == {}
    page.goto(f"{person.url}{there['sites']}")
    assert page.evaluate(LISTS, [[rates(tag)], tag == "ar-EG"]) != [], "no list was looked at"

    html = {(one.method, one.path) for one in TABLE if any("text/html" in gives.kinds for gives in one.gives.values())}
    html |= {(one.method, one.path) for one in TABLE if one.page is not None}
    assert html <= seen, "a page that nobody looked at"


def _cookie(page: Page) -> dict[str, str]:
    held = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
    return {"accept": "text/html", "accept-language": "en"} | ({"cookie": held} if held else {})
