"""A whole study through the console script, as people run it: plan, design, verify, simulate, estimate."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fairgauge.client import answer
from fairgauge.study import Study
from fairgauge.tallies import Tally
from tests.programs import programs

SCRIPT = Path(sys.executable).parent / "fairgauge"
GROUPS = ("--group", "female=0.5", "--group", "male=0.5")


class Shell:
    """Runs commands in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str, status: int = 0) -> str:
        done = programs().fairgauge(*arguments, folder=self.folder)
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if status != 2 else done.stderr

    def json(self, *arguments: str, status: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", status=status))


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    folder = tmp_path_factory.mktemp("study")
    found = Shell(folder)
    # By the script itself; commands after it are forks of a Python that is there already.
    subprocess.run(
        [SCRIPT, "design", "--title", "Recall by sex", *GROUPS, "--attribute", "sex", "--metric", "recall:0:1",
        "--epsilon", "1", "-o", "study.json"], cwd=folder, capture_output=True, check=True,
    )  # fmt: skip
    (folder / "people.csv").write_text("group,value,count\nfemale,0.78,500000\nmale,0.82,500000\n")
    found("simulate", "study.json", "people.csv", "--seed", "7", "-o", "tally.json")
    return found


def test_what_was_planned_is_what_comes_out(shell: Shell):
    terms = ("--metric", "recall:0:1", "--epsilon", "1", "--clients", "1e6")
    (planned,) = shell.json("plan", *GROUPS, *terms)["questions"]
    error = next(row["error"] for row in planned["designs"] if row["design"] == planned["best"])
    (question,) = shell.json("estimate", "study.json", "tally.json")["questions"]
    gap = question["headline"]
    assert gap["groups"] == ["female", "male"]
    assert gap["low"] < -0.04 < gap["high"]
    # The plan reckons with the worst level that it names, and these clients are at another.
    assert 0.85 * error < (gap["high"] - gap["low"]) / 2 < 1.01 * error
    assert question["answers"] == 10**6
    assert question["fit_p_value"] > 1e-3


def test_the_study_is_as_private_as_it_says(shell: Shell):
    found = shell.json("verify", "study.json")
    assert found["private"] is True
    (question,) = found["questions"]
    assert 0.999 <= question["epsilon_exact"] <= question["epsilon_declared"] == 1.0
    assert found["digest"] == Study.from_bytes((shell.folder / "study.json").read_bytes()).digest


def test_real_answers_are_counted_and_read_like_simulated_ones(shell: Shell):
    study = Study.from_bytes((shell.folder / "study.json").read_bytes())
    profiles = [{"group": g, "values": {"recall": v}} for g, v in (("female", 0), ("male", 1)) for _ in range(300)]
    tally = Tally.of(study, (answer(study, profile) for profile in profiles))
    (shell.folder / "real.json").write_bytes(tally.to_bytes())
    (question,) = shell.json("estimate", "study.json", "real.json", "--confidence", "0.999999")["questions"]
    assert question["answers"] == 600
    assert question["headline"]["low"] <= -1 < question["headline"]["high"]


def test_another_study_cannot_read_the_tally(shell: Shell):
    shell("design", "--title", "Another", *GROUPS, "--metric", "recall:0:1", "--epsilon", "1", "-o", "another.json")
    said = shell("estimate", "another.json", "tally.json", status=2)
    assert said.startswith("fairgauge: tally.json: study=")


def test_a_forged_study_is_not_private_and_is_refused(shell: Shell):
    document = json.loads((shell.folder / "study.json").read_bytes())
    document["tables"][0]["epsilon"] = "0.5"
    (shell.folder / "forged.json").write_text(json.dumps(document))
    assert shell.json("verify", "forged.json", status=1)["private"] is False
    shell("simulate", "forged.json", "people.csv", "-o", "no.json", status=1)
    assert not (shell.folder / "no.json").exists()


def test_the_impossible_exits_with_1_and_bad_input_with_2(shell: Shell):
    assert shell.json("plan", *GROUPS, "--epsilon", "1", "--error", "1e-12", status=1)["questions"][0]["best"] is None
    assert (
        shell("plan", *GROUPS, "--epsilon", "-1", "--clients", "10", status=2)
        == "fairgauge: epsilon=-1: must be above 0\n"
    )
