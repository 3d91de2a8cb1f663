"""The studies in ``examples/first-study`` are what the commands on the pages make today.

A command that a page runs makes the same bytes, on every processor.  One that a page only shows, as ``text``, may make
another table that is as good.
"""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs import refresh
from fairgauge import Study
from fairgauge.goals.goal import Goal

KEPT = refresh.ROOT / "examples" / "first-study"
# Files that pages make with a design that needs no solver; they are not kept.
NOT_KEPT = {"response.json": "randomized-response"}
# What readers make of their own numbers; tests/e2e/test_visits.py does that.
OWN = {"mine.json"}


def blocks(kind: str) -> list[str]:
    """Return the fenced blocks of this kind on all pages."""
    fence = re.compile(rf"^```{kind}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [found for page in refresh.PAGES for found in fence.findall(page.read_text(encoding="utf-8"))]


def designs(kind: str) -> dict[str, list[str]]:
    """Return the arguments of every ``fairgauge design`` in blocks of this kind, by the file that it writes."""
    found: dict[str, list[str]] = {}
    for block in blocks(kind):
        for command in re.findall(r"^(?:\$ )?fairgauge (design (?:.*\\\n)*.*)$", block, re.MULTILINE):
            arguments = shlex.split(command.replace("\\\n", ""))
            if {"--outcome", "--cross"} & set(arguments):  # for sites, without a table; or kept in another example
                continue
            file = arguments[arguments.index("-o") + 1]
            assert found.setdefault(file, arguments) == arguments, f"two pages make {file} in two ways"
    return found


def made(arguments: list[str], folder: Path) -> bytes:
    """Return the study that a command makes here."""
    code = "from fairgauge.cli import main; main()"
    subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, check=True)
    return (folder / arguments[arguments.index("-o") + 1]).read_bytes()


def without_table(document: bytes) -> Any:
    """Return a study document with what a solver finds left out."""
    study = json.loads(document)
    for question in study["questions"]:
        question["table"] = question["levels"] = None
    return study


def test_every_kept_study_has_a_command_on_a_page():
    assert sorted({*designs("console"), *designs("text")} - {*NOT_KEPT} - OWN) == sorted(
        p.name for p in KEPT.glob("*.json")
    )


@pytest.mark.parametrize("name", sorted({*designs("console")} - {*NOT_KEPT}))
def test_a_command_that_a_page_runs_makes_the_kept_study_to_the_bit(name: str, tmp_path: Path):
    assert made(designs("console")[name], tmp_path) == (KEPT / name).read_bytes()


@pytest.mark.parametrize("name", sorted({*designs("text")} - OWN))
def test_a_command_that_a_page_shows_makes_the_kept_study_but_for_the_last_bits(name: str, tmp_path: Path):
    kept, new = (KEPT / name).read_bytes(), made(designs("text")[name], tmp_path)
    assert without_table(kept) == without_table(new)
    for a, b in zip(Study.from_bytes(kept).questions, Study.from_bytes(new).questions, strict=True):
        assert Goal.of(a).variance(a.channel) == pytest.approx(Goal.of(b).variance(b.channel), rel=1e-3)


@pytest.mark.parametrize(("name", "design"), NOT_KEPT.items())
def test_what_is_made_and_not_kept_needs_no_solver(name: str, design: str):
    assert designs("console")[name][-4:] == ["--design", design, "-o", name]
