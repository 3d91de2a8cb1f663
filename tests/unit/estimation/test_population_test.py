"""Intervals about the population: reference widths, exact probabilities for a coin, and what is decided beforehand.

Covers: fairgauge.estimation.confidence_set, fairgauge.estimation.hypothesis_tests.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom

from fairgauge.estimation import population_test
from fairgauge.estimation.betting import lower_mean, upper_mean
from fairgauge.estimation.confidence_set import inverted
from fairgauge.estimation.draws import Draws
from fairgauge.estimation.edgeworth import Tails
from fairgauge.estimation.population_test import PopulationTest
from fairgauge.estimation.populations import Laws
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.scores import Scores
from fairgauge.targets.symbol_scores import Decoder
from fairgauge.targets.target import Target
from tests.surveys import coin_channel, designed

HALF = np.array([0.5, 0.5])
COIN = Laws(Decoder.even(coin_channel(), HALF), HALF)
SCORE, ONE = np.array([-4.0, 4.0]), np.ones(2)


def coin_test(ones: int, answers: int, alpha: float) -> PopulationTest:
    return PopulationTest(COIN, SCORE, ONE, np.array([answers - ones, ones], dtype=float), alpha)


@pytest.mark.parametrize("gap", [0.0, 0.3, 2.0])
@pytest.mark.parametrize(("answers", "alpha"), [(1, 0.1), (10, 0.1), (60, 0.1), (60, 0.01), (1000, 0.05)])
def test_the_right_value_is_rejected_no_more_often_than_stated(gap: float, answers: int, alpha: float):
    """Each client drawn sends a 1 with probability 1/2 + gap/8: the exact sum over all outcomes."""
    law = binom.pmf(np.arange(answers + 1), answers, 0.5 + gap / 8)
    likely = np.flatnonzero(law > 1e-9)
    missed = sum(law[ones] for ones in likely if coin_test(int(ones), answers, alpha).margin(gap) >= 0)
    assert missed + law[law <= 1e-9].sum() <= alpha


def test_a_test_that_forgets_its_distance_to_the_normal_law_is_caught(monkeypatch: pytest.MonkeyPatch):
    """The mutant twin: with few answers the normal law is wrong, and someone takes it for right, variance and all."""
    monkeypatch.setattr(Tails, "_left", (np.zeros(1), np.zeros((1, 1))))
    monkeypatch.setattr(population_test, "_MEAN", 1.0)
    monkeypatch.setattr(
        population_test, "upper_mean", lambda values, counts, alpha, most: values @ counts / counts.sum()
    )
    law = binom.pmf(np.arange(61), 60, 0.5)
    missed = sum(law[ones] for ones in range(61) if coin_test(ones, 60, 0.01).margin(0.0) >= 0)
    assert missed > 0.01


REFERENCES = [
    # epsilon, values, clients, alpha, width over the normal one: the reference for the channel of `uncentred`
    ("1", "all at 0.8", 1000, 0.05, 1.0511),
    ("1", "all at 0.8", 10_000, 0.05, 1.0304),
    ("1", "ends", 10_000, 0.01, 1.0315),
    ("2", "all at 0.8", 10_000, 0.05, 1.0336),
    ("4", "all at 0.8", 1000, 0.05, 1.0585),
    ("4", "ends", 10_000, 0.01, 1.0213),
    ("4", "ends", 100_000, 0.05, 1.0166),
]


def law_of(decoder: Decoder, values: str) -> Vector:
    levels = decoder.inputs.levels
    held = np.zeros(len(levels))
    if values == "ends":
        held[0], held[-1] = 0.2, 0.8
    else:
        at = int(np.searchsorted(levels, 0.8, side="right")) - 1
        part = (0.8 - levels[at]) / (levels[at + 1] - levels[at])
        held[at], held[at + 1] = 1 - part, part
    law: Vector = np.concatenate([0.5 * held, 0.5 * held]) @ decoder.rows
    return np.asarray(law / law.sum())


@pytest.mark.parametrize(("epsilon", "values", "clients", "alpha", "reference"), REFERENCES)
def test_widths_are_within_five_percent_of_the_reference(
    epsilon: str, values: str, clients: int, alpha: float, reference: float
):
    scores = Scores(Target((0.5, 0.5)))
    question = designed(scores, epsilon, design="uncentred")
    decoder = scores.decoder(question.channel)
    score = decoder.score(scores.target.gap_functional(decoder.inputs, (0, 1)))
    assert score is not None
    law = law_of(decoder, values)
    test = PopulationTest(Laws(decoder, HALF), score, np.ones(len(score)), clients * law, alpha)
    low, high = inverted(test)
    variance = float(law @ score**2)
    normal = -float(ndtri(alpha / 2)) * np.sqrt(variance / clients)
    assert 1 < (high - low) / 2 / normal < 1.05 * reference


def test_which_law_is_relied_on_does_not_depend_on_the_answers():
    for answers in (10, 100, 1000):
        one = {coin_test(ones, answers, 0.05)._parts(0.1) for ones in range(0, answers + 1, answers // 5)}
        assert len(one) == 1
    assert coin_test(5, 10, 0.05)._parts(0.0) == (0.0, 1.0)
    assert coin_test(500, 1000, 0.05)._parts(0.0) == (1.0, 0.0)


def test_the_normal_law_takes_over_where_it_is_as_narrow_as_bets():
    """At 16 answers bets are the narrower ones for a coin, at 24 the normal law is."""
    assert coin_test(8, 16, 0.05)._parts(0.0) == (0.0, 1.0)
    assert coin_test(12, 24, 0.05)._parts(0.0) == (1.0, 0.0)
    widths = []
    for parts in ((0.0, 1.0), (1.0, 0.0)):
        for answers in (12, 40):
            test = coin_test(answers // 2, answers, 0.05)
            test.__dict__["_decided"] = dict.fromkeys(range(-1, 42), parts)
            low, high = inverted(test)
            widths.append(high - low)
    assert widths[2] >= widths[0]
    assert widths[3] < widths[1]


def test_only_what_is_possible_is_accepted():
    test = coin_test(1000, 1000, 0.05)
    assert test.extent == pytest.approx((-2, 2))
    assert test.margin(2.1) > 0
    assert inverted(test)[1] <= 2 + 1e-6


def test_what_is_clearly_far_is_rejected_without_the_tails(monkeypatch: pytest.MonkeyPatch):
    """Deciding how alpha is parted takes long, and what is far is far however it is parted."""
    test = coin_test(500, 1000, 0.05)
    far = [float(value) for value in np.linspace(0.6, 1.9, 5)]
    slow = [test._beyond(test.asked(value), (15.0, 16.0), 0.05) for value in far]
    monkeypatch.setattr(PopulationTest, "_parts", lambda *_: pytest.fail("asked"))
    assert all(test.margin(value) > 0 for value in far)
    assert all(beyond > 0 for beyond in slow)


def test_a_rough_bound_never_rejects_what_is_near():
    test = coin_test(500, 1000, 0.05)
    low, high = inverted(test)
    for value in np.linspace(low, high, 9)[1:-1]:
        assert test._clearly_beyond(test.asked(float(value))) == 0


def test_the_parts_of_alpha_are_no_more_than_alpha():
    """The union bound is the proof: the variance's two bounds and the average, and the normal law beside bets."""
    assert math.fsum([population_test._UPPER, population_test._LOWER, population_test._MEAN]) <= 1 + 1e-12
    scores = Scores(Target((0.5, 0.5)))
    decoder = scores.decoder(designed(scores, "4", design="uncentred").channel)
    score = decoder.score(scores.target.gap_functional(decoder.inputs, (0, 1)))
    assert score is not None
    found = set()
    for answers in (6, 20, 40, 60, 80, 120, 300):
        counts = np.full(len(score), answers / len(score))
        test = PopulationTest(Laws(decoder, HALF), score, np.ones(len(score)), counts, 0.05)
        found |= {test._parts(float(value)) for value in np.linspace(-1.9, 1.9, 9)}
    assert all(sum(parts) <= 1 + 1e-12 for parts in found)
    assert any(0 < normal < 1 for normal, _ in found), "or nobody looked where both are used"


