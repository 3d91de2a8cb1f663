"""Fixed clients: moments between levels by brute force, and fewer clients than Berry and Esseen's bound."""

import math
from typing import Any

import numpy as np
import pytest

from fairgauge.paper.fixed import _fourth, _third, central_moments, fixed
from fairgauge.paper.prawitz import Moments, distances
from fairgauge.paper.spread import Spread
from fairgauge.paper.widths import finite
from fairgauge.targets.decoder import Decoder
from fairgauge.targets.inputs import Vector
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.surveys import coin_channel, designed


def spread_of(epsilon: str, share: float) -> Spread:
    scores = Scores(Target((share, 1 - share)))
    decoder = scores.decoder(designed(scores, epsilon, design="uncentred").channel)
    score = decoder.score(scores.target.gap_functional(decoder.inputs, (0, 1)))
    assert score is not None
    return Spread(decoder, score, scores.target.share_vector)


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_moments_bound_every_value_between_levels_and_not_by_far(share: float):
    spread = spread_of("2", share)
    third, fourth, single = central_moments(spread)
    worst = np.zeros((2, 3))
    for group, block in enumerate(spread.decoder.inputs.blocks):
        rows = spread.decoder.rows[block]
        for part in np.linspace(0, 1, 41):
            for law in (1 - part) * rows[:-1] + part * rows[1:]:
                centred = spread.score - law @ spread.score
                found = [abs(law @ centred**3), law @ centred**4, law @ centred**2]
                worst[group] = np.maximum(worst[group], found)
    exact = spread.shares @ worst if spread.shares is not None else worst.max(axis=0)
    assert exact[0] * (1 - 1e-9) <= third <= 1.05 * exact[0]
    assert exact[1] * (1 - 1e-9) <= fourth <= 1.05 * exact[1]
    assert worst[:, 2].max() <= single <= 1.05 * worst[:, 2].max()


@pytest.mark.parametrize(("epsilon", "answers", "most"), [("1", 1000, 0.85), ("2", 10_000, 0.75), ("4", 100_000, 0.7)])
def test_it_needs_fewer_clients_than_finite(epsilon: str, answers: int, most: float):
    """A width falls with the root of the number of clients, so its square is how many are needed."""
    spread = spread_of(epsilon, 0.5)
    assert (max(fixed(spread, answers, 0.01)) / max(finite(spread, answers, 0.01))) ** 2 < most


@pytest.mark.parametrize(
    ("bernstein", "central"),
    [
        (_third, lambda f, m2, m3, _: m3 - 3 * f * m2 + 2 * f**3),
        (_fourth, lambda f, m2, m3, m4: m4 - 4 * f * m3 + 6 * f**2 * m2 - 3 * f**4),
    ],
)
def test_central_moments_between_two_points_are_their_polynomials(bernstein: Any, central: Any):
    a, b = np.random.default_rng(3).normal(size=(2, 4, 5))
    coefficients = bernstein(a, b)
    degree = len(coefficients) - 1
    for t in (0.0, 0.3, 0.8, 1.0):
        basis = [math.comb(degree, k) * t**k * (1 - t) ** (degree - k) for k in range(degree + 1)]
        assert np.tensordot(basis, coefficients, 1) == pytest.approx(
            central(*((1 - t) * a + t * b)), rel=1e-9, abs=1e-12
        )


def test_the_fourth_moment_covers_the_normal_factor_of_a_client_too(monkeypatch: pytest.MonkeyPatch):
    """For a coin exactly: exp(-x) <= 1 - x + x^2 / 2 with x = v t^2 / 2, and M_4 = v^2."""
    decoder = Decoder.even(coin_channel(), np.array([0.5, 0.5]))
    spread, known = Spread(decoder, np.array([-4.0, 4.0]), None), []

    def kept(answers: float, times: Vector, bound: Vector, moments: Moments) -> Vector:
        known.append(moments)
        return distances(answers, times, bound, moments)

    monkeypatch.setattr("fairgauge.paper.fixed.distances", kept)
    fixed(spread, 1000, 0.05)
    fourth, variance = known[0].fourth[0], spread.variance
    for time in np.linspace(0.01, 0.3, 9):
        x = variance * time**2 / 2
        assert np.exp(-x) <= 1 - x + fourth * time**4 / 24
