"""What a target asks of a channel, and how well its scores serve it."""

import math
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.designs import make_channel
from fairgauge.designs.classical_designs import randomized_response
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.channel_inputs import ABSTAINING, Inputs, Vector
from fairgauge.targets.scores import Scores, largest_second_moments
from fairgauge.targets.target import Target

THREE = (0.2, 0.3, 0.5)
LEVELS = np.array([-1.0, 0.0, 1.0])


def clients(scores: Scores, inputs: Inputs, means: tuple[float, ...]) -> Vector:
    """The part of clients with each input, if every group holds only the two end values."""
    parts = np.zeros(inputs.count)
    for block, weight, mean in zip(
        inputs.blocks, inputs.weights(scores.target.share_vector), (*means, 0.0), strict=False
    ):
        ends = [block.start, block.stop - 1]
        parts[ends] = [weight * (1 - mean) / 2, weight * (1 + mean) / 2] if len(set(ends)) == 2 else weight
    return parts


@pytest.mark.parametrize("abstain", [False, True])
@pytest.mark.parametrize("shares_known", [False, True])
def test_the_average_of_a_mean_functional_is_the_mean_less_the_centre(shares_known: bool, abstain: bool):
    scores = Scores(Target(THREE, shares_known=shares_known, kind="means", abstain=abstain))
    inputs = Inputs(3, LEVELS, abstain)
    means = (0.5, -0.25, 0.9)
    parts = clients(scores, inputs, means)
    assert parts.sum() == pytest.approx(1)
    for group, mean in enumerate(means):
        assert parts @ scores.target.mean_functional(inputs, group, 0.3) == pytest.approx(mean - 0.3)


def test_a_wrong_share_does_not_move_an_estimated_mean_to_first_order():
    """The functional is a ratio's: where the share is off and the mean is at the centre, nothing changes."""
    scores = Scores(Target(THREE, shares_known=False, kind="means"))
    inputs = Inputs(3, LEVELS)
    off = clients(Scores(Target((0.25, 0.3, 0.45))), inputs, (0.3, 0.3, 0.3))
    assert off @ scores.target.mean_functional(inputs, 0, 0.3) == pytest.approx(0)
    known = Scores(Target(THREE, kind="means"))
    assert off @ known.target.mean_functional(inputs, 0, 0.3) == pytest.approx(0.3 * 0.25 / 0.2 - 0.3)


def test_pairs_of_groups_are_wanted_for_a_gap_and_groups_for_means():
    inputs = Inputs(3, LEVELS)
    gaps, means = Scores(Target(THREE)).wanted(inputs), Scores(Target(THREE, kind="means")).wanted(inputs)
    assert [w.centre for w in gaps] == [w.centre for w in means] == [None] * 3
    assert means[1].functional.tolist() == pytest.approx([0, 0, 0, -1 / 0.3, 0, 1 / 0.3, 0, 0, 0])
    for (a, b), gap in zip(Scores(Target(THREE)).target.pairs, gaps, strict=True):
        assert gap.functional == pytest.approx(means[a].functional - means[b].functional)


@pytest.mark.parametrize(
    ("scores", "centres"),
    [
        (Scores(Target(THREE)), {None}),
        (Scores(Target(THREE), AssumedValues(expect=0.4)), {None}),
        (Scores(Target(THREE, shares_known=False)), {-1.0, 0.0, 1.0}),
        (Scores(Target(THREE, shares_known=False), AssumedValues(expect=0.4)), {0.4}),
        (Scores(Target(THREE, shares_known=False), AssumedValues(expect=0.0)), {0.0}),
        (Scores(Target(THREE, abstain=True)), {-1.0, 0.0, 1.0}),
    ],
)
def test_what_is_expected_matters_only_where_shares_are_estimated_or_people_abstain(
    scores: Scores, centres: set[float]
):
    assert {w.centre for w in scores.wanted(Inputs(3, LEVELS, scores.target.abstain))} == centres


