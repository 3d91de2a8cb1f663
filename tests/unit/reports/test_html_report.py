"""The report: one file with everything in it, for any number of questions and groups.

Covers: fairgauge.reports.model_card, fairgauge.reports.templating, fairgauge.reports.question_view.
"""

import json
import re
from dataclasses import replace
from functools import lru_cache
from html import unescape
from html.parser import HTMLParser

import pytest

from fairgauge.estimation import Estimate, estimate
from fairgauge.languages import Voice
from fairgauge.reports.figures import Look
from fairgauge.reports.html_report import render_report
from fairgauge.reports.model_card import as_json, markdown
from fairgauge.reports.provenance import Provenance
from fairgauge.reports.question_view import Progress, progress_view, views
from fairgauge.reports.templating import style
from fairgauge.study import Metric, Study
from fairgauge.tallies import Tally
from tests.samples import RECALL
from tests.surveys import coin_question, expected_tally, people, study, tells_all

PEOPLE = people(("female", "0.5", 40_000), ("male", "0.8", 40_000), ("other", "0.6", 20_000))
PAIR = people(("female", "0.5", 40_000), ("male", "0.8", 40_000))


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.values: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "data":
            self.values.append(str(dict(attrs)["value"]))


@lru_cache
def surveyed(kind: str) -> tuple[Study, Tally, Estimate]:
    asked = {
        "gap alone": study(coin_question(RECALL)),
        "three groups": study(tells_all("0.4", "0.4", "0.2", metric=RECALL)),
        "several questions": study(
            tells_all(metric=RECALL, groups=2, abstain=True), tells_all(metric=Metric("<b>delay", "0", "40"))
        ),
        "nothing yet": study(coin_question(RECALL)),
    }[kind]
    tally = (
        Tally.empty(asked) if kind == "nothing yet" else expected_tally(asked, PAIR if "three" not in kind else PEOPLE)
    )
    return asked, tally, estimate(asked, tally, interval="normal")


KINDS = ["gap alone", "three groups", "several questions", "nothing yet"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_report_stands_alone(kind: str):
    asked, tally, found = surveyed(kind)
    text = render_report(asked, tally, found)
    page = Page(text)
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "link", "img", "iframe", "object", "form"})
    assert not [attrs for _, attrs in page.tags if {"src", "href", "style", "onload"} & attrs.keys()]
    assert "url(" not in style()
    assert "<" not in style()
    for heading in (
        "The question",
        "Results",
        "Method",
        "Privacy",
        "How far it could be off",
        "reproduce",
        "model card",
    ):
        assert heading in text
    assert asked.digest in text
    assert "<b>delay" not in text


@pytest.mark.parametrize("kind", KINDS)
def test_its_numbers_are_those_of_the_estimate(kind: str):
    asked, tally, found = surveyed(kind)
    values = list(map(float, Page(render_report(asked, tally, found)).values))
    expected = [x for q in found.questions for _, i in q.rows() for x in (i.estimate, i.low, i.high)]
    assert values == pytest.approx(expected, rel=1e-9)


def test_the_verdict_the_tolerance_and_the_warnings_are_there():
    asked, tally, _ = surveyed("three groups")
    found = estimate(asked, tally, tolerance=0.05)
    text = unescape(render_report(asked, tally, found)).replace("\N{NO-BREAK SPACE}", " ")
    assert "points lower for female than for male (99 % confidence)" in text
    assert "The gap is beyond the tolerance of ±5 points." in text
    assert "--confidence 0.99 --interval population --tolerance 0.05" in re.sub("</?span.*?>", "", text)
    forged = Tally(asked.digest, (*tally.counts[:-1], tally.counts[-1] * 50))
    text = unescape(render_report(asked, forged, estimate(asked, forged)))
    assert "There are signs of forging" in text


def test_an_interim_report_says_so():
    asked, tally, found = surveyed("gap alone")
    assert "interim" in render_report(asked, tally, found, Provenance(over=False))
    assert "interim" not in render_report(asked, tally, found)


def test_the_model_card_has_the_numbers_twice():
    asked, _, found = surveyed("three groups")
    card = json.loads(as_json(asked, found))["fairness"]
    gap = found.questions[0].gaps["female", "male"]
    assert card["questions"][0]["gaps"][0]["estimate"] == pytest.approx(gap.estimate, rel=1e-9)
    assert len(card["questions"][0]["gaps"]) == 3
    assert card["study"] == asked.digest
    assert max(map(len, as_json(asked, found).splitlines())) < 300
    text = markdown(asked, found, views(asked, found))
    assert "| female − male (points) | −30.0 |" in text
    assert text.count("\n|") == 2 + 3 + 3 + 2 + 3


def test_markdown_says_what_names_say():
    asked, _, found = surveyed("several questions")
    assert r"\<b\>delay by sex" in markdown(asked, found, views(asked, found))


def test_names_with_strange_letters_stay_in_json():
    asked, _, found = surveyed("gap alone")
    odd = replace(asked, title='A "title" {with} [brackets]')
    assert json.loads(as_json(odd, found))["fairness"]["title"] == odd.title


def test_progress_needs_two_looks_for_a_picture():
    question, interval = coin_question(RECALL), surveyed("gap alone")[2].questions[0].gaps["female", "male"]
    one = progress_view(question, Progress(80_000, 0.01, 10**6, [Look(80_000, interval)]))
    assert one.shrinking is None
    assert one.bar is not None
    assert one.sentence == "IF both answered equally often: 80,000 of about 1,000,000 answers needed for ±1 point."
    looks = [Look(800, interval), Look(80_000, interval)]
    two = progress_view(question, Progress(80_000, 0.01, None, looks))
    assert two.bar is None
    assert "after 800 answers" in str(two.shrinking)


@pytest.mark.parametrize("title", ["Recall by sex", 'A "quoted" \\ title</style><script>', "دقّة النموذج"])
def test_the_printed_report_has_page_numbers_its_title_and_no_dumps(title: str):
    asked = replace(study(coin_question(RECALL)), title=title)
    tally = expected_tally(asked, PAIR)
    page = render_report(asked, tally, estimate(asked, tally, interval="normal"), Provenance())
    (sheet,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    (running,) = re.findall(r'@top-left \{ content: "([^"]*)";', sheet)
    assert re.sub(r"\\([0-9a-f]{6})", lambda found: chr(int(found[1], 16)), running) == Voice().apart(title)
    arabic = render_report(asked, tally, estimate(asked, tally, interval="normal"), Provenance(language="ar"))
    assert '@top-right { content: "\\002068' in arabic  # kept apart: "65+, 18" would be turned around
    assert 'counter(page) " / " counter(pages)' in sheet
    printed = sheet.partition("@media print")[2]
    assert ".for-programs { display: none; }" in printed
    (hidden,) = re.findall(r'<section class="for-programs">(.*?)</section>', page, re.DOTALL)
    assert page.count("<h3>JSON</h3>") == hidden.count("<h3>JSON</h3>") == 1
