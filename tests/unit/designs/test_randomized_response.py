"""Randomized response on (group, sign)."""

import math
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.channel import ROW_SUM
from fairgauge.designs.randomized_response import randomized_response, response_rows
from fairgauge.goals.goal import Goal


@pytest.mark.parametrize("epsilon", ["0.05", "1", "8"])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_the_true_pair_is_sent_with_the_largest_probability_that_privacy_allows(d: int, epsilon: str):
    channel = randomized_response(Goal((1 / d,) * d), Decimal(epsilon))
    e = math.exp(float(epsilon))
    table = np.array(channel.table) / ROW_SUM
    expected = np.where(np.eye(2 * d), e, 1) / (e + 2 * d - 1)
    assert table == pytest.approx(expected, rel=1e-10)
    assert len(channel.levels) == 2


def test_abstaining_is_one_more_pair():
    channel = randomized_response(Goal((0.5, 0.5), abstain=True), Decimal(1))
    assert (channel.symbols, channel.rows) == (5, 5)
    assert np.array(channel.table[-1]) / ROW_SUM == pytest.approx(np.array([1, 1, 1, 1, math.e]) / (math.e + 4))


def test_the_gap_of_two_equal_groups_at_epsilon_1():
    goal = Goal((0.5, 0.5))
    assert goal.privacy_variance(randomized_response(goal, Decimal(1))) == pytest.approx(44.30, abs=0.005)


def test_tiny_budgets_do_not_cancel():
    rows = response_rows(3, 1e-12)
    assert (rows[0, 0] - rows[0, 1]) * 3 == pytest.approx(1e-12, rel=1e-3)
