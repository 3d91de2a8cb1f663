"""How often intervals of studies of sites hold the truth, with sites and people drawn at random: docs/coverage.md.

    python -m bench.sites_coverage --write            measure, and rewrite the table (`make coverage`)
    python -m bench.sites_coverage --runs 50          measure less, and print it

An interval holds the truth exactly if its test accepts the truth, which is faster than to find the ends.  What is
about several numbers at once (ratios, equalised odds) is counted as wrong if any interval that it is made of is.  Exit
status 1 if an interval held less often than promised, by more than chance explains.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from scipy.stats import binom

from fairgauge.estimation.interval_kinds import SITE_KINDS
from fairgauge.estimation.rates import CONFUSION, Rate, rate_of, share_of
from fairgauge.estimation.site_inference import SiteReader
from fairgauge.study import Attribute, NoisyCounts
from fairgauge.tallies import Tally

PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
BEGIN, END = "<!-- coverage of sites: begin -->", "<!-- coverage of sites: end -->"
SEED = 20261116
UNLIKELY = 1e-6
TYPES = 60  # of sites, from which sites are drawn
QUANTITIES = ("rate", "gap", "share", "ratio", "equalised odds")

Cells = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """Who comes to sites: rates by group, how many have truth 1, the first group's share, and how sites differ."""

    name: str
    tpr: tuple[float, float] = (0.7, 0.85)
    fpr: tuple[float, float] = (0.1, 0.15)
    positives: float = 0.3
    share: float = 0.5
    differ: float = 0.1

    @cached_property
    def types(self) -> tuple[Cells, Cells]:
        """The sites that there are: the law of their people over cells, and how large they are to each other."""
        rng = np.random.default_rng(7)
        cells = np.zeros((TYPES, 8))
        for one in range(TYPES):
            shift = rng.uniform(-self.differ, self.differ)
            women = np.clip(self.share * (1 + 2 * rng.uniform(-self.differ, self.differ)), 0, 1)
            for group, share in enumerate((women, 1 - women)):
                tpr, fpr = (np.clip(rates[group] + shift, 0, 1) for rates in (self.tpr, self.fpr))
                if self.tpr[group] in (0.0, 1.0):
                    tpr = self.tpr[group]
                if self.fpr[group] in (0.0, 1.0):
                    fpr = self.fpr[group]
                p = self.positives
                cells[one, 4 * group : 4 * group + 4] = [
                    share * (1 - p) * (1 - fpr), share * (1 - p) * fpr, share * p * (1 - tpr), share * p * tpr
                ]  # fmt: skip
        return cells, rng.uniform(0.5, 1.5, TYPES)


USUAL = World("usual")
ENDS = World("rates at 0 and 1", tpr=(1.0, 0.9), fpr=(0.0, 0.1))
NOBODY = World("nobody differs", tpr=(0.8, 0.8), fpr=(0.2, 0.2), differ=0.0)
RARE = World("a rare group", share=0.08)
APART = World("sites far apart", differ=0.3, tpr=(0.5, 0.6), fpr=(0.4, 0.35))


@dataclass(frozen=True)
class Setting:
    """One cell of conditions."""

    world: World
    sites: int
    people: int
    epsilon: str
    kind: str = "population"
    confidence: float = 0.95
    copies: int = 1

    def __str__(self) -> str:
        more = "" if self.copies == 1 else f", {self.copies} records each"
        return f"{self.world.name}, {self.sites} sites of {self.people}{more}, epsilon {self.epsilon}"


SETTINGS = (
    Setting(USUAL, 20, 500, "1"),
    Setting(USUAL, 20, 500, "1", confidence=0.99),
    Setting(USUAL, 5, 200, "3"),
    Setting(USUAL, 3, 40, "3"),  # a dozen people in a cell
    Setting(USUAL, 3, 120, "1"),
    Setting(USUAL, 3, 120, "1", confidence=0.99),
    Setting(USUAL, 100, 50, "0.5"),
    Setting(ENDS, 3, 60, "3"),
    Setting(ENDS, 20, 100, "1", confidence=0.99),
    Setting(NOBODY, 5, 1000, "0.1"),
    Setting(RARE, 5, 60, "0.1"),  # hardly anybody beside the noise
    Setting(RARE, 10, 300, "1"),
    Setting(APART, 4, 400, "3"),
    Setting(USUAL, 20, 500, "1", copies=3),
    Setting(USUAL, 20, 500, "1", "records"),
    Setting(USUAL, 3, 120, "1", "records"),
    Setting(ENDS, 3, 60, "3", "records", confidence=0.99),
    Setting(NOBODY, 5, 1000, "0.1", "records"),
    Setting(RARE, 5, 60, "0.1", "records"),
    Setting(USUAL, 5, 500, "1", "sites"),
    Setting(USUAL, 20, 500, "1", "sites"),
    Setting(APART, 20, 300, "1", "sites"),
    Setting(APART, 60, 300, "1", "sites", confidence=0.99),
    Setting(NOBODY, 20, 500, "0.5", "sites"),
)
# The promise of intervals about sites is to be close, from so many sites on.
CLOSE_FROM, SLACK = 20, 1.5


