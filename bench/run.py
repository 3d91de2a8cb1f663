"""Where fairgauge stands: against the limit, against peers, and against itself at another size, as ratios in one run.

Writes bench/results.md and bench/results.json, each topic with the commit, the day, the processor and the load it was
measured under.  Absolute times depend on the machine and on what else it does; ratios of things measured side by side
hardly do.  Still nothing that was timed is written while other programs keep the machine busy, unless one asks for it.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.collector import batches, crowd, durable_answers
from bench.hidden import hidden
from bench.intervals import widths
from bench.kills import killed, killed_everywhere
from bench.lines import CONSOLE, Line, Topic, seconds
from bench.one_post import one_post
from bench.population import population
from bench.relay import relay
from bench.results import QUIET, Record, commit, measured, others_load, read_results, write_results
from bench.scale import SCALE
from bench.several import several
from bench.siege import bent_requests, siege, siege_tail
from bench.sites import sites
from bench.stored import stored_in
from fairgauge import Attribute, Metric, Population, Question, Study
from fairgauge.client import answer
from fairgauge.client.randomiser import draw_symbol
from fairgauge.designs import known_designs, make_channel
from fairgauge.simulation import simulate
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

ROOT = Path(__file__).parents[1]
LIMITS = ROOT / "tests" / "data" / "limits.json"


def accuracy() -> Iterator[Line]:
    """K Var(gap) of every design, as a ratio to the least that any private mechanism can reach."""
    for row in json.loads(LIMITS.read_text(encoding="utf-8"))["gap"]:
        scores = Scores(Target((row["share"], round(1 - row["share"], 6))))
        for design in ("randomized-response", "laplace", "uncentred"):
            variance = scores.privacy_variance(make_channel(scores, Decimal(str(row["epsilon"])), design=design)[1])
            aim = "" if design != "uncentred" else "at most 1.02" if row["epsilon"] <= 4 else "at most 1.1"
            what = f"variance, {design}, share {row['share']}, epsilon {row['epsilon']}"
            yield Line(what, f"{variance:.4g}", f"limit {row['limit']:.4g}", variance / row["limit"], aim)


def design_times() -> Iterator[Line]:
    """Time to design, as a ratio to the time that a person may wait."""
    cases = [
        ("gap, 2 groups, epsilon 1", Scores(Target((0.5, 0.5))), "1", 2.0),
        ("gap, 2 groups, epsilon 4", Scores(Target((0.5, 0.5))), "4", 2.0),
        ("gap, 2 groups, share 0.1, epsilon 4", Scores(Target((0.1, 0.9))), "4", 2.0),
        *(
            (f"means, {d} equal groups, epsilon 1", Scores(Target((1 / d,) * d, kind="means")), "1", 30.0)
            for d in (3, 4, 5, 6)
        ),
        (
            "means, 6 unequal groups, epsilon 1",
            Scores(Target((0.3, 0.25, 0.2, 0.15, 0.07, 0.03), kind="means")),
            "1",
            30.0,
        ),
    ]
    for what, scores, epsilon, allowed in cases:
        taken = seconds(partial(known_designs()["uncentred"].make, scores, Decimal(epsilon)), repeat=1)
        yield Line(f"design: {what}", f"{taken:.2f} s", f"{allowed:.0f} s", taken / allowed, "at most 1")
    for share, expect, epsilon in product((0.5, 0.1), (None, 0.8), ("1", "4")):
        scores = Scores(Target((share, 1 - share)), AssumedValues(expect=expect), design="centred")
        taken = seconds(partial(known_designs()["centred"].make, scores, Decimal(epsilon)), repeat=1)
        what = f"centred, share {share}, epsilon {epsilon}, " + ("nothing expected" if expect is None else "mean 0.8")
        yield Line(f"design: {what}", f"{taken:.2f} s", "2 s", taken / 2, "at most 1")


def study_of(epsilon: str) -> Study:
    """Return a study of two equal groups."""
    design, channel = make_channel(Scores(Target((0.5, 0.5))), Decimal(epsilon))
    sex = Attribute("sex", ("female", "male"), ("0.5", "0.5"), answering="alike")
    return Study("bench", (Question(Metric("recall", "0", "1"), sex, "gap", design, epsilon, channel),))


def simulation() -> Iterator[Line]:
    """A billion simulated clients against ten thousand."""
    study = study_of("1")
    population = Population.from_csv(ROOT / "examples" / "first-study" / "population.csv")
    rng = np.random.default_rng(1)
    times = [
        seconds(partial(simulate, study, population, clients=clients, seed=rng), repeat=41)
        for clients in (10**4, 10**9)
    ]
    yield Line("simulate 10^9 clients", f"{times[1] * 1e3:.2f} ms", "10^4 clients", times[1] / times[0], "at most 1.5")


def device() -> Iterator[Line]:
    """What a device pays: import, check, answer; against bare Python and OpenDP."""

    def started(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True), repeat=15)

    bare, client = started("pass"), started("import fairgauge.client")
    yield Line("import the client", f"{(client - bare) * 1e3:.0f} ms over bare Python", "bare Python", client / bare)
    study = study_of("1")
    data = study.to_bytes()
    verify = seconds(lambda: Study.from_bytes(data), repeat=51)
    profile = {"group": "female", "values": {"recall": 0.83}}
    answers = seconds(lambda: [answer(study, profile) for _ in range(200)]) / 200
    draws = seconds(lambda: [draw_symbol(study.questions[0].channel, 0, Fraction(5)) for _ in range(200)]) / 200
    import opendp.prelude as dp

    dp.enable_features("contrib")
    peer = dp.m.make_randomized_response([0, 1, 2, 3], prob=0.5)
    opendp = seconds(lambda: [peer(1) for _ in range(200)]) / 200
    name = f"OpenDP randomized response, {opendp * 1e6:.0f} µs"
    yield Line("read and verify a study", f"{verify * 1e3:.2f} ms ({len(data):,} bytes)", name, verify / opendp)
    yield Line("check, round and draw an answer", f"{answers * 1e6:.0f} µs", name, answers / opendp)
    yield Line("round and draw a symbol", f"{draws * 1e6:.1f} µs", name, draws / opendp)


TOPICS: dict[str, Topic] = {
    "accuracy": accuracy,
    "population": population,
    "several": several,
    "intervals": widths,
    "sites": sites,
    "hidden": hidden,
    **SCALE,
    "design": design_times,
    "simulation": simulation,
    "device": device,
    "answers": durable_answers,
    "one-post": one_post,
    "batches": batches,
    "crowd": crowd,
    "relay": relay,
}
# What takes longer than all others together runs only if it is named.
LONG: dict[str, Topic] = {
    "siege": siege,
    "siege-tail": siege_tail,
    "bent-requests": bent_requests,
    "stored-sqlite": partial(stored_in, "sqlite"),
    "stored-postgresql": partial(stored_in, "postgresql"),
    "kills": killed,
    "every-instruction": killed_everywhere,
}
# Nothing in these is a time, and a busy machine finds the same.
TIMELESS = frozenset(
    {
        *("accuracy", "population", "several", "intervals", "sites", "hidden", "clients", "wire"),
        *("kills", "every-instruction", "bent-requests"),
    }
)


def main() -> int:
    """Measure every topic, or some of them, print a table, and write the results."""
    parser = argparse.ArgumentParser(description="Measure speed against peers, as ratios, and write bench/results.*")
    parser.add_argument(
        "topics",
        nargs="*",
        help=f"only some of: {', '.join(TOPICS)}; {', '.join(LONG)}, which run if named only; others' results stay",
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, and nothing written: good for a look")
    parser.add_argument(
        "--busy", action="store_true", help="write times also if other programs keep cores busy, and how many they took"
    )
    typed = parser.parse_args()
    known = TOPICS | LONG
    for name in typed.topics:
        if name not in known:
            parser.error(f"there is no topic {name}: choose from {', '.join(known)}")
    commit()  # that of the code that is loaded, whatever is committed meanwhile
    found: dict[str, Record] = {}
    refused: list[str] = []
    for name in track(typed.topics or list(TOPICS), "Measuring", console=CONSOLE):
        free = typed.quick or typed.busy or name in TIMELESS
        before = others_load() if free else _calm()
        if before > QUIET and not free:
            refused.append(name)
            continue
        record = measured(lambda work=known[name]: list(work()), before, timed=name not in TIMELESS)  # type: ignore[misc]
        show(name, record)
        if record.stamp.busy and not free:
            refused.append(name)
            continue
        found[name] = record
        if not typed.quick:
            results = read_results() | found
            write_results({each: results[each] for each in known if each in results})
    if refused:
        print(f"other programs kept cores busy, so nothing was written of {', '.join(refused)}: wait, or --busy")
    return 1 if refused else 0


def _calm(most: int = 10) -> float:
    """Wait a while for what an earlier topic left to be done; return how many cores others keep busy then."""
    for _ in range(most):
        load = others_load()
        if load <= QUIET:
            break
    return load


def show(name: str, record: Record) -> None:
    """Print a topic's table."""
    table = Table("what", "measured", "against", "ratio", "aim", title=f"{name}: {record.stamp}")
    for line in record.lines:
        table.add_row(line.what, line.value, line.against, f"{line.ratio:.3g}", line.aim)
    Console(highlight=False, width=180).print(table)


if __name__ == "__main__":
    sys.exit(main())
