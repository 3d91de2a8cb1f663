"""From counts to estimates: numbers where they can be told, sentences where not.

Covers: fairgauge.estimation.inference.
"""

from dataclasses import replace

import numpy as np
import pytest

from fairgauge.errors import BadTally, CannotEstimate, InvalidInput
from fairgauge.estimation import KINDS, Interval, QuestionEstimate, estimate
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.honesty import IMPOSSIBLE, SUSPICIOUS
from fairgauge.estimation.interval_readers import READERS, counts_of
from fairgauge.estimation.p_values import _LEVELS
from fairgauge.study import Metric
from fairgauge.tallies import Tally
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.samples import RECALL
from tests.surveys import attribute, coin_question, designed, expected_tally, people, study, tells_all

PEOPLE = people(("female", "0.8", 300_000), ("male", "0.6", 700_000))
EVERY_INTERVAL = pytest.mark.parametrize("interval", KINDS)


def means_of(found: QuestionEstimate) -> dict[str, float]:
    return {group: mean.estimate for group, mean in found.means.items()}


def width(interval: Interval) -> float:
    return interval.high - interval.low


@EVERY_INTERVAL
@pytest.mark.parametrize("shares", [("0.3", "0.7"), ()])
def test_estimates_are_right_for_average_counts(shares: tuple[str, ...], interval: str):
    asked = study(tells_all(*shares, metric=RECALL))
    found = estimate(asked, expected_tally(asked, PEOPLE), interval=interval)["recall"]
    assert found.answers == 10**6
    assert found.gap("female", "male").estimate == pytest.approx(0.2, abs=1e-5)
    assert found.gap("female", "male").low < 0.2 < found.gap("female", "male").high
    assert means_of(found) == pytest.approx({"female": 0.8, "male": 0.6}, abs=1e-5)
    assert found.overall is not None
    assert found.overall.estimate == pytest.approx(0.66, abs=1e-5)
    if shares:
        assert found.shares == {}
    else:
        assert found.shares["female"].estimate == pytest.approx(0.3, abs=1e-5)
    assert found.warnings == ()
    assert found.fit is not None
    assert found.fit > 0.5


def test_numbers_are_in_the_units_of_the_metric():
    asked = study(tells_all("0.3", "0.7", metric=Metric("error", "-5", "15")))
    tally = expected_tally(asked, people(("female", "10", 300_000), ("male", "-4", 700_000)))
    found = estimate(asked, tally)["error"]
    assert means_of(found) == pytest.approx({"female": 10, "male": -4}, abs=1e-3)
    assert found.gap("female", "male").estimate == pytest.approx(14, abs=1e-3)
    assert found.overall is not None
    assert found.overall.estimate == pytest.approx(0.2, abs=1e-3)


def test_estimates_are_signed_and_not_clipped():
    asked = study(tells_all("0.3", "0.7", metric=RECALL))
    # Counts that no share of high values explains: the second symbol is for women at 1.
    tally = Tally(asked.digest, (10, 40, 25, 25))
    found = estimate(asked, tally)["recall"]
    assert found.means["female"].estimate > 1
    gap = found.gap("female", "male")
    assert found.gap("male", "female") == -gap
    assert gap.estimate > 0
    assert gap.low < gap.high
    assert gap.high > 1
    assert any(w.startswith("The estimate for female is outside 0 to 1") for w in found.warnings)


def test_abstaining_counts_only_those_who_gave_both():
    asked = study(tells_all("0.3", "0.7", metric=RECALL, abstain=True))
    population = people(
        ("female", "0.8", 240_000), ("male", "0.6", 560_000), (None, None, 100_000), ("male", None, 100_000)
    )
    found = estimate(asked, expected_tally(asked, population))["recall"]
    assert found.gap("female", "male").estimate == pytest.approx(0.2, abs=1e-4)
    assert found.overall is not None
    assert found.overall.estimate == pytest.approx(0.66, abs=1e-4)
    assert found.answered is not None
    assert found.answered.estimate == pytest.approx(0.8, abs=1e-5)
    assert found.answered.low < 0.8 < found.answered.high


