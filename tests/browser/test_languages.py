"""The page in each of its languages: nothing is left in another one, and the same person gets through."""

import json
import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from fairgauge.languages import OWN, Voice, catalogue
from fairgauge.languages.language import _category
from fairgauge.study import Attribute, Metric, Study
from fairgauge.study.wording import texts_of
from tests.browser.conftest import Collecting, OpenVisitor
from tests.browser.taking import change_script, serve_parts
from tests.browser.visitor import barriers
from tests.samples import sample_question

TAGS = list(catalogue())
RECALL = Metric("recall", "0", "1", help="Out of the last 100 commands, the part that was understood.")
SEX = Attribute("sex", ("female", "male"), help="As you would say it yourself.")
SPOKEN = {
    "de": {
        "title": "Versteht das Gerät alle?",
        "purpose": "Damit die nächste Fassung allen dient.",
        "metrics[0].name": "verstanden",
        "metrics[0].help": "Der Teil der letzten 100 Befehle, der verstanden wurde.",
        "attributes[0].name": "Geschlecht",
        "attributes[0].help": "So, wie Sie es selbst sagen würden.",
        "attributes[0].groups[0]": "weiblich",
        "attributes[0].groups[1]": "männlich",
    },
    "ar": {
        "title": "هل يفهم الجهاز الجميع؟",
        "purpose": "لكي تخدم النسخة القادمة الجميع.",
        "metrics[0].name": "ما فُهم",
        "metrics[0].help": "ما فُهم من آخر 100 أمر.",
        "attributes[0].name": "الجنس",
        "attributes[0].help": "كما تقوله أنت.",
        "attributes[0].groups[0]": "أنثى",
        "attributes[0].groups[1]": "ذكر",
    },
}


def spoken_study(title: str = "Does the device understand everyone?", **more: Any) -> Study:
    """A study that says everything in three languages."""
    return Study(
        title,
        [sample_question(RECALL, SEX, abstain=True)],
        language="en",
        purpose="So that the next version serves everyone.",
        operator="Fairness Office",
        contact="fairness@example.org",
        retention=2,
        translations=SPOKEN,
        **more,
    )


def say(tag: str, key: str) -> str:
    text = catalogue()[tag][key]
    assert isinstance(text, str)
    return text


def texts(study: Study, tag: str) -> dict[str, str]:
    return dict(texts_of(study) if tag == OWN else SPOKEN[tag])


def of_others(page: Page, tag: str, where: str = "fairgauge-study .take-part") -> list[str]:
    """Return texts of other languages that the page shows."""
    shown = page.locator("header").inner_text() + page.locator(where).inner_text()
    found = []
    for other in catalogue().keys() - {tag}:
        for key, text in catalogue()[other].items():
            pieces = re.split(r"\{\w+\}", text) if isinstance(text, str) and not key.startswith("language.") else []
            long = [piece.strip() for piece in pieces if len(piece.strip()) > 12]
            found += [piece for piece in long if piece in shown and piece not in str(catalogue()[tag][key])]
    return found


