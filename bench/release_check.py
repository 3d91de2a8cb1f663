"""See whether what would be released holds by itself: archives, extras, commands, metadata and links.

``make release-check`` runs all of it and ends with status 1 if something does not hold; ``ARGS="--python 3.11 --extra
lab"`` runs a part.  Nothing here touches the working tree: archives are made from the commit that is checked out.
"""

import argparse
import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PYTHONS = tuple(line.rpartition(" :: ")[2] for line in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", line))
# For developers, who have a clone.
NOT_FOR_USERS = {"dev", "flower-dev", "nvflare-dev", "bench"}
EXTRAS = ("", *(name for name in PROJECT["optional-dependencies"] if name not in NOT_FOR_USERS))
# Versions that we tested with; Flower and NVFlare have files of their own.
CONSTRAINTS = {"flower": "constraints-flower.txt", "nvflare": "constraints-nvflare.txt"}
PROBES = {
    "": "import fairgauge.client, fairgauge.study",
    "paper": "import sklearn, fairgauge.paper.mechanisms",
    "collector": "import fairgauge.collector.workers, fairgauge.collector.stores",
    "relay": "import fairgauge.client.relay_client, cryptography",
    "issuer": "import fairgauge.parties.issuer_server",
    "relay-server": "import fairgauge.parties.relay_server",
    "flower": "import fairgauge.flower",
    "nvflare": "import fairgauge.nvflare",
    "spark": "import pyspark, fairgauge.tallies",
}
ENGINES = {"polars": "polars", "duckdb": "duckdb", "dask": "dask", "all": "auto"}
_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")


class ReleaseError(Exception):
    """Something does not hold."""


def run(*command: object, folder: Path, **env: str) -> str:
    """Run a program with no variable that leads to a clone, and return what it prints."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=clean | env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(
            f"{' '.join(words)[:200]} ends with {done.returncode}:\n{(done.stdout + done.stderr)[-1500:]}"
        )
    return done.stdout


def build_twice(folder: Path) -> tuple[Path, Path]:
    """Build both archives in two places at two times, and return them if their bytes are the same."""
    moment = run("git", "log", "-1", "--format=%ct", folder=ROOT).strip()
    made = []
    for number in range(2):
        source, out = folder / f"source{number}" / "somewhere" / str(number), folder / f"dist{number}"
        source.mkdir(parents=True)
        with (folder / "tree.tar").open("wb") as file:
            subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, stdout=file, check=True)
        with tarfile.open(folder / "tree.tar") as archive:
            archive.extractall(source, filter="data")
        for path in source.rglob("*"):
            os.utime(path, (10**9 + number * 10**8,) * 2)
        tool = [sys.executable, "-m", "build", "--no-isolation", "--outdir", out]
        run(*tool, folder=source, SOURCE_DATE_EPOCH=moment, TZ=("UTC", "Asia/Tokyo")[number], HOME=str(folder))
        made.append({path.name: path.read_bytes() for path in out.iterdir()})
    if made[0] != made[1] or len(made[0]) != 2:
        raise ReleaseError(
            f"built twice, other bytes: {[name for name in made[0] if made[0][name] != made[1].get(name)]}"
        )
    (wheel,), (sdist,) = (list((folder / "dist0").glob(kind)) for kind in ("*.whl", "*.tar.gz"))
    again = folder / "again"
    with tarfile.open(sdist) as archive:
        archive.extractall(again, filter="data")
    (unpacked,) = again.iterdir()
    tool = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", again]
    run(*tool, folder=unpacked, SOURCE_DATE_EPOCH=moment)
    if (again / wheel.name).read_bytes() != wheel.read_bytes():
        raise ReleaseError("a wheel that is built from the source archive has other bytes")
    return wheel, sdist


def check_wheel(wheel: Path) -> str:
    """Check what the wheel holds and says of itself."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (head,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(head))
        licence = [name for name in names if name.endswith("licenses/LICENSE")]
    foreign = {name.split("/")[0] for name in names} - {"fairgauge", head.split("/")[0]}
    said = {name: metadata[name] for name in ("Name", "License-Expression", "Requires-Python", "Summary")}
    wanted = {
        "Name": PROJECT["name"], "License-Expression": PROJECT["license"],
        "Requires-Python": PROJECT["requires-python"], "Summary": PROJECT["description"],
    }  # fmt: skip
    if foreign or said != wanted or len(licence) != 1:
        raise ReleaseError(f"the wheel holds {sorted(foreign)}, says {said}, and has licences {licence}")
    if metadata["Description-Content-Type"] != "text/markdown" or not metadata.get_payload():
        raise ReleaseError("the wheel has no README")
    if any("test" in name.split("/")[1:-1] or name.endswith("conftest.py") for name in names):
        raise ReleaseError("the wheel holds tests")
    return f"{wheel.name}: {len(names)} files, {wheel.stat().st_size:,} bytes"


def broken_links(folder: Path) -> Iterator[str]:
    """Yield links of pages to files, or to parts of them, that are not there."""
    for page in [*folder.glob("*.md"), *(folder / "docs").glob("*.md"), *(folder / "examples").glob("*/README.md")]:
        for target, part in _LINK.findall(re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)):
            file = page.parent / target if target else page
            if not file.exists() or (part and file.suffix == ".md" and part not in _parts(file)):
                yield f"{page.relative_to(folder)}: {target}{part and '#'}{part}"


