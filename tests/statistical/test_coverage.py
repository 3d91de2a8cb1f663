"""How often intervals miss the truth, with clients drawn from populations: a dozen cells of `make coverage`.

Misses of an interval that keeps its promise are at most binomial, so a number of them that a binomial reaches with
probability 1e-6 is a broken promise.  Two dozen studies a cell, in many conditions, notice what is far off; a thousand
of one cell notice an interval that spends its alpha twice.  Each kind of interval has mutants that must be caught: one
that takes every answer for a hundred, and for each thing that could be forgotten one that forgets it.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from bench import held
from bench.conditions import CONDITIONS, Setting, settings
from bench.held import Held, measure
from bench.looks import watch
from fairgauge.estimation.kinds import DEFAULT, KINDS
from fairgauge.estimation.population_ratio import PopulationTest
from fairgauge.estimation.readers import NormalReader
from fairgauge.paper.fixed import fixed
from fairgauge.paper.spread import Spread
from fairgauge.simulation import Truth, simulate
from fairgauge.study import Study
from fairgauge.tallies import Tally
from fairgauge.targets.inputs import Vector

SEED = 20261115
RUNS = 24
WRONG_SHARES = Setting("everyone at 0.9", 10**5, "4", shares="known with error")
CELLS = (
    Setting("everyone at 0.9", 10**4, "4"),
    Setting("everyone at 1", 10**6, "4"),
    Setting("half at 0, half at 1", 10, "1"),
    Setting("skewed", 100, "8"),
    Setting("two points and a gap", 10**4, "1", split="a rare group"),
    Setting("skewed", 10**3, "0.05", groups=3),
    Setting("everyone at 1", 10**4, "2", shares="estimated"),
    Setting("two points and a gap", 10**3, "4", shares="estimated", abstaining="one in five"),
    WRONG_SHARES,
    Setting("half at 0, half at 1", 10**4, "2", shares="known with error", split="a rare group"),
    Setting("everyone at 0.9", 10**4, "2", abstaining="one in five", questions=2),
    Setting("two points and a gap", 10**4, "8", groups=5, split="a rare group", questions=2),
)
SLOW = (CELLS[7], CELLS[9], CELLS[11])


def broken(setting: Setting, kind: str, *, runs: int = RUNS) -> list[Held]:
    return [found for found in measure(setting, runs, seed=SEED, kinds=[kind]) if found.broken]


@pytest.mark.parametrize("setting", CELLS, ids=str)
def test_the_default_holds_the_truth_as_often_as_promised(setting: Setting):
    assert broken(setting, DEFAULT, runs=RUNS // 2 if setting in SLOW else RUNS) == []


@pytest.mark.parametrize("setting", CELLS[::5], ids=str)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != DEFAULT])
def test_every_kind_holds_the_truth_as_often_as_promised(setting: Setting, kind: str):
    assert broken(setting, kind) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_mutant_that_takes_an_answer_for_a_hundred_is_caught(kind: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(held, "counts_of", lambda counts: 100 * np.array(counts, dtype=float))
    # What is read in full would not agree.
    monkeypatch.setattr(held, "READ", 10**9)
    assert broken(replace(CELLS[0], clients=10**5), kind)


# Where an interval is nearly as narrow as can be, so that hardly anything is given away: an error shows.
SHARP = Setting("two points and a gap", 10**4, "2")
DRAWN = 1000
# What is within 1.08 standard deviations by the normal law is inside of every interval, at 90 % and at 80 %.
INSIDE = 0.28


@cache
def sharp() -> list[Tally]:
    rng = np.random.default_rng(SEED)
    return [simulate(SHARP.study, SHARP.population, clients=SHARP.clients, seed=rng) for _ in range(DRAWN)]


def rejected(kind: str, *, alpha: float = 1 - held.CONFIDENCE) -> int:
    """Return in how many studies the right gap is rejected; what is far inside by the normal law is not asked."""
    first, second = SHARP.truth.means.values()
    gap, readers = 2 * (first - second), [held._reader(SHARP, tally, "normal") for tally in sharp()]
    near = [not reader.believes_gap((0, 1), gap, INSIDE) for reader in readers]
    asked = [held._reader(SHARP, tally, kind) for tally, is_near in zip(sharp(), near, strict=True) if is_near]
    return sum(not reader.believes_gap((0, 1), gap, alpha) for reader in asked)


def promised(kind: str) -> float:
    return (1 - held.CONFIDENCE) * (held.SLACK if kind == "normal" else 1)


@pytest.mark.parametrize("kind", [DEFAULT, "normal"])
def test_of_a_thousand_studies_no_more_than_promised_reject_the_truth(kind: str):
    """Broken from 149 on (for the normal law from 184 on): one that misses 18 % (21 %) is caught in 98 of 100 runs."""
    assert not held.is_broken(rejected(kind), DRAWN, promised(kind))


@pytest.mark.parametrize("kind", [DEFAULT, "normal"])
def test_a_mutant_that_spends_alpha_twice_is_caught(kind: str):
    assert held.is_broken(rejected(kind, alpha=2 * (1 - held.CONFIDENCE)), DRAWN, promised(kind))


def test_a_mutant_of_the_normal_law_that_halves_the_variance_is_caught(monkeypatch: pytest.MonkeyPatch):
    sharp()
    whole = NormalReader._width
    monkeypatch.setattr(NormalReader, "_width", lambda self, seen, *about: whole(self, seen, *about) / np.sqrt(2))
    assert held.is_broken(rejected("normal"), DRAWN, promised("normal"))


def test_a_mutant_of_the_default_that_halves_the_variance_is_caught(monkeypatch: pytest.MonkeyPatch):
    """In the bounds of the variance, on which everything else rests, and in the rough bound."""
    both = PopulationTest._variance
    monkeypatch.setattr(
        PopulationTest, "_variance", lambda self, *about: tuple(bound / 2 for bound in both(self, *about) or ())
    )
    assert held.is_broken(rejected(DEFAULT), DRAWN, promised(DEFAULT))


def forgets_who_came(reader: NormalReader, score: Vector, alpha: float) -> float:
    """Return the width of the paper's interval, which is about exactly the clients who answered."""
    return max(fixed(Spread(reader.estimands.decoder, score, reader.estimands.shares), reader.answers, alpha))


