"""Gaps within strata, weighed by the strata's shares of all people."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from fairgauge.errors import CannotEstimate, InvalidInput
from fairgauge.estimation import Estimate, estimate
from fairgauge.estimation.strata import _design_effect, standardised, weighed_width
from fairgauge.reports import report
from fairgauge.study import Question, Release, Stratum, Study
from fairgauge.tallies import Tally
from tests.samples import RECALL
from tests.surveys import attribute, expected_tally, people, study, tells_all

Answered = list[tuple[Study, Tally]]


def stratum(name: str, share: str, question: Question) -> Study:
    return replace(study(question), title=name, stratum=Stratum("region", name, share))


def regions(question: Question, *gaps: tuple[str, str, int]) -> Answered:
    """Regions with their shares, the first group's mean where the second's is 0.8, and how many answered."""
    found = []
    for number, (share, mean, count) in enumerate(gaps):
        asked = stratum(f"region {number}", share, question)
        found.append((asked, expected_tally(asked, people(("female", mean, count // 2), ("male", "0.8", count // 2)))))
    return found


# Half of the people each, seven of ten answers from the first; gaps of 2 and 6 points.
UNEVEN = (("0.5", "0.82", 70_000), ("0.5", "0.86", 30_000))


@pytest.mark.parametrize("question", [tells_all(metric=RECALL), tells_all("0.5", "0.5", metric=RECALL)])
def test_strata_are_weighed_by_the_people_and_not_by_the_answers(question: Question):
    answered = regions(question, *UNEVEN)
    (found,) = standardised(answered, interval="normal").questions
    assert found.gap("female", "male").estimate == pytest.approx(0.04, abs=1e-3)
    together = Tally(answered[0][0].digest, tuple(map(sum, zip(*(t.counts for _, t in answered), strict=True))))
    (pooled,) = estimate(answered[0][0], together, interval="normal").questions
    assert pooled.gap("female", "male").estimate == pytest.approx(0.032, abs=1e-3)
    assert found.answers == 100_000
    assert found.means == {}


@pytest.mark.parametrize("shares", [("0.5", "0.5"), ("0.2", "0.3", "0.5"), ("0.1", "0.2", "0.3", "0.4")])
def test_an_interval_is_as_wide_as_chi_square_says(shares: tuple[str, ...]):
    """With normal intervals: the root of chi-square, times the standard error of the weighed sum."""
    answered = regions(tells_all("0.5", "0.5", metric=RECALL), *((share, "0.8", 40_000) for share in shares))
    (found,) = standardised(answered, interval="normal").questions
    halves = []
    for asked, tally in answered:
        gap = estimate(asked, tally, interval="normal")["recall"].gap("female", "male")
        halves.append((gap.high - gap.low) / 2)
    error = math.hypot(*(float(share) * half for share, half in zip(shares, halves, strict=True))) / 2.5758
    gap = found.gap("female", "male")
    # What is rounded is rounded outward.
    assert 1 <= (gap.high - gap.low) / 2 / (math.sqrt(chi2.isf(0.01, len(shares))) * error) < 1.015


@pytest.mark.parametrize("shares", [("0.4", "0.6"), ("0.2", "0.3", "0.5")])
def test_a_plan_for_one_stratum_knows_what_is_read_of_all(shares: tuple[str, ...]):
    """Where each part answers by its share, from the half-width of the first part alone."""
    question = tells_all("0.5", "0.5", metric=RECALL)
    answered = regions(question, *((share, "0.8", int(200_000 * float(share))) for share in shares))
    (found,) = standardised(answered, interval="normal").questions
    alone = estimate(*answered[0], interval="normal")["recall"].gap("female", "male")
    planned = weighed_width((alone.high - alone.low) / 2, float(shares[0]), len(shares))
    gap = found.gap("female", "male")
    assert 1 <= (gap.high - gap.low) / 2 / planned < 1.015


@pytest.mark.parametrize("kind", ["population", "anytime"])
def test_every_kind_of_interval_is_weighed(kind: str):
    (found,) = standardised(regions(tells_all(metric=RECALL), *UNEVEN), interval=kind).questions
    gap = found.gap("female", "male")
    assert gap.low < 0.04 < gap.high < gap.low + 0.5


def test_it_holds_the_truth_as_often_as_it_says():
    """120 studies of two strata at 80 %: a right one fails three times in a million; a third as wide, it is caught."""
    answered = regions(tells_all("0.5", "0.5", metric=RECALL), *UNEVEN)
    rng, missed, missed_third = np.random.default_rng(20261118), 0, 0
    for _ in range(120):
        drawn = []
        for asked, tally in answered:
            counts = np.array(tally.counts)
            drawn.append(
                (asked, Tally(asked.digest, tuple(rng.multinomial(counts.sum(), counts / counts.sum()).tolist())))
            )
        (found,) = standardised(drawn, interval="normal", confidence=0.8).questions
        gap = found.gap("female", "male")
        missed += not gap.low <= 0.04 <= gap.high
        missed_third += abs(gap.estimate - 0.04) > (gap.high - gap.low) / 6
    assert missed <= 45
    assert missed_third > 45


def test_what_it_is_about_and_the_design_effect_are_said():
    (found,) = standardised(regions(tells_all(metric=RECALL), *UNEVEN), interval="normal").questions
    about, effect = found.warnings
    assert "the gap within each region" in about
    assert "(region 0 0.5, region 1 0.5)" in about
    assert "not the gap of all people" in about
    assert "The design effect of weighing is 1.19" in effect
    assert _design_effect(np.array([0.3, 0.7]), np.array([30.0, 70.0])) == pytest.approx(1)


def test_a_study_of_one_stratum_says_that_it_is_about_no_others_and_so_does_its_report():
    (asked, tally), _ = regions(tells_all(metric=RECALL), *UNEVEN)
    said = "This is about the people of one region alone: region 0, with a share of 0.5 of all people."
    assert said in estimate(asked, tally, interval="normal").questions[0].warnings
    assert said in report(asked, tally, estimate=estimate(asked, tally, interval="normal")).html
    everyone = replace(asked, stratum=None)
    assert estimate(everyone, replace(tally, study=everyone.digest), interval="normal").questions[0].warnings == ()


def test_forgers_do_most_in_the_stratum_that_weighs_most_for_its_answers():
    question = tells_all("0.5", "0.5", metric=RECALL)
    even, uneven = (
        standardised(regions(question, ("0.5", "0.8", count), ("0.5", "0.8", 100_000 - count)), interval="normal")
        for count in (50_000, 90_000)
    )
    alone = _moves(estimate(*regions(question, ("0.5", "0.8", 100_000))[0], interval="normal"))
    moved = [_moves(each) for each in (even, uneven)]
    # A forger takes an answer from one stratum to another, too, so a little more than 1 and 5 times as far.
    for (forged, wrong), times in zip(moved, (1, 5), strict=True):
        assert times <= forged / alone[0] < 1.12 * times
        assert wrong >= alone[1]  # no means are told, which would say more of what a wrong share does


def _moves(found: Estimate) -> tuple[float, float]:
    moves = found["recall"].sensitivity
    assert moves is not None
    assert moves.forged is not None
    assert moves.share_error is not None
    return moves.forged, moves.share_error


def test_forgers_move_no_stratum_beyond_what_a_gap_can_be():
    few = regions(tells_all(metric=RECALL), ("0.5", "0.8", 99_000), ("0.5", "0.8", 1_000))
    moves = standardised(few, interval="normal")["recall"].sensitivity
    assert moves is not None
    assert moves.forged == pytest.approx(0.5 * 2)


def test_counts_that_honest_answers_do_not_give_have_no_part_in_a_sum():
    (first, tally), (asked, _) = regions(tells_all(metric=RECALL), *UNEVEN)
    forged = Tally(asked.digest, (30_000, *[0] * (asked.symbols - 1)))
    (found,) = standardised([(first, tally), (asked, forged)]).questions
    assert found.gaps == {}
    assert list(found.rows()) == []
    (said,) = found.warnings
    assert said.startswith("region 1: Honest answers to this study do not give such counts")


def test_a_stratum_whose_answers_tell_nothing_leaves_its_whole_range_open():
    few = regions(tells_all(metric=RECALL), ("0.9", "0.8", 60_000), ("0.1", "0.8", 8))
    (found,) = standardised(few).questions
    gap = found.gap("female", "male")
    assert 0.2 < gap.high - gap.low < 0.4
    assert any(said.startswith("region 1: ") for said in found.warnings)


def test_what_contradicts_its_own_study_tells_nothing():
    nearly = replace(
        tells_all("0.5", "0.5", metric=RECALL), attribute=replace(attribute("0.5", "0.5"), answering="1.1")
    )
    answered = regions(nearly, *UNEVEN)
    asked = answered[1][0]
    answered[1] = asked, expected_tally(asked, people(("female", "0.8", 90_000), ("male", "0.8", 10_000)))
    (found,) = standardised(answered).questions
    assert found.gaps == {}
    assert any("region 1: " in said for said in found.warnings)


def test_what_are_no_strata_of_the_same_people_is_refused():
    question = tells_all(metric=RECALL)
    (first, tally), second = regions(question, *UNEVEN)
    plain = study(question)
    with pytest.raises(InvalidInput, match=r"strata=1 stratum: must be two or more"):
        standardised([(first, tally)])
    with pytest.raises(InvalidInput, match=r"stratum=nothing: must be stated by Survey"):
        standardised([(first, tally), (plain, replace(second[1], study=plain.digest))])
    for changed, said in (
        (Stratum("age", "region 1", "0.5"), r"stratum.of=age: must be region"),
        (Stratum("region", "region 0", "0.5"), r"stratum.name=region 0: must be given once"),
        (Stratum("region", "region 1", "0.4"), r"stratum.share=region 0 0.5, region 1 0.4: must sum to 1, not 0.9"),
    ):
        other = replace(second[0], stratum=changed)
        with pytest.raises(InvalidInput, match=said):
            standardised([(first, tally), (other, replace(second[1], study=other.digest))])
    other = stratum("region 1", "0.5", tells_all("0.2", "0.3", "0.5", metric=RECALL))
    with pytest.raises(InvalidInput, match=r"must compare the same groups by the same metrics"):
        standardised([(first, tally), (other, Tally(other.digest, (1, *[0] * (other.symbols - 1))))])


def test_a_stratum_without_answers_or_below_its_batch_is_refused():
    (first, tally), (asked, _) = regions(tells_all(metric=RECALL), *UNEVEN)
    with pytest.raises(CannotEstimate, match="of region 1 nobody answered, and 1 are needed"):
        standardised([(first, tally), (asked, Tally(asked.digest, (0,) * asked.symbols))])
    batched = replace(asked, release=Release(1_000, "0.0000001", 5))
    few = Tally(batched.digest, (15, *[0] * (asked.symbols - 1)), 10)
    with pytest.raises(CannotEstimate, match="of region 1 10 answered, and 1,000 are needed"):
        standardised([(first, tally), (batched, few)])
