"""How far a search is: whoever waits is told, each search by its number, and never that it goes back."""

import math
from decimal import Decimal

from fairgauge.designs import make_channel
from fairgauge.designs.watching import Search, watched
from fairgauge.goals.goal import Goal


def test_each_search_goes_from_nothing_to_everything_and_never_back():
    told: list[tuple[int, float]] = []
    with watched(lambda number, part: told.append((number, part))):
        for gaps in ((math.inf, 1.0, 3.0, 0.1, 0.001), (0.5, 0.01)):
            search = Search(0.01)
            for gap in gaps:
                search.within(gap)
    first, second = ([part for number, part in told if number == which] for which in (1, 2))
    assert first == sorted(first)
    assert (first[0], first[-1]) == (0.0, 1.0)
    assert second == [0.0, 1.0]


def test_nobody_is_told_where_nobody_watches():
    told: list[float] = []
    with watched(lambda _, part: told.append(part)):
        pass
    Search(0.01).within(0.5)
    assert told == []


def test_a_design_tells_of_its_search():
    told: list[tuple[int, float]] = []
    with watched(lambda number, part: told.append((number, part))):
        make_channel(Goal((0.31, 0.69), expect=0.5, spread=None), Decimal("1.25"), design="centred")
    assert {number for number, _ in told} == {1}
    assert told[-1][1] == 1.0
