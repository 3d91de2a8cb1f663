"""docs/study-file.md lists every field that a study's own file may have, and its command lines are ones that work."""

import re
import tomllib
from decimal import Decimal

from docs import study_file
from fairgauge.planning.draft_fields import FIELDS
from fairgauge.planning.study_draft import Draft


def test_the_page_is_current():
    assert study_file.PAGE.read_text(encoding="utf-8") == study_file.page()


def test_every_field_is_on_it_and_its_example_is_read():
    page = study_file.page()
    for one in FIELDS:
        assert f"| `{one.name}` | `{one.example}` | {one.about} |" in page
    (example,) = re.findall(r"```toml\n(.+?)```", page, flags=re.DOTALL)
    assert Draft.read(tomllib.loads(example, parse_float=Decimal)).table.labels == {"sex": {"F": "female", "M": "male"}}


def test_the_options_of_ten_usual_tasks_are_halved():
    before, after = (sum(map(study_file.options, column)) for column in list(zip(*study_file.TASKS, strict=True))[1:])
    assert len(study_file.TASKS) == 10
    assert 2 * after <= before
