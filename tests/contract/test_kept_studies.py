"""The study in ``examples/first-study`` is what the commands on the pages make today, to the bit."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from docs import refresh

KEPT = refresh.ROOT / "examples" / "first-study"
# Files that pages make with a design that needs no solver; they are not kept.
NOT_KEPT = {"response.json": "randomized-response", "alike.json": "randomized-response"}
# What readers make of their own numbers; tests/e2e/test_visits.py does that.
OWN = {"mine.json"}


def designs() -> dict[str, list[str]]:
    """Return the arguments of every ``fairgauge design`` that a page runs or shows, by the file that it writes."""
    fence = re.compile(r"^```(?:console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found: dict[str, list[str]] = {}
    for block in (text for page in refresh.PAGES for text in fence.findall(page.read_text(encoding="utf-8"))):
        for command in re.findall(r"^(?:\$ )?fairgauge (design (?:.*\\\n)*.*)$", block, re.MULTILINE):
            arguments = shlex.split(command.partition(" > ")[0].replace("\\\n", ""))
            # For sites, without a table; kept in another example; or the paper's own, which need no solver.
            if {"--outcome", "--cross", "--budgets"} & set(arguments):
                continue
            if arguments[1].endswith(".toml"):  # what readers make of a file of their own
                continue
            file = arguments[arguments.index("-o") + 1]
            assert found.setdefault(file, arguments) == arguments, f"two pages make {file} in two ways"
    return found


def test_every_kept_study_has_a_command_on_a_page():
    assert sorted({*designs()} - {*NOT_KEPT} - OWN) == sorted(p.name for p in KEPT.glob("*.json"))


@pytest.mark.parametrize("name", sorted({*designs()} - {*NOT_KEPT} - OWN))
def test_a_command_on_a_page_makes_the_kept_study_to_the_bit(name: str, tmp_path: Path):
    code = "from fairgauge.cli import main; main()"
    subprocess.run([sys.executable, "-c", code, *designs()[name]], cwd=tmp_path, capture_output=True, check=True)
    assert (tmp_path / name).read_bytes() == (KEPT / name).read_bytes()


@pytest.mark.parametrize(("name", "design"), NOT_KEPT.items())
def test_what_is_made_and_not_kept_needs_no_solver(name: str, design: str):
    assert designs()[name][-4:] == ["--design", design, "-o", name]