@pytest.mark.parametrize("tag", TAGS)
def test_a_person_takes_part_in_their_language(collector: Collecting, visitor: OpenVisitor, tag: str) -> None:
    study = spoken_study()
    path = collector.publish(study, results="public")
    own = texts(study, tag)
    before = sum(collector.counts(study))
    person = visitor(locale={"en": "en-GB", "de": "de-AT", "ar": "ar-EG"}[tag], viewport={"width": 360, "height": 700})
    page = person.open(path + "/take-part")
    html = page.locator("html")
    expect(page.locator("#form")).to_be_visible()
    expect(html).to_have_attribute("lang", tag)
    expect(html).to_have_attribute("dir", say(tag, "language.direction"))
    expect(page.get_by_role("heading", level=1)).to_have_text(own["title"])
    expect(page.get_by_text(own["purpose"])).to_be_visible()
    expect(page.get_by_text(own["metrics[0].help"])).to_be_visible()
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    page.get_by_role("button", name=say(tag, "form.draw")).click()
    expect(page.locator("#complaint-value-0")).not_to_be_empty()
    assert of_others(page, tag) == []
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360

    page.get_by_label(own["attributes[0].groups[0]"], exact=True).check()
    page.locator("#value-0").fill({"ar": "٠٫٥", "de": "0,5"}.get(tag, "0.5"))
    page.get_by_role("button", name=say(tag, "form.draw")).click()
    expect(page.get_by_role("heading", name=say(tag, "ready.title"))).to_be_focused()
    sent = json.loads(page.locator("#bytes").text_content() or "")
    assert of_others(page, tag) == []
    page.get_by_role("button", name=say(tag, "ready.send")).click()
    expect(page.get_by_role("heading", name=say(tag, "thanks.title"))).to_be_focused()
    page.get_by_text(say(tag, "thanks.check")).click()
    page.get_by_role("button", name=say(tag, "thanks.button")).click()
    expect(page.locator("#rechecked")).to_have_text(say(tag, "thanks.yes"))
    page.get_by_text(say(tag, "memory.title")).click()
    assert of_others(page, tag) == []
    assert barriers(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    counts = collector.counts(study)
    assert sum(counts) == before + 1
    assert counts[sent["symbol"]] >= 1
    person.check_quiet()


def test_a_text_of_another_language_would_be_seen(collector: Collecting, visitor: OpenVisitor) -> None:
    """The mutant twin: one sentence that nobody translated is found."""
    study = spoken_study("One sentence")
    path = collector.publish(study)
    person = visitor(locale="de")
    english, german = (json.dumps(say(tag, "form.not-yet"), ensure_ascii=False) for tag in (OWN, "de"))
    change_script(person, german, english)
    page = person.open(path + "/take-part")
    expect(page.locator("#form")).to_be_visible()
    assert of_others(page, "de") == [say(OWN, "form.not-yet")]


def test_languages_have_a_form_for_every_count(collector: Collecting, visitor: OpenVisitor) -> None:
    page = visitor().open("/healthz")
    for tag, found in catalogue().items():
        wanted = page.evaluate("(tag) => new Intl.PluralRules(tag).resolvedOptions().pluralCategories", tag)
        for key, text in found.items():
            if not isinstance(text, str) and not key.startswith("language."):
                assert set(text) == set(wanted), f"{tag}: {key}"


def test_the_collector_counts_and_writes_as_browsers_do(collector: Collecting, visitor: OpenVisitor) -> None:
    """Pages that work without JavaScript have the rules of CLDR in the catalogue: they are those of the browser."""
    page = visitor().open("/healthz")
    for tag, found in catalogue().items():
        told = page.evaluate("(tag) => [...Array(1001).keys()].map((n) => new Intl.PluralRules(tag).select(n))", tag)
        assert [_category(found["language.plurals"], count) for count in range(1001)] == told, tag
    written = "(tag) => new Intl.NumberFormat(tag, { minimumFractionDigits: 2 }).format(-1234567.5)"
    for locale in ("en-GB", "de-DE", "de-AT", "de-CH", "ar", "ar-EG", "ar-IQ", "ar-MA", "ar-AE", "ar-TN"):
        ours = Voice.of([locale]).numeral("\N{MINUS SIGN}1,234,567.50").replace("\N{MINUS SIGN}", "-")
        theirs = page.evaluate(written, locale).replace("'", "’")  # versions of CLDR differ about the apostrophe
        assert ours.replace("'", "’") == theirs, locale


PAGES = ("/", "/studies/{study}", "/sign-in", "/nowhere")


@pytest.mark.parametrize("tag", TAGS)
def test_every_page_speaks_the_language(collector: Collecting, visitor: OpenVisitor, tag: str) -> None:
    study = spoken_study(f"Read in {tag}", closes="2100-03-01T08:30:00Z")
    collector.publish(study, results="public")
    own = texts(study, tag)
    person = visitor(locale={"en": "en-GB", "de": "de-AT", "ar": "ar-EG"}[tag], viewport={"width": 360, "height": 700})
    for path in PAGES:
        page = person.open(path.format(study=study.digest))
        expect(page.locator("html")).to_have_attribute("lang", tag)
        expect(page.locator("html")).to_have_attribute("dir", say(tag, "language.direction"))
        assert of_others(page, tag, "body") == []
        assert barriers(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    person.complaints.clear()  # Chromium itself complains of the status 404

    page = person.open(f"/studies/{study.digest}")
    live, verdict = page.locator(".live"), page.locator(".verdict")
    expect(live).to_have_text(say(tag, "study.live"))
    expect(verdict).to_have_text(say(tag, "verdict.none"))
    page.evaluate("window.stayed = true")
    body = "\n".join(
        f'{{"id":"{number:032x}","study":"{study.digest}","symbol":{number % study.symbols}}}' for number in range(400)
    )
    headers = {"content-type": "application/x-ndjson"}
    httpx.post(
        f"{collector.url}/studies/{study.digest}/answers", content=body, headers=headers, timeout=120
    ).raise_for_status()
    # What the stream of events changes is in the same language, and so are its numbers.
    expect(page.locator("[data-part=count]")).to_contain_text("٤٠٠" if tag == "ar" else "400")
    expect(verdict).to_contain_text(own["metrics[0].name"])
    expect(page.locator(".figure text").filter(has_text=own["attributes[0].groups[0]"]).first).to_be_attached()
    assert page.evaluate("window.stayed") is True
    assert of_others(page, tag, "body") == []
    assert barriers(page) == []

    other = next(one for one in TAGS if one != tag)
    page.locator(f".languages [hreflang={other}]").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(texts(study, other)["title"])
    page.get_by_role("link", name=say(other, "study.take-part"), exact=True).click()
    expect(page.locator("html")).to_have_attribute("lang", other)
    person.check_quiet()


def test_numbers_are_written_as_they_are_there(collector: Collecting, visitor: OpenVisitor) -> None:
    person = visitor()
    serve_parts(person)
    page = person.open(collector.publish(spoken_study("Numbers")) + "/take-part")
    arabic = "\u2068a\u2069 و\u2068b\u2069 و\u2068c\u2069"
    for locale, shown in {
        "en-US": ["1.098613", "83%", "1,234", "a, b, and c", "-0.25"],
        "de-DE": ["1,098613", "83\xa0%", "1.234", "a, b und c", "-0,25"],
        "ar-EG": ["١٫٠٩٨٦١٣", "٨٣٪", "١٬٢٣٤", arabic, "-٠٫٢٥"],
        "ar-MA": ["1,098613", "83%", "1.234", arabic, "-0,25"],
    }.items():
        found = page.evaluate(
            """async (locale) => {
                const { Words } = await import("/static/take-part-words.js");
                const words = new Words([locale]);
                const list = words.list(["a", "b", "c"]);
                const [exact, below] = ["1.098613", "-0.25"].map((text) => words.numeral(text));
                return [exact, words.percent(0.83), words.count(1234), list, below];
            }""",
            locale,
        )
        assert [re.sub("[\u200e\u200f\u061c]", "", text) for text in found] == shown


def test_a_person_changes_the_language_and_keeps_the_ticket(collector: Collecting, visitor: OpenVisitor) -> None:
    study = spoken_study("Another language")
    path = collector.publish(study, admission="tickets")
    ticket = collector.ticket(study)
    person = visitor(locale="fr-FR")
    page = person.open(f"{path}/take-part#ticket={ticket}")
    expect(page.locator("#form")).to_be_visible()
    expect(page.get_by_role("link", name="English")).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="العربية").click()
    expect(page.get_by_role("button", name=say("ar", "form.draw"))).to_be_visible()
    expect(page.get_by_label(say("ar", "ticket.yours"))).to_have_value(ticket)
    assert page.url == f"{person.url}{path}/take-part?lang=ar"
    page.get_by_role("link", name="Deutsch").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(SPOKEN["de"]["title"])
    assert [request.url for request in person.requests if ticket in request.url.split("#")[0]] == []
    person.check_quiet()


def test_a_study_that_does_not_speak_the_language_is_marked(collector: Collecting, visitor: OpenVisitor) -> None:
    study = Study("Parlez-vous ?", [sample_question(RECALL, SEX)], language="fr")
    collector.publish(study)
    page = visitor(locale="de").open(f"/studies/{study.digest}/take-part")
    expect(page.locator("#form")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_role("heading", level=1)).to_have_attribute("lang", "fr")


def test_without_javascript_the_language_is_right_too(collector: Collecting, visitor: OpenVisitor) -> None:
    path = collector.publish(spoken_study("No script"))
    page = visitor(locale="de", java_script_enabled=False).open(path + "/take-part")
    expect(page.get_by_text("Bitte schalten Sie JavaScript ein")).to_be_visible()
    page.get_by_role("link", name="العربية").click()
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.get_by_text("fairgauge answer")).to_be_visible()


