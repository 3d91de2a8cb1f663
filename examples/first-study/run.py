"""A whole study on one machine: plan, design, answer, count, estimate, with a truth to compare against.

Run it with `make run`.  The population is invented; its gap is known, which in real life it is not.
"""

from decimal import Decimal
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from fairgauge import Attribute, Metric, Population, Question, Study
from fairgauge.client import answer
from fairgauge.designs import Goal, make_channel
from fairgauge.estimate import estimate
from fairgauge.plan import plan
from fairgauge.plan.figure import draw_plan
from fairgauge.simulate import simulate, true_values

HERE = Path(__file__).parent
OUT = Path("build/first-study")
EPSILON = Decimal(1)
CONFIDENCE = 0.99


def main() -> None:
    """Show the path of the data from plan to estimate."""
    console = Console(highlight=False, soft_wrap=True)
    OUT.mkdir(parents=True, exist_ok=True)
    population = Population.from_csv(HERE / "population.csv")
    recall = Metric("recall", "0", "1")
    sex = Attribute("sex", ("female", "male"), ("0.5", "0.5"))
    goal = Goal((0.5, 0.5))

    console.print("[bold]1. Plan.[/] What can so many devices tell?")
    with console.status("Designing channels ..."):
        planned = plan(goal, epsilon=EPSILON, clients=population.clients, confidence=CONFIDENCE, unit=recall.scale)
        draw_plan(
            OUT / "plan.svg", goal, population.clients, confidence=CONFIDENCE, interval="finite", unit=recall.scale
        )
    error = planned.row("optimal").error or 0.0
    console.print(f"   {population.clients:,} devices at epsilon {EPSILON} give the gap to ±{error:.4f}.")

    console.print("[bold]2. Design.[/] A table of integers randomises every answer.")
    name, channel = make_channel(goal, EPSILON)
    study = Study("Does the model serve women and men alike?", (Question(recall, sex, "gap", name, "1", channel),))
    (OUT / "study.json").write_bytes(study.to_bytes())
    console.print(
        f"   {name}: {channel.symbols} symbols, {len(study.to_bytes()):,} bytes, digest {study.digest[:16]}..."
    )
    console.print(f"   Exact epsilon, from the integers: {channel.epsilon!r}")

    console.print("[bold]3. Answer.[/] A device checks the study, then sends one random symbol and nothing else.")
    sent = answer(study, {"group": "female", "values": {"recall": 0.83}})
    console.print(f"   {sent.to_bytes().decode()}")

    console.print("[bold]4. Count.[/] The collector needs only how often each symbol came.")
    tally = simulate(study, population, np.random.default_rng(2022))
    (OUT / "tally.json").write_bytes(tally.to_bytes())
    console.print(f"   {list(tally.counts)}")

    console.print("[bold]5. Estimate.[/]")
    gap = estimate(study, tally, confidence=CONFIDENCE)["recall"].gap
    truth = true_values(study, population)[0].gaps["female", "male"]
    if gap is None:
        raise SystemExit("The study gave no estimate.")
    found = gap.interval
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 3), show_header=False)
    table.add_row("true gap (female - male)", f"{truth:+.4f}")
    table.add_row("estimate", f"{found.estimate:+.4f}")
    table.add_row(f"{CONFIDENCE:.0%} interval", f"{found.low:+.4f} to {found.high:+.4f}")
    console.print(table)
    inside = "holds" if found.low <= truth <= found.high else "MISSES (it may, once in a hundred studies)"
    console.print(f"   The interval {inside} the truth.")

    console.print(
        "[bold]6. And with the mechanisms of the paper,[/] made private, planned as the paper plans (Chebyshev)?"
    )
    with console.status("Planning ..."):
        theirs = plan(
            goal,
            epsilon=EPSILON,
            error=error,
            confidence=CONFIDENCE,
            interval="chebyshev",
            unit=recall.scale,
            designs=["randomized-response", "laplace"],
        )
    for row in theirs.rows:
        if row.clients is not None:
            times = row.clients / population.clients
            console.print(
                f"   {row.design:<20} {row.clients:>12,} devices for the same ±{error:.4f}: {times:.0f} times as many"
            )
    console.print(f"\nThe study, its tally and a picture of the plan are in {OUT}/.")


if __name__ == "__main__":
    main()
