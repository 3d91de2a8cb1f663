"""What is expected, from the plan to the estimate, by the real command."""

import json
from pathlib import Path
from typing import Any

import pytest

from fairgauge.study import Study
from tests.programs import programs

GROUPS = (
    "--group",
    "female=0.5",
    "--group",
    "male=0.5",
    "--answering",
    "alike",
    "--metric",
    "recall:0:1",
    "--epsilon",
    "4",
)


def run(folder: Path, *arguments: str) -> str:
    done = programs().fairgauge(*arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(folder: Path, *more: str) -> dict[str, Any]:
    (found,) = json.loads(run(folder, "plan", *GROUPS, "--clients", "100000", "--json", *more))["questions"]
    return {row["design"]: row for row in found["designs"]}


def test_the_plan_tells_total_privacy_and_sampling_and_what_is_assumed(tmp_path: Path):
    expected = rows(tmp_path, "--expect", "0.9")
    # The figures to reach: 3.43 before, at most 1.10 now, and no private channel is below 1.055.
    assert expected["uncentred"]["variance"] == pytest.approx(3.43, abs=0.02)
    assert 1.055 < expected["centred"]["variance"] <= 1.10
    assert expected["centred"]["sampling_variance"] == pytest.approx(0.36)
    assert expected["uncentred"]["privacy_variance"] == pytest.approx(0.513, abs=0.01)
    assert expected["centred"]["assumes"] == "every group averages 0.9, with a standard deviation of at most 0.15"
    anything = rows(tmp_path, "--expect", "0.9", "--spread", "max", "--design", "centred")
    assert anything["centred"]["variance"] == pytest.approx(2.0593, rel=0.001)
    assert anything["centred"]["assumes"] == "every group averages 0.9, with any values"
    narrow = rows(tmp_path, "--expect", "0.9", "--spread", "0.05", "--design", "centred")
    assert narrow["centred"]["variance"] < 0.9 * expected["centred"]["variance"]


def test_what_is_expected_reaches_the_estimate(tmp_path: Path):
    designed = ("design", "--title", "Recall", *GROUPS, "-o", "study.json")
    run(tmp_path, *designed, "--expect", "0.9")
    study = Study.load(tmp_path / "study.json")
    assert study.questions[0].expect == "0.9"
    (tmp_path / "people.csv").write_text("group,value,count\nfemale,0.9,50000\nmale,0.85,50000\n")
    run(tmp_path, "simulate", "study.json", "people.csv", "--seed", "3", "-o", "tally.json")
    told = json.loads(run(tmp_path, "estimate", "study.json", "tally.json", "--json", "--interval", "normal"))
    gap = told["questions"][0]["gaps"][0]
    low, high = gap["low"], gap["high"]
    assert low < 0.05 < high
    # Half the width that K·Var = 1.10 gives in the metric's units, at 99 %; what is seen is not the worst case.
    assert (high - low) / 2 < 2.576 * (1.10 / 100_000) ** 0.5 / 2
