"""The auditor: what it counts, what it refuses, and the study's own client path.

The auditor of sites passes honest noise and catches bugs that were planted.
"""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import log

import numpy as np
import pytest

from fairgauge.audit import (
    Finding,
    SiteTable,
    _best_event,
    _Cells,
    _log_ratio,
    _profile,
    _worst_rows,
    audit,
    audit_site,
    audit_study,
    lower_bound,
)
from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.client import Answer, answer
from fairgauge.client.discrete_laplace import draw_noise
from fairgauge.client.site_counts import count_records
from fairgauge.client.site_records import RecordColumns, Records
from fairgauge.errors import InvalidInput, NotPrivate
from fairgauge.study import Attribute, Metric, NoisyCounts, Study, counted
from fairgauge.study.attribute import cells
from tests.samples import THREE_LEVELS, full_study, sample_question, sample_study, two_questions
from tests.sites import SEX, UNIT, confusion_study, levels_study, site_of


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


def test_what_never_came_has_no_ratio_and_what_always_came_is_at_most_everything():
    low, high = 0.05 ** (1 / 10), 1 - 0.05 ** (1 / 10)
    found = _log_ratio(np.array([0, 10, 10]), np.array([3, 0, 10]), 10, 0.1)
    assert found == pytest.approx([-math.inf, log(low / high), log(low)])


def test_cells_are_taken_in_order_of_their_ratio_with_half_a_sample_more():
    assert _best_event(np.array([3, 40]), np.array([0, 5]), 1000, 0.01)[1].tolist() == [1, 0]
    assert _best_event(np.array([9, 40]), np.array([0, 2]), 1000, 0.01)[1].tolist() == [0, 1]


def test_what_the_first_half_did_not_see_is_counted_nowhere():
    cells = _Cells([np.array([1, 2, 2, 5])])
    assert cells.counts([np.array([0, 1, 1, 2, 3, 5, 9])]).tolist() == [2, 1, 1]
    spread = _Cells([np.linspace(0, 1, 1000)])
    texts = spread.describe(np.arange(1000)[: len(spread._cells)]).split(" or ")
    assert texts[0].startswith("(-inf, ")
    assert [text for text in texts[1:8] if "inf" in text] == []
    assert spread.describe(np.array([len(spread._cells) - 1])).endswith(", inf]")


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


def test_every_row_of_a_table_is_the_one_that_its_profile_gives():
    """Three levels of one metric and two of another, of crossed groups: 24 rows, and that of who abstains."""
    study = full_study()
    for table in study.tables:
        channel, attribute = table[0].channel, table[0].attribute
        for row in range(channel.rows - channel.abstain):
            profile, place, found = _profile(study, table, row), 0, 0
            for factor in attribute.factors:
                place = place * len(factor.groups) + factor.groups.index(profile["group"][factor.name])
            for question, levels in zip(table, channel.axes, strict=True):
                value = question.metric.to_v(float(profile["values"][question.metric.name])) * LEVEL_UNIT
                found = found * len(levels) + [round(level - value) for level in levels].index(0)
            assert place * channel.rows // len(cells(attribute.factors)) + found == row


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


SURE = 1 - 1e-6
CHANCE = random.SystemRandom()
CROSS = (Attribute("sex", ("female", "male")), Attribute("age", ("young", "old")))
CROSSED = Study("Crossed", counted(NoisyCounts(Attribute("who", cells(CROSS), cross=CROSS), "confusion", "2")))


@pytest.mark.parametrize(
    "study",
    [confusion_study(), confusion_study("0.5", records=3), levels_study(), CROSSED],
    ids=lambda study: study.title,
)
def test_an_honest_site_passes(study: Study) -> None:
    assert not audit_site(study, runs=150, confidence=SURE).caught


def people(study: Study, table: SiteTable) -> Records:
    return Records.of(site_of(study), table, RecordColumns(person="person"))


