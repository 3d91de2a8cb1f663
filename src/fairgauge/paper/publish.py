"""Redo the paper: work out each part and write it into a folder, for people and for programs."""

import json
from collections.abc import Callable
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from fairgauge.paper import dataset, frontier, pages
from fairgauge.paper.bounds import PUBLISHED, SOUND, crossovers
from fairgauge.paper.coverage import COUNT, coverage
from fairgauge.paper.errata import errata
from fairgauge.paper.figures import FIGURES, draw
from fairgauge.paper.mechanisms import drawn_laplace, published_response
from fairgauge.paper.tables import (
    CLIENTS,
    EPSILONS,
    ERRORS,
    client_ratios,
    notebook_table2,
    optimal_table1,
    optimal_table2,
    printed,
    table1,
    table2,
)

Results = dict[str, Any]
Step = Callable[[], object]
SEED = 2022
MEASURED = ((10**5, "1"), (10**6, "1"), (10**7, "1"), (10**7, "0.1"))
# How often each part calls back, so that a progress bar knows its length.
STEPS = {
    "table1": 2 * len(CLIENTS) * len(ERRORS) + 2 * len(CLIENTS),
    "table2": 2 + len(EPSILONS),
    "coverage": COUNT,
    "figures": len(FIGURES),
    "dataset": 2 * dataset.SPLITS + len(MEASURED) + 2,
    "errata": 1,
}


def publish(part: str, folder: Path, *, data: Path | None = None, step: Step = lambda: None) -> list[Path]:
    """Work out one part of the paper and write it into a folder; return the files that were written.

    ``results.json`` keeps what other parts wrote there before.

    Args:
        part: One of ``STEPS``.
        folder: Where to write; it is made if need be.
        data: The UCI archive, which only the dataset needs.
        step: Called after each piece of work.

    Raises:
        CannotEstimate: If the dataset's archive is needed and not there.
        MissingExtra: If an optional dependency is not installed.
    """
    makers: dict[str, Callable[[Step], tuple[Results, dict[str, str]]]] = {
        "table1": _table1,
        "table2": _table2,
        "coverage": _coverage,
        "figures": lambda _: (figure_results(), {}),
        "dataset": lambda step: _dataset(data, step),
        "errata": _errata,
    }
    drawn: list[Path] = []
    if part == "figures":
        folder.mkdir(parents=True, exist_ok=True)
        drawn = draw(folder, step=step)
    results, texts = makers[part](step)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "results.json"
    before: Results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    texts["results.json"] = json.dumps(_merged(before, results), indent=1, ensure_ascii=False) + "\n"
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [*drawn, *(folder / name for name in texts)]


def _table1(step: Step) -> tuple[Results, dict[str, str]]:
    results = {
        "source": "fairgauge: the figures of Juarez and Korolova 2022, redone; sound: with the privacy that is claimed",
        "table1_minimum_epsilon": table1(PUBLISHED),
        "sound": {"table1_minimum_epsilon": table1(SOUND)},
        "optimal": {"table1_minimum_epsilon": optimal_table1(step=step)},
        "clients_needed": client_ratios(step=step),
    }
    return results, {"table1.md": pages.table1_page(results)}


def _table2(step: Step) -> tuple[Results, dict[str, str]]:
    trials = dataset.bundled_trials()
    observed = [dataset.values_of(trials, "tpr", sex) for sex in dataset.SEXES.values()]
    rng = np.random.default_rng(SEED)
    published = table2(PUBLISHED, observed, rng) | {"M_L notebook": notebook_table2(observed, rng)["M_L notebook"]}
    step()
    sound = table2(SOUND, observed, rng)
    step()
    results = {
        "table2_error": published,
        "sound": {"table2_error": sound},
        "optimal": {"table2_error": optimal_table2(observed, rng, step=step)},
    }
    return results, {"table2.md": pages.table2_page(results)}


def _coverage(step: Step) -> tuple[Results, dict[str, str]]:
    results = {"coverage": coverage(np.random.default_rng(SEED), step=step)}
    return results, {"coverage.md": pages.coverage_page(results)}


def figure_results() -> Results:
    """Return where the lines of the first figure cross: as printed, by the bounds as stated, and with true privacy."""
    (printed_key,) = printed()["crossovers"]
    (upper,) = crossovers(*SOUND.values())
    below = [
        float(epsilon)
        for epsilon in frontier.SHOWN
        if frontier.spread_of(epsilon).variance < min(make(float(epsilon)).gap_variance() for make in SOUND.values())
    ]
    return {
        "crossovers": {
            printed_key: crossovers(published_response, drawn_laplace),
            "how": "the printed ones come out for M_L with k = 1 and all values 0, not for M_L opt as the text has it",
            "by the upper bounds as the paper states them": crossovers(*PUBLISHED.values()),
        },
        "sound": {"crossovers": {"M_R below M_L for epsilon between": [0.0, upper]}},
        "optimal": {"crossovers": {"optimal below M_R and M_L for epsilon between": [below[0], below[-1]]}},
    }


def _dataset(data: Path | None, step: Step) -> tuple[Results, dict[str, str]]:
    everyone = dataset.read_archive(data)
    kept = everyone.filtered()
    results: Results = {}
    for key, readings in (("dataset_model_all_trials", everyone), ("dataset_model", kept)):
        splits = []
        for seed in range(dataset.SPLITS):
            splits.append(dataset.train(readings, seed=seed))
            step()
        results[key] = dataset.model_results(readings, splits)
    trials = splits[0].trials
    rng = np.random.default_rng(SEED)
    results["dataset_measured"] = []
    for clients, epsilon in MEASURED:
        found = dataset.measure(trials, epsilon=Decimal(epsilon), clients=clients, rng=rng)
        results["dataset_measured"].append(found)
        step()
    results["dataset_clients"] = dataset.true_model(trials)
    for name, model in dataset.private_models(trials, rng=rng).items():
        results[name] = {"dataset_model": model}
        step()
    results["dataset_model"]["row_filter"] = dataset.ROW_FILTER
    return results, {"dataset.md": pages.dataset_page(results), "trials.csv": dataset.trials_csv(trials)}


def _errata(step: Step) -> tuple[Results, dict[str, str]]:
    found = errata()
    step()
    listed = [asdict(e) for e in found]
    return {"errata": listed}, {"errata.md": pages.errata_page(found), "errata.html": pages.errata_html(found)}


def _merged(before: Results, after: Results) -> Results:
    """Return both, with what is new on top, section by section."""
    merged = dict(before)
    for key, value in after.items():
        inner = before.get(key)
        merged[key] = inner | value if key in ("sound", "optimal") and isinstance(inner, dict) else value
    return merged
