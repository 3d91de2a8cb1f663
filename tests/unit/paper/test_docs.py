"""What docs/paper shows is what the code computes."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from fairgauge.paper import optimal_design, pages, tables
from fairgauge.paper.bounds import PUBLISHED, SOUND, chebyshev_error, least_epsilon
from fairgauge.paper.errata import errata
from fairgauge.paper.pages import figure_results
from fairgauge.paper.paper_figures import FIGURES

DOCS = Path(__file__).parents[3] / "docs"
SHOWN = DOCS / "paper"
RESULTS = json.loads((SHOWN / "results.json").read_text(encoding="utf-8"))


def shown(name: str) -> str:
    return (SHOWN / name).read_text(encoding="utf-8")


def test_errata_are_current():
    assert shown("errata.md") == pages.errata_page(errata())
    assert shown("errata.html") == pages.errata_html(errata())


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("table1.md", pages.table1_page),
        ("table2.md", pages.table2_page),
        ("coverage.md", pages.coverage_page),
        ("dataset.md", pages.dataset_page),
    ],
)
def test_pages_show_the_results_beside_them(name: str, page: object):
    assert callable(page)
    assert shown(name) == page(RESULTS)


def test_closed_forms_in_the_results_are_current():
    for section, allocations in ((RESULTS, PUBLISHED), (RESULTS["sound"], SOUND)):
        found = tables.table1(allocations)
        for name in allocations:
            for clients, row in found[name].items():
                shown_row = section["table1_minimum_epsilon"][name][clients]
                for was, now in zip(shown_row, row, strict=True):
                    assert was == (now if now is None else pytest.approx(now, rel=1e-9))


@pytest.mark.parametrize(("clients", "column"), [("1e5", 0), ("1e6", 0), ("1e8", 1)])
@pytest.mark.parametrize("interval", ["Chebyshev", "finite"])
def test_optimal_cells_are_reached_and_not_by_much_less(clients: str, column: int, interval: str):
    epsilon = RESULTS["optimal"]["table1_minimum_epsilon"][f"optimal, {interval}"][clients][column]
    error, k = tables.ERRORS[column], tables.CLIENTS[clients]
    reached = optimal_design.error_at(Decimal(repr(epsilon)), k, interval=interval.lower())
    assert 0.97 * error < reached < 1.01 * error


def test_results_have_every_section_in_the_printed_layout():
    for key, value in tables.printed().items():
        assert key in RESULTS
        if isinstance(value, dict):
            assert set(value) <= set(RESULTS[key]), key


@pytest.mark.parametrize("section", ["sound", "optimal"])
def test_other_privacy_has_the_same_sections_as_the_printed_figures(section: str):
    sections = {key for key, value in tables.printed().items() if isinstance(value, dict)}
    assert set(RESULTS[section]) == sections
    names = {"sound": {"M_R", "M_L"}, "optimal": {"optimal"}}[section]
    for key in ("table2_error", "dataset_model"):
        assert names <= set(RESULTS[section][key])
    for model in (RESULTS[section]["dataset_model"][name] for name in names):
        for name, shown_value in RESULTS["dataset_clients"].items():
            assert model[name] == pytest.approx(shown_value, abs=0.01)


def test_crossovers_are_current_and_on_the_page():
    found = figure_results()
    for where in (lambda r: r, lambda r: r["sound"], lambda r: r["optimal"]):
        for name, value in where(found)["crossovers"].items():
            shown_value = where(RESULTS)["crossovers"][name]
            assert shown_value == (value if isinstance(value, str) else pytest.approx(value, rel=1e-9))
    text = (DOCS / "paper.md").read_text(encoding="utf-8")
    for pair in found["crossovers"].values():
        assert isinstance(pair, str) or all(f"{epsilon:.2f}" in text for epsilon in pair)


def test_the_two_tables_are_in_different_units_as_the_page_says():
    """One point of a rate from 0 to 1 is 0.02 of v; Table 2's printed alpha is half of what Table 1 is about."""
    response = PUBLISHED["M_R opt"]
    least = [least_epsilon(response, 1e7, error) for error in (0.02, 0.01)]
    assert f"of {least[0]:.2f}, not {least[1]:.2f}." in (DOCS / "paper.md").read_text(encoding="utf-8")
    assert f"{chebyshev_error(response(1.0).gap_variance(), 1e7) / 2:.4f}" == "0.0094"


def test_measured_intervals_hold_the_true_gaps():
    """Eight intervals with confidence 0.99: two misses or more would be a wonder of 1 in 370."""
    found = [measured[metric] for measured in RESULTS["dataset_measured"] for metric in ("tpr", "fpr")]
    misses = sum(not m["low"] < m["true_gap"] < m["high"] for m in found)
    assert misses <= 1
    assert f"{misses} of these {len(found)} intervals miss" in (DOCS / "paper" / "dataset.md").read_text(
        encoding="utf-8"
    )


def test_redone_model_is_near_the_printed_one():
    printed, redone = tables.printed()["dataset_model"], RESULTS["dataset_model"]
    for name in ("accuracy", "fpr", "tpr"):
        assert redone[name] == pytest.approx(printed[name], abs=0.01)
    for metric in ("tpr", "fpr"):
        for sex in ("male", "female"):
            assert redone[f"mean_{metric}"][sex] == pytest.approx(printed[f"mean_{metric}"][sex], abs=0.03)
        assert redone[f"gap_{metric}"] == pytest.approx(printed[f"gap_{metric}"], abs=0.03)
    everyone = RESULTS["dataset_model_all_trials"]
    assert everyone["trials"] == printed["trials"]
    assert round(everyone["mean_samples_per_client"]) == printed["mean_samples_per_client"]


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_there_and_on_the_page(name: str):
    assert (SHOWN / f"{name}.svg").exists()
    assert f"paper/{name}.svg" in (DOCS / "paper.md").read_text(encoding="utf-8")
