"""What each figure shows: its lines are the numbers that they are said to be.

Covers: fairgauge.paper.paper_figures, fairgauge.paper.bounds.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from fairgauge.paper import optimal_design, paper_figures
from fairgauge.paper.bounds import Allocation, assumed_mse, assumed_variance
from fairgauge.paper.mechanisms import (
    LaplaceMechanism,
    published_laplace,
    published_response,
    sound_laplace,
    sound_response,
)
from fairgauge.paper.runs import RunClients, estimated_means
from fairgauge.paper.theorems import exact_loss

CLIENTS = 2 * 10**4
Lines = dict[str, tuple[np.ndarray, np.ndarray]]


def drawn(name: str) -> list[Any]:
    figure = Figure()
    paper_figures.FIGURES[name][1](figure)
    return figure.axes


def lines(axes: Any) -> Lines:
    return {line.get_label(): (np.array(line.get_xdata()), np.array(line.get_ydata())) for line in axes.lines}


def test_figure_1_has_the_upper_bounds_as_published_and_as_they_are(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(optimal_design, "SHOWN", optimal_design.SHOWN[5:6])
    left, right = map(lines, drawn("mse-against-epsilon"))
    panels: tuple[tuple[Lines, dict[str, Allocation]], ...] = (
        (left, {"M_R opt.": published_response, "M_L opt.": published_laplace, "M_L, k = 2": sound_laplace}),
        (right, {"M_R, sound": sound_response, "M_L, k = 2, sound": sound_laplace}),
    )
    for shown, allocations in panels:
        for name, allocation in allocations.items():
            epsilons, heights = shown[name]
            expected = [max(allocation(e).gap_variance(square=s) for s in (0, 1)) / CLIENTS for e in epsilons]
            assert heights == pytest.approx(expected)
    assert left["they cross, by these bounds"][0] == pytest.approx([0.36, 3.53], abs=0.005)
    assert left["they cross as printed: k = 1, v = 0"][0] == pytest.approx([0.31, 2.65], abs=0.005)
    (best,) = right["optimal design"][1]
    assert best * CLIENTS == pytest.approx(16.0, rel=0.02)


def test_figure_2_has_the_papers_upper_bounds_and_below_them_the_error():
    """The paper's has two panels, M_R opt. and M_L with k = 2."""
    panels = drawn("unbalanced-groups")
    shown: tuple[tuple[Callable[..., float], Allocation, str], ...] = (
        (assumed_variance, published_response, "M_R opt."),
        (assumed_variance, sound_laplace, "M_L, k = 2"),
        (assumed_mse, sound_response, "M_R sound"),
        (assumed_mse, sound_laplace, "M_L, k = 2"),
    )
    for axes, (measure, allocation, name) in zip(panels, shown, strict=True):
        assert name in axes.get_title()
        found = lines(axes)
        for epsilon in (1.0, 4.0):
            for factor in (1.0, 0.5, 1.5):
                ratios, heights = found[f"{epsilon:g}, {factor:g}"]
                sizes = CLIENTS / (1 + ratios)
                assert heights == pytest.approx([measure(allocation(epsilon), n, CLIENTS, factor) for n in sizes])
    for axes, (_, allocation, _) in zip(panels[:2], shown[:2], strict=True):
        for epsilon in (1.0, 4.0):
            bound = allocation(epsilon).gap_variance() / CLIENTS
            assert lines(axes)[f"{epsilon:g}, 1"][1][0] == pytest.approx(bound)


@pytest.mark.parametrize(("allocation", "times"), [(sound_response, "884"), (sound_laplace, "420")])
def test_the_page_says_what_half_wrong_fractions_cost(allocation: Allocation, times: str):
    half, right = (assumed_mse(allocation(1.0), CLIENTS / 2, CLIENTS, factor) for factor in (0.5, 1.0))
    assert f"{half / right:.0f}" == times
    page = (Path(__file__).parents[3] / "docs" / "paper.md").read_text(encoding="utf-8")
    assert re.search(rf"{times}\s+times", page)


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_wrong_sizes_against_a_simulation(factor: float):
    """Groups of 50 and 150, everyone at 1, 40,000 runs: the mean squared error is the formula's, to 3 %."""
    mechanism, runs = sound_response(1.0), 40_000
    values = (np.array([1.0]), np.array([1.0]))
    clients = RunClients(values, (np.full((runs, 1), 50), np.full((runs, 1), 150)))
    rng = np.random.default_rng(3)
    means = estimated_means(mechanism, clients, rng) * np.array([1 / factor, 150 / (200 - 50 * factor)])
    errors = means[:, 0] - means[:, 1]
    assert np.mean(errors**2) == pytest.approx(assumed_mse(mechanism, 50, 200, factor), rel=0.03)


def test_figure_3_has_the_claimed_and_the_true_region():
    for axes, k in zip(drawn("contours"), (2.0, 2 / 3), strict=True):
        at, heights = next(iter(lines(axes).values()))
        line = heights / 2 if k == 2.0 else np.log(3) - heights / 2
        assert at == pytest.approx(line)
    private, nowhere = drawn("contours")
    # A contour that is filled is there where something is truly private.
    filled = [[len(path.vertices) for c in axes.collections for path in c.get_paths()] for axes in (private, nowhere)]
    assert sum(filled[0]) > 0
    assert exact_loss(LaplaceMechanism(0.5, 1.0, k=2 / 3)).epsilon == np.inf
    assert nowhere.get_title() == "k = 2/3: claimed on the line, private nowhere"


def test_figure_4_approaches_the_closed_form():
    for axes in drawn("convergence"):
        shown = lines(axes)
        theory = shown["closed form"][1][0]
        for number in (1, 2, 3):
            runs, mse = shown[f"empirical, seed {number}"]
            assert runs[-1] == 100_000
            assert mse[-1] == pytest.approx(theory, rel=0.03)


def test_the_last_figure_has_the_exact_loss():
    (axes,) = drawn("claimed-and-true")
    claimed, true = lines(axes)["M_R opt., exactly"]
    assert true == pytest.approx([exact_loss(published_response(e)).epsilon for e in claimed])
    alone = next(found for name, found in lines(axes).items() if name.startswith("M_L opt."))
    assert alone[1] == pytest.approx([published_laplace(e).group_epsilon for e in alone[0]])


def test_every_figure_is_tested():
    assert list(paper_figures.FIGURES) == [
        "mse-against-epsilon",
        "unbalanced-groups",
        "contours",
        "convergence",
        "claimed-and-true",
    ]
