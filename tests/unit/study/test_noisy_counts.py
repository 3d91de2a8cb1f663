"""What sites count: cells, and what is no such thing."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fairgauge.errors import BadStudy, InvalidInput
from fairgauge.study import NoisyCounts, Release, Study, counted
from tests.samples import RECALL, SEX, sample_question, site_study


class TestAStudyOfThem:
    def test_counts_cells(self) -> None:
        assert (site_study().symbols, site_study("levels").symbols) == (8, 6)
        assert site_study().epsilon == 1.0

    def test_asks_for_every_rate_in_one_table(self) -> None:
        assert [len(table) for table in site_study().tables] == [5]
        assert [question.metric.name for question in site_study("levels").questions] == ["score"]

    def test_names_no_metric_that_the_outcome_implies(self) -> None:
        document = json.loads(site_study().to_bytes())
        assert document["metrics"] == []
        assert set(document["tables"][0]) == {"attribute", "outcome", "epsilon", "records", "person"}

    def test_has_no_other_table(self) -> None:
        with pytest.raises(BadStudy, match="questions=2 tables: must be one, where it has noisy counts"):
            replace(site_study(), questions=(*site_study().questions, sample_question()))

    def test_asks_for_nothing_else(self) -> None:
        first, *others = counted(NoisyCounts(SEX, "confusion", 1))
        with pytest.raises(BadStudy, match="must be those that the noisy counts answer"):
            Study("Other", (replace(first, metric=RECALL), *others))


def test_a_channel_is_asked_for_where_there_is_none() -> None:
    with pytest.raises(InvalidInput, match="mechanism=noisy counts: must be for devices"):
        _ = site_study().questions[0].channel


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: NoisyCounts(SEX, "other", 1), 'outcome=other: must be "confusion" or "levels"'),  # type: ignore[arg-type]
    (lambda: NoisyCounts(SEX, "confusion", 0), "epsilon=0: must be above 0"),
    (lambda: NoisyCounts(SEX, "confusion", 1, records=0), "records=0: must be an integer from 1 to 1000"),
    (lambda: NoisyCounts(SEX, "confusion", 1, person=""), "person='': must be text of 1 to 2000 characters"),
    (lambda: NoisyCounts(RECALL, "confusion", 1), "attribute=a Metric: must be an Attribute"),  # type: ignore[arg-type]
    (
        lambda: NoisyCounts(SEX, "confusion", 1, metric=RECALL),
        "metric=recall: must not be given",
    ),
    (lambda: NoisyCounts(SEX, "levels", 1, metric=RECALL), "levels=nothing: must be given where the outcome is levels"),
    (lambda: NoisyCounts(SEX, "levels", 1, metric=SEX, levels=[0]), "metric=an Attribute: must be a Metric"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("mistake", "text"), MISTAKES, ids=[text[:40] for _, text in MISTAKES])
def test_a_mistake_gets_one_line(mistake: Callable[[], Any], text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        mistake()
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize("term", [{"gateway": "AQAg"}, {"epoch": 3600}, {"release": Release(9, "0.001", 3)}])
def test_no_term_hides_what_is_no_secret(term: dict[str, Any]):
    with pytest.raises(BadStudy, match=f"{next(iter(term))}=something: must not be given where sites answer"):
        replace(site_study(), **term)
    with pytest.raises(BadStudy, match="admission=open: must be tickets where sites answer"):
        replace(site_study(), admission="open")
