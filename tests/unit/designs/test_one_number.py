"""Pricing in one dimension, against every pattern and a fine grid of scores."""

from itertools import product

import numpy as np
import pytest

from fairgauge.designs.one_number import Worth, best_columns

HIGH = 4.0


def worth(seed: int) -> Worth:
    rng = np.random.default_rng(seed)
    # Inputs without weight too: there a gain is a straight line.
    weight = rng.uniform(0.1, 1, 6) * (rng.random(6) < 0.8)
    return Worth(1.0, rng.normal(size=6), rng.normal(size=6), weight)


@pytest.mark.parametrize("seed", range(6))
def test_nothing_costs_less_than_the_best_column(seed: int):
    priced = worth(seed)
    patterns, scores = best_columns(priced, HIGH)
    least = priced.costs(patterns, scores).min()
    every = np.array(list(product([1.0, HIGH], repeat=6)))
    for score in np.linspace(-50, 50, 4001):
        assert priced.costs(every, np.full(len(every), score)).min() >= least - 1e-9


def test_every_column_is_a_pattern_of_one_and_high():
    patterns, scores = best_columns(worth(1), HIGH)
    assert set(np.unique(patterns)) <= {1.0, HIGH}
    assert len(scores) == len(patterns) > 3


def test_towards():
    near = worth(0).towards(worth(1), 0.25)
    assert near.slope == pytest.approx(0.75 * worth(0).slope + 0.25 * worth(1).slope)
    assert near.weight == pytest.approx(0.75 * worth(0).weight + 0.25 * worth(1).weight)
    assert near.base == pytest.approx(0.75 * worth(0).base + 0.25 * worth(1).base)
