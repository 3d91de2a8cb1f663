"""Clients of a study: kinds with their inputs, everyone or drawn."""

from decimal import Decimal
from fractions import Fraction

import pytest

from fairgauge.channel import LEVEL_UNIT
from fairgauge.errors import InvalidInput
from fairgauge.simulation import Cell, Population
from fairgauge.simulation.clients import Clients
from tests.samples import sample_study, two_questions

PEOPLE = Population(
    (
        Cell("female", Decimal(0), 700, "recall"),
        Cell("male", Decimal(1), 300, "recall"),
        Cell("old", Decimal(0), 600, "error"),
        Cell(None, None, 400, "error"),
    )
)


def test_histograms_of_several_metrics_are_paired_in_order():
    kinds = Clients.of(two_questions(), PEOPLE).kinds
    assert [count for _, count in kinds] == [600, 100, 300]
    assert [inputs[0][0] for inputs, _ in kinds] == [0, 0, 1]
    assert [inputs[1][0] is None for inputs, _ in kinds] == [False, True, True]


def test_cells_that_nobody_is_in_make_no_kind():
    people = Population((Cell("female", Decimal("0.5"), 0), Cell("male", Decimal(1), 5)))
    assert Clients.of(sample_study(), people).kinds == ((((1, Fraction(LEVEL_UNIT)),), 5),)


def test_drawn_clients_are_as_many_as_asked_for_and_of_the_same_kinds():
    everyone = Clients.of(two_questions(), PEOPLE)
    drawn = everyone.drawn(10**6, seed=1)
    assert (everyone.total, drawn.total) == (1000, 10**6)
    assert [inputs for inputs, _ in drawn.kinds] == [inputs for inputs, _ in everyone.kinds]
    assert drawn != everyone.drawn(10**6, seed=2)


def test_nobody_cannot_be_drawn():
    with pytest.raises(InvalidInput, match="clients=0: must be an integer from 1"):
        Clients.of(two_questions(), PEOPLE).drawn(0)
