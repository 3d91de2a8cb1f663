"""``fairgauge embed``: a copy, its types, and the lines for a page."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairgauge.cli import make_app
from fairgauge.collector.pages.take_part import bundle, integrity
from fairgauge.errors import InvalidInput

STUDY = f"https://collector.example/studies/{'a' * 64}"


def run(*args: str) -> str:
    found = CliRunner().invoke(make_app(["embed"]), ["embed", *args], catch_exceptions=True)
    if found.exception is not None:
        raise found.exception
    return found.output


def test_the_lines_fit_the_copy(tmp_path: Path) -> None:
    script, element = run(STUDY, "-o", str(tmp_path)).splitlines()
    seal = integrity((tmp_path / "fairgauge-study.js").read_bytes())
    assert script == f'<script type="module" src="/fairgauge-study.js" integrity="{seal}"></script>'
    assert element == f'<fairgauge-study src="{STUDY}"></fairgauge-study>'
    assert (tmp_path / "fairgauge-study.js").read_bytes() == bundle()
    assert "export class Ledger" in (tmp_path / "fairgauge-study.d.ts").read_text(encoding="utf-8")


def test_as_json(tmp_path: Path) -> None:
    found = json.loads(run(STUDY, "-o", str(tmp_path), "--json"))
    assert found == {"study": STUDY, "script": "fairgauge-study.js", "integrity": integrity(bundle())}


@pytest.mark.parametrize(
    ("args", "rule"),
    [
        (["collector.example"], "study=collector.example: must be an address such as"),
        ([STUDY + '"><script>'], "must be an address such as"),
        ([STUDY, "-o", "/nowhere"], "output=/nowhere: must be a folder that there is"),
    ],
)
def test_a_mistake_gets_one_line(args: list[str], rule: str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(rule)):
        run(*args)
