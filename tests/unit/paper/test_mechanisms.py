"""The published mechanisms: allocations, estimators and closed forms, against independent arithmetic."""

from itertools import product
from math import exp, log

import numpy as np
import pytest

from fairgauge.errors import InvalidInput
from fairgauge.paper.mechanisms import (
    LaplaceMechanism,
    PaperMechanism,
    ResponseMechanism,
    notebook_laplace,
    published_laplace,
    published_response,
    sound_laplace,
    sound_response,
)

GRID = list(product((0.1, 1.0, 3.0), (0.2, 1.0, 4.0)))


@pytest.mark.parametrize(("e1", "e2"), GRID)
@pytest.mark.parametrize(("n", "clients", "square"), [(10, 20, 0.0), (10, 50, 0.3), (700, 1000, 1.0)])
def test_response_variance_is_the_printed_formula(e1: float, e2: float, n: int, clients: int, square: float):
    a, b = exp(e1) / (exp(e1) + 1), exp(e2) / (exp(e2) + 1)
    c = a * (2 * b - 1) ** 2
    expected = (1 - c * square + (clients - n) / n * (1 - a) / a) / (c * n)
    assert ResponseMechanism(e1, e2).variance(n, clients, square=square) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("epsilons", GRID)
@pytest.mark.parametrize("k", [2 / 3, 1.0, 2.0])
@pytest.mark.parametrize(("n", "clients", "square"), [(10, 20, 0.0), (10, 50, 0.3), (700, 1000, 1.0)])
def test_laplace_variance_is_the_printed_formula(
    epsilons: tuple[float, float], k: float, n: int, clients: int, square: float
):
    e1, e2 = epsilons
    x, noise, other = exp(-e1), 8 / e2**2, 2 * k**2 / e2**2
    expected = (square * x + (1 + x) * (noise + (clients - n) / n * other * x)) / n
    assert LaplaceMechanism(e1, e2, k=k).variance(n, clients, square=square) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("groups", [2, 3, 5])
def test_variance_is_that_of_one_client_at_a_time(groups: int):
    """Each report adds to one group's sum; its first two moments follow from the definition for any d."""
    e1, e2 = 0.7, 1.3
    values = np.array([-1.0, -0.2, 0.4, 0.9])
    strangers = 11
    a = exp(e1) / (exp(e1) + groups - 1)
    switch = (1 - a) / (groups - 1)
    q = (exp(e2) - 1) / (exp(e2) + 1)
    own = sum(a - (a * q * v) ** 2 for v in values) + strangers * switch
    expected = own / (a * q * len(values)) ** 2
    found = ResponseMechanism(e1, e2, groups).variance(4, 15, square=float(np.mean(values**2)))
    assert found == pytest.approx(expected, rel=1e-12)
    noise, other = 2 * (2 / e2) ** 2, 2 * (1.5 / e2) ** 2
    own = sum(a * (v**2 + noise) - (a * v) ** 2 for v in values) + strangers * switch * other
    found = LaplaceMechanism(e1, e2, groups, k=1.5).variance(4, 15, square=float(np.mean(values**2)))
    assert found == pytest.approx(own / (a * len(values)) ** 2, rel=1e-12)


def test_the_worst_values_are_the_worst():
    for mechanism in (published_response(1.0), published_laplace(1.0)):
        worst = mechanism.gap_variance()
        assert worst == max(mechanism.gap_variance(square=s) for s in (0.0, 0.5, 1.0))


@pytest.mark.parametrize("groups", [2, 4])
def test_group_probabilities_sum_to_one(groups: int):
    mechanism = ResponseMechanism(0.8, 1.0, groups)
    assert mechanism.keep + (groups - 1) * mechanism.switch == pytest.approx(1, rel=1e-14)


def test_allocations():
    assert published_response(0.3) == ResponseMechanism(0.3, 0.3)
    assert published_laplace(0.5) == LaplaceMechanism(log(3) - 0.25, 0.5, k=2 / 3)
    assert published_laplace(1.5) == LaplaceMechanism(log(2 / 1.5) + 0.5, 1.5, k=1.5)
    assert notebook_laplace(0.5) == LaplaceMechanism(log(3) - 0.25, 0.5, k=2.0, kept_k=2 / 3)
    assert notebook_laplace(5.0).kept_k == 2
    assert sound_laplace(1.0) == LaplaceMechanism(0.5, 1.0)
    assert sound_response(1.0).group_epsilon == pytest.approx(log((exp(1) + 1) / 2))
    assert sound_response(600.0).group_epsilon == pytest.approx(600 - log(2))


def test_sound_response_is_randomized_response_on_pairs():
    for groups in (2, 3):
        mechanism = sound_response(1.2, groups=groups)
        truth = mechanism.keep / (1 + exp(-1.2))
        assert truth == pytest.approx(exp(1.2) / (exp(1.2) + 2 * groups - 1))


@pytest.mark.parametrize("mechanism", [ResponseMechanism(1.0, 2.0, 3), LaplaceMechanism(1.0, 2.0, 3, k=1.0)])
def test_estimates_are_close_for_many_clients(mechanism: PaperMechanism):
    rng = np.random.default_rng(1)
    groups = np.repeat([0, 1, 2], [300_000, 200_000, 100_000])
    values = np.array([0.5, -0.5, 0.9])[groups]
    reports = mechanism.randomise(groups, values, rng)
    means = mechanism.estimate(*reports, [300_000, 200_000, 100_000])
    assert means == pytest.approx([0.5, -0.5, 0.9], abs=0.05)
    assert set(np.unique(reports[0])) == {0, 1, 2}


@pytest.mark.parametrize(
    ("e1", "e2", "groups"), [(-0.1, 1.0, 2), (1.0, -1.0, 2), (1.0, 0.0, 2), (1.0, 1.0, 1), (float("nan"), 1.0, 2)]
)
def test_senseless_parameters_are_refused(e1: float, e2: float, groups: int):
    with pytest.raises(InvalidInput):
        ResponseMechanism(e1, e2, groups)