def test_a_value_is_accepted_if_any_cell_of_the_variance_accepts_it():
    scores = Scores(Target((0.5, 0.5)))
    decoder = scores.decoder(designed(scores, "2", design="uncentred").channel)
    score = decoder.score(scores.target.gap_functional(decoder.inputs, (0, 1)))
    assert score is not None
    test = PopulationTest(Laws(decoder, HALF), score, np.ones(len(score)), 20_000 * law_of(decoder, "ends"), 0.05)
    for value in (0.03, 0.05, 0.07):
        asked = test.asked(value)
        least, most = asked.variance
        ranges = ((least, most), (0.99 * most, most), (least, 1.01 * least))
        whole, high, low = (test._beyond(asked, bounds, 0.05) for bounds in ranges)
        assert whole <= high + 1e-9
        assert high + 0.05 < low, "or it does not matter which cell accepts"


def with_draws(ones: int, answers: int, count: int) -> PopulationTest:
    """A coin whose secret draws are ones three times of four, as many as they are on average."""
    counts = np.array([answers - ones + count / 4, ones + 3 * count / 4])
    return PopulationTest(COIN, SCORE, ONE, counts, 0.05, draws=Draws(count, np.array([0.25, 0.75])))


def test_every_part_of_alpha_goes_where_the_page_says(monkeypatch: pytest.MonkeyPatch):
    test, spent = coin_test(520, 1000, 0.05), []

    def spied(bound: Callable[..., float]) -> Callable[..., float]:
        def found(values: Vector, counts: Vector, alpha: float, end: float) -> float:
            spent.append((bound.__name__, alpha))
            return bound(values, counts, alpha, end)

        return found

    monkeypatch.setattr(population_test, "upper_mean", spied(upper_mean))
    monkeypatch.setattr(population_test, "lower_mean", spied(lower_mean))
    bounds = test._variance(test.asked(0.1), 0.05)
    assert dict(spent) == pytest.approx({"upper_mean": 0.04 * 0.05, "lower_mean": 0.02 * 0.05})
    # What a coin varies by is known, whatever the answers are.
    assert bounds == pytest.approx((16 - 0.1**2, 16 - 0.1**2), rel=1e-6)
    # The average has the rest, half on either side.
    assert population_test._deviations(0.94 * 0.05 / 2, 0.05) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("ones", [5, 8])
