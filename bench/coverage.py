"""How often intervals hold the truth, with clients drawn from populations: the tables in docs/coverage.md.

    python -m bench.coverage --write          measure, and rewrite the tables (`make coverage`)
    python -m bench.coverage --runs 20        measure less, and print the tables

Exit status 1 if an interval held less often than it promises, by more than chance explains.
"""

import argparse
import math
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from textwrap import fill

from rich.console import Console
from rich.progress import track

from bench.conditions import CONDITIONS, Setting, settings
from bench.held import CONFIDENCE, QUANTITIES, READ, ROUGH, Held, measure, runs_of
from bench.looks import LOOKS, WATCHED, Watched, watch
from fairgauge.estimation.interval_kinds import KINDS

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
BEGIN, END = "<!-- coverage table: begin -->", "<!-- coverage table: end -->"
SEED = 20261115
# Where a default of before was wrong: nobody differs from anybody, and it said so seldom enough.
KNOWN = (
    Setting("everyone at 0.9", 10**4, "4"),
    Setting("everyone at 0.9", 10**5, "4"),
    Setting("everyone at 1", 10**6, "8"),
    Setting("everyone at 0.9", 10**5, "4", shares="known with error"),
)

SLOW = tuple(Setting("everyone at 1", 10, "1", shares="estimated", groups=groups) for groups in (3, 5))


def cells() -> list[Setting]:
    """Return every cell that is measured."""
    return [*KNOWN, *(each for each in settings() if each not in KNOWN)]


def table(found: list[Held], watched: list[Watched], runs: int) -> str:
    """Return the page's tables."""
    count, met = len({held.setting for held in found}), ", ".join(f"{n} ({len(v)})" for n, v in CONDITIONS.items())
    parts = [
        _text(
            f"Measured over {runs:,} simulated studies in each of {count} cells, at a confidence of {CONFIDENCE:.0%} "
            f"({runs_of(SLOW[0], runs)} and {runs_of(SLOW[1], runs)} where three and five groups have shares that are "
            "not known exactly). "
            f"The cells differ in {met}; in brackets is how many values each has, and every two values of two of them "
            "meet in some cell. Clients are drawn from the population. A study whose answers do not tell a number "
            "gives none, and none is wrong."
        ),
        _text(
            "Each entry is the part of studies, in per cent, whose interval held the truth: over all cells, and in the "
            f"worst cell. `normal` promises something from {ROUGH:,} answers on, and is asked there. Sizes and ratios "
            f"are read off one study in {READ}, too few to name a worst cell; they hold wherever the gap or all means "
            "do. In the worst of so many cells chance alone moves an entry by about "
            f"{_chance(runs):.0f} (by {_chance(runs_of(SLOW[1], runs)):.0f} where there are fewest studies); a `!` "
            "marks what chance does not explain."
        ),
        *_by_quantity(found),
        _text(
            f"A study that grows to {LOOKS[-1]:,} answers, looked at {len(LOOKS)} times (two equal groups, everyone at "
            "1): the part of studies whose interval held at *every* look. Only `anytime` promises that."
        ),
        *_by_look(watched),
    ]
    return "\n".join(parts).strip()


def _chance(runs: int) -> float:
    """Return three standard errors, in per cent."""
    return 300 * math.sqrt((1 - CONFIDENCE) * CONFIDENCE / runs)


def _text(paragraph: str) -> str:
    return f"\n{fill(paragraph, 118, break_long_words=False, break_on_hyphens=False)}\n"


def _by_quantity(found: list[Held]) -> Iterator[str]:
    yield from _head("shown", *KINDS)
    for quantity in QUANTITIES:
        rows = [held for held in found if held.quantity.split(" of ")[0] == quantity and held.promised]
        yield _row(
            quantity.replace("|", "\\|"), *(_entry([held for held in rows if held.kind == kind]) for kind in KINDS)
        )


def _entry(rows: list[Held]) -> str:
    if not rows:
        return ""
    everywhere = 1 - sum(held.missed for held in rows) / sum(held.asked for held in rows)
    often = [held.part for held in rows if held.asked >= READ]
    worst = f", worst {100 * min(often):.0f}" if often else ""
    return f"{100 * everywhere:.1f}{worst}{' !' if any(held.broken for held in rows) else ''}"


def _by_look(watched: list[Watched]) -> Iterator[str]:
    yield from _head("epsilon", *WATCHED)
    for epsilon in sorted({each.epsilon for each in watched}):
        each = {found.kind: found for found in watched if found.epsilon == epsilon}
        yield _row(epsilon, *(f"{100 * (1 - each[kind].missed / each[kind].runs):.1f}" for kind in WATCHED))


def _head(*names: str) -> Iterator[str]:
    yield _row(*names)
    yield _row(*["---"] * len(names))


def _row(*cells_of_row: str) -> str:
    return f"| {' | '.join(cells_of_row)} |"


def _measured(setting: Setting, runs: int) -> list[Held]:
    return list(measure(setting, runs, seed=SEED))


def _in_turn(todo: Iterable[Setting], runs: int, jobs: int) -> list[Held]:
    with ProcessPoolExecutor(jobs) as pool:
        waiting = [pool.submit(partial(_measured, setting, runs)) for setting in todo]
        done = track(as_completed(waiting), "Measuring", total=len(waiting), console=Console(stderr=True))
        return [held for future in done for held in future.result()]


def main() -> int:
    """Measure, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="studies in each cell")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--write", action="store_true", help="rewrite the table in docs/coverage.md")
    options = parser.parse_args()
    found = _in_turn(cells(), options.runs, options.jobs)
    watched = [watch(epsilon, kind, options.runs, seed=SEED) for epsilon in ("1", "4") for kind in WATCHED]
    text = table(found, watched, options.runs)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    else:
        print(text)
    for held in (held for held in found if held.broken):
        print(f"{held.kind}: {held.quantity} held in {held.part:.3f} ({held.setting})", file=sys.stderr)
    for each in (each for each in watched if each.broken):
        print(
            f"{each.kind}: missed at some look in {each.missed} of {each.runs} (epsilon {each.epsilon})",
            file=sys.stderr,
        )
    return 1 if any(held.broken for held in found) or any(each.broken for each in watched) else 0


if __name__ == "__main__":
    sys.exit(main())
