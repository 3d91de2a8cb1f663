"""Intervals: in other units, turned around, and cut to what is possible."""

import pytest

from fairgauge.estimation.interval import Interval, Told


def test_scaling_and_turning_keep_what_is_possible():
    interval = Interval(0.5, -0.25, 2.0, (-1, 1)).scaled(2, 1)
    assert (interval, interval.bounds) == (Interval(2.0, 0.5, 5.0), (-1, 3))
    assert (-interval, (-interval).bounds) == (Interval(-2.0, -5.0, -0.5), (-3, 1))


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        (Interval(0.5, 0.4, 0.6, (0, 1)), Interval(0.5, 0.4, 0.6)),
        (Interval(1.0067, 0.98, 1.03, (0, 1)), Interval(1, 0.98, 1)),
        (Interval(-0.2, -0.5, -0.1, (0, 1)), Interval(0, 0, 0)),
        (Interval(7.0, 6.0, 8.0), Interval(7.0, 6.0, 8.0)),
        (Interval(0.92, 0.84, 0.87, (0, 1)), Interval(0.87, 0.84, 0.87)),
        (Interval(0.8, 0.84, 0.87, (0, 1)), Interval(0.84, 0.84, 0.87)),
    ],
)
def test_only_the_possible_is_shown(interval: Interval, shown: Interval):
    assert interval.shown == shown
    assert interval.cut is (interval != shown)


def test_an_estimate_is_ruled_out_if_it_is_possible_and_not_in_its_interval():
    assert Interval(0.92, 0.84, 0.87, (0, 1)).ruled_out
    assert Interval(0.8, 0.84, 0.87, (0, 1)).ruled_out
    assert not Interval(0.85, 0.84, 0.87, (0, 1)).ruled_out
    assert not Interval(1.02, 0.84, 1.0, (0, 1)).ruled_out


@pytest.mark.parametrize(("estimate", "told"), [(1.269, 1.0), (0.2, 0.4), (0.4, 0.4), (0.7, 0.7)])
def test_in_a_document_the_estimate_is_in_its_interval(estimate: float, told: float):
    document = Interval(estimate, 0.4, 1.0, (0, 1)).to_dict()
    numbers = {"estimate": told, "low": 0.4, "high": 1.0}
    average = {} if estimate == told else {"average": estimate}
    assert document == {**numbers, **average, "shown": numbers}


def test_the_size_of_a_number():
    assert Interval(-0.3, -0.4, -0.2).size == Interval(0.3, 0.2, 0.4)
    assert Interval(0.1, -0.4, 0.6).size == Interval(0.1, 0.0, 0.6)
    assert Interval(0.1, -0.4, 0.6, (-1, 1)).size.bounds == (0, 1)


def test_an_interval_is_clear_if_zero_is_not_in_it():
    assert [Interval(1, low, 2).clear for low in (-1, 0, 0.5)] == [False, False, True]
    assert Interval(-1, -2, -0.5).clear


def test_it_prints_in_one_line():
    assert str(Interval(-0.042761, -0.0481, -0.03742)) == "-0.04276 [-0.0481, -0.03742]"


def test_a_name_that_is_not_there_is_told_and_get_stays_silent():
    told = Told({"a": Interval(1, 0, 2)}, lambda key: LookupError(f"no {key}"))
    assert told.get("b") is None
    assert "b" not in told
    with pytest.raises(LookupError, match="no b"):
        told["b"]
