"""What sites count: cells, and what is no such thing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fairgauge.errors import BadStudy, InvalidInput
from fairgauge.study import Site
from tests.samples import RECALL, SEX, sample_question, site_study


class TestSites:
    def test_count_cells(self) -> None:
        assert (site_study().symbols, site_study("levels").symbols) == (8, 6)
        assert site_study().epsilon == 1.0
        assert site_study().tables == ()

    def test_have_no_questions(self) -> None:
        with pytest.raises(BadStudy, match="questions=1 questions: must be none in a study for sites"):
            replace(site_study(), questions=(sample_question(),))


MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: Site(SEX, "other", 1), 'outcome=other: must be "confusion" or "levels"'),  # type: ignore[arg-type]
    (lambda: Site(SEX, "confusion", 0), "epsilon=0: must be above 0"),
    (lambda: Site(SEX, "confusion", 1, records=0), "records=0: must be an integer from 1 to 1000"),
    (lambda: Site(SEX, "confusion", 1, person=""), "person='': must be text of 1 to 2000 characters"),
    (lambda: Site(RECALL, "confusion", 1), "attribute=a Metric: must be an Attribute"),  # type: ignore[arg-type]
    (lambda: Site(SEX, "confusion", 1, metric=RECALL), "metric=something: must not be given where the outcome is conf"),
    (lambda: Site(SEX, "levels", 1, metric=RECALL), "levels=nothing: must be given where the outcome is levels"),
    (lambda: Site(SEX, "levels", 1, metric=SEX, levels=[0]), "metric=an Attribute: must be a Metric"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("mistake", "text"), MISTAKES, ids=[text[:40] for _, text in MISTAKES])
def test_a_mistake_gets_one_line(mistake: Callable[[], Any], text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        mistake()
    assert str(caught.value).startswith(text)
