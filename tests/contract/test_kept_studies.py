"""The studies in ``examples/first-study`` are what the commands on the pages make today, but for the last bits."""

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
SOLVED_BY_NOBODY = {"randomized-response", "laplace"}


def blocks(kind: str) -> list[str]:
    """Return the fenced blocks of this kind on all pages."""
    fence = re.compile(rf"^```{kind}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [found for page in refresh.PAGES for found in fence.findall(page.read_text(encoding="utf-8"))]


def shown_designs() -> dict[str, list[str]]:
    """Return the arguments of every ``fairgauge design`` that pages show and do not run, by the file that it writes."""
    found: dict[str, list[str]] = {}
    for block in blocks("text"):
        for command in re.findall(r"^fairgauge (design (?:.*\\\n)*.*)$", block, re.MULTILINE):
            arguments = shlex.split(command.replace("\\\n", ""))
            file = arguments[arguments.index("-o") + 1]
            assert found.setdefault(file, arguments) == arguments, f"two pages make {file} in two ways"
    return found


def without_table(document: bytes) -> Any:
    """Return a study document with every channel's table left out."""
    study = json.loads(document)
    for question in study["questions"]:
        question["table"] = None
    return study


def test_every_kept_study_has_a_command_on_a_page():
    assert sorted(shown_designs()) == sorted(path.name for path in KEPT.glob("*.json"))


@pytest.mark.parametrize("name", sorted(shown_designs()))
def test_a_kept_study_is_what_its_command_makes_but_for_the_last_bits(name: str, tmp_path: Path):
    code = "from fairgauge.cli import main; main()"
    subprocess.run([sys.executable, "-c", code, *shown_designs()[name]], cwd=tmp_path, capture_output=True, check=True)
    kept, made = (KEPT / name).read_bytes(), (tmp_path / name).read_bytes()
    assert without_table(kept) == without_table(made)
    for old, new in zip(Study.from_bytes(kept).questions, Study.from_bytes(made).questions, strict=True):
        assert Goal.of(old).variance(old.channel) == pytest.approx(Goal.of(new).variance(new.channel), rel=1e-3)


def test_no_page_prints_the_digest_of_a_table_that_a_solver_found_just_now():
    designs = [command for block in blocks("console") for command, _ in refresh.split_commands(block)]
    designs = [command for command in designs if command.startswith("fairgauge design")]
    assert designs
    for command in designs:
        assert re.search(r"--design (\S+)", command)[1] in SOLVED_BY_NOBODY, command  # type: ignore[index]
