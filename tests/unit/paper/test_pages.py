"""What ``fairgauge paper`` writes: files, their layout, and results.json that grows part by part.

Covers: fairgauge.paper.optimal_design, fairgauge.paper.pages.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from fairgauge.errors import CannotEstimate
from fairgauge.paper import optimal_design, pages, paper_figures, tables


def test_errata_are_written_in_both_forms(tmp_path: Path):
    files = pages.publish("errata", tmp_path / "new")
    assert [file.name for file in files] == ["errata.md", "errata.html", "results.json"]
    assert len(json.loads((tmp_path / "new" / "results.json").read_text())["errata"]) == 10


def test_results_keep_what_other_parts_wrote(tmp_path: Path):
    before = {"sound": {"table1_minimum_epsilon": 1}, "kept": 2, "errata": []}
    (tmp_path / "results.json").write_text(json.dumps(before))
    pages.publish("errata", tmp_path)
    after = json.loads((tmp_path / "results.json").read_text())
    assert (after["kept"], after["sound"], len(after["errata"])) == (2, {"table1_minimum_epsilon": 1}, 10)


def test_sections_are_joined_not_replaced():
    joined = pages._merged({"sound": {"a": 1}, "x": {"a": 1}}, {"sound": {"b": 2}, "x": {"b": 2}})
    assert joined == {"sound": {"a": 1, "b": 2}, "x": {"b": 2}}


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Channels up to epsilon 1 only, and few runs: the layout is what these tests are about."""
    monkeypatch.setattr(optimal_design, "_GRID", optimal_design._GRID[4:11:2])
    monkeypatch.setattr(optimal_design, "MOST", optimal_design._GRID[-1])
    monkeypatch.setattr(tables, "EPSILONS", ("0.1", "1.0"))
    monkeypatch.setattr(pages, "EPSILONS", ("0.1", "1.0"))
    monkeypatch.setattr(tables, "_FEW_RUNS", 5)


@pytest.mark.usefixtures("cheap")
def test_table_1_is_written_with_sound_and_optimal(tmp_path: Path):
    steps: list[int] = []
    pages.publish("table1", tmp_path, step=lambda: steps.append(1))
    assert len(steps) == pages.STEPS["table1"]
    results = json.loads((tmp_path / "results.json").read_text())
    printed = tables.printed()["table1_minimum_epsilon"]
    for section in (results, results["sound"], results["optimal"]):
        table = section["table1_minimum_epsilon"]
        rows = [value for value in table.values() if isinstance(value, dict)]
        assert len(rows) == 2
        assert all(list(row) == list(printed["M_R opt"]) for row in rows)
    cheb, finite = (results["optimal"]["table1_minimum_epsilon"][f"optimal, {n}"] for n in ("Chebyshev", "finite"))
    assert cheb["1e7"][0] == pytest.approx(0.127, abs=0.002)
    assert finite["1e7"][0] == pytest.approx(0.0328, abs=0.0005)
    assert cheb["1e5"][1] is None
    text = (tmp_path / "table1.md").read_text()
    assert text.count("| 10⁵ | 0.1 | 1.86 | 1.86 | 2.56 | 2.56 |") == 1


@pytest.mark.usefixtures("cheap")
def test_table_2_is_written_with_sound_and_optimal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for module in (tables, pages):
        monkeypatch.setattr(module, "MANY_RUNS", 200)
    pages.publish("table2", tmp_path)
    results = json.loads((tmp_path / "results.json").read_text())
    optimal = results["optimal"]["table2_error"]["optimal"]
    assert optimal["alpha_finite"] < optimal["alpha"]
    assert optimal["covered_200"] == [1.0, 1.0]
    assert "M_L notebook" in (tmp_path / "table2.md").read_text()


def test_the_least_epsilon_is_reached_and_a_smaller_one_is_not():
    found = optimal_design.least_epsilon(10**7, 0.1, interval="finite")
    assert found is not None
    assert optimal_design.error_at(optimal_design._short(found), 10**7, interval="finite") <= 0.1
    assert optimal_design.error_at(optimal_design._short(found * 0.98), 10**7, interval="finite") > 0.1
    clients = optimal_design.clients_needed(found, 0.1, interval="finite")
    assert clients == pytest.approx(10**7, rel=0.02)
    assert optimal_design.clients_needed(30.0, 0.1, interval="finite") is None
    assert optimal_design.least_epsilon(10**15, 0.5, interval="finite") == float(optimal_design._GRID[0])


def test_the_dataset_needs_its_archive_before_anything_is_written(tmp_path: Path):
    with pytest.raises(CannotEstimate, match="C5GG6B"):
        pages.publish("dataset", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_figures_are_drawn_twice_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    few = {name: paper_figures.FIGURES[name] for name in ("convergence", "claimed-and-true", "unbalanced-groups")}
    monkeypatch.setattr(paper_figures, "FIGURES", few)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        files = paper_figures.draw(tmp_path / folder)
    assert {file.suffix for file in files} == {".svg", ".png"}
    for file in files:
        assert file.read_bytes() == (tmp_path / "a" / file.name).read_bytes()


def test_bars_inside_cells_are_escaped():
    assert pages.markdown_table(["a"], [["|x|"]]).splitlines()[-1] == "| \\|x\\| |"


def test_simulated_mse_of_the_optimal_design_is_what_the_channel_promises():
    from decimal import Decimal

    from fairgauge.paper.runs import RunClients, channel_gaps

    rng = np.random.default_rng(1)
    clients = RunClients.resampled([[0.0, 0.5, -0.3], [0.1, 0.8]], 10**6, 2000, rng)
    spread = optimal_design.spread_of(Decimal(1))
    errors = channel_gaps(optimal_design.optimal_channel(Decimal(1)), spread.score, clients, rng) - clients.gaps
    assert np.mean(errors**2) == pytest.approx(spread.variance / (2 * 10**6), rel=0.15)
    assert abs(errors.mean()) < 5 * errors.std() / np.sqrt(2000)
