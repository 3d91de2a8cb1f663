"""What a wrong share or forged answers do, verified by really doing it."""

from dataclasses import replace

import numpy as np
import pytest

from fairgauge.estimation import estimate
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.sensitivity import _share_error
from fairgauge.goals.goal import Goal
from fairgauge.study import Question, Study
from fairgauge.tallies import Tally
from tests.samples import RECALL
from tests.surveys import attribute, coin_question, designed, expected_tally, people, study, tells_all

PEOPLE = people(("female", "0.6", 300_000), ("male", "-0.2", 700_000))


def gap_of(asked: Study, counts: tuple[int, ...]) -> float:
    return estimate(asked, Tally(asked.digest, counts), interval="normal").questions[0].gap("female", "male").estimate


def with_shares(asked: Study, *shares: float) -> Study:
    """The same study for people who believe in other shares."""
    question = asked.questions[0]
    text = [f"{share:.6f}" for share in shares[:-1]]
    return study(replace(question, attribute=attribute(*text, f"{1 - sum(map(float, text)):.6f}")))


def test_a_wrong_share_moves_the_gap_as_far_as_it_says():
    asked = study(tells_all("0.3", "0.7"))
    tally = expected_tally(asked, PEOPLE)
    said = estimate(asked, tally).questions[0].sensitivity
    assert said is not None
    assert said.share_error is not None
    moved = [
        abs(gap_of(with_shares(asked, 0.3 + step, 0.7 - step), tally.counts) - gap_of(asked, tally.counts))
        for step in (0.01, -0.01)
    ]
    assert said.share_error == pytest.approx(max(moved), rel=1e-4)
    assert not said.share_error_is_bound


def test_a_wrong_share_of_three():
    asked = study(tells_all("0.2", "0.3", "0.5"))
    tally = expected_tally(
        asked, people(("female", "0.9", 2 * 10**5), ("male", "-0.4", 3 * 10**5), ("other", "0", 5 * 10**5))
    )
    said = estimate(asked, tally).questions[0].sensitivity
    assert said is not None
    moved = []
    for changed in range(3):
        for step in (0.01, -0.01):
            shares = np.array([0.2, 0.3, 0.5])
            others = shares * (1 - shares[changed] - step) / (1 - shares[changed])
            others[changed] = shares[changed] + step
            wrong = with_shares(asked, *others)
            before, after = (estimate(s, Tally(s.digest, tally.counts)).questions[0] for s in (asked, wrong))
            moved += [abs(before.gaps[pair].estimate - after.gaps[pair].estimate) for pair in before.gaps]
    assert said.share_error == pytest.approx(max(moved), rel=1e-3)


def test_where_means_are_not_told_it_is_the_most_that_a_wrong_share_could_do():
    asked = study(coin_question())
    said = estimate(asked, Tally(asked.digest, (400, 600))).questions[0].sensitivity
    assert said is not None
    assert said.share_error_is_bound
    # The study believes in halves, but 51 % of its clients are women, all at 1, and the men are all at -1.
    ones = 1000 * (0.51 * (0.5 + 1 / 4) + 0.49 * (0.5 + 1 / 4))
    assert gap_of(asked, (1000 - round(ones), round(ones))) == pytest.approx(2.0)
    # Women at 1 and men at 1 is the worst: a gap of 0 looks like 0.04.
    ones = 10_000 * (0.51 * (0.5 + 1 / 4) + 0.49 * (0.5 - 1 / 4))
    assert said.share_error == pytest.approx(gap_of(asked, (10_000 - round(ones), round(ones))))
    assert said.share_error == pytest.approx(0.04)


def test_estimated_shares_cannot_be_wrong():
    asked = study(tells_all())
    said = estimate(asked, expected_tally(asked, PEOPLE)).questions[0].sensitivity
    assert said is not None
    assert said.share_error is None
    assert not said.share_error_is_bound


@pytest.mark.parametrize("shares", [("0.3", "0.7"), ()])
def test_forging_one_answer_in_a_hundred_moves_the_gap_as_far_as_it_says(shares: tuple[str, ...]):
    asked = study(tells_all(*shares))
    tally = expected_tally(asked, PEOPLE)
    said = estimate(asked, tally).questions[0].sensitivity
    assert said is not None
    moved = []
    for symbol in range(len(tally.counts)):
        counts = [round(0.99 * n) for n in tally.counts]
        counts[symbol] += tally.contributors - sum(counts)
        moved.append(abs(gap_of(asked, tuple(counts)) - gap_of(asked, tally.counts)))
    assert said.forged == pytest.approx(max(moved), rel=1e-3)


def test_forgers_may_all_pick_the_same_question():
    one, two = study(coin_question()), study(coin_question(), tells_all("0.5", "0.5", metric=RECALL))
    alone = estimate(one, Tally(one.digest, (50_000, 50_000))).questions[0].sensitivity
    beside = estimate(two, Tally(two.digest, (50_000, 50_000, 25_000, 25_000, 25_000, 25_000))).questions[0].sensitivity
    assert alone is not None
    assert beside is not None
    assert alone.forged == pytest.approx(0.04)
    assert beside.forged == pytest.approx(0.04 * 2 / 1.01, rel=0.02)


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
    expected = designed(Goal((0.5, 0.5), expect=0.8), "4")
    asked = study(Question(RECALL, expected.attribute, "gap", expected.design, "4", expected.channel, expect=0.9))
    really = people(("female", "0.9", 510_000), ("male", "0.9", 490_000))
    tally = expected_tally(asked, really)
    result = estimate(asked, tally).questions[0]
    assert result.sensitivity is not None
    assert result.sensitivity.share_error is not None
    moved = abs(result.gap("female", "male").estimate)
    # Uncentred, 0.01 would move it by 0.01 * 4 * 0.8 / 2 = 0.016.
    assert moved < 0.004
    assert result.sensitivity.share_error == pytest.approx(moved, rel=0.05)


@pytest.mark.parametrize(("share", "limited"), [("0.01", False), ("0.0101", False), ("0.012", True), ("0.1", True)])
def test_a_rare_group_whose_share_could_be_nothing_has_no_limit(share: str, limited: bool):
    asked = study(tells_all(share, f"{1 - float(share):.4f}"))
    tally = expected_tally(asked, people(("female", "0.6", 30_000), ("male", "-0.2", 970_000)))
    said = estimate(asked, tally).questions[0].sensitivity
    assert said is not None
    assert said.share_error is not None
    assert np.isfinite(said.share_error) == limited
    document = said.to_dict()
    assert (document["gap_moves_per_0.01_of_share"] is None) == document["share_error_without_limit"] == (not limited)


@pytest.mark.parametrize("constant", [0.5, -0.5])
def test_where_means_are_not_told_they_may_be_far_from_a_scores_constant_too(constant: float):
    told = estimands_of(coin_question())
    plain, pair = _share_error(told, None, [(0, 1)])
    assert pair == (0, 1)
    assert plain > 0
    assert _share_error(replace(told, constant=constant), None, [(0, 1)])[0] == pytest.approx(1.5 * plain)
