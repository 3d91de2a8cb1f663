"""Draw the pictures of the tutorial into docs/pictures, from the study that is kept in examples/first-study."""

from pathlib import Path

import numpy as np
from matplotlib import rcParams
from matplotlib.figure import Figure

import fairgauge as fg

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "examples" / "first-study"
PICTURES = ROOT / "docs" / "pictures"


def new() -> Figure:
    """Return an empty picture."""
    return Figure(figsize=(7, 2.8), layout="constrained")


def save(figure: Figure, name: str) -> None:
    """Write a picture; ids in it are the same each time."""
    figure.savefig(PICTURES / f"tutorial-{name}.svg", metadata={"Date": None})


def draw() -> None:
    """Draw a picture for each step."""
    rcParams.update({"svg.hashsalt": "fairgauge", "svg.fonttype": "none", "font.size": 10})
    recall, sex = fg.Metric("recall", 0, 1), fg.Attribute("sex", {"female": 0.5, "male": 0.5})
    study, population = fg.Study.load(KEPT / "study.json"), fg.Population.from_csv(KEPT / "population.csv")
    channel = study.questions[0].channel

    figure = new()
    fg.plan(recall, sex, clients=1_000_000, epsilon=1).plot(figure.subplots())
    save(figure, "plan")

    figure = new()
    axes = figure.subplots()
    axes.imshow(np.array(channel.table, dtype=float) / 2.0**53, cmap="Blues", aspect="auto", vmin=0)
    half = len(channel.levels)
    axes.axhline(half - 0.5, color="white")
    axes.set_yticks([half / 2 - 0.5, 1.5 * half - 0.5], ["female", "male"])
    axes.set_xticks(range(channel.symbols))
    axes.set(xlabel="symbol", ylabel="recall from 0 (top) to 1")
    save(figure, "design")

    figure = new()
    study.plot(figure.subplots())
    save(figure, "verify")

    figure = new()
    axes = figure.subplots()
    for offset, (group, colour) in enumerate((("female", "#8f3b12"), ("male", "#14527a"))):
        chances = [float(part) for part in channel.mixture(offset, recall.position("0.83"))]
        axes.bar(np.arange(channel.symbols) + 0.4 * offset, chances, 0.4, color=colour, label=f"{group}, recall 0.83")
    axes.set(xlabel="symbol", ylabel="chance to be sent", ylim=(0, 0.55))
    axes.set_xticks(np.arange(channel.symbols) + 0.2, map(str, range(channel.symbols)))
    axes.legend(frameon=False, ncols=2)
    save(figure, "answer")

    tally = fg.simulate(study, population, seed=7)
    figure = new()
    tally.plot(figure.subplots()).set_xticks(range(channel.symbols))
    save(figure, "collect")

    figure = new()
    fg.estimate(study, tally).plot(figure.subplots())
    save(figure, "estimate")

    figure = new()
    fg.PrivateMetricFrame(study, tally).plot(figure.subplots())
    save(figure, "means")


if __name__ == "__main__":
    draw()
