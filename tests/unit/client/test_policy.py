"""What a person is told on their own side, and that it holds neither group nor value."""

from typing import Any

import pytest

from fairgauge.client.policy import misfits
from tests.samples import sample_question, sample_study, two_questions
from tests.silence import PEOPLE, hostile_studies, person

SEX, RECALL = "sex must be one of female, male", "recall must be a number from 0 to 1"


@pytest.mark.parametrize(
    ("who", "strict", "lenient"),
    [
        (person(), [], []),
        (person("platypus"), [SEX], [SEX]),
        (person(None), [SEX], []),
        (person(recall=76), [RECALL], [RECALL]),
        (person(recall=float("nan")), [RECALL], [RECALL]),
        (person(recall=...), [RECALL], []),
        (person(7, "much"), [SEX, RECALL], [SEX, RECALL]),
    ],
)
def test_what_does_not_fit_is_named(who: Any, strict: list[str], lenient: list[str]) -> None:
    assert misfits(sample_study(), who) == strict
    assert misfits(sample_study(sample_question(abstain=True)), who) == lenient


def test_a_group_without_a_name_is_of_no_attribute_where_there_are_several() -> None:
    who = {"group": "female", "values": {"recall": 1, "error": 1}}
    assert misfits(two_questions(), who) == [SEX]  # who has no age may abstain


def test_nothing_of_a_person_is_in_it() -> None:
    for who in PEOPLE.values():
        for study in hostile_studies():
            said = " ".join(misfits(study, who))
            assert "platypus" not in said
            assert "0.8125390625" not in said
