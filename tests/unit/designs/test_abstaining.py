"""Many groups of known shares whose members may abstain."""

from decimal import Decimal

import numpy as np

from fairgauge.designs.abstaining import many_abstaining
from fairgauge.designs.hadamard import hadamard
from fairgauge.designs.uncentred import uncentred
from fairgauge.goals.decoder import UNBIASED
from fairgauge.goals.goal import Goal

GOAL = Goal((0.125,) * 8, abstain=True, design="uncentred")


def test_gaps_take_half_the_clients_of_questions_from_a_hadamard_matrix():
    channel = many_abstaining(GOAL, Decimal(1))
    assert channel.within(Decimal(1))
    assert channel.symbols <= GOAL.symbols
    assert GOAL.variance(channel) < 0.6 * GOAL.variance(hadamard(GOAL, Decimal(1)))
    assert uncentred(GOAL, Decimal(1)) == channel


def test_who_abstains_counts_for_no_group_and_is_counted():
    decoder = GOAL.decoder(many_abstaining(GOAL, Decimal(1)))
    for functional in (GOAL.mean_functional(decoder.inputs, 3, 0.0), decoder.inputs.answered()):
        score = decoder.score(functional)
        assert score is not None
        assert np.abs(decoder.rows @ score - functional).max() <= UNBIASED * np.abs(functional).max()
    assert decoder.inputs.answered()[-1] == 0
