"""How close the certified number is: cells of the reference, several questions, and what no proof can beat."""

import json
import math
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from fairgauge.blanket import bounds, closeness, sums
from fairgauge.channel import ROW_SUM
from fairgauge.crowd import Crowd, crowd_of
from fairgauge.crowd.laws import Blanket
from fairgauge.designs import make_channel
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.targets.target import Goal
from tests.samples import sample_study, two_questions

CELLS = json.loads((Path(__file__).parents[2] / "data" / "crowd_reference.json").read_text(encoding="utf-8"))["cells"]
# All of them take minutes.
CHOSEN = {("0.5", 1000, 1e-6), ("1", 10**5, 1e-8), ("3", 1000, 1e-8), ("4", 10**5, 1e-8)}
SOME = [cell for cell in CELLS if (cell["local"], cell["n"], cell["delta"]) in CHOSEN]


@cache
def asked(local: str) -> Study:
    channel = make_channel(Goal(target="gap", shares=(0.5, 0.5)), Decimal(local), design="uncentred")[1]
    attribute = Attribute("sex", {"a": 0.5, "b": 0.5}, answering="alike")
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


def exact_lower(people: int, delta: float) -> float:
    """Return what a person among others who all hold the same needs, for the table (3/4, 1/4), (1/4, 3/4)."""

    def delta_at(epsilon: float) -> float:
        values = [(own - math.exp(epsilon) * other) / company for own, other, company in ((1, 3, 3), (3, 1, 1))]
        ups = np.arange(people + 1)
        totals = values[1] * ups + values[0] * (people - ups)
        return float(np.exp(binom.logpmf(ups, people, 0.25)) @ np.maximum(totals, 0)) / people

    return float(brentq(lambda epsilon: delta_at(epsilon) / delta - 1, 1e-4, 1.0))


def lower_is_right() -> bool:
    table = ((3 * ROW_SUM // 4, ROW_SUM // 4), (ROW_SUM // 4, 3 * ROW_SUM // 4))
    crowd = Crowd(2000, Decimal(0), Decimal("1e-8"), Decimal(1))
    found = bounds._lower([Blanket.of(table)], crowd, math.log(3))
    exact = exact_lower(2000, 1e-8)
    return exact * (1 - 2e-3) <= found <= exact


def test_the_lower_bound_is_below_what_a_data_set_needs_and_close() -> None:
    assert lower_is_right()


@pytest.mark.parametrize("slack", [0.0, -1e-3, 5e-3])
def test_a_wrong_slack_is_caught(monkeypatch: pytest.MonkeyPatch, slack: float) -> None:
    monkeypatch.setattr(bounds, "SLACK", slack)
    assert not lower_is_right()
