"""Pricing against trying every pattern."""

from itertools import product

import numpy as np
import pytest

from fairgauge.designs.pricing import _FARTHEST, Columns, Price, Pricing
from fairgauge.goals.inputs import Matrix

INPUTS, HIGH = 6, np.exp(1.0)
FIRST = Columns(np.ones((2, INPUTS)), np.array([[1.0, 2.0], [-1.0, 0.5]]))
COMBINATIONS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])


def prices(seed: int) -> Price:
    rng = np.random.default_rng(seed)
    weight = rng.random((3, INPUTS))
    return Price(2.0, rng.normal(0, 1, INPUTS), rng.normal(0, 2, (INPUTS, 2)), weight)


def starts(seed: int = 0) -> Matrix:
    return np.random.default_rng(seed).normal(0, 2, (300, 2))


def cost(price: Price, pattern: Matrix, score: Matrix) -> float:
    """The sum in the module's first line, written out."""
    total = 0.0
    for x in range(INPUTS):
        squares = sum(price.weight[o, x] * (a @ score) ** 2 for o, a in enumerate(COMBINATIONS))
        total += pattern[x] * (-price.base[x] - price.slope[x] @ score + squares)
    return total


def test_costs_are_the_sum():
    pricing, price = Pricing(COMBINATIONS, 1.0, FIRST), prices(0)
    columns = Columns(np.where(np.random.default_rng(1).random((5, INPUTS)) < 0.5, HIGH, 1.0), starts()[:5])
    assert pricing.costs(price, columns) == pytest.approx([cost(price, *c) for c in zip(*columns, strict=True)])


@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_the_best_of_all_patterns(seed: int):
    pricing, price = Pricing(COMBINATIONS, 1.0, FIRST), prices(seed)
    best = np.inf
    for pattern in product([1.0, HIGH], repeat=INPUTS):
        z = np.array(pattern)
        curve = np.einsum("o,oi,oj->ij", price.weight @ z, COMBINATIONS, COMBINATIONS)
        score = np.linalg.solve(curve, z @ price.slope / 2)
        best = min(best, cost(price, z, score))
    found = pricing.search(price, starts())
    assert set(np.unique(found.patterns)) <= {1.0, HIGH}
    assert pricing.costs(price, found).min() == pytest.approx(best, rel=1e-9)


def test_the_search_never_makes_a_score_worse():
    """Also where duals ignore a direction, so that scores would run away."""
    pricing, price = Pricing(COMBINATIONS, 1.0, FIRST), prices(2)
    price = price._replace(weight=price.weight * np.array([[1.0], [0.0], [0.0]]))
    for begin in np.clip(starts(), -pricing.farthest, pricing.farthest)[:, None, :]:
        before = np.where(pricing.gains(price, begin) < 0, HIGH, 1.0)
        found = pricing.search(price, begin)
        assert pricing.costs(price, found).item() <= pricing.costs(price, Columns(before, begin)).item() + 1e-9
        assert (np.abs(found.scores) <= pricing.farthest).all()
    assert np.abs(pricing.search(price, starts()).scores[:, 1]).max() == pytest.approx(2 * _FARTHEST)


def test_ways_that_run_together_are_followed_once():
    found = Pricing(COMBINATIONS, 1.0, FIRST).search(prices(2), np.repeat(starts(), 3, axis=0))
    assert len(found.patterns) < len(starts())


def test_scores_keep_to_what_objectives_see():
    gap_only = np.array([[1.0, -1.0]])
    pricing = Pricing(gap_only, 1.0, FIRST)
    price = prices(0)._replace(weight=np.ones((1, INPUTS)))
    found = pricing.search(price, starts())
    assert found.scores.sum(axis=1) == pytest.approx(0, abs=1e-9)
    assert pricing.costs(price, found).min() < 0


def test_all_pairs_of_five_see_all_but_one_direction():
    """Rounding error must not count as one more."""
    pairs = np.array([np.eye(5)[a] - np.eye(5)[b] for a in range(5) for b in range(a)])
    pairs += 1e-16 * np.random.default_rng(0).standard_normal(pairs.shape)
    first = Columns(np.ones((1, INPUTS)), np.ones((1, 5)))
    assert Pricing(pairs, 1.0, first).seen == pytest.approx(np.eye(5) - 0.2, abs=1e-9)


def test_prices_meet_in_between():
    a, b = prices(0), prices(1)
    assert a.towards(b, 0.25).slope == pytest.approx(0.75 * a.slope + 0.25 * b.slope)
    assert all(np.all(x == y) for x, y in zip(a.towards(b, 1.0), b, strict=True))


def test_columns_join_and_drop():
    both = Columns.joined(FIRST, Columns(2 * np.ones((1, INPUTS)), np.zeros((1, 2))))
    assert both.scores.tolist() == [[1, 2], [-1, 0.5], [0, 0]]
    left = both.but(np.array([1]))
    assert left.patterns[:, 0].tolist() == [1, 2]
    assert left.scores.tolist() == [[1, 2], [0, 0]]