def test_stated_shares_are_of_those_who_do_not_abstain_and_that_is_said():
    """Everyone is at 0.9, but more women abstain: stated shares then give a gap that is not there."""
    population = people(
        ("female", "0.9", 350_000), ("male", "0.9", 450_000), ("female", None, 150_000), ("male", None, 50_000)
    )
    sentence = "The shares are taken to be those of the people who did not abstain:"
    asked = study(tells_all("0.5", "0.5", metric=RECALL, abstain=True))
    found = estimate(asked, expected_tally(asked, population))["recall"]
    assert found.gap("female", "male").high < 0
    assert any(warning.startswith(sentence) for warning in found.warnings)
    asked = study(tells_all(metric=RECALL, abstain=True))
    found = estimate(asked, expected_tally(asked, population))["recall"]
    assert found.gap("female", "male").low < 0 < found.gap("female", "male").high
    assert not any(warning.startswith(sentence) for warning in found.warnings)


@EVERY_INTERVAL
def test_a_group_too_small_to_tell_gets_a_sentence_and_no_number(interval: str):
    asked = study(tells_all(metric=RECALL))
    tally = expected_tally(asked, people(("female", "0.8", 20), ("male", "0.6", 20_000)))
    found = estimate(asked, tally, interval=interval)["recall"]
    assert (found.gaps, found.sensitivity) == ({}, None)
    assert found.headline.kind == "untold"
    assert list(found.means) == ["male"]
    reason = "cannot be estimated: the share of female is not clearly above zero."
    assert f"The mean of female {reason}" in found.warnings
    assert f"The gap between female and male {reason}" in found.warnings
    assert found.shares["female"].low < 0.001 < found.shares["female"].high


def test_of_three_groups_the_clear_ones_are_told():
    asked = study(tells_all(groups=3, metric=RECALL))
    tally = expected_tally(asked, people(("female", "0.8", 9000), ("male", "0.6", 9000), ("other", "0.5", 5)))
    found = estimate(asked, tally)["recall"]
    assert list(found.gaps) == [("female", "male")]
    assert len([w for w in found.warnings if w.startswith("The gap between")]) == 2
    assert found.sensitivity is not None
    assert found.sensitivity.forged is not None
    assert found.sensitivity.forged < 1


def test_where_nobody_answers_the_question_that_is_said_and_nothing_raised():
    asked = study(tells_all("0.3", "0.7", metric=RECALL, abstain=True))
    found = estimate(asked, expected_tally(asked, people((None, None, 100))))["recall"]
    assert (found.gaps, found.means, found.overall) == ({}, {}, None)
    reason = "cannot be estimated: the part of people who answered is not clearly above zero."
    assert f"The overall mean {reason}" in found.warnings
    unknown = study(tells_all(metric=RECALL, abstain=True))
    found = estimate(unknown, expected_tally(unknown, people((None, None, 100))))["recall"]
    assert found.shares == {}
    assert f"The share of female {reason}" in found.warnings


def test_a_study_of_the_gap_tells_no_means_and_says_so():
    asked = study(designed(Scores(Target((0.5, 0.5))), "1"))
    tally = expected_tally(asked, people(("female", "0.8", 5000), ("male", "0.6", 5000)))
    found = estimate(asked, tally)["recall"]
    assert found.gap("female", "male").estimate == pytest.approx(0.2, abs=0.01)
    assert (found.means, found.overall) == ({}, None)
    assert found.warnings == ("This study can estimate the gap, not the means of the groups.",)


def test_a_study_that_tells_nothing_says_so():
    asked = study(replace(coin_question(), attribute=attribute()))
    found = estimate(asked, Tally(asked.digest, (40, 60))).questions[0]
    assert (found.gaps, found.means, found.overall, found.shares) == ({}, {}, None, {})
    assert found.warnings == (
        "This study can estimate neither the gap nor the means of the groups.",
        (
            "The gap between female and male cannot be estimated: "
            "the study's channel does not tell groups apart well enough."
        ),
    )


