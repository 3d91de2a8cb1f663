"""One table for two questions: private by its integers, unbiased for both, and as good as theory says."""

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.channel import Channel
from fairgauge.designs.together import TogetherProblem, sign_pairs
from fairgauge.goals.goal import Goal

EVEN = (0.5, 0.5)


def totals(channel: Channel, shares: tuple[float, float], expect: float) -> list[float]:
    goal = Goal(shares, expect=expect, spread=None, design="centred")
    return [replace(goal, axis=axis).variance(channel) for axis in (0, 1)]


@pytest.mark.parametrize("epsilon", ["0.5", "2", "4"])
@pytest.mark.parametrize("shares", [EVEN, (0.1, 0.9)])
def test_it_keeps_epsilon_and_is_unbiased_for_both(epsilon: str, shares: tuple[float, float]):
    channel = TogetherProblem(shares, Decimal(epsilon), (0.8, 0.0)).channel()
    assert channel.within(Decimal(epsilon))
    assert channel.axes == ((-(2**30), 2**30),) * 2
    for axis in (0, 1):
        goal = Goal(shares, expect=0.8, design="centred", axis=axis)
        decoder = goal.decoder(channel)
        score = goal.gap_score(decoder, (0, 1))
        assert score is not None
        constant = goal.gap_constant(decoder)
        rows = np.array(channel.table) / 2**53
        for x, (g, *levels) in enumerate((g, a, b) for g in (0, 1) for a in (-1, 1) for b in (-1, 1)):
            wanted = (1, -1)[g] * (levels[axis] - constant) / shares[g]
            assert rows[x] @ score == pytest.approx(wanted, abs=1e-8)


# The four pairs of signs at 2; randomized response over all eight inputs with the best constant at 4.
@pytest.mark.parametrize(("epsilon", "most"), [("2", 10.58), ("3", 5.50), ("4", 2.725)])
def test_about_a_population_it_beats_a_coin(epsilon: str, most: float):
    both = totals(TogetherProblem(EVEN, Decimal(epsilon), (0.8, 0.8)).channel(), EVEN, 0.8)
    assert max(both) <= 1.002 * most


def test_weights_move_precision_from_one_to_the_other():
    first, second = totals(TogetherProblem(EVEN, Decimal(2), (0.8, 0.8), (0.9, 0.1)).channel(), EVEN, 0.8)
    assert first < 10.4
    assert second > 10.8


@pytest.mark.parametrize(("epsilon", "known"), [("2", 6.58), ("3", 1.85), ("4", 0.62)])
def test_pairs_of_signs_are_what_fixed_binary_values_allow(epsilon: str, known: float):
    channel = sign_pairs(Decimal(epsilon))
    assert (channel.symbols, channel.within(Decimal(epsilon))) == (4, True)
    high = math.exp(float(epsilon))
    assert 4 * ((high + 3) / (high - 1)) ** 2 - 4 == pytest.approx(known, abs=0.005)
    for axis in (0, 1):
        goal = Goal(EVEN, design="uncentred", axis=axis)
        decoder = goal.decoder(channel)
        score = goal.gap_score(decoder, (0, 1))
        assert score is not None
        at_levels = decoder.rows @ score**2 - (decoder.rows @ score) ** 2
        assert at_levels == pytest.approx(np.full(8, 4 * ((high + 3) / (high - 1)) ** 2 - 4))
