"""Metrics, attributes and questions as a scientist types them, and what a mistake is answered with."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from fairgauge.errors import BadStudy
from fairgauge.study import Attribute, Metric, Question, Study
from tests.samples import RECALL, SEX, sample_channel, sample_question, sample_study


def test_a_metric_is_typed_with_numbers() -> None:
    assert Metric("recall", 0, 1) == Metric("recall", "0", "1")
    assert Metric("error", -0.5, Decimal("2.50")) == Metric("error", "-0.5", "2.5")
    assert Metric("third", Fraction(1, 4), 1).low == "0.25"


def test_an_attribute_is_typed_with_its_shares() -> None:
    assert (
        Attribute("sex", {"female": 0.6, "male": 0.4}, answering="alike")
        == Attribute("sex", ["female", "male"], ["0.6", "0.4"], answering="alike")
        == SEX
    )
    assert Attribute("age", {"a": 0.1, "b": 0.2, "c": 0.7}, answering="alike").shares == (
        "0.1",
        "0.2",
        "0.7",
    )  # as floats they do not sum
    assert Attribute("age", (name for name in "abc")).groups == ("a", "b", "c")


def test_a_study_is_typed_with_a_list() -> None:
    assert Study("Sample", [sample_question()]) == Study("Sample", (sample_question(),)) == sample_study()
    assert hash(Study("Sample", [sample_question()])) == hash(sample_study())


def test_values_can_be_replaced() -> None:
    assert replace(RECALL, high="2").high == "2"
    assert replace(SEX, shares=None, answering="any").shares is None
    assert replace(sample_question(), epsilon="2").epsilon == "2"


def test_what_is_expected_is_in_the_metrics_units() -> None:
    score = Metric("score", 0, 100)
    question = Question(score, SEX, "gap", "sample", 1.1, sample_channel(), expect=80, spread=12.5)
    assert (question.epsilon, question.expect, question.spread) == ("1.1", "80", "12.5")
    assert score.to_v(80) == pytest.approx(0.6)
    assert replace(question, spread="max").spread == "max"


def test_shares_have_an_error_and_a_source() -> None:
    sex = Attribute(
        "sex", {"female": 0.6, "male": 0.4}, share_error=0.01, share_source="Census 2021", answering="alike"
    )
    assert (sex.share_error, sex.share_source) == ("0.01", "Census 2021")


def question(**changes: Any) -> Question:
    return replace(sample_question(), **changes)


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: Metric(SEX, 0, 1), "name=Attribute(name='sex', groups=('female', 'male'), shares=(...: must be text"),  # type: ignore[arg-type]
    (lambda: Metric("recall", 1, 0), "high=0: must be above low, which is 1"),
    (lambda: Metric("recall", None, 1), "low=None: must be a number"),  # type: ignore[arg-type]
    (lambda: Metric(0, 1, "recall"), "name=0: must be text of 1 to 200 characters"),  # type: ignore[arg-type]
    (lambda: Attribute("sex", "female"), "groups=female: must be a list of names, or names with their shares"),
    (lambda: Attribute("sex", {"female", "male"}), "groups=a set: must be a list of names"),
    (lambda: Attribute("sex", 2), "groups=2: must be a list of names"),  # type: ignore[arg-type]
    (lambda: Attribute("sex", RECALL), "groups=a Metric: must be a list of names"),  # type: ignore[arg-type]
    (
        lambda: Attribute("sex", {"female": 0.6, "male": 0.5}, answering="alike"),
        "shares=0.6, 0.5: must sum to exactly 1",
    ),
    (
        lambda: Attribute("sex", {"female": "half", "male": 0.5}, answering="alike"),
        "shares[0]=half: must be a plain decimal in quotes",
    ),
    (lambda: Attribute("sex", {"female": None, "male": 1}, answering="alike"), "shares[0]=None: must be a number"),
    (lambda: Attribute("sex", {"a": 1, "b": 0}, [1, 0], answering="alike"), "shares=a list: must not be given twice"),
    (
        lambda: Attribute("sex", ["a", "b"], "0.5", answering="alike"),
        "shares=0.5: must be a list of numbers, one for each group",
    ),
    (lambda: Attribute("sex", ["a", "b"], {"a": 1}, answering="alike"), "shares=a dict: must be a list of numbers"),
    (
        lambda: Attribute("sex", ["a", "b"], share_error=0.1),
        "share_error=0.1: must not be given where shares are not: state every group's, or leave it out",
    ),
    (lambda: replace(SEX, share_error="0"), "share_error=0: must be above 0 and below 1"),
    (lambda: replace(SEX, share_error="1"), "share_error=1: must be above 0 and below 1"),
    (lambda: replace(SEX, share_source=""), "share_source='': must be text"),
    (lambda: question(metric=SEX), "metric=an Attribute: must be a Metric"),
    (lambda: question(attribute=RECALL), "attribute=a Metric: must be an Attribute"),
    (lambda: question(mechanism="coin"), "mechanism=coin: must be a Mechanism"),
    (lambda: question(target="median"), 'target=median: must be "gap" or "means"'),
    (lambda: question(epsilon=0), "epsilon=0: must be above 0"),
    (lambda: question(expect=1.1), "expect=1.1: must be from 0 to 1"),
    (lambda: question(spread=0.51), 'spread=0.51: must be above 0 and at most half of the range, or "max"'),
    (lambda: question(spread=0), "spread=0: must be above 0"),
    (lambda: question(spread="most"), "spread=most: must be above 0 and at most half of the range"),
    (lambda: Study("Sample", sample_question()), "questions=a Question: must be a list of questions"),  # type: ignore[arg-type]
    (lambda: Study("Sample", [RECALL, SEX]), "questions[0]=a Metric: must be a Question"),  # type: ignore[list-item]
    (lambda: Study([sample_question()], "Sample"), "title=[Question("),  # type: ignore[arg-type]
    (lambda: Study("Sample", "Sample"), "questions=Sample: must be a list of questions"),  # type: ignore[arg-type]
    (lambda: Study.from_bytes("g.json"), "document=g.json: must be given as bytes; load() takes a file's name"),  # type: ignore[arg-type]
    (lambda: Study.from_bytes({}), "document=a dict: must be given as bytes"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("mistake", "text"), MISTAKES, ids=[text[:40] for _, text in MISTAKES])
def test_a_mistake_gets_one_line(mistake: Callable[[], Any], text: str) -> None:
    with pytest.raises(BadStudy) as caught:
        mistake()
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)


def test_only_designed_questions_make_a_study() -> None:
    asked = Question(RECALL, SEX, expect=0.9)
    assert (asked.target, asked.designed) == ("gap", False)
    with pytest.raises(BadStudy, match=r"questions\[0\]=recall by sex: must be designed"):
        Study("Sample", [asked])


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"abstaining": 0.3}, "abstaining=0.3: must not be given where nobody may abstain"),
        ({"abstain": True, "abstaining": 1}, "abstaining=1: must be from 0 to below 1"),
        ({"symbols": 100}, "symbols=100: must be from 128 to 4096"),
        (
            {"abstain": True, "design": "sample", "epsilon": 1.1, "mechanism": sample_channel()},
            "abstain=True: must be as",
        ),
        ({"mechanism": sample_channel()}, "design=None: must be text"),
        ({"design": "sample", "mechanism": sample_channel()}, "epsilon=None: must be"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_only_a_design_needs_is_checked_too(known: dict[str, Any], said: str) -> None:
    with pytest.raises(BadStudy) as raised:
        Question(RECALL, SEX, **known)
    assert str(raised.value).startswith(said)
