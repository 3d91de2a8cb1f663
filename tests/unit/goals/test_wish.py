"""A wish and the question made from it have one goal."""

from decimal import Decimal
from typing import Any

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.goals.goal import Goal
from fairgauge.goals.reckoning import USUAL_SPREAD
from fairgauge.goals.wish import Wish
from fairgauge.planning.asking import make_question
from fairgauge.study import Attribute, Metric, Study

RECALL, DELAY = Metric("recall", 0, 1), Metric("delay", -10, 30)
KNOWN = Attribute("sex", {"female": 0.3, "male": 0.7}, answering="alike")
UNKNOWN = Attribute("age", ("young", "middle", "old"))
GUESSED = Attribute("age group", ("young", "old"), shares=(0.3, 0.7))


@pytest.mark.parametrize("metric", [RECALL, DELAY], ids=lambda metric: metric.name)
@pytest.mark.parametrize("attribute", [KNOWN, UNKNOWN, GUESSED], ids=lambda attribute: attribute.name)
@pytest.mark.parametrize(
    "more",
    [
        {}, {"target": "gap"}, {"target": "means"}, {"abstain": True}, {"spread": "max"}, {"expect": 0.9},
        {"expect": "0.25", "spread": 0.1},
    ],
    ids=str,
)  # fmt: skip
def test_a_question_has_the_goal_of_its_wish(metric: Metric, attribute: Attribute, more: dict[str, Any]):
    wish = Wish(metric, attribute, **more)
    question = make_question(wish, Decimal(1), design="randomized-response")
    assert Goal.of(question) == Goal.of(wish).by("randomized-response")
    published = Study.from_bytes(Study("Test", [question]).to_bytes())
    assert Goal.of(published.questions[0]) == Goal.of(question)


def test_what_is_known_beforehand_is_in_units_of_v():
    goal = Goal.of(Wish(DELAY, KNOWN, expect=20, spread="5"))
    assert (goal.expect, goal.spread) == (0.5, 0.25)
    assert Goal.of(Wish(DELAY, KNOWN, spread="max")).spread is None
    assert Goal.of(Wish(DELAY, KNOWN)).spread == USUAL_SPREAD


def test_shares_are_the_known_ones_or_a_guess_or_equal():
    assert Goal.of(Wish(RECALL, KNOWN)).shares == (0.3, 0.7)
    guessed = Attribute("age", UNKNOWN.groups, shares=(0.25, 0.25, 0.5))
    assert Goal.of(Wish(RECALL, guessed)).shares == (0.25, 0.25, 0.5)
    assert Goal.of(Wish(RECALL, UNKNOWN)).shares == (1 / 3,) * 3


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"target": "both"}, "target=both: must be gap or means"),
        ({"expect": 31}, "expect=31: must be from -10 to 30"),
        ({"expect": float("nan")}, "expect=nan: must be from -10 to 30"),
        ({"spread": 0}, "spread=0: must be above 0 and at most 20, or max for any values"),
        ({"spread": 21}, "spread=21: must be above 0 and at most 20, or max for any values"),
        ({"spread": "wide"}, "spread=wide: must be above 0 and at most 20, or max for any values"),
    ],
)
def test_what_is_out_of_range_is_told(more: dict[str, Any], said: str):
    with pytest.raises(InvalidInput) as raised:
        Wish(DELAY, KNOWN, **more)
    assert str(raised.value) == said
