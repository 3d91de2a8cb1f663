"""What gaps are measured by.

Covers: fairgauge.designs.few_groups.

The uncentred design as a whole.
"""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from fairgauge.designs import few_groups
from fairgauge.designs.classical_designs import hadamard, laplace, randomized_response, simple_variances
from fairgauge.designs.optimal import _references, total_measures, uncentred
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.comparisons import Contrast, all_pairs
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

LIMITS = json.loads((Path(__file__).parents[2] / "data" / "limits_population.json").read_text(encoding="utf-8"))
ROW = next(row for row in LIMITS["pairs"] if row["shares"] == [0.49, 0.49, 0.02] and row["epsilon"] == 1)
SCORES = Scores(Target(tuple(ROW["shares"])), design="uncentred")


def test_each_gap_is_measured_by_what_it_could_have_alone():
    assert _references(SCORES, Decimal(1)) == pytest.approx(ROW["alone"], rel=0.02)
    assert simple_variances(SCORES, Decimal(1)) == pytest.approx(ROW["randomized_response"], rel=1e-6)
    assert np.all(total_measures(SCORES, Decimal(1)) > _references(SCORES, Decimal(1)))


def test_a_margin_is_measured_as_one_group():
    crossed = Scores(Target((0.2, 0.3, 0.3, 0.2), comparisons=(Contrast((0, 1), (2, 3)),)))
    assert _references(crossed, Decimal(1)) == pytest.approx(_references(Scores(Target((0.5, 0.5))), Decimal(1)))


def test_the_largest_ratio_is_within_two_percent_and_no_gap_is_worse_than_randomized_response():
    channel = uncentred(SCORES, Decimal(1))
    found = np.array(SCORES.privacy_variances(channel))
    assert (found / ROW["alone"]).max() <= 1.02 * ROW["max_ratio"]
    assert np.all(found <= SCORES.privacy_variances(randomized_response(SCORES, Decimal(1))))


@pytest.mark.parametrize("epsilon", ["0.5", "2"])
def test_the_same_question_gives_the_same_table(epsilon: str):
    """A study can be designed again to check that nothing was hidden in its table."""
    scores = Scores(Target((0.2, 0.8), kind="means"))
    assert uncentred(scores, Decimal(epsilon)) == uncentred(scores, Decimal(epsilon))


def test_equal_groups_are_treated_alike():
    scores = Scores(Target((0.5, 0.5), kind="means"))
    channel = uncentred(scores, Decimal(1))
    m = len(channel.levels)
    first, second = (sorted(zip(*channel.table[g * m : (g + 1) * m], strict=True)) for g in (0, 1))
    for a, b in zip(first, second, strict=True):
        # One part in 10^12 is lost and found in rounding.
        assert a == pytest.approx(b, rel=1e-9)


def test_many_groups_get_hadamard_questions_at_small_epsilon():
    scores = Scores(Target((0.1,) * 10, shares_known=False))
    assert uncentred(scores, Decimal("0.3")) == hadamard(scores, Decimal("0.3"))


def test_many_groups_get_randomized_response_at_large_epsilon():
    scores = Scores(Target((1 / 7,) * 7, shares_known=False))
    best = min(randomized_response(scores, Decimal(4)), laplace(scores, Decimal(4)), key=scores.privacy_variance)
    assert uncentred(scores, Decimal(4)) == best


