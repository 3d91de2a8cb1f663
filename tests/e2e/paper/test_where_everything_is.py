"""The door for readers of the paper: its two commands, and the table in which each line is a command that runs."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from fairgauge.cli import main
from fairgauge.paper import optimal_design, paper_figures, tables

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
SECTION = PAGE.split("## Where everything is")[1].split("\n## ")[0]
LINES = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in SECTION.splitlines() if line[:2] == "| "]
HEAD, *ROWS = LINES
COMMANDS = list(dict.fromkeys(command for row in ROWS for command in re.findall(r"`(fairgauge .*?)`", row[2])))
BOX = PAGE.split("## Where everything is")[0]
ARCHIVE = "Datasets_Healthy_Older_People.zip"


def run(monkeypatch: pytest.MonkeyPatch, command: str) -> int:
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a clone, and channels and runs that are few: what is tested is that commands work."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / ARCHIVE).write_bytes(b"no archive")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(optimal_design, "_GRID", optimal_design._GRID[6:11:4])
    monkeypatch.setattr(optimal_design, "MOST", optimal_design._GRID[-1])
    monkeypatch.setattr(optimal_design, "SHOWN", optimal_design.SHOWN[5:6])
    monkeypatch.setattr(tables, "MANY_RUNS", 50)
    monkeypatch.setattr(tables, "EPSILONS", ("0.1", "1.0"))
    monkeypatch.setattr(tables, "CLIENTS", {"1e7": 10**7})
    for name, less in {"_CLIENTS": (100,), "_EPSILONS": ("1",), "RUNS": 50}.items():
        monkeypatch.setattr(optimal_design, name, less)
    # What they show is tested in tests/unit/paper/test_paper_figures.py.
    monkeypatch.setattr(paper_figures, "FIGURES", {"claimed-and-true": paper_figures.FIGURES["claimed-and-true"]})
    # Pages have rows for what is left out here.
    for page in ("table1_page", "table2_page", "coverage_page"):
        monkeypatch.setattr(f"fairgauge.paper.pages.{page}", lambda _: "")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_each_line_is_a_command_that_runs_after_those_above_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    # Its status: the archive is not ours to give, and that it is read is seen from the refusal of another.
    expected = {" dataset ": 2, " --budgets 1:1 --epsilon 1 ": 1}
    for command in COMMANDS:
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        status = next((status for part, status in expected.items() if part in command), 0)
        assert run(monkeypatch, command) == status, command
        wrote = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} != before
        assert wrote == (" -o " in command and status == 0), command


def test_every_part_of_the_paper_has_a_line():
    things = " ".join(row[0] for row in ROWS)
    for thing in ("M_R", "M_L", "GRR", "Chebyshev", "variances", "dataset", *(f"Theorem {n}" for n in (1, 2, 3))):
        assert thing in things
    assert re.findall(r"(?:Table|Figure) \d", things) == ["Table 1", "Table 2", *(f"Figure {n}" for n in (1, 2, 3, 4))]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_pages_and_files_of_a_line_are_there(row: list[str]):
    assert len(row) == len(HEAD) == 5
    assert re.search(r"`fairgauge ", row[2])
    for page in re.findall(r"\]\((.+?)(?:#.*?)?\)", row[3]):
        assert (ROOT / "docs" / page).exists()
    for erratum in re.findall(r"\[(E\d+)\]", row[3]):
        assert f"## {erratum}. " in (ROOT / "docs" / "paper" / "errata.md").read_text(encoding="utf-8")
    for file in re.findall(r"`(.+?)`", row[4]):
        assert (ROOT / "src" / "fairgauge" / file).exists()


@pytest.mark.usefixtures("folder")
def test_the_page_begins_with_the_paper_and_two_commands(monkeypatch: pytest.MonkeyPatch):
    assert "[redone](docs/paper.md)" in README
    for name in ("You Can't Fix What You Can't Measure", "Marc Juarez", "Aleksandra Korolova", "M_R", "M_L"):
        assert name in BOX
    commands = re.findall(r"^fairgauge .*$", BOX, re.MULTILINE)
    assert len(commands) == 2
    assert [run(monkeypatch, command) for command in commands] == [0, 0]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("called", "here"), [("M_R", "randomized-response"), ("M_L", "laplace")])
def test_names_of_the_paper_are_answered_with_ours(
    called: str, here: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    asked = "fairgauge design --title T --group A --group B --metric m:0:1 --epsilon 1 -o s.json --design"
    assert run(monkeypatch, f"{asked} {called}") == 2
    assert f"design={called}: is called {here} here" in capsys.readouterr().err
