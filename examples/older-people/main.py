"""Does a model that watches over older people serve women and men alike?  Train it federated, and measure privately.

    python examples/older-people/main.py --data Datasets_Healthy_Older_People.zip

Without ``--data`` the trials are invented.  It needs ``pip install '.[flower,paper]' 'flwr[simulation]'``.
"""

import argparse
import shutil
from pathlib import Path

import numpy as np

from fairgauge import Study
from fairgauge.estimation import estimate
from fairgauge.federation import NodeCounter
from fairgauge.reports.gap_change import describe_change
from measure import (
    CHANGE,
    CONFIDENCE,
    GROUPS,
    METRICS,
    SOURCE,
    Client,
    Finding,
    draw_clients,
    draw_findings,
    make_comparison,
    make_study,
    measure,
    plan_comparison,
    resample,
    write_clients,
)
from model import rates
from paper_model import differences, train_both
from paper_model import rates as paper_rates
from runs import run_app
from trials import Matrix, Trial, load

HERE = Path(__file__).parent
COUNTS = [round(10 ** (5 + step / 4)) for step in range(9)]
SEED = 2024


def main() -> None:
    """Train, measure, and measure again with more clients; then compare with a worse model."""
    options = _options()
    folder: Path = options.output.resolve()
    shutil.rmtree(folder, ignore_errors=True)  # this run invents its devices anew
    trials = load(options.data)
    study = make_study()
    shown = run(folder, study, options, len(trials))
    weights: Matrix = np.load(folder / "model.npz")["arr_0"]
    print(f"\nWhat {len(trials)} clients tell privately:\n{told(shown)}\n")

    held = [rates(weights, trial.split(number)[1]) for number, trial in enumerate(trials)]
    clients = [Client(trial.sex, **rate) for trial, rate in zip(trials, held, strict=True)]
    source = SOURCE if options.data else "Invented trials"
    write_clients(clients, folder / "clients.csv", source=f"Derived from {source}")
    rng = np.random.default_rng(SEED)
    findings = [measure(study, resample(clients, count, rng), rng) for count in COUNTS]
    (folder / "findings.md").write_text(table(findings), encoding="utf-8")
    draw_clients(clients, folder / "clients.svg")
    draw_findings(findings, folder / "gap.svg")
    print(f"The same with more clients, each like one of the {len(trials)}:\n\n{table(findings)}")
    compare(folder / "comparison", trials, options)
    print(f"The studies, the answers and the pictures are in {folder}/.")


def run(folder: Path, study: Study, options: argparse.Namespace, clients: int, **more: str) -> str:
    """Run the app in Flower's simulation on a study, and return what it shows."""
    folder.mkdir(parents=True)
    study.save(folder / "study.json")
    config = {
        "data": str(options.data.resolve()) if options.data else "",
        "study": str(folder / "study.json"),
        "folder": str(folder),
        "rounds": options.rounds,
        "clients": clients,
        **more,
    }
    return run_app(HERE, folder, nodes=clients, config=config)


def told(shown: str) -> str:
    """Return what the server said that the answers tell, in the last round."""
    lines = [line.partition(":")[2].strip() for line in shown.splitlines()]
    last = max(number for number, line in enumerate(lines) if line.startswith("private metrics:"))
    return "\n".join(line for line in lines[last + 1 : last + 4] if " answers" in line or " - " in line)


def compare(folder: Path, trials: list[Trial], options: argparse.Namespace) -> None:
    """Ask clients how the paper's model differs from a worse one that it is to replace, in one study: all in Flower."""
    parts = [trial.split(number) for number, trial in enumerate(trials)]
    old, new = train_both(training for training, _ in parts)
    clients = options.devices * len(trials)
    planned = plan_comparison(clients).rows[0].pairs[0]
    folder.parent.mkdir(parents=True, exist_ok=True)
    np.savez(folder.parent / "models.npz", old, new)
    study = make_comparison()
    shown = run(folder, study, options, clients, models=str(folder.parent / "models.npz"))
    tally = NodeCounter(study, path=folder / "answers.ndjson").tally
    change = estimate(study, tally, confidence=CONFIDENCE)[CHANGE].gaps.get(GROUPS)
    means = {sex: _mean_change(old, new, [test for _, test in parts if test.sex == sex]) for sex in GROUPS}
    found = "not yet" if change is None else f"{change.estimate:+.3f} [{change.low:+.3f}, {change.high:+.3f}]"
    # What the old model's own study would have told.
    old_means = {sex: _mean_rate(old, [test for _, test in parts if test.sex == sex]) for sex in GROUPS}
    before = old_means["female"] - old_means["male"]
    words = "" if change is None else f"In words: {describe_change(change, GROUPS, before=before)}"
    gained = f"women gain {means['female']:.3f} on average, and men {means['male']:.3f}"
    lines = [
        f"Planned, before anybody was asked: {clients:,} clients tell the change of the gap to ± {planned.error:.3f}.",
        f"Told by {told(shown).splitlines()[0]} in Flower: {found}.",
        words,
        f"In truth, which nobody but this example knows: {means['female'] - means['male']:+.3f}; {gained}.",
    ]
    (folder / "comparison.md").write_text("\n\n".join([*filter(None, lines), ""]), encoding="utf-8")
    print(f"Two models, {clients:,} clients, one answer from each:\n\n" + "\n".join(lines) + "\n")


def _mean_rate(model: Matrix, tests: list[Trial]) -> float:
    return float(np.nanmean([paper_rates(model, test)["tpr"] for test in tests]))


def _mean_change(old: Matrix, new: Matrix, tests: list[Trial]) -> float:
    return float(np.nanmean([differences(old, new, test)[CHANGE] for test in tests]))


def table(findings: list[Finding]) -> str:
    """Return the findings at powers of ten as a table for people and for pages."""
    lines = ["| clients | rate | true gap | estimate | interval |", "|--:|:--|--:|--:|:--|"]
    for finding in findings[::4]:
        for metric in METRICS:
            true, found, low, high = finding.gap(metric)
            lines.append(f"| {finding.clients:,} | {metric} | {true:+.4f} | {found:+.4f} | {low:+.4f} to {high:+.4f} |")
    return "\n".join([*lines, "", f"{GROUPS[0]} less {GROUPS[1]}; {CONFIDENCE:.0%} intervals.", ""])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="the UCI archive; without it, trials are invented")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of federated averaging (3)")
    parser.add_argument("--devices", type=int, default=48, help="clients for each trial when models are compared (48)")
    parser.add_argument("--output", type=Path, default=Path("build/older-people"), help="where the results go")
    return parser.parse_args()


if __name__ == "__main__":
    main()
