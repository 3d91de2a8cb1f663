"""How often what is said of the truth is wrong, with clients drawn from populations: a part of `make coverage`.

Misses of an interval that keeps its promise are at most binomial, so a number of them that a binomial reaches with
probability 1e-6 is a broken promise.  Two thousand draws of a cell are decided at the truth: of a promise of 90 % one
that is kept in 85.5 % is noticed in 95 of 100 versions, and cells have twins that must be.  In many more conditions a
few studies are read as people read them, which must come to the same; there mutants are caught that are far off: one
that takes every answer for a hundred, and for each thing that could be forgotten one that forgets it.
"""

from dataclasses import replace

import numpy as np
import pytest

from bench import decisions, held
from bench.conditions import CONDITIONS, Setting, settings
from bench.held import Held, measure
from bench.looks import watch
from fairgauge.estimation.interval_kinds import DEFAULT, KINDS
from fairgauge.estimation.interval_readers import NormalReader
from fairgauge.estimation.population_test import PopulationTest
from fairgauge.paper.fixed_intervals import Spread, fixed
from fairgauge.simulation import Truth, simulate
from fairgauge.study import Study
from fairgauge.targets.channel_inputs import Vector

SEED = 20261115
RUNS = 24
# Studies of a cell that are read in full.
FULL = 3
# Draws of a twin.
TWINS = 1000
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


@pytest.fixture
def read_in_full(monkeypatch: pytest.MonkeyPatch):
    """Let every study be read as people read it."""
    monkeypatch.setattr(held, "READ", 1)


@pytest.mark.parametrize("setting", CELLS, ids=str)
def test_what_people_read_holds_where_the_default_accepts_the_truth(setting: Setting, read_in_full: None):
    assert broken(setting, DEFAULT, runs=1 if setting in SLOW else FULL) == []


@pytest.mark.parametrize("setting", CELLS[::5], ids=str)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != DEFAULT])
def test_what_people_read_holds_where_every_kind_accepts_the_truth(setting: Setting, kind: str, read_in_full: None):
    assert broken(setting, kind, runs=FULL) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_mutant_that_takes_an_answer_for_a_hundred_is_caught(kind: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(held, "counts_of", lambda counts: 100 * np.array(counts, dtype=float))
    # What is read in full would not agree.
    monkeypatch.setattr(held, "READ", 10**9)
    assert broken(replace(CELLS[0], clients=10**5), kind)


DECIDED = {cell.name: cell for cell in decisions.grid()}
# Those that take seconds, of every quantity that has some.
QUICK = (
    "gap, population, epsilon 0.1, 1,000,000 people",
    "gap, normal, epsilon 1, 10,000 people",
    "gap, normal, epsilon 8, 10,000 people",
    "gap, anytime, epsilon 1, 10,000 people",
    "gap, split estimated, normal",
    "share of a group, normal",
    "mean of a group, split estimated, normal",
    "mean of all, normal",
    "ratio at four fifths, normal",
    "gap, share error, normal",
    "two metrics at once",
    "margin of crossed attributes, split known",
    "gap, secret draws, known split",
    "rate of population, usual, 20 sites of 500, epsilon 1",
)


@pytest.mark.parametrize("name", QUICK)
def test_what_is_said_is_wrong_no_more_often_than_promised(name: str):
    assert not DECIDED[name].is_broken(decisions.DRAWS)


@pytest.mark.parametrize(("name", "twin"), [(name, twin) for name in QUICK for twin in DECIDED[name].twins])
def test_a_twin_that_spends_alpha_twice_or_halves_the_variance_is_caught(name: str, twin: str):
    assert DECIDED[name].is_broken(TWINS, twin=twin)


def test_a_mutant_of_the_normal_law_that_halves_the_variance_is_caught(monkeypatch: pytest.MonkeyPatch):
    whole, cell = NormalReader._width, DECIDED["gap, normal, epsilon 1, 10,000 people"]
    monkeypatch.setattr(NormalReader, "_width", lambda self, seen, *about: whole(self, seen, *about) / np.sqrt(2))
    assert cell.is_broken(TWINS)


def test_a_mutant_of_the_default_that_halves_the_variance_is_caught(monkeypatch: pytest.MonkeyPatch):
    """In the bounds of the variance, on which everything else rests, and in the rough bound."""
    both, cell = PopulationTest._variance, DECIDED["gap, population, epsilon 0.1, 1,000,000 people"]
    monkeypatch.setattr(
        PopulationTest, "_variance", lambda self, *about: tuple(bound / 2 for bound in both(self, *about) or ())
    )
    assert cell.is_broken(TWINS)


def test_cells_are_told_apart_by_their_names_and_every_quick_one_is_there():
    names = [cell.name for cell in decisions.grid()]
    assert len(set(names)) == len(names) > 50
    assert set(QUICK) <= set(names)


@pytest.mark.parametrize("missed", [0, 148, 149, 1000])
@pytest.mark.parametrize("last", [False, True])
def test_a_promise_is_decided_as_if_all_draws_were_seen(missed: int, last: bool):
    """Whether the wrong draws come first or last: from 149 on, where 100 are promised, it is no chance."""
    wrong = [False] * (TWINS - missed) + [True] * missed if last else [True] * missed + [False] * (TWINS - missed)
    cell = decisions.Cell("a cell", lambda *_: iter(wrong))
    assert cell.is_broken(TWINS) is held.is_broken(missed, TWINS, cell.promise)


def test_all_cells_together_may_fail_by_chance_as_often_as_one_could():
    """Holm: the worst of some cells counts by their number; a twin that is not caught is said."""
    cell = decisions.Cell("a cell", lambda draws, _alpha, _times: iter([False] * draws))
    fine = decisions.Found(cell, 2000, 200, {}, "now")
    chance = decisions.Found(cell, 2000, 246, {}, "now")  # once in two thousand: nothing, among sixty
    assert 1e-3 / 60 < chance.p < 1e-3
    assert decisions.broken([chance]) == ["a cell: 246 of 2000 wrong, 10% promised"]
    assert decisions.broken([*[fine] * 59, chance]) == []
    assert decisions.broken([replace(fine, twins={"alpha": 220})]) == [
        "a cell: the twin with alpha wrong passes, 220 of 2000"
    ]


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
