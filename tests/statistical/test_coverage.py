"""How often intervals miss the truth, over many simulated studies, at the suite's false-positive rate.

Misses of an interval that keeps its promise are at most binomial, so a number of them that a binomial reaches with
probability 1e-6 is a broken promise.  Each test has mutants: intervals that are too narrow, or that forget something.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from bench.simulated import DRAWN, FIXED, Kind, Runs, Setting, watch
from fairgauge.errors import CannotEstimate
from fairgauge.estimation.by_width import ChebyshevReader, FixedReader, WidthReader
from fairgauge.estimation.estimands import estimands_of
from fairgauge.estimation.intervals import Width
from fairgauge.estimation.kinds import KINDS as INTERVALS
from fairgauge.estimation.spread import Spread
from fairgauge.goals.goal import Goal
from tests.statistical.exact import FALSE_POSITIVE_RATE

SEED = 20261115
RUNS = 20_000
EXACT = ("fixed", "chebyshev")
HALF = (0.5, 0.5)
SMALL = (
    Kind("gap", Goal(HALF), ("1",), ("0.5", "0.5")),
    Kind("shares estimated", Goal(HALF, shares_known=False, target="means"), ("1",), ("0.3", "0.7")),
    Kind("abstaining", Goal(HALF, abstain=True), ("1",), ("0.5", "0.5")),
    Kind("one of two questions", Goal(HALF), ("3",), ("0.5", "0.5"), questions=2),
)
SETTINGS = [
    Setting(kind, kind.epsilons[0], values, clients)
    for kind in SMALL
    for values, clients in (("all at 1", 10_000), ("half at 0, half at 1", 100))
]
EVERY_SETTING = pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: f"{s.kind.name}, {s.clients}")


def broken(held: np.ndarray, alpha: float) -> bool:
    """Whether so many misses are no chance."""
    missed = int(np.sum(~held))
    return bool(binom.sf(missed - 1, len(held), alpha) < FALSE_POSITIVE_RATE)


def held(setting: Setting, interval: str, alpha: float) -> np.ndarray:
    counts = setting.counts(RUNS, np.random.default_rng(SEED))
    return Runs(setting, counts, interval).gaps(alpha)


@EVERY_SETTING
@pytest.mark.parametrize("interval", EXACT)
def test_exact_intervals_keep_their_promise(setting: Setting, interval: str):
    assert not broken(held(setting, interval, 0.1), 0.1)
    assert not broken(held(setting, interval, 0.01), 0.01)


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.clients == 10_000], ids=lambda s: s.kind.name)
def test_normal_intervals_are_close_to_theirs(setting: Setting):
    """Asymptotic: at 10,000 clients a tenth of alpha is allowed beyond it."""
    assert not broken(held(setting, "normal", 0.1), 0.11)
    assert not broken(held(setting, "normal", 0.01), 0.012)


@pytest.mark.parametrize(("reader", "factor"), [(FixedReader, 0.5), (ChebyshevReader, 0.4)])
def test_narrow_mutants_are_caught(monkeypatch: pytest.MonkeyPatch, reader: type[WidthReader], factor: float):
    wide = reader.sides

    def narrow(spread: Spread, answers: float, alpha: float) -> Width:
        return Width(*(factor * side for side in wide(spread, answers, alpha)))

    monkeypatch.setattr(reader, "sides", staticmethod(narrow))
    interval = next(kind.name for kind in INTERVALS.values() if kind.reader is reader)
    assert broken(held(SETTINGS[0], interval, 0.1), 0.1)


def test_a_mutant_that_forgets_the_coin_of_several_questions_is_caught():
    """Those who answered one of two questions, taken for all: they do not split as the shares say."""
    setting = next(s for s in SETTINGS if s.kind.questions == 2 and s.values == "all at 1")
    counts = setting.counts(RUNS, np.random.default_rng(SEED))[:, :-1]
    told = estimands_of(setting.question)
    score = (told.gaps or {})[0, 1].over
    answers = counts.sum(axis=1)
    width = FixedReader.sides(Spread(told.decoder, score, told.shares), float(np.mean(answers)), 0.1)
    assert broken(np.abs(counts @ score / answers) <= max(width), 0.1)


def test_a_mutant_that_takes_a_wrong_group_for_the_first_is_caught():
    setting = Setting(SMALL[0], "1", "as far apart as can be", 10_000)
    counts = setting.counts(RUNS, np.random.default_rng(SEED))
    swapped = replace(setting)
    object.__setattr__(swapped, "__dict__", {**setting.__dict__, "means": setting.means[::-1]})
    assert broken(Runs(swapped, counts, "fixed").gaps(0.1), 0.1)


@pytest.mark.parametrize("arrival", [DRAWN, FIXED])
def test_anytime_holds_at_every_look(arrival: str):
    found = watch("1", arrival, 2000, np.random.default_rng(SEED)).held
    for confidence in (0.9, 0.99):
        missed = round(2000 * (1 - found["anytime", confidence]))
        assert binom.sf(missed - 1, 2000, 1 - confidence) >= FALSE_POSITIVE_RATE
        # The twin: what promises one look is caught at many.
        missed = round(2000 * (1 - found["normal", confidence]))
        assert binom.sf(missed - 1, 2000, 1 - confidence) < FALSE_POSITIVE_RATE


@pytest.mark.parametrize("setting", SETTINGS[::2], ids=lambda s: s.kind.name)
@pytest.mark.parametrize("interval", INTERVALS)
def test_the_shortcut_agrees_with_the_estimate(setting: Setting, interval: str):
    """An interval holds the truth where the shortcut says so; where two means are joined, at least there."""
    counts = setting.counts(6, np.random.default_rng(SEED))
    shortcut = Runs(setting, counts, interval).gaps(0.5)
    truth = setting.means[0] - setting.means[1]
    joined = setting.estimands.gaps is None and not INTERVALS[interval].reader.one_score
    for row, says in zip(counts, shortcut, strict=True):
        read = INTERVALS[interval].reader(setting.estimands, row.astype(float))
        try:
            found = read.gap((0, 1), 0.5)
        except CannotEstimate:
            assert says
            continue
        holds = found.low <= truth <= found.high
        assert holds or not says if joined else holds == says
