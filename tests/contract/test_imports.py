"""What is paid for at a start: reading an estimate loads no solver, and a package loads when it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOM = Path(__file__).parents[2] / "src" / "fairgauge" / "estimation"
SOLVERS = ("highspy", "scipy.optimize")
ESTIMATE = """
from fairgauge import Attribute, Metric, Question, Study, Tally, estimate
from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
often, seldom = ROW_SUM // 4 * 3, ROW_SUM // 4
rows = ((often, seldom), (seldom, often), (seldom, often), (often, seldom))
channel = Channel(rows, (-LEVEL_UNIT, LEVEL_UNIT), 2)
sex = Attribute("sex", {"female": 0.5, "male": 0.5})
study = Study("Recall", [Question(Metric("recall", 0, 1), sex, "gap", "coin", "1.0987", channel)])
for interval in KINDS:
    print(estimate(study, Tally(study.digest, (4000, 6000)), interval=interval, tolerance=0.01))
"""


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint('|'.join(sys.modules))"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split("|"))


def test_no_module_of_the_estimation_loads_a_solver():
    modules = sorted(path.stem for path in ROOM.glob("[!_]*.py"))
    assert "inference" in modules
    code = "\n".join(f"import fairgauge.estimation.{module}" for module in modules)
    assert not loaded_by(code) & set(SOLVERS)


def test_an_estimate_of_any_kind_loads_no_solver():
    assert not loaded_by(f"from fairgauge.estimation.interval_kinds import KINDS\n{ESTIMATE}") & set(SOLVERS)


def test_the_command_that_estimates_loads_no_solver_and_one_thread_of_linear_algebra():
    code = "import os, sys; os.environ.pop('OPENBLAS_NUM_THREADS', None); sys.argv[1:] = ['estimate', 'a', 'b']"
    code += "\nfrom fairgauge.cli import main\ntry: main()\nexcept SystemExit: pass"
    code += "\nassert os.environ['OPENBLAS_NUM_THREADS'] == '1'"
    loaded = loaded_by(code)
    assert "fairgauge.cli.estimate" in loaded
    assert not loaded & {*SOLVERS, "fairgauge.designs"}


def test_a_collector_starts_without_a_solver():
    """Who restarts takes answers again at once; what the operator's page plans is loaded when it does."""
    assert not loaded_by("import fairgauge.collector.app") & set(SOLVERS)


@pytest.mark.parametrize("package", ["estimation", "planning"])
def test_a_package_loads_when_it_is_used(package: str):
    """Who imports it at the top of a file pays for it when it is called, not when a process starts."""
    loaded = loaded_by(f"from fairgauge import {package}")
    assert f"fairgauge.{package}" in loaded
    assert not {"numpy", "scipy"} & loaded
