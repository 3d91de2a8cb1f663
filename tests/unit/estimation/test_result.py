"""How results print and convert, and that their names are Fairlearn's."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from fairgauge.errors import CannotEstimate, MissingExtra
from fairgauge.estimation import Estimate, Gap, Interval, QuestionEstimate, Sensitivity

FEMALE, MALE, OTHER = "female", "male", "other"
QUESTION = QuestionEstimate(
    metric="recall",
    attribute="sex",
    groups=(FEMALE, MALE, OTHER),
    answers=1234,
    gaps=(
        Gap((FEMALE, MALE), Interval(-0.04, -0.05, -0.03), 0.25),
        Gap((FEMALE, OTHER), Interval(0.01, -0.02, 0.04)),
        Gap((MALE, OTHER), Interval(0.03, 0.01, 0.05)),
    ),
    means={FEMALE: Interval(0.78, 0.77, 0.79), MALE: Interval(0.82, 0.81, 0.83)},
    overall_interval=Interval(0.8, 0.79, 0.81),
    shares={FEMALE: Interval(0.5, 0.4, 0.6)},
    answered=Interval(0.9, 0.8, 1.0),
    fit=0.7,
    sensitivity=Sensitivity(share_error=0.02, share_error_is_bound=True, forged=None),
    warnings=("Take care.",),
)
EMPTY = QuestionEstimate("recall", "sex", (FEMALE, MALE), 0, (), None, None, None, None, None, None, ("No answers.",))
ESTIMATE = Estimate("d" * 64, 0.99, "finite", 0.05, (QUESTION,))


def test_names_are_those_of_a_metric_frame():
    assert QUESTION.overall == 0.8
    assert QUESTION.overall_ci == (0.79, 0.81)
    assert QUESTION.by_group == {FEMALE: 0.78, MALE: 0.82}
    assert QUESTION.by_group_ci == {FEMALE: (0.77, 0.79), MALE: (0.81, 0.83)}
    assert QUESTION.difference() == -0.04
    assert QUESTION.difference_ci() == (-0.05, -0.03)


def test_fairlearn_has_these_names():
    """The names that MetricFrame has for the same concepts, so that nobody learns two words for one thing."""
    for name in ("overall", "by_group", "difference", "overall_ci", "by_group_ci", "difference_ci"):
        assert hasattr(QUESTION, name)


def test_differences_are_signed_and_turn_around():
    assert QUESTION.difference(MALE, FEMALE) == 0.04
    assert QUESTION.difference_ci(MALE, FEMALE) == (0.03, 0.05)
    assert QUESTION.difference(OTHER, MALE) == -0.03


def test_the_main_gap_is_the_largest_in_size():
    assert QUESTION.gap is not None
    assert QUESTION.gap.groups == (FEMALE, MALE)


def test_what_is_not_told_raises_and_says_why():
    with pytest.raises(CannotEstimate, match=r"recall: these answers do not tell the gap\. No answers\."):
        EMPTY.difference()
    with pytest.raises(CannotEstimate, match="do not tell a gap between female and nobody"):
        QUESTION.difference(FEMALE, "nobody")


def test_nothing_is_none():
    assert (EMPTY.gap, EMPTY.overall, EMPTY.overall_ci, EMPTY.by_group, EMPTY.by_group_ci) == (None,) * 5
    assert list(EMPTY.rows()) == []


def test_dict_has_exactly_the_promised_members():
    document = ESTIMATE.to_dict()
    assert list(document) == ["study", "confidence", "interval", "guarantee", "tolerance", "questions"]
    (question,) = document["questions"]
    assert {"metric", "attribute", "answers", "gap", "gaps", "means", "overall", "warnings"} <= set(question)
    assert question["gap"] == {
        "groups": [FEMALE, MALE], "estimate": -0.04, "low": -0.05, "high": -0.03, "p_value": 0.25,
    }  # fmt: skip
    assert question["gaps"][1] == {"groups": [FEMALE, OTHER], "estimate": 0.01, "low": -0.02, "high": 0.04}
    assert question["means"][MALE] == {"estimate": 0.82, "low": 0.81, "high": 0.83}
    assert question["overall"] == {"estimate": 0.8, "low": 0.79, "high": 0.81}
    assert question["sensitivity"] == {
        "gap_moves_per_0.01_of_share": 0.02, "share_error_is_bound": True, "gap_moves_per_0.01_forged": None,
    }  # fmt: skip
    assert question["warnings"] == ["Take care."]
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_dict_of_nothing():
    (question,) = Estimate("d" * 64, 0.99, "finite", None, (EMPTY,)).to_dict()["questions"]
    names = ("gap", "means", "overall", "shares", "answered", "fit_p_value", "sensitivity")
    assert [question[name] for name in names] == [None] * 7
    assert question["gaps"] == []


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
    first, second, *_, last = text.splitlines()
    assert first.startswith("recall by sex, 1,234 answers (0.99 confidence; holds for the clients who answered")
    assert second.split() == ["female", "-", "male", "-0.0400", "[-0.0500,", "-0.0300]"]
    assert last == "  ! Take care."


def test_questions_are_found_by_metric_and_by_attribute():
    by_age = replace(QUESTION, attribute="age")
    precision = replace(QUESTION, metric="precision")
    both = replace(ESTIMATE, questions=(QUESTION, by_age, precision))
    assert ESTIMATE["recall"] is QUESTION
    assert both["recall", "age"] is by_age
    assert both["precision"] is precision
    for unknown in ("recall", "f1", ("recall", "income")):
        with pytest.raises(KeyError):
            both[unknown]
