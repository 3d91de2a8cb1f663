"""How many answers a published study needs."""

from decimal import Decimal
from typing import Any

import pytest

from fairgauge.estimation import estimate
from fairgauge.planning import api
from fairgauge.planning.planned_widths import aimed_error, answers_needed
from fairgauge.planning.plans import plan_for
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.samples import RECALL
from tests.surveys import coin_question, designed, expected_tally, people, study, tells_all


@pytest.mark.parametrize("interval", ["anytime", "normal"])
@pytest.mark.parametrize(
    "question", [coin_question(RECALL), tells_all("0.5", "0.5", metric=RECALL)], ids=["gap", "all"]
)
def test_so_many_answers_give_that_error(question, interval: str):
    needed = answers_needed(question, 0.02, interval=interval)
    assert needed is not None
    asked = study(question)
    tally = expected_tally(asked, people(("female", "0.5", needed // 2), ("male", "0.5", needed // 2)))
    gap = estimate(asked, tally, interval=interval)["recall"].headline.interval
    assert gap is not None
    low, high = gap.low, gap.high
    assert (high - low) / 2 == pytest.approx(0.02, rel=0.02)


def test_it_is_about_the_channel_that_the_study_has():
    scores = Scores(Target((0.5, 0.5)))
    for design in ("randomized-response", "uncentred"):
        planned = plan_for(scores, RECALL, epsilon=Decimal(1), error=0.01, designs=[design]).row(design).clients
        needed = answers_needed(designed(scores, "1", design=design), 0.01, interval="population")
        assert needed == pytest.approx(planned, rel=0.02)


def test_several_questions_share_the_answers():
    one = answers_needed(coin_question(RECALL), 0.02)
    assert one is not None
    assert answers_needed(coin_question(RECALL), 0.02, tables=3) == 3 * one


def test_what_cannot_be_told_needs_more_than_there_are():
    assert answers_needed(coin_question(RECALL), 1e-9) is None
    assert answers_needed(tells_all(metric=RECALL), 1e-9) is None


def test_an_aim_is_a_part_of_the_range():
    assert aimed_error(coin_question(RECALL), 0.01) == 0.01
    assert aimed_error(coin_question(Metric("delay", "-10", "30")), 0.05) == 2.0


@pytest.mark.parametrize("expect", [None, 0.9, 0.2])
@pytest.mark.parametrize("guess", [None, (0.3, 0.7)])
@pytest.mark.parametrize("interval", ["anytime", "normal"])
def test_the_study_asks_for_as_many_as_its_plan_did(
    expect: float | None, guess: tuple[float, float] | None, interval: str
):
    """What was known beforehand is published with the question, so that its page reckons as its plan did."""
    sex = Attribute("sex", ("female", "male"), shares=guess)
    terms: dict[str, Any] = {"target": "gap", "expect": expect}
    planned = api.plan(
        RECALL, sex, epsilon=2, error=0.05, interval=interval, designs=["randomized-response"], **terms
    )[0].rows[0].clients  # fmt: skip
    study_ = Study("Test", api.design(RECALL, sex, epsilon=2, design="randomized-response", **terms))
    published = Study.from_bytes(study_.to_bytes()).questions[0]
    assert answers_needed(published, 0.05, interval=interval) == pytest.approx(planned, rel=0.015)


def test_an_expectation_saves_clients():
    """The test above can fail: without what was expected, the same channel asks for a quarter more."""
    sex = Attribute("sex", ("female", "male"))
    (told,) = api.design(RECALL, sex, epsilon=2, design="randomized-response", target="gap", expect=0.9)
    untold = Question(RECALL, sex, "gap", told.design, told.epsilon, told.channel)
    needed, more = (answers_needed(question, 0.05, interval="anytime") for question in (told, untold))
    assert needed is not None
    assert more is not None
    assert more > 1.1 * needed
