"""The least values of convex functions, from values and slopes."""

import numpy as np
import pytest

from fairgauge.targets.assumed_values import least_values


def bent(slopes: np.ndarray, heights: np.ndarray):
    """Functions of straight pieces: the largest of some lines, a row of lines for each function."""
    asked = []

    def functions(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        asked.append(points)
        lines = slopes * points[:, None] + heights
        which = lines.argmax(axis=1)
        each = np.arange(len(lines))
        return lines[each, which], slopes[each, which]

    return functions, asked


def test_the_least_of_straight_pieces_is_found_exactly_and_soon():
    rng = np.random.default_rng(3)
    slopes, heights = rng.normal(size=(50, 40)), rng.normal(size=(50, 40))
    functions, asked = bent(slopes, heights)
    found = least_values(functions, np.full(50, -100.0), np.full(50, 100.0), close=np.full(50, 1e-9))
    # The least of the largest line is where two lines meet: try all.
    exact = []
    for slope, height in zip(slopes, heights, strict=True):
        meet = (height[None, :] - height[:, None]) / (slope[:, None] - slope[None, :] + np.eye(40))
        points = np.unique(meet[np.abs(meet) < 100])
        exact.append((np.multiply.outer(points, slope) + height).max(axis=1).min())
    assert found == pytest.approx(exact, abs=1e-8)
    assert len(asked) < 15  # a golden section takes 50


def test_where_the_least_is_at_an_end_the_end_is_taken():
    functions, _ = bent(np.array([[1.0, 2.0], [-1.0, -3.0]]), np.zeros((2, 2)))
    found = least_values(functions, np.array([2.0, 1.0]), np.array([5.0, 4.0]), close=np.full(2, 1e-9))
    assert found == pytest.approx([4.0, -4.0])


def test_smooth_functions_are_met_closely():
    def square(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return (points - 0.3) ** 2, 2 * (points - 0.3)

    found = least_values(square, np.array([-1.0]), np.array([4.0]), close=np.array([1e-6]))
    assert 0 <= found[0] <= 1e-6
