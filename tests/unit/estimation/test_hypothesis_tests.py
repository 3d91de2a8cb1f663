"""What follows from a hypothesis, against a solver and against random populations."""

from typing import Any

import numpy as np
import pytest

from fairgauge.estimation.draws import Draws
from fairgauge.estimation.hypothesis_tests import Hypothesis, NormalGapTest, extent, least_margin
from fairgauge.estimation.populations import Laws
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.surveys import designed
from tests.unit.estimation.test_populations import solved

SCORES = Scores(Target((0.3, 0.7)))
DECODER = SCORES.decoder(designed(SCORES, "2", design="uncentred").channel)
LAWS = Laws(DECODER, SCORES.target.share_vector)


def score() -> np.ndarray:
    found = DECODER.score(SCORES.target.gap_functional(DECODER.inputs, (0, 1)))
    assert found is not None
    return found


@pytest.mark.parametrize("gap", [-0.5, 0.0, 0.2])
def test_the_range_of_the_variance_is_a_solvers(gap: float):
    asked = Hypothesis(LAWS, score() - gap)
    second = DECODER.rows @ asked.score**2
    exact = -solved(LAWS, -second, asked.mean), solved(LAWS, second, asked.mean)
    least, most = asked.variance
    assert least <= exact[0] * (1 + 1e-9)
    assert most >= exact[1] * (1 - 1e-9)
    assert (least, most) == pytest.approx(exact, rel=1e-3)


def test_moments_in_cells_bound_those_of_every_population():
    asked = Hypothesis(LAWS, score() - 0.1)
    cells = asked.moments(*asked.variance, ratio=1.05)
    rng, seen = np.random.default_rng(6), 0
    half = len(DECODER.inputs.levels)
    for _ in range(4000):
        q = np.concatenate([share * rng.dirichlet(np.full(half, 0.2)) for share in SCORES.target.shares])
        # Move it along a direction between two populations until the score averages to zero.
        other = np.concatenate([share * rng.dirichlet(np.full(half, 0.2)) for share in SCORES.target.shares])
        a, b = q @ asked.mean, other @ asked.mean
        if a * b >= 0:
            continue
        law = ((b * q - a * other) / (b - a)) @ DECODER.rows
        variance, third, fourth = (float(law @ asked.score**power) for power in (2, 3, 4))
        cell = int(np.clip(np.searchsorted(cells.most, variance), 0, len(cells.most) - 1))
        assert cells.third[0][cell] - 1e-9 <= third <= cells.third[1][cell] + 1e-9
        assert fourth <= cells.fourth[cell] * (1 + 1e-9)
        seen += 1
    assert seen > 500


def test_the_extent_of_a_gap_and_of_a_mean():
    assert extent(LAWS, score(), np.ones(len(score()))) == pytest.approx((-2, 2), abs=1e-6)
    assert Hypothesis(LAWS, score() - 2.0).possible
    assert not Hypothesis(LAWS, score() - 2.01).possible


def test_draws_among_the_counts_are_no_answers():
    laws: dict[str, Any] = {"laws": LAWS, "score": None, "alpha": 0.1, "share": (0.2, 0.4)}
    test = NormalGapTest(parts=np.array([[40.0, 60.0], [10.0, 20.0]]), draws=Draws(30, np.array([0.5, 0.5])), **laws)
    assert test.answers == 100.0
    assert NormalGapTest(parts=np.array([[40.0, 60.0]]), **laws).answers == 100.0


def test_between_margins_the_bend_on_either_side_counts():
    assert least_margin(np.array([4.0, 1.0, 1.0, 1.0, 9.0])) == 0.0
    assert least_margin(np.array([3.0, 1.0, 2.0, 20.0])) == 1 - 17 / 8 == least_margin(np.array([20.0, 2.0, 1.0, 3.0]))
    assert least_margin(np.array([2.0, 3.0, 4.0, 5.0, 6.0])) == 2.0
