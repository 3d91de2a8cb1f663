"""One table for two questions: private by its integers, unbiased for both, and as good as theory says."""

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.channel import Channel
from fairgauge.designs.two_metrics import TwoMetrics, sign_pairs
from fairgauge.targets.assumed_values import AssumedValues, Reckoning
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

EVEN = (0.5, 0.5)
HIGH = Reckoning(0.8, None)
NARROW = Reckoning(0.8, 0.3)


def totals(channel: Channel, aim: Reckoning) -> list[float]:
    scores = Scores(Target(EVEN), AssumedValues(expect=aim.mean, spread=aim.spread, beside=(aim,)), design="centred")
    return [replace(scores, axis=axis).variance(channel) for axis in (0, 1)]


@pytest.mark.parametrize("epsilon", ["0.5", "2", "4"])
@pytest.mark.parametrize("shares", [EVEN, (0.1, 0.9)])
def test_it_keeps_epsilon_and_is_unbiased_for_both(epsilon: str, shares: tuple[float, float]):
    aims = (HIGH, Reckoning(0.0, None))
    channel = TwoMetrics(shares, Decimal(epsilon), aims).channel()
    assert channel.within(Decimal(epsilon))
    assert channel.axes == ((-(2**30), 2**30),) * 2
    for axis in (0, 1):
        scores = Scores(
            Target(shares), AssumedValues(expect=0.8, beside=(aims[1 - axis],)), design="centred", axis=axis
        )
        decoder = scores.decoder(channel)
        score = scores.gap_score(decoder, (0, 1))
        assert score is not None
        constant = scores.gap_constant(decoder)
        rows = np.array(channel.table) / 2**53
        for x, (g, *levels) in enumerate((g, a, b) for g in (0, 1) for a in (-1, 1) for b in (-1, 1)):
            wanted = (1, -1)[g] * (levels[axis] - constant) / shares[g]
            assert rows[x] @ score == pytest.approx(wanted, abs=1e-8)


# The four pairs of signs at 2; where both means are known, 4.76 and 2.72 against 6.58 and 4.12.
@pytest.mark.parametrize(("epsilon", "known"), [("2", 10.58), ("3", 4.763), ("4", 2.720)])
def test_about_a_population_it_is_what_is_known_to_be_possible(epsilon: str, known: float):
    both = totals(TwoMetrics(EVEN, Decimal(epsilon), (HIGH, HIGH), (HIGH, HIGH)).channel(), HIGH)
    assert max(both) <= 1.003 * known


def test_a_spread_that_is_known_is_made_use_of():
    channel = TwoMetrics(EVEN, Decimal(3), (NARROW, NARROW), (NARROW, NARROW)).channel()
    assert [len(levels) for levels in channel.axes] == [3, 3]
    assert channel.within(Decimal(3))
    # A coin that picks one of two tables gives 4.47.
    assert max(totals(channel, NARROW)) < 3.92
    scores = Scores(Target(EVEN), AssumedValues(expect=0.8, beside=(NARROW,)), design="centred", axis=1)
    decoder = scores.decoder(channel)
    score = scores.gap_score(decoder, (0, 1))
    assert score is not None
    levels = np.tile(decoder.inputs.levels, 6)
    signs = np.repeat([2.0, -2.0], 9)
    assert decoder.rows @ score == pytest.approx(signs * (levels - scores.gap_constant(decoder)), abs=1e-8)


def test_weights_move_precision_from_one_to_the_other():
    problem = TwoMetrics(EVEN, Decimal(2), (HIGH, HIGH), (HIGH, HIGH), weights=(0.9, 0.1))
    first, second = totals(problem.channel(), HIGH)
    assert first < 10.4
    assert second > 10.8


@pytest.mark.parametrize(("epsilon", "known"), [("2", 6.58), ("3", 1.85), ("4", 0.62)])
def test_pairs_of_signs_are_what_fixed_binary_values_allow(epsilon: str, known: float):
    channel = sign_pairs(Decimal(epsilon))
    assert (channel.symbols, channel.within(Decimal(epsilon))) == (4, True)
    high = math.exp(float(epsilon))
    assert 4 * ((high + 3) / (high - 1)) ** 2 - 4 == pytest.approx(known, abs=0.005)
    for axis in (0, 1):
        scores = Scores(Target(EVEN), design="uncentred", axis=axis)
        decoder = scores.decoder(channel)
        score = scores.gap_score(decoder, (0, 1))
        assert score is not None
        at_levels = decoder.rows @ score**2 - (decoder.rows @ score) ** 2
        assert at_levels == pytest.approx(np.full(8, 4 * ((high + 3) / (high - 1)) ** 2 - 4))
