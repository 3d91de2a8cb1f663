"""What a study's counts promise: several questions, abstaining, how many draws, and the numbers it takes."""

import math
from dataclasses import replace
from decimal import Decimal

import pytest

from fairgauge.channel import ROW_SUM, Channel
from fairgauge.crowd import Crowd, crowd_of, default_delta, promised
from fairgauge.crowd.promise import crowd_of_channels
from fairgauge.errors import InvalidInput
from fairgauge.study import Metric, Release, Study
from tests.samples import (
    ENDS,
    joint_questions,
    sample_channel,
    sample_question,
    sample_study,
    site_study,
    two_questions,
)


def test_it_is_far_below_the_local_epsilon() -> None:
    crowd = crowd_of(sample_study(), 10_000)
    assert (crowd.draws, crowd.delta) == (10_000, Decimal("1e-8"))
    assert 0 < crowd.number < 0.1 < sample_study().epsilon


def test_a_study_promises_what_its_draws_give_whatever_its_batch() -> None:
    small, large = (replace(sample_study(), release=Release(batch, "0.000001", 500)) for batch in (10, 10**6))
    assert promised(small) == promised(large) == crowd_of(sample_study(), 500, delta=Decimal("1e-6"))
    assert promised(sample_study()) is None


def test_the_same_question_twice_is_that_question() -> None:
    channel = sample_channel()
    one, two = (crowd_of_channels([channel] * count, 10_000) for count in (1, 2))
    assert one.epsilon == two.epsilon


def test_each_question_has_its_own_worst_pair() -> None:
    both = crowd_of(two_questions(), 10_000)
    alone = [crowd_of(sample_study(question), 10_000) for question in two_questions().questions]
    assert min(each.epsilon for each in alone) < both.epsilon < max(each.epsilon for each in alone)


def test_abstaining_is_one_more_row() -> None:
    quarter = ROW_SUM // 4
    rows = ((2 * quarter, 2 * quarter), (2 * quarter + 9, 2 * quarter - 9))
    asked = Channel(rows, ENDS, groups=1)
    silent = Channel((*rows, (quarter, 3 * quarter)), ENDS, groups=1, abstain=True)
    assert crowd_of_channels([asked], 10_000).number < 1e-12
    assert crowd_of_channels([silent], 10_000).number > 0.01


def test_a_study_that_says_nothing_costs_nothing() -> None:
    flat = replace(sample_channel(), table=(sample_channel().table[0],) * 4)
    assert crowd_of_channels([flat], 100).epsilon == 0


def test_with_one_draw_it_is_the_local_epsilon() -> None:
    crowd = crowd_of(sample_study(sample_question()), 1)
    assert crowd.epsilon == sample_study().questions[0].mechanism.epsilon_bound
    assert crowd.number == sample_study().epsilon


def test_a_float_is_not_below() -> None:
    for number in range(1, 400):
        crowd = Crowd(1, Decimal("1e-8"), Decimal(number).ln())
        assert Decimal(crowd.number) >= crowd.epsilon
        assert crowd.number - math.log(number) < 1e-14


@pytest.mark.parametrize(("batch", "delta"), [(1, "1e-8"), (10**7, "1e-8"), (10**8, "1e-9"), (3 * 10**8, "3.3333e-10")])
def test_the_usual_delta(batch: int, delta: str) -> None:
    assert default_delta(batch) == Decimal(delta)


@pytest.mark.parametrize(
    ("draws", "delta", "said"),
    [
        (0, "1e-8", "draws=0: must be an integer from 1 to"),
        (True, "1e-8", "draws=True: must be"),
        (10**12 + 1, "1e-8", "draws=1000000000001: must be"),
        (10, "0", "delta=0: must be above 0 and below 1"),
        (10, "1", "delta=1: must be"),
        (10, "NaN", "delta=NaN: must be"),
    ],
)
def test_numbers_out_of_range(draws: int, delta: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        crowd_of(sample_study(), draws, delta=Decimal(delta))


def test_a_table_that_answers_several_questions_is_one_table() -> None:
    joint, alone = joint_questions(), sample_question(Metric("f1", 0, 1))
    found = crowd_of(Study("Mixed", [*joint, alone]), 10_000)
    assert found == crowd_of_channels([joint[0].channel, alone.channel], 10_000)
    assert found != crowd_of_channels([joint[0].channel, joint[0].channel, alone.channel], 10_000)


def test_sites_have_no_crowd() -> None:
    with pytest.raises(InvalidInput, match="must be for devices of one person each"):
        crowd_of(site_study(), 10_000)
