"""The study of two questions, and what it finds at any number of clients drawn from the trials."""

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from fairgauge import Attribute, Metric, Plan, Population, Question, Study, plan
from fairgauge.designs import make_channel
from fairgauge.estimation import Estimate, estimate
from fairgauge.simulation import Cell, Truth, simulate_exactly, true_values
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

EPSILON = "1"
# Two models are compared by few clients, so that Flower can run them all; each gives more than above.
COMPARISON_EPSILON = "4"
CONFIDENCE = 0.99
METRICS = {"tpr": "lying down is found", "fpr": "lying down is seen where it is not"}
CHANGE = "tpr, new minus old"
GROUPS = ("female", "male")
SOURCE = "Datasets_Healthy_Older_People.zip, UCI Machine Learning Repository, doi 10.24432/C5GG6B, CC BY 4.0"
# Okabe and Ito's colours, and a marker each.
STYLES = {"female": ("#D55E00", "o"), "male": ("#0072B2", "s")}


@dataclass(frozen=True)
class Client:
    """What one client holds: a sex, and the model's rates, NaN where there was nothing to measure."""

    sex: str
    tpr: float
    fpr: float


@dataclass(frozen=True)
class Finding:
    """What a study found, and what it would have found without noise."""

    clients: int
    estimate: Estimate
    truth: tuple[Truth, ...]

    def gap(self, metric: str) -> tuple[float, float, float, float]:
        """Return the true gap of a metric, the estimate and its interval."""
        true = next(truth for truth in self.truth if truth.metric == metric).gaps[GROUPS[0], GROUPS[1]]
        found = self.estimate[metric].gap(*GROUPS)
        return true, found.estimate, found.low, found.high


def make_study() -> Study:
    """Return a study of both rates by sex.

    Who never lies down has no true positive rate, and more women than men have not: so clients may abstain, and the
    shares of those who do not are estimated from the same answers.
    """
    scores = Scores(Target((0.5, 0.5), shares_known=False, kind="means", abstain=True))
    name, channel = make_channel(scores, Decimal(EPSILON))
    sex = Attribute("sex", GROUPS)
    questions = (Question(Metric(metric, "0", "1"), sex, "means", name, EPSILON, channel) for metric in METRICS)
    return Study("Lying down, by sex", tuple(questions))


def make_comparison() -> Study:
    """Return a study of how two models differ on the same client, by sex: one question, about a difference.

    A client sends nothing about either model, so the study costs what any other does.  The gap between the groups'
    mean differences is what the gap of the new model is more than that of the old.
    """
    return Study("Lying down found, new model minus old, by sex", (_about_change(),))


def plan_comparison(clients: int) -> Plan:
    """Return what so many clients would tell, before anybody is asked."""
    change, sex = Metric(CHANGE, -1, 1), Attribute("sex", GROUPS)
    designs = [_about_change().design]
    found = plan(
        change, sex, clients=clients, epsilon=COMPARISON_EPSILON, target="means", abstain=True, designs=designs
    )
    return found[CHANGE]


@cache
def _about_change() -> Question:
    scores = Scores(Target((0.5, 0.5), shares_known=False, kind="means", abstain=True))
    name, channel = make_channel(scores, Decimal(COMPARISON_EPSILON))
    return Question(Metric(CHANGE, -1, 1), Attribute("sex", GROUPS), "means", name, COMPARISON_EPSILON, channel)


def resample(clients: Iterable[Client], count: int, rng: np.random.Generator) -> Population:
    """Return so many clients, each drawn from the given ones."""
    known = list(clients)
    drawn = rng.multinomial(count, np.full(len(known), 1 / len(known))).tolist()
    return Population(
        tuple(
            Cell(client.sex, _decimal(getattr(client, metric)), often, metric)
            for metric in METRICS
            for client, often in zip(known, drawn, strict=True)
        )
    )


def measure(
    study: Study,
    population: Population,
    rng: np.random.Generator,
    *,
    confidence: float = CONFIDENCE,
    interval: str = "population",
) -> Finding:
    """Let every client of a population answer, and read the answers."""
    tally = simulate_exactly(study, population, seed=rng)
    found = estimate(study, tally, confidence=confidence, interval=interval)
    return Finding(population.clients, found, true_values(study, population))


def write_clients(clients: Iterable[Client], path: Path, *, source: str) -> None:
    """Write what the clients hold, which only this example may know."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {source}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["sex", *METRICS])
        for client in clients:
            shown = ["" if math.isnan(value) else f"{value:.4f}" for value in (client.tpr, client.fpr)]
            rows.writerow([client.sex, *shown])


def read_clients(path: Path) -> list[Client]:
    """Read what :func:`write_clients` wrote."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [Client(row["sex"], *(float(row[m] or "nan") for m in METRICS)) for row in csv.DictReader(lines)]


def draw_findings(findings: list[Finding], path: Path) -> None:
    """Draw estimates and intervals against the number of clients."""
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    for axes, (metric, words) in zip(figure.subplots(1, 2, sharey=True), METRICS.items(), strict=True):
        counts = [finding.clients for finding in findings]
        true, found, low, high = np.array([finding.gap(metric) for finding in findings]).T
        axes.fill_between(counts, low, high, color="#56B4E9", alpha=0.35, label=f"{CONFIDENCE:.0%} interval")
        axes.plot(counts, found, color="#0072B2", marker="o", markersize=4, label="private estimate")
        axes.plot(counts, true, color="black", linestyle="--", linewidth=1.2, label="true gap of these clients")
        axes.axhline(0, color="#999999", linewidth=0.8)
        axes.set(xscale="log", xlabel="clients", title=f"{metric}: {words}")
        axes.grid(visible=True, alpha=0.3)
    figure.axes[0].set_ylabel("women less men")
    figure.axes[0].legend(frameon=False, loc="lower right")
    _save(figure, path)


def draw_clients(clients: list[Client], path: Path) -> None:
    """Draw every client's rates, which nobody but the client knows in real life."""
    figure = Figure(figsize=(8, 2.4), layout="constrained")
    rng = np.random.default_rng(0)
    for axes, (metric, words) in zip(figure.subplots(1, 2, sharey=True), METRICS.items(), strict=True):
        for row, sex in enumerate(GROUPS):
            colour, marker = STYLES[sex]
            values = [v for client in clients if client.sex == sex and not math.isnan(v := getattr(client, metric))]
            heights = row + rng.uniform(-0.25, 0.25, len(values))
            axes.plot(values, heights, linestyle="", marker=marker, markersize=4, color=colour, alpha=0.6)
            axes.plot([np.mean(values)] * 2, [row - 0.4, row + 0.4], color="black", linewidth=2)
        axes.set(xlim=(-0.03, 1.03), xlabel=metric, title=words)
        axes.set_yticks([0, 1], ["women", "men"])
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    # Without a date, and with names that do not depend on chance, the same numbers give the same file.
    with mpl.rc_context({"svg.hashsalt": "fairgauge"}):
        figure.savefig(path, metadata={"Date": None})


def _decimal(value: float) -> Decimal | None:
    return None if math.isnan(value) else Decimal(f"{value:.4f}")
