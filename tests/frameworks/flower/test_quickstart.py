"""An app in the layout of Flower's quickstart, and the same with the change that the page shows."""

import re
import shutil
import subprocess
import sys
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


def written_dependencies() -> list[str]:
    """Return every list of dependencies that the page gives."""
    page = (EXAMPLE.parents[1] / "docs" / "flower.md").read_text(encoding="utf-8")
    return re.findall(r"^dependencies = (\[.*\])$", page, re.MULTILINE)


def a_registry_answers(folder: Path) -> bool:
    """Tell whether packages can be had here, from wherever this machine has them."""
    asked = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), "packaging"]
    return subprocess.run(asked, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("number", [0, 1], ids=["where Flower runs", "a wheel by its path"])
def test_what_the_page_depends_on_installs_as_flower_does_it(number: int, tmp_path: Path) -> None:
    """Flower installs an app's dependencies before it runs; what no registry has would end the run."""
    if not a_registry_answers(tmp_path / "downloaded"):
        pytest.skip("Flower installs from a registry, and none answers")
    app = tmp_path / "app"
    shutil.copytree(EXAMPLE, app)
    subprocess.run(["patch", "-p0", "-i", "private.diff"], cwd=app, check=True)
    built = [sys.executable, "-m", "uv", "build", "--wheel", "--out-dir", str(tmp_path), str(EXAMPLE.parents[1])]
    subprocess.run(built, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    named = re.sub(r"file://\S+\.whl", f"file://{wheel}", written_dependencies()[number])
    told = (app / "pyproject.toml").read_text(encoding="utf-8")
    told = re.sub(r"dependencies = \[.*?\n\]", f'dependencies = {named[:-1]}, "numpy>=2.0"]', told, flags=re.DOTALL)
    (app / "pyproject.toml").write_text(told, encoding="utf-8")
    assert f"private metrics: {NODES} replies, {NODES} new answers" in run_app(app, tmp_path, nodes=NODES, install=True)


def test_the_page_has_two_ways_to_depend_on_fairgauge_and_the_switch() -> None:
    bare, wheel = written_dependencies()
    assert "fairgauge" not in bare
    assert '"fairgauge[flower] @ file:///' in wheel
    page = (EXAMPLE.parents[1] / "docs" / "flower.md").read_text(encoding="utf-8")
    assert page.count("--disable-runtime-dependency-installation") == 1


def test_the_page_counts_the_lines_as_they_are() -> None:
    changed = (EXAMPLE / "private.diff").read_text(encoding="utf-8").splitlines()
    added = [line for line in changed if line.startswith("+") and not line.startswith("+++")]
    page = (EXAMPLE.parents[1] / "docs" / "flower.md").read_text(encoding="utf-8")
    assert f"The change has {len(added)} lines" in page
