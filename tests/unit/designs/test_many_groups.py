"""Seven and more groups.

Covers: fairgauge.designs.subsets."""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from fairgauge.channel import Channel
from fairgauge.designs import many_groups
from fairgauge.designs.classical_designs import hadamard, largest_ratio, randomized_response, simple_variances
from fairgauge.designs.many_groups import largest_mean_ratio, signed_subsets, value_without_cap
from fairgauge.designs.optimal import uncentred
from fairgauge.errors import Impossible
from fairgauge.targets.comparisons import Contrast
from fairgauge.targets.scores import Scores
from fairgauge.targets.symbol_scores import _UNBIASED
from fairgauge.targets.target import Target

LIMITS = json.loads((Path(__file__).parents[2] / "data" / "limits_population.json").read_text(encoding="utf-8"))
EIGHT = (0.125,) * 8
UNEVEN = (0.3, 0.2, 0.15, 0.12, 0.1, 0.06, 0.04, 0.03)


def variances(scores: Scores, channel: Channel) -> list[float]:
    decoder = scores.decoder(channel)
    found = []
    for group in range(scores.target.groups):
        functional = scores.target.mean_functional(decoder.inputs, group, 0.0)
        score = decoder.score(functional)
        assert score is not None
        # Bias, from the integers of the table.
        assert np.abs(decoder.rows @ score - functional).max() <= _UNBIASED * np.abs(functional).max()
        found.append(decoder.variance(score))
    return found


@pytest.mark.parametrize(("shares", "epsilon"), [(EIGHT, 1), (EIGHT, 4), (UNEVEN, 1)])
def test_groups_are_within_three_percent_of_the_reference(shares: tuple[float, ...], epsilon: int):
    row = next(r for r in LIMITS["many_groups"] if tuple(r["shares"]) == shares and r["epsilon"] == epsilon)
    scores = Scores(Target(shares), design="uncentred", symbols=4096)
    channel = signed_subsets(scores, Decimal(epsilon))
    assert channel.within(Decimal(epsilon))
    assert channel.symbols <= 4096
    assert max(np.array(variances(scores, channel)) / row["variances"]) <= 1.03


def test_a_cap_on_symbols_is_kept_and_its_cost_is_known():
    scores, epsilon = Scores(Target(EIGHT), design="uncentred", symbols=130), Decimal(2)
    channel = signed_subsets(scores, epsilon)
    assert channel.symbols <= 130
    units = np.array(Scores(Target(EIGHT, kind="means")).privacy_variances(randomized_response(scores, epsilon)))
    free = value_without_cap(scores.target, epsilon)
    capped = largest_mean_ratio(scores, channel, units)
    assert 1.0 <= capped / free <= 1.2
    with pytest.raises(Impossible, match="fit in 5 symbols"):
        signed_subsets(Scores(Target(EIGHT), design="uncentred", symbols=5), epsilon)


def test_a_weight_makes_its_comparison_sharper():
    even = tuple(Contrast((g,), (7,)) for g in range(7))
    heavy = (Contrast((0,), (7,), 5.0), *even[1:])
    plain, weighed = (Scores(Target(UNEVEN, comparisons=those), design="uncentred") for those in (even, heavy))
    first, second = (scores.privacy_variances(signed_subsets(scores, Decimal(1))) for scores in (plain, weighed))
    assert second[0] < 0.9 * first[0]


def test_fewer_rows_of_signs_are_taken_only_where_gaps_do_not_pay_for_them():
    scores, epsilon = Scores(Target(UNEVEN), design="uncentred", symbols=60), Decimal(1)
    simple = simple_variances(scores, epsilon)
    # With twelve symbols instead of sixteen every mean is as good, and some gap has 0.43 of randomized response.
    assert largest_ratio(scores, signed_subsets(scores, epsilon), simple) < 0.385


