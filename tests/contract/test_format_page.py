"""The documents on docs/study-format.md are what that page says they are."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairgauge import Study
from fairgauge.study import Stratum
from tests.samples import full_study, sample_question, site_study, unlinked_study

PAGE = (Path(__file__).parents[2] / "docs" / "study-format.md").read_text(encoding="utf-8")
STUDY_PAGE = PAGE.partition("## The study")[2].partition("## Canonical bytes")[0]
EXAMPLES = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


SMALL, LARGER, ANSWER, TALLY = EXAMPLES
IN_WAVES = replace(full_study(), order="waves", stratum=Stratum("region", "north", "0.4"))
ABSTAINING = Study("Some abstain", [replace(sample_question(abstain=True), abstaining="0.01")])
STUDIES = [full_study(), unlinked_study(), site_study(), site_study("levels"), IN_WAVES, ABSTAINING]


@pytest.mark.parametrize("example", [SMALL, LARGER], ids=["small", "larger"])
def test_the_study_on_the_page_is_valid_and_private(example: dict[str, Any]):
    study = Study.from_bytes(json.dumps(example).encode())
    assert json.loads(study.to_bytes()) == example
    assert 0.999 < study.epsilon <= 1


def fields_of(part: Any) -> set[str]:
    """Return the names of all fields of a document, at any depth, but for the places of translated texts."""
    if isinstance(part, list):
        return set().union(*map(fields_of, part))
    if not isinstance(part, dict):
        return set()
    inner = [fields_of(value) for name, value in part.items() if name != "translations"]
    return set(part).union(*inner)


@pytest.mark.parametrize("field", sorted(set().union(*(fields_of(json.loads(s.to_bytes())) for s in STUDIES))))
def test_every_field_of_a_study_is_on_the_page(field: str):
    rows = re.findall(r"^\| (`.*?) \|", STUDY_PAGE, re.MULTILINE)
    assert any(f"`{field}`" in row for row in rows) or f"`{field}`" in STUDY_PAGE


def test_the_page_names_no_field_in_vain():
    """A row of the tables is of a field that a document can have."""
    rows = re.findall(r"^\| (`.*?) \|", STUDY_PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}
    known = set().union(*(fields_of(json.loads(study.to_bytes())) for study in STUDIES))
    assert named <= known | {"help"}


@pytest.mark.parametrize(
    ("example", "fields"), [(ANSWER, {"study", "id", "symbol"}), (TALLY, {"contributors", "counts", "study"})]
)
def test_the_answer_and_the_tally_have_their_fields_and_no_others(example: dict[str, Any], fields: set[str]):
    assert set(example) == fields