def test_no_answers_yet():
    asked = study(coin_question(), tells_all("0.5", "0.5", metric=RECALL))
    empty = estimate(asked, Tally.empty(asked))
    assert [q.warnings for q in empty.questions] == [("There are no answers yet.",)] * 2
    some = estimate(asked, Tally(asked.digest, (30, 40, 0, 0, 0, 0)))
    assert some["recall"].answers == 0
    assert some["recall"].warnings == ("There are no answers yet.",)


@EVERY_INTERVAL
@pytest.mark.parametrize("answers", [1, 2, 20])
@pytest.mark.parametrize("abstain", [True, False])
@pytest.mark.parametrize("shares", [("0.3", "0.7"), ()])
def test_few_answers_never_raise(shares: tuple[str, ...], abstain: bool, answers: int, interval: str):
    asked = study(tells_all(*shares, abstain=abstain))
    for symbol in (1, asked.symbols - 1):
        counts = [0] * asked.symbols
        counts[symbol] = answers
        found = estimate(asked, Tally(asked.digest, tuple(counts)), interval=interval, tolerance=0.1).questions[0]
        assert found.answers == answers
        for _, interval_found in found.rows():
            shown = interval_found.shown
            assert shown.low <= shown.estimate <= shown.high
            assert interval_found.low < interval_found.high
            assert np.isfinite([interval_found.low, interval_found.high]).all()


def test_few_answers_to_one_of_several_questions_never_raise():
    asked = study(coin_question(), tells_all("0.5", "0.5", metric=RECALL, abstain=True))
    for counts in ((1, 0, 0, 0, 0, 0, 0), (0, 1, 1, 0, 0, 0, 0), (5, 5, 0, 0, 0, 0, 9)):
        for interval in KINDS:
            estimate(asked, Tally(asked.digest, counts), interval=interval, tolerance=0.0)


def test_several_questions_are_about_all_clients():
    """One of two questions is about as precise as a study with half as many answers."""
    question, other = tells_all("0.5", "0.5", metric=RECALL), coin_question()
    together = study(question, other)
    everyone = people(("female", "1", 50_000), ("male", "1", 50_000))
    half = people(("female", "1", 25_000), ("male", "1", 25_000))
    alone = study(question)
    population = people(("female", "1", 100_000), ("male", "1", 100_000))
    found = estimate(together, expected_tally(together, everyone))["recall"]
    single = estimate(alone, expected_tally(alone, half))["recall"]
    assert found.answers == single.answers == 50_000
    assert found.gap("female", "male").estimate == pytest.approx(0, abs=1e-3)
    wide, narrow = (width(f.gap("female", "male")) for f in (found, single))
    assert 0.9 * narrow < wide < 1.2 * narrow
    four = estimate(together, expected_tally(together, population))["recall"]
    assert width(four.gap("female", "male")) == pytest.approx(wide / 2**0.5, rel=0.06)


def test_more_confidence_is_wider():
    asked = study(tells_all("0.3", "0.7"))
    tally = expected_tally(asked, people(("female", "0.8", 300), ("male", "0.6", 700)))
    for interval in KINDS:
        widths = [
            width(estimate(asked, tally, confidence=c, interval=interval).questions[0].gap("female", "male"))
            for c in (0.5, 0.9, 0.99, 0.999999)
        ]
        assert widths == sorted(widths)


def test_gaps_of_three_groups_hold_together():
    """Each of three gaps is as wide as a gap alone would be at a third of alpha."""
    asked = study(tells_all("0.2", "0.3", "0.5"))
    tally = expected_tally(asked, people(("female", "0.8", 2000), ("male", "0.6", 3000), ("other", "0", 5000)))
    for interval in KINDS:
        found = estimate(asked, tally, confidence=0.97, interval=interval).questions[0]
        assert list(found.gaps) == [("female", "male"), ("female", "other"), ("male", "other")]
        assert found.headline.groups == ("female", "other")
        stricter = estimate(asked, tally, confidence=0.99, interval=interval).questions[0]
        assert width(stricter.gap("female", "other")) > width(found.gap("female", "other"))
        told = estimands_of(asked.questions[0])
        alone = READERS[interval](told, counts_of(tally.counts)).ratio((told.gaps or {})[0, 2], 0.01)
        gap = found.gap("female", "other")
        assert (gap.low, gap.high) == pytest.approx((alone.low, alone.high))


