"""How often intervals hold the truth, over many simulated studies: the tables in docs/coverage.md.

    python -m bench.coverage --write          measure, and rewrite the tables (`make coverage`)
    python -m bench.coverage --runs 2000      measure less, and print the tables

Exit status 1 if an interval held less often than it promises, by more than chance explains.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path
from textwrap import fill

import numpy as np
from rich.console import Console
from rich.progress import Progress

from bench.simulated import (
    CLIENTS,
    CONFIDENCES,
    KINDS,
    VALUES,
    WATCHES,
    Measured,
    Watched,
    measure,
    settings,
    watch,
)
from fairgauge.estimation.kinds import KINDS as INTERVALS

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
BEGIN, END = "<!-- coverage table: begin -->", "<!-- coverage table: end -->"
SEED = 20261115
# From so many clients on the normal interval promises to be close to its confidence.
ASYMPTOTIC = 10_000
# Beyond this many standard errors, of one of several hundred settings, chance is no explanation.
FAR = 4.5


def too_low(held: float, confidence: float, runs: int) -> bool:
    """Tell whether chance does not explain that an interval held so seldom."""
    return held < confidence - FAR * math.sqrt(confidence * (1 - confidence) / runs)


def failures(found: list[Measured], watched: list[Watched], runs: int) -> list[str]:
    """Return what broke its promise."""
    broken = [
        f"{m.interval} {m.confidence}: {m.quantity} held in {m.held:.4f} ({m.setting})"
        for m in found
        if too_low(m.held, m.confidence, runs) and (m.interval != "normal" or m.setting.clients >= ASYMPTOTIC)
    ]
    return broken + [
        f"anytime {confidence}: at every look held in {held:.4f} ({w.epsilon}, {w.arrival})"
        for w in watched
        for (interval, confidence), held in w.held.items()
        if interval == "anytime" and too_low(held, confidence, runs)
    ]


def table(found: list[Measured], watched: list[Watched], runs: int) -> str:
    """Return the page's tables."""
    count = len({m.setting for m in found})
    chance = f"{100 * math.sqrt(0.09 / runs):.1f} / {100 * math.sqrt(0.0099 / runs):.1f}"
    parts = [
        _text(
            f"Measured over {runs:,} simulated studies for each of {count} settings, which differ in epsilon and in "
            "what clients hold. Each entry is the part of studies, in per cent, whose interval held the truth, at a "
            "confidence of 90 / 99 per cent, in the **worst** setting of its row. Chance alone moves a single entry by "
            f"about {chance}, and the worst of many by three times that. Where the answers do not tell, no number is "
            "given, and none is wrong: the last column says for how many studies, in per cent, at the widest interval."
        ),
        *_by_study(found),
        _text(f"The normal interval from {ASYMPTOTIC:,} clients on, in the worst and the best setting:"),
        *_by_values([m for m in found if m.interval == "normal" and m.setting.clients >= ASYMPTOTIC]),
        _text(
            "Watched while answers arrive, with 120 looks up to 100,000 answers (equal groups, everyone at 1): the "
            "part of studies whose interval held the truth at *every* look."
        ),
        *_by_arrival(watched),
    ]
    return "\n".join(parts).strip()


def _text(paragraph: str) -> str:
    return f"\n{fill(paragraph, 110)}\n"


def _by_study(found: list[Measured]) -> Iterator[str]:
    yield _row("study", "quantity", "clients", *INTERVALS, "no number")
    yield _row(*["---"] * (4 + len(INTERVALS)))
    for kind, quantity, clients in product(KINDS, ("gap", "mean"), CLIENTS):
        rows = [
            m
            for m in found
            if m.setting.kind is kind and m.quantity.startswith(quantity) and m.setting.clients == clients
        ]
        if rows:
            entries = [_held([m for m in rows if m.interval == interval]) for interval in INTERVALS]
            refused = 1 - min(m.given for m in rows)
            several = "s" if kind.goal.groups > 2 and quantity == "gap" else ""
            yield _row(
                kind.name, quantity + several, f"{clients:,}", *entries, f"{100 * refused:.0f}" if refused else ""
            )


def _by_values(found: list[Measured]) -> Iterator[str]:
    yield _row("values", "worst", "best")
    yield _row("---", "---", "---")
    for values in VALUES:
        rows = [m for m in found if m.setting.values == values]
        yield _row(values, _held(rows), _held(rows, of=max))


def _by_arrival(watched: list[Watched]) -> Iterator[str]:
    yield _row("epsilon", "clients", "anytime", "normal")
    yield _row("---", "---", "---", "---")
    for w in watched:
        entries = [" / ".join(f"{100 * w.held[name, c]:.1f}" for c in CONFIDENCES) for name in ("anytime", "normal")]
        yield _row(w.epsilon, w.arrival, *entries)


def _held(rows: list[Measured], *, of: Callable[[Iterable[float]], float] = min) -> str:
    return " / ".join(f"{100 * of(m.held for m in rows if m.confidence == c):.1f}" for c in CONFIDENCES)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Measure, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10_000, help="studies for each setting")
    parser.add_argument("--write", action="store_true", help="rewrite the table in docs/coverage.md")
    options = parser.parse_args()
    rng = np.random.default_rng(SEED)
    found: list[Measured] = []
    watched: list[Watched] = []
    todo = settings()
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=len(todo) + 10 * len(WATCHES))
        for setting in todo:
            progress.update(task, description=f"{setting.kind.name}, epsilon {setting.epsilon}")
            found += measure(setting, options.runs, rng)
            progress.advance(task)
        for epsilon, arrival in WATCHES:
            progress.update(task, description=f"looks, epsilon {epsilon}")
            watched.append(watch(epsilon, arrival, options.runs, rng))
            progress.advance(task, 10)
    text = table(found, watched, options.runs)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    else:
        print(text)
    broken = failures(found, watched, options.runs)
    for line in broken:
        print(line, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