@pytest.mark.parametrize("tag", [tag for tag in TAGS if tag != OWN])
def test_what_goes_wrong_is_said_in_their_language(collector: Collecting, visitor: OpenVisitor, tag: str) -> None:
    study = spoken_study(f"Wrong in {tag}")
    path = collector.publish(study)
    person = visitor(locale=tag)
    page = person.open(path + "/take-part")
    own = texts(study, tag)
    page.get_by_label(own["attributes[0].groups[1]"], exact=True).check()
    page.locator("#value-0").fill("1")
    page.get_by_role("button", name=say(tag, "form.draw")).click()
    collector.ask("POST", path + "/close")
    page.get_by_role("button", name=say(tag, "ready.send")).click()
    expect(page.get_by_role("heading", name=say(tag, "refused.title"))).to_be_visible()
    expect(page.locator("#sending")).to_contain_text(say(tag, "error.refused-410").split("{status}")[0].split("}")[-1])
    other = visitor(locale=tag).open(path + "/take-part")
    expect(other.locator("#status")).to_have_text(say(tag, "state.closed"))
    changed = visitor(locale=tag)
    changed.context.route(f"**{path}", lambda route: route.fulfill(body="{}", content_type="application/json"))
    broken = changed.open(path + "/take-part")
    expect(broken.get_by_role("alert")).to_contain_text(say(tag, "stop.another"))
    expect(broken.get_by_role("alert").locator("[lang=en]")).to_have_attribute("dir", "ltr")
