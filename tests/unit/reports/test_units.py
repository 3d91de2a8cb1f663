"""Numbers as people say them: what is written never claims more than what is known."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairgauge.estimation import Interval
from fairgauge.languages import MINUS
from fairgauge.reports.units import Unit, level_of, part_of_hundred, places_for, unit_of
from fairgauge.study import Metric

POINTS = Unit(100, "point")


def number(text: str) -> Decimal:
    return Decimal(text.replace(MINUS, "-").replace(",", ""))


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [("0", "1", "2 points"), ("0", "1.00", "2 points"), ("0", "40", "0.02"), ("-1", "1", "0.02"), ("0.5", "1", "0.02")],
)
def test_points_are_for_metrics_from_0_to_1(low: str, high: str, said: str):
    assert unit_of(Metric("m", low, high)).of(0.02) == said
    assert level_of(Metric("m", low, high)).of(0.02) == "0.02"


def test_a_metric_from_0_to_100_is_in_points_and_a_metric_with_a_unit_in_its_own():
    assert unit_of(Metric("score", 0, "100.0")).of(2) == "2 points"
    assert level_of(Metric("score", 0, 100)).of(80) == "80 points"
    assert (
        unit_of(Metric("delay", 0, 1, unit="s")).of(0.02)
        == level_of(Metric("delay", 0, 1, unit="s")).of(0.02)
        == "0.02 s"
    )


def test_a_bound_is_not_more_precise_than_anyone_needs():
    assert POINTS.most(0.0000015) == "0.01 points"
    assert POINTS.most(0.00012) == "0.012 points"


def test_one_point_is_not_points():
    assert POINTS.of(0.01) == "1 point"
    assert POINTS.after("1.0") == "1.0 points"
    assert Unit(1, "").of(123_456.7) == "123,457"


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.sampled_from([1.0, 100.0]))
def test_edges_are_rounded_outward(low: float, width: float, factor: float):
    interval, unit = Interval(low + width / 2, low, low + width), Unit(factor, "")
    places = unit.places(interval)
    slack = Decimal("1e-11")  # of the number itself: a float's own rounding is not a claim
    below, above = number(unit.down(interval.low, places)), number(unit.up(interval.high, places))
    assert below <= Decimal(low * factor) + abs(Decimal(low * factor)) * slack
    assert above >= Decimal(interval.high * factor) - abs(Decimal(interval.high * factor)) * slack
    assert above - below <= Decimal(width * factor) + 2 * Decimal(1).scaleb(-places) + Decimal("1e-4")


def test_a_float_that_is_meant_to_be_round_is_not_rounded_further():
    assert POINTS.up(0.037, 1) == "3.7"  # 0.037 * 100 is 3.6999999999999997
    assert POINTS.down(0.29, 0) == "29"  # 0.29 * 100 is 28.999999999999996


def test_a_width_shows_two_digits():
    assert [places_for(w) for w in (0.0123, 0.5, 1.0, 9.9, 250.0, 0.0, float("inf"))] == [3, 2, 1, 1, 0, 2, 2]


def test_confidence_is_said_in_hundredths():
    assert [part_of_hundred(c) for c in (0.9, 0.99, 0.999, 0.95)] == ["90 %", "99 %", "99.9 %", "95 %"]
