"""Plans in the crowd: the fewest draws that keep the crowd's epsilon, and the local epsilon that is best with them."""

from dataclasses import replace
from decimal import Decimal

import pytest

from fairgauge.crowd.crowd_epsilon import crowd_of_channels
from fairgauge.designs import make_channel
from fairgauge.errors import Impossible, InvalidInput
from fairgauge.estimation.interval_kinds import kind_of
from fairgauge.planning.crowd_plan import CrowdAim, _best_local, least_draws, plan_in_crowd
from fairgauge.planning.planned_widths import planned_width
from fairgauge.study import Attribute, Metric, Question
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.samples import sample_channel

SCORES = Scores(Target(kind="gap", shares=(0.5, 0.5)))
SIMPLE = "randomized-response"
AIM = CrowdAim(Decimal("0.5"), 10_000, Decimal("1e-8"))


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "1"])
def test_they_keep_the_aim_and_hardly_fewer_would(epsilon: str) -> None:
    aim, channel = replace(AIM, epsilon=Decimal(epsilon)), sample_channel(loss=20)
    crowd = least_draws([channel], aim)
    assert crowd == crowd_of_channels([channel], crowd.draws, delta=aim.delta)
    assert crowd.epsilon <= aim.epsilon
    fewer = crowd.draws - max(1, crowd.draws // 500)
    assert crowd_of_channels([channel], fewer, delta=aim.delta).epsilon > aim.epsilon


def test_where_the_symbol_itself_keeps_it_one_is_enough() -> None:
    assert least_draws([sample_channel()], replace(AIM, epsilon=Decimal(2))).draws == 1


def test_more_than_a_collector_draws_is_impossible() -> None:
    with pytest.raises(Impossible, match="takes more than 1,000,000 secret draws"):
        least_draws([sample_channel()], replace(AIM, epsilon=Decimal("0.001")))


def test_what_devices_allow_is_the_most() -> None:
    assert _best_local(SCORES, SIMPLE, AIM)[0] == 4
    assert _best_local(SCORES, SIMPLE, replace(AIM, local_limit=Decimal("1.5")))[0] == Decimal("1.5")


def test_the_epsilon_is_the_one_with_the_narrowest_interval() -> None:
    aim = replace(AIM, epsilon=Decimal("0.05"))
    local, crowd = _best_local(SCORES, SIMPLE, aim)

    def width(epsilon: str) -> float:
        channel = make_channel(SCORES, Decimal(epsilon), design=SIMPLE)[1]
        drawn = least_draws([channel], aim).draws / aim.clients
        return planned_width(SCORES, channel, aim.clients, kind_of("normal"), 0.05, drawn=drawn)

    channel = make_channel(SCORES, local, design=SIMPLE)[1]
    drawn = crowd.draws / aim.clients
    found = planned_width(SCORES, channel, aim.clients, kind_of("normal"), 0.05, drawn=drawn)
    assert found <= min(width(other) for other in ("4", "2.8", "2", "1.4", "1"))


@pytest.mark.parametrize("interval", ["population", "anytime", "normal"])
def test_draws_cost_what_they_scatter_by(interval: str) -> None:
    channel, kind = make_channel(SCORES, Decimal(1), design=SIMPLE)[1], kind_of(interval)
    alone, with_draws = (planned_width(SCORES, channel, 20_000, kind, 0.01, drawn=drawn) for drawn in (0.0, 0.3))
    # A draw is what someone sends who holds nothing: its score varies as an answer's does.
    assert 1.05 * alone < with_draws < 1.25 * alone


def test_numbers_out_of_range() -> None:
    tiny, usual = Decimal("0.0000001"), Decimal("1e-8")
    with pytest.raises(InvalidInput, match=r"crowd-epsilon=1E-7: must be .* or above"):
        CrowdAim(tiny, 100, usual)
    with pytest.raises(InvalidInput, match=r"local-limit=1E-7: must be .* or above"):
        CrowdAim(Decimal(1), 100, usual, local_limit=tiny)


def test_each_design_has_its_own_draws() -> None:
    sex = Attribute("sex", {"female": 0.5, "male": 0.5}, answering="alike")
    question = Question(Metric("recall", 0, 1), sex)
    asked = {"clients": AIM.clients, "interval": "normal"}
    (found,) = plan_in_crowd(question, AIM, asked, designs=[SIMPLE, "laplace"])
    assert [row.design for row in found.rows] == [SIMPLE, "laplace"]
    assert all(row.crowd_epsilon is not None and 0.49 < row.crowd_epsilon <= 0.5 for row in found.rows)
    assert found.rows[0].draws != found.rows[1].draws
    crowd = found.to_dict()["crowd"]
    assert crowd.pop("error_with_half") > (found.row(str(found.best)).error or 1)
    assert crowd == {"epsilon": 0.5, "batch": 10_000, "delta": 1e-8, "local_limit": 4.0}
