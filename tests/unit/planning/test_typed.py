"""What people type: read exactly, or refused with what to type instead."""

import re
from decimal import Decimal

import pytest

from fairgauge.errors import InvalidInput
from fairgauge.planning.typed import (
    MOST_CLIENTS,
    as_count,
    as_epsilon,
    as_number,
    read_by_metric,
    read_decimal,
    read_groups,
    read_metric,
)
from fairgauge.study import Metric


def test_stated_shares_steer_the_design_and_divide_nothing():
    found = read_groups(["female=0.30", "male=.7"], "sex")
    assert (found.name, found.groups, found.shares) == ("sex", ("female", "male"), ("0.3", "0.7"))
    assert found.reckoned_shares == pytest.approx((0.3, 0.7))
    assert (found.answering, found.known_shares) == ("any", None)


def test_where_all_answer_alike_the_shares_are_known():
    assert read_groups(["female=0.3", "male=0.7"], "sex", "alike").known_shares == (0.3, 0.7)


def test_what_divides_nothing_may_be_rounded():
    assert read_groups(["female=0.3", "male=0.7005"], "sex").shares == ("0.3", "0.7")
    assert read_groups(["a=0.333", "b=0.333", "c=0.333"], "age").shares == ("0.333", "0.333", "0.334")
    with pytest.raises(InvalidInput, match="must sum to exactly 1"):
        read_groups(["female=0.3", "male=0.7005"], "sex", "alike")


def test_without_shares_the_guess_is_that_all_are_alike():
    found = read_groups(["a", "b", "c"], "age")
    assert found.reckoned_shares == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert found.shares is None  # which needs no new format


@pytest.mark.parametrize(
    ("typed", "rule"),
    [
        (["female~0.5", "male~0.5"], "group=female~0.5: must have its share behind ="),
        (["female=0.5", "male"], "give every group a share"),
        (["female"], "give at least two"),
        ([], "give at least two"),
        (["female=0.3", "male=0.6"], "shares=0.3, 0.6: must sum to exactly 1"),
        (["female=0", "male=1"], "group female=0: must have a share above 0 and below 1"),
        (["female=1", "male=0.5"], "group female=1: must have a share above 0 and below 1"),
        (["female=half", "male=0.5"], "group female=half: must be a number"),
    ],
)
def test_groups_that_cannot_be_read_are_refused_with_a_hint(typed: list[str], rule: str):
    with pytest.raises(InvalidInput) as refused:
        read_groups(typed, "sex")
    assert rule in str(refused.value)


def test_a_metric_has_a_name_and_a_range_and_its_name_may_have_colons():
    assert [str(part) for part in (read_metric("recall").low, read_metric("recall").high)] == ["0", "1"]
    found = read_metric("asr:wer:0:2.50")
    assert (found.name, str(found.low), str(found.high)) == ("asr:wer", "0", "2.5")
    with pytest.raises(InvalidInput, match="metric=recall:1: must be name:low:high"):
        read_metric("recall:1")


@pytest.mark.parametrize("typed", ["", "one", "nan", "inf", "1e999999999"])
def test_what_is_no_number_is_refused(typed: str):
    with pytest.raises(InvalidInput):
        read_decimal("error", typed)
    assert read_decimal("error", "0e99") == 0


def test_numbers_are_taken_exactly_as_typed():
    assert (as_epsilon("0.10"), as_epsilon(0.1)) == (Decimal("0.1"), Decimal("0.1"))
    assert as_number("error", "0.01") == 0.01
    with pytest.raises(InvalidInput, match="epsilon=0: must be above 0"):
        as_epsilon(0)


@pytest.mark.parametrize("given", ["0", "1.5", -1, MOST_CLIENTS + 1, "many"])
def test_clients_are_a_whole_number_that_a_planet_can_hold(given: str | int):
    with pytest.raises(InvalidInput):
        as_count("clients", given)
    assert (as_count("clients", "1e15"), as_count("clients", 1)) == (MOST_CLIENTS, 1)


def test_what_is_expected_may_differ_from_metric_to_metric():
    metrics = [Metric("recall", 0, 1), Metric("fpr", 0, 1)]
    assert read_by_metric("expect", metrics, ["fpr=0.10", "0.9"]) == {"recall": "0.9", "fpr": "0.1"}
    assert read_by_metric("spread", metrics, ["recall=max"]) == {"recall": "max"}
    assert read_by_metric("expect", metrics, []) == {}
    for typed, problem in (
        (["speed=3"], "expect=speed=3: must be a number, or one of recall, fpr and its own, such as recall=0.9"),
        (["0.9", "0.8"], "expect=0.8: must be given once for all metrics"),
        (["fpr=0.9", "fpr=0.8"], "expect=fpr=0.8: must be given once for fpr"),
    ):
        with pytest.raises(InvalidInput, match=re.escape(problem)):
            read_by_metric("expect", metrics, typed)
