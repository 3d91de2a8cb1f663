"""Draw docs/pictures/which-epsilon.svg, the error that each epsilon gives for several numbers of clients.

With ``--costs`` it writes the table of which-epsilon.md that says what the defaults cost together, instead.
"""

import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from matplotlib import rcParams
from matplotlib.figure import Figure

from fairgauge.crowd import usual_draws
from fairgauge.estimation.interval_kinds import DEFAULT, kind_of
from fairgauge.planning.choose_design import choose_design
from fairgauge.planning.choose_epsilon import EPSILONS, GOOD, choices
from fairgauge.planning.planned_widths import planned_width
from fairgauge.study import Metric
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

PICTURE = Path(__file__).parent / "pictures" / "which-epsilon.svg"
PAGE = Path(__file__).parent / "which-epsilon.md"
BEGIN, END = "<!-- costs: begin -->\n", "<!-- costs: end -->"
SCORES = Scores(Target((0.5, 0.5), shares_known=False))
# K times the variance of the best table there can be for a mean of 0.9 (v = 0.8) and a spread of 0.3, from below: if
# the split is known, and if it is estimated.  Certified by column generation.
LIMITS = {
    "0.5": (66.432, 205.284), "1": (18.487, 44.793), "2": (6.203, 7.615), "4": (1.056, 1.078), "8": (0.380, 0.382)
}  # fmt: skip
DEVIATIONS = 2.5758
# To which part of the width people are found.
CLOSE, STEPS = 0.003, 8
_ESTIMATED: dict[str, Any] = {"ratio": None, "shares_known": False}
# What each column is called, what is asked in it, and whether there are secret draws.
ASKED: dict[str, tuple[dict[str, Any], bool]] = {
    "alike": ({"ratio": 1.0}, False),
    "any": (_ESTIMATED, False),
    "any, abstaining": ({**_ESTIMATED, "abstain": True}, False),
    "any, abstaining, draws": ({**_ESTIMATED, "abstain": True}, True),
}
CLIENTS = {10_000: "10,000", 200_000: "200,000", 1_000_000: "a million"}


def draw() -> None:
    """Draw the picture; ids in it are the same each time."""
    rcParams.update({"svg.hashsalt": "fairgauge", "svg.fonttype": "none", "font.size": 10})
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for (clients, name), colour in zip(CLIENTS.items(), ("#8fb8d6", "#3d83b0", "#14527a"), strict=True):
        rows = choices(SCORES, Metric("recall", 0, 1), clients, epsilons=[*EPSILONS[:-1], Decimal(4)]).rows
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


def people(scores: Scores, epsilon: str, *, draws: bool = False) -> float:
    """Return how many people the gap to two points takes, with the table that is best for so many.

    With draws, all are one batch that has as many secret draws as is usual.
    """
    wanted, found = 2 * GOOD, 10_000.0
    for _ in range(STEPS):
        name, channel = choose_design(scores, Decimal(epsilon), found)
        drawn = usual_draws([channel], round(found)) / round(found) if draws else 0.0
        ratio = planned_width(scores.by(name), channel, found, kind_of(DEFAULT), 0.01, drawn=drawn) / wanted
        # Few answers have intervals that fall faster than with the square root: so much less than the square.
        found *= ratio**1.5
        if abs(ratio - 1) < CLOSE:
            break
    return found


def costs(epsilons: Iterable[str] = tuple(LIMITS)) -> Iterator[list[float]]:
    """Yield the people needed at each epsilon, in the order of the columns, and what no table can go below."""
    for epsilon in epsilons:
        cells = [
            people(Scores(Target((0.5, 0.5), **given), AssumedValues(expect=expect)), epsilon, draws=draws)
            for expect in (None, 0.8)
            for given, draws in ASKED.values()
        ]
        yield cells + [limit * (DEVIATIONS / (2 * GOOD)) ** 2 for limit in LIMITS[epsilon]]


def table() -> str:
    """Return the table of the page."""
    heads = [*ASKED, *(f"{name}, `--expect 0.9`" for name in ASKED), "limit, alike", "limit, any"]
    rows = [f"| epsilon | {' | '.join(heads)} |", "|---:" * (1 + len(heads)) + "|"]
    for epsilon, cells in zip(LIMITS, costs(), strict=True):
        rows.append(f"| {epsilon} | " + " | ".join(f"{float(f'{cell:.3g}'):,.0f}" for cell in cells) + " |")
    return "\n".join([*rows, ""])


def write_costs() -> None:
    """Put the table into the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    write_costs() if "--costs" in sys.argv else draw()
