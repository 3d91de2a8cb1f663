"""Planned widths are those that the estimate will print."""

import numpy as np
import pytest
from scipy.stats import norm

from fairgauge.estimation import KINDS, estimate
from fairgauge.planning.planned_widths import planned_power, planned_width
from fairgauge.study import Question
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.surveys import coin_channel, coin_question, expected_tally, people, study, tells_all

HALF = (0.5, 0.5)
ANSWERS = 400_000


def questions() -> dict[str, tuple[Scores, Question]]:
    return {
        "gap": (Scores(Target(HALF)), coin_question()),
        "gap of three": (Scores(Target((0.2, 0.3, 0.5))), tells_all("0.2", "0.3", "0.5")),
        "means": (Scores(Target((0.3, 0.7), kind="means")), tells_all("0.3", "0.7")),
        "abstaining": (Scores(Target((0.5, 0.5), abstain=True)), tells_all("0.5", "0.5", abstain=True)),
        "means, shares estimated": (Scores(Target((0.3, 0.7), shares_known=False, kind="means")), tells_all()),
        "gap, shares estimated": (Scores(Target((0.3, 0.7), shares_known=False)), tells_all()),
    }


def printed_width(scores: Scores, question: Question, interval: str) -> float:
    """The widest half-width that the estimate prints, over values that are all alike or all at the ends."""
    asked = study(question)
    answering = 0.9 if scores.target.abstain else 1.0
    widths = []
    for low, high in ((-1, -1), (1, 1), (0, 0), (-1, 1)):
        cells = [
            (name, str(value), round(ANSWERS * answering * share / 2))
            for name, share in zip(question.attribute.groups, scores.target.shares, strict=True)
            for value in (low, high)
        ]
        silent = [(None, None, round(0.1 * ANSWERS))] if scores.target.abstain else []
        found = estimate(asked, expected_tally(asked, people(*cells, *silent)), interval=interval).questions[0]
        intervals = (found.means if scores.target.kind == "means" else found.gaps).values()
        widths += [(i.high - i.low) / 2 for i in intervals]
    return max(widths)


@pytest.mark.parametrize("interval", KINDS)
@pytest.mark.parametrize("name", questions())
def test_a_plan_keeps_what_it_promises(name: str, interval: str):
    scores, question = questions()[name]
    planned = planned_width(scores, question.channel, ANSWERS, KINDS[interval], 0.01)
    # Tests cut an interval to what is possible, and pay for the band of shares, which a plan does not know.
    tested = interval in {"population", "anytime"} and not scores.target.shares_known
    assert printed_width(scores, question, interval) == pytest.approx(planned, rel=0.16 if tested else 0.06)


def test_a_channel_that_cannot_tell_has_no_width():
    scores = Scores(Target(HALF, kind="means"))
    for method in KINDS.values():
        assert planned_width(scores, coin_channel(), 10**6, method, 0.01) == np.inf


def test_power_by_simulation():
    """The chance that a normal interval excludes 0, for clients that are the worst there are: all in the middle."""
    scores, gap, answers = Scores(Target(HALF)), 0.1, 5000
    width = planned_width(scores, coin_channel(), answers, KINDS["normal"], 0.1)
    power = planned_power(scores, coin_channel(), answers, width, gap)
    assert power == pytest.approx(norm.cdf((gap - width) * answers**0.5 / 4), abs=1e-3)
    rng = np.random.default_rng(2)
    ones = rng.binomial(answers // 2, 0.5 + gap / 8, size=20_000) + rng.binomial(
        answers // 2, 0.5 + gap / 8, size=20_000
    )
    seen = 4 * (2 * ones / answers - 1)
    assert np.mean(np.abs(seen) > width) == pytest.approx(power, abs=0.02)


def test_power_at_the_ends():
    scores = Scores(Target(HALF))
    width = planned_width(scores, coin_channel(), 1000, KINDS["normal"], 0.01)
    assert planned_power(scores, coin_channel(), 1000, width, 0.0) == pytest.approx(0.01)
    assert planned_power(scores, coin_channel(), 1000, width, -2.0) == pytest.approx(1.0)
    assert planned_power(scores, coin_channel(), 1000, width, 2.0) == pytest.approx(1.0)


def test_the_gap_of_unequal_groups_is_not_twice_the_wider_mean():
    scores = Scores(Target((0.1, 0.9), shares_known=False))
    channel = tells_all().channel
    means = planned_width(scores.asking(kind="means"), channel, 10**6, KINDS["anytime"], 0.005)
    gap = planned_width(scores, channel, 10**6, KINDS["anytime"], 0.01)
    assert means < gap < 1.5 * means
