"""Any two of clients, epsilon and error give the third."""

from decimal import Decimal
from typing import Any

import pytest

from fairgauge.designs import make_channel
from fairgauge.errors import InvalidInput
from fairgauge.estimation.interval_kinds import KINDS
from fairgauge.estimation.interval_readers import READERS
from fairgauge.planning.api import design, plan
from fairgauge.planning.planned_widths import planned_width
from fairgauge.planning.plans import PlanRow, plan_for
from fairgauge.study import Attribute, Metric
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.surveys import VALUE

GAP = Scores(Target((0.5, 0.5)))
MEANS = Scores(Target((0.5, 0.5), kind="means"))
SIMPLE = ("randomized-response", "laplace")
ONE = Decimal(1)


def test_the_error_of_a_design_is_the_width_of_its_interval():
    found = plan_for(GAP, VALUE, epsilon=ONE, clients=10**6, interval="normal", designs=SIMPLE)
    assert (found.solved_for, found.confidence, found.interval, found.target) == ("error", 0.99, "normal", "gap")
    row = found.row("randomized-response")
    channel = make_channel(GAP, ONE, design="randomized-response")[1]
    assert row.error == pytest.approx(planned_width(GAP, channel, 10**6, KINDS["normal"], 0.01))
    assert row.privacy_variance == pytest.approx(44.30, abs=0.01)
    # With two levels the second moment of a score is the same whatever the value: the variance at v = 0.
    assert row.variance == pytest.approx(44.30, abs=0.01)
    assert row.sampling_variance == pytest.approx(4 * 0.3**2)
    assert row.assumes is not None
    assert row.assumes.startswith("the worst level from -0.8 to 0.8, the same in every group")
    assert (row.epsilon, row.clients, row.symbols, row.levels, row.power) == (1.0, 10**6, 4, 2, None)
    assert found.best == "randomized-response"


def test_randomising_alone_adds_least_with_uncentred_which_is_near_its_limit():
    found = plan_for(GAP, VALUE, epsilon=ONE, clients=10**6, interval="normal")
    assert [row.design for row in found.rows] == ["randomized-response", "laplace", "uncentred", "centred", "estimated"]
    added = {row.design: row.privacy_variance for row in found.rows if row.privacy_variance is not None}
    assert min(added, key=added.__getitem__) == "uncentred"
    assert added["uncentred"] == pytest.approx(16.0, rel=0.02)


def test_of_designs_that_do_equally_well_the_best_is_what_a_study_would_have():
    """The errors of both are the same, and their means are not."""
    sex = Attribute("sex", {"female": 0.231, "male": 0.769}, answering="alike")
    (found,) = plan(VALUE, sex, epsilon=0.5, clients=10**5)
    assert found.as_good == ["uncentred", "centred"]
    assert found.best == design(VALUE, sex, epsilon=0.5, clients=10**5)[0].design == "centred"
    # The gap is as good with either, and the means are not.
    assert [row.means[0].error for row in found.rows[2:4]] == pytest.approx([0.1708, 0.2015], rel=0.05)


@pytest.mark.parametrize("interval", KINDS)
def test_clients_are_the_least_that_reach_the_error(interval: str):
    found = plan_for(MEANS, VALUE, epsilon=ONE, error=0.05, interval=interval, designs=["randomized-response"])
    assert found.solved_for == "clients"
    clients = found.rows[0].clients
    assert clients is not None
    channel = make_channel(MEANS, ONE, design="randomized-response")[1]
    enough = planned_width(MEANS, channel, clients, KINDS[interval], 0.01)
    fewer = (1 - 10 * READERS[interval].planned_to) * clients - 1
    too_few = planned_width(MEANS, channel, fewer, KINDS[interval], 0.01)
    assert enough <= 0.05 < too_few
    assert found.rows[0].error == 0.05


def test_epsilon_is_the_least_that_reaches_the_error():
    found = plan_for(GAP, VALUE, clients=10**6, error=0.02, interval="normal", designs=["randomized-response"])
    assert found.solved_for == "epsilon"
    epsilon = found.rows[0].epsilon
    assert epsilon is not None

    def error(e: float) -> float:
        channel = make_channel(GAP, Decimal(str(e)), design="randomized-response")[1]
        return planned_width(GAP, channel, 10**6, KINDS["normal"], 0.01)

    assert error(epsilon) <= 0.02 < error(round(0.98 * epsilon, 4))
    assert epsilon == round(epsilon, 3)


