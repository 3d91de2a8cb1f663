"""The split of those who answered lies in a band: what a study says of how often groups answer."""

from dataclasses import replace
from decimal import Decimal
from functools import cache
from itertools import product

import numpy as np
import pytest

import fairgauge as fg
from fairgauge.designs import make_channel
from fairgauge.errors import CannotEstimate
from fairgauge.estimation.estimands import Asked, Estimands, estimands_for
from fairgauge.estimation.interval_readers import READERS, Contradicted
from fairgauge.estimation.share_band import Band
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.comparisons import Pair, members
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.surveys import expected_tally, people

RECALL = fg.Metric("recall", 0, 1)


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), ((0, 1), 2), (0, (1, 2))], ids=str)
@pytest.mark.parametrize("ratio", [1.0, 1.1, 2.0])
def test_a_split_is_in_the_band_exactly_if_rates_differ_by_no_more(pair: Pair, ratio: float):
    shares = np.array([0.2, 0.3, 0.5])
    band, found = Band(shares, ratio), []
    for rates in product((1.0, ratio), repeat=3):
        first, second = (sum(shares[g] * rates[g] for g in members(side)) for side in pair)
        found.append(first / (first + second))
    assert band.among(pair) == pytest.approx((min(found), max(found)))


@pytest.mark.parametrize("side", [0, 2, (0, 1)], ids=str)
def test_a_share_of_all_answers_is_in_the_band(side: int | tuple[int, ...]):
    shares, found = np.array([0.2, 0.3, 0.5]), []
    for rates in product((1.0, 1.3), repeat=3):
        answers = shares * np.array(rates)
        found.append(sum(answers[g] for g in members(side)) / answers.sum())
    assert Band(shares, 1.3).of(side) == pytest.approx((min(found), max(found)))


def test_a_share_may_be_off_too():
    assert Band(np.array([0.5, 0.5]), 1.1, 0.02).among((0, 1)) == pytest.approx(
        (0.48 / (0.48 + 1.1 * 0.52), 1.1 * 0.52 / (1.1 * 0.52 + 0.48))
    )


def test_the_gap_moves_by_at_most_what_section_1_says():
    """r of the band, by hand: 2 (G - 1) / (G + 1) for halves, and two different numbers for .2 and .8."""
    for p, ratio in ((0.5, 1.1), (0.2, 1.25)):
        low, high = ((q - p) / (p * (1 - p)) for q in Band(np.array([p, 1 - p]), ratio).of(0))
        assert low == pytest.approx(-(ratio - 1) / (ratio * (1 - p) + p))
        assert high == pytest.approx((ratio - 1) / (1 - p + p * ratio))


@cache
def told_by(design: str, ratio: float | None, epsilon: str = "1", share: float = 0.5) -> Estimands:
    scores = Scores(Target((share, 1 - share), shares_known=False, ratio=ratio), AssumedValues(expect=0.8)).by(design)
    channel = make_channel(scores, Decimal(epsilon), design=design)[1]
    return estimands_for(scores, channel, Asked.of(scores.target))


def law_of(told: Estimands, answer_ratio: float, mean: float = 0.8) -> Vector:
    """How likely symbols are if all have one value, and the first group answers so many times as often."""
    inputs, shares = told.decoder.inputs, told.decoder.shares
    at = np.array([np.interp(mean, inputs.levels, row) for row in np.eye(len(inputs.levels))])
    parts = shares * [answer_ratio, 1.0]
    return np.asarray(np.concatenate([part * at for part in parts / parts.sum()]) @ told.decoder.rows)


@pytest.mark.parametrize("interval", ["population", "anytime"])
def test_what_is_known_beforehand_narrows_the_interval(interval: str):
    """A mean that is far from what was expected makes a wrong share matter, and few answers tell it badly."""
    widths = []
    for design, ratio in (("uncentred", None), ("estimated", 1.1), ("estimated", 1.02)):
        told = told_by(design, ratio)
        counts = np.round(20_000 * law_of(told, 1.0, mean=0.0))
        found = READERS[interval](told, counts).gap((0, 1), 0.01)
        widths.append(found.high - found.low)
    assert widths[2] <= widths[1] < 0.99 * widths[0]


