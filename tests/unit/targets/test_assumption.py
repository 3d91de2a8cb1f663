"""What a variance assumes, in words."""

import pytest

from fairgauge.study import Metric
from fairgauge.targets.target import Goal, assumption

RECALL, DELAY = Metric("recall", 0, 1), Metric("delay", 0, 10)
HALVES = (0.5, 0.5)


@pytest.mark.parametrize(
    ("goal", "metric", "words"),
    [
        (Goal(HALVES, expect=0.8), RECALL, "every group averages 0.9, with a standard deviation of at most 0.15"),
        (Goal(HALVES, expect=-0.2, spread=None), DELAY, "every group averages 4, with any values"),
        (
            Goal(HALVES, spread=0.1),
            DELAY,
            "the worst level from 1 to 9, the same in every group, with a standard deviation of at most 0.5",
        ),
        (
            Goal(HALVES, shares_known=False),
            RECALL,
            "the worst of the levels 0, 0.5 and 1, the same in every group, with a standard deviation of at most 0.15",
        ),
        # No design is made for an end, nor for no spread at all: what is said is what is reckoned with.
        (
            Goal(HALVES, expect=1.0, spread=0.0),
            RECALL,
            "every group averages 0.975, with a standard deviation of at most 0.025",
        ),
    ],
)
def test_the_words(goal: Goal, metric: Metric, words: str):
    assert assumption(goal, metric) == words
