"""How often intervals hold at every look at a study that grows, which only ``anytime`` promises."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bench.conditions import Setting
from bench.held import is_broken
from fairgauge.channel import LEVEL_UNIT
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.interval_readers import READERS

CONFIDENCE = 0.9
LOOKS = tuple(np.unique(np.logspace(1, 4.5, 40).astype(int)).tolist())
WATCHED = ("anytime", "population", "normal")


@dataclass(frozen=True)
class Watched:
    """In how many studies an interval missed the truth at some look."""

    epsilon: str
    kind: str
    runs: int
    missed: int

    @property
    def broken(self) -> bool:
        """Whether chance does not explain it, where a promise was made."""
        return self.kind == "anytime" and is_broken(self.missed, self.runs, 1 - CONFIDENCE)


def watch(epsilon: str, kind: str, runs: int, *, seed: int) -> Watched:
    """Watch studies grow, of clients who are drawn; everyone is at 1, so who comes first matters most."""
    setting = Setting("everyone at 1", LOOKS[-1], epsilon)
    question = setting.study.questions[0]
    laws = [[float(p) for p in question.channel.mixture(group, Fraction(LEVEL_UNIT))] for group in (0, 1)]
    law, estimands, reader = np.mean(laws, axis=0), estimands_of(question), READERS[kind]
    rng, missed = np.random.default_rng(seed), 0
    for _ in range(runs):
        counts, before = np.zeros(len(law)), 0
        for look in LOOKS:
            counts, before = counts + rng.multinomial(look - before, law / law.sum()), look
            if not reader(estimands, counts).believes_gap((0, 1), 0.0, 1 - CONFIDENCE):
                missed += 1
                break
    return Watched(epsilon, kind, runs, missed)
