"""The nearest mixtures: no row would do better, and nothing is left to gain."""

import numpy as np
import pytest
from scipy.optimize import minimize

from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.honesty import _nearest_mixtures
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.surveys import designed

TABLES = {
    "epsilon 1": estimands_of(designed(Scores(Target((0.5, 0.5))), "1", design="uncentred")).decoder.rows,
    "epsilon 4": estimands_of(designed(Scores(Target((0.1, 0.9))), "4", design="uncentred")).decoder.rows,
    "one row twice": np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]),
}
EVERY_TABLE = pytest.mark.parametrize("table", TABLES)


def laws_for(rows: np.ndarray) -> np.ndarray:
    """Laws within the hull, near it, and far from it."""
    rng = np.random.default_rng(1)
    inside = rng.dirichlet(np.full(len(rows), 0.2), size=8) @ rows
    counts = np.array([rng.multinomial(500, law) for law in inside])
    return np.concatenate([inside, counts / 500, rng.dirichlet(np.full(rows.shape[1], 0.3), size=8)])


@EVERY_TABLE
def test_no_row_would_do_better(table: str):
    rows = TABLES[table]
    laws = laws_for(rows)
    weights = _nearest_mixtures(laws, rows)
    assert weights.min() > 0
    assert weights.sum(axis=1) == pytest.approx(1, abs=1e-8)
    assert ((laws / (weights @ rows)) @ rows.T).max() <= 1 + 1e-8


@EVERY_TABLE
def test_a_law_of_the_hull_is_its_own_mixture(table: str):
    rows = TABLES[table]
    laws = laws_for(rows)[:8]
    assert _nearest_mixtures(laws, rows) @ rows == pytest.approx(laws, abs=1e-5)


def test_a_general_solver_gains_nothing():
    rows = TABLES["epsilon 1"]
    laws = laws_for(rows)[::3]

    for law, weights in zip(laws, _nearest_mixtures(laws, rows), strict=True):

        def minus(logits: np.ndarray, law: np.ndarray = law) -> float:
            return -float(law @ np.log(np.exp(logits) / np.exp(logits).sum() @ rows))

        assert minus(np.log(weights)) <= minimize(minus, np.zeros(len(rows)), method="L-BFGS-B").fun + 1e-7


def test_a_symbol_can_be_left_out():
    """Its counts do not matter then: the mixture is the one that is likeliest among the other answers."""
    rows = TABLES["epsilon 1"]
    law = laws_for(rows)[0]
    others = np.array([law, law])
    others[:, 2] = 0
    weights = _nearest_mixtures(others, rows, costs=np.array([1 - rows[:, 2]] * 2))
    assert (weights @ rows)[0] == pytest.approx(law, abs=1e-5)
