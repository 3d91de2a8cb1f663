"""What a question identifies, and that scores are unbiased for it."""

import math

import numpy as np
import pytest

from fairgauge.channel import ROW_SUM
from fairgauge.estimation.estimands import Ratio, estimands_of
from fairgauge.study import Question
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.samples import sample_question
from tests.surveys import coin_question, designed, tells_all

KNOWN = tells_all("0.3", "0.7")
UNKNOWN = tells_all()
ABSTAIN = tells_all("0.3", "0.7", abstain=True)
THREE = tells_all("0.2", "0.3", "0.5")


def law(question: Question, population: dict[tuple[int, int] | None, float]) -> Vector:
    """The law of symbols of clients of whom these parts are of a group and on a level; None abstains."""
    rows = np.array(question.channel.table) / ROW_SUM
    levels = len(question.channel.levels)
    return np.asarray(sum(part * rows[-1 if x is None else x[0] * levels + x[1]] for x, part in population.items()))


# 30 % in the first group with a mean of 0.5; 70 % in the second with a mean of -0.2
PEOPLE: dict[tuple[int, int] | None, float] = {(0, 0): 0.075, (0, 1): 0.225, (1, 0): 0.42, (1, 1): 0.28}
SOME_ABSTAIN = {x: 0.8 * part for x, part in PEOPLE.items()} | {None: 0.2}


@pytest.mark.parametrize(
    ("question", "population"),
    [(KNOWN, PEOPLE), (UNKNOWN, PEOPLE), (ABSTAIN, SOME_ABSTAIN), (tells_all(abstain=True), SOME_ABSTAIN)],
)
def test_every_ratio_is_the_truth_for_the_true_law(question: Question, population):
    told, true = estimands_of(question), law(question, population)
    assert told.means is not None
    assert [ratio.value(true) for ratio in told.means] == pytest.approx([0.5, -0.2])
    assert told.overall is not None
    assert told.overall.value(true) == pytest.approx(0.3 * 0.5 - 0.7 * 0.2)
    if question.attribute.shares is not None:
        assert told.gaps is not None
        assert told.gaps[0, 1].value(true) == pytest.approx(0.7)
        assert told.group_shares is None
    else:
        assert told.gaps is None
        assert told.group_shares is not None
        assert [ratio.value(true) for ratio in told.group_shares] == pytest.approx([0.3, 0.7])
    if question.mechanism.abstain:
        assert told.answered is not None
        assert told.answered.value(true) == pytest.approx(0.8)
    else:
        assert told.answered is None


def test_a_denominator_is_constant_only_where_nothing_is_estimated():
    means = estimands_of(KNOWN).means
    assert means is not None
    assert [ratio.constant for ratio in means] == pytest.approx([0.3, 0.7])
    for question in (UNKNOWN, ABSTAIN):
        means = estimands_of(question).means
        assert means is not None
        assert [ratio.constant for ratio in means] == [None, None]


def test_denominators_have_a_name():
    def parts(question: Question) -> set[str]:
        return {ratio.part for ratio in estimands_of(question).means or ()}

    assert parts(UNKNOWN) == {"the share of female", "the share of male"}
    assert parts(ABSTAIN) == {"the part of people who answered"}


def test_every_pair_of_three_groups_has_a_gap():
    gaps = estimands_of(THREE).gaps
    assert gaps is not None
    assert list(gaps) == [(0, 1), (0, 2), (1, 2)]


def test_a_channel_of_two_symbols_tells_the_gap_and_nothing_else():
    told = estimands_of(coin_question())
    assert told.gaps is not None
    assert told.gaps[0, 1].over == pytest.approx([-4, 4])
    assert (told.means, told.overall, told.group_shares, told.answered) == (None, None, None, None)


def test_without_shares_such_a_channel_tells_nothing():
    from dataclasses import replace

    from tests.surveys import attribute

    told = estimands_of(replace(coin_question(), attribute=attribute()))
    assert (told.means, told.gaps, told.overall) == (None, None, None)


def test_the_influence_is_the_slope_of_the_ratio():
    means = estimands_of(UNKNOWN).means
    assert means is not None
    ratio, true, step = means[0], law(UNKNOWN, PEOPLE), 1e-6
    influence = ratio.influence(true)
    assert influence @ true == pytest.approx(0, abs=1e-12)
    for symbol in range(len(true)):
        moved = (1 - step) * true + step * np.eye(len(true))[symbol]
        assert (ratio.value(moved) - ratio.value(true)) / step == pytest.approx(influence[symbol], rel=1e-4)


def test_minus_a_ratio():
    ratio = Ratio(np.array([1.0, -2.0]), np.array([0.5, 0.5]), "half")
    assert (-ratio).value(np.array([0.9, 0.1])) == -ratio.value(np.array([0.9, 0.1]))


def test_the_scores_of_a_question():
    assert Scores.of(KNOWN) == Scores(Target((0.3, 0.7), kind="means", ratio=1.0), design="sample")
    assert Scores.of(UNKNOWN) == Scores(
        Target((0.5, 0.5), shares_known=False, kind="means", ratio=math.inf), design="sample"
    )
    assert Scores.of(sample_question(abstain=True)) == Scores(
        Target((0.6, 0.4), kind="gap", abstain=True, ratio=1.0), design="sample"
    )


def test_a_real_design_for_the_gap_is_unbiased():
    question = designed(Scores(Target((0.5, 0.5))), "1")
    told = estimands_of(question)
    assert told.gaps is not None
    levels = np.array(question.channel.levels) / 2**30
    means = told.decoder.rows @ told.gaps[0, 1].over
    assert means == pytest.approx(np.concatenate([2 * levels, -2 * levels]), abs=1e-9)
