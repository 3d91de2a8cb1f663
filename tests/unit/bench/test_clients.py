"""The peers' variances, against other ways of knowing them."""

from collections.abc import Callable
from math import exp

import numpy as np
import pytest

from bench import clients
from bench.clients import Values
from fairgauge.paper.mechanisms import sound_laplace, sound_response

EPSILONS = pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])


@EPSILONS
def test_one_bit_and_laplace_are_the_sound_mechanisms_of_the_paper(epsilon: float):
    assert clients.bernoulli(epsilon) == pytest.approx(sound_response(epsilon).gap_variance(), rel=1e-9)
    assert clients.laplace(epsilon) == pytest.approx(sound_laplace(epsilon).gap_variance(), rel=1e-9)


@EPSILONS
def test_a_grid_of_one_step_is_one_bit(epsilon: float):
    assert clients.nprr(epsilon, steps=1) == pytest.approx(clients.bernoulli(epsilon), rel=1e-9)


def test_finer_grids_are_worth_it_only_where_epsilon_is_large():
    assert clients.nprr(0.5) > clients.bernoulli(0.5)
    assert clients.nprr(6.0) < clients.bernoulli(6.0)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("value", [0.0, 0.4, 1.0])
def test_the_piecewise_noise_has_the_variance_of_its_density(
    epsilon: float, value: float, monkeypatch: pytest.MonkeyPatch
):
    """The density is e^ε/2 times higher within a window about the value than elsewhere in [-C, C]."""
    half = exp(epsilon / 2)
    widest = (half + 1) / (half - 1)
    left = (widest + 1) / 2 * value - (widest - 1) / 2
    right = left + widest - 1
    high = (exp(epsilon) - half) / (2 * half + 2)
    middles = np.linspace(-widest, widest, 400_001)
    density = np.where((middles >= left) & (middles <= right), high, high / exp(epsilon))
    density /= density.sum()
    mean = density @ middles
    seen: list[float] = []

    def keep(_: float, noise: Callable[[Values], Values]) -> float:
        seen.append(float(noise(np.array([value]))[0]))
        return 0.0

    monkeypatch.setattr(clients, "gap_variance", keep)
    clients.piecewise(epsilon / (1 - 0.156 * np.log(2) - 0.148))
    assert mean == pytest.approx(value, abs=1e-3)
    assert seen == [pytest.approx(density @ (middles - mean) ** 2, rel=1e-3)]
