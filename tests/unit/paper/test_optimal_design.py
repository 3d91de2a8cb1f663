"""How often the paper's kinds hold the gap: as promised for such clients; for drawn ones, the twin, they do not."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from fairgauge.paper import optimal_design
from fairgauge.paper.pages import STEPS, publish
from fairgauge.paper.runs import RunClients
from tests.statistical.exact import FALSE_POSITIVE_RATE


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimal_design, "_CLIENTS", (100, 10**6))
    monkeypatch.setattr(optimal_design, "_EPSILONS", ("4",))


@pytest.mark.usefixtures("cheap")
def test_intervals_hold_for_the_clients_that_they_are_about_and_not_for_drawn_ones(tmp_path: Path):
    steps: list[int] = []
    files = publish("coverage", tmp_path, step=lambda: steps.append(1))
    assert [file.name for file in files] == ["coverage.md", "results.json"]
    rows = json.loads((tmp_path / "results.json").read_text())["coverage"]["rows"]
    assert len(steps) == len(rows) == 4

    def broken(row: dict[str, dict[str, float]], whom: str, kind: str) -> bool:
        missed = round((1 - row[whom][kind]) * optimal_design.RUNS)
        return bool(binom.sf(missed - 1, optimal_design.RUNS, 0.01) < FALSE_POSITIVE_RATE)

    assert not any(broken(row, "these", kind) for row in rows for kind in optimal_design.WIDTHS)
    # At epsilon 4 most of what is random is who comes.
    assert all(broken(row, "drawn", kind) for row in rows for kind in ("finite", "fixed"))


def test_every_cell_is_a_step():
    assert STEPS["coverage"] == optimal_design.COUNT == 18


def test_drawn_clients_split_by_chance_and_hold_what_the_population_holds():
    found = RunClients.drawn([[1.0], [-1.0, 1.0]], 10_000, 4000, np.random.default_rng(1))
    assert (found.sizes.sum(axis=1) == 10_000).all()
    assert found.sizes[:, 0].std() == pytest.approx(50, rel=0.05)
    assert found.gaps.mean() == pytest.approx(1.0, abs=0.001)
