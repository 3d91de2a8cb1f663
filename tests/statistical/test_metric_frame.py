"""How often the intervals of a metric frame miss, for what is about all groups at once.

The groups are equal, so that the smallest and the largest mean are the hardest to hold.
"""

import numpy as np
import pytest
from scipy.stats import binom

from fairgauge import PrivateMetricFrame
from fairgauge.estimation.interval_readers import NormalReader
from fairgauge.simulation import simulate_exactly
from fairgauge.targets.channel_inputs import Vector
from tests.samples import RECALL
from tests.statistical.exact import FALSE_POSITIVE_RATE
from tests.surveys import people, study, tells_all

SEED = 20261115
RUNS = 200
NUMBERS = ("group_min", "group_max", "difference", "ratio")
TRUTH = {"group_min": 0.5, "group_max": 0.5, "difference": 0.0, "ratio": 1.0}


def misses() -> dict[str, int]:
    """Count the studies whose interval does not hold the truth."""
    asked = study(tells_all("0.4", "0.3", "0.3", metric=RECALL))
    everyone = people(("female", "0.5", 8000), ("male", "0.5", 6000), ("other", "0.5", 6000))
    rng = np.random.default_rng(SEED)
    found = dict.fromkeys(NUMBERS, 0)
    for _ in range(RUNS):
        frame = PrivateMetricFrame(
            asked, simulate_exactly(asked, everyone, seed=rng), confidence=0.9, interval="normal"
        )
        for name in NUMBERS:
            low, high = (ends["recall"] for ends in getattr(frame, f"{name}_ci")())
            found[name] += not low <= TRUTH[name] <= high
    return found


def broken(missed: int) -> bool:
    """Whether so many misses are no chance."""
    return bool(binom.sf(missed - 1, RUNS, 0.1) < FALSE_POSITIVE_RATE)


def test_they_miss_no_more_than_stated() -> None:
    assert not any(map(broken, misses().values()))


def test_intervals_that_are_too_narrow_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant twin."""
    wide = NormalReader.width

    def narrow(self: NormalReader, score: Vector, alpha: float) -> float:
        return 0.3 * wide(self, score, alpha)

    monkeypatch.setattr(NormalReader, "width", narrow)
    assert all(map(broken, misses().values()))
