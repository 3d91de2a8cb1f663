"""The paper's estimators on tallies of studies."""

from dataclasses import replace

import numpy as np
import pytest

import fairgauge as fg
from fairgauge.errors import CannotEstimate
from fairgauge.paper.bounds import chebyshev_error
from fairgauge.paper.estimator import laplace_sentence, mechanism_of, published_estimate, report_sums
from fairgauge.paper.mechanisms import LaplaceMechanism, ResponseMechanism
from fairgauge.study import Question

TPR = fg.Metric("tpr", 0, 1)
SEX = fg.Attribute("sex", {"male": 0.25, "female": 0.75}, answering="alike")
DESIGNS = {"randomized-response(1:1)": "1.38", "laplace(0.5:1)": "1"}


def question(design: str, epsilon: str, attribute: fg.Attribute = SEX) -> Question:
    (found,) = fg.design(TPR, attribute, epsilon=epsilon, design=design)
    return found


def study(design: str, attribute: fg.Attribute = SEX) -> fg.Study:
    return fg.Study("S", [question(design, DESIGNS[design], attribute)])


def test_the_mechanism_has_the_studys_budgets():
    assert mechanism_of(study("randomized-response(1:1)").questions[0]) == ResponseMechanism(1.0, 1.0)
    assert mechanism_of(study("laplace(0.5:1)").questions[0]) == LaplaceMechanism(0.5, 1.0)


def test_m_r_is_the_formula_of_the_paper():
    made = study("randomized-response(1:1)")
    found = published_estimate(made, fg.Tally(made.digest, (100, 300, 400, 1200)), np.random.default_rng(0))
    a = b = 1 / (1 + np.exp(-1))
    male, female = (200 / (a * (2 * b - 1) * 500), 800 / (a * (2 * b - 1) * 1500))
    assert found.means == pytest.approx({"male": (male + 1) / 2, "female": (female + 1) / 2})
    gap, half = found.gaps["male", "female"]
    assert gap == pytest.approx((male - female) / 2)
    variance = ResponseMechanism(1.0, 1.0).gap_variance((0.25, 0.75))
    assert half == pytest.approx(chebyshev_error(variance, 2000) / 2)


def test_tails_of_m_l_are_drawn_with_the_law_of_the_noise():
    """Ten million reports beyond each end: their mean distance is the memoryless noise's, to five standard errors."""
    levels = np.linspace(-1, 1, 33)
    mechanism, many = LaplaceMechanism(0.5, 1.0), 10**7
    for end, sign in ((-1, 1), (0, -1)):
        counts = np.zeros(66)
        counts[33 + (32 if end == -1 else 0)] = many
        mine, other = report_sums(mechanism, counts, levels, np.random.default_rng(1))[::-1]
        ratio = np.exp(-1 / 32)
        mean, sd = 1 + ratio / (1 - ratio) / 16, np.sqrt(ratio) / (1 - ratio) / 16
        assert other == 0
        assert sign * mine / many == pytest.approx(mean, abs=5 * sd / np.sqrt(many))
        assert mean == pytest.approx(1 + 2, abs=0.04)


def test_what_it_cannot_read_is_refused():
    rng = np.random.default_rng(0)
    plain = fg.Study("S", fg.design(TPR, SEX, epsilon=1, design="laplace"))
    with pytest.raises(CannotEstimate, match="names no budgets"):
        published_estimate(plain, fg.Tally.empty(plain), rng)
    unstated = study("laplace(0.5:1)", fg.Attribute("sex", ["male", "female"]))
    with pytest.raises(CannotEstimate, match="state shares"):
        published_estimate(unstated, fg.Tally.empty(unstated), rng)
    made = study("randomized-response(1:1)")
    with pytest.raises(CannotEstimate, match="no answers"):
        published_estimate(made, fg.Tally.empty(made), rng)
    impostor = fg.Study("S", [replace(made.questions[0], design="randomized-response(1:0.9)")])
    with pytest.raises(CannotEstimate, match="whatever the study calls it"):
        published_estimate(impostor, fg.Tally.empty(impostor), rng)


@pytest.mark.parametrize(("epsilon", "ours", "theirs"), [("1", "51.4", "85.0"), ("0.1", "6,243.6", "12,187.2")])
def test_where_laplace_is_chosen_both_numbers_are_said(epsilon: str, ours: str, theirs: str):
    equal = fg.Attribute("sex", {"male": 0.5, "female": 0.5}, answering="alike")
    said = laplace_sentence(question("laplace", epsilon, equal))
    assert said is not None
    assert f"K·Var of the gap is {ours}" in said
    assert f"and {theirs}" in said
    assert laplace_sentence(question("randomized-response", epsilon, equal)) is None


def test_of_three_groups_nothing_is_said():
    assert laplace_sentence(question("laplace", "1", fg.Attribute("g", ["a", "b", "c"]))) is None
