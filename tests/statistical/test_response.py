"""However often each group answers, the truth is accepted: two cells of a table in docs/coverage.md, and its twins."""

from dataclasses import replace
from itertools import combinations

import pytest

from bench import response
from bench.response import CONDITIONS, PLENTY, RATIO, Cell, Found, broken, cells, divided, measure, possible

# Women answer twice as often as men; nothing is expected, and everyone averages 0.9.
TWICE = Cell("2", "0.5", "2", "0.9", "none", "two", 1, "any", False, 10**4)
NEARLY = replace(TWICE, response="1.1", answering=RATIO, gap="0.1", epsilon="4")
DRAWS = 40


@pytest.mark.parametrize("cell", [TWICE, NEARLY], ids=str)
def test_the_truth_is_held_as_often_as_promised(cell: Cell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(response, "COMMANDS", 1)
    found = measure(cell, DRAWS, commands=1)
    assert (found.draws, found.read, found.read_missed) == (DRAWS, 1, 0)
    assert broken({cell: found}) == []
    off, error = found.bias
    assert abs(off) < 5 * error


def test_a_twin_that_divides_by_the_stated_shares_is_caught():
    """It is off by far more than chance explains, and a ratio of 1 leaves nothing to be off by."""
    for cell in (TWICE, NEARLY):
        assert (divided(cell) or 0) > 100
    assert divided(replace(TWICE, response="1")) is None
    assert PLENTY >= 10**9


def test_misses_that_chance_does_not_explain_are_named():
    good, bad = Found(draws=2000, missed=220), Found(draws=2000, missed=260)
    assert broken({TWICE: good, NEARLY: bad}) == [NEARLY]
    assert broken({TWICE: good, NEARLY: Found(draws=2000, missed=100, ratios=200, ratio_missed=50)}) == [NEARLY]


def test_every_two_conditions_that_can_meet_do_in_sixty_cells():
    grid = cells()
    assert len(grid) == len(set(grid)) == response.CELLS
    for one, other in combinations(CONDITIONS, 2):
        met = {(getattr(cell, one), getattr(cell, other)) for cell in grid}
        can = {(a, b) for a in CONDITIONS[one] for b in CONDITIONS[other] if possible({one: a, other: b})}
        assert met == can
