"""Both promises of a study in the crowd, on its page and in its report."""

from dataclasses import replace
from html import unescape

import pytest

from fairgauge.estimation import estimate
from fairgauge.languages import Voice
from fairgauge.reports.crowd_promise import crowd_view
from fairgauge.reports.html_report import render_report
from fairgauge.study import Release, Study
from fairgauge.tallies import Tally
from tests.samples import sample_study


def study(delta: str) -> Study:
    return replace(sample_study(), release=Release(30, delta, 10))


def test_a_study_of_its_own_has_no_second_promise() -> None:
    assert crowd_view(sample_study()) is None


@pytest.mark.parametrize("delta", ["0.00001", "0.04"])
def test_a_report_says_both_promises_and_warns_of_a_large_delta(delta: str) -> None:
    asked = study(delta)
    tally = Tally(asked.digest, (10, 10, 10, 10), 30)
    text = unescape(render_report(asked, tally, estimate(asked, tally)))
    found = crowd_view(asked)
    assert found is not None
    assert "They see counts of many answers at a time, with 10 secret random answers among them" in text
    assert found.factor in text
    assert found.promise in text
    assert "They see every answer by itself, and can link it to the connection that it came over." in text
    large = "This delta is large: publishing one of 25 answers as it is, picked at random, would keep a promise with it"
    assert (large in text) == (delta == "0.04")


@pytest.mark.parametrize(
    ("tag", "said"), [("en", "This delta is large"), ("de", "Dieses Delta ist groß"), ("ar", "كبيرة")]
)
def test_the_warning_is_in_every_language(tag: str, said: str) -> None:
    found = crowd_view(study("0.04"), Voice(tag))
    assert found is not None
    assert said in found.loose
