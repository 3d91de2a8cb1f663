"""The paper's figures, redrawn with the truth in them: SVG and PNG, for print and for every kind of sight.

Colours are Okabe and Ito's, and no line depends on its colour alone.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairgauge.errors import MissingExtra
from fairgauge.paper import optimal_design
from fairgauge.paper.bounds import Allocation, assumed_mse, assumed_variance, crossovers
from fairgauge.paper.mechanisms import (
    LaplaceMechanism,
    Published,
    drawn_laplace,
    published_laplace,
    published_response,
    sound_laplace,
    sound_response,
)
from fairgauge.paper.runs import RunClients, estimated_gaps
from fairgauge.paper.theorems import exact_loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

_BLACK, _ORANGE, _SKY, _GREEN, _BLUE, _RED = "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00"
_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "hatch.linewidth": 0.6,
    "svg.hashsalt": "fairgauge",
    "svg.fonttype": "path",
}
# Without a date and with a fixed salt the same numbers give the same bytes.
_METADATA = {"svg": {"Date": None, "Creator": "fairgauge"}, "png": {"Software": "fairgauge"}}
_GROUP = 10**4
# How far off the minority's fraction is taken for, and how that is drawn.
_WRONG: dict[float, Literal["-", ":", "--"]] = {1.0: "-", 0.5: ":", 1.5: "--"}


def draw(folder: Path, *, step: Callable[[], object] = lambda: None) -> list[Path]:
    """Draw every figure into a folder and return the files.

    Raises:
        MissingExtra: If matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("drawing figures needs matplotlib", "lab") from None
    files = []
    with mpl.rc_context(_STYLE):
        for name, (size, paint) in FIGURES.items():
            figure = Figure(figsize=size, layout="constrained")
            paint(figure)
            for kind, metadata in _METADATA.items():
                files.append(folder / f"{name}.{kind}")
                figure.savefig(files[-1], dpi=200, metadata=metadata)
            step()
    return files


def _mse_against_epsilon(figure: "Figure") -> None:
    """Figure 1 of the paper, then the same with true privacy."""
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    _band(left, published_response, _BLUE, "-", "M_R opt.")
    _band(left, published_laplace, _RED, "--", "M_L opt.")
    _band(left, sound_laplace, _GREEN, ":", "M_L, k = 2")
    _mark_crossovers(left, published_laplace, _BLACK, (3, 9), "they cross, by these bounds")
    _mark_crossovers(left, drawn_laplace, "white", (-24, -11), "they cross as printed: k = 1, v = 0")
    left.set(title="As published: ε is what is claimed", ylabel="MSE of the gap (v in [−1, 1])")
    _band(right, sound_response, _BLUE, "-", "M_R, sound")
    _band(right, sound_laplace, _GREEN, ":", "M_L, k = 2, sound")
    best = [optimal_design.spread_of(e).variance / (2 * _GROUP) for e in optimal_design.SHOWN]
    right.plot(
        [float(e) for e in optimal_design.SHOWN], best, "s-", color=_ORANGE, markersize=3.5, label="optimal design"
    )
    right.set(title="Corrected: ε is what is true")
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="ε", ylim=(1e-7, 5))
        axes.set_xticks([0.1, 0.3, 1, 3, 8], ["0.1", "0.3", "1", "3", "8"])
        axes.minorticks_off()
        axes.legend(loc="lower left")


def _mark_crossovers(axes: "Axes", laplace: Allocation, fill: str, offset: tuple[float, float], label: str) -> None:
    """Mark where M_R as published and a reading of M_L have the same MSE."""
    found = np.array(crossovers(published_response, laplace))
    heights = [published_response(epsilon).gap_variance() / (2 * _GROUP) for epsilon in found]
    axes.plot(found, heights, "o", color=_BLACK, markerfacecolor=fill, markersize=4.5, zorder=3, label=label)
    for epsilon, height in zip(found, heights, strict=True):
        axes.annotate(f"{epsilon:.2f}", (epsilon, height), offset, textcoords="offset points")


