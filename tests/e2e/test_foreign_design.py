"""A design that another package brings, from plan to estimate, by the real command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
from fairgauge.designs import Design
from fairgauge.designs.classical_designs import randomized_response


def make(scores, epsilon):
    return randomized_response(scores, epsilon / 2)


design = Design("cautious", make, colour="#009E73", marker="D")
"""
GROUPS = ["--group", "female=0.5", "--group", "male=0.5", "--metric", "recall:0:1", "--epsilon", "1"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder as ``pip install`` leaves it: a module and what its package says of itself."""
    folder = tmp_path / "site"
    about = folder / "cautious-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "cautious_design.py").write_text(MODULE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: cautious\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[fairgauge.designs]\ncautious = cautious_design:design\n")
    return folder


def run(site: Path, *args: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, "-c", "from fairgauge.cli import main; main()", *args],
        capture_output=True, text=True, check=False, cwd=site.parent, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_foreign_design_from_plan_to_estimate(site: Path):
    (found,) = json.loads(run(site, "plan", *GROUPS, "--clients", "100000", "--json"))["questions"]
    rows = {row["design"]: row for row in found["designs"]}
    assert rows["cautious"]["error"] > rows["randomized-response"]["error"] > 0
    made = run(site, "design", "--title", "Recall", *GROUPS, "--design", "cautious", "-o", "study.json")
    assert "recall: cautious, 4 symbols" in made
    population = site.parent / "people.csv"
    population.write_text("group,value,count\nfemale,0.9,50000\nmale,0.5,50000\n")
    run(site, "simulate", "study.json", "people.csv", "--seed", "7", "-o", "tally.json")
    told = json.loads(run(site, "estimate", "study.json", "tally.json", "--json"))
    assert "recall" in json.dumps(told)


def test_without_the_package_its_study_is_still_estimated(site: Path):
    run(site, "design", "--title", "Recall", *GROUPS, "--design", "cautious", "-o", "study.json")
    (site.parent / "people.csv").write_text("group,value,count\nfemale,0.9,50000\nmale,0.5,50000\n")
    elsewhere = site.parent / "elsewhere"
    elsewhere.mkdir()
    run(elsewhere, "simulate", "study.json", "people.csv", "--seed", "7", "-o", "tally.json")
    assert "female" in run(elsewhere, "estimate", "study.json", "tally.json")
