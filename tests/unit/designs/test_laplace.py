"""Laplace noise on a lattice, against the formulas for its law."""

import math
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.designs.laplace import _noise, _rows, laplace
from fairgauge.designs.levels import even_levels
from fairgauge.designs.randomized_response import randomized_response
from fairgauge.designs.rounding import exact_channel
from fairgauge.goals.goal import Goal
from fairgauge.goals.inputs import Inputs


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("half", [1, 3, 10])
def test_noise_is_unbiased_with_the_variance_of_the_formula(half: int, epsilon: float):
    """With end scores ±(1 + α/((1-α)N)) for α = e^(-ε/2N); the formula is worked out beside, not from this table."""
    law = _noise(2 * half + 1, epsilon)
    ratio = math.exp(-epsilon / (2 * half))
    end = 1 + ratio / ((1 - ratio) * half)
    score = np.array([-end, *(np.arange(1 - half, half) / half), end])
    steps = np.arange(-half, half + 1)
    assert law.sum(axis=1) == pytest.approx(np.ones(len(law)))
    assert law @ score == pytest.approx(steps / half, abs=1e-12)
    tails = (ratio ** (half - steps) + ratio ** (half + steps)) / (1 + ratio)
    expected = (2 - tails) * ratio / ((1 - ratio) ** 2 * half**2)
    assert law @ score**2 - (law @ score) ** 2 == pytest.approx(expected)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_noise_costs_its_budget_over_the_whole_range_and_half_from_the_middle(epsilon: float):
    law = _noise(7, epsilon)
    assert np.log(law.max(axis=0) / law.min(axis=0)).max() == pytest.approx(epsilon)
    assert np.abs(np.log(law / law[3])).max() == pytest.approx(epsilon / 2)


@pytest.mark.parametrize(("group", "value"), [(0.5, 1.0), (0.9, 0.2), (0.1, 1.5)])
@pytest.mark.parametrize("abstain", [False, True])
@pytest.mark.parametrize("d", [2, 4])
def test_the_loss_is_that_of_the_sound_theorem(d: int, group: float, value: float, abstain: bool):
    rows = _rows(Inputs(d, even_levels(5), abstain), group, value)
    assert rows.sum(axis=1) == pytest.approx(np.ones(len(rows)))
    loss = np.log(rows.max(axis=0) / rows.min(axis=0)).max()
    assert loss == pytest.approx(max(value, group + value / 2))


def test_it_is_better_than_as_published():
    """85.02 is the paper's figure for two equal groups at epsilon 1, with the tails kept and an even split."""
    goal = Goal((0.5, 0.5))
    assert 44.30 < goal.privacy_variance(laplace(goal, Decimal(1))) < 85.02


def test_it_overtakes_randomized_response_where_values_can_be_told_well():
    goal = Goal((0.5, 0.5))
    channel = laplace(goal, Decimal(4))
    assert goal.privacy_variance(channel) < 0.6 * goal.privacy_variance(randomized_response(goal, Decimal(4)))


@pytest.mark.parametrize(
    "goal",
    [
        Goal((0.2, 0.3, 0.5), target="means"),
        Goal((0.2, 0.8), shares_known=False),
        Goal((0.01, 0.99), abstain=True),
        Goal((1 / 6,) * 6),
    ],
)
def test_it_serves_every_goal(goal: Goal):
    channel = laplace(goal, Decimal("1.5"))
    assert math.isfinite(goal.privacy_variance(channel))
    assert channel.symbols == goal.groups * len(channel.levels) + goal.abstain


def test_the_split_of_the_budget_is_the_best_one():
    goal = Goal((0.3, 0.7))
    channel = laplace(goal, Decimal(2))
    inputs = Inputs.of(channel)
    for part in np.linspace(0.3, 1, 15):
        other = exact_channel(_rows(inputs, 2 - part, 2 * part), inputs, Decimal(2))
        assert goal.privacy_variance(channel) <= goal.privacy_variance(other) * (1 + 1e-4)
