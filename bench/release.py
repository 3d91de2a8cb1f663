"""Give a release its version and its day, wherever they stand: ``python -m bench.release 0.3.0 2026-12-01``.

Nothing is built, tagged or sent.  What is left is to read the difference, run ``.ci/run`` and ``make release-check``,
and commit.
"""

import argparse
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
BEFORE = "<!-- While it was made: "
# What is made of the code, or tells of versions that were: the bundle is made again, and constraints are of others.
ELSEWHERE = ("CHANGELOG.md", "constraints", "examples/sealed-study/bundle/")


def current(root: Path) -> str:
    """Return the version that the package has."""
    found = re.search(r'^__version__ = "([^"]+)"$', _read(root / "src/fairgauge/__init__.py"), flags=re.MULTILINE)
    if found is None:
        raise ValueError("src/fairgauge/__init__.py has no version")
    return found[1]


def places(root: Path, version: str) -> list[Path]:
    """Return the tracked files of text that name a version as ours."""
    names = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
    ours = re.compile(_forms(version), flags=re.MULTILINE)
    kept = (root / name for name in names if name and not name.startswith(ELSEWHERE))
    return [
        path for path in kept if path.suffix in (".py", ".js", ".md", ".cff", ".service") and ours.search(_read(path))
    ]


def _forms(version: str) -> str:
    """Return how a version of ours is written: in the package, in heads of JavaScript, in wheels, in the citation."""
    text = re.escape(version)
    return rf'(?<=^__version__ = "){text}|(?<=Version ){text}|(?<=fairgauge-){text}(?=-py3)|(?<=^version: ){text}$'


def write(root: Path, version: str, day: str) -> list[Path]:
    """Write the version and the day, and return the files that changed."""
    before = current(root)
    found = places(root, before)
    for path in found:
        path.write_text(re.sub(_forms(before), version, _read(path), flags=re.MULTILINE), encoding="utf-8")
    citation, changes = root / "CITATION.cff", root / "CHANGELOG.md"
    kept = re.sub(r"^date-released: .*\n", "", _read(citation), flags=re.MULTILINE)
    citation.write_text(re.sub(r"^(version: .*\n)", rf"\1date-released: {day}\n", kept, flags=re.MULTILINE), "utf-8")
    text, count = re.subn(rf"^## {re.escape(before)}, .+$", f"## {version}, {day}", _read(changes), flags=re.MULTILINE)
    if count != 1:
        raise ValueError(f"CHANGELOG.md must have {before} once")
    # What changed before anything was released speaks to nobody; the history of the repository has it.
    changes.write_text(text.partition(BEFORE)[0].rstrip() + "\n", encoding="utf-8")
    return [*found, changes]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def main() -> int:
    """Write them, and make the sealed example again, whose report names the version."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version", help="such as 0.3.0")
    parser.add_argument("day", help="such as 2026-12-01")
    asked = parser.parse_args()
    if not re.fullmatch(r"\d+\.\d+\.\d+", asked.version):
        parser.error("the version must be three numbers with dots")
    day = date.fromisoformat(asked.day).isoformat()
    for path in write(ROOT, asked.version, day):
        print(path.relative_to(ROOT))
    # In a process of its own: this one has the version of before.
    script = str(ROOT / "examples" / "sealed-study" / "make.py")
    subprocess.run([sys.executable, script], cwd=ROOT, check=True)
    print("examples/sealed-study/bundle")
    return 0


if __name__ == "__main__":
    sys.exit(main())
