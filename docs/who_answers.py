"""Draw docs/pictures/who-answers-*.svg: what unequal response does to a gap, and what would turn its sign."""

from pathlib import Path

import numpy as np
from matplotlib import rcParams
from matplotlib.figure import Figure

from fairgauge.estimation import Interval
from fairgauge.estimation.tipping import tipping_factor

PICTURES = Path(__file__).parent / "pictures"
MEAN = 0.9


def draw() -> None:
    """Draw the pictures; ids in them are the same each time."""
    rcParams.update({"svg.hashsalt": "fairgauge", "svg.fonttype": "none", "font.size": 10})
    _between().savefig(PICTURES / "who-answers-between.svg", metadata={"Date": None})
    _within().savefig(PICTURES / "who-answers-within.svg", metadata={"Date": None})
    _strata().savefig(PICTURES / "who-answers-strata.svg", metadata={"Date": None})


def _between() -> Figure:
    """Nobody is served better: what is read if groups answer unequally often, with shares as stated and estimated."""
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.subplots()
    ratios = np.linspace(0.75, 1.35, 121)
    # Half of the people are women: (q - p) over p (1 - p), times how far the mean is from the middle of its range.
    read = 100 * (MEAN - 0.5) * 2 * (ratios - 1) / (ratios + 1)
    axes.plot(ratios, read, color="#8f3b12", label="shares taken as stated")
    axes.plot(ratios, 0 * ratios, color="#14527a", linewidth=2.5, label="shares estimated from the answers")
    axes.set(xlabel="women answer so many times as often as men", ylabel="gap that is read (points)")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def _within() -> Figure:
    """By which factor the odds of answering must differ within a group to turn a sign."""
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.subplots()
    gaps = np.linspace(0.002, 0.15, 75)
    for spread, colour, name in (
        (np.inf, "#14527a", "whatever the values are"),
        (0.3, "#3d83b0", "standard deviation at most 0.3"),
        (0.15, "#8fb8d6", "standard deviation at most 0.15"),
    ):
        factors = [tipping_factor(Interval(gap, gap, gap, (-1, 1)), spread) or np.inf for gap in gaps]
        axes.plot(100 * gaps, factors, color=colour, label=name)
    axes.set(
        xlabel="the end of the gap's interval that is nearer to zero (points)",
        ylabel="factor between people\nof one group that turns the sign",
    )
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


def _strata() -> Figure:
    """Two regions with gaps of 2 and 6 points, half of the people in each: what those who answered have."""
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.subplots()
    north = np.linspace(0.1, 0.9, 81)
    axes.plot(100 * north, 2 * north + 6 * (1 - north), color="#8f3b12", label="of those who answered")
    axes.plot(100 * north, 4 + 0 * north, color="#14527a", linewidth=2.5, label="weighed by the people")
    axes.plot([70, 70], [3.2, 4], color="#555555", linewidth=1, linestyle="--")
    axes.text(71, 3.5, "0.8 points", color="#555555")
    axes.set(xlabel="of 100 answers so many come from the north", ylabel="gap (points)", ylim=(1.5, 6.5))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    draw()