def test_estimated_shares_and_abstaining_need_more_than_what_is_wanted():
    inputs = Inputs(3, LEVELS, abstain=True)
    assert Scores(Target(THREE)).target.needed(Inputs(3, LEVELS)) == []
    assert [f.tolist() for f in Scores(Target(THREE, abstain=True)).target.needed(inputs)] == [
        inputs.answered().tolist()
    ]
    assert len(Scores(Target(THREE, shares_known=False)).target.needed(Inputs(3, LEVELS))) == 6
    assert len(Scores(Target(THREE, shares_known=False, abstain=True)).target.needed(inputs)) == 7


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_variance_of_randomized_response_is_the_one_of_its_formula(d: int):
    r"""The paper's variance of a mean (MATH.md 2) with the sound allocation, at its worst, which is at v = 0."""
    epsilon = 1.3
    scores = Scores(Target((1 / d,) * d, kind="means"))
    group, bit = math.log((math.exp(epsilon) + 1) / 2), epsilon
    a = math.exp(group) / (math.exp(group) + d - 1)
    b = math.exp(bit) / (1 + math.exp(bit))
    each = (1 + (d - 1) * math.exp(-group)) / (a * (2 * b - 1) ** 2)
    channel = randomized_response(scores, Decimal(str(epsilon)))
    assert scores.privacy_variance(channel) == pytest.approx(d * each, rel=1e-9)
    gap = Scores(Target((1 / d,) * d))
    assert gap.privacy_variance(channel) == pytest.approx(2 * d * each, rel=1e-9)


def test_little_information_is_information():
    """At epsilon 0.001 the rows of a table differ by a thousandth; what they tell is little, and it is not nothing."""
    scores = Scores(Target((0.5, 0.5)))
    found = scores.privacy_variance(randomized_response(scores, Decimal("0.001")))
    more = math.expm1(0.001)
    assert found == pytest.approx(4 * ((more + 4) / more) ** 2, rel=1e-6)


def test_a_unit_in_two_to_the_53_is_no_information():
    half = ROW_SUM // 2
    rows = tuple((half + unit, half - unit) for unit in (-1, 1, 1, -1))
    channel = Channel(rows, levels=(-LEVEL_UNIT, LEVEL_UNIT), groups=2)
    scores = Scores(Target((0.5, 0.5)))
    assert scores.decoder(channel).score(scores.target.gap_functional(scores.decoder(channel).inputs, (0, 1))) is None
    assert scores.privacy_variance(channel) == scores.variance(channel) == math.inf
    # With a hundred million units it is.
    clear = tuple((half + 10**8 * unit, half - 10**8 * unit) for unit in (-1, 1, 1, -1))
    told = Channel(clear, levels=channel.levels, groups=2)
    assert scores.variance(told) < math.inf


def test_the_variance_is_infinite_where_the_channel_cannot_tell():
    _, gap_only = make_channel(Scores(Target((0.5, 0.5))), Decimal("0.5"), design="uncentred")
    assert math.isfinite(Scores(Target((0.5, 0.5))).variance(gap_only))
    assert Scores(Target((0.5, 0.5), kind="means")).variance(gap_only) == math.inf
    assert Scores(Target((0.5, 0.5), shares_known=False)).variance(gap_only) == math.inf


def test_the_total_is_what_a_population_shows():
    """Against an exact sum: clients drawn from a population whose groups have one mean, and a score's second moment."""
    scores = Scores(Target((0.3, 0.7)), AssumedValues(expect=0.5, spread=None))
    channel = randomized_response(scores, Decimal(2))
    decoder = scores.decoder(channel)
    score = decoder.score(scores.target.gap_functional(decoder.inputs, (0, 1)))
    assert score is not None
    # With two levels every population whose groups average 0.5 has the same law of inputs.
    law = clients(scores, decoder.inputs, (0.5, 0.5)) @ decoder.rows
    assert scores.variance(channel) == pytest.approx(law @ score**2 - (law @ score) ** 2, rel=1e-9)
    means = Scores(Target((0.3, 0.7), kind="means"), AssumedValues(expect=0.5, spread=None))
    decoder = means.decoder(channel)
    read = [decoder.score(f) for f, *_ in means.wanted(decoder.inputs)]
    totals = [law @ s**2 - (law @ s) ** 2 for s in read if s is not None]
    assert means.variance(channel) == pytest.approx(max(totals), rel=1e-9)


