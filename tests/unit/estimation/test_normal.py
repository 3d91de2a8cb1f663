"""The normal interval of ratios against brute force: what is believable, and what is not."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.interval import Interval
from fairgauge.estimation.interval_readers import NormalReader, counts_of
from fairgauge.study import Question
from fairgauge.targets.channel_inputs import Vector
from tests.surveys import coin_question, tells_all
from tests.unit.estimation.test_estimands import PEOPLE, SOME_ABSTAIN, law

ALPHA = 0.01
UNKNOWN, KNOWN, ABSTAIN = tells_all(), tells_all("0.3", "0.7"), tells_all("0.3", "0.7", abstain=True)
CASES: dict[str, tuple[Question, dict[Any, float]]] = {
    "shares estimated": (UNKNOWN, PEOPLE),
    "abstaining": (ABSTAIN, SOME_ABSTAIN),
}


def reader(answers: int, question: Question, population: dict[Any, float]) -> NormalReader:
    counts = np.random.default_rng(3).multinomial(answers, law(question, population))
    return NormalReader(estimands_of(question), counts_of(tuple(counts)))


def believable(read: NormalReader, over: Vector, under: Vector, value: float) -> bool:
    """Whether the average of over - value under is within its width of zero, computed without the solver."""
    score = over - value * under
    average = float(score @ read.law)
    seen = float(score**2 @ read.law) - average**2
    return abs(average) <= -float(norm.ppf(ALPHA / 2)) * math.sqrt(seen / read.answers)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("answers", [4000, 10**6])
def test_the_interval_of_a_ratio_is_the_set_of_believable_values(name: str, answers: int):
    read = reader(answers, *CASES[name])
    assert read.estimands.means is not None
    ratio = read.estimands.means[0]
    found = read.ratio(ratio, ALPHA)
    width = found.high - found.low
    assert found.low < found.estimate < found.high
    inside = np.linspace(found.low + 1e-3 * width, found.high - 1e-3 * width, 7)
    steps = width * np.array([1e-3, 0.3, 1.0, 5.0, 50.0])
    assert all(believable(read, ratio.over, ratio.under, r) for r in inside)
    outside = [*(found.low - steps), *(found.high + steps)]
    assert not any(believable(read, ratio.over, ratio.under, r) for r in outside)


@pytest.mark.parametrize("name", CASES)
def test_beyond_agrees_with_the_interval(name: str):
    read = reader(10**5, *CASES[name])
    ratio = (read.estimands.means or ())[0]
    low = read.ratio(ratio, ALPHA).low
    assert read.beyond(ratio, low - 1e-4, ALPHA)
    assert not read.beyond(ratio, low + 1e-4, ALPHA)
    assert not read.beyond(ratio, ratio.value(read.law) + 1.0, ALPHA)


def test_beyond_agrees_with_the_interval_where_nothing_but_the_sum_is_estimated():
    read = reader(10**5, KNOWN, PEOPLE)
    gap = (read.estimands.gaps or {})[0, 1]
    low = read.ratio(gap, ALPHA).low
    assert read.beyond(gap, low - 1e-9, ALPHA)
    assert not read.beyond(gap, low + 1e-9, ALPHA)


def test_normal_uses_what_the_counts_show_if_it_is_less():
    """All at 1 in the first group and -1 in the second: every client has a gap score of the same mean, variance 12."""
    told = estimands_of(coin_question())
    gap = (told.gaps or {})[0, 1]
    found = NormalReader(told, np.array([2500.0, 7500.0])).ratio(gap, ALPHA)
    assert found.high - found.estimate == pytest.approx(-norm.ppf(0.005) * np.sqrt(12 / 10_000))
    # All at 0: the counts show 16, which is the largest there is.
    found = NormalReader(told, np.array([5000.0, 5000.0])).ratio(gap, ALPHA)
    assert found.high - found.estimate == pytest.approx(-norm.ppf(0.005) * np.sqrt(16 / 10_000))


def test_less_variance_than_there_could_be_is_chance():
    told = estimands_of(coin_question())
    gap = (told.gaps or {})[0, 1]
    found = NormalReader(told, np.array([0.0, 10_000.0])).ratio(gap, ALPHA)
    assert found.high - found.estimate == pytest.approx(-norm.ppf(0.005) * np.sqrt(12 / 10_000))


@pytest.mark.parametrize("question", [UNKNOWN, KNOWN, ABSTAIN])
def test_the_least_variance_is_that_of_some_client_and_of_none_less(question: Question):
    told = estimands_of(question)
    rows = told.decoder.rows
    score = np.array([-1.0, 2.0, 0.5, 1.0, 0.1])[: rows.shape[1]]
    read = NormalReader(told, 1000.0 * np.eye(len(score))[1])
    each = rows @ score**2 - (rows @ score) ** 2
    blocks = [float(each[block].min()) for block in told.decoder.inputs.blocks]
    average = 0.3 * blocks[0] + 0.7 * blocks[1]
    least = {UNKNOWN: min(blocks), KNOWN: average, ABSTAIN: min(average, blocks[-1])}[question]
    # Only in one symbol: the counts show nothing.
    assert read.width(score, ALPHA) == pytest.approx(-norm.ppf(0.005) * np.sqrt(least / 1000))


def test_a_share_that_is_not_clearly_above_zero_gives_no_number():
    read = reader(500, UNKNOWN, {(0, 1): 0.01, (1, 0): 0.99})
    ratio = (read.estimands.means or ())[0]
    with pytest.raises(CannotEstimate, match=r"^the share of female is not clearly above zero$"):
        read.ratio(ratio, ALPHA)
    assert not read.beyond(ratio, -100.0, ALPHA)


def test_a_share_barely_above_zero_gives_no_number_rather_than_a_wild_one():
    told = estimands_of(UNKNOWN)
    ratio = (told.means or ())[0]
    for part in np.linspace(0.0, 0.1, 30):
        true = law(UNKNOWN, {(0, 1): part, (1, 0): 1 - part})
        read = NormalReader(told, 3000 * true)
        try:
            found = read.ratio(ratio, ALPHA)
        except CannotEstimate:
            continue
        assert found.high - found.low < 2e3
        assert read.ratio(ratio, ALPHA).low <= 1 <= found.high


def test_the_normal_difference_has_the_variance_of_a_delta_method():
    read = reader(10**6, UNKNOWN, PEOPLE)
    a, b = read.estimands.means or ()
    found = read.difference((0, 1), ALPHA)
    rng = np.random.default_rng(8)
    laws = rng.multinomial(10**6, read.law, size=4000) / 10**6
    again = (laws @ a.over) / (laws @ a.under) - (laws @ b.over) / (laws @ b.under)
    assert (found.high - found.low) / 2 == pytest.approx(-norm.ppf(0.005) * again.std(), rel=0.05)


def test_the_normal_difference_refuses_too():
    read = reader(500, UNKNOWN, {(0, 1): 0.01, (1, 0): 0.99})
    with pytest.raises(CannotEstimate, match="the share of female"):
        read.difference((1, 0), ALPHA)


def test_intervals_change_units_and_sign():
    found = Interval(0.1, -0.2, 0.5)
    assert found.scaled(2.0, 1.0) == Interval(1.2, 0.6, 2.0)
    assert -found == Interval(-0.1, -0.5, 0.2)


def test_counts_as_shares():
    read = NormalReader(estimands_of(coin_question()), counts_of((1, 3)))
    assert read.answers == 4
    assert read.law == pytest.approx([0.25, 0.75])


def test_a_score_that_does_not_vary_has_next_to_no_width():
    """Rounding leaves a variance a little below nothing, of which there is no root."""
    read = reader(1000, *CASES["shares estimated"])
    flat = [np.full(len(read.law), number / 7) for number in range(1, 40)]
    assert min(float(each**2 @ read.law) - float(each @ read.law) ** 2 for each in flat) < 0
    assert max(read.width(each, ALPHA) for each in flat) < 1e-7
