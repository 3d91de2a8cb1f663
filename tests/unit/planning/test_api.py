"""Plans and designs as a scientist types them: each number once, and in the metric's units."""

from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from fairgauge import Attribute, Metric, design, plan
from fairgauge.crowd import promised
from fairgauge.errors import InvalidInput
from fairgauge.planning.plans import plan_for
from fairgauge.study import Question, Release, Study
from fairgauge.targets.scores import Scores

RECALL = Metric("recall", 0, 1)
SEX = Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")
SIMPLE = ["randomized-response"]


@pytest.mark.parametrize("epsilon", [1, 1.0, "1", Decimal(1), Fraction(1), np.float64(1), np.int64(1)])
@pytest.mark.parametrize("clients", [200_000, 2e5, "2e5", np.int64(200_000)])
def test_numbers_may_be_of_any_kind(epsilon: Any, clients: Any):
    found = plan(RECALL, SEX, clients=clients, epsilon=epsilon, designs=SIMPLE)
    scores = Scores.of(Question(RECALL, SEX))
    assert found["recall"] == plan_for(
        scores, RECALL, epsilon=Decimal(1), clients=200_000, designs=SIMPLE, attribute=SEX
    )


def test_a_float_is_the_decimal_that_it_prints_as():
    assert design(RECALL, SEX, epsilon=0.1, design="randomized-response")[0].epsilon == "0.1"


def test_errors_are_in_the_units_of_the_metric():
    delay = Metric("delay", -10, 30)
    one, forty = (
        plan(metric, SEX, clients=10_000, epsilon=1, detect=detect, designs=SIMPLE)[0].rows[0]
        for metric, detect in ((RECALL, 0.05), (delay, 2))
    )
    assert forty.error == pytest.approx(40 * (one.error or 0))
    assert forty.power == pytest.approx(one.power)
    assert forty.variance == one.variance
    back = plan(delay, SEX, error=forty.error, epsilon="1", designs=SIMPLE)[0].rows[0]
    assert back.clients == pytest.approx(10_000, rel=2e-3)


def test_by_default_the_target_is_the_gap():
    three = Attribute("age", ("young", "middle", "old"), (0.25, 0.25, 0.5), answering="alike")
    assert plan(RECALL, SEX, clients=1000, epsilon=1, designs=SIMPLE)[0].target == "gap"
    assert plan(RECALL, Attribute("sex", ("a", "b")), clients=1000, epsilon=1, designs=SIMPLE)[0].target == "gap"
    assert design(RECALL, three, epsilon=1, design=SIMPLE[0])[0].target == "gap"
    assert design(RECALL, SEX, epsilon=1, design=SIMPLE[0], target="means")[0].target == "means"


def test_several_metrics_make_several_questions():
    found = design([RECALL, Metric("delay", 0, 40)], SEX, epsilon=1, design=SIMPLE[0], abstain=True)
    assert [question.metric.name for question in found] == ["recall", "delay"]
    assert all(question.mechanism.abstain for question in found)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((SEX, RECALL), "metric=an Attribute: must be a Metric: the metric comes first, then the attribute"),
        (("recall", SEX), "metric=recall: must be a Metric"),
        ((RECALL, "sex"), "attribute=sex: must be an Attribute"),
    ],
)
def test_wrong_types_and_swapped_arguments_are_told_in_one_line(arguments: Any, said: str):
    for verb in (lambda: plan(*arguments, clients=1000, epsilon=1), lambda: design(*arguments, epsilon=1)):
        with pytest.raises(InvalidInput) as raised:
            verb()
        assert str(raised.value) == said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"epsilon": "much"}, "epsilon=much: must be a number"),
        ({"epsilon": True}, "epsilon=True: must be a number"),
        ({"epsilon": -1}, "epsilon=-1: must be above 0"),
        ({"clients": 2.5}, "clients=2.5: must be a whole number from 1 to 10^15"),
        ({"clients": None, "error": "tiny"}, "error=tiny: must be a number"),
        ({"expect": 2}, "expect=2: must be from 0 to 1"),
        ({"expect": "high"}, "expect=high: must be from 0 to 1"),
        ({"target": "both"}, 'target=both: must be "gap" or "means"'),
        ({"clients": None}, "given=epsilon: give exactly two of epsilon, clients and error: the plan finds the third"),
    ],
)
def test_bad_numbers_are_told_in_one_line(more: dict[str, Any], said: str):
    arguments: dict[str, Any] = {"clients": 1000, "epsilon": 1, "designs": SIMPLE} | more
    with pytest.raises(InvalidInput) as raised:
        plan(RECALL, SEX, **arguments)
    assert str(raised.value) == said


