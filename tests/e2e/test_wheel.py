"""The wheel alone: in a fresh environment, with no dependency and no network, a device answers a study with it."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from fairgauge import Study, __version__

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "examples" / "first-study" / "study.json"


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `make dist` builds."""
    folder = tmp_path_factory.mktemp("dist")
    done = run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    [built] = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def device(wheel: Path) -> Path:
    """The programs of a fresh environment that holds the wheel and nothing else."""
    home = wheel.parent / "device"
    made = run(sys.executable, "-m", "venv", "--without-pip", home, cwd=wheel.parent)
    assert made.returncode == 0, made.stderr
    done = pip(home / "bin", "--no-deps", wheel)
    assert done.returncode == 0, done.stdout + done.stderr
    return home / "bin"


def pip(programs: Path, *what: object) -> subprocess.CompletedProcess[str]:
    """Install into an environment, without a network."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", programs / "python"]
    return run(*pip, "install", "--no-index", "--no-cache-dir", *what, cwd=programs)


def test_the_wheel_is_of_this_version_and_holds_what_is_not_python(wheel: Path):
    assert wheel.name == f"fairgauge-{__version__}-py3-none-any.whl"
    source = ROOT / "src"
    ours = {path.relative_to(source).as_posix() for path in (source / "fairgauge").rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == {name for name in ours if "__pycache__" not in name}


def test_a_device_answers_a_study_with_the_wheel_alone(device: Path, tmp_path: Path):
    study = Study.from_bytes(STUDY.read_bytes())
    [question] = study.questions
    person = ["--group", question.attribute.groups[0], "--value", f"{question.metric.name}={question.metric.high}"]
    done = run(
        device / "fairgauge",
        "answer",
        STUDY,
        *person,
        "--ledger",
        "ledger.sqlite3",
        "--to-file",
        "answers.ndjson",
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads((tmp_path / "answers.ndjson").read_text())
    assert answer["study"] == study.digest
    assert 0 <= answer["symbol"] < study.symbols


def test_help_and_version_need_nothing_else(device: Path, tmp_path: Path):
    assert run(device / "fairgauge", "--version", cwd=tmp_path).stdout == f"fairgauge {__version__}\n"
    assert run(device / "fairgauge", "--help", cwd=tmp_path).returncode == 0


def test_what_needs_more_says_which_line_brings_it_and_pip_understands_that_line(device: Path, tmp_path: Path):
    done = run(device / "fairgauge", "plan", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1,
        "fairgauge: the command line needs typer: pip install 'fairgauge[lab]'\n",
    )
    # Here pip may fetch nothing.  It must fail for want of a dependency, not for want of fairgauge.
    wanted = pip(device, "fairgauge[lab]").stderr
    assert "No matching distribution found for" in wanted
    assert "found for fairgauge" not in wanted
