"""How close the certified number is: cells of the reference, several questions, and what no proof can beat."""

import json
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fairgauge.blanket import closeness, sums
from fairgauge.crowd import crowd_of
from fairgauge.designs import make_channel
from fairgauge.goals.goal import Goal
from fairgauge.study import Attribute, Metric, Question, Study
from tests.samples import sample_study, two_questions

CELLS = json.loads((Path(__file__).parents[2] / "data" / "crowd_reference.json").read_text(encoding="utf-8"))["cells"]
# All of them take minutes.
CHOSEN = {("0.5", 1000, 1e-6), ("1", 10**5, 1e-8), ("3", 1000, 1e-8), ("4", 10**5, 1e-8)}
SOME = [cell for cell in CELLS if (cell["local"], cell["n"], cell["delta"]) in CHOSEN]


@cache
def asked(local: str) -> Study:
    channel = make_channel(Goal(target="gap", shares=(0.5, 0.5)), Decimal(local), design="uncentred")[1]
    attribute = Attribute("sex", {"a": 0.5, "b": 0.5})
    return Study("Reference", [Question(Metric("recall", 0, 1), attribute, "gap", "uncentred", local, channel)])


@pytest.mark.parametrize("cell", SOME, ids=lambda cell: f"{cell['local']} {cell['n']} {cell['delta']}")
def test_cells_of_the_reference(cell: dict[str, Any]) -> None:
    study = asked(cell["local"])
    crowd = crowd_of(study, cell["n"], observed=Decimal(0), delta=Decimal(str(cell["delta"])))
    found = closeness(study, crowd)
    assert found.tight is not None
    assert found.tight == pytest.approx(cell["upper"], rel=0.005)
    assert cell["lower"] <= found.tight <= crowd.number
    assert cell["lower"] * 0.95 <= found.lower <= cell["lower"]


def test_several_questions() -> None:
    study = two_questions()
    crowd = crowd_of(study, 2000, observed=Decimal(0))
    found = closeness(study, crowd)
    assert found.tight is not None
    assert found.lower <= found.tight <= crowd.number
    assert found.tight > 0.85 * crowd.number


def test_a_finer_lattice_does_not_undercut_what_was_said_to_be_least(monkeypatch: pytest.MonkeyPatch) -> None:
    study = sample_study()
    crowd = crowd_of(study, 3000, observed=Decimal(0))
    coarse = closeness(study, crowd).lower
    monkeypatch.setattr(sums, "POINTS", 256)
    assert coarse <= closeness(study, crowd).lower * (1 + 1e-3)


def test_alone_nothing_is_hidden() -> None:
    study = sample_study()
    found = closeness(study, crowd_of(study, 1))
    assert found.tight == pytest.approx(study.epsilon, rel=1e-4)
