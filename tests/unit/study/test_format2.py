"""Study format 2: what needs it, what its tables and symbols are, and what else it refuses."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fairgauge.errors import BadStudy, InvalidInput, NotPrivate
from fairgauge.study import Attribute, Issuer, Metric, Model, Question, Release, Study
from tests.samples import (
    RECALL,
    SEX,
    draft_study,
    joint_questions,
    sample_channel,
    sample_question,
    sample_study,
    site_study,
    two_questions,
    unlinked_study,
)

STUDIES = [draft_study(), unlinked_study(), site_study(), site_study("levels"), Study("Joint", joint_questions())]


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.title)
def test_round_trip(study: Study) -> None:
    assert study.format == 2
    data = study.to_bytes()
    assert Study.from_bytes(data) == study
    untidy = json.dumps(dict(reversed(json.loads(data).items())), indent=2).encode()
    assert Study.from_bytes(untidy).digest == study.digest
    assert b"null" not in data


def changed(**changes: Any) -> Study:
    return replace(sample_study(), **changes)


def asked(**changes: Any) -> Study:
    return Study("Sample", [replace(sample_question(), **changes)])


def needs_format_2() -> list[Study]:
    attributes = [
        replace(SEX, share_error="0.01"),
        replace(SEX, share_source="Census"),
        replace(SEX, help="As in your papers."),
        Attribute("sex", SEX.groups, comparisons=[("female", "male")]),
        Attribute("sex", SEX.groups, shares=[0.5, 0.5]),
    ]
    return [
        *(changed(**{name: text}) for name, text in [("language", "en"), ("purpose", "x"), ("operator", "x")]),
        *(changed(**{name: 100}) for name in ("retention", "planned", "epoch", "hourly")),
        changed(model=Model("m")),
        changed(aim="0.5"),
        changed(admission="open"),
        changed(admission="blind", issuer=Issuer("i", "k")),
        changed(gateway="k"),
        changed(release=Release(1, "0.1", "0")),
        *(asked(**{name: "0.5"}) for name in ("expect", "spread", "weight")),
        asked(metric=replace(RECALL, help="x")),
        *(asked(attribute=attribute) for attribute in attributes),
        Study("Sample", joint_questions()),
        site_study(),
    ]


def test_every_new_thing_needs_format_2_and_changes_the_digest() -> None:
    studies = needs_format_2()
    assert [study.format for study in studies] == [2] * len(studies)
    assert len({study.digest for study in studies}) == len(studies)
    for study in studies:
        assert Study.from_bytes(study.to_bytes()) == study


def test_without_anything_new_it_is_format_1() -> None:
    assert two_questions().format == 1
    assert json.loads(two_questions().to_bytes())["format"] == 1


class TestTables:
    def test_hold_the_questions_that_they_answer(self) -> None:
        study = draft_study()
        assert [[question.metric.name for question in table] for table in study.tables] == [
            ["understood", "delay"],
            ["understood"],
        ]
        assert study.offsets == (0, 24, 31)
        assert [study.offset(index) for index in range(3)] == [0, 0, 24]
        assert [study.question_of(symbol) for symbol in (0, 23, 24, 30)] == [(0, 0), (0, 23), (2, 0), (2, 6)]

    def test_the_largest_epsilon_counts(self) -> None:
        study = Study("Mixed", [*joint_questions(), sample_question(Metric("f1", 0, 1))])
        assert study.epsilon == max(question.channel.epsilon for question in study.questions)

    def test_one_that_spends_too_much_is_refused(self) -> None:
        questions = [replace(question, epsilon="1.09") for question in joint_questions()]
        with pytest.raises(NotPrivate, match=r"questions\[0\] \(recall by sex\) declares epsilon 1.09"):
            Study.from_bytes(Study("Joint", questions).to_bytes())

    @pytest.mark.parametrize(
        "others",
        [
            lambda first, second: [first],
            lambda first, second: [first, sample_question(Metric("f1", 0, 1)), second],
            lambda first, second: [first, replace(second, epsilon="1.2")],
            lambda first, second: [first, replace(second, design="other")],
            lambda first, second: [first, replace(second, attribute=replace(SEX, shares=None, answering="any"))],
            lambda first, second: [first, replace(second, channel=sample_channel(), axis=0)],
        ],
    )
    def test_questions_stand_beside_those_that_are_answered_with_them(
        self, others: Callable[[Question, Question], list[Question]]
    ) -> None:
        with pytest.raises(BadStudy, match="must stand beside the others of the 2 that its channel answers at once"):
            Study("Joint", others(*joint_questions()))


def test_a_name_means_one_thing() -> None:
    other = replace(sample_question(Metric("recall", 0, 2), Attribute("age", ["young", "old"])), weight="2")
    with pytest.raises(BadStudy, match=r"questions\[1\].metric=recall: must be the same metric wherever"):
        Study("Sample", [sample_question(), other])
    sexes = replace(sample_question(Metric("f1", 0, 1), replace(SEX, shares=None, answering="any")), weight="2")
    with pytest.raises(BadStudy, match=r"questions\[1\].attribute=sex: must be the same attribute wherever"):
        Study("Sample", [sample_question(), sexes])


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: changed(release=(10, "0.1", "0")), "release=a tuple: must be a Release"),
    (lambda: changed(model="m"), "model=m: must be a Model"),
    (lambda: changed(site=SEX), "site=an Attribute: must be a Site"),
    (lambda: changed(translations={"de": {}}), "language=nothing: must be given where there are tr"),
    (lambda: changed(translations=["de"], language="en"), "translations=a list: must be an object"),
]


@pytest.mark.parametrize(("mistake", "text"), MISTAKES, ids=[text[:40] for _, text in MISTAKES])
def test_a_mistake_gets_one_line(mistake: Callable[[], Any], text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        mistake()
    assert str(caught.value).startswith(text)
