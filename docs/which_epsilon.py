"""Draw docs/pictures/which-epsilon.svg: the error that each epsilon gives, for several numbers of clients."""

from decimal import Decimal
from pathlib import Path

from matplotlib import rcParams
from matplotlib.figure import Figure

from fairgauge.goals.goal import Goal
from fairgauge.planning.choosing import EPSILONS, GOOD, choices
from fairgauge.study import Metric

PICTURE = Path(__file__).parent / "pictures" / "which-epsilon.svg"
GOAL = Goal((0.5, 0.5), shares_known=False)
CLIENTS = {10_000: "10,000", 200_000: "200,000", 1_000_000: "a million"}


def draw() -> None:
    """Draw the picture; ids in it are the same each time."""
    rcParams.update({"svg.hashsalt": "fairgauge", "svg.fonttype": "none", "font.size": 10})
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for (clients, name), colour in zip(CLIENTS.items(), ("#8fb8d6", "#3d83b0", "#14527a"), strict=True):
        rows = choices(GOAL, Metric("recall", 0, 1), clients, epsilons=[*EPSILONS[:-1], Decimal(4)]).rows
        axes.plot([r.epsilon for r in rows], [100 * r.error for r in rows], "o-", color=colour, label=f"{name} clients")
    axes.axhline(100 * GOOD, color="#8f3b12", linewidth=1, linestyle="--")
    axes.text(0.1, 100 * GOOD * 1.12, "±2 points", color="#8f3b12")
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="epsilon: more private to the left",
        ylabel="error of the gap (± points)",
    )
    axes.set_xticks([float(e) for e in EPSILONS], [str(e) for e in EPSILONS])
    axes.set_yticks([0.2, 0.5, 1, 2, 5, 10, 20, 50, 100], ["0.2", "0.5", "1", "2", "5", "10", "20", "50", "100"])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    draw()
