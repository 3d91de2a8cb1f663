"""How often intervals hold the truth, in one cell of conditions.

An interval holds the truth exactly if the truth is accepted, and asking that is many times faster than finding the
ends.  So every simulated study is asked whether it accepts the truth, and some are estimated in full and read as people
read them, which must come to the same.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from scipy.stats import binom

from bench.conditions import Setting
from fairgauge.errors import CannotEstimate
from fairgauge.estimation import estimate
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.gap_score import Thrown
from fairgauge.estimation.interval import Interval
from fairgauge.estimation.interval_kinds import KINDS
from fairgauge.estimation.interval_readers import READERS, Reader, counts_of
from fairgauge.estimation.metric_frame import PrivateMetricFrame
from fairgauge.simulation import simulate
from fairgauge.tallies import Tally

CONFIDENCE = 0.9
# Chance breaks a promise once in a million cells.
FALSE_POSITIVE_RATE = 1e-6
# The normal interval promises to be close to its confidence, from so many answers to its question on.
ROUGH, SLACK = 10_000, 1.3
# One study in so many is read in full.
READ = 20
QUANTITIES = ("gap", "|gap|", "mean", "overall", "ratio", "share", "answered")
# The truth and the ends are computed in different ways.
_ROUNDING = 1e-9

Shown = Iterator[tuple[str, bool | None]]


@dataclass(frozen=True)
class Held:
    """In how many studies the interval of one quantity was asked for, and missed the truth."""

    setting: Setting
    kind: str
    quantity: str
    asked: int
    missed: int

    @property
    def part(self) -> float:
        """The part of the studies in which it held, or was not given: no number is not wrong."""
        return 1 - self.missed / self.asked

    @property
    def promised(self) -> bool:
        """Whether the interval promises anything here."""
        return self.kind != "normal" or self.setting.clients / self.setting.questions >= ROUGH

    @property
    def broken(self) -> bool:
        """Whether chance does not explain that it held so seldom."""
        alpha = (1 - CONFIDENCE) * (SLACK if self.kind == "normal" else 1)
        return self.promised and is_broken(self.missed, self.asked, alpha)


def is_broken(missed: int, asked: int, alpha: float) -> bool:
    """Tell whether so many misses are no chance, by an exact binomial test."""
    return bool(binom.sf(missed - 1, asked, alpha) < FALSE_POSITIVE_RATE)


def runs_of(setting: Setting, runs: int) -> int:
    """Return how many studies to simulate: fewer where each takes many intervals, which the exact test allows for."""
    slow = setting.shares != "known" and setting.groups > 2
    return max(READ, runs // comb(setting.groups, 2)) if slow and runs > READ else runs


def measure(setting: Setting, runs: int, *, seed: int, kinds: Iterable[str] = tuple(KINDS)) -> Iterator[Held]:
    """Yield how often each kind of interval held, for everything that is shown."""
    for kind in kinds:
        asked, given, missed = Counter[str](), Counter[str](), Counter[str]()
        rng = np.random.default_rng(seed)
        for turn in range(runs_of(setting, runs)):
            tally = simulate(setting.study, setting.population, clients=setting.clients, seed=rng)
            shown = dict(accepted(setting, tally, kind))
            if turn % READ == 0:
                shown |= dict(read(setting, tally, kind, shown))
            for quantity, holds in shown.items():
                asked[quantity] += 1
                given[quantity] += holds is not None
                missed[quantity] += holds is False
        for quantity, often in asked.items():
            if given[quantity]:
                yield Held(setting, kind, quantity, often, missed[quantity])


def accepted(setting: Setting, tally: Tally, kind: str) -> Shown:
    """Yield for each number of the first question whether the truth is accepted; None if the answers do not tell."""
    if not sum(tally.for_question(setting.study, 0)):
        return
    reader, alpha = _reader(setting, tally, kind), 1 - CONFIDENCE
    estimands = reader.estimands
    truth = setting.truth
    means = [2 * truth.means[group] - 1 for group in truth.means]
    if estimands.gaps is not None or estimands.means is not None:
        # All gaps are to hold together; those that are not told are not wrong.
        told = [
            _ask(reader.believes_gap, (a, b), means[a] - means[b], alpha)
            for a, b in combinations(range(setting.groups), 2)
        ]
        yield "gap", None if all(holds is None for holds in told) else False not in told
    for group, name in enumerate(truth.means):
        if estimands.means is not None:
            yield f"mean of {name}", _ask(lambda g: _within(reader.mean(g, alpha), means[g]), group)
        if estimands.group_shares is not None:
            yield f"share of {name}", _ask(reader.believes, estimands.group_shares[group], truth.shares[name], alpha)
    if estimands.overall is not None and truth.overall is not None:
        yield "overall", _ask(reader.believes, estimands.overall, 2 * truth.overall - 1, alpha)
    if estimands.answered is not None:
        yield "answered", _ask(reader.believes, estimands.answered, setting.answering, alpha)


def read(setting: Setting, tally: Tally, kind: str, accepts: dict[str, bool | None]) -> Shown:
    """Yield whether what people read holds the truth: sizes of gaps and ratios too, and every number again.

    Raises:
        AssertionError: If a number that accepts the truth does not hold it.
    """
    truth = setting.truth
    found = estimate(setting.study, tally, confidence=CONFIDENCE, interval=kind).questions[0]
    gaps = [(interval, truth.gaps[pair]) for pair, interval in found.gaps.items()]
    if gaps:
        yield "gap", all(_within(interval, gap) for interval, gap in gaps)
        yield "|gap|", all(_within(interval.size, abs(gap)) for interval, gap in gaps)
    numbers = {f"mean of {g}": (mean, truth.means[g]) for g, mean in found.means.items()}
    numbers |= {f"share of {g}": (share, truth.shares[g]) for g, share in found.shares.items()}
    if found.overall is not None and truth.overall is not None:
        numbers["overall"] = found.overall, truth.overall
    if found.answered is not None:
        numbers["answered"] = found.answered, setting.answering
    for name, (interval, is_so) in numbers.items():
        holds = _within(interval, is_so)
        if accepts.get(name) and not holds:
            raise AssertionError(f"{kind}: {name} accepts {is_so} but is {interval} ({setting})")
        yield name, holds
    yield "ratio", _ask(_ratio_holds, setting, tally, kind)


def _ratio_holds(setting: Setting, tally: Tally, kind: str) -> bool:
    """Tell whether the ratio of the smallest mean to the largest holds the truth; frames show it."""
    frame = PrivateMetricFrame(setting.study, tally, confidence=CONFIDENCE, interval=kind)
    low, high = (float(end.iloc[0]) for end in frame.ratio_ci())
    means = setting.truth.means.values()
    return low - _ROUNDING <= min(means) / max(means) <= high + _ROUNDING


def _reader(setting: Setting, tally: Tally, kind: str) -> Reader:
    estimands, counts = estimands_of(setting.study.questions[0]), counts_of(tally.for_question(setting.study, 0))
    return READERS[kind](estimands, counts, None, Thrown(f"{setting.study.seed} 0"))


def _ask(ask: Callable[..., bool], *about: object) -> bool | None:
    """Return what is answered, or None if the answers to the study do not tell."""
    try:
        return ask(*about)
    except CannotEstimate:
        return None


def _within(interval: Interval, truth: float) -> bool:
    return interval.low - _ROUNDING <= truth <= interval.high + _ROUNDING
