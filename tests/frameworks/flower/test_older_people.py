"""The example runs as its page says, in Flower's simulation, with invented trials."""

import subprocess
import sys
from pathlib import Path

from fairgauge.client import Ledger
from runs import environment

EXAMPLE = Path(__file__).parents[3] / "examples/older-people/main.py"


def test_the_example(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--rounds", "2", "--devices", "1", "--output", str(tmp_path / "out")],
        cwd=tmp_path,
        env=environment(tmp_path / "flwr"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "87 answers\ntpr female - male: not yet\nfpr female - male: not yet" in done.stdout
    assert "| 10,000,000 | fpr |" in done.stdout
    assert "Planned, before anybody was asked: 87 clients tell the change of the gap to ± 0." in done.stdout
    assert "Told by 87 answers in Flower: " in done.stdout
    assert "In truth, which nobody but this example knows: " in done.stdout
    out = tmp_path / "out"
    for name in (
        "answers.ndjson",
        "clients.csv",
        "clients.svg",
        "findings.md",
        "gap.svg",
        "study.json",
        "comparison/comparison.md",
    ):
        assert (out / name).stat().st_size > 0, name
    for ledgers in (out / "ledgers", out / "comparison" / "ledgers"):
        found = list(ledgers.glob("*.sqlite3"))
        assert len(found) == 87
        assert list(Ledger(found[0]).spent()) == ["sex"]