@EVERY_INTERVAL
@pytest.mark.parametrize("shares", [("0.3", "0.7"), ()])
def test_the_p_value_agrees_with_the_interval(shares: tuple[str, ...], interval: str):
    asked = study(tells_all(*shares))
    tally = expected_tally(asked, people(("female", "0.35", 30_000), ("male", "0", 70_000)))
    found = estimate(asked, tally, interval=interval, tolerance=0.1).questions[0]
    p_value = found.p_values["female", "male"]
    if p_value == 1.0:
        again = estimate(asked, tally, interval=interval, confidence=0.5).questions[0]
        assert again.gap("female", "male").low <= 0.1
        return
    assert p_value >= 1e-12
    # That of a test whose levels are not nested is one of some levels: the next smaller one does not exclude it.
    less = 0.95 if p_value not in _LEVELS else max((level for level in _LEVELS if level < p_value), default=0) / p_value
    for factor, excluded in ((1.05, True), (less, False)):
        if 1e-12 < factor * p_value < 0.5:
            again = estimate(asked, tally, interval=interval, confidence=1 - factor * p_value).questions[0]
            assert (again.gap("female", "male").low > 0.1) is excluded


def test_the_p_value_of_a_negative_gap_is_that_of_the_positive_one():
    asked = study(tells_all("0.5", "0.5"))
    up = expected_tally(asked, people(("female", "0.2", 5000), ("male", "0", 5000)))
    down = expected_tally(asked, people(("female", "0", 5000), ("male", "0.2", 5000)))
    first, second = (estimate(asked, t, tolerance=0.01, interval="normal").questions[0] for t in (up, down))
    pair = ("female", "male")
    assert first.gaps[pair].estimate == pytest.approx(-second.gaps[pair].estimate, abs=1e-3)
    assert 1e-6 < first.p_values[pair] < 0.1
    assert first.p_values[pair] == pytest.approx(second.p_values[pair], rel=0.05)


def test_p_values_at_the_ends():
    asked = study(tells_all("0.3", "0.7"))
    tally = expected_tally(asked, people(("female", "0.8", 300_000), ("male", "0.6", 700_000)))

    def p(tolerance: float) -> float:
        return estimate(asked, tally, tolerance=tolerance).questions[0].p_values["female", "male"]

    assert p(0.0) == _LEVELS[-1] == 1e-6
    assert p(0.2) == 1.0
    assert p(0.5) == 1.0


def test_a_share_that_is_clear_at_the_asked_confidence_only_still_has_a_p_value():
    asked = study(tells_all())
    tally = expected_tally(asked, people(("female", "1", 700), ("male", "-1", 9300)))
    found = estimate(asked, tally, tolerance=0.05, confidence=0.9, interval="normal").questions[0]
    strict = estimate(asked, tally, confidence=1 - 1e-12, interval="normal").questions[0]
    assert strict.gaps == {}
    assert found.p_values["female", "male"] < 0.1


def test_without_a_tolerance_there_is_no_p_value():
    asked = study(coin_question())
    found = estimate(asked, Tally(asked.digest, (40, 60))).questions[0]
    assert (found.p_values, found.headline.p_value) == ({}, None)


def test_forged_counts_are_said_to_be():
    asked = study(designed(Scores(Target((0.5, 0.5))), "1"))
    counts = [0] * asked.symbols
    counts[0] = 10_000
    found = estimate(asked, Tally(asked.digest, tuple(counts))).questions[0]
    assert any(w.startswith("Honest answers to this study do not give such counts (p = ") for w in found.warnings)
    assert list(found.rows()) == []
    # Some that are forged among honest ones are seldom, not impossible.
    asked = study(tells_all("0.5", "0.5"))
    counts = list(expected_tally(asked, people(("female", "0.9", 500), ("male", "0.9", 500))).counts)
    for forged in range(150, 1_000, 5):
        told = estimate(asked, Tally(asked.digest, (counts[0] + forged, *counts[1:])), interval="normal").questions[0]
        assert told.fit is not None
        if IMPOSSIBLE < told.fit < SUSPICIOUS:
            break
    assert told.gaps
    assert any(w.startswith("Honest answers to this study seldom give such counts (p = ") for w in told.warnings)


