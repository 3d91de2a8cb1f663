"""What a report states about itself can be read again."""

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.estimation import estimate
from fairgauge.reports.html_report import render_report
from fairgauge.reports.provenance import Provenance, SealNote, read_stated
from tests.samples import RECALL
from tests.surveys import coin_question, expected_tally, people, study

ASKED = study(coin_question(RECALL))
TALLY = expected_tally(ASKED, people(("female", "0.5", 4_000), ("male", "0.8", 4_000)))
SEAL = SealNote("2026-11-14T10:00:00Z", 8000, "ab" * 32, "a/key=", "a+signature=")


@pytest.mark.parametrize("said", [Provenance(), Provenance("2026-11-15", over=False, asked=9000, seal=SEAL)])
def test_what_is_stated_is_read(said: Provenance):
    found = read_stated(render_report(ASKED, TALLY, estimate(ASKED, TALLY, confidence=0.9), said))
    assert (found.study, found.confidence, found.interval) == (ASKED.digest, 0.9, "population")
    assert found.particulars == said


@pytest.mark.parametrize("date", ["2026-13-01", "15.11.2026", "2026-11-15T00:00Z", 2026])
def test_a_date_is_a_day(date: object):
    with pytest.raises(InvalidInput, match="must be a day"):
        Provenance(date)  # type: ignore[arg-type]


@pytest.mark.parametrize("content", ["{}", "[]", "nonsense", '{"seal": 1}'])
def test_what_is_stated_otherwise_is_refused(content: str):
    with pytest.raises(InvalidInput, match="must be stated as fairgauge states them"):
        read_stated(f"<!doctype html><meta name='fairgauge-report' content='{content}'>")
