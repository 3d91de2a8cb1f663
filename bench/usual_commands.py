"""Processor time of twelve usual commands here and at an early commit that has them all, side by side in one run.

    python -m bench.usual_commands [--before cfb3a4e9] [--rounds 3]

Both run in the same environment, one after the other in each round; the least of the rounds counts.  What comes first
is the time to the first line, where a command prints before it ends.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parents[1]
# A commit before a study had a file of its own, which has all twelve commands.
BEFORE = "cfb3a4e9"
TWO = ["--group", "female=0.5", "--group", "male=0.5", "--metric", "recall:0:1"]
CELLS = [
    "--cross",
    "sex=female,male",
    "--cross",
    "age=18-39,40-64,65+",
    "--metric",
    "recall:0:1",
    "--epsilon",
    "2",
    "--expect",
    "0.8",
]
EXAMPLE = HERE / "examples" / "first-study"
STUDY, PEOPLE = str(EXAMPLE / "study.json"), str(EXAMPLE / "population.csv")
# Each here and there; where they are typed alike, once.
COMMANDS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    name: (now, before or now)
    for name, now, before in (
        ("plan --help", ["plan", "--help"], None),
        ("design --help", ["design", "--help"], None),
        ("report --help", ["report", "--help"], None),
        ("verify --help", ["verify", "--help"], None),
        ("plan, clients and epsilon", ["plan", *TWO, "--epsilon", "1", "--clients", "1e6"], None),
        ("plan, an expectation", ["plan", *TWO, "--epsilon", "1", "--clients", "1e6", "--expect", "0.9"], None),
        ("design, two groups", ["design", "--title", "t", *TWO, "--epsilon", "1", "-o", "two.json"], None),
        ("design, six cells", ["design", "--title", "t", *CELLS, "-o", "six.json"], None),
        ("verify", ["verify", STUDY], None),
        (
            "simulate",
            ["simulate", STUDY, PEOPLE, "--seed", "7", "-o", "tally.json"],
            ["simulate", STUDY, "--population", PEOPLE, "--seed", "7", "-o", "tally.json"],
        ),
        ("estimate", ["estimate", STUDY, "tally.json"], None),
        ("report", ["report", STUDY, "tally.json", "-o", "report.html"], None),
    )
}


def processor_time(command: Sequence[str], source: Path, folder: Path) -> tuple[float, float]:
    """Return the processor time of a command, until its first line and in all; infinity where it fails."""
    before = _spent()
    environment = os.environ | {"PYTHONPATH": str(source / "src"), "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    typed = [sys.executable, "-c", "from fairgauge.cli import main; main()", *command]
    with subprocess.Popen(
        typed, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        first = _of_process(running.pid)
        running.stdout.read()
    whole = _spent() - before
    return (min(first, whole), whole) if running.returncode == 0 else (float("inf"), float("inf"))


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _of_process(number: int) -> float:
    """Return what a process has used so far, from Linux's own table; infinity where it has ended."""
    try:
        fields = Path(f"/proc/{number}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return float("inf")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--before", default=BEFORE, help="a commit to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    sys.stdout.write(
        "| command | there, s | here, s | first line here, s | here / there |\n|---|---:|---:|---:|---:|\n"
    )
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as before:
        archive = subprocess.run(["git", "archive", given.before, "src"], cwd=HERE, stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "-x", "-C", before], input=archive.stdout, check=True)
        for what, (now, then) in COMMANDS.items():
            here, there, first = ([float("inf")] for _ in range(3))
            for _ in range(given.rounds):
                there.append(processor_time(then, Path(before), Path(name))[1])
                line, whole = processor_time(now, HERE, Path(name))
                here.append(whole)
                first.append(line)
            row = (min(there), min(here), min(first))
            ratio = f"{row[1] / row[0]:.2f}"
            sys.stdout.write(f"| {what} | {' | '.join(f'{one:.2f}' for one in row)} | {ratio} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
