"""What an expectation would save."""

from dataclasses import replace
from decimal import Decimal

import pytest

from fairgauge.goals.goal import Goal
from fairgauge.planning.saving import expectation_saves
from fairgauge.study import Metric

RECALL, DELAY = Metric("recall", 0, 1), Metric("delay", 0, 60)
HALVES = Goal((0.5, 0.5))


def test_much_is_saved_where_privacy_is_weak():
    words = expectation_saves(HALVES, Decimal(4), RECALL)
    assert (
        words == "If you expect the recall to be near 0.9, --expect 0.9 would save 69 % of the clients at this epsilon."
    )


def test_hardly_anything_is_saved_where_privacy_is_strong():
    words = expectation_saves(HALVES, Decimal("0.5"), DELAY)
    assert words == (
        "If you expect the delay to be near 54, --expect 54 would save hardly any clients at this epsilon."
    )


def test_of_a_difference_between_models_nobody_expects_a_tenth_of_the_range_from_its_end():
    """Before, 0.8 was suggested: a new model that is right in 80 % more of the cases."""
    words = expectation_saves(HALVES, Decimal(4), Metric("recall, new minus old", -1, 1))
    assert words is not None
    assert words.startswith("If you expect the recall, new minus old to be near 0, --expect 0 would save")


@pytest.mark.parametrize(
    "goal",
    [
        replace(HALVES, expect=0.1),
        replace(HALVES, target="means"),
        replace(HALVES, shares_known=False),
        Goal((0.3, 0.3, 0.4)),
    ],
)
def test_nothing_is_said_where_it_is_given_or_of_no_use(goal: Goal):
    assert expectation_saves(goal, Decimal(1), RECALL) is None
