"""The best score of a family, against another optimiser and against what is known."""

import numpy as np
import pytest

from fairgauge.targets.assumed_values import Reckoning, largest_averages
from fairgauge.targets.second_moments import Family, Table, best_score

LEVELS = np.array([-1.0, 0.2, 1.0])
WEIGHTS = np.array([0.3, 0.7])


def table(symbols: int, seed: int = 5) -> Table:
    rng = np.random.default_rng(seed)
    rows = rng.uniform(1, 4, (6, symbols))
    return Table(rows / rows.sum(axis=1, keepdims=True), LEVELS, WEIGHTS)


def unbiased(of: Table) -> Family:
    """All scores whose mean is v / p in the first group and -v / p in the second, less any constant."""
    target = np.concatenate([LEVELS / WEIGHTS[0], -LEVELS / WEIGHTS[1]])
    shift = np.repeat([1 / WEIGHTS[0], -1 / WEIGHTS[1]], 3)
    inverse = np.linalg.pinv(of.rows)
    nothing = np.linalg.svd(of.rows)[2][6:].T
    return Family(inverse @ target, np.column_stack([nothing, inverse @ shift]))


def total(of: Table, score: np.ndarray, reckoning: Reckoning) -> float:
    second = (of.rows @ score**2).reshape(2, -1)
    return float(largest_averages(LEVELS, second, [reckoning])[0] @ WEIGHTS)


@pytest.mark.parametrize(
    "reckoning", [Reckoning(0.6, 0.3), Reckoning(0.0, None), Reckoning(-0.4, 0.1), Reckoning(-0.25, 0.05)]
)
@pytest.mark.parametrize("symbols", [6, 8])
def test_no_other_score_does_better(symbols: int, reckoning: Reckoning):
    of = table(symbols)
    family = unbiased(of)
    score = best_score(of, family, [reckoning])
    reached = total(of, score, reckoning)
    start = np.linalg.lstsq(family.free, score - family.base, rcond=None)[0]
    assert family.base + family.free @ start == pytest.approx(score, abs=1e-8)
    # The total is convex, so that what no step near it betters is the best.
    rng = np.random.default_rng(3)
    for _ in range(20):
        step = family.free @ rng.normal(size=len(start))
        step *= 0.05 * np.linalg.norm(score) / np.linalg.norm(step)
        assert total(of, score + step, reckoning) > reached * (1 - 1e-4)
    assert reached < total(of, family.base, reckoning)


def test_a_family_of_one_score_is_that_score():
    of = table(6)
    family = Family(np.arange(6.0), np.zeros((6, 0)))
    assert best_score(of, family, [Reckoning(0.0, 0.3)]) is family.base


def test_it_is_the_same_whatever_the_directions_are_called():
    of = table(9)
    family = unbiased(of)
    turned = Family(
        family.base + family.free @ np.arange(1.0, 5.0), family.free @ np.random.default_rng(1).normal(size=(4, 4))
    )
    reckoning = [Reckoning(0.3, 0.3)]
    assert best_score(of, family, reckoning) == pytest.approx(best_score(of, turned, reckoning), rel=1e-6, abs=1e-6)


def test_several_reckonings_count_alike():
    of = table(8)
    family, reckonings = unbiased(of), [Reckoning(0.8, 0.2), Reckoning(-0.8, 0.2)]
    both = best_score(of, family, reckonings)
    average = np.mean([total(of, both, r) for r in reckonings])
    for one in reckonings:
        alone = best_score(of, family, [one])
        assert average <= np.mean([total(of, alone, r) for r in reckonings]) * (1 + 1e-3)
