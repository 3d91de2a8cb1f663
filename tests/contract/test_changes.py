"""The change that a page shows is the difference between the example without fairgauge and with it."""

import difflib
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# The page, and the words in which it counts the lines.
CHANGES = {
    "flower-quickstart": ("flower.md", "The change has {} lines in {}\nfiles"),
    "nvflare": ("nvflare.md", "The change to the job has {} lines in {} file"),
}
NUMBERS = ("no", "one", "two", "three", "four")


def files_of(folder: Path) -> dict[str, list[str]]:
    found = (path for path in sorted(folder.rglob("*")) if path.suffix in (".py", ".toml", ".json"))
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8").splitlines() for path in found}


def changed(before: dict[str, list[str]], after: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the lines that left and came, for each file that is not as it was."""
    found = {name: _lines(difflib.unified_diff(before[name], after[name], lineterm="")) for name in after}
    return {name: lines for name, lines in found.items() if lines}


def _lines(diff: Iterable[str]) -> list[str]:
    return [line for line in diff if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def shown(diff: str) -> dict[str, list[str]]:
    """Return the same of a diff as a page shows it."""
    found: dict[str, list[str]] = {}
    for part in diff.split("\n--- "):
        name = part.removeprefix("--- ").splitlines()[0]
        found[name] = _lines(part.splitlines()[2:])
    return found


@pytest.mark.parametrize("example", CHANGES)
def test_a_page_shows_the_real_difference(example: str, tmp_path: Path) -> None:
    page, counted = CHANGES[example]
    folder = ROOT / "examples" / example
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert f"```{{literalinclude}} ../examples/{example}/private.diff\n" in text

    app = tmp_path / "app"
    shutil.copytree(folder, app, ignore=shutil.ignore_patterns("__pycache__", "build"))
    before = files_of(app)
    diff = (folder / "private.diff").read_text(encoding="utf-8")
    subprocess.run(["patch", "-p0", "--fuzz=0"], cwd=app, input=diff, text=True, check=True, capture_output=True)
    real = changed(before, files_of(app))
    assert real == shown(diff)
    assert not any("from fairgauge" in line for lines in before.values() for line in lines if lines)

    added = sum(line.startswith("+") for lines in real.values() for line in lines)
    assert counted.format(added, NUMBERS[len(real)]) in text


def test_the_twin_with_another_line_is_noticed() -> None:
    diff = (ROOT / "examples" / "nvflare" / "private.diff").read_text(encoding="utf-8")
    assert shown(diff) != shown(diff.replace("+from fairgauge.client", "+from fairgauge.study"))
