"""How often intervals of cells, margins and questions that share a table hold the truth, with clients drawn.

    python -m bench.groups_coverage                   measure, and print a line for each setting
    python -m bench.groups_coverage --runs 2000

What is compared holds together, so a study counts as wrong if any of its comparisons misses.  Exit status 1 if that
happens more often than promised, by more than chance explains.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from scipy.stats import binomtest

from fairgauge.designs.classical_designs import randomized_response
from fairgauge.designs.two_metrics import TwoMetrics
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.interval_readers import READERS, Reader, counts_of
from fairgauge.simulation import Population, simulate, true_values
from fairgauge.simulation.population import read_cell
from fairgauge.study import Attribute, Metric, Question, Study
from fairgauge.study.margins import usual_comparisons
from fairgauge.targets.assumed_values import Reckoning
from fairgauge.targets.comparisons import Pair, Side, margin_sides, pair_names
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

CONFIDENCE = 0.95
UNLIKELY = 1e-6
SEED = 20261115
_SEX, _AGE = Attribute("sex", ["female", "male"]), Attribute("age", ["18-29", "30-49", "50+"])
_SHARES = ("0.1", "0.2", "0.2", "0.1", "0.25", "0.15")
_MEANS = ("0.9", "0.8", "0.6", "0.9", "0.85", "0.75")


@dataclass(frozen=True)
class Several:
    """A setting: ``cells`` of two attributes that cross, or two questions ``at once``."""

    what: str
    clients: int
    epsilon: str
    interval: str
    known: bool = True

    def __str__(self) -> str:
        shares = "known" if self.known else "estimated"
        return f"{self.what}, {self.clients:,} clients, epsilon {self.epsilon}, {self.interval}, shares {shares}"


SETTINGS = (
    Several("cells", 2_000, "2", "population"),
    Several("cells", 100_000, "4", "population"),
    Several("cells", 100_000, "4", "normal"),
    Several("cells", 100_000, "4", "population", known=False),
    Several("cells", 20_000, "2", "anytime"),
    Several("at once", 1_000, "2", "population"),
    Several("at once", 100_000, "4", "population"),
    Several("at once", 100_000, "4", "normal"),
    Several("at once", 20_000, "3", "anytime"),
)


@dataclass(frozen=True)
class Found:
    """In how many of the studies some comparison missed the truth."""

    setting: Several
    runs: int
    missed: int

    @property
    def broken(self) -> bool:
        """Whether chance does not explain so many."""
        return bool(binomtest(self.missed, self.runs, 1 - CONFIDENCE, alternative="greater").pvalue < UNLIKELY)


@cache
def asked(setting: Several) -> tuple[Study, Population]:
    """Return the study and the population that answers it."""
    return _cells(setting) if setting.what == "cells" else _at_once(setting)


def _cells(setting: Several) -> tuple[Study, Population]:
    crossed = (
        Attribute.crossed(_SEX, _AGE, shares=_SHARES, answering="alike")
        if setting.known
        else Attribute.crossed(_SEX, _AGE)
    )
    attribute = replace(crossed, comparisons=usual_comparisons(crossed))
    channel = randomized_response(Scores(Target((1 / 6,) * 6)), Decimal(setting.epsilon))
    question = Question(Metric("recall", 0, 1), attribute, "gap", "randomized-response", setting.epsilon, channel)
    rows = [
        dict(zip(("sex", "age"), cell.split(", "), strict=True), recall=mean, count=round(1000 * float(share)))
        for cell, mean, share in zip(attribute.groups, _MEANS, _SHARES, strict=True)
    ]
    return Study("Cells", [question]), Population(tuple(map(read_cell, rows)))


def _at_once(setting: Several) -> tuple[Study, Population]:
    sex = Attribute("sex", {"female": "0.4", "male": "0.6"}, answering="alike")
    epsilon = Decimal(setting.epsilon)
    channel = TwoMetrics((0.4, 0.6), epsilon, (Reckoning(0.8, None), Reckoning(-0.6, None))).channel()
    metrics = (Metric("recall", 0, 1), Metric("fpr", 0, 1))
    questions = [Question(metric, sex, "gap", "centred", epsilon, channel, axis=n) for n, metric in enumerate(metrics)]
    rows = [
        {"sex": "female", "recall": "1", "fpr": "0", "count": 280},
        {"sex": "female", "recall": "0.5", "fpr": "1", "count": 120},
        {"sex": "male", "recall": "0.95", "fpr": "0.1", "count": 600},
    ]
    return Study("At once", questions), Population(tuple(map(read_cell, rows)))


def misses(setting: Several, runs: int, *, split: bool = True) -> Found:
    """Return in how many studies some comparison of some question missed the truth.

    Args:
        setting: What is asked.
        runs: How many studies.
        split: Whether alpha is shared by all that is compared; a mutant that forgets it is wrong too often.
    """
    study, population = asked(setting)
    truths = true_values(study, population)
    alpha = (1 - CONFIDENCE) / len(study.questions)
    read, wrong = READERS[setting.interval], 0
    for run in range(runs):
        tally = simulate(study, population, clients=setting.clients, seed=SEED + run)
        wrong += any(
            not _held(
                read(estimands_of(question), counts_of(tally.for_question(study, n))), pair, truth, alpha, split=split
            )
            for n, question in enumerate(study.questions)
            for pair, truth in _wanted(question, truths[n].gaps)
        )
    return Found(setting, runs, wrong)


def mean_misses(setting: Several, runs: int) -> dict[str, Found]:
    """Return for each cell and each margin in how many studies its mean missed the truth: every mean by itself."""
    study, population = asked(setting)
    (question,), (truth,) = study.questions, true_values(study, population)
    sides = dict(zip(question.attribute.groups, range(len(question.attribute.groups)), strict=True))
    sides_of: dict[str, Side] = {**sides, **margin_sides(question)}
    means, read = truth.means | truth.margins, READERS[setting.interval]
    wrong = dict.fromkeys(sides_of, 0)
    for run in range(runs):
        tally = simulate(study, population, clients=setting.clients, seed=SEED + run)
        reader = read(estimands_of(question), counts_of(tally.for_question(study, 0)))
        for name, side in sides_of.items():
            value = question.metric.to_v(means[name])
            wrong[name] += not reader.believes(reader.estimands.mean_of(side), value, 1 - CONFIDENCE)
    return {name: Found(setting, runs, count) for name, count in wrong.items()}


def _wanted(question: Question, gaps: dict[tuple[str, str], float]) -> Iterator[tuple[Pair, float]]:
    for pair, names in pair_names(question).items():
        yield pair, gaps[names] / question.metric.scale


def _held(reader: Reader, pair: Pair, truth: float, alpha: float, *, split: bool) -> bool:
    return reader.believes_gap(pair, truth, alpha if split else alpha * len(reader.estimands.compared))


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    runs = parser.parse_args(arguments).runs
    found = [misses(setting, runs) for setting in SETTINGS]
    for each in found:
        print(f"{each.setting}: held in {1 - each.missed / each.runs:.1%} of {each.runs}{' !' if each.broken else ''}")
    means = [(setting, mean_misses(setting, runs)) for setting in SETTINGS if setting.what == "cells"]
    for setting, by_name in means:
        worst = max(by_name, key=lambda name: by_name[name].missed)
        held = 1 - by_name[worst].missed / runs
        print(f"{setting}: of {len(by_name)} means, {worst} held least, in {held:.1%}{' !' * by_name[worst].broken}")
    return int(any(each.broken for each in [*found, *(one for _, by_name in means for one in by_name.values())]))


if __name__ == "__main__":
    sys.exit(main())
