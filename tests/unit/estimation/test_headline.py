"""Which gap is spoken of, and when it is said to be the largest."""

import pytest

from fairgauge.estimation.interval import Interval
from fairgauge.estimation.result import Headline, headline_of

BOUNDS = (-1.0, 1.0)
AB, AC, BC = ("a", "b"), ("a", "c"), ("b", "c")


def gap(estimate: float, half: float) -> Interval:
    return Interval(estimate, estimate - half, estimate + half, BOUNDS)


def test_a_clear_gap_is_spoken_of_before_a_larger_one_that_is_not():
    found = headline_of({AB: gap(0.5, 0.6), AC: gap(-0.2, 0.1), BC: gap(0.1, 0.05)}, {AC: 0.01}, answers=9)
    assert (found.kind, found.groups, found.p_value) == ("clear", AC, 0.01)
    assert found.interval == gap(-0.2, 0.1)


def test_where_none_is_clear_the_largest_is_spoken_of():
    found = headline_of({AB: gap(0.1, 0.3), AC: gap(-0.2, 0.3)}, {}, answers=9)
    assert (found.kind, found.groups, found.largest) == ("open", AC, False)


@pytest.mark.parametrize(
    ("other", "largest"),
    [
        (gap(0.1, 0.05), True),  # at most 0.15
        (gap(-0.1, 0.05), True),
        (gap(0.1, 0.1), False),  # it may be 0.2 as well
        (gap(-0.1, 0.2), False),  # it may be -0.3
    ],
)
def test_it_is_the_largest_only_where_the_intervals_show_it(other: Interval, largest: bool):
    found = headline_of({AB: gap(0.3, 0.1), AC: other}, {}, answers=9)
    assert (found.groups, found.largest) == (AB, largest)


def test_it_is_not_the_largest_while_another_is_not_told():
    assert not headline_of({AB: gap(0.3, 0.1), AC: gap(0.1, 0.05)}, {}, answers=9, untold=1).largest


def test_of_two_groups_the_gap_is_the_largest():
    assert headline_of({AB: gap(0.3, 0.1)}, {}, answers=9).largest


def test_an_interval_as_wide_as_all_gaps_says_nothing():
    assert headline_of({AB: gap(0.3, 1.0)}, {}, answers=9).kind == "early"
    assert headline_of({AB: gap(0.3, 0.99)}, {}, answers=9).kind == "open"
    # Wide, and yet clear: there are too few answers all the same.
    assert headline_of({AB: gap(3.0, 1.5)}, {}, answers=9).kind == "early"


def test_without_gaps_there_is_nothing_to_speak_of():
    assert headline_of({}, {}, answers=0) == Headline("early")
    assert headline_of({}, {}, answers=9) == Headline("untold")
    assert Headline("untold").to_dict() == {"kind": "untold"}
