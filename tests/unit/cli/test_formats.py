"""Tables for programs and for papers, through the commands."""

import csv
import io
from pathlib import Path

from tests.unit.cli.conftest import Run, refused


def test_an_estimate_as_csv_is_unrounded(fairgauge: Run, files: tuple[Path, Path]):
    rows = list(csv.DictReader(io.StringIO(fairgauge("estimate", *files, "--csv").out)))
    told = fairgauge("estimate", *files, "--json").json["questions"][0]
    assert [row["quantity"] for row in rows] == ["female - male", "female", "male", "overall", "impact ratio"]
    assert float(rows[0]["estimate"]) == told["gaps"][0]["estimate"]
    assert float(rows[4]["high"]) == told["impact_ratio"]["high"]


def test_an_estimate_in_markdown_is_a_table(fairgauge: Run, files: tuple[Path, Path]):
    lines = fairgauge("estimate", *files, "--markdown").out.splitlines()
    assert lines[:2] == ["| metric | attribute | quantity | estimate | low | high |", "|---|---|---|---:|---:|---:|"]
    assert lines[2].startswith("| recall | sex | female - male | 0.2 | 0.1")
    assert len(lines) == 7


def test_a_plan_has_them_too_and_one_at_a_time(fairgauge: Run):
    typed = ["plan", "--group", "a=0.5", "--group", "b=0.5", "--epsilon", 1, "--clients", "1e5"]
    rows = list(csv.DictReader(io.StringIO(fairgauge(*typed, "--csv").out)))
    assert [row["design"] for row in rows][:2] == ["randomized-response", "laplace"]
    assert "assumes" not in rows[0]
    assert refused(fairgauge(*typed, "--csv", "--json"), "output=--json and --csv: must be one of them")
