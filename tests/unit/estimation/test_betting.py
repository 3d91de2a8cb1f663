"""Bets against exact probabilities: for two symbols the number of answers of each is binomial."""

import numpy as np
import pytest
from scipy.stats import binom

from fairgauge.estimation import betting
from fairgauge.estimation.betting import bounds_of_means, log_money, lower_mean, upper_mean

VALUES = np.array([0.5, 4.0])


def missed(part: float, answers: int, alpha: float) -> tuple[float, float]:
    """The exact probability that each bound is on the wrong side of the true mean."""
    true = float(VALUES @ [1 - part, part])
    law = binom.pmf(np.arange(answers + 1), answers, part)
    above = below = 0.0
    for ones, probability in enumerate(law):
        if probability < 1e-14:
            continue
        counts = np.array([answers - ones, ones], dtype=float)
        above += probability * (upper_mean(VALUES, counts, alpha, 4.0) < true)
        below += probability * (lower_mean(VALUES, counts, alpha, 0.5) > true)
    return above, below


@pytest.mark.parametrize("part", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("answers", [5, 60, 300])
@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_each_bound_fails_no_more_often_than_stated(part: float, answers: int, alpha: float):
    assert max(missed(part, answers, alpha)) <= alpha


def test_bounds_that_forget_alpha_are_caught(monkeypatch: pytest.MonkeyPatch):
    """The mutant twin: money is worth ten times what it is."""
    monkeypatch.setattr(betting, "log_money", lambda *a: log_money(*a) + np.log(10))
    assert max(missed(0.3, 300, 0.1)) > 0.1


def test_money_is_a_martingale_at_the_true_mean():
    stakes = np.array([0.05, 0.2])
    gains = VALUES - VALUES @ [0.7, 0.3]
    law = binom.pmf(np.arange(21), 20, 0.3)
    money = [np.exp(log_money(gains, np.array([20.0 - ones, ones]), stakes)) for ones in range(21)]
    assert law @ money == pytest.approx(1)


def test_many_answers_are_close_to_the_mean_and_the_limits_hold():
    counts = np.array([7e8, 3e8])
    assert 1.55 < upper_mean(VALUES, counts, 0.01, 4.0) < 1.5505
    assert 1.5495 < lower_mean(VALUES, counts, 0.01, 0.5) < 1.55
    assert upper_mean(VALUES, np.array([3.0, 0.0]), 0.01, 1.0) == 1.0
    assert lower_mean(VALUES, np.array([0.0, 3.0]), 0.01, 2.0) == 2.0
    assert 2 < upper_mean(np.array([0.0, 4.0]), np.array([5.0, 0.0]), 0.01, 4.0) < 3


def test_values_that_differ_by_rounding_alone_have_bounds():
    """Their spread is a few units in the last place: a search that steps by it would never get anywhere."""
    values = np.array([3.447095510945111e-05, 3.447095510945204e-05, 8.964807288496967, 9.035261653413283])
    counts = np.array([1.0, 600.0, 0.0, 0.0])
    low, high = lower_mean(values, counts, 0.0004, 0), upper_mean(values, counts, 0.0004, 4.2)
    assert low < values[0] < high < 1


def test_a_mean_that_is_next_to_nothing_beside_the_largest_value_has_a_bound():
    """The search starts above what was seen: a step made for that is less than one unit in the last place there."""
    values = np.array([2.640676593123963e-22, 3.1505673420891265])
    high = upper_mean(values, np.array([1000.0, 0.0]), 0.002, 1.5, values[1])
    assert values[0] < high < 0.1


@pytest.mark.parametrize("counts", [[40.0, 20.0], [700.0, 3.0], [1.0, 9.0]])
@pytest.mark.parametrize("alpha", [0.1, 0.001])
def test_each_bound_is_where_the_money_is_exactly_one_over_alpha(counts: list[float], alpha: float):
    """By the formula of ``upper_mean``: seven stakes with equal parts of the money, none of more than nine tenths."""
    came = np.array(counts)
    steps = np.sqrt(2 * np.log(1 / alpha) / (came.sum() * np.array([0.03, 0.1, 0.3, 1, 3, 10, 30])))
    high, low = upper_mean(VALUES, came, alpha, 4.0), lower_mean(VALUES, came, alpha, 0.5)
    for mean, sign, room in ((high, -1, VALUES.max() - high), (low, 1, low - VALUES.min())):
        if 0.5 < mean < 4.0:
            stakes = np.minimum(steps / mean, 0.9 / room)
            money = np.prod((1 + sign * np.multiply.outer(stakes, VALUES - mean)) ** came, axis=1).mean()
            assert money == pytest.approx(1 / alpha, rel=1e-3)
    assert 0.5 < high < 4.0 or came.sum() < 20


@pytest.mark.parametrize("counts", [(400.0, 60.0), (3.0, 1.0), (5.0, 0.0), (10.0**6, 10.0**6)])
def test_bounds_of_many_rows_are_nearly_those_of_one(counts: tuple[float, float]):
    """Never further in, and further out by a hundredth of their distance."""
    rows, came = np.array([VALUES, 2 * VALUES, [0.0, 4.0]]), np.array(counts)
    low, high = bounds_of_means(rows, came, (0.002, 0.01), rows.max(axis=1))
    for row, least, most in zip(rows, low, high, strict=True):
        seen = float(row @ came) / came.sum()
        exact = lower_mean(row, came, 0.002, float(row.min())), upper_mean(row, came, 0.01, float(row.max()))
        assert exact[0] - 0.02 * (seen - exact[0]) - 1e-5 <= least <= exact[0] + 1e-5
        assert exact[1] - 1e-5 <= most <= exact[1] + 0.02 * (exact[1] - seen) + 1e-5


def test_values_that_are_all_alike_are_their_own_bounds():
    low, high = bounds_of_means(np.array([[1.5, 1.5]]), np.array([3.0, 4.0]), (0.01, 0.01), np.array([1.5]))
    assert (low[0], high[0]) == (1.5, 1.5)