@pytest.mark.parametrize(("women", "told"), [(500_000, True), (530_000, False)])
def test_means_that_contradict_the_gap_are_not_told_and_that_is_said(women: int, told: bool):
    """A centred score hardly feels that more women answered than is stated; the means do, and differ by more."""
    expected = designed(Scores(Target((0.5, 0.5)), AssumedValues(expect=0.8)), "4")
    asked = study(replace(expected, expect="0.9"))
    tally = expected_tally(asked, people(("female", "0.9", women), ("male", "0.9", 10**6 - women)))
    found = estimate(asked, tally).questions[0]
    said = [warning for warning in found.warnings if "contradict the gap" in warning]
    assert (set(found.means), len(said)) == ({"female", "male"} if told else set(), int(not told))
    assert (found.impact_ratio is not None) == told
    assert found.gaps
    if not told:
        with pytest.raises(CannotEstimate, match="contradict the gap"):
            found.means["female"]


def test_the_normal_interval_warns_where_answers_are_few():
    asked = study(coin_question())
    few, many = (Tally(asked.digest, (n, n)) for n in (4999, 5000))
    sentence = "With 9,998 answers the normal interval is only roughly right: prefer population."
    assert sentence in estimate(asked, few, interval="normal").questions[0].warnings
    assert sentence not in estimate(asked, few).questions[0].warnings
    assert not any("roughly" in w for w in estimate(asked, many, interval="normal").questions[0].warnings)


def test_a_tally_of_another_study_is_refused():
    asked, other = study(coin_question()), study(tells_all())
    with pytest.raises(BadTally, match=f"study=.*: must be {asked.digest}"):
        estimate(asked, Tally.empty(other))


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("confidence", 1.5, "must be from 0.5 to below 1"),
        ("confidence", float("nan"), "must be from 0.5 to below 1"),
        ("interval", "exact", "must be one of population, anytime, normal$"),
        ("tolerance", -0.1, "must be 0 or above"),
        ("tolerance", float("nan"), "must be 0 or above"),
        ("tolerance", float("inf"), "must be 0 or above"),
    ],
)
def test_bad_arguments_are_refused(field: str, value: object, rule: str):
    asked = study(coin_question())
    with pytest.raises(InvalidInput, match=f"^{field}=.*: {rule}"):
        estimate(asked, Tally.empty(asked), **{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("study_", "tally", "said"),
    [
        ("study.json", None, "study=a str: must be a Study"),
        (None, b"{}", "tally=a bytes: must be a Tally"),
    ],
)
def test_wrong_types_are_told_in_one_line(study_: object, tally: object, said: str):
    asked = study(coin_question())
    with pytest.raises(InvalidInput, match=f"^{said}$"):
        estimate(study_ or asked, tally or Tally.empty(asked))  # type: ignore[arg-type]


def test_swapped_arguments_are_told_in_one_line():
    asked = study(coin_question())
    with pytest.raises(InvalidInput, match="study=a Tally: must be a Study: the study comes first, then the tally"):
        estimate(Tally.empty(asked), asked)  # type: ignore[arg-type]


def test_people_are_shown_only_what_is_possible():
    asked = study(tells_all("0.3", "0.7", metric=RECALL, abstain=True))
    found = estimate(asked, Tally(asked.digest, (10, 40, 25, 25, 0)))["recall"]
    assert found.answered is not None
    assert (found.answered.high > 1, found.answered.shown.high, found.answered.bounds) == (True, 1, (0, 1))
    assert (found.means["female"].high > 1, found.means["female"].shown.high) == (True, 1)
    for _, interval in replace(found, response={}).rows():
        assert -1 <= interval.shown.low <= interval.shown.estimate <= interval.shown.high <= 1
