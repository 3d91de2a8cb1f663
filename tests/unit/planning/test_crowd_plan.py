"""The largest local epsilon that keeps the crowd's: it keeps it, hardly more would, and limits hold."""

from dataclasses import replace
from decimal import Decimal

import pytest

from fairgauge.crowd.promise import crowd_of_channels
from fairgauge.designs import make_channel
from fairgauge.errors import InvalidInput
from fairgauge.planning.crowd_plan import CrowdAim, largest_local, plan_in_crowd
from fairgauge.study import Attribute, Metric, Question
from fairgauge.targets.target import Goal

GOAL = Goal(target="gap", shares=(0.5, 0.5))
SIMPLE = "randomized-response"
AIM = CrowdAim(Decimal("0.5"), 10_000, observed=Decimal(0), local_limit=Decimal(8))


def crowd_at(local: Decimal, aim: CrowdAim) -> Decimal:
    _, channel = make_channel(GOAL, local, design=SIMPLE)
    return crowd_of_channels([channel], aim.clients, observed=aim.observed, delta=aim.delta).epsilon


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "2"])
@pytest.mark.parametrize("clients", [100, 10_000, 10**7])
def test_it_keeps_the_aim_and_hardly_more_would(epsilon: str, clients: int) -> None:
    aim = replace(AIM, epsilon=Decimal(epsilon), clients=clients)
    local, crowd = largest_local(GOAL, SIMPLE, aim)
    assert crowd.epsilon == crowd_at(local, aim) <= aim.epsilon <= local
    assert local == aim.local_limit or crowd_at(local * Decimal("1.01"), aim) > aim.epsilon


def test_what_devices_allow_is_the_most() -> None:
    aim = CrowdAim(Decimal("0.5"), 10**7)
    assert largest_local(GOAL, SIMPLE, aim)[0] == 4
    assert largest_local(GOAL, SIMPLE, replace(aim, local_limit=Decimal("1.5")))[0] == Decimal("1.5")


def test_a_crowd_of_one_is_none() -> None:
    local, crowd = largest_local(GOAL, SIMPLE, replace(AIM, clients=1))
    assert Decimal("0.49") < crowd.epsilon <= local == Decimal("0.5")


def test_known_answers_cost() -> None:
    least, most = (largest_local(GOAL, SIMPLE, replace(AIM, observed=Decimal(part)))[0] for part in ("0.5", "0"))
    assert least < most


def test_numbers_out_of_range() -> None:
    tiny = Decimal("0.0000001")
    with pytest.raises(InvalidInput, match=r"crowd-epsilon=1E-7: must be .* or above"):
        CrowdAim(tiny, 100)
    with pytest.raises(InvalidInput, match=r"local-limit=1E-7: must be .* or above"):
        CrowdAim(Decimal(1), 100, local_limit=tiny)


def test_each_design_has_its_own_epsilon() -> None:
    sex = Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")
    question = Question(Metric("recall", 0, 1), sex)
    (found,) = plan_in_crowd(question, AIM, {"clients": AIM.clients}, designs=[SIMPLE, "laplace"])
    assert [row.design for row in found.rows] == [SIMPLE, "laplace"]
    assert found.rows[0].epsilon != found.rows[1].epsilon
    assert all(row.crowd_epsilon is not None and 0.49 < row.crowd_epsilon <= 0.5 for row in found.rows)
    assert found.to_dict()["crowd"] == {
        "epsilon": 0.5,
        "batch": 10_000,
        "observed": 0.0,
        "delta": 1e-8,
        "local_limit": 8.0,
    }