def noisy(noise: Callable[[], int], study: Study, table: SiteTable) -> Answer:
    counts = [count + noise() for count in count_records(site_of(study), people(study, table))]
    return Answer(study.digest, "0" * 32, tuple(counts))


def clamped(study: Study, table: SiteTable) -> Answer:
    found = answer(study, people(study, table))
    return Answer(found.study, found.id, tuple(max(0, count) for count in found.payload))


def floating(study: Study, table: SiteTable) -> Answer:
    return noisy(lambda: round(CHANCE.expovariate(0.5) * CHANCE.choice((-1, 1))), study, table)


def too_little(study: Study, table: SiteTable) -> Answer:
    return noisy(lambda: draw_noise(1, 1), study, table)


def counted_twice(study: Study, table: SiteTable) -> Answer:
    return answer(study, Records.of(site_of(study), table))


# A rounded float gives zero 22 times in 100 instead of 24: 40,000 counts are 12 standard errors; 5.5 are needed.
@pytest.mark.parametrize(("site", "runs"), [(clamped, 600), (floating, 5000), (too_little, 300), (counted_twice, 300)])
def test_a_planted_bug_is_caught(site: Callable[[Study, SiteTable], Answer], runs: int) -> None:
    assert audit_site(confusion_study(), site, runs=runs, confidence=SURE).caught


def noisy_by(noise: list[int]) -> Callable[[Study, SiteTable], Answer]:
    """Return a site whose noise is this, one after another."""
    left = iter(noise)
    return lambda study, table: noisy(lambda: next(left), study, table)


# But for four of forty that are very large, of which there should be one in six hundred.
AS_USUAL = {500: 4, 0: 10, 1: 6, -1: 6, 2: 4, -2: 4, 3: 2, -3: 2, 4: 1, -4: 1}


@pytest.mark.parametrize(
    "noise", [{0: 37, 1: 2, -3: 1}, {0: 20, 11: 12, 500: 8}, {-12: 1, -400: 25, 4: 14}, AS_USUAL, {0: 40}]
)
def test_the_p_value_is_that_of_the_oddest_size_as_exact_sums_give_it(noise: dict[int, int]) -> None:
    """At epsilon 1 q is e^-1/2, and q^11 the first power below 0.005: 12 and more are one size."""
    q = Fraction(math.exp(-0.5))
    law = {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-11, 12)}
    law |= {-12: q**12 / (1 + q), 12: q**12 / (1 + q)}
    assert sum(law.values()) == 1
    met = dict.fromkeys(law, 0)
    for z, count in noise.items():
        met[max(-12, min(12, z))] += count
    oddest = min(min(upward(40, p, met[z]), 1 - upward(40, p, met[z] + 1)) for z, p in law.items())
    given = noisy_by([z for z, count in noise.items() for _ in range(count)])
    found = audit_site(confusion_study(), given, runs=5)
    assert found.p_value == pytest.approx(min(1.0, float(50 * oddest)), rel=1e-9, abs=0)


def upward(draws: int, p: Fraction, least: int) -> Fraction:
    """Return how likely at least so many of so many draws are of a size."""
    return sum((math.comb(draws, n) * p**n * (1 - p) ** (draws - n) for n in range(least, draws + 1)), Fraction())


def test_values_between_the_ends_are_counted_where_they_belong() -> None:
    counts = NoisyCounts(SEX, "levels", "1", metric=Metric("score", 0, 10), levels=[-UNIT, -UNIT // 2, UNIT // 4, UNIT])
    assert not audit_site(Study("Scores, by sex", counted(counts)), runs=150, confidence=SURE).caught


def test_what_makes_no_sense() -> None:
    with pytest.raises(InvalidInput, match="must be for sites"):
        audit_site(sample_study())
    with pytest.raises(InvalidInput, match="runs=0"):
        audit_site(confusion_study(), runs=0)
    assert math.isfinite(audit_site(confusion_study(), runs=1).p_value)
