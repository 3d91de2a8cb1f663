"""What a variance assumes, in words."""

import pytest

from fairgauge.study import Metric
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.scores import Scores, assumption
from fairgauge.targets.target import Target

RECALL, DELAY = Metric("recall", 0, 1), Metric("delay", 0, 10)
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
            DELAY,
            "every group averages 4, with any values",
        ),
        (
            Scores(Target(HALVES), AssumedValues(spread=0.1)),
            DELAY,
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
