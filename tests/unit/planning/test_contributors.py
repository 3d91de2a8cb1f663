"""Who will answer: what devices and sites heed of what is said before there is a mechanism."""

from typing import Any

import pytest

from fairgauge import Metric
from fairgauge.errors import InvalidInput
from fairgauge.planning.contributors import contributors_of
from fairgauge.planning.counted_questions import CountedQuestions, SitePeople
from fairgauge.planning.study_draft import Draft
from fairgauge.targets.assumed_values import Reckoning
from tests.sites import SEX

SCORE = Metric("score", 0, 10)


@pytest.mark.parametrize("outcome", [None, "confusion", "levels"])
def test_nothing_that_is_unsaid_is_refused(outcome: str | None) -> None:
    names = ("target", "design", "weight", "records", "person", "plan.clients", "plan.sites", "plan.people")
    contributors_of(outcome).check_heeded(dict.fromkeys(names))


@pytest.mark.parametrize(
    ("outcome", "field", "rule"),
    [
        (None, "records", "must be given with outcome: devices hold one person each"),
        (None, "plan.sites", "must be given with outcome: devices hold one person each"),
        ("levels", "weight", "must not be given with outcome: sites count everyone they hold"),
        ("confusion", "plan.clients", "must not be given with outcome: sites count everyone they hold"),
    ],
)
def test_what_is_about_others_is_refused_by_its_name(outcome: str | None, field: str, rule: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        contributors_of(outcome).check_heeded({"title": "T", field: 0})
    assert (refused.value.field, refused.value.rule) == (field, rule)


def test_devices_are_asked_for_each_metric_and_sites_for_all_that_their_counts_tell() -> None:
    (question,) = contributors_of(None).ask(SCORE, SEX, {"target": "means", "abstain": True, "records": 3})
    assert (question.metric, question.target, question.abstain) == (SCORE, "means", True)
    asked = contributors_of("confusion").ask(None, SEX, {"records": 3, "target": "means"})
    assert isinstance(asked, CountedQuestions)
    assert (asked.records, len(asked)) == (3, 5)


@pytest.mark.parametrize(
    ("stated", "people"),
    [
        (
            {"outcome": "levels", "metrics": [{"name": "score", "high": 10, "expect": 7, "spread": 1}]},
            SitePeople(500, values=Reckoning(0.4, 0.2)),
        ),
        (
            {"outcome": "confusion", "plan": {"people": "5e2", "right": 0.9, "positives": 0.3}},
            SitePeople(500, 0.3, 0.9),
        ),
    ],
)
def test_a_plan_reckons_with_people_and_a_design_does_not(stated: dict[str, Any], people: SitePeople) -> None:
    draft = Draft.read({"attribute": SEX, "plan": {"people": 500}} | stated)
    planned, made = draft.planned_questions(), draft.questions()
    assert isinstance(planned, CountedQuestions)
    assert isinstance(made, CountedQuestions)
    assert (planned.people, made.people) == (people, None)


def test_a_plan_for_sites_needs_how_many_people_they_hold() -> None:
    with pytest.raises(InvalidInput, match="people=nothing: must be given in a plan for sites"):
        Draft.read({"attribute": SEX, "outcome": "confusion"}).planned_questions()
    stated = {"attribute": SEX, "outcome": "levels", "metrics": [{"name": "m"}], "plan": {"people": 5, "right": 0.9}}
    with pytest.raises(InvalidInput, match=r"plan\.right=0\.9: must be given where the outcome is confusion"):
        Draft.read(stated).planned_questions()
