"""An app in the layout of Flower's quickstart, and the same with the change that the page shows."""

import shutil
import subprocess
from pathlib import Path

import pytest

from runs import run_app

EXAMPLE = Path(__file__).parents[3] / "examples" / "flower-quickstart"
NODES = 6


@pytest.mark.parametrize("private", [False, True])
def test_the_change_is_all_it_takes(private: bool, tmp_path: Path) -> None:
    app = tmp_path / "app"
    shutil.copytree(EXAMPLE, app)
    if private:
        subprocess.run(["patch", "-p0", "-i", "private.diff"], cwd=app, check=True)
    shown = run_app(app, tmp_path, nodes=NODES)
    kept = tmp_path / "flwr" / "fairgauge" / "fairgauge.quickstart"
    if private:
        assert f"private metrics: {NODES} replies, {NODES} new answers" in shown
        assert "eval_acc female - male: not yet" in shown
        assert len((kept / "answers.ndjson").read_bytes().splitlines()) == NODES
        assert len(list((kept / "ledgers").iterdir())) == NODES
    else:
        assert "'eval_acc': 0." in shown
        assert not kept.exists()


def test_the_page_counts_the_lines_as_they_are() -> None:
    changed = (EXAMPLE / "private.diff").read_text(encoding="utf-8").splitlines()
    added = [line for line in changed if line.startswith("+") and not line.startswith("+++")]
    page = (EXAMPLE.parents[1] / "docs" / "flower.md").read_text(encoding="utf-8")
    assert f"The change has {len(added)} lines" in page
