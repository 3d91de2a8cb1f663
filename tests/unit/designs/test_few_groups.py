"""More levels, starting from fewer."""

from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

from fairgauge.designs import few_groups
from fairgauge.designs.few_groups import (
    _between,
    _problem_of,
    _refined_columns,
    _refined_prices,
)
from fairgauge.designs.optimal import uncentred
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.channel_inputs import Inputs
from fairgauge.targets.comparisons import Contrast
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.unit.designs.test_minimax import solved

SCORES = Scores(Target((0.3, 0.7)))


def test_levels_that_gained_nothing_are_followed_by_no_more(monkeypatch: pytest.MonkeyPatch):
    """Where shares of several groups are estimated tables are read as if all levels were equally likely."""
    target = Target((0.4, 0.3, 0.3), shares_known=False, comparisons=(Contrast((0,), (1,)), Contrast((0,), (2,))))
    scores, worst = Scores(target), iter([9.0, 5.0, 7.0])
    tried: list[int] = []

    def solve(_scores: Scores, _epsilon: Decimal, count: int, _before: object) -> SimpleNamespace:
        tried.append(count)
        return SimpleNamespace(minimax=SimpleNamespace(rows=count), count=count)

    monkeypatch.setattr(few_groups, "_problem_of", lambda scores, epsilon, count, measures: (count,))
    monkeypatch.setattr(few_groups, "_solve", solve)
    monkeypatch.setattr(few_groups, "_assembled", lambda solved, epsilon: solved.count)
    monkeypatch.setattr(few_groups, "levels_wanted", lambda scores, channel: 13)
    monkeypatch.setattr(few_groups, "_worst", lambda scores, channel, measures: next(worst))
    found: object = few_groups.best_channel(scores, Decimal(4))
    assert found == tried[1]
    assert len(tried) == 3


@pytest.mark.parametrize(
    ("shares", "epsilon", "levels"),
    [((0.2, 0.3, 0.5), "4", [3, 6]), ((0.2, 0.4, 0.4), "4", [3, 9]), ((0.2, 0.3, 0.5), "2", [3, 5])],
)
def test_about_a_mean_that_is_expected_three_groups_have_few_levels(
    shares: tuple[float, ...], epsilon: str, levels: list[int], monkeypatch: pytest.MonkeyPatch
):
    """With even ones, of which it took up to 13, a table at epsilon 4 took a minute of a processor."""
    tried: list[int] = []
    monkeypatch.setattr(few_groups, "_solve", lambda *asked: tried.append(len(asked[2].inputs.levels)))
    monkeypatch.setattr(few_groups, "_assembled", lambda solved, epsilon: solved)
    scores = Scores(Target(shares, shares_known=False), AssumedValues(expect=0.1))
    few_groups.best_channel(scores, Decimal(epsilon))
    assert tried == levels


def test_few_levels_about_a_mean_are_read_there_more_sharply_than_more_even_ones():
    """Five of them give 20.7, and even ones 21.2."""
    scores = Scores(Target((0.2, 0.4, 0.4), shares_known=False), AssumedValues(expect=0.1), design="uncentred")
    assert scores.variance(uncentred(scores, Decimal(2))) <= 20.9


def test_between_levels_a_client_rounds_as_before():
    mixtures = _between(Inputs(2, np.array([-1.0, 0.0, 1.0]), True), Inputs(2, np.linspace(-1, 1, 9), True))
    assert mixtures.shape == (19, 7)
    assert mixtures.sum(axis=1).tolist() == [1] * 19
    assert mixtures[1].tolist() == [0.75, 0.25, 0, 0, 0, 0, 0]
    assert mixtures[9 + 7].tolist() == [0, 0, 0, 0, 0.25, 0.75, 0]
    assert mixtures[18].tolist() == [0, 0, 0, 0, 0, 0, 1]


def test_refined_columns_make_the_coarse_channel_again():
    coarse, _, solution, _ = solved(SCORES, "1", 3)
    fine, _ = _problem_of(SCORES, Decimal(1), 5)
    patterns, fine_scores = _refined_columns(coarse.inputs, solution, fine)
    again = len(solution.weights)
    spread = _between(coarse.inputs, fine.inputs)
    assert patterns[:again] == pytest.approx(solution.columns.patterns @ spread.T)
    assert (fine_scores[:again] == solution.columns.scores).all()
    assert len(patterns) == 3 * again
    assert set(np.unique(patterns[again:])) == {1.0, np.e}


def test_refined_prices_keep_their_total():
    coarse, _, solution, _ = solved(SCORES, "1", 3)
    fine, _ = _problem_of(SCORES, Decimal(1), 5)
    price = _refined_prices(coarse.inputs, solution, fine)
    for old, new in zip(coarse.inputs.blocks, fine.inputs.blocks, strict=True):
        assert price.ones[new].sum() == pytest.approx(solution.prices.ones[old].sum())
        assert price.means[new].sum() == pytest.approx(solution.prices.means[old].sum())
        assert price.squares[:, new].sum() == pytest.approx(solution.prices.squares[:, old].sum())
    # Spreading takes prices from the ends towards the middle, where they are worth less: still a lower bound.
    assert 0 < price.value < solution.prices.value
    same = _refined_prices(coarse.inputs, solution, coarse)
    assert same.value == pytest.approx(solution.prices.value, rel=0.02)
