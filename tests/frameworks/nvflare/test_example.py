"""The example runs as its page says: without fairgauge, and with the change and with files of the sites' own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fairgauge.client import Ledger

EXAMPLE = Path(__file__).parents[3] / "examples" / "nvflare"


@pytest.fixture
def app(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "app")
    return tmp_path / "app"


def run(app: Path, program: str) -> str:
    done = subprocess.run(
        [sys.executable, program, "--output", "out"],
        cwd=app,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_without_fairgauge_the_server_has_every_sites_metrics(app: Path) -> None:
    run(app, "job.py")
    assert json.loads((app / "out" / "metrics.json").read_text()) == {
        "site-1": {"recall": 0.745},
        "site-2": {"recall": 0.74},
    }


def test_with_the_change_it_has_answers(app: Path) -> None:
    subprocess.run(["patch", "-p0", "-i", "private.diff"], cwd=app, check=True)
    (app / "server.py").unlink()  # nobody needs it now
    run(app, "sites.py")
    assert "2 answers\nrecall north - south: not yet" in run(app, "job.py")
    out = app / "out"
    assert json.loads((out / "numbers.json").read_text()) == {"answers": 2}
    for site in ("site-1", "site-2"):
        assert list(Ledger(out / "sites" / site / "ledger.sqlite3").spent()) == ["region"]
    for kept in out.glob("*"):
        assert kept.is_dir() or b"0.74" not in kept.read_bytes()