def _band(axes: "Axes", allocation: Allocation, colour: str, style: str, label: str) -> None:
    """Draw the range of the MSE over all values that clients may hold, with a line at its top."""
    epsilons = np.geomspace(0.05, 8, 160)
    low, high = (
        np.array([allocation(e).gap_variance(square=square) for e in epsilons]) / (2 * _GROUP) for square in (0.0, 1.0)
    )
    axes.fill_between(epsilons, np.minimum(low, high), np.maximum(low, high), color=colour, alpha=0.25, linewidth=0)
    axes.plot(epsilons, np.maximum(low, high), style, color=colour, label=label)


def _unbalanced(figure: "Figure") -> None:
    """Figure 2 of the paper, upper bounds of the variance; below it what the error is, with its bias."""
    ratios = np.geomspace(1, 1000, 120)
    above, below = figure.subplots(2, 2, sharex=True, sharey=True)
    panels: tuple[tuple[Any, str, Allocation, Callable[[Published, float, float, float], float]], ...] = (
        (above[0], "As in the paper: variance bound, M_R opt.", published_response, assumed_variance),
        (above[1], "As in the paper: variance bound, M_L, k = 2", sound_laplace, assumed_variance),
        (below[0], "Ours: MSE with bias, M_R sound, v = 1", sound_response, assumed_mse),
        (below[1], "Ours: MSE with bias, M_L, k = 2, v = 1", sound_laplace, assumed_mse),
    )
    for axes, title, allocation, measure in panels:
        for epsilon, colour in ((1.0, _BLUE), (4.0, _RED)):
            for factor, style in _WRONG.items():
                curve = [measure(allocation(epsilon), 2 * _GROUP / (1 + r), 2 * _GROUP, factor) for r in ratios]
                axes.plot(ratios, curve, style, color=colour, label=f"{epsilon:g}, {factor:g}")
        axes.set(xscale="log", yscale="log", title=title)
        axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
        axes.minorticks_off()
    for axes in (above[0], below[0]):
        axes.set(ylabel="20,000 clients, gap in v")
    for axes in below:
        axes.set(xlabel="majority / minority")
    handles = [
        _line(_BLACK, "-", "fractions right"),
        _line(_BLACK, ":", "minority taken for half"),
        _line(_BLACK, "--", "for one and a half times"),
        _line(_BLUE, "-", "ε = 1"),
        _line(_RED, "-", "ε = 4"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, columnspacing=1.2, handlelength=1.8)


def _contours(figure: "Figure") -> None:
    """Figure 3 of the paper: the MSE of M_L over ε1 and ε2, with the claimed and the truly private region."""
    e1, e2 = np.meshgrid(np.linspace(0, 2, 160), np.linspace(0.1, 2, 160))
    heights = np.linspace(0.1, 2, 50)
    # Where Theorem 2 promises ε = ε2: left of a line for k = 2, and on a line only for k = 2/3.
    panels = (
        (2.0, "k = 2: private where claimed", np.zeros_like(heights), heights / 2),
        (2 / 3, "k = 2/3: claimed on the line, private nowhere", np.log(3) - heights / 2, np.log(3) - heights / 2),
    )
    for axes, (k, title, left, right) in zip(figure.subplots(1, 2, sharey=True), panels, strict=True):
        mechanisms = [LaplaceMechanism(a, b, k=k) for a, b in zip(e1.ravel(), e2.ravel(), strict=True)]
        mse = np.array([m.gap_variance() for m in mechanisms]).reshape(e1.shape) / (2 * _GROUP)
        true = np.array([exact_loss(m).epsilon <= m.value_epsilon + 1e-9 for m in mechanisms]).reshape(e1.shape)
        axes.contourf(e1, e2, true, levels=[0.5, 1.5], colors=[_GREEN], alpha=0.4)
        axes.fill_betweenx(heights, left, right, facecolor="none", edgecolor=_RED, hatch="//", linewidth=0)
        levels = np.arange(-3.4, 0, 0.2)
        drawn = axes.contour(e1, e2, np.log10(mse), levels=levels, colors="#444444", linewidths=0.8, linestyles="solid")
        # Labels one above the other, away from the edges; below ε2 = 0.3 the lines are too close for them.
        at = e1[0].searchsorted(1.5)
        places = [(1.5, float(np.interp(-level, -np.log10(mse[:, at]), e2[:, at]))) for level in levels]
        axes.clabel(
            drawn,
            fmt=lambda level: f"{10**level:.2g}",
            fontsize=7,
            inline_spacing=2,
            manual=[place for place in places if 0.3 < place[1] < 1.95],
        )
        axes.plot(right, heights, "--", color=_RED, linewidth=2.2)
        axes.set(
            title=title,
            xlabel="ε1 (group)",
            xlim=(0, 2),
            ylim=(0.1, 2),
            xticks=[0, 0.5, 1, 1.5, 2],
            yticks=[0.5, 1, 1.5, 2],
        )
        axes.grid(visible=False)
    figure.axes[0].set_ylabel("ε2 (value) = ε")
    handles = [
        _patch("claimed ε-private", facecolor="none", edgecolor=_RED, hatch="///"),
        _line(_RED, "--", "the paper's allocation"),
        _patch("truly ε-private", facecolor=_GREEN, alpha=0.4),
        _line("#444444", "-", "MSE of the gap, n = 10⁴ each"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)


def _patch(label: str, **look: Any) -> "Patch":
    from matplotlib.patches import Patch

    return Patch(label=label, linewidth=0, **look)


def _line(colour: str, style: Literal["-", "--", ":"], label: str) -> "Line2D":
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linestyle=style, linewidth=1.4, label=label)


def _convergence(figure: "Figure") -> None:
    """Figure 4 of the paper: the empirical MSE approaches the closed form, for ten clients in each group."""
    runs, rng = 100_000, np.random.default_rng(4)
    values = [np.linspace(-1, 1, 10), np.linspace(-0.5, 1, 10)]
    clients = RunClients.fixed(values, 10, runs)
    counts = np.arange(1, runs + 1)
    shown = np.unique(np.geomspace(10, runs, 300).astype(int)) - 1
    panels: dict[str, Published] = {
        "M_R, ε1 = ε2 = 1": published_response(1.0),
        "M_L, k = 2, ε = 1": sound_laplace(1.0),
    }
    for axes, (title, mechanism) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        theory = sum(mechanism.variance(10, 20, square=float(np.mean(v**2))) for v in values)
        for number, colour in enumerate((_SKY, _ORANGE, _GREEN)):
            errors = (estimated_gaps(mechanism, clients, rng) - clients.gaps) ** 2
            axes.plot(
                counts[shown],
                (np.cumsum(errors) / counts)[shown],
                color=colour,
                linewidth=1.1,
                label=f"empirical, seed {number + 1}",
            )
        axes.axhline(theory, color=_BLACK, linestyle="--", linewidth=1.2, label="closed form")
        axes.set(title=title, xscale="log", xlabel="runs", ylim=(0.5 * theory, 1.6 * theory))
    figure.axes[0].set_ylabel("MSE of the gap, 10 + 10 clients")
    figure.axes[1].legend(loc="upper right")


def _claimed_and_true(figure: "Figure") -> None:
    """What a claimed ε is worth: not in the paper, but in one picture what its first two errata say."""
    axes = figure.subplots()
    claimed = np.geomspace(0.01, 8, 200)
    axes.plot(claimed, claimed, color=_BLACK, linewidth=1, linestyle=":", label="as claimed")
    axes.plot(
        claimed, [exact_loss(published_response(e)).epsilon for e in claimed], color=_BLUE, label="M_R opt., exactly"
    )
    axes.plot(
        claimed,
        [published_laplace(e).group_epsilon for e in claimed],
        "--",
        color=_RED,
        label="M_L opt., the reported group alone\n(the whole report: no finite ε)",
    )
    axes.set(xscale="log", yscale="log", xlabel="ε claimed", ylabel="ε in truth")
    axes.set_xticks([0.01, 0.1, 1, 8], ["0.01", "0.1", "1", "8"])
    axes.set_yticks([0.01, 0.1, 1, 8], ["0.01", "0.1", "1", "8"])
    axes.minorticks_off()
    axes.legend(loc="lower right")


FIGURES: dict[str, tuple[tuple[float, float], Callable[["Figure"], None]]] = {
    "mse-against-epsilon": ((7.2, 3.4), _mse_against_epsilon),
    "unbalanced-groups": ((7.2, 5.6), _unbalanced),
    "contours": ((7.2, 3.7), _contours),
    "convergence": ((7.2, 3.0), _convergence),
    "claimed-and-true": ((4.4, 3.4), _claimed_and_true),
}
