"""Sentences: right about direction and size, and silent about what is not known.

Covers: fairgauge.reports.device_sentences.
"""

from dataclasses import replace

import pytest

from fairgauge.estimation import Interval, QuestionEstimate, Sensitivity
from fairgauge.reports.device_sentences import privacy_sentence, question_sentence
from fairgauge.reports.verdicts import Meaning, odds_after, progress_sentence
from fairgauge.study import Attribute, Metric, Question
from tests.samples import RECALL, sample_channel, sample_question
from tests.surveys import tells_all

QUESTION = sample_question()
FOUND = QuestionEstimate(
    metric="recall", attribute="sex", groups=("female", "male"), answers=1000, gaps={}, means={},
    overall=None, shares={}, answered=None, p_values={}, fit=0.4, sensitivity=Sensitivity(0.012, 0.0274),
    warnings=(),
)  # fmt: skip


Named = tuple[tuple[str, str], Interval]


IF = "IF both answered equally often: "


def found(*gaps: Named, **more: object) -> QuestionEstimate:
    groups = tuple(dict.fromkeys(name for pair, _ in gaps for name in pair)) or FOUND.groups
    return replace(FOUND, gaps=dict(gaps), groups=groups, **more)  # type: ignore[arg-type]


def gap(low: float, high: float, first: str = "female", second: str = "male", reach: float = 1.0) -> Named:
    return (first, second), Interval((low + high) / 2, low, high, (-reach, reach))


def meaning(
    question: Question, found: QuestionEstimate, confidence: float = 0.99, tolerance: float | None = None
) -> Meaning:
    return Meaning(question, found, confidence, tolerance)


def said(*gaps: Named, over: bool = False, **more: object) -> tuple[str, str]:
    told = meaning(QUESTION, found(*gaps, **more)).verdict(over=over)
    return told.kind, told.text


def test_the_line_of_the_issue():
    assert said(gap(-0.049, -0.031)) == (
        "clear",
        f"{IF}The model's recall is between 3.1 and 4.9 points lower for female than for male (99 % confidence).",
    )
    assert "between 3.1 and 4.9 points higher for female" in said(gap(0.031, 0.049))[1]


def test_a_clear_gap_is_never_said_to_start_at_nothing():
    assert "between 0.04 and 5.00 points higher" in said(gap(0.0004, 0.05))[1]
    assert "more than 0 and up to 5.0 points higher" in said(gap(0.00004, 0.05))[1]  # its digits would be no news


def test_where_less_is_better_a_higher_number_is_worse_and_no_four_fifths_are_told():
    errors = replace(
        QUESTION, metric=Metric("fpr", 0, 1, better="lower"), attribute=Attribute("sex", ["female", "male"])
    )
    told = found(gap(0.031, 0.049), impact_ratio=Interval(0.5, 0.4, 0.6, (0, 1)))
    assert meaning(errors, told).verdict().text == (
        "The model's false positive rate is between 3.1 and 4.9 points higher, that is worse, for female than for male "
        "(99 % confidence)."
    )
    lower = meaning(errors, found(gap(-0.049, -0.031))).verdict().text
    assert "points lower, that is better, for female" in lower
    of = "Impact ratio: the lowest group's false positive rate is between 0.40 and 0.60 of the highest group's."
    assert meaning(errors, told).ratio() == of
    assert "four fifths" in str(meaning(replace(errors, metric=RECALL), told).ratio())


@pytest.mark.parametrize(
    ("high", "unit", "size"),
    [(1, None, "3.1 and 4.9 points"), (100, None, "3.1 and 4.9 points"), (500, "ms", "3.1 and 4.9 ms")],
)
def test_a_gap_has_a_unit(high: int, unit: str | None, size: str):
    asked = replace(QUESTION, metric=Metric("wait", 0, high, unit=unit))
    part = 0.01 if high == 1 else 1.0
    text = meaning(asked, found(gap(3.1 * part, 4.9 * part, reach=high))).verdict().text
    assert f"is between {size} higher for" in text


def test_bare_numbers_say_what_they_are_in():
    asked = replace(QUESTION, metric=Metric("words_missed", -5, 4000))
    said = "Values of words missed are in the metric's own unit, from \N{MINUS SIGN}5 to 4,000."
    assert meaning(asked, found(gap(3.1, 4.9, reach=4005))).stated()[0] == said
    assert not [one for one in meaning(QUESTION, found(gap(0.1, 0.2))).stated() if "own unit" in one]


