"""How results print and convert, one word for one thing, and what is said where there is no number."""

import json
import pickle
from dataclasses import replace

import pandas as pd
import pytest

from fairgauge.errors import CannotEstimate, InvalidInput, MissingExtra
from fairgauge.estimation import Estimate, Interval, QuestionEstimate, Sensitivity
from fairgauge.estimation.interval_kinds import KINDS
from tests.samples import sample_question
from tests.sites import confusion_study

FEMALE, MALE, OTHER = "female", "male", "other"
QUESTION = QuestionEstimate(
    metric="recall",
    attribute="sex",
    groups=(FEMALE, MALE, OTHER),
    answers=1234,
    gaps={
        (FEMALE, MALE): Interval(-0.04, -0.05, -0.03, (-1, 1)),
        (FEMALE, OTHER): Interval(0.01, -0.02, 0.04, (-1, 1)),
        (MALE, OTHER): Interval(0.03, 0.01, 0.05, (-1, 1)),
    },
    means={FEMALE: Interval(0.78, 0.77, 0.79, (0, 1)), MALE: Interval(0.82, 0.81, 0.83, (0, 1))},
    overall=Interval(0.8, 0.79, 0.81, (0, 1)),
    shares={FEMALE: Interval(0.5, 0.4, 0.6, (0, 1))},
    answered=Interval(0.99, 0.97, 1.01, (0, 1)),
    p_values={(FEMALE, MALE): 0.25},
    fit=0.7,
    sensitivity=Sensitivity(share_error=0.02, forged=None),
    warnings=("Take care.",),
)
EMPTY = QuestionEstimate(
    "recall", "sex", (FEMALE, MALE), 0, {}, {}, None, {}, None, {}, None, None, ("No answers.",)
)  # fmt: skip
ESTIMATE = Estimate("d" * 64, 0.99, KINDS["population"], 0.05, (QUESTION,))


def test_everything_is_an_interval():
    assert QUESTION.gap(FEMALE, MALE) == QUESTION.gaps[FEMALE, MALE] == Interval(-0.04, -0.05, -0.03)
    assert QUESTION.means[MALE] == Interval(0.82, 0.81, 0.83)
    assert QUESTION.overall == Interval(0.8, 0.79, 0.81)
    assert QUESTION.shares[FEMALE] == Interval(0.5, 0.4, 0.6)
    assert QUESTION.answered == Interval(0.99, 0.97, 1.01)


def test_the_names_of_fairlearn_live_in_the_metric_frame_only():
    for name in ("by_group", "difference", "overall_ci", "by_group_ci", "difference_ci", "ratio"):
        assert not hasattr(QUESTION, name)


def test_gaps_are_signed_and_turn_around():
    assert QUESTION.gap(MALE, FEMALE) == Interval(0.04, 0.03, 0.05)
    assert QUESTION.gap(OTHER, MALE).estimate == -0.03


def test_the_headline_is_the_largest_clear_gap():
    assert (QUESTION.headline.kind, QUESTION.headline.groups) == ("clear", (FEMALE, MALE))
    assert QUESTION.headline.p_value == 0.25


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda: EMPTY.gap(FEMALE, MALE),
            "recall: these answers do not tell the gap between female and male. No answers.",
        ),
        (lambda: EMPTY.means[FEMALE], "recall: these answers do not tell the mean of female. No answers."),
        (lambda: QUESTION.shares[OTHER], "recall: these answers do not tell the share of other. Take care."),
    ],
)
def test_what_is_not_told_raises_and_says_why(ask, said):
    with pytest.raises(CannotEstimate) as raised:
        ask()
    assert str(raised.value) == said


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: QUESTION.gap(FEMALE, "nobody"), "group=nobody: must be one of female, male, other"),
        (lambda: QUESTION.gap(FEMALE, FEMALE), "gap=female and female: must be between two different groups"),
        (lambda: QUESTION.means["nobody"], "group=nobody: must be one of female, male, other"),
        (
            lambda: QUESTION.gaps[FEMALE],  # type: ignore[index]
            "gap=female: must be two of the groups female, male, other",
        ),
        (
            lambda: QUESTION.gaps[MALE, FEMALE],
            "gap=male and female: is there in the other order; the method gap() takes either",
        ),
        (lambda: ESTIMATE["nope"], "metric=nope: must be one of recall"),
    ],
)
def test_what_there_is_not_raises_and_names_what_there_is(ask, said):
    with pytest.raises(InvalidInput) as raised:
        ask()
    assert str(raised.value) == said


