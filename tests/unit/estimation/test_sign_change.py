"""Where a function changes its sign, also where it jumps."""

import math

import pytest

from fairgauge.estimation.confidence_set import sign_change


@pytest.mark.parametrize(
    ("function", "below", "above", "root"),
    [
        (lambda x: x * x - 2, 0.0, 2.0, math.sqrt(2)),
        (lambda x: math.exp(-x) - 0.5, 5.0, 0.0, math.log(2)),
        (lambda x: (x - 0.3) ** 3, -1.0, 1.0, 0.3),
        (lambda x: -1e30 if x < 0.7 else 1e30, 0.0, 1.0, 0.7),
        (lambda x: -1e-9 if x < 0.2 else 5.0, -1.0, 1.0, 0.2),
    ],
)
def test_the_two_points_enclose_the_change(function, below: float, above: float, root: float):
    low, high = sign_change(function, below, above, close=1e-7)
    assert function(low) < 0 <= function(high)
    assert abs(high - low) <= 1e-7
    assert min(low, high) - 1e-7 <= root <= max(low, high) + 1e-7


def test_a_smooth_function_takes_few_turns():
    turns = 0

    def function(x: float) -> float:
        nonlocal turns
        turns += 1
        return math.sinh(x) - 1

    sign_change(function, 0.0, 4.0, close=1e-10)
    assert turns < 16  # halving alone would take 36


def test_a_straight_line_is_met_at_once():
    turns = 0

    def function(x: float) -> float:
        nonlocal turns
        turns += 1
        return 3 * x - 1

    low, high = sign_change(function, 0.0, 1.0, close=1e-10)
    assert low < 1 / 3 <= high
    assert turns <= 5
