"""Does a model that watches over older people serve women and men alike?  Train it federated, and measure privately.

    python examples/older-people/main.py --data Datasets_Healthy_Older_People.zip

Without ``--data`` the trials are invented.  It needs ``pip install '.[flower]' 'flwr[simulation]'``.
"""

import argparse
import shutil
from pathlib import Path

import numpy as np

from fairgauge import Study
from fairgauge.reports.change import describe_change
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
    resample,
    resample_differences,
    write_clients,
)
from model import SIZE, differences, rates, train
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
    compare(folder / "comparison", trials, weights, options)
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


def compare(folder: Path, trials: list[Trial], weights: Matrix, options: argparse.Namespace) -> None:
    """Ask the same clients how a worse model differs from the one that there is: one study about the difference."""
    first = [train(np.zeros(SIZE), trial.split(number)[0]) for number, trial in enumerate(trials)]
    worse = np.mean(first, axis=0)  # what one round of averaging makes: a team that saves two rounds
    study = make_comparison()
    folder.parent.mkdir(parents=True, exist_ok=True)
    np.savez(folder.parent / "models.npz", weights, worse)
    shown = run(folder, study, options, len(trials), models=str(folder.parent / "models.npz"))
    print(f"Two models, {len(trials)} clients, one answer from each:\n{told(shown)}\n")

    tests = [trial.split(number)[1] for number, trial in enumerate(trials)]
    held = [(trial.sex, differences(weights, worse, test)[CHANGE]) for trial, test in zip(trials, tests, strict=True)]
    rng = np.random.default_rng(SEED)
    lines = []
    for count in COUNTS[::4]:
        found = measure(study, resample_differences(held, count, rng), rng)
        true, *_ = found.gap(CHANGE)
        words = describe_change(found.estimate[CHANGE].gap(*GROUPS), GROUPS, behind="female")
        lines.append(f"- With {count:,} clients: {words} (In truth {-true:.3f}.)")
    (folder / "comparison.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines) + "\n")


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
    parser.add_argument("--output", type=Path, default=Path("build/older-people"), help="where the results go")
    return parser.parse_args()


if __name__ == "__main__":
    main()
