"""The documents on docs/study-format.md are what that page says they are."""

import json
import re
from pathlib import Path

import pytest

from fairgauge import Study

PAGE = (Path(__file__).parents[2] / "docs" / "study-format.md").read_text(encoding="utf-8")
EXAMPLES = [json.loads(text) for text in re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


def test_the_study_on_the_page_is_valid_and_private():
    study = Study.from_bytes(json.dumps(EXAMPLES[0]).encode())
    assert 0.999 < study.epsilon <= 1


@pytest.mark.parametrize("field", sorted({*EXAMPLES[0], *EXAMPLES[0]["questions"][0]} - {"metric", "attribute"}))
def test_every_field_of_the_study_has_a_row(field: str):
    assert re.search(rf"^\| .*`{field}`.* \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("example", "fields"), [(1, {"study", "id", "symbol"}), (2, {"study", "counts"})])
def test_the_answer_and_the_tally_have_their_fields_and_no_others(example: int, fields: set[str]):
    assert set(EXAMPLES[example]) == fields
