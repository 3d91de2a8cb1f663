"""Simulated gaps of the published mechanisms against their exact laws, whole distributions and not their moments alone.

With equal groups a client adds to the difference of the two groups' sums: +1 or -1 under M_R, and under M_L the value
plus noise, or noise alone if the group changed.  So the law of an estimated gap is a convolution (M_R) or has a
characteristic function that is a product (M_L), and both are computed here without the code under test.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from fairgauge.paper.mechanisms import LaplaceMechanism, Published, ResponseMechanism
from fairgauge.paper.runs import RunClients, estimated_gaps
from tests.statistical.exact import FALSE_POSITIVE_RATE, p_value

Floats = NDArray[np.float64]
Path = Callable[[Published, RunClients, np.random.Generator], Floats]
RUNS = 20_000
SEED = 20261115
VALUES = {
    10: (np.linspace(-1, 1, 10), np.linspace(-0.4, 0.9, 10)),
    25: (np.linspace(-1, 1, 25), np.linspace(0.2, 1, 25)),
}
RESPONSES = [ResponseMechanism(e1, e2) for e1 in (0.2, 1.0) for e2 in (0.5, 2.0)]
LAPLACES = [LaplaceMechanism(e1, e2, k=k) for e1 in (0.2, 1.0) for e2 in (0.5, 2.0) for k in (2 / 3, 2.0)]


def in_one_draw(mechanism: Published, clients: RunClients, rng: np.random.Generator) -> Floats:
    return estimated_gaps(mechanism, clients, rng)


def client_by_client(mechanism: Published, clients: RunClients, rng: np.random.Generator) -> Floats:
    size = len(clients.values[0])
    groups = np.tile(np.repeat([0, 1], size), clients.runs)
    values = np.tile(np.concatenate(clients.values), clients.runs)
    reported, reports = mechanism.randomise(groups, values, rng)
    signed = np.where(reported == 0, reports, -reports).reshape(clients.runs, -1).sum(axis=1)
    return np.asarray(signed / (mechanism.attenuation * size), dtype=np.float64)


def clients_of(size: int) -> RunClients:
    return RunClients.fixed(VALUES[size], size, RUNS)


def response_law(e1: float, e2: float, size: int) -> tuple[Floats, Floats]:
    """Return the possible differences of the sums of v', and their probabilities."""
    a, q = 1 / (1 + np.exp(-e1)), np.tanh(e2 / 2)
    law = np.ones(1)
    for sign, values in zip((1, -1), VALUES[size], strict=True):
        for v in values:
            plus = (1 + sign * a * q * v) / 2
            law = np.convolve(law, [1 - plus, plus])
    return np.arange(-2 * size, 2 * size + 1, 2) / (a * q * size), law


def response_test(mechanism: ResponseMechanism, promised: ResponseMechanism, path: Path, size: int) -> float:
    """Return a bound on the probability of so odd counts of the estimates."""
    clients = clients_of(size)
    gaps = path(mechanism, clients, np.random.default_rng(SEED))
    support, law = response_law(promised.group_epsilon, promised.value_epsilon, size)
    places = np.rint((gaps - support[0]) / (support[1] - support[0])).astype(int)
    if not np.allclose(support[np.clip(places, 0, len(law) - 1)], gaps):
        return 0.0
    bins = np.searchsorted(np.cumsum(law), np.linspace(0.1, 0.9, 9))
    of_bin = np.searchsorted(bins, np.arange(len(law)))
    counts = np.bincount(of_bin[places], minlength=10)
    masses = np.bincount(of_bin, law, 10).astype(np.float64)
    return p_value(list(counts), [(RUNS, masses)])


def laplace_masses(mechanism: LaplaceMechanism, edges: Floats, size: int) -> Floats:
    """Return the probability of each interval between edges, by inverting the characteristic function."""
    e1, e2, k = mechanism.group_epsilon, mechanism.value_epsilon, mechanism.k
    a = 1 / (1 + np.exp(-e1))
    # Steps of 0.002 alias at distances of 3,000, where there is no mass; beyond 8 the function is nought.
    t = (np.arange(4000) + 0.5) * 2e-3
    phi = np.ones(len(t), dtype=complex)
    unit = 1 / (a * size)
    for sign, values in zip((1, -1), VALUES[size], strict=True):
        for v in values:
            kept = np.exp(1j * t * sign * v) / (1 + (2 / e2 * t) ** 2)
            phi *= a * kept + (1 - a) / (1 + (k / e2 * t) ** 2)
    below = [0.5 - 2e-3 * float(np.sum(np.imag(np.exp(-1j * t * edge / unit) * phi) / t)) / np.pi for edge in edges]
    return np.diff([0.0, *below, 1.0])


def laplace_test(mechanism: LaplaceMechanism, promised: LaplaceMechanism, path: Path, size: int) -> float:
    clients = clients_of(size)
    gaps = path(mechanism, clients, np.random.default_rng(SEED))
    sd = np.sqrt(sum(promised.variance(size, 2 * size, square=float(np.mean(v**2))) for v in VALUES[size]))
    edges = clients.gaps[0] + sd * np.array([-2.0, -1.2, -0.6, -0.2, 0.2, 0.6, 1.2, 2.0])
    counts = np.bincount(np.searchsorted(edges, gaps), minlength=len(edges) + 1)
    return p_value(list(counts), [(RUNS, laplace_masses(promised, edges, size))])


PATHS = pytest.mark.parametrize("path", [in_one_draw, client_by_client])


@PATHS
@pytest.mark.parametrize("size", VALUES)
@pytest.mark.parametrize("mechanism", RESPONSES)
def test_m_r_follows_its_law(mechanism: ResponseMechanism, size: int, path: Path) -> None:
    assert response_test(mechanism, mechanism, path, size) >= FALSE_POSITIVE_RATE


@PATHS
@pytest.mark.parametrize("size", VALUES)
@pytest.mark.parametrize("mechanism", LAPLACES)
def test_m_l_follows_its_law(mechanism: LaplaceMechanism, size: int, path: Path) -> None:
    assert laplace_test(mechanism, mechanism, path, size) >= FALSE_POSITIVE_RATE


@PATHS
def test_a_little_more_budget_is_noticed(path: Path) -> None:
    promised = RESPONSES[-1]
    assert response_test(replace(promised, group_epsilon=1.3), promised, path, 25) < FALSE_POSITIVE_RATE
    assert response_test(replace(promised, value_epsilon=2.3), promised, path, 25) < FALSE_POSITIVE_RATE


@PATHS
def test_swapped_scales_are_noticed(path: Path) -> None:
    promised = LAPLACES[-2]
    swapped = replace(promised, k=promised.kept_k, kept_k=promised.k)
    assert laplace_test(swapped, promised, path, 25) < FALSE_POSITIVE_RATE


@PATHS
def test_swapped_groups_are_noticed(path: Path) -> None:
    def swapped(mechanism: Published, clients: RunClients, rng: np.random.Generator) -> Floats:
        return path(mechanism, RunClients(clients.values[::-1], clients.counts[::-1]), rng)

    assert response_test(RESPONSES[-1], RESPONSES[-1], swapped, 25) < FALSE_POSITIVE_RATE
    assert laplace_test(LAPLACES[-1], LAPLACES[-1], swapped, 25) < FALSE_POSITIVE_RATE
