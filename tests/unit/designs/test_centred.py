"""The centred design, against the least total error that any private channel can have.

Covers: fairgauge.designs.optimal.
"""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from fairgauge.designs import designs_for, make_channel
from fairgauge.errors import InvalidInput
from fairgauge.study import Attribute, Metric, Question
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.channel_inputs import Inputs
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

LIMITS = json.loads((Path(__file__).parents[2] / "data" / "limits_population.json").read_text(encoding="utf-8"))
HALVES = (0.5, 0.5)
FOUR = Decimal(4)


def scores_of(row: dict[str, float], spread: float | None) -> Scores:
    shares = (row["share"], 1 - row["share"])
    return Scores(Target(shares), AssumedValues(expect=row["mean"], spread=spread), design="centred")


def named(row: dict[str, float]) -> str:
    return f"share {row['share']} epsilon {row['epsilon']} mean {row['mean']}"


# The other cells are in the benchmark.
@pytest.mark.parametrize("row", LIMITS["known_shares"][::3], ids=named)
def test_known_shares_come_close_to_the_limit(row: dict[str, float]):
    for key, spread in (("sd", 0.3), ("worst", None)):
        scores = scores_of(row, spread)
        _, channel = make_channel(scores, Decimal(str(row["epsilon"])), design="centred")
        reached = scores.variance(channel)
        assert row[f"{key}_bound"] * (1 - 1e-9) <= reached <= row[key] * (1.06 if row["epsilon"] == 8 else 1.03)


@pytest.mark.parametrize("row", LIMITS["estimated_shares"][1::4], ids=named)
def test_estimated_shares_come_close_to_the_limit(row: dict[str, float]):
    for key, spread in (("sd", 0.3), ("worst", None)):
        scores = scores_of(row, spread).asking(shares_known=False)
        _, channel = make_channel(scores, Decimal(str(row["epsilon"])), design="centred")
        reached = scores.variance(channel)
        assert row[f"{key}_bound"] * (1 - 1e-9) <= reached <= row[key] * 1.06


def test_an_expected_recall_of_nine_tenths_needs_a_third_of_the_clients():
    """The figure that the issue is about: two equal groups at epsilon 4, expected recall 0.9."""
    scores = Scores(Target(HALVES), AssumedValues(expect=0.8))
    name, channel = make_channel(scores, FOUR)
    assert name == "centred"
    assert scores.by(name).variance(channel) <= 1.10
    assert scores.variance(make_channel(scores, FOUR, design="uncentred")[1]) == pytest.approx(3.43, abs=0.02)


@pytest.mark.parametrize(
    ("epsilon", "most"),
    # At mean 0, 0.4 and 0.8: how far off the design for no expectation is from the one made for that mean.
    [("0.5", (1.03, 1.02, 1.01)), ("1", (1.15, 1.08, 1.02)), ("2", (1.19, 1.06, 1.05)), ("4", (1.23, 1.75, 3.3))],
)
def test_without_an_expectation_it_is_not_far_off_for_any_level(epsilon: str, most: tuple[float, ...]):
    blind = Scores(Target(HALVES), design="centred")
    _, channel = make_channel(blind, Decimal(epsilon), design="centred")
    for mean, ratio in zip((0.0, 0.4, 0.8), most, strict=True):
        told = blind.assuming(expect=mean)
        best = told.variance(make_channel(told, Decimal(epsilon), design="centred")[1])
        assert blind.variance_if(channel, told.values.aim) <= ratio * best


def test_a_wrong_guess_costs_precision_and_never_truth():
    scores = Scores(Target(HALVES), AssumedValues(expect=0.8), design="centred")
    _, channel = make_channel(scores, Decimal(2), design="centred")
    decoder = scores.decoder(channel)
    score = scores.gap_score(decoder, (0, 1))
    assert score is not None
    rows, levels = decoder.rows @ score, Inputs.of(channel).levels
    # Any population with these shares, wherever its means are: the average score is the gap.
    rng = np.random.default_rng(8)
    for _ in range(20):
        first, second = rng.dirichlet(np.ones(len(levels)), 2)
        gap = first @ levels - second @ levels
        assert 0.5 * (first @ rows[: len(levels)] + second @ rows[len(levels) :]) == pytest.approx(gap, abs=1e-9)
    other = scores.assuming(expect=0.4)
    at_fault = scores.variance_if(channel, other.values.aim)
    made_for_it = other.variance(make_channel(other, Decimal(2), design="centred")[1])
    assert made_for_it < at_fault < 1.2 * made_for_it


