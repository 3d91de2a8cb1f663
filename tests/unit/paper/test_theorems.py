"""Claimed and exact privacy, against brute force."""

from itertools import product
from math import exp, inf, log

import numpy as np
import pytest
from scipy.optimize import brentq

from fairgauge.paper.mechanisms import (
    LaplaceMechanism,
    ResponseMechanism,
    notebook_laplace,
    published_laplace,
    published_response,
    sound_laplace,
    sound_response,
)
from fairgauge.paper.theorems import claimed_epsilon, clipped_loss, delta, exact_loss


def response_table(mechanism: ResponseMechanism, values: list[float]) -> np.ndarray:
    a, d = mechanism.keep, mechanism.groups
    b = 1 / (1 + exp(-mechanism.value_epsilon))
    return np.array(
        [
            [a * (1 + (2 * b - 1) * s * v) / 2 if g == h else (1 - a) / (d - 1) / 2 for h in range(d) for s in (1, -1)]
            for g in range(d)
            for v in values
        ]
    )


@pytest.mark.parametrize(("e1", "e2", "groups"), list(product((0.05, 1.0, 3.0), (0.1, 1.0, 4.0), (2, 3, 5))))
def test_response_loss_is_that_of_the_whole_table(e1: float, e2: float, groups: int):
    mechanism = ResponseMechanism(e1, e2, groups)
    table = response_table(mechanism, list(np.linspace(-1, 1, 21)))
    assert table.sum(axis=1) == pytest.approx(1)
    brute = np.log(table.max(axis=0) / table.min(axis=0)).max()
    found = exact_loss(mechanism)
    assert found.epsilon == pytest.approx(brute, rel=1e-12)
    assert found.epsilon == pytest.approx(max(e2, e1 + log(2 * exp(e2) / (1 + exp(e2)))), rel=1e-12)


def test_the_worst_pair_and_output_show_the_loss():
    mechanism = published_response(1.0)
    found = exact_loss(mechanism)
    table = response_table(mechanism, [1.0, -1.0])
    column = 2 * found.output[0] + (found.output[1] < 0)
    rows = [2 * g + (v < 0) for g, v in (found.first, found.second)]
    assert log(table[rows[0], column] / table[rows[1], column]) == pytest.approx(found.epsilon)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0, 10.0])
def test_published_allocations_claim_what_they_say_and_sound_ones_keep_it(epsilon: float):
    assert claimed_epsilon(published_response(epsilon)) == pytest.approx(epsilon)
    assert claimed_epsilon(published_laplace(epsilon)) == pytest.approx(epsilon)
    assert exact_loss(published_response(epsilon)).epsilon > epsilon * 1.05
    for sound in (sound_response(epsilon), sound_response(epsilon, groups=4), sound_laplace(epsilon)):
        assert exact_loss(sound).epsilon == pytest.approx(epsilon)


def log_ratio(mechanism: LaplaceMechanism, report: float, v: float) -> float:
    """The log ratio of a kept client with value v to a changed one."""
    kept, changed = mechanism.kept_scale, mechanism.changed_scale
    return mechanism.group_epsilon + log(changed / kept) + abs(report) / changed - abs(report - v) / kept


def test_laplace_loss_with_k_2_is_that_of_a_fine_grid():
    for e1, e2 in ((0.5, 1.0), (1.0, 0.5), (0.1, 3.0)):
        mechanism = LaplaceMechanism(e1, e2)
        group = max(abs(log_ratio(mechanism, y, v)) for y in np.linspace(-9, 9, 181) for v in (-1.0, 0.0, 1.0))
        assert exact_loss(mechanism).epsilon == pytest.approx(max(e2, group))


@pytest.mark.parametrize(
    "mechanism", [published_laplace(0.01), published_laplace(1.0), LaplaceMechanism(0.5, 1.0, k=1.9)]
)
def test_a_small_k_has_no_finite_loss(mechanism: LaplaceMechanism):
    found = exact_loss(mechanism)
    assert found.epsilon == inf
    assert found.output == (0, inf)
    assert log_ratio(mechanism, 1e6, found.first[1]) > 1000


@pytest.mark.parametrize("mechanism", [published_laplace(5.0), notebook_laplace(1.0)])
def test_nor_has_a_large_one(mechanism: LaplaceMechanism):
    found = exact_loss(mechanism)
    assert found.epsilon == inf
    assert (found.first[0], found.second[0], found.output[0]) == (1, 0, 0)
    assert log_ratio(mechanism, 1e6, 1.0) < -1000


def brute_delta(mechanism: LaplaceMechanism, epsilon: float) -> float:
    y = np.linspace(-80, 80, 800_001)

    def density(centre: float, scale: float) -> np.ndarray:
        return np.exp(-np.abs(y - centre) / scale) / (2 * scale)

    def divergence(v: float, w: float) -> float:
        kept = [mechanism.keep * density(x, mechanism.kept_scale) for x in (v, w)]
        changed = mechanism.switch * density(0.0, mechanism.changed_scale)
        over = np.maximum(0, kept[0] - exp(epsilon) * changed) + np.maximum(0, changed - exp(epsilon) * kept[1])
        return float(np.trapezoid(over, y))

    one, other = (mechanism.keep * density(x, mechanism.kept_scale) for x in (1.0, -1.0))
    same_group = float(np.trapezoid(np.maximum(0, one - exp(epsilon) * other), y))
    return max(same_group, *(divergence(v, w) for v in (-1, 0, 0.5, 1) for w in (-1, 0, 0.5, 1)))


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [(published_laplace(1.0), 0.7), (LaplaceMechanism(0.6, 2.0, k=2.0), 1.0), (notebook_laplace(1.0), 2.0)],
)
def test_delta_is_the_integral(mechanism: LaplaceMechanism, epsilon: float):
    assert delta(mechanism, epsilon) == pytest.approx(brute_delta(mechanism, epsilon), abs=1e-6)


def test_a_private_mechanism_needs_no_delta():
    assert delta(sound_laplace(0.5), 0.5) == pytest.approx(0, abs=1e-15)
    assert delta(sound_laplace(0.5), 0.45) > 1e-3


@pytest.mark.parametrize(
    ("claimed", "at_claim", "needed"), [(0.01, 0.496, 26.2), (0.1, 0.459, 26.2), (1.0, 0.189, 13.2)]
)
def test_deltas_of_the_published_allocation(claimed: float, at_claim: float, needed: float):
    mechanism = published_laplace(claimed)
    assert round(delta(mechanism, claimed), 3) == at_claim
    assert round(brentq(lambda e: log(delta(mechanism, e) / 1e-6), claimed, 40), 1) == needed


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 0.6])
def test_clipping_leaves_the_logarithm_of_2_over_k(epsilon: float):
    assert clipped_loss(published_laplace(epsilon)) == pytest.approx(epsilon + log(3))
