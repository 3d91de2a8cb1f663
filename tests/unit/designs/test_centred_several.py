"""Centred designs for three and more groups."""

from decimal import Decimal

import numpy as np
import pytest

from fairgauge.designs import make_channel
from fairgauge.goals.goal import Goal

SHARES = (0.45, 0.45, 0.1)


@pytest.mark.parametrize("expect", [None, 0.8])
def test_no_gap_has_a_larger_total_than_with_randomized_response(expect: float | None):
    goal = Goal(SHARES, expect=expect)
    channel = make_channel(goal, Decimal(2), design="centred")[1]
    simple = make_channel(goal, Decimal(2), design="randomized-response")[1]
    found, beside = goal.by("centred").totals(channel), goal.by("randomized-response").totals(simple)
    assert np.all(np.array(found) <= np.array(beside) * (1 + 1e-9))
    assert found[0] < 0.75 * beside[0]


def test_of_five_groups_that_differ_every_gap_gains_at_a_large_epsilon():
    goal = Goal((0.3, 0.25, 0.2, 0.15, 0.1))
    found = goal.by("centred").totals(make_channel(goal, Decimal(3), design="centred")[1])
    simple = make_channel(goal, Decimal(3), design="randomized-response")[1]
    assert np.all(np.array(found) < 0.96 * np.array(goal.by("randomized-response").totals(simple)))


def test_all_gaps_have_one_constant_and_add_up():
    goal = Goal(SHARES, expect=0.8, design="centred")
    channel = make_channel(goal, Decimal(4), design="centred")[1]
    decoder = goal.decoder(channel)
    c = goal.gap_constant(decoder)
    assert 0.2 < c < 1
    scores = {pair: goal.gap_score(decoder, pair) for pair in goal.pairs}
    m = len(decoder.inputs.levels)
    for (a, b), score in scores.items():
        assert score is not None
        means = (decoder.rows @ score).reshape(3, m)
        for group, sign in ((a, 1), (b, -1)):
            assert means[group] == pytest.approx(sign * (decoder.inputs.levels - c) / SHARES[group], abs=1e-8)
    first, second, third = (scores[pair] for pair in ((0, 1), (1, 2), (0, 2)))
    assert first is not None
    assert second is not None
    assert third is not None
    assert first + second == pytest.approx(third, abs=1e-7 * np.abs(third).max())
