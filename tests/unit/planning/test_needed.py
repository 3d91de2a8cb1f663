"""How many answers a published study needs."""

from decimal import Decimal

import pytest

from fairgauge.estimation import estimate
from fairgauge.goals.goal import Goal
from fairgauge.planning.needed import aimed_error, answers_needed, errors_for
from fairgauge.planning.search import plan_for
from fairgauge.study import Metric
from tests.samples import RECALL
from tests.surveys import coin_question, designed, expected_tally, people, study, tells_all


@pytest.mark.parametrize("interval", ["anytime", "fixed"])
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
    goal = Goal((0.5, 0.5))
    for design in ("randomized-response", "uncentred"):
        planned = plan_for(goal, RECALL, epsilon=Decimal(1), error=0.01, designs=[design]).row(design).clients
        needed = answers_needed(designed(goal, "1", design=design), 0.01, interval="population")
        assert needed == pytest.approx(planned, rel=0.02)


def test_several_questions_share_the_answers():
    one = answers_needed(coin_question(RECALL), 0.02)
    assert one is not None
    assert answers_needed(coin_question(RECALL), 0.02, questions=3) == 3 * one


def test_what_cannot_be_told_needs_more_than_there_are():
    assert answers_needed(coin_question(RECALL), 1e-9) is None
    assert answers_needed(tells_all(metric=RECALL), 1e-9) is None


def test_an_aim_is_a_part_of_the_range():
    assert aimed_error(coin_question(RECALL), 0.01) == 0.01
    assert aimed_error(coin_question(Metric("delay", "-10", "30")), 0.05) == 2.0


def test_more_privacy_costs_precision():
    found = errors_for(Goal((0.5, 0.5)), RECALL, [Decimal("0.5"), Decimal(1)], clients=10**6)
    (small, large), (more, less) = found
    assert (small, more) == (0.5, 1.0)
    assert large > 1.5 * less > 0
