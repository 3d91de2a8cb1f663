"""Studies of the paper's mechanisms with the paper's budgets: their spread is the paper's closed form.

400 studies of each, with the very table that devices draw from and groups as large as is stated.  An estimate is a sum
over 4,000 clients and so all but normal, and 400 times the mean square error over the closed form is all but chi-square
with 400 degrees of freedom: outside of its two quantiles once in a million runs.
"""

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from scipy.stats import chi2

import fairgauge as fg
from fairgauge.paper.estimator import mechanism_of, published_estimate
from fairgauge.paper.mechanisms import Published
from fairgauge.simulation.drawing import simulate_exactly
from fairgauge.simulation.population import Cell
from tests.statistical.exact import FALSE_POSITIVE_RATE

STUDIES, CLIENTS = 400, 4_000
TPR = fg.Metric("tpr", 0, 1)
GROUPS = {"male": 0.25, "female": 0.75}
HELD = {"male": ("0.5", "1"), "female": ("0.25", "0.75")}
DESIGNS = {"randomized-response(1:1)": "1.38", "laplace(0.5:1)": "1"}


def errors(design: str) -> tuple[np.ndarray, Published]:
    attribute = fg.Attribute("sex", GROUPS, answering="alike")
    study = fg.Study("S", fg.design(TPR, attribute, epsilon=DESIGNS[design], design=design))
    cells = [
        Cell(group, Decimal(value), round(CLIENTS * share / 2))
        for group, share in GROUPS.items()
        for value in HELD[group]
    ]
    population, rng = fg.Population(tuple(cells)), np.random.default_rng(2022)
    found = [
        published_estimate(study, simulate_exactly(study, population, seed=rng), rng).gaps["male", "female"][0]
        for _ in range(STUDIES)
    ]
    return 2 * (np.array(found) - 0.25), mechanism_of(study.questions[0])


def chi_square(found: np.ndarray, mechanism: Published) -> float:
    """Return the sum of squares over the closed form, with the groups' own mean squares of v."""
    squares = {group: float(np.mean([(2 * float(x) - 1) ** 2 for x in HELD[group]])) for group in GROUPS}
    variance = sum(mechanism.variance(CLIENTS * n, CLIENTS, square=squares[group]) for group, n in GROUPS.items())
    return float((found**2).sum() / variance)


@pytest.mark.parametrize("design", DESIGNS)
def test_the_spread_of_studies_is_the_papers_closed_form(design: str):
    found, mechanism = errors(design)
    low, high = (chi2.ppf(p, STUDIES) for p in (FALSE_POSITIVE_RATE / 2, 1 - FALSE_POSITIVE_RATE / 2))
    assert low < chi_square(found, mechanism) < high
    # The twin: had the value another budget than the study says, it would be noticed.
    other = replace(mechanism, value_epsilon=1.6)
    assert not low < chi_square(found, other) < high
    assert Counter(found > 0)[True] == pytest.approx(STUDIES / 2, abs=5 * np.sqrt(STUDIES) / 2)