def test_nothing_randomised_leaves_how_clients_differ():
    assert Scores(Target((0.5, 0.5)), AssumedValues(expect=0.8)).sampling_variance() == pytest.approx(4 * 0.3**2)
    assert Scores(Target((0.1, 0.9)), AssumedValues(expect=0.8, spread=None)).sampling_variance() == pytest.approx(
        (10 + 1 / 0.9) * 0.36
    )
    assert Scores(Target((0.5, 0.5), kind="means")).sampling_variance() == pytest.approx(2 * 0.3**2)
    assert Scores(Target((0.2, 0.3, 0.5))).sampling_variance() == pytest.approx((5 + 1 / 0.3) * 0.09)
    abstaining = Scores(Target((0.5, 0.5), abstain=True)).sampling_variance()
    assert abstaining == pytest.approx(0.36 / (1 - ABSTAINING))


@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_the_total_is_never_below_what_sampling_alone_gives(epsilon: str):
    for design in ("randomized-response", "laplace", "centred"):
        scores = Scores(Target((0.4, 0.6)), AssumedValues(expect=0.6), design=design)
        channel = make_channel(scores, Decimal(epsilon), design=design)[1]
        assert scores.variance(channel) > scores.sampling_variance()


def test_the_variance_is_that_of_the_worst_pair():
    scores = Scores(Target((0.05, 0.35, 0.6)))
    channel = randomized_response(scores, Decimal(1))
    decoder = scores.decoder(channel)
    variances = []
    for functional, *_ in scores.wanted(decoder.inputs):
        score = decoder.score(functional)
        assert score is not None
        variances.append(decoder.variance(score))
    assert scores.privacy_variance(channel) == max(variances) > 1.01 * min(variances)


def test_those_who_abstain_cost_answers():
    """Scores grow by a factor 1/0.9 because only so many of the answers count, and the table has one more symbol."""
    scores, alone = Scores(Target((0.5, 0.5), abstain=True), AssumedValues(expect=0.0)), Scores(Target((0.5, 0.5)))
    with_abstaining = scores.privacy_variance(randomized_response(scores, Decimal(1)))
    assert with_abstaining > alone.privacy_variance(randomized_response(alone, Decimal(1))) / (1 - ABSTAINING)


def test_a_channel_that_confounds_the_groups_forces_the_constant():
    """Two equal groups, one bit: (A, v) and (B, -v) look alike, so nothing but c = 0 can be told."""
    scores = Scores(Target((0.5, 0.5)), AssumedValues(expect=0.8), design="centred")
    likely, rare = ROW_SUM * 3 // 4, ROW_SUM // 4
    channel = Channel(
        ((likely, rare), (rare, likely), (rare, likely), (likely, rare)), levels=(-LEVEL_UNIT, LEVEL_UNIT), groups=2
    )
    decoder = scores.decoder(channel)
    assert scores.gap_constant(decoder) == pytest.approx(0.0, abs=1e-12)
    score = scores.gap_score(decoder, (0, 1))
    assert score is not None
    assert score == pytest.approx([-4.0, 4.0])


def test_a_channel_that_tells_everything_leaves_the_constant_to_the_score():
    scores = Scores(Target((0.5, 0.5)), AssumedValues(expect=0.8), design="centred")
    channel = randomized_response(scores, Decimal(4))
    decoder = scores.decoder(channel)
    constant = scores.gap_constant(decoder)
    assert 0.5 < constant < 0.8
    # No other constant does better: the total of each from the table alone.
    inputs = decoder.inputs
    shift = inputs.share_of(0) / 0.5 - inputs.share_of(1) / 0.5
    for other in (constant - 0.05, constant + 0.05):
        score = decoder.score(scores.target.gap_functional(inputs, (0, 1)) - other * shift)
        assert score is not None
        assert float(largest_second_moments(decoder, score, [scores.values.aim])[0]) > scores.variance(channel)
    assert scores.variance(channel) < scores.by("randomized-response").variance(channel)


def test_a_channel_that_tells_nothing_has_no_centred_score():
    scores = Scores(Target((0.5, 0.5)), design="centred")
    even = ((ROW_SUM // 2, ROW_SUM // 2),) * 4
    channel = Channel(even, levels=(-LEVEL_UNIT, LEVEL_UNIT), groups=2)
    decoder = scores.decoder(channel)
    assert scores.gap_score(decoder, (0, 1)) is None
    assert scores.gap_constant(decoder) == 0.0
    assert scores.variance(channel) == scores.privacy_variance(channel) == math.inf
