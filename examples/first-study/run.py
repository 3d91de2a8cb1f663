"""A whole study on one machine: plan, design, publish, answer, estimate, with a truth to compare against.

Run it with `make run`.  The population is invented; its gap is known, which in real life it is not.
The collector is a real one, on this machine only; `make run ARGS=--stay` keeps it running to look around.
"""

import argparse
import json
import math
import signal
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table
from service import Service, running_service

from fairgauge import Attribute, Metric, Population, Study, client, design, estimate, plan
from fairgauge.paper.bounds import SOUND, clients_needed
from fairgauge.planning.plan_figure import draw_plan
from fairgauge.reports.html_report import render_report
from fairgauge.simulation import simulate, true_values
from fairgauge.study import Question
from fairgauge.targets.scores import Scores

HERE = Path(__file__).parent
OUT = Path("build/first-study")
EPSILON = Decimal(1)
CONFIDENCE = 0.99
RECALL = Metric("recall", 0, 1)
SEX = Attribute("sex", {"female": 0.5, "male": 0.5})

console = Console(highlight=False, soft_wrap=True)


def main() -> None:
    """Follow the data from the plan to the estimate."""
    parser = argparse.ArgumentParser(description="Run a whole study on a simulated population whose gap is known.")
    parser.add_argument("--devices", type=int, default=3000, help="how many devices answer over HTTP")
    parser.add_argument("--stay", action="store_true", help="keep the collector running until Ctrl-C")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    population = Population.from_csv(HERE / "population.csv")

    error = make_plan(population)
    study = make_study()
    with tempfile.TemporaryDirectory(prefix="first-study-") as name, running_service(Path(name)) as service:
        publish(service, study)
        answer_all(service, study, list(profiles(population, options.devices, Random())), Path(name))
        look(service, study, population)
        ask_everyone(study, population)
        compare_with_the_paper(population, error)
        say_where_to_look(service, study, stay=options.stay)


def make_plan(population: Population) -> float:
    """Find out what the answers will be able to tell before anyone is asked."""
    console.print("[bold]1. Plan.[/] What can so many devices tell?")
    with console.status("Designing channels ..."):
        (planned,) = plan(RECALL, SEX, epsilon=EPSILON, clients=population.clients, confidence=CONFIDENCE)
        picture = OUT / "plan.svg"
        scores = Scores.of(Question(RECALL, SEX))
        draw_plan(picture, scores, population.clients, confidence=CONFIDENCE, interval=planned.interval, metric=RECALL)
    error = planned.row("uncentred").error or 0.0
    console.print(f"   {population.clients:,} devices at epsilon {EPSILON} give the gap to ±{error:.4f}.")
    return error


def make_study() -> Study:
    """Make the document that everyone can check."""
    console.print("[bold]2. Design.[/] A table of integers randomises every answer.")
    (question,) = design(RECALL, SEX, epsilon=EPSILON)
    study, channel = Study("Does the model serve women and men alike?", [question]), question.channel
    study.save(OUT / "study.json")
    document = study.to_bytes()
    console.print(
        f"   {question.design}: {channel.symbols} symbols, {len(document):,} bytes, digest {study.digest[:16]}..."
    )
    console.print(f"   Exact epsilon, from the integers: {channel.epsilon!r}")
    return study


def publish(service: Service, study: Study) -> None:
    """Put the study where devices find it; from now on nobody can change it."""
    console.print("[bold]3. Publish.[/] A collector is running on this machine: fairgauge serve, with SQLite.")
    service.ask("/studies?results=public", study.to_bytes())
    console.print(f"   {service.url}/studies/{study.digest}")


