"""The impact ratio: its interval, and whether four fifths can be told, through the command that people run."""

import pytest

from fairgauge.estimation import Interval, estimate
from fairgauge.estimation.interval import impact_ratio
from fairgauge.estimation.metric_frame import PrivateMetricFrame
from fairgauge.reports.verdicts import Meaning
from fairgauge.study import Metric
from tests.samples import RECALL
from tests.surveys import coin_question, expected_tally, people, study, tells_all

ASKED = study(tells_all("0.5", "0.5", metric=RECALL))


@pytest.mark.parametrize(
    ("women", "said"),
    [
        ("0.85", "That is four fifths or more."),
        ("0.72", "Whether it is four fifths or more cannot be told from these answers."),
        ("0.6", "That is less than four fifths."),
    ],
)
def test_four_fifths_are_told_where_they_can_be(women: str, said: str):
    tally = expected_tally(ASKED, people(("female", women, 10_000), ("male", "0.9", 10_000)))
    found = estimate(ASKED, tally)["recall"]
    assert found.impact_ratio is not None
    assert found.impact_ratio.low < float(women) / 0.9 < found.impact_ratio.high
    sentence = Meaning(ASKED.questions[0], found, 0.99).ratio()
    assert sentence is not None
    assert sentence.endswith(said)
    frame = PrivateMetricFrame(ASKED, tally)
    ends = (found.impact_ratio.estimate, found.impact_ratio.low, found.impact_ratio.high)
    assert ends == pytest.approx([frame.ratio()["recall"], *(end["recall"] for end in frame.ratio_ci())])


def test_without_means_or_near_zero_there_is_none():
    gap = study(coin_question(RECALL))
    assert (
        estimate(gap, expected_tally(gap, people(("female", "0.5", 100), ("male", "0.8", 100))))["recall"].impact_ratio
        is None
    )
    signed = study(tells_all("0.5", "0.5", metric=Metric("gain", "-1", "1")))
    tally = expected_tally(signed, people(("female", "0.5", 1000), ("male", "0.8", 1000)))
    assert estimate(signed, tally)["gain"].impact_ratio is None
    assert impact_ratio([Interval(-0.1, -0.2, 0.1, (0, 1)), Interval(0.5, 0.4, 0.6, (0, 1))]) is None