def test_bets_on_the_average_are_the_ones_that_the_page_states(ones: int):
    test, alpha = coin_test(ones, 10, 0.05), 0.05
    asked = test.asked(0.4)
    variances = np.geomspace(max(asked.variance[0], 1e-6 * asked.variance[1]), asked.variance[1], 5)
    won = []
    for gains in (asked.score, -asked.score):
        stakes = np.minimum(np.sqrt(2 * np.log(2 / alpha) / (10 * variances)), 0.9 / -gains.min())
        won.append(np.prod((1 + np.multiply.outer(stakes, gains)) ** test.counts, axis=1).mean())
    assert test._bet(asked, alpha) == pytest.approx(np.log(max(won)) - np.log(2 / alpha), abs=1e-9)


@pytest.mark.parametrize("count", [0, 40])
def test_the_rough_bound_knows_how_large_a_score_and_a_draw_can_be(count: int):
    """Bernstein's inequality for answers and draws, each of which is less its mean."""
    test = with_draws(530, 1000, count) if count else coin_test(530, 1000, 0.05)
    asked = test.asked(0.0)
    average = float(asked.score @ test.cleaned) / 1000
    mean = 0.5 * 4.0 if count else 0.0
    variance = 15.9 + count / 1000 * 0.75 * 64 / 4
    size = 4 + mean
    expected = math.exp(-1000 * average**2 / (2 * (variance + size * average / 3)))
    assert average > 0
    assert test._roughly(asked, 15.9) == pytest.approx(expected, rel=1e-9)


def test_which_side_of_zero_rounding_falls_on_decides_nothing():
    """Both tails of the estimate's own score are asked differently, and processors round it to either side."""
    for ones in range(5300, 5340):
        test = coin_test(ones, 10_007, 0.05)
        assert test._average(test.asked(test.estimate)) == 0
        assert test._average(test.asked(test.estimate - 1e-9)) > 0 > test._average(test.asked(test.estimate + 1e-9))
