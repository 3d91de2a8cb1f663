"""What a plan says, to people and to programs."""

from decimal import Decimal

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.planning.plans import Plan, PlanRow, plan_for
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.surveys import VALUE

GAP = Scores(Target((0.5, 0.5)))
SIMPLE = ("randomized-response", "laplace")
ONE = Decimal(1)


def test_the_simpler_design_wins_a_draw():
    rows = tuple(PlanRow(name, 1.0, 10, error, 1.0, 2, 2) for name, error in (("a", 0.10004), ("b", 0.1), ("c", 0.2)))
    assert Plan("error", 0.99, "population", "gap", rows).best == "a"


def test_dict_has_exactly_the_promised_members():
    document = plan_for(GAP, VALUE, epsilon=ONE, clients=1000, designs=SIMPLE).to_dict()
    members = ["solved_for", "confidence", "interval", "target", "condition", "best", "designs", "answering", "crowd"]
    assert list(document) == members
    members = ["design", "epsilon", "clients", "people", "error", "error_without_privacy"]
    members += ["variance", "privacy_variance", "sampling_variance", "assumes", "symbols", "levels"]
    parts = ["pairs", "means"]
    assert [list(row) for row in document["designs"]] == [[*members, *parts]] * 2
    with_power = plan_for(GAP, VALUE, epsilon=ONE, clients=1000, designs=SIMPLE, detect=0.1).to_dict()
    assert list(with_power["designs"][0]) == [*members, "power", *parts]


def test_a_design_that_is_not_in_the_plan_is_told():
    found = Plan("error", 0.99, "population", "gap", (PlanRow("a", 1.0, 10, 0.1, 1.0, 2, 2),))
    with pytest.raises(InvalidInput, match="design=b: must be one of a"):
        found.row("b")


def test_a_plan_prints_as_a_table():
    rows = (PlanRow("a", 1.0, 200_000, 0.0123, 1.0, 2, 2), PlanRow("b", None, 200_000, 0.0123, None, None, None))
    first, a, b, last = str(Plan("epsilon", 0.99, "population", "gap", rows)).splitlines()
    assert first.split() == ["design", "epsilon", "clients", "error", "±"]
    assert a.split() == ["a", "1", "200,000", "0.0123"]
    assert b.split() == ["b", "impossible", "200,000", "0.0123"]
    assert last == "(gap, 0.99 confidence, population interval)"
