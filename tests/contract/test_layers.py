"""Rooms import downwards only, whichever way: by a statement, which the linter sees, or by a string, which it does not.

``bench/house.py`` reads what every module imports and counts a module's name in a string like an import.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from bench.house import MOST_LINES, MOST_NAMES, Module, crowded, cycles, read_modules

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "fairgauge"
# Who may import what is named by a value: the names of a package, and a command that was typed.
BY_NAME = {"lazy.py", "cli/entry.py"}
# Whose members are all names by nature: what is raised, sent, and typed with several commands.
LISTS = ["cli._options", "collector.documents", "errors", "server.server_errors"]
LOADS = re.compile(r"\bimport_module\b|\b__import__\b|\brun_module\b|\bexec\(|\beval\(")


@cache
def layers() -> dict[str, int]:
    """Return how high each room is, as the linter has it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = (one for one in settings["contracts"] if one["id"] == "layers")
    high = reversed(contract["layers"])
    return {room.strip(): height for height, row in enumerate(high) for room in row.split("|")}


@cache
def ours() -> dict[str, Module]:
    """Return every module of the source."""
    return read_modules()


def upward(modules: dict[str, Module]) -> list[str]:
    """Return the imports from one room into another that is not below it."""
    found = []
    for module in modules.values():
        own = module.name.split(".")[1]
        for other in sorted(module.imports):
            room = other.split(".")[1]
            if own in ("__init__", room):  # the package itself knows all rooms
                continue
            if room == "__init__" or layers()[room] >= layers()[own]:
                found.append(f"{module.name} -> {other}")
    return found


def copy_of(folder: Path, **files: str) -> dict[str, Module]:
    """Read a small package with these files."""
    for name, text in files.items():
        path = folder / f"{name.replace('_of_', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return read_modules(folder)


def test_no_module_imports_one_that_imports_it():
    assert [sorted(ring) for ring in cycles(ours())] == []


def test_no_room_imports_one_above_it():
    # What a simulation makes is a tally, and nothing else crosses a layer.
    beside = {"fairgauge.simulation", "fairgauge.tallies"}
    assert [one for one in upward(ours()) if {".".join(x.split(".")[:2]) for x in one.split(" -> ")} != beside] == []


def test_a_module_has_a_small_door():
    assert crowded(ours()) == [f"fairgauge.{name}" for name in LISTS]


@pytest.mark.parametrize(
    "text",
    ["\n".join(f"name_{n}, _ = {n}, 0" for n in range(MOST_NAMES + 1)), "\n" * (MOST_LINES + 1)],
    ids=["names", "lines"],
)
def test_a_module_of_many_names_or_lines_is_noticed(tmp_path: Path, text: str):
    files = copy_of(tmp_path, study_of_document=text, study_of_terms="_hidden = 1\n" * MOST_LINES)
    assert crowded(files) == ["fairgauge.study.document"]


def test_what_is_imported_by_a_value_is_imported_in_two_places():
    found = {
        path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py") if LOADS.search(path.read_text("utf-8"))
    }
    assert found == BY_NAME


@pytest.mark.parametrize(
    "looks_up",
    [
        'plot = above("fairgauge.reports.plots", "plot_study")',
        "def plot():\n    from fairgauge.reports.plots import plot_study",
        "def plot():\n    import fairgauge.reports.plots",
        'plot = import_module(f"fairgauge.reports.{name}")',
        'plot = getattr(import_module("fairgauge.reports"), "plots")',
    ],
)
def test_a_value_that_names_who_draws_it_is_noticed(tmp_path: Path, looks_up: str):
    """Twins of what was there: each makes a cycle of two rooms that the linter may not see."""
    lazy = 'lazily(__name__, {"plots": "plots"})'
    drawn = "from fairgauge.study.document import Study\nplot_study = 1"
    above = copy_of(tmp_path, study_of_document=looks_up, reports_of_plots=drawn, reports_of___init__=lazy)
    assert [len(ring) for ring in cycles(above)] in ([2], [3])
    assert upward(above)
    assert all(one.startswith("fairgauge.study.document -> fairgauge.reports") for one in upward(above))
    late = 'plot = late("plot")'
    assert cycles(copy_of(tmp_path, study_of_document=late)) == []
    assert upward(read_modules(tmp_path)) == []


def test_who_asks_the_package_for_a_verb_asks_above(tmp_path: Path):
    found = copy_of(
        tmp_path,
        __init__='__version__ = "1"\nlazily(__name__, {"estimate": "estimation"})',
        estimation_of___init__="from fairgauge.study.document import Study",
        study_of_document="from fairgauge import estimate",
    )
    assert len(cycles(found)) == 1
    assert upward(found) == ["fairgauge.study.document -> fairgauge.__init__"]
    assert cycles(copy_of(tmp_path, study_of_document="from fairgauge import __version__")) == []
