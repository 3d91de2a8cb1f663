"""Which versions of Flower will do: tests of fairgauge.flower with each, and an app in both of its engines.

    .venv-flower/bin/python -m bench.flower_versions 1.42.0 1.21.0

Each version gets an environment of its own, with the dependencies that it asks for itself.  Not in `make test`: it
takes some minutes for each.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "flower" / "versions.json"
TABLE = ROOT / "docs" / "flower" / "versions.md"
# What fairgauge.flower needs beside Flower, and what its tests need.
OTHERS = ("numpy", "scipy", "highspy", "matplotlib", "pandas", "narwhals", "rich", "hypothesis", "pytest")
TESTS = {
    "tests": "tests/unit/flower",
    "simulation": "tests/frameworks/flower/test_simulation.py",
    "deployment": "tests/e2e/flower",
}
PATIENCE = 900


@dataclass(frozen=True)
class Result:
    """What came of a version."""

    version: str
    tests: str
    simulation: str
    deployment: str


def main() -> None:
    """Try the versions that were named, and write the table anew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("versions", nargs="*", help="such as 1.42.0; none writes the table of what is known")
    known = {row["version"]: Result(**row) for row in json.loads(RESULTS.read_text())} if RESULTS.exists() else {}
    for version in parser.parse_args().versions:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="flower-") as made:
            known[version] = _try(version, Path(made))
        print(known[version], f"{time.monotonic() - started:.0f} s", flush=True)
        _write(known.values())
    _write(known.values())


def _try(version: str, place: Path) -> Result:
    """Make an environment, and run in it what there is to run."""
    python = _environment(version, place)
    if python is None:
        return Result(version, *(["cannot be installed"] * len(TESTS)))
    return Result(version, **{name: _test(python, path, place) for name, path in TESTS.items()})


def _environment(version: str, place: Path) -> Path | None:
    wanted = [f"flwr[simulation]=={version}", *OTHERS]
    python = place / "env" / "bin" / "python"
    found = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if found is None:
        commands = [[sys.executable, "-m", "venv", str(place / "env")], [str(python), "-m", "pip", "install", *wanted]]
    else:
        commands = [
            [found, "venv", "--python", sys.executable, str(place / "env")],
            [found, "pip", "install", "--python", str(python), *wanted],
        ]
    for command in commands:
        status, told = _run(command, place)
        if status != 0:
            print(told[-1000:])
            return None
    return python


def _test(python: Path, path: str, place: Path) -> str:
    _, told = _run([str(python), "-m", "pytest", "-q", "-W", "default", path], place)
    print(*(line[:300] for line in told.splitlines() if line.startswith(("FAILED", "ERROR", "E  "))), sep="\n")
    return told.strip().splitlines()[-1].partition(" in ")[0] if told.strip() else "no output"


def _run(command: list[str], place: Path) -> tuple[int, str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "src"))),
        "FLWR_HOME": str(place / "home"),
        "FLWR_TELEMETRY_ENABLED": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return 1, "no end"
    return done.returncode, done.stdout + done.stderr


def _write(results: Iterable[Result]) -> None:
    rows = sorted(results, key=lambda row: [int(part) for part in row.version.split(".")], reverse=True)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    lines = [
        "| Flower | tests of `fairgauge.flower` | an app in its simulation | an app in its deployment |",
        "|---|---|---|---|",
    ]
    lines += [f"| {row.version} | {row.tests} | {row.simulation} | {row.deployment} |" for row in rows]
    TABLE.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
