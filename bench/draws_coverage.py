"""How often intervals of studies with secret draws hold the truth: decided at the truth, in four cells.

    python -m bench.draws_coverage --runs 2000

Exit status 1 if an interval held less often than it promises, by more than chance explains.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
from scipy.stats import binom

from fairgauge import Attribute, Metric, Study, design
from fairgauge.crowd import blanket_weights
from fairgauge.errors import CannotEstimate
from fairgauge.estimation.inference import reader_for
from fairgauge.estimation.interval_kinds import KINDS, kind_of
from fairgauge.simulation import Cell, Population, simulate, true_values
from fairgauge.study import Release
from fairgauge.tallies import Tally

SEED = 20261116
LEVELS = (0.05, 0.01)
SEX = {"female": "0.3", "male": "0.7"}


@dataclass(frozen=True)
class DrawnCell:
    """A study with secret draws, and how many answer it."""

    name: str
    study: Study
    answers: int

    def truth(self) -> float:
        """Return the true gap, in [-1, 1] units."""
        (gap,) = true_values(self.study, self.people)[0].gaps.values()
        return gap / self.study.questions[0].metric.scale

    @property
    def people(self) -> Population:
        """Return who is drawn from, with a value of each metric."""
        names = [question.metric.name for question in self.study.questions]
        kinds = (("female", "0.6", 90), ("female", "1", 210), ("male", "0.7", 140), ("male", "1", 560))
        if len(names) == 1:
            return Population(tuple(Cell(group, Decimal(value), count) for group, value, count in kinds))
        return Population(
            tuple(
                Cell(None, None, count, columns=(("sex", group), *((name, value) for name in names)))
                for group, value, count in kinds
            )
        )


def _study(*metrics: str, answering: str, epsilon: str, release: Release) -> Study:
    attribute = Attribute("sex", SEX, answering=answering)
    asked = [Metric(name, 0, 1) for name in metrics]
    questions = [design(metric, attribute, epsilon=epsilon, design="randomized-response")[0] for metric in asked]
    return Study("Draws", questions, release=release)


def cells() -> tuple[DrawnCell, ...]:
    """Return the four cells: a known split, an estimated one, two questions, and batches with a remainder."""
    small = "0.00000001"
    return (
        DrawnCell("known split", _study("v", answering="alike", epsilon="1", release=Release(5000, small, 1500)), 5000),
        DrawnCell("estimated", _study("v", answering="any", epsilon="2", release=Release(6000, small, 3000)), 6000),
        DrawnCell(
            "two questions",
            _study("v", "w", answering="alike", epsilon="2", release=Release(4000, small, 12_000)),
            4000,
        ),
        DrawnCell("batches", _study("v", answering="any", epsilon="4", release=Release(1000, small, 400)), 3700),
    )


def misses(cell: DrawnCell, kind: str, runs: int, *, seed: int = SEED, forgotten: bool = False) -> list[int]:
    """Return how often the gap's interval missed the truth, at each level.

    Args:
        cell: The cell.
        kind: The kind of interval.
        runs: How many studies are simulated.
        seed: Makes it repeatable.
        forgotten: Read the counts as if all were answers: what would happen if nobody removed draws.
    """
    people, rng, truth, found = cell.people, np.random.default_rng(seed), cell.truth(), np.zeros(len(LEVELS), dtype=int)
    plain = replace(cell.study, release=None)
    for _ in range(runs):
        tally = simulate(cell.study, people, clients=cell.answers, seed=rng)
        study = cell.study
        if forgotten:
            study, tally = plain, Tally(plain.digest, tally.counts)
        reader = reader_for(study, tally, 0, kind_of(kind))
        found += [not _believes(reader, truth, alpha) for alpha in LEVELS]
    return [int(count) for count in found]


def _believes(reader: object, truth: float, alpha: float) -> bool:
    try:
        return bool(reader.believes_gap((0, 1), truth, alpha))  # type: ignore[attr-defined]
    except CannotEstimate:
        return True  # none is told, and none is wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--kind", choices=[*KINDS], action="append")
    asked = parser.parse_args(arguments)
    broken = False
    for cell in cells():
        weight = sum(blanket_weights(cell.study.channels))
        for kind in asked.kind or KINDS:
            found = misses(cell, kind, asked.runs)
            odd = [float(binom.sf(count - 1, asked.runs, alpha)) for count, alpha in zip(found, LEVELS, strict=True)]
            broken |= min(odd) < 1e-6
            held = " ".join(
                f"{1 - alpha:.0%}: {1 - n / asked.runs:.4f}" for n, alpha in zip(found, LEVELS, strict=True)
            )
            print(f"{cell.name:14s} {kind:11s} {held}  (blanket {weight / 2**53 / len(cell.study.tables):.2f})")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
