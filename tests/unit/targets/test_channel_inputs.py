"""The inputs of a channel: their order, and what is asked about them."""

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT
from fairgauge.targets.channel_inputs import ABSTAINING, Inputs
from tests.samples import sample_channel

PLAIN = Inputs(2, np.array([-1.0, 0.0, 1.0]))
ABSTAIN = Inputs(2, np.array([-1.0, 0.0, 1.0]), abstain=True)


def test_they_are_those_of_the_channel_in_the_order_of_its_rows():
    found = Inputs.of(sample_channel(groups=2, levels=(-LEVEL_UNIT, 0, LEVEL_UNIT), abstain=True))
    assert (found.groups, found.levels.tolist(), found.abstain) == (2, [-1.0, 0.0, 1.0], True)
    assert (PLAIN.count, ABSTAIN.count) == (6, 7)
    assert [list(range(7))[block] for block in ABSTAIN.blocks] == [[0, 1, 2], [3, 4, 5], [6]]
    assert len(PLAIN.blocks) == 2


def test_what_is_asked_of_a_group_is_nothing_for_the_others():
    assert ABSTAIN.sum_of(1).tolist() == [0, 0, 0, -1, 0, 1, 0]
    assert ABSTAIN.share_of(0).tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert ABSTAIN.answered().tolist() == [1, 1, 1, 1, 1, 1, 0]
    assert PLAIN.answered().tolist() == [1] * 6


def test_those_who_abstain_take_their_part_of_the_answers():
    assert PLAIN.weights(np.array([0.3, 0.7])).tolist() == [0.3, 0.7]
    weights = ABSTAIN.weights(np.array([0.3, 0.7]))
    assert weights.sum() == pytest.approx(1)
    assert weights[-1] == ABSTAINING
    assert weights[0] / weights[1] == pytest.approx(3 / 7)


def test_points_are_levels_and_the_middles_between_them():
    points, block_of = ABSTAIN.points()
    assert block_of.tolist() == [0] * 5 + [1] * 5 + [2]
    assert points.sum(axis=1) == pytest.approx(np.ones(11))
    assert (points @ ABSTAIN.sum_of(0))[:5].tolist() == [-1, 0, 1, -0.5, 0.5]
