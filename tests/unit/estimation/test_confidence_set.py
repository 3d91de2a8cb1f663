"""From a test to an interval: the hull of what is accepted, also where that is not one run."""

from dataclasses import dataclass

import pytest

from fairgauge.estimation.confidence_set import inverted


@dataclass(frozen=True)
class Runs:
    """Accepts the values in some runs."""

    accepted: tuple[tuple[float, float], ...]
    estimate: float
    answers: float = 100
    extent: tuple[float, float] = (-2.0, 2.0)
    half: float = 0.1

    def margin(self, value: float) -> float:
        return min(max(low - value, value - high) for low, high in self.accepted)

    def limit(self, value: float) -> float:
        return self.half


def test_one_run_is_the_interval_to_a_part_of_its_width():
    low, high = inverted(Runs(((-0.31, 0.42),), 0.1))
    assert (low, high) == pytest.approx((-0.31, 0.42), abs=1e-5)
    # Rounded outward.
    assert low <= -0.31
    assert high >= 0.42


def test_the_hull_of_two_runs_is_given_where_answers_are_few():
    found = inverted(Runs(((-0.1, 0.2), (0.5, 1.7)), 0.0))
    assert found == pytest.approx((-0.1, 1.7), abs=1e-4)


def test_an_interval_ends_where_the_possible_ends():
    assert inverted(Runs(((-5.0, 5.0),), 0.3)) == (-2.0, 2.0)
    assert inverted(Runs(((1.9, 5.0),), 7.0)) == pytest.approx((1.9, 2.0), abs=1e-5)


def test_an_estimate_that_is_not_accepted_is_left_for_one_that_is():
    assert inverted(Runs(((0.5, 0.8),), 0.1, half=0.01)) == pytest.approx((0.5, 0.8), abs=1e-4)


def test_where_nothing_is_accepted_the_interval_is_wide_and_not_empty():
    assert inverted(Runs(((9.0, 9.5),), 0.1)) == pytest.approx((0.0, 0.2))


def test_a_width_of_nothing_still_ends():
    assert inverted(Runs(((0.1, 0.3),), 0.2, half=0.0)) == pytest.approx((0.1, 0.3), abs=1e-5)


def test_no_value_is_tested_twice():
    asked: list[float] = []

    @dataclass(frozen=True)
    class Counted(Runs):
        def margin(self, value: float) -> float:
            asked.append(value)
            return super().margin(value)

    inverted(Counted(((-0.31, 0.42),), 0.1, answers=5000, half=0.38))
    assert len(asked) == len(set(asked))
    assert len(asked) < 20
