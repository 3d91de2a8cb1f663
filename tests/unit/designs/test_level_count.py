"""How many levels are enough."""

from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT
from fairgauge.designs.classical_designs import _best_split, laplace
from fairgauge.designs.level_count import _squared_slope, even_levels, levels_needed, next_count
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

EVEN = Scores(Target((0.5, 0.5)))


@pytest.mark.parametrize("count", [2, 3, 7, 65])
def test_levels_are_whole_in_the_unit_of_the_document(count: int):
    levels = even_levels(count)
    assert (levels[0], levels[-1], len(levels)) == (-1, 1, count)
    assert (levels * LEVEL_UNIT == np.round(levels * LEVEL_UNIT)).all()
    assert np.diff(levels) == pytest.approx(2 / (count - 1), abs=2 / LEVEL_UNIT)
    assert levels == pytest.approx(-levels[::-1], abs=0)


def test_the_slope_of_a_gap():
    """The gap's functional rises by 1/share per unit of value, for the clients of that share."""
    assert _squared_slope(EVEN) == pytest.approx(0.5 * 4 + 0.5 * 4)
    assert _squared_slope(Scores(Target((0.1, 0.9)))) == pytest.approx(1 / 0.1 + 1 / 0.9)
    assert _squared_slope(Scores(Target((0.1, 0.9), kind="means"))) == pytest.approx(1 / 0.1)
    assert _squared_slope(Scores(Target((0.1, 0.3, 0.6)))) == pytest.approx(1 / 0.1 + 1 / 0.3)
    assert _squared_slope(Scores(Target((0.5, 0.5), abstain=True), AssumedValues(expect=0.0))) == pytest.approx(4 / 0.9)


@pytest.mark.parametrize("variance", [0.02, 0.5, 3.0, 17.0, 60.0, 1600.0])
def test_enough_levels_keep_rounding_under_one_percent(variance: float):
    count = levels_needed(EVEN, variance, 3)
    assert count % 2 == 1
    assert 4 * (2 / (count - 1)) ** 2 / 8 <= 0.01 * max(variance, 4 / 8 / 2)
    assert levels_needed(EVEN, variance, count) <= count


def test_less_noise_needs_more_levels():
    counts = [levels_needed(EVEN, variance, 3) for variance in (100.0, 10.0, 1.0)]
    assert counts == sorted(set(counts))
    assert counts[0] == 3


@pytest.mark.parametrize("epsilon", ["0.5", "2", "4"])
def test_a_design_with_twice_the_levels_gains_less_than_one_percent(epsilon: str):
    channel = laplace(EVEN, Decimal(epsilon))
    finer = _best_split(EVEN, Decimal(epsilon), 2 * len(channel.levels) - 1)
    assert EVEN.privacy_variance(channel) <= 1.01 * EVEN.privacy_variance(finer)


@pytest.mark.parametrize("needed", [5, 7, 9, 13, 49, 77, 99])
def test_the_way_to_the_levels_needed_ends_with_doublings(needed: int):
    way = [3]
    while way[-1] < needed:
        way.append(next_count(way[-1], needed))
    assert way[-1] in (needed, needed + 2)
    assert all(count % 2 == 1 for count in way)
    assert all(before < after <= 2 * before - 1 for before, after in pairwise(way))
    assert all(after in (2 * before - 1, 2 * before - 3) for before, after in pairwise(way[1:]))
