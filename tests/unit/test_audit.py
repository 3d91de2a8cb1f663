"""The auditor: what it counts, what it refuses, and the study's own client path."""

import random
from dataclasses import replace
from math import log

import numpy as np
import pytest

from fairgauge.audit import Finding, _worst_rows, audit, audit_study, lower_bound
from fairgauge.channel import ROW_SUM, Channel
from fairgauge.errors import InvalidInput, NotPrivate
from fairgauge.study import Attribute, Metric
from tests.samples import THREE_LEVELS, full_study, sample_question, sample_study, two_questions


def test_bound_is_that_of_clopper_and_pearson():
    """All of the first input's outputs are 1, none of the second's: the interval of 50 out of 50 and of 0 out of 50."""
    finding = lower_bound(np.ones(100), np.zeros(100), confidence=0.9)
    low, high = 0.05 ** (1 / 50), 1 - 0.05 ** (1 / 50)
    assert finding.epsilon == pytest.approx(log(low / high))
    assert replace(finding, epsilon=0.0) == Finding(0.0, 0.9, 0, "1.0", (50, 0), 50)


def test_the_searched_half_is_not_measured():
    """An event that occurs in the first half only is found there, and shows nothing in the second."""
    first = np.concatenate([np.ones(500), np.zeros(500)])
    assert lower_bound(first, np.zeros(1000)).epsilon == 0


def test_equal_randomisers_show_nothing():
    rng = np.random.default_rng(3)
    assert lower_bound(rng.integers(0, 5, 20_000), rng.integers(0, 5, 20_000), confidence=1 - 1e-6).epsilon == 0


def test_the_second_input_may_be_the_likelier_one():
    finding = lower_bound(np.zeros(200), np.ones(200))
    assert (finding.likelier, finding.event) == (1, "0.0") or (finding.likelier, finding.event) == (0, "0.0")
    assert finding.epsilon > 2


def test_unseen_outputs_belong_to_no_event():
    first = np.concatenate([np.zeros(100), np.full(100, 7)]).astype(int)
    finding = lower_bound(first, np.ones(200, dtype=int))
    assert finding.hits[0] == 0 or finding.likelier == 1


def test_numbers_names_and_tuples_are_outputs():
    coin = random.Random(5)

    def speak(bit: int) -> tuple[str, float]:
        return ("yes" if coin.random() < 0.3 + 0.4 * bit else "no", coin.gauss(0.0, 1.0))

    finding = audit(speak, 0, 1, samples=20_000)
    assert 0.5 < finding.epsilon < log(0.7 / 0.3)
    assert ("no" if finding.likelier == 0 else "yes") in finding.event


def test_continuous_outputs_are_cut_into_bins():
    rng = np.random.default_rng(4)
    finding = lower_bound(rng.laplace(0, 1, 50_000), rng.laplace(1, 1, 50_000))
    assert 0.8 < finding.epsilon < 1
    assert "] or (" in finding.event


@pytest.mark.parametrize("confidence", [0, 1, -0.5, float("nan")])
def test_a_senseless_confidence_is_refused(confidence: float):
    with pytest.raises(InvalidInput, match="confidence"):
        lower_bound(np.zeros(10), np.zeros(10), confidence=confidence)


def test_too_few_samples_are_refused():
    with pytest.raises(InvalidInput, match="samples=1"):
        audit(lambda x: x, 0, 1, samples=1)


def test_outputs_of_different_shapes_are_refused():
    with pytest.raises(InvalidInput, match="outputs"):
        lower_bound(np.zeros((10, 2)), np.zeros(10))


def test_a_study_is_audited_with_the_inputs_that_its_tables_tell_apart():
    found = audit_study(sample_study(), samples=4000)
    assert [(q.metric, q.attribute, q.declared) for q in found] == [("recall", "sex", 1.1)]
    assert 0.8 < found[0].finding.epsilon <= found[0].exact
    assert not found[0].caught


def test_a_study_is_audited_before_it_opens():
    study = replace(sample_study(), opens="2999-01-01T00:00:00Z")
    (found,) = audit_study(study, samples=2000)
    assert 0.5 < found.finding.epsilon < 1.1


def test_every_question_is_audited_and_all_bounds_hold_together():
    calls: list[float] = []
    found = audit_study(two_questions(), samples=400, confidence=0.9, progress=calls.append)
    assert [q.metric for q in found] == ["recall", "error"]
    assert [q.finding.confidence for q in found] == [pytest.approx(0.95)] * 2
    assert len(calls) == 2 * 2 * 400
    assert sum(calls) == pytest.approx(1)


def test_abstaining_is_tried_where_it_differs_most():
    own, other = ROW_SUM // 2, ROW_SUM // 4
    table = ((other, other, own), (other, other, own), (own, other, other))
    channel = Channel(
        ((*table[0],), (*table[0],), (*table[1],), (*table[1],), (*table[2],)),
        sample_question().channel.levels,
        2,
        True,
    )
    question = replace(sample_question(), mechanism=channel, epsilon="0.7")
    found = audit_study(sample_study(question), samples=4000)
    assert 0.4 < found[0].finding.epsilon < 0.7


def test_who_abstains_from_one_question_is_tried_though_another_has_no_row_for_it():
    age = Attribute("age", ("young", "old"), ("0.5", "0.5"), answering="alike")
    both = sample_study(sample_question(abstain=True), sample_question(attribute=age))
    assert len(audit_study(both, samples=10)) == 2


def test_a_study_that_is_not_private_is_not_even_answered():
    with pytest.raises(NotPrivate):
        audit_study(sample_study(replace(sample_question(), epsilon="0.5")), samples=10)


def test_values_between_odd_bounds_are_answered():
    question = sample_question(Metric("error", "-0.5", "2.7"), levels=THREE_LEVELS)
    assert audit_study(sample_study(question), samples=10)[0].metric == "error"


def test_a_pair_that_differs_in_group_and_value_is_always_tried():
    """Group 0's two levels differ most; a client that leaks only the group must be caught all the same."""
    unit = ROW_SUM // 8
    table = ((4, 1, 3), (1, 4, 3), (2, 2, 4), (2, 2, 4))
    channel = Channel(tuple(tuple(w * unit for w in row) for row in table), sample_question().channel.levels, 2)
    pairs = _worst_rows(channel)
    assert len(pairs) == 2
    assert any({x, z} == {0, 1} for x, z in pairs)
    assert any(x // 2 != z // 2 and x % 2 != z % 2 for x, z in pairs)


def test_where_all_pairs_are_alike_one_that_differs_in_both_is_enough():
    ((x, z),) = _worst_rows(sample_question().channel)
    assert x // 2 != z // 2
    assert x % 2 != z % 2


def test_joint_tables_of_crossed_attributes_are_audited():
    study = replace(full_study(), closes="2001-01-01T00:00:00Z", opens=None)
    audits = audit_study(study, samples=400)
    assert [(found.metric, found.attribute) for found in audits] == [
        ("understood", "sex by age"),
        ("delay", "sex by age"),
        ("understood", "region"),
    ]
    assert all(found.finding.epsilon <= found.exact for found in audits)