@dataclass(frozen=True)
class Held:
    """How often one quantity was asked for, and missed."""

    setting: Setting
    quantity: str
    asked: int
    missed: int

    @property
    def part(self) -> float:
        """The part in which it held."""
        return 1 - self.missed / self.asked

    @property
    def broken(self) -> bool:
        """Whether chance does not explain so many misses."""
        alpha = 1 - self.setting.confidence
        if self.setting.kind == "sites":
            if self.setting.sites < CLOSE_FROM:
                return False
            alpha *= SLACK
        return bool(binom.sf(self.missed - 1, self.asked, alpha) < UNLIKELY)


def measure(setting: Setting, runs: int, first: int | None = None) -> list[Held]:
    """Return how often each quantity held.

    One number is picked for each quantity and study, so that studies are all that repeats: a metric and a group, in
    turns.

    Args:
        setting: The conditions.
        runs: How many studies.
        first: Only so many of the quantities, rates and shares first.
    """
    asked, missed = Counter[str](), Counter[str]()
    rng = np.random.default_rng(SEED)
    for run in range(runs):
        for quantity, holds in islice(_study(setting, run, rng), first):
            asked[quantity] += 1
            missed[quantity] += not holds
    return [Held(setting, name, asked[name], missed[name]) for name in QUANTITIES if asked[name]]


def _study(setting: Setting, run: int, rng: np.random.Generator) -> Iterator[tuple[str, bool]]:
    site = NoisyCounts(Attribute("sex", ("female", "male")), "confusion", setting.epsilon, records=setting.copies)
    truth, tally = draw(setting, site, rng)
    reader = SiteReader(site, tally, SITE_KINDS[setting.kind])
    names = list(CONFUSION)
    name, group = names[run % len(names)], run // len(names) % 2
    alpha = 1 - setting.confidence

    def holds(*rates: Rate, level: float) -> bool:
        right = [float(rate.sum(truth, 0.0)) / rate.people(truth) for rate in rates]
        if len(rates) == 1:
            return reader.believes_rate(rates[0], right[0], level)
        return reader.believes_gap(rates[0], rates[1], right[0] - right[1], level)

    pairs = {each: [rate_of(site, CONFUSION[each], [g]) for g in (0, 1)] for each in names}
    yield "rate", holds(pairs[name][group], level=alpha)
    yield "share", holds(share_of(site, group), level=alpha)
    yield "gap", holds(*pairs[name], level=alpha)
    yield "ratio", all(holds(rate, level=alpha / 2) for rate in pairs[name])
    yield (
        "equalised odds",
        all(holds(*pairs[each], level=alpha / 2) for each in ("true positive rate", "false positive rate")),
    )


def draw(setting: Setting, site: NoisyCounts, rng: np.random.Generator) -> tuple[Cells, Tally]:
    """Return the true counts that the kind is about, up to their sum, and a tally."""
    laws, sizes = setting.world.types
    picked = rng.integers(TYPES, size=setting.sites) if setting.kind == "sites" else np.arange(setting.sites) % TYPES
    people = np.maximum(1, np.round(setting.people * sizes[picked])).astype(int)
    counts = np.array([rng.multinomial(n, laws[one]) for n, one in zip(people, picked, strict=True)])
    decay = float(np.exp(-float(site.declared) / (2 * setting.copies)))
    noise = rng.geometric(1 - decay, counts.shape) - rng.geometric(1 - decay, counts.shape)
    noisy = counts * setting.copies + noise
    truths = {
        "records": counts.sum(axis=0).astype(float),
        "population": people @ laws[picked],
        "sites": np.round(setting.people * sizes) @ laws,
    }
    return truths[setting.kind], _tally(noisy)


def _tally(noisy: Any) -> Tally:
    products = (noisy.T @ noisy)[np.triu_indices(noisy.shape[1])]
    return Tally("0" * 64, tuple(noisy.sum(axis=0).tolist()), len(noisy), tuple(products.tolist()))


def table(found: list[Held], runs: int) -> str:
    """Return the page's table."""
    heads = ["interval", "who comes to which sites", "confidence", *QUANTITIES]
    rows = [heads, ["---"] * len(heads)]
    for setting in dict.fromkeys(held.setting for held in found):
        own = {held.quantity: held for held in found if held.setting == setting}
        told = [_entry(own[name]) if name in own else "" for name in QUANTITIES]
        rows.append([f"`{setting.kind}`", str(setting), f"{setting.confidence:.0%}", *told])
    said = (
        f"Measured over {runs:,} studies each: the part, in per cent, in which an interval held the truth. A `!`\n"
        "would mark what chance does not explain, by an exact test that errs once in a million.\n"
    )
    return "\n".join([said, *("| " + " | ".join(row) + " |" for row in rows)])


def _entry(held: Held) -> str:
    return f"{100 * held.part:.1f}{' !' if held.broken else ''}"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print or write, and tell whether something is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help=f"rewrite the table in {PAGE.name}")
    typed = parser.parse_args(arguments)
    console = Console(stderr=True)
    found = [held for one in track(SETTINGS, "Studies", console=console) for held in measure(one, typed.runs)]
    text = table(found, typed.runs)
    if typed.write:
        page = PAGE.read_text(encoding="utf-8")
        before, after = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    else:
        print(text)
    return int(any(held.broken for held in found))


if __name__ == "__main__":
    sys.exit(main())
