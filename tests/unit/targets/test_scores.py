"""A question has one target, one way to be read and one set of assumptions, before it is designed and after.

Covers: fairgauge.targets.target.

What a variance assumes, in words.
"""

from decimal import Decimal
from typing import Any

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.planning.table_pairing import designed
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.assumed_values import USUAL_SPREAD, AssumedValues
from fairgauge.targets.scores import Scores, assumption
from fairgauge.targets.target import Target

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
def test_a_question_has_one_target_designed_or_not(metric: Metric, attribute: Attribute, more: dict[str, Any]):
    asked = Question(metric, attribute, **more)
    (question,) = designed([asked], Decimal(1), design="randomized-response")
    assert not asked.designed
    assert question.designed
    assert Scores.of(question) == Scores.of(asked).by("randomized-response")
    published = Study.from_bytes(Study("Test", [question]).to_bytes())
    assert Scores.of(published.questions[0]) == Scores.of(question)


def test_what_is_known_beforehand_is_in_units_of_v():
    scores = Scores.of(Question(DELAY, KNOWN, expect=20, spread="5"))
    assert (scores.values.expect, scores.values.spread) == (0.5, 0.25)
    assert Scores.of(Question(DELAY, KNOWN, spread="max")).values.spread is None
    assert Scores.of(Question(DELAY, KNOWN)).values.spread == USUAL_SPREAD


def test_shares_are_the_known_ones_or_a_guess_or_equal():
    assert Scores.of(Question(RECALL, KNOWN)).target.shares == (0.3, 0.7)
    guessed = Attribute("age", UNKNOWN.groups, shares=(0.25, 0.25, 0.5))
    assert Scores.of(Question(RECALL, guessed)).target.shares == (0.25, 0.25, 0.5)
    assert Scores.of(Question(RECALL, UNKNOWN)).target.shares == (1 / 3,) * 3


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"target": "both"}, 'target=both: must be "gap" or "means"'),
        ({"expect": 31}, "expect=31: must be from -10 to 30"),
        ({"expect": float("nan")}, "expect=nan: must be from -10 to 30"),
        ({"spread": 0}, 'spread=0: must be above 0 and at most half of the range, or "max"'),
        ({"spread": 21}, 'spread=21: must be above 0 and at most half of the range, or "max"'),
        ({"spread": "wide"}, 'spread=wide: must be above 0 and at most half of the range, or "max"'),
    ],
)
def test_what_is_out_of_range_is_told(more: dict[str, Any], said: str):
    with pytest.raises(InvalidInput) as raised:
        Question(DELAY, KNOWN, **more)
    assert str(raised.value) == said


LATENESS = Metric("delay", 0, 10)
HALVES = (0.5, 0.5)


@pytest.mark.parametrize(
    ("scores", "metric", "words"),
    [
        (
            Scores(Target(HALVES), AssumedValues(expect=0.8)),
            RECALL,
            "every group averages 0.9, with a standard deviation of at most 0.15",
        ),
        (
            Scores(Target(HALVES), AssumedValues(expect=-0.2, spread=None)),
            LATENESS,
            "every group averages 4, with any values",
        ),
        (
            Scores(Target(HALVES), AssumedValues(spread=0.1)),
            LATENESS,
            "the worst level from 1 to 9, the same in every group, with a standard deviation of at most 0.5",
        ),
        (
            Scores(Target(HALVES, shares_known=False)),
            RECALL,
            "the worst of the levels 0, 0.5 and 1, the same in every group, with a standard deviation of at most 0.15",
        ),
        # No design is made for an end, nor for no spread at all: what is said is what is reckoned with.
        (
            Scores(Target(HALVES), AssumedValues(expect=1.0, spread=0.0)),
            RECALL,
            "every group averages 0.975, with a standard deviation of at most 0.025",
        ),
    ],
)
def test_the_words(scores: Scores, metric: Metric, words: str):
    assert assumption(scores, metric) == words