def test_scores_come_from_the_document_alone():
    scores = Scores(Target((0.3, 0.7)))
    _, channel = make_channel(scores, Decimal(1), design="centred")
    sex = Attribute("sex", {"a": 0.3, "b": 0.7}, answering="alike")
    question = Question(Metric("recall", 0, 1), sex, "gap", "centred", 1, channel)
    read = Scores.of(question)
    assert read == scores.by("centred")
    first, second = (g.gap_score(g.decoder(channel), (0, 1)) for g in (read, scores.by("centred")))
    assert first is not None
    assert second is not None
    assert np.array_equal(first, second)
    told = Question(Metric("recall", 0, 1), sex, "gap", "centred", 1, channel, expect=0.9, spread=0.1)
    assert Scores.of(told) == replace(scores.asking(ratio=1.0).assuming(expect=0.8, spread=0.2), design="centred")
    anything = Question(Metric("recall", 0, 1), sex, "gap", "centred", 1, channel, spread="max")
    assert Scores.of(anything) == replace(scores.asking(ratio=1.0).assuming(spread=None), design="centred")


@pytest.mark.parametrize(
    "scores",
    [
        Scores(Target(HALVES, kind="means")),
        Scores(Target(HALVES, abstain=True)),
        Scores(Target(HALVES, shares_known=False)),
    ],
)
def test_it_says_what_it_does_not_serve(scores: Scores):
    assert "centred" not in designs_for(scores)
    with pytest.raises(InvalidInput, match=r"design=centred: does not serve this question; .*uncentred.* do"):
        make_channel(scores, Decimal(1), design="centred")


def test_estimated_shares_are_identified_whatever_the_channel_is_for():
    scores = Scores(Target((0.2, 0.8), shares_known=False), AssumedValues(expect=0.0), design="centred")
    _, channel = make_channel(scores, Decimal(1), design="centred")
    decoder = scores.decoder(channel)
    assert all(decoder.score(f) is not None for f in scores.target.needed(decoder.inputs))


SHARES = (0.45, 0.45, 0.1)


@pytest.mark.parametrize("expect", [None, 0.8])
def test_no_gap_has_a_larger_total_than_with_randomized_response(expect: float | None):
    scores = Scores(Target(SHARES), AssumedValues(expect=expect))
    channel = make_channel(scores, Decimal(2), design="centred")[1]
    simple = make_channel(scores, Decimal(2), design="randomized-response")[1]
    found, beside = scores.by("centred").totals(channel), scores.by("randomized-response").totals(simple)
    assert np.all(np.array(found) <= np.array(beside) * (1 + 1e-9))
    assert found[0] < 0.75 * beside[0]


def test_of_five_groups_that_differ_every_gap_gains_at_a_large_epsilon():
    scores = Scores(Target((0.3, 0.25, 0.2, 0.15, 0.1)))
    found = scores.by("centred").totals(make_channel(scores, Decimal(3), design="centred")[1])
    simple = make_channel(scores, Decimal(3), design="randomized-response")[1]
    assert np.all(np.array(found) < 0.96 * np.array(scores.by("randomized-response").totals(simple)))


def test_all_gaps_have_one_constant_and_add_up():
    scores = Scores(Target(SHARES), AssumedValues(expect=0.8), design="centred")
    channel = make_channel(scores, Decimal(4), design="centred")[1]
    decoder = scores.decoder(channel)
    c = scores.gap_constant(decoder)
    assert 0.2 < c < 1
    read = {pair: scores.gap_score(decoder, pair) for pair in scores.target.pairs}
    m = len(decoder.inputs.levels)
    for (a, b), score in read.items():
        assert score is not None
        means = (decoder.rows @ score).reshape(3, m)
        for group, sign in ((a, 1), (b, -1)):
            assert means[group] == pytest.approx(sign * (decoder.inputs.levels - c) / SHARES[group], abs=1e-8)
    first, second, third = (read[pair] for pair in ((0, 1), (1, 2), (0, 2)))
    assert first is not None
    assert second is not None
    assert third is not None
    assert first + second == pytest.approx(third, abs=1e-7 * np.abs(third).max())
