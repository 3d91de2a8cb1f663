"""What we say about installing is true: names, versions, extras and systems."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from fairgauge import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PLACES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "deploy").iterdir()),
    *sorted((ROOT / "examples").rglob("*.py")),
    *sorted((ROOT / "src").rglob("*.html")),
]
# A line that installs fairgauge names a clone or a wheel, and perhaps an extra.
INSTALLED = re.compile(
    rf"'?(?:\.|(?:dist/)?fairgauge-{re.escape(__version__)}-py3-none-any\.whl)(?:\[([a-z,-]+)\])?'?$"
)

# Modules of the standard library that other systems do not have.
POSIX = ["fcntl", "grp", "pwd", "resource", "termios"]


def installed(text: str) -> list[str]:
    """Return the first thing that each ``pip install`` in a text installs, where it is fairgauge."""
    found = re.findall(r"pip install (?:--\S+ (?:constraints\.txt )?)*('[^']+'|[^\s`]+)", text)
    return [what for what in found if "fairgauge" in what or what.lstrip("'").startswith(".")]


def test_every_line_that_installs_fairgauge_works_without_a_registry():
    found = [(path.name, what) for path in PLACES for what in installed(path.read_text(encoding="utf-8"))]
    assert len(found) > 10
    wrong = [(name, what) for name, what in found if not (match := INSTALLED.match(what)) or not known(match[1])]
    assert wrong == []


def known(extra: str | None) -> bool:
    return extra is None or set(extra.split(",")) <= set(EXTRAS)


def test_a_line_that_needs_a_registry_would_be_noticed():
    assert [bool(INSTALLED.match(what)) for what in installed("pip install 'fairgauge[lab]' or pip install .")] == [
        False,
        True,
    ]
    assert not known("laboratory")


def test_the_version_is_the_same_wherever_it_is_written():
    client = (ROOT / "src/fairgauge/collector/static/fairgauge-client.js").read_text(encoding="utf-8")
    assert f"Version {__version__}." in client
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1].rstrip(",") == __version__
    assert PROJECT["dynamic"] == ["version"]


def test_a_device_needs_nothing():
    assert PROJECT["dependencies"] == []


def test_the_tools_that_build_are_pinned_like_the_others():
    pinned = {line.partition("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert {"build", "hatchling", "pyproject_hooks", "trove-classifiers"} <= pinned


def test_on_a_system_that_is_not_posix_the_collector_says_so_in_one_line():
    code = f"import sys; sys.modules |= dict.fromkeys({POSIX}); sys.argv[1:] = ['serve']"
    done = python(f"{code}; from fairgauge.cli import main; main()")
    line = f"fairgauge: system={sys.platform}: the collector needs POSIX: Linux, macOS or BSD\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


def test_on_a_system_that_is_not_posix_a_device_answers(tmp_path: Path):
    study = ROOT / "examples" / "first-study" / "study.json"
    person = ["--group", "female", "--value", "recall=0.83", "--ledger", str(tmp_path / "ledger.sqlite3")]
    asked = ["answer", str(study), *person, "--to-file", str(tmp_path / "answers.ndjson")]
    code = f"import sys; sys.modules |= dict.fromkeys({POSIX}); sys.argv[1:] = {asked}"
    done = python(f"{code}; from fairgauge.cli import main; main()")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "answers.ndjson").read_bytes().count(b"\n") == 1


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