def answer_all(service: Service, study: Study, people: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Let every device answer the study once, remember that in a ledger, and deliver the answer over HTTP."""
    console.print("[bold]4. Answer.[/] A device checks the study, then sends one random symbol and nothing else.")
    fetched = client.load_study(f"{service.url}/studies/{study.digest}")

    def answer(number: int, profile: Mapping[str, Any]) -> tuple[client.Answer, str]:
        ledger = client.Ledger(folder / f"device-{number}.ledger")
        found = ledger.answer(fetched, profile, limit=EPSILON)
        return found, client.deliver(ledger, found, service.url)

    with ThreadPoolExecutor(16) as pool:
        done = pool.map(answer, *zip(*enumerate(people), strict=True))
        watched = track(
            done, "   Devices", len(people), console=console, transient=True, disable=not console.is_terminal
        )
        heard = list(watched)
    console.print(f"   {heard[0][0].to_bytes().decode()}")
    receipts = Counter(receipt for _, receipt in heard)
    console.print(f"   {receipts['accepted']:,} answers are counted; each device has a ledger of its own.")
    console.print(
        "   The devices are drawn from the population at random, and so is their order: intervals assume that."
    )


def profiles(population: Population, devices: int, chance: Random) -> Iterator[dict[str, Any]]:
    """Yield what each of so many devices knows about its owner: owners drawn at random, one after the other.

    Intervals are about the population that devices are drawn from, and those that hold at every look need the draws in
    random order.  Were all women to answer first, an early look would see women only, and miss the truth.
    """
    for cell in chance.choices(population.cells, [cell.count for cell in population.cells], k=devices):
        yield {"group": {SEX.name: cell.group}, "values": {RECALL.name: cell.value}}


def look(service: Service, study: Study, population: Population) -> None:
    """Ask the collector what the answers say."""
    console.print("[bold]5. Estimate.[/] What the collector says, beside the truth that it cannot see.")
    told = service.ask(f"/studies/{study.digest}/estimate?confidence={CONFIDENCE}")
    (OUT / "collected.json").write_bytes(told)
    compare(json.loads(told), study, population)


def ask_everyone(study: Study, population: Population) -> None:
    """Simulate the answers of as many devices as there are, drawn at random, and read them the same way."""
    console.print(f"[bold]6. And if all {population.clients:,} devices answer?[/] (Simulated.)")
    tally = simulate(study, population, seed=2022)
    tally.save(OUT / "tally.json")
    found = estimate(study, tally, confidence=CONFIDENCE)
    (OUT / "report.html").write_text(render_report(study, tally, found), encoding="utf-8")
    compare(found.to_dict(), study, population)


def compare(told: Mapping[str, Any], study: Study, population: Population) -> None:
    """Show an estimate beside the truth."""
    truth = true_values(study, population)[0].gaps["female", "male"]
    gaps = told["questions"][0]["gaps"]
    if not gaps:
        console.print(
            "   So few answers do not even tell how many women and men are among them, so there is no gap to show."
        )
        return
    gap = gaps[0]
    table = Table(box=None, padding=(0, 3, 0, 3), show_header=False)
    table.add_row("true gap (female - male)", f"{truth:+.4f}")
    table.add_row("estimate", f"{gap['estimate']:+.4f}")
    table.add_row(f"{CONFIDENCE:.0%} interval", f"{gap['low']:+.4f} to {gap['high']:+.4f}")
    console.print(table)
    holds = gap["low"] <= truth <= gap["high"]
    console.print(f"   The interval {'holds' if holds else 'MISSES (it may, once in a hundred studies)'} the truth.")
    if gap["low"] <= 0 <= gap["high"]:
        console.print("   It holds 0, too: so few answers cannot tell whether there is a gap.")


def compare_with_the_paper(population: Population, error: float) -> None:
    """Say how many devices the source paper's mechanisms need."""
    console.print(
        "[bold]7. And with the mechanisms of the paper,[/] made private, planned as the paper plans "
        "(Chebyshev, IF all answer alike)?"
    )
    for name, allocation in SOUND.items():
        # The paper's values are from -1 to 1, and a recall is from 0 to 1.
        needed = math.ceil(clients_needed(allocation, float(EPSILON), 2 * error, confidence=CONFIDENCE))
        times = needed / population.clients
        console.print(f"   {name} {needed:>12,} devices for the same ±{error:.4f}: {times:.0f} times as many")


def say_where_to_look(service: Service, study: Study, *, stay: bool) -> None:
    """Name the files; and if asked to, wait while people look around in the collector."""
    console.print(f"\nA page to look at: {OUT}/report.html")
    console.print(
        f"{OUT}/ also has the study, a picture of the plan, the collector's estimate and the simulated tally."
    )
    if not stay:
        console.print("The collector stops now. To keep it running and open its pages: make run ARGS=--stay")
        return
    console.print("The collector goes on. Open in a browser:")
    console.print(f"   the study, with its results so far   {service.url}/studies/{study.digest}")
    console.print(f"   the operator's page                  {service.url}/operator")
    console.print(f"Token of its operator: {service.token}")
    console.print("Ctrl-C ends it.")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        signal.pause()


if __name__ == "__main__":
    main()
