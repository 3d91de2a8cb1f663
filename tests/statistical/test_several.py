"""Cells, margins and questions at once: how often some comparison misses the truth, with clients drawn.

Covers bench.groups_coverage, of which `make coverage` measures more.
"""

from dataclasses import replace

import pytest

from bench.groups_coverage import SETTINGS, Found, Several, mean_misses, misses
from fairgauge.estimation.estimands import Estimands, estimands_of
from fairgauge.targets.comparisons import members

# Quick enough for every run: the tests of a value, not whole intervals.
QUICK = [setting for setting in SETTINGS if setting.known and setting.interval != "anytime"]


@pytest.mark.parametrize("setting", QUICK, ids=str)
def test_all_that_is_compared_holds_together(setting: Several):
    assert not misses(setting, 24 if setting.interval == "population" else 200).broken


def test_a_mutant_that_does_not_share_alpha_is_caught():
    assert misses(Several("cells", 100_000, "4", "normal"), 200, split=False).broken


def test_a_mutant_that_takes_one_question_for_the_other_is_caught(monkeypatch: pytest.MonkeyPatch):
    setting = Several("at once", 100_000, "4", "normal")
    monkeypatch.setattr("bench.groups_coverage.estimands_of", lambda one: estimands_of(replace(one, axis=1 - one.axis)))
    assert misses(setting, 20).broken


def test_the_mean_of_every_cell_and_margin_holds_by_itself(monkeypatch: pytest.MonkeyPatch):
    setting = Several("cells", 100_000, "4", "normal")
    found = mean_misses(setting, 200)
    assert {"female", "male", "18-29", "30-49", "50+", "female, 50+"} < set(found)
    assert [name for name, one in found.items() if one.broken] == []
    # Mutant: a margin that forgets all cells but its first.
    whole = Estimands.mean_of
    monkeypatch.setattr(Estimands, "mean_of", lambda self, side: whole(self, members(side)[0]))
    broken = {name for name, one in mean_misses(setting, 20).items() if one.broken}
    assert {"female", "male"} <= broken
    assert not any(", " in name for name in broken)


def test_chance_is_no_fault():
    assert not Found(SETTINGS[0], 100, 12).broken
    assert Found(SETTINGS[0], 100, 30).broken
