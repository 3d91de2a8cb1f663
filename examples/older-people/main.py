"""Does a model that watches over older people serve women and men alike?  Train it federated, and measure privately.

    python examples/older-people/main.py --data Datasets_Healthy_Older_People.zip

Without ``--data`` the trials are invented.  It needs ``pip install '.[flower]' 'flwr[simulation]'``.
"""

import argparse
import os
import shutil
from pathlib import Path

import numpy as np

from measure import (
    CONFIDENCE,
    GROUPS,
    METRICS,
    SOURCE,
    Client,
    Finding,
    draw_clients,
    draw_findings,
    make_study,
    measure,
    resample,
    write_clients,
)
from model import rates
from trials import load

HERE = Path(__file__).parent
COUNTS = [round(10 ** (5 + step / 4)) for step in range(9)]
SEED = 2024


def main() -> None:
    """Train, measure, and measure again with more clients."""
    options = _options()
    folder: Path = options.output
    shutil.rmtree(folder / "ledgers", ignore_errors=True)  # this run invents its devices anew
    (folder / "ledgers").mkdir(parents=True)
    (folder / "answers.ndjson").unlink(missing_ok=True)
    # The processes of the simulation import what is beside this file.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE.resolve()), os.environ.get("PYTHONPATH", "")])

    from federation import federate

    trials = load(options.data)
    study = make_study()
    (folder / "study.json").write_bytes(study.to_bytes())
    weights, few = federate(trials, study, folder.resolve(), rounds=options.rounds)
    print(f"\nWhat {len(trials)} clients tell privately:\n{few}\n")

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
    print(f"The study, the answers and the pictures are in {folder}/.")


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