def _parts(page: Path) -> set[str]:
    """Return what a link to a page may name: its own marks, and its headings as GitHub and MyST write them."""
    text = page.read_text("utf-8")
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), flags=re.MULTILINE)
    named = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
    return named | set(re.findall(r"^\(([\w-]+)\)=$", text, flags=re.MULTILINE))


def check_source(sdist: Path, folder: Path) -> str:
    """Check that the source archive holds what its pages lead to."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    broken = sorted(broken_links(unpacked))
    lacking = [
        name
        for name in ("LICENSE", "SECURITY.md", "CITATION.cff", "tests/vectors/simple.json")
        if not (unpacked / name).exists()
    ]
    if broken or lacking:
        raise ReleaseError(f"the source archive lacks {lacking}, and links lead nowhere: {broken}")
    return f"{sdist.name}: {sdist.stat().st_size:,} bytes, every link to a file leads to one"


def readme_commands() -> list[str]:
    """Return the commands that the README gives for a table of one's own."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```text\n(fairgauge new .*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [line for line in block.splitlines() if line]


def python_of(version: str) -> str | None:
    """Return a Python of a version, by its name or where pyenv keeps it; None if there is none that runs."""
    kept = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python"))
    for candidate in (*map(str, kept), f"python{version}"):
        if (
            shutil.which(candidate)
            and not subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode
        ):
            return candidate
    return None


def try_extra(python: str, extra: str, wheel: Path, folder: Path) -> str:
    """Install the wheel with one extra into a fresh environment, and use it there, far from any clone."""
    home, place = folder / "environment", folder / "elsewhere"
    place.mkdir()
    run(python, "-m", "venv", home, folder=folder)
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    limits = ROOT / CONSTRAINTS.get(extra, "constraints.txt")
    # Versions that we tested with were found on Python 3.11; another one may have no wheels of them.
    tested = ["--constraint", limits] if "3.11" in run(home / "bin" / "python", "-V", folder=folder) else []
    install = [home / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*install, *tested, what, folder=place)
    run(home / "bin" / "python", "-m", "pip", "check", folder=place)
    version = run(home / "bin" / "fairgauge", "--version", folder=place).split()[1]
    if f"-{version}-" not in wheel.name:
        raise ReleaseError(f"the command is of version {version}")
    if extra in PROBES:
        run(home / "bin" / "python", "-c", PROBES[extra], folder=place)
    if extra == "":
        shutil.copy(ROOT / "examples" / "first-study" / "study.json", place)
        _answer(home, place)
    if extra in ("lab", *ENGINES):
        _readme(home, place)
    if extra in ENGINES:
        tally = [home / "bin" / "fairgauge", "tally", "study.json", "answers.ndjson", "--engine", ENGINES[extra]]
        run(*tally, "-o", "counted.json", folder=place)
        if json.loads((place / "counted.json").read_text())["contributors"] != 1:
            raise ReleaseError("one answer was not counted once")
    return f"{len(list((home / 'lib').glob('python*/site-packages/*.dist-info')))} packages"


def _answer(home: Path, place: Path) -> None:
    person = ["--group", "female", "--value", "recall=0.83", "--ledger", "ledger.sqlite3"]
    run(home / "bin" / "fairgauge", "answer", "study.json", *person, "--to-file", "answers.ndjson", folder=place)


def _readme(home: Path, place: Path) -> None:
    rows = [f"{('female', 'male')[i % 2]},{0.6 + (i % 7) / 20:.2f}" for i in range(400)]
    (place / "people.csv").write_text("\n".join(["sex,recall", *rows, ""]), encoding="utf-8")
    path = f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    for line in readme_commands():
        run("sh", "-c", line, folder=place, PATH=path)
    run("sh", "-c", "fairgauge report study.json tally.json -o report.html", folder=place, PATH=path)
    if b"</html>" not in (place / "report.html").read_bytes():
        raise ReleaseError("the report is no page")
    _answer(home, place)


def main() -> int:
    """Run what is asked for, a line for each thing, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", choices=PYTHONS, help="a version of Python; all unless given")
    parser.add_argument("--extra", action="append", choices=EXTRAS, help="an extra, '' for none; all unless given")
    asked = parser.parse_args()
    failed = 0

    def step(name: str, work: Callable[[], object]) -> object:
        nonlocal failed
        try:
            found = work()
        except ReleaseError as problem:
            failed += 1
            found = None
            said = f"DOES NOT HOLD\n{problem}"
        else:
            said = found if isinstance(found, str) else "holds"
        print(f"{name:<34} {said}", flush=True)
        return found

    with tempfile.TemporaryDirectory(prefix="release-") as name:
        folder = Path(name)
        built = step("built twice, the same bytes", lambda: build_twice(folder))
        if not isinstance(built, tuple):
            return 1
        wheel, sdist = built
        step("the wheel", lambda: check_wheel(wheel))
        step("the source archive", lambda: check_source(sdist, folder))
        for version in asked.python or PYTHONS:
            python = python_of(version)
            if python is None:
                print(f"{'Python ' + version:<34} is not here", flush=True)
                continue
            for extra in asked.extra or EXTRAS:
                with tempfile.TemporaryDirectory(dir=folder) as own:
                    step(f"Python {version}, {extra or 'no extra'}", lambda: try_extra(python, extra, wheel, Path(own)))  # noqa: B023
    print("All of it holds." if not failed else f"{failed} of these do not hold.")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