def test_a_plan_in_the_crowd_gives_the_release_that_a_study_says():
    (found,) = plan(RECALL, SEX, clients=1e4, crowd_epsilon=0.5, designs=SIMPLE)
    (row,) = found.rows
    assert row.crowd_epsilon is not None
    assert 0.49 < row.crowd_epsilon <= 0.5
    assert row.epsilon == 4
    assert found.release == Release(10_000, "0.00000001", row.draws or 0)
    study = Study("Planned", design(RECALL, SEX, epsilon=row.epsilon or 0, design=row.design), release=found.release)
    kept = promised(study)
    assert kept is not None
    assert kept.number == row.crowd_epsilon
    (limited,) = plan(RECALL, SEX, clients=1e4, crowd_epsilon=0.5, local_limit=1.5, delta=1e-6, designs=SIMPLE)
    assert limited.rows[0].epsilon == 1.5
    assert limited.release == Release(10_000, "0.000001", limited.rows[0].draws or 0)
    assert plan(RECALL, SEX, clients=1e4, epsilon=1, designs=SIMPLE)[0].release is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"crowd_epsilon": 0.5}, "crowd_epsilon=0.5: needs clients"),
        (
            {"clients": 100, "crowd_epsilon": 0.5, "epsilon": 1},
            "crowd_epsilon=0.5: takes the place of epsilon and error",
        ),
        ({"clients": 100, "epsilon": 1, "delta": 1e-8}, "delta=1e-08: must be given with crowd_epsilon"),
    ],
)
def test_what_a_crowd_needs(given: dict[str, Any], said: str):
    with pytest.raises(InvalidInput) as caught:
        plan(RECALL, SEX, **given)
    assert str(caught.value).startswith(said)


def test_each_metric_may_have_an_expectation_of_its_own():
    recall, fpr, sex = (
        Metric("recall", 0, 1),
        Metric("fpr", 0, 1),
        Attribute("sex", {"a": "0.5", "b": "0.5"}, answering="alike"),
    )
    asked = design([recall, fpr], sex, epsilon=1, design="randomized-response", expect={"recall": 0.9, "fpr": "0.1"})
    assert [question.expect for question in asked] == ["0.9", "0.1"]
    asked = design([recall, fpr], sex, epsilon=1, design="randomized-response", spread={"fpr": "max"})
    assert [question.spread for question in asked] == [None, "max"]
    with pytest.raises(InvalidInput, match="expect=speed: must be one of recall, fpr"):
        design([recall, fpr], sex, epsilon=1, expect={"speed": 1})


def test_symbols_are_taken_where_they_can_change_something():
    recall, sex = Metric("recall", 0, 1), Attribute("sex", ["female", "male"])
    for asked in (partial(design, epsilon=1), partial(plan, epsilon=1, clients=10**4)):
        with pytest.raises(InvalidInput, match="symbols=128: is for 7 and more groups"):
            asked(recall, sex, symbols=128)
        with pytest.raises(InvalidInput, match="symbols=128: must not be given with outcome"):
            asked(None, sex, outcome="confusion", symbols=128)
