"""What a wrong share or forged answers do, verified by really doing it."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from fairgauge.estimation import Interval, estimate
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.result import Sensitivity
from fairgauge.estimation.sensitivity import _forged_move, _share_move, gap_ratios
from fairgauge.study import Question, Study
from fairgauge.tallies import Tally
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.samples import RECALL
from tests.surveys import coin_question, designed, expected_tally, people, study, tells_all

PEOPLE = people(("female", "0.6", 300_000), ("male", "-0.2", 700_000))


def gap_of(asked: Study, counts: tuple[int, ...]) -> float:
    return estimate(asked, Tally(asked.digest, counts), interval="normal").questions[0].gap("female", "male").estimate


def sensitivity(asked: Study, tally: Tally) -> Sensitivity:
    found = estimate(asked, tally).questions[0].sensitivity
    assert found is not None
    return found


def share_error(asked: Study, tally: Tally) -> float:
    found = sensitivity(asked, tally).share_error
    assert found is not None
    return found


@pytest.mark.parametrize("means", [("0.6", "-0.2"), ("0.6", "0.5"), ("-0.9", "0.4")])
def test_a_wrong_share_moves_the_gap_no_further_than_it_says(means: tuple[str, str]):
    """There really are up to 1 % more, or fewer, of a group than the study states."""
    asked, moved, said = study(tells_all("0.3", "0.7")), [], []
    for step in (0.01, 0.004, -0.004, -0.01):
        counts = [round(10**6 * share) for share in (0.3 + step, 0.7 - step)]
        tally = expected_tally(
            asked, people(*((g, m, n) for g, m, n in zip(("female", "male"), means, counts, strict=True)))
        )
        moved.append(abs(gap_of(asked, tally.counts) - float(means[0]) + float(means[1])))
        said.append(share_error(asked, tally))
        assert said[-1] >= moved[-1]
    assert min(said) <= 1.2 * max(moved) + 0.002  # means are known to their intervals


THREE = ("female", "male", "other")


@pytest.mark.parametrize("means", [("0.9", "-0.4", "0"), ("0.8", "0.7", "-1"), ("-0.6", "0.5", "0.9")])
def test_shares_of_three_that_are_each_wrong_move_a_gap_no_further_than_it_says(means: tuple[str, ...]):
    asked, furthest, said = study(tells_all("0.2", "0.3", "0.5")), 0.0, 0.0
    for first, second in product((0.01, 0, -0.01), repeat=2):
        if abs(first + second) > 0.01:
            continue  # the third share would be off by more
        shares = (0.2 + first, 0.3 + second, 0.5 - first - second)
        cells = zip(THREE, means, (round(10**6 * share) for share in shares), strict=True)
        tally = expected_tally(asked, people(*cells))
        found = estimate(asked, tally, interval="normal").questions[0]
        assert found.sensitivity is not None
        assert found.sensitivity.share_error is not None
        true = dict(zip(THREE, map(float, means), strict=True))
        moved = max(abs(gap.estimate - true[a] + true[b]) for (a, b), gap in found.gaps.items())
        assert found.sensitivity.share_error >= moved
        furthest, said = max(furthest, moved), found.sensitivity.share_error
    assert said <= 1.6 * furthest


def test_with_three_groups_two_shares_may_be_wrong_in_the_worst_direction():
    """One share that is off, with the others making up for it in proportion, moves the gap by a fifth less."""
    told = estimands_of(tells_all("0.34", "0.33", "0.33"))
    means = {0: Interval(0.8, 0.8, 0.8), 1: Interval(0.8, 0.8, 0.8), 2: Interval(0.8, 0.8, 0.8)}
    most = _share_move(told, means, (0, 1))
    exactly = 0.01 * (0.8 * 0.34 / 0.33 / 0.34 + 0.8 * 0.33 / 0.32 / 0.33)
    assert most == pytest.approx(exactly)


def test_two_sides_that_are_everyone_move_against_each_other():
    """Groups with means of opposite signs: what one side gains the other loses, and the two moves cancel."""
    told = estimands_of(tells_all("0.5", "0.5"))
    means = {0: Interval(0.5, 0.5, 0.5), 1: Interval(-0.5, -0.5, -0.5)}
    # p / (p + u) of one and p / (p - u) of the other: all that is left.
    assert _share_move(told, means, (0, 1)) == pytest.approx(0.01 * (0.5 / 0.49 - 0.5 / 0.51))


def test_where_means_are_not_told_it_is_the_most_that_a_wrong_share_could_do():
    asked = study(coin_question())
    said = estimate(asked, Tally(asked.digest, (400, 600))).questions[0].sensitivity
    assert said is not None
    # The study believes in halves, but 51 % of its clients are women, all at 1, and the men are all at -1.
    ones = 1000 * (0.51 * (0.5 + 1 / 4) + 0.49 * (0.5 + 1 / 4))
    assert gap_of(asked, (1000 - round(ones), round(ones))) == pytest.approx(2.0)
    # Women at 1 and men at 1 is the worst: a gap of 0 looks like 0.04.
    ones = 10_000 * (0.51 * (0.5 + 1 / 4) + 0.49 * (0.5 - 1 / 4))
    assert said.share_error == pytest.approx(gap_of(asked, (10_000 - round(ones), round(ones))))
    assert said.share_error == pytest.approx(0.04)


def test_estimated_shares_cannot_be_wrong():
    asked = study(tells_all())
    assert sensitivity(asked, expected_tally(asked, PEOPLE)).share_error is None


@pytest.mark.parametrize(
    ("shares", "abstain"), [(("0.3", "0.7"), False), ((), False), (("0.3", "0.7"), True), ((), True)]
)
def test_forging_one_answer_in_a_hundred_moves_the_gap_no_further_than_it_says(shares: tuple[str, ...], abstain: bool):
    """Every symbol is overwritten by every other one, and at random by two."""
    asked = study(tells_all(*shares, abstain=abstain))
    tally = expected_tally(asked, PEOPLE)
    said = sensitivity(asked, tally).forged
    assert said is not None
    counts, forged = np.array(tally.counts), tally.contributors // 100
    ratios, moved = gap_ratios(estimands_of(asked.questions[0]), (0, 1)), []

    def gap(of: Vector) -> float:
        return sum(ratio.value(of / tally.contributors) for ratio in ratios)

    for taken, put in permutations(range(len(counts)), 2):
        changed = counts.copy()
        changed[taken] -= min(forged, counts[taken])
        changed[put] += min(forged, counts[taken])
        moved.append(abs(gap(changed) - gap(counts)))
    assert said >= max(moved) - 1e-12
    assert said <= 1.06 * max(moved)


def test_forging_really_exceeds_what_dilution_would_do():
    """Answers that are chosen and overwritten count twice: what was there is gone, too."""
    asked = study(coin_question())
    tally = Tally(asked.digest, (50_000, 50_000))
    # Scores are -4 and 4: one answer in a hundred that turns moves the average by 0.08, and an added one by 0.04.
    assert sensitivity(asked, tally).forged == pytest.approx(0.08)
    assert gap_of(asked, (49_000, 51_000)) == pytest.approx(0.08)


def test_the_bound_holds_for_forgers_who_search():
    """Of a difference of ratios the worst forging need not be at one symbol: many are tried."""
    draws = np.random.default_rng(5)
    told = estimands_of(tells_all(groups=3))
    law = (
        np.array(
            expected_tally(
                study(tells_all(groups=3)),
                people(*zip(THREE, ("0.9", "-0.4", "0"), (100_000, 300_000, 600_000), strict=True)),
            ).counts
        )
        / 10**6
    )
    ratios = gap_ratios(told, (0, 1))
    before = sum(ratio.value(law) for ratio in ratios)
    for forged in (0.001, 0.01, 0.02):
        said = _forged_move(ratios, law, forged)
        assert said is not None
        for _ in range(300):
            less = np.minimum(draws.dirichlet(np.full(len(law), 0.2)) * forged, law)
            law_then = law - less + less.sum() * draws.dirichlet(np.full(len(law), 0.2))
            assert abs(sum(ratio.value(law_then) for ratio in ratios) - before) <= said


@pytest.mark.parametrize("part", [0.5, 0.1])
def test_forgers_may_move_answers_between_tables(part: float):
    """An answer to another table may become one to this, and one to this may become one to another."""
    told = estimands_of(coin_question())
    law, (ratio,) = np.array([0.2, 0.8]), gap_ratios(told, (0, 1))
    said = _forged_move((ratio,), law, 0.01, part=part)
    assert said is not None
    counts = law * part * 10**6
    for less, more in product((-10_000, -5_000, 0, 5_000, 10_000), repeat=2):
        if abs(less + more) <= 10_000 and (less <= 0 or more <= 0 or less + more <= 10_000):
            then = counts + np.array([less, more])
            assert abs(ratio.value(then / then.sum()) - ratio.value(law)) <= said


def test_forgers_may_all_pick_the_same_question():
    one, two = study(coin_question()), study(coin_question(), tells_all("0.5", "0.5", metric=RECALL))
    alone = estimate(one, Tally(one.digest, (50_000, 50_000))).questions[0].sensitivity
    beside = estimate(two, Tally(two.digest, (50_000, 50_000, 25_000, 25_000, 25_000, 25_000))).questions[0].sensitivity
    assert alone is not None
    assert beside is not None
    assert alone.forged == pytest.approx(0.08)
    assert beside.forged == pytest.approx(0.16 / 0.98)  # fewer may be left to divide by


def test_where_forgers_could_make_a_group_vanish_there_is_no_limit():
    asked = study(tells_all())
    small = people(("female", "0", 10_000), ("male", "0", 990_000))
    found = estimate(asked, expected_tally(asked, small)).questions[0]
    assert found.gaps
    assert found.sensitivity is not None
    assert found.sensitivity.forged is None


def test_units_are_those_of_the_metric():
    from fairgauge.study import Metric

    counts = (40_000, 60_000)
    narrow, wide = study(coin_question(Metric("x", "0", "1"))), study(coin_question(Metric("x", "0", "10")))
    small, large = (estimate(s, Tally(s.digest, counts)).questions[0].sensitivity for s in (narrow, wide))
    assert small is not None
    assert large is not None
    assert small.forged is not None
    assert large.forged == pytest.approx(10 * small.forged)
    assert small.share_error is not None
    assert large.share_error == pytest.approx(10 * small.share_error)


def test_a_centred_score_makes_a_wrong_share_matter_less():
    """Nobody differs, and there are really 1 % more of one group than the study says."""
    expected = designed(Scores(Target((0.5, 0.5)), AssumedValues(expect=0.8)), "4")
    asked = study(Question(RECALL, expected.attribute, "gap", expected.design, "4", expected.channel, expect=0.9))
    really = people(("female", "0.9", 510_000), ("male", "0.9", 490_000))
    tally = expected_tally(asked, really)
    result = estimate(asked, tally).questions[0]
    assert result.sensitivity is not None
    assert result.sensitivity.share_error is not None
    moved = abs(result.gap("female", "male").estimate)
    # Uncentred, 0.01 would move it by 0.01 * 4 * 0.8 / 2 = 0.016.
    assert moved < 0.004
    assert moved <= result.sensitivity.share_error <= 1.5 * moved  # the means are known to their intervals


def test_a_rare_group_whose_share_could_be_nothing_has_a_limit_all_the_same():
    """Its true mean cannot be beyond 1, whatever it is read to be."""
    asked = study(tells_all("0.01", "0.99"))
    tally = expected_tally(asked, people(("female", "0.6", 30_000), ("male", "-0.2", 970_000)))
    found = share_error(asked, tally)
    assert abs(gap_of(asked, tally.counts) - 0.8) > 1
    assert 0.8 <= found <= 2.1


@pytest.mark.parametrize("constant", [0.5, -0.5])
def test_where_means_are_not_told_they_may_be_far_from_a_scores_constant_too(constant: float):
    told = estimands_of(coin_question())
    plain = _share_move(told, {}, (0, 1))
    assert plain == pytest.approx(0.01 * (1 / 0.5 + 1 / 0.5))
    assert _share_move(replace(told, constant=constant), {}, (0, 1)) == pytest.approx(1.5 * plain)


def test_sides_of_several_groups_are_off_by_what_their_groups_are():
    told = estimands_of(tells_all("0.2", "0.3", "0.5"))
    means = {group: Interval(0.8, 0.8, 0.8) for group in range(3)}
    # Two groups against one are everyone: either side is off by as much as the one group is.
    assert _share_move(told, means, ((0, 1), 2)) == pytest.approx(0.01 * (0.8 / 0.5 + 0.8 / 0.49), rel=0.01)