def test_nothing_is_empty():
    assert (EMPTY.gaps, EMPTY.means, EMPTY.shares, EMPTY.overall, EMPTY.answered) == ({}, {}, {}, None, None)
    assert EMPTY.headline.kind == "early"
    assert list(EMPTY.rows()) == []


def test_dict_has_exactly_the_promised_members():
    document = ESTIMATE.to_dict()
    assert list(document) == ["study", "confidence", "interval", "about", "guarantee", "tolerance", "questions"]
    (question,) = document["questions"]
    assert list(question) == [
        "metric", "attribute", "answers", "headline", "gaps", "means", "overall", "impact_ratio", "shares", "answered",
        "response_ratios", "tipping_factor",
        "fit_p_value", "sensitivity", "warnings",
    ]  # fmt: skip
    numbers = {"estimate": -0.04, "low": -0.05, "high": -0.03}
    gap = {"groups": [FEMALE, MALE], **numbers, "shown": numbers, "p_value": 0.25}
    assert question["gaps"][0] == gap
    assert question["headline"] == gap | {"kind": "clear", "largest": False}
    assert "p_value" not in question["gaps"][1]
    means = {"estimate": 0.82, "low": 0.81, "high": 0.83}
    assert question["means"][MALE] == means | {"shown": means}
    assert question["sensitivity"] == {
        "gap_moves_per_0.01_of_share": 0.02,
        "gap_moves_per_0.01_forged": None, "share_gap": None, "forged_gap": None,
    }  # fmt: skip
    assert question["warnings"] == ["Take care."]
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_dict_has_numbers_as_they_are_and_beside_them_as_they_are_shown():
    (question,) = ESTIMATE.to_dict()["questions"]
    assert question["answered"] == {
        "estimate": 0.99, "low": 0.97, "high": 1.01, "shown": {"estimate": 0.99, "low": 0.97, "high": 1},
    }  # fmt: skip


def test_dict_of_nothing():
    (question,) = Estimate("d" * 64, 0.99, KINDS["population"], None, (EMPTY,)).to_dict()["questions"]
    names = ("means", "overall", "shares", "answered", "fit_p_value", "sensitivity")
    assert [question[name] for name in names] == [None] * 6
    assert (question["gaps"], question["headline"]) == ([], {"kind": "early"})


def test_frame_has_a_row_for_every_number():
    frame = ESTIMATE.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["metric", "attribute", "quantity", "estimate", "low", "high"]
    assert list(frame["quantity"]) == [
        "female - male", "female - other", "male - other", FEMALE, MALE, "overall", "share of female", "answered",
    ]  # fmt: skip
    assert frame.loc[0, "low"] == -0.05


def test_frame_without_pandas_names_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(MissingExtra, match="data frames need pandas: pip install"):
        ESTIMATE.to_frame()


def test_text_shows_numbers_guarantee_and_warnings():
    text = str(ESTIMATE)
    first, second, *_, answered, last = text.splitlines()
    assert first.startswith("recall by sex, 1,234 answers (0.99 confidence; holds for the population")
    assert second.split() == ["female", "-", "male", "-0.0400", "[-0.0500,", "-0.0300]"]
    assert answered.split() == ["answered", "0.9900", "[", "0.9700,", "1.0000]"]
    assert last == "  ! Take care."


def test_questions_are_found_by_metric_and_by_attribute():
    by_age = replace(QUESTION, attribute="age")
    precision = replace(QUESTION, metric="precision")
    both = replace(ESTIMATE, questions=(QUESTION, by_age, precision))
    assert ESTIMATE["recall"] is QUESTION
    assert both["recall", "age"] is by_age
    assert both["precision"] is precision
    with pytest.raises(InvalidInput, match=r"more than once: must be \('recall', 'sex'\) or \('recall', 'age'\)"):
        both["recall"]
    for unknown in ("f1", ("recall", "income")):
        with pytest.raises(InvalidInput, match="must be one of recall, precision"):
            both[unknown]


def test_results_can_be_kept():
    again = pickle.loads(pickle.dumps(ESTIMATE))
    assert again == ESTIMATE
    with pytest.raises(InvalidInput, match="must be one of female, male, other"):
        again["recall"].means["nobody"]


def test_an_estimate_says_that_nobody_outside_is_taken_to_have_answered_where_they_cannot_abstain():
    words = "as if nobody outside the study answered, which is not known"
    for abstain in (False, True):
        assert (words in replace(ESTIMATE, asked=(sample_question(abstain=abstain),)).guarantee) != abstain
    sites = replace(ESTIMATE, asked=confusion_study().questions)
    assert words not in sites.guarantee