def test_the_three_ways_agree():
    asked = plan_for(GAP, VALUE, epsilon=ONE, clients=50_000, designs=["randomized-response"]).rows[0]
    clients = plan_for(GAP, VALUE, epsilon=ONE, error=asked.error, designs=["randomized-response"]).rows[0].clients
    assert clients == pytest.approx(50_000, rel=1e-4)
    epsilon = plan_for(GAP, VALUE, clients=50_000, error=asked.error, designs=["randomized-response"]).rows[0].epsilon
    assert epsilon == pytest.approx(1.0, rel=0.01)


def test_an_error_that_every_epsilon_reaches_needs_the_least():
    found = plan_for(GAP, VALUE, clients=10**9, error=1.0, designs=["randomized-response"])
    assert found.rows[0].epsilon == 0.01


def test_what_is_impossible_is_none():
    found = plan_for(GAP, VALUE, clients=100, error=0.001, designs=["randomized-response"])
    assert found.best is None
    assert found.rows == (PlanRow("randomized-response", None, 100, 0.001, None, None, None),)
    found = plan_for(GAP, VALUE, epsilon=Decimal("0.001"), error=1e-9, designs=["randomized-response"])
    assert found.best is None
    assert found.rows[0].clients is None
    assert found.rows[0].variance is not None


def test_error_is_in_the_units_of_the_metric():
    small = plan_for(GAP, Metric("recall", 0, 1), epsilon=ONE, clients=1000, designs=SIMPLE).rows[0]
    large = plan_for(GAP, Metric("error", -5, 5), epsilon=ONE, clients=1000, designs=SIMPLE).rows[0]
    assert large.error == pytest.approx(10 * (small.error or 0))
    assert large.variance == small.variance


def test_power_is_about_the_gap_also_where_means_are_wanted():
    for scores in (GAP, MEANS, Scores(Target((0.5, 0.5), shares_known=False, kind="means"))):
        channel = make_channel(scores, ONE, design="randomized-response")[1]
        gap = Scores(Target(scores.target.shares, shares_known=scores.target.shares_known))
        width = planned_width(gap, channel, 10**5, KINDS["population"], 0.01)
        row = plan_for(scores, VALUE, epsilon=ONE, clients=10**5, detect=width, designs=["randomized-response"]).rows[0]
        assert row.power == pytest.approx(0.5, abs=0.01)


def test_progress_names_every_design():
    told: list[str] = []
    plan_for(GAP, VALUE, epsilon=ONE, clients=1000, designs=SIMPLE, progress=told.append)
    assert told == list(SIMPLE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": ONE}, "given=epsilon: give exactly two of epsilon, clients and error"),
        ({}, "given=none: give exactly two"),
        ({"epsilon": ONE, "clients": 10, "error": 0.1}, "given=epsilon, clients, error: give exactly two"),
        ({"epsilon": ONE, "clients": 0}, "clients=0: must be from 1 to 10"),
        ({"epsilon": ONE, "clients": 10**16}, "clients=1"),
        ({"epsilon": ONE, "error": 0.0}, "error=0.0: must be above 0"),
        ({"epsilon": ONE, "error": float("nan")}, "error=nan: must be above 0"),
        ({"epsilon": ONE, "clients": 10, "confidence": 1.5}, "confidence=1.5: must be from 0.5"),
        ({"epsilon": ONE, "clients": 10, "interval": "wald"}, "interval=wald: must be one of"),
        ({"epsilon": ONE, "clients": 10, "detect": float("nan")}, "detect=nan: must be 0 or above"),
        ({"epsilon": ONE, "clients": 10, "detect": -1.0}, "detect=-1.0: must be 0 or above"),
        ({"epsilon": Decimal(13), "clients": 10}, "epsilon=13: must be from 0.001 to 12"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str):
    with pytest.raises(InvalidInput, match=f"^{message}"):
        plan_for(GAP, VALUE, designs=SIMPLE, **arguments)