@pytest.mark.parametrize("interval", READERS)
@pytest.mark.parametrize("share", [0.5, 0.2])
def test_scores_that_rely_on_shares_hold_for_every_split_in_the_band_and_no_other(interval: str, share: float):
    told = told_by("centred", 1.1, share=share)
    assert told.shares is not None
    for ratio, held in ((1.0, True), (1.1, True), (1 / 1.1, True), (1.25, False), (0.8, False)):
        reader = READERS[interval](told, 1e8 * law_of(told, ratio, mean=-0.9))
        assert reader.believes_gap((0, 1), 0.0, 0.01) == held
        gap = reader.gap((0, 1), 0.01)
        assert (gap.low <= 0 <= gap.high) == held


@pytest.mark.parametrize("interval", READERS)
def test_answers_that_contradict_the_study_tell_nothing(interval: str):
    told = told_by("estimated", 1.1)
    counts = np.round(300_000 * law_of(told, 1.6))
    with pytest.raises(Contradicted, match="the answers contradict what the study says of how often groups answer"):
        READERS[interval](told, counts).gap((0, 1), 0.01)
    with pytest.raises(CannotEstimate):
        READERS[interval](told, counts).believes_gap((0, 1), 0.0, 0.01)
    assert not READERS[interval](told, counts).excludes((0, 1), 0.0, 0.01)
    READERS[interval](told, np.round(300_000 * law_of(told, 1.1))).gap((0, 1), 0.01)


def study_with(answering: str) -> fg.Study:
    sex = fg.Attribute("sex", {"female": 0.5, "male": 0.5}, answering=answering)
    return fg.Study("Who answers", fg.design(RECALL, sex, epsilon=2, expect=0.9, design="estimated"))


def test_the_estimate_says_so_in_one_sentence_and_has_no_number_of_a_gap_or_a_mean():
    study = study_with("1.1")
    tally = expected_tally(study, people(("female", "0.9", 160_000), ("male", "0.9", 100_000)))
    found = fg.estimate(study, tally)["recall"]
    assert (found.gaps, found.means, found.impact_ratio, found.tipping) == ({}, {}, None, None)
    (said,) = (warning for warning in found.warnings if "contradict" in warning)
    assert said == (
        "The gap between female and male cannot be estimated: the answers contradict what the study says of how often "
        "groups answer."
    )
    assert found.response["female", "male"].low > 1.1
    tally = expected_tally(study, people(("female", "0.9", 105_000), ("male", "0.9", 100_000)))
    assert fg.estimate(study, tally)["recall"].gap("female", "male").high > 0


def test_an_estimate_is_the_difference_of_means_where_the_band_says_nothing_else():
    told = told_by("estimated", 1.1)
    counts = 10**6 * law_of(told, 1.05)
    reader = READERS["normal"](told, np.round(counts))
    free = READERS["normal"](replace(told, ratio=np.inf), np.round(counts))
    assert reader.gap((0, 1), 0.01).estimate == pytest.approx(free.gap((0, 1), 0.01).estimate)
    assert reader.gap((0, 1), 0.01).estimate == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("interval", READERS)
def test_groups_in_the_other_order_have_the_same_numbers_mirrored(interval: str):
    """The same table with its groups turned round, read from the same counts."""
    for design in ("estimated", "centred"):
        scores = Scores(Target((0.2, 0.8), shares_known=False, ratio=1.1), AssumedValues(expect=0.8)).by(design)
        channel = make_channel(scores, Decimal(2), design=design)[1]
        half = len(channel.table) // 2
        turned = replace(channel, table=channel.table[half:] + channel.table[:half])
        other = scores.asking(shares=(0.8, 0.2))
        told, back = (estimands_for(g, c, Asked.of(g.target)) for g, c in ((scores, channel), (other, turned)))
        counts = np.round(40_000 * law_of(told, 1.05))
        gap, mirrored = (READERS[interval](one, counts).gap((0, 1), 0.01) for one in (told, back))
        assert (gap.low, gap.high) == pytest.approx((-mirrored.high, -mirrored.low), rel=2e-3)