def test_a_mutant_that_forgets_that_clients_are_drawn_is_caught(monkeypatch: pytest.MonkeyPatch):
    """At epsilon 4, with everyone at 1, most of what is random is who comes."""
    monkeypatch.setattr(NormalReader, "width", forgets_who_came)
    assert broken(Setting("everyone at 1", 10**6, "4"), "normal")


def test_a_mutant_that_forgets_that_shares_may_be_wrong_is_caught():
    class Forgetful(Setting):
        @property
        def study(self) -> Study:
            return Setting(self.values, self.clients, self.epsilon).study

    forgetful = Forgetful(WRONG_SHARES.values, WRONG_SHARES.clients, WRONG_SHARES.epsilon, shares=WRONG_SHARES.shares)
    assert broken(forgetful, "population")


def test_a_mutant_that_takes_a_wrong_group_for_the_first_is_caught():
    class Swapped(Setting):
        @property
        def truth(self) -> Truth:
            right = super().truth
            return replace(right, means=dict(zip(right.means, reversed(right.means.values()), strict=True)))

    assert broken(Swapped("two points and a gap", 10**5, "4"), "population")


def test_every_interval_at_every_look():
    """Only `anytime` promises that; what promises one look is the twin that must be caught."""
    assert not watch("4", "anytime", 30, seed=SEED).broken
    found = watch("4", "normal", 30, seed=SEED)
    assert held.is_broken(found.missed, found.runs, 1 - held.CONFIDENCE)


def test_every_two_conditions_meet_in_some_cell():
    grid = settings()
    for one, others in CONDITIONS.items():
        for other, values in CONDITIONS.items():
            if one < other:
                met = {(getattr(cell, one), getattr(cell, other)) for cell in grid}
                assert met == {(a, b) for a in others for b in values}


def test_what_accepts_the_truth_and_does_not_hold_it_is_an_error(monkeypatch: pytest.MonkeyPatch):
    setting = CELLS[5]
    tally = simulate(setting.study, setting.population, clients=setting.clients, seed=SEED)
    accepts = dict(held.accepted(setting, tally, "normal"))
    monkeypatch.setattr(held, "_within", lambda *_: False)
    with pytest.raises(AssertionError, match="accepts"):
        list(held.read(setting, tally, "normal", dict.fromkeys(accepts, True)))
