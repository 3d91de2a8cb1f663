"""Which epsilon for so many people and several metrics.

Covers: fairgauge.cli._choices.
"""

from decimal import Decimal
from functools import lru_cache

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.planning.choose_epsilon import EpsilonChoices, choose_epsilon
from fairgauge.planning.plans import plan_questions
from fairgauge.study import Attribute, Metric, Question

SEX = Attribute("sex", {"female": "0.5", "male": "0.5"}, answering="alike")
BOTH = [Question(Metric("recall", 0, 1), SEX, expect="0.9"), Question(Metric("minutes", 0, 60), SEX, expect="54")]
TWO = [Decimal(1), Decimal(4)]


@lru_cache
def chosen(clients: int) -> EpsilonChoices:
    return choose_epsilon(BOTH, clients, interval="normal", epsilons=TWO)


@pytest.mark.parametrize("epsilon", TWO)
def test_errors_are_those_of_a_plan_of_the_same_study(epsilon: Decimal):
    row = next(row for row in chosen(200_000).rows if row[0].epsilon == float(epsilon))
    plans = plan_questions(BOTH, epsilon=epsilon, clients=200_000, interval="normal")
    for one, plan in zip(row, plans, strict=True):
        assert plan.best == one.design
        assert one.error == pytest.approx(plan.row(one.design).error)


@pytest.mark.parametrize(
    ("clients", "recommended", "said"),
    [
        (
            10**6,
            1.0,
            "We would take epsilon 1: the most private of these that gives recall to ±0.02 and minutes to ±1.2",
        ),
        (20_000, None, "Only epsilon 4 gives recall to ±0.02 and minutes to ±1.2, and there one answer tells much"),
        (6_000, None, "None of these gives recall to ±0.02 and minutes to ±1.2. Epsilon 1 gives recall to ±0."),
        (100, None, "This is no study: even at epsilon 4 so few clients give recall to ±0."),
    ],
)
def test_one_epsilon_is_recommended_for_all(clients: int, recommended: float | None, said: str):
    found = chosen(clients)
    assert found.recommended == recommended
    share, first, *_ = found.sentences()
    assert share.startswith("2 questions: a device answers one table, so with a table each")
    assert share.endswith("At epsilon 4 one table for two of them is better, and is reckoned with.")
    assert first.startswith(f"IF all groups answer equally often: {said}")
    document = found.to_dict()
    assert document["sentences"] == found.sentences()
    assert [question["metric"] for question in document["questions"]] == ["recall", "minutes"]


def test_what_is_said_to_be_enough_is_enough_for_all():
    needs = chosen(1000).clients(chosen(1000).rows[0])
    assert needs is not None
    errors = [one.error / found.good for one, found in zip(chosen(needs).rows[0], chosen(needs).each, strict=True)]
    assert 0.95 < max(errors) < 1.02


def test_a_metric_is_asked_for_once():
    with pytest.raises(InvalidInput, match="metric=recall: must be given once"):
        choose_epsilon([BOTH[0], BOTH[0]], 1000, epsilons=TWO)
