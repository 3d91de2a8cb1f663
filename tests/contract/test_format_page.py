"""The documents on docs/study-format.md are what that page says they are."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairgauge import Study
from tests.samples import draft_study, site_study, unlinked_study

PAGE = (Path(__file__).parents[2] / "docs" / "study-format.md").read_text(encoding="utf-8")
FORMAT_1_PAGE, _, FORMAT_2_PAGE = PAGE.partition("## The study, format 2")
FORMAT_2_PAGE = FORMAT_2_PAGE.partition("## Canonical bytes")[0]
EXAMPLES = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


FORMAT_1, FORMAT_2, ANSWER, TALLY = EXAMPLES
IN_WAVES = replace(draft_study(), order="waves")
STUDIES_2 = [draft_study(), unlinked_study(), site_study(), site_study("levels"), IN_WAVES]


@pytest.mark.parametrize("example", [FORMAT_1, FORMAT_2], ids=["format 1", "format 2"])
def test_the_study_on_the_page_is_valid_and_private(example: dict[str, Any]):
    study = Study.from_bytes(json.dumps(example).encode())
    assert study.format == example["format"]
    assert 0.999 < study.epsilon <= 1


@pytest.mark.parametrize("field", sorted({*FORMAT_1, *FORMAT_1["questions"][0]} - {"metric", "attribute"}))
def test_every_field_of_the_study_has_a_row(field: str):
    assert re.search(rf"^\| .*`{field}`.* \|", FORMAT_1_PAGE, re.MULTILINE)


def fields_of(part: Any) -> set[str]:
    """Return the names of all fields of a document, at any depth, but for the places of translated texts."""
    if isinstance(part, list):
        return set().union(*map(fields_of, part))
    if not isinstance(part, dict):
        return set()
    inner = [fields_of(value) for name, value in part.items() if name != "translations"]
    return set(part).union(*inner)


@pytest.mark.parametrize("field", sorted(set().union(*(fields_of(json.loads(s.to_bytes())) for s in STUDIES_2))))
def test_every_field_of_format_2_is_on_the_page(field: str):
    rows = re.findall(r"^\| (`.*?) \|", FORMAT_2_PAGE, re.MULTILINE)
    assert any(f"`{field}`" in row for row in rows) or f"`{field}`" in FORMAT_2_PAGE


def test_format_2_has_no_field_that_the_page_names_in_vain():
    """A row of the tables is of a field that a document can have."""
    rows = re.findall(r"^\| (`.*?) \|", FORMAT_2_PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row)}
    known = set().union(*(fields_of(json.loads(study.to_bytes())) for study in STUDIES_2))
    assert named <= known | {"help"}


@pytest.mark.parametrize(("example", "fields"), [(ANSWER, {"study", "id", "symbol"}), (TALLY, {"study", "counts"})])
def test_the_answer_and_the_tally_have_their_fields_and_no_others(example: dict[str, Any], fields: set[str]):
    assert set(example) == fields
