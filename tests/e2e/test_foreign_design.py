"""A design that another package brings, from plan to estimate, by the real command."""

import json
from pathlib import Path

import pytest

from tests.programs import Programs, programs

MODULE = """
from fairgauge.designs import Design
from fairgauge.designs.classical_designs import randomized_response


def make(scores, epsilon):
    return randomized_response(scores, epsilon / 2)


design = Design("cautious", make, colour="#009E73", marker="D")
"""
GROUPS = ["--group", "female=0.5", "--group", "male=0.5", "--metric", "recall:0:1", "--epsilon", "1"]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """A Python with a folder as ``pip install`` leaves it: a module and what its package says of itself."""
    folder = tmp_path_factory.mktemp("site")
    about = folder / "cautious-1.0.dist-info"
    about.mkdir()
    (folder / "cautious_design.py").write_text(MODULE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: cautious\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[fairgauge.designs]\ncautious = cautious_design:design\n")
    return Programs({"PYTHONPATH": str(folder)})


def run(where: Programs, folder: Path, *args: str) -> str:
    done = where.fairgauge(*args, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_foreign_design_from_plan_to_estimate(there: Programs, tmp_path: Path):
    (found,) = json.loads(run(there, tmp_path, "plan", *GROUPS, "--clients", "100000", "--json"))["questions"]
    rows = {row["design"]: row for row in found["designs"]}
    assert rows["cautious"]["error"] > rows["randomized-response"]["error"] > 0
    made = run(there, tmp_path, "design", "--title", "Recall", *GROUPS, "--design", "cautious", "-o", "study.json")
    assert "recall: cautious, 4 symbols" in made
    (tmp_path / "people.csv").write_text("group,value,count\nfemale,0.9,50000\nmale,0.5,50000\n")
    run(there, tmp_path, "simulate", "study.json", "people.csv", "--seed", "7", "-o", "tally.json")
    told = json.loads(run(there, tmp_path, "estimate", "study.json", "tally.json", "--json"))
    assert "recall" in json.dumps(told)


def test_without_the_package_its_study_is_still_estimated(there: Programs, tmp_path: Path):
    run(there, tmp_path, "design", "--title", "Recall", *GROUPS, "--design", "cautious", "-o", "study.json")
    (tmp_path / "people.csv").write_text("group,value,count\nfemale,0.9,50000\nmale,0.5,50000\n")
    elsewhere = programs()
    run(elsewhere, tmp_path, "simulate", "study.json", "people.csv", "--seed", "7", "-o", "tally.json")
    assert "female" in run(elsewhere, tmp_path, "estimate", "study.json", "tally.json")
