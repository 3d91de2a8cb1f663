"""Which versions of Flower will do: tests of fairgauge.flower with each, and an app in its simulation.

    .venv-flower/bin/python -m bench.flower_versions 1.42.0 1.21.0

Each version is laid over the environment in which this runs, so all have the same dependencies: those of
constraints-flower.txt.  Not in `make test`: it takes a minute for each.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "flower-versions"
RESULTS = ROOT / "docs" / "flower" / "versions.json"
TABLE = ROOT / "docs" / "flower" / "versions.md"
SIMULATION = """
import os, tempfile, pathlib, sys
os.chdir(tempfile.mkdtemp())
sys.path[:0] = [os.environ["APP"], os.environ["ROOT"]]
from tests.e2e.flower.test_engines import prepare
prepare(pathlib.Path())
from flwr.simulation import run_simulation
from federation import client, server
resources = {"init_args": {"num_cpus": 2}, "client_resources": {"num_cpus": 1, "num_gpus": 0.0}}
run_simulation(server, client, 5, backend_config=resources)
assert len(pathlib.Path("answers.ndjson").read_bytes().splitlines()) == 1
print("one of five answered")
"""


@dataclass(frozen=True)
class Result:
    """What came of a version."""

    version: str
    tests: str
    simulation: str


def main() -> None:
    """Try the versions that were named, and write the table anew."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("versions", nargs="*", help="such as 1.42.0; none writes the table of what is known")
    parser.add_argument("--simulate", nargs="*", default=[], help="versions with which an app is simulated as well")
    known = {row["version"]: Result(**row) for row in json.loads(RESULTS.read_text())} if RESULTS.exists() else {}
    options = parser.parse_args()
    for version in [*options.versions, *options.simulate]:
        started = time.monotonic()
        known[version] = _try(version, app=SIMULATION if version in options.simulate else "")
        print(known[version], f"{time.monotonic() - started:.0f} s", flush=True)
        _write(known.values())
    _write(known.values())


def _try(version: str, *, app: str) -> Result:
    place = WORK / version
    shutil.rmtree(place, ignore_errors=True)
    try:
        return _try_in(place, version, app)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _try_in(place: Path, version: str, app: str) -> Result:
    """Lay a version over the environment of this Python: its own code, with the same dependencies for all."""
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps", "--target", str(place)]
    status, told = _run([*install, "--disable-pip-version-check", f"flwr=={version}"], place)
    if status != 0:
        return Result(version, "cannot be installed", "")
    _, told = _run([sys.executable, "-m", "pytest", "-q", "-W", "default", "tests/unit/flower"], place)
    print(*(line for line in told.splitlines() if line.startswith("FAILED")), sep="\n")
    tests = told.strip().splitlines()[-1].partition(" in ")[0] if told.strip() else "no output"
    if not app:
        return Result(version, tests, "not tried")
    status, told = _run([sys.executable, "-c", app], place)
    return Result(version, tests, "fine" if status == 0 and "one of five answered" in told else _last(told))


def _last(told: str) -> str:
    lines = [line for line in told.splitlines() if "Error" in line]
    return f"fails: {lines[-1][:100]}" if lines else "fails"


def _run(command: list[str], place: Path) -> tuple[int, str]:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, (place, ROOT, ROOT / "src"))),
        "ROOT": str(ROOT),
        "APP": str(ROOT / "tests" / "e2e" / "flower" / "federation"),
        "FLWR_HOME": str(place / "home"),
        "FLWR_TELEMETRY_ENABLED": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=900
        )
    except subprocess.TimeoutExpired:
        return 1, "TimeoutError"
    return done.returncode, done.stdout + done.stderr


def _write(results: Iterable[Result]) -> None:
    rows = sorted(results, key=lambda row: [int(part) for part in row.version.split(".")], reverse=True)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    lines = ["| Flower | tests of `fairgauge.flower` | an app in its simulation |", "|---|---|---|"]
    lines += [f"| {row.version} | {row.tests} | {row.simulation} |" for row in rows]
    TABLE.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
