"""Questions from a Hadamard matrix, against the variance worked out by hand."""

import math
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.channel import ROW_SUM
from fairgauge.designs.hadamard import hadamard
from fairgauge.designs.randomized_response import randomized_response
from fairgauge.goals.goal import Goal


@pytest.mark.parametrize("epsilon", ["0.2", "1"])
@pytest.mark.parametrize("d", [2, 7, 8, 12])
def test_groups_do_not_disturb_each_other(d: int, epsilon: str):
    """A group's sum has score ±C for C = coth(ε/2), so K Var(mean) = C²/p² where the mean is 0."""
    c = 1 / math.tanh(float(epsilon) / 2)
    shares = (*(0.5 / (d - 1) for _ in range(d - 1)), 0.5)
    goal = Goal(shares, target="means")
    assert goal.privacy_variance(hadamard(goal, Decimal(epsilon))) == pytest.approx(c**2 / shares[0] ** 2, rel=1e-6)


def test_every_symbol_is_likely_for_one_sign_of_every_group():
    channel = hadamard(Goal((0.2,) * 5), Decimal(1))
    assert channel.symbols == 16
    table = np.array(channel.table) / ROW_SUM * 8 * (math.e + 1)
    below, above = table[0::2], table[1::2]
    assert np.minimum(below, above) == pytest.approx(np.ones((5, 16)))
    assert np.maximum(below, above) == pytest.approx(np.full((5, 16), math.e))


@pytest.mark.parametrize("goal", [Goal((0.1,) * 10, shares_known=False), Goal((0.125,) * 8, abstain=True)])
def test_everything_can_be_told_where_shares_are_estimated_or_people_abstain(goal: Goal):
    channel = hadamard(goal, Decimal("0.5"))
    assert math.isfinite(goal.privacy_variance(channel))
    assert goal.privacy_variance(channel) < goal.privacy_variance(randomized_response(goal, Decimal("0.5")))


def test_the_gain_at_small_epsilon_grows_with_the_number_of_groups():
    gains = []
    for d in (4, 8, 16):
        goal = Goal((1 / d,) * d, target="means")
        simple, better = (design(goal, Decimal("0.1")) for design in (randomized_response, hadamard))
        gains.append(goal.privacy_variance(simple) / goal.privacy_variance(better))
    assert gains[0] > 3
    assert gains[2] > 1.5 * gains[1] > 2 * gains[0]