def test_groups_against_one_may_have_the_table_of_equals(monkeypatch: pytest.MonkeyPatch):
    # Made for the comparisons alone a search of 20 groups stops early, at a table that is a third worse.
    monkeypatch.setattr(many_groups, "_TAILORED", 7)
    planned = tuple(Contrast((g,), (0,)) for g in range(1, 8))
    every, against = (Scores(Target(EIGHT, comparisons=those), design="uncentred") for those in ((), planned))
    first, second = (max(scores.privacy_variances(signed_subsets(scores, Decimal(1)))) for scores in (every, against))
    assert second <= 1.01 * first


def test_very_many_groups_that_differ_share_the_table_of_equals():
    shares = tuple(np.arange(1, 29) / np.arange(1, 29).sum())
    scores = Scores(Target(shares, comparisons=tuple(Contrast((g,), (0,)) for g in range(1, 28))), design="uncentred")
    channel = signed_subsets(scores, Decimal(1))
    assert channel.symbols <= 400
    simple = simple_variances(scores, Decimal(1))
    assert largest_ratio(scores, channel, simple) < 0.2
    assert value_without_cap(scores.target, Decimal(1)) < 0.2


def test_scores_of_many_groups_are_those_of_each():
    scores = Scores(Target(EIGHT), design="uncentred")
    decoder = scores.decoder(signed_subsets(scores, Decimal(1)))
    wanted = [each.functional for each in scores.wanted(decoder.inputs)]
    untold = np.zeros(decoder.inputs.count)
    untold[0] = 1.0
    *read, none = decoder.scores([*wanted, untold])
    assert none is None
    for functional, score in zip(wanted, read, strict=True):
        assert score == pytest.approx(decoder.score(functional), rel=1e-9, abs=1e-9)


def test_few_symbols_hold_blocks_of_the_best_size():
    # Partitions into blocks: 8 of 16 groups, in 2 blocks of 16 rows of signs.
    scores, epsilon = Scores(Target((1 / 16,) * 16), design="uncentred", symbols=64), Decimal(2)
    channel = signed_subsets(scores, epsilon)
    assert channel.symbols <= 64
    high = float(epsilon.exp())
    expected = 4 * 16**3 * (1 + 8 * (high - 1) / 32) ** 2 / (8 * (high - 1) ** 2)
    assert max(variances(scores, channel)) <= 1.001 * expected


def test_blocks_of_groups_that_differ_are_about_equally_large():
    shares = tuple((1 / np.arange(1, 21) / (1 / np.arange(1, 21)).sum()).tolist())
    scores, epsilon = Scores(Target(shares), design="uncentred", symbols=70), Decimal(2)
    (channel,) = many_groups._blocks(scores, epsilon)
    assert channel.symbols <= 70
    simple = simple_variances(scores, epsilon)
    # Blocks of the largest groups together would be as bad as asking all groups at once.
    assert largest_ratio(scores, channel, simple) < 0.9 * largest_ratio(scores, hadamard(scores, epsilon), simple)


SCORES = Scores(Target((0.125,) * 8, abstain=True), design="uncentred")


def test_gaps_take_half_the_clients_of_questions_from_a_hadamard_matrix():
    channel = signed_subsets(SCORES, Decimal(1))
    assert channel.within(Decimal(1))
    assert channel.symbols <= SCORES.symbols
    assert SCORES.variance(channel) < 0.6 * SCORES.variance(hadamard(SCORES, Decimal(1)))
    assert uncentred(SCORES, Decimal(1)) == channel


def test_who_abstains_counts_for_no_group_and_is_counted():
    decoder = SCORES.decoder(signed_subsets(SCORES, Decimal(1)))
    for functional in (SCORES.target.mean_functional(decoder.inputs, 3, 0.0), decoder.inputs.answered()):
        score = decoder.score(functional)
        assert score is not None
        assert np.abs(decoder.rows @ score - functional).max() <= _UNBIASED * np.abs(functional).max()
    assert decoder.inputs.answered()[-1] == 0
