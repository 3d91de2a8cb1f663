"""Making a channel by the name of a design."""

from decimal import Decimal

import pytest

from fairgauge.designs import known_designs, make_channel
from fairgauge.errors import InvalidInput
from fairgauge.goals.goal import Goal

GOAL = Goal((0.5, 0.5))


@pytest.mark.parametrize("design", list(known_designs()))
def test_a_design_is_made_by_its_name(design: str):
    name, channel = make_channel(GOAL, Decimal("0.7"), design=design)
    assert name == design
    assert channel == known_designs()[design].make(GOAL, Decimal("0.7"))
    assert channel.within(Decimal("0.7"))


def test_auto_takes_the_least_variance():
    name, channel = make_channel(GOAL, Decimal(1))
    assert name == "centred"
    others = (GOAL.by(name).variance(make_channel(GOAL, Decimal(1), design=name)[1]) for name in known_designs())
    assert GOAL.by("centred").variance(channel) == min(others)


def test_auto_takes_the_simplest_of_equals():
    # Estimated shares of many groups: no better design is known at this epsilon.
    many = Goal((1 / 7,) * 7, shares_known=False)
    name, _ = make_channel(many, Decimal(3))
    assert name == "randomized-response"


@pytest.mark.parametrize(
    ("design", "epsilon", "field"),
    [
        ("best", "1", "design='best'"),
        ("", "1", "design="),
        ("auto", "0", "epsilon="),
        ("auto", "0.0009", "epsilon="),
        ("laplace", "12.1", "epsilon="),
        ("auto", "-1", "epsilon="),
    ],
)
def test_what_cannot_be_made_is_refused(design: str, epsilon: str, field: str):
    with pytest.raises(InvalidInput, match="must be") as refused:
        make_channel(GOAL, Decimal(epsilon), design=design)
    assert field.rstrip("'").split("=")[0] == refused.value.field


@pytest.mark.parametrize("epsilon", ["0.001", "12"])
def test_the_ends_of_the_range_can_be_made(epsilon: str):
    for design in known_designs() if epsilon == "0.001" else ("randomized-response", "laplace"):
        _, channel = make_channel(GOAL, Decimal(epsilon), design=design)
        assert channel.epsilon == pytest.approx(float(epsilon), rel=1e-3)


def test_the_same_channel_is_not_made_twice():
    assert make_channel(GOAL, Decimal("0.7"))[1] is make_channel(GOAL, Decimal("0.7"))[1]