def test_an_interval_with_zero_is_open_and_edges_are_rounded_outward():
    kind, text = said(gap(-0.0123, 0.0045))
    assert kind == "open"
    assert text == (
        f"{IF}The answers do not tell yet for whom the model's recall is higher: for female it is between "
        "1.3 points lower and 0.5 points higher than for male (99 % confidence)."
    )
    assert "do not tell for whom" in said(gap(-0.0123, 0.0045), over=True)[1]
    assert said(gap(0.0, 0.01))[0] == "open"
    assert said(gap(-0.01, 0.0))[0] == "open"


def test_an_interval_as_wide_as_every_gap_there_can_be_is_too_early():
    assert said(gap(-1.2, 0.9)) == (
        "early", "It is too early to tell whether the model's recall differs between female and male.",
    )  # fmt: skip
    assert said(gap(-0.9, 0.9))[0] == "open"
    assert said(gap(-1.2, 0.9), over=True)[1].startswith("Too few answers came to tell")


def test_no_answers_and_no_gap():
    assert said(answers=0) == ("early", "There are no answers yet.")
    assert said(answers=0, over=True) == ("early", "There were no answers.")
    assert said()[0] == "untold"


def test_of_several_gaps_the_largest_clear_one_is_spoken_of():
    gaps = gap(-0.5, 0.7, "a", "b"), gap(0.01, 0.03, "a", "c"), gap(-0.06, -0.02, "b", "c")
    kind, text = said(*gaps)
    assert kind == "clear"
    assert "between 2.0 and 6.0 points lower for b than for c" in text
    assert "largest" not in text  # the gap between a and b may be larger


def test_the_largest_gap_is_said_to_be_it_only_where_the_intervals_show_it():
    clear = gap(0.2, 0.3, "a", "b")
    assert said(clear, gap(-0.05, 0.19, "a", "c"))[1].endswith("That is the largest gap.")
    assert "largest" not in said(clear, gap(-0.05, 0.21, "a", "c"))[1]
    assert "largest" not in said(clear)[1]  # of two groups there is one gap


def test_no_sentence_tells_of_the_impossible():
    assert "between 40 points lower and 100 points higher" in said(gap(-0.4, 1.3))[1]
    assert "between 90.0 and 100.0 points higher" in said(gap(0.9, 1.3))[1]


def test_other_metrics_have_their_own_units():
    question = sample_question(Metric("delay", "0", "40"))
    told = meaning(question, found(gap(1.25, 2.5, reach=40.0)), confidence=0.95).verdict()
    assert (
        str(told) == f"{IF}The model's delay is between 1.2 and 2.5 higher for female than for male (95 % confidence)."
    )


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (-0.01, 0.02, "is within"),
        (0.03, 0.04, "is beyond"),
        (-0.04, -0.021, "is beyond"),
        (0.01, 0.03, "cannot be told"),
    ],
)
def test_a_gap_is_compared_with_the_tolerance(low: float, high: float, word: str):
    told = meaning(QUESTION, found(gap(low, high)), tolerance=0.02).against_tolerance()
    assert told is not None
    assert word in told
    assert "±2 points" in told
    assert meaning(QUESTION, FOUND, tolerance=0.02).against_tolerance() is None


def test_what_is_owed_to_the_shares_is_said_with_its_limits():
    assert meaning(QUESTION, FOUND).stated() == [
        "Shares that are each wrong by up to 0.01 could move the gap by up to 1.2 points."
    ]
    named = Sensitivity(0.012, 0.02, share_gap=("a", "b"), forged_gap=("a", "c"))
    assert meaning(QUESTION, replace(FOUND, sensitivity=named)).stated() == [
        "Shares that are each wrong by up to 0.01 could move the gap between a and b by up to 1.2 points."
    ]
    for estimated in (None, Sensitivity(None, None)):
        assert meaning(QUESTION, replace(FOUND, sensitivity=estimated)).stated() == []


def test_where_the_shares_come_from_and_what_is_allowed_for_is_said():
    known = replace(QUESTION.attribute, share_error="0.02", share_source="Census of 2021.")
    assert meaning(replace(QUESTION, attribute=known), FOUND).stated() == [
        "The shares come from: Census of 2021.",
        "The interval allows each share to be wrong by 0.02.",
        "Shares that are each wrong by up to 0.01 beyond that could move the gap by up to 1.2 points.",
    ]


