"""Who asked whom and why, and on what the numbers rest: through the report that people read."""

import re
from dataclasses import replace
from html import unescape

import pytest

from fairgauge.estimation import estimate
from fairgauge.reports.html_report import render_report
from fairgauge.reports.provenance import Provenance, SealNote
from fairgauge.reports.study_facts import _response_sentence, assumptions, facts, seal_facts
from fairgauge.study import Attribute, Model, Study
from tests.samples import RECALL
from tests.surveys import expected_tally, people, study, tells_all

PLAIN = study(tells_all("0.5", "0.5", metric=RECALL))
PEOPLE = people(("female", "0.6", 40_000), ("male", "0.9", 40_000))
SEAL = SealNote("2026-11-14T10:00:00Z", 80_000, "ab" * 32, "the key", "the signature")


@pytest.fixture(scope="module")
def asked() -> Study:
    question = PLAIN.questions[0]
    sex = Attribute(
        "sex", {"female": 0.5, "male": 0.5}, share_error="0.02", share_source="the census", answering="alike"
    )
    return Study(
        "Survey",
        [replace(question, attribute=sex)],
        operator="Acme",
        contact="ask@acme.example",
        purpose="To serve everyone alike.",
        model=Model("detector", "3.1"),
        planned=100_000,
        retention=30,
        closes="2026-11-14T10:00:00Z",
        admission="tickets",
    )


def test_the_report_says_who_asked_whom_and_why(asked: Study):
    tally = expected_tally(asked, PEOPLE)
    found = estimate(asked, tally, interval="normal")
    page = unescape(render_report(asked, tally, found, Provenance("2026-11-15", asked=320_000, seal=SEAL)))
    for name, said in (
        ("Made on", "15 November 2026"),
        ("Asked by", "Acme"),
        ("Questions to", "ask@acme.example"),
        ("Purpose", "To serve everyone alike."),
        ("Model", "detector, version 3.1"),
        ("Answers taken", "to 14 November 2026, 10:00 UTC"),
        ("Response", "80,000 answers of 320,000 who were asked (25 %); 100,000 were planned"),
        ("Single answers are kept", "for 30 days after the study closed"),
    ):
        assert f"<dt>{name}</dt><dd>{said}</dd>" in page
    for said in ("the key", "the signature", "ab" * 32, "80,000 answers, study closed 14 November 2026, 10:00 UTC"):
        assert f"<dd><code>{said}</code></dd>" in page
    assert "75 % of those who were asked did not answer: if they differ, the result is not about them." in page
    assert "shares by sex are known to ±0.02: female 0.5, male 0.5. The shares come from: the census." in page
    assert "Tickets saw to the first" in page
    assert "--date 2026-11-15 --asked 320000 --seal sealed.json" in re.sub("</?span.*?>", "", page)
    assert "of the highest group's. That is less than four fifths." in page


def test_what_is_not_known_is_not_said():
    names = [fact.name for fact in facts(PLAIN, 10, Provenance())]
    assert names == ["Response"]
    assert _response_sentence(PLAIN, 10, Provenance()) == "10 answers; how many were asked is not stated"
    assert seal_facts(study(tells_all()), Provenance()) == []


def test_assumptions_fit_the_study():
    found = estimate(PLAIN, expected_tally(PLAIN, PEOPLE), interval="normal")
    said = " ".join(assumptions(PLAIN, found, Provenance()))
    assert "have exactly these shares by sex: female 0.5, male 0.5. Where the shares come from is not stated." in said
    assert "No number in this report can show whether those who did not answer differ." in said
    assert "whoever looks again and again" in said
    assert "Tickets" not in said
    unknown = study(tells_all(metric=RECALL, groups=2))
    found = estimate(unknown, expected_tally(unknown, PEOPLE), interval="anytime")
    said = " ".join(assumptions(unknown, found, Provenance()))
    assert "are estimated from the same answers" in said
    assert "at every look together" in said