@pytest.mark.parametrize(
    ("scores", "epsilon", "gain"),
    [
        # Gains over randomized response for all means at epsilon 0.1 (MATH.md 5b): 1.90, 2.80, 3.71 with two levels.
        (Scores(Target((0.5, 0.5), kind="means")), "0.1", 1.9),
        (Scores(Target((1 / 3,) * 3, kind="means")), "0.1", 2.7),
        (Scores(Target((0.25,) * 4, kind="means")), "0.1", 3.5),
        # Estimated shares, aimed at a mean of 0.6 (MATH.md 7): 50.7 against 43.7, 258.7 against 166.5.
        (Scores(Target((0.5, 0.5), shares_known=False), AssumedValues(expect=0.6)), "1", 1.1),
        (Scores(Target((0.5, 0.5), shares_known=False), AssumedValues(expect=0.6)), "0.5", 1.5),
        (Scores(Target((0.5, 0.5), abstain=True), AssumedValues(expect=0.0)), "0.5", 1.5),
    ],
)
def test_gains_over_randomized_response(scores: Scores, epsilon: str, gain: float):
    simple = scores.privacy_variance(randomized_response(scores, Decimal(epsilon)))
    assert scores.privacy_variance(uncentred(scores, Decimal(epsilon))) * gain <= simple


@pytest.mark.parametrize(
    ("shares", "epsilon", "reached"), [((2 / 3, 1 / 3), "4", 0.7501), ((0.5, 0.3, 0.2), "3", 4.85)]
)
def test_each_mean_is_as_good_as_the_channel_allows(shares: tuple[float, ...], epsilon: str, reached: float):
    """What the linear program promises, to 1 %: scores aimed at both means at once were up to 13 % worse."""
    scores = Scores(Target(shares, kind="means"))
    assert scores.privacy_variance(uncentred(scores, Decimal(epsilon))) <= 1.01 * reached


@pytest.mark.parametrize(
    ("scores", "epsilon", "reached"),
    [
        # Without weight on how tables are read: 20.2 and 3.44.  Before: 19.6 and 3.23, in 1 and 37 seconds.
        (Scores(Target((0.2, 0.8), shares_known=False, kind="means"), AssumedValues(expect=0.8)), "2", 18.1),
        (Scores(Target((0.2, 0.8), shares_known=False, kind="means"), AssumedValues(expect=0.8)), "4", 2.13),
        (Scores(Target((0.5, 0.5), shares_known=False), AssumedValues(expect=0.8)), "4", 0.856),
    ],
)
def test_tables_for_estimated_shares_are_good_as_they_are_read(scores: Scores, epsilon: str, reached: float):
    assert scores.privacy_variance(uncentred(scores, Decimal(epsilon))) <= 1.02 * reached


def test_expecting_the_right_mean_helps():
    aimed, unaimed = (Scores(Target((0.5, 0.5), shares_known=False), AssumedValues(expect=e)) for e in (0.8, None))
    for_aimed, for_all = (uncentred(scores, Decimal(1)) for scores in (aimed, unaimed))
    assert aimed.privacy_variance(for_aimed) < aimed.privacy_variance(for_all)
    assert unaimed.privacy_variance(for_all) < unaimed.privacy_variance(for_aimed) < float("inf")


def test_where_hardly_anything_is_hidden_a_table_is_for_any_mean(monkeypatch: pytest.MonkeyPatch):
    aimed, unaimed = (Scores(Target((0.5, 0.5), shares_known=False), AssumedValues(expect=e)) for e in (0.8, None))
    assert uncentred(aimed, Decimal(2)) != uncentred(unaimed, Decimal(2))
    # At 8 it takes a minute to see that there such a table is read more sharply.
    monkeypatch.setattr(few_groups, "_AIMED", 1)
    assert uncentred(aimed, Decimal(2)) == uncentred(unaimed, Decimal(2))


@pytest.mark.parametrize("shares", [(1 / 3,) * 3, (0.45, 0.45, 0.1)])
def test_a_weighed_pair_is_better_than_with_randomized_response_and_no_other_is_worse(shares: tuple[float, ...]):
    """Scores by the table alone made the others up to 3 % worse, and so randomized response itself was taken."""
    pairs = all_pairs(3)
    scores = Scores(Target(shares, comparisons=(pairs[0]._replace(weight=3.0), *pairs[1:])), design="uncentred")
    found = np.array(scores.privacy_variances(uncentred(scores, Decimal(1))))
    simple = simple_variances(scores, Decimal(1))
    assert np.all(found <= simple * (1 + 1e-9))
    assert found[0] <= 0.4 * simple[0]
