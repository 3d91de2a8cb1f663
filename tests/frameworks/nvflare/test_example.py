"""The example runs as its page says: recipe, script for the client interface, and sites with files of their own."""

import json
import subprocess
import sys
from pathlib import Path

from fairgauge.client import Ledger

EXAMPLE = Path(__file__).parents[3] / "examples" / "nvflare" / "job.py"


def test_the_example(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "--output", str(tmp_path / "out")],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "2 answers\nrecall north - south: not yet" in done.stdout
    assert json.loads((tmp_path / "out" / "numbers.json").read_text()) == {"answers": 2}
    for site in ("site-1", "site-2"):
        assert list(Ledger(tmp_path / "out" / "sites" / site / "ledger.sqlite3").spent()) == ["region"]
