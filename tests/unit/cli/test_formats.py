"""Tables for programs and for papers, through the commands."""

import csv
import io
from pathlib import Path

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from fairgauge.cli import make_app
from fairgauge.cli._formats import Form, in_forms
from fairgauge.errors import InvalidInput
from tests.unit.cli.conftest import Run, refused


def test_an_estimate_as_csv_is_unrounded(fairgauge: Run, files: tuple[Path, Path]):
    rows = list(csv.DictReader(io.StringIO(fairgauge("estimate", *files, "--csv").out)))
    told = fairgauge("estimate", *files, "--json").json["questions"][0]
    assert [row["quantity"] for row in rows] == [
        "female - male",
        "female",
        "male",
        "overall",
        "impact ratio",
        "response of female / male",
    ]
    assert float(rows[0]["estimate"]) == told["gaps"][0]["estimate"]
    assert float(rows[4]["high"]) == told["impact_ratio"]["high"]


def test_an_estimate_in_markdown_is_a_table(fairgauge: Run, files: tuple[Path, Path]):
    lines = fairgauge("estimate", *files, "--markdown").out.splitlines()
    head = ["| metric | attribute | quantity | estimate | low | high | condition |", "|---|---|---|---:|---:|---:|---|"]
    assert lines[:2] == head
    assert all(line.endswith(" | IF all groups answered equally often |") for line in lines[2:-1])
    assert lines[-1].endswith(" | IF the stated shares are those of the people |")
    assert lines[2].startswith("| recall | sex | female - male | 0.2 | 0.1")
    assert len(lines) == 8


def test_a_plan_has_them_too_and_one_at_a_time(fairgauge: Run):
    typed = ["plan", "--group", "a=0.5", "--group", "b=0.5", "--epsilon", 1, "--clients", "1e5"]
    rows = list(csv.DictReader(io.StringIO(fairgauge(*typed, "--csv").out)))
    assert [row["design"] for row in rows][:2] == ["randomized-response", "laplace"]
    assert not {"assumes", "condition"} & set(rows[0])
    alike = list(csv.DictReader(io.StringIO(fairgauge(*typed, "--answering", "alike", "--csv").out)))
    assert {row["condition"] for row in alike} == {"IF all groups answer equally often"}
    assert refused(fairgauge(*typed, "--csv", "--json"), "output=--json and --csv: must be one of them")


# What these print is a name, a key or a secret, and no number.
NO_NUMBERS = {
    "terms",
    "texts",
    "embed",
    "token new",
    "ticket new",
    "key show",
    "key rotate",
    "key gateway",
    "issuer key",
    "issuer ticket",
}


def test_wherever_numbers_are_printed_there_are_tables():
    top = get_command(make_app())
    without = set()
    for name, command in top.commands.items():  # type: ignore[attr-defined]
        for inner, one in getattr(command, "commands", {"": command}).items():
            options = {text for each in one.params for text in each.opts}
            if "--json" in options and not {"--csv", "--markdown"} <= options:
                without.add(f"{name} {inner}".strip())
            assert ("--csv" in options) <= ("--json" in options)
    assert without == NO_NUMBERS


def test_counts_as_tables(fairgauge: Run, files: tuple[Path, Path], elsewhere: Path):
    (elsewhere / "p.csv").write_text("group,value,count\nfemale,0.8,300\nmale,0.6,700\n")
    typed = ["simulate", files[0], "p.csv", "--answers", "a.parquet", "-o", "t.json"]
    (drawn,) = csv.DictReader(io.StringIO(fairgauge(*typed, "--csv").out))
    assert drawn["answers"] == "1000"
    counted = fairgauge("tally", files[0], "a.parquet", "-o", "t.json", "--markdown").out.splitlines()
    assert (counted[0], counted[2].split(" | ")[1]) == ("| study | answers | repeated |", "1,000")
    told = fairgauge("report", *files, "-o", "r.html", "--csv").out
    assert told == fairgauge("estimate", *files, "--csv").out


def test_a_command_in_forms_has_three_options_and_takes_one() -> None:
    told: list[tuple[int, str]] = []

    @in_forms
    def count(number: int = 3, *, form: Form) -> None:
        """Count."""
        told.append((number, form))

    app = typer.Typer()
    app.command()(count)
    for typed in (["--csv"], ["--number", "4", "--markdown"], []):
        CliRunner().invoke(app, typed, catch_exceptions=False)
    assert told == [(3, "csv"), (4, "markdown"), (3, "people")]
    with pytest.raises(InvalidInput, match="--json and --csv: must be one of them"):
        CliRunner().invoke(app, ["--json", "--csv"], catch_exceptions=False)