def test_what_forging_could_do_is_said_with_its_limits():
    assert meaning(QUESTION, FOUND).forging() == "Forging 1 % of the answers could move the gap by up to 2.74 points."
    estimated = replace(FOUND, sensitivity=Sensitivity(None, None))
    assert meaning(QUESTION, estimated).forging() == "Forging 1 % of the answers could move the gap without limit."
    named = replace(FOUND, sensitivity=Sensitivity(0.012, 0.02, forged_gap=("a", "c")))
    between = "Forging 1 % of the answers could move the gap between a and c by up to 2 points."
    assert meaning(QUESTION, named).forging() == between
    assert meaning(QUESTION, replace(FOUND, sensitivity=None)).forging() is None


@pytest.mark.parametrize("moved", [90.5, 1950.0])
def test_forging_is_said_to_move_a_gap_no_farther_than_a_gap_can_be(moved: float):
    asked = replace(QUESTION, metric=Metric("score", "0", "90"))
    forged = replace(FOUND, sensitivity=Sensitivity(None, moved))
    far = "Forging 1 % of the answers could move the gap to anything up to 90, the largest that a gap can be."
    assert meaning(asked, forged).forging() == far
    within = replace(FOUND, sensitivity=Sensitivity(None, 89.0))
    assert meaning(asked, within).forging() == "Forging 1 % of the answers could move the gap by up to 89."


def test_the_fit_check_is_said():
    assert meaning(QUESTION, replace(FOUND, fit=0.5)).fit() == "No sign of forging that this check can see (p = 0.5)."
    forged = meaning(QUESTION, replace(FOUND, fit=1e-5)).fit()
    assert forged.startswith("There are signs of forging: honest answers seldom")
    assert meaning(QUESTION, replace(FOUND, fit=None)).fit() == "There is nothing to check yet."


def test_odds_follow_from_the_exact_loss():
    # The sample's table has a largest ratio of 3, or a hair less.
    assert odds_after(QUESTION.channel.loss, 0.5) == pytest.approx((0.25, 0.75), abs=1e-9)
    assert odds_after(QUESTION.channel.loss, 0.1) == pytest.approx((0.1 / 2.8, 0.3 / 1.2))
    assert "by at most a factor 3.00" in privacy_sentence(QUESTION)


def test_progress_is_said_in_numbers_that_a_plan_can_know():
    assert progress_sentence(412_000, 987_654, "±1 point") == "412,000 of about 990,000 answers needed for ±1 point."
    assert progress_sentence(2_000_000, 987_654, "±1 point") == (
        "2,000,000 answers: more than the 990,000 or so needed for ±1 point."
    )
    assert progress_sentence(1, None, "±1 point") == "1 answer. No number of answers would give the gap to ±1 point."


def test_a_question_is_asked_in_words():
    assert question_sentence(QUESTION) == "Does the model's recall differ between female and male?"
    three = tells_all(metric=RECALL, groups=3)
    assert question_sentence(three).endswith("between female, male and other?")


def test_all_sentences_start_with_the_verdict():
    told = found(gap(-0.049, -0.031), p_values={("female", "male"): 0.002})
    sentences = meaning(QUESTION, told, tolerance=0.02).sentences()
    assert [sentence.split()[0] for sentence in sentences] == ["IF", "Shares", "IF", "IF", "IF", "Forging"]
    stated = replace(QUESTION, attribute=replace(QUESTION.attribute, answering="any"))
    plain = meaning(stated, told, tolerance=0.02).sentences()
    assert [sentence.split()[0] for sentence in plain] == ["The", "Shares", "The", "The", "That", "Forging"]
    assert [sentence.removeprefix(IF) for sentence in sentences] == plain
    ratio = replace(QUESTION, attribute=replace(QUESTION.attribute, answering="1.1"))
    within = "If neither group answered more than 1.1 times as often as the other: "
    said = meaning(ratio, told, tolerance=0.02).sentences()
    assert said[0].startswith(within)
    assert [sentence.removeprefix(within) for sentence in said] == plain
    assert meaning(QUESTION, replace(FOUND, warnings=("Why not.",)), tolerance=0.02).sentences() == []


def test_a_gap_between_several_groups_rests_on_how_often_they_answered():
    """Women of all ages count as they answered: if young women answer more often the margin moves, and no cell does."""
    ages = Attribute("age", ("young", "old"))
    sexes = replace(QUESTION.attribute, shares=None, answering="any")
    crossed = replace(QUESTION, attribute=Attribute.crossed(sexes, ages), mechanism=sample_channel(groups=4))
    margin = meaning(crossed, found(gap(0.031, 0.049))).verdict().text
    assert margin.startswith("IF all groups answered equally often: The model's recall is between")
    cells = meaning(crossed, found(gap(0.031, 0.049, "female, young", "male, young"))).verdict().text
    assert cells.startswith("The model's recall is between")
