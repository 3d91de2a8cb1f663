"""What a goal asks of a channel."""

import math
from decimal import Decimal

import numpy as np
import pytest

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.designs import make_channel
from fairgauge.designs.simple import randomized_response
from fairgauge.targets.inputs import ABSTAINING, Inputs, Vector
from fairgauge.targets.target import Goal, largest_second_moments

THREE = (0.2, 0.3, 0.5)
LEVELS = np.array([-1.0, 0.0, 1.0])


def clients(goal: Goal, inputs: Inputs, means: tuple[float, ...]) -> Vector:
    """The part of clients with each input, if every group holds only the two end values."""
    parts = np.zeros(inputs.count)
    for block, weight, mean in zip(inputs.blocks, inputs.weights(goal.share_vector), (*means, 0.0), strict=False):
        ends = [block.start, block.stop - 1]
        parts[ends] = [weight * (1 - mean) / 2, weight * (1 + mean) / 2] if len(set(ends)) == 2 else weight
    return parts


@pytest.mark.parametrize("abstain", [False, True])
@pytest.mark.parametrize("shares_known", [False, True])
def test_the_average_of_a_mean_functional_is_the_mean_less_the_centre(shares_known: bool, abstain: bool):
    goal = Goal(THREE, shares_known=shares_known, target="means", abstain=abstain)
    inputs = Inputs(3, LEVELS, abstain)
    means = (0.5, -0.25, 0.9)
    parts = clients(goal, inputs, means)
    assert parts.sum() == pytest.approx(1)
    for group, mean in enumerate(means):
        assert parts @ goal.mean_functional(inputs, group, 0.3) == pytest.approx(mean - 0.3)


def test_a_wrong_share_does_not_move_an_estimated_mean_to_first_order():
    """The functional is a ratio's: where the share is off and the mean is at the centre, nothing changes."""
    goal = Goal(THREE, shares_known=False, target="means")
    inputs = Inputs(3, LEVELS)
    off = clients(Goal((0.25, 0.3, 0.45)), inputs, (0.3, 0.3, 0.3))
    assert off @ goal.mean_functional(inputs, 0, 0.3) == pytest.approx(0)
    known = Goal(THREE, target="means")
    assert off @ known.mean_functional(inputs, 0, 0.3) == pytest.approx(0.3 * 0.25 / 0.2 - 0.3)


def test_pairs_of_groups_are_wanted_for_a_gap_and_groups_for_means():
    inputs = Inputs(3, LEVELS)
    gaps, means = Goal(THREE).wanted(inputs), Goal(THREE, target="means").wanted(inputs)
    assert [w.centre for w in gaps] == [w.centre for w in means] == [None] * 3
    assert means[1].functional.tolist() == pytest.approx([0, 0, 0, -1 / 0.3, 0, 1 / 0.3, 0, 0, 0])
    for (a, b), gap in zip(Goal(THREE).pairs, gaps, strict=True):
        assert gap.functional == pytest.approx(means[a].functional - means[b].functional)


@pytest.mark.parametrize(
    ("goal", "centres"),
    [
        (Goal(THREE), {None}),
        (Goal(THREE, expect=0.4), {None}),
        (Goal(THREE, shares_known=False), {-1.0, 0.0, 1.0}),
        (Goal(THREE, shares_known=False, expect=0.4), {0.4}),
        (Goal(THREE, shares_known=False, expect=0.0), {0.0}),
        (Goal(THREE, abstain=True), {-1.0, 0.0, 1.0}),
    ],
)
def test_what_is_expected_matters_only_where_shares_are_estimated_or_people_abstain(goal: Goal, centres: set[float]):
    assert {w.centre for w in goal.wanted(Inputs(3, LEVELS, goal.abstain))} == centres


def test_estimated_shares_and_abstaining_need_more_than_what_is_wanted():
    inputs = Inputs(3, LEVELS, abstain=True)
    assert Goal(THREE).needed(Inputs(3, LEVELS)) == []
    assert [f.tolist() for f in Goal(THREE, abstain=True).needed(inputs)] == [inputs.answered().tolist()]
    assert len(Goal(THREE, shares_known=False).needed(Inputs(3, LEVELS))) == 6
    assert len(Goal(THREE, shares_known=False, abstain=True).needed(inputs)) == 7


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_variance_of_randomized_response_is_the_one_of_its_formula(d: int):
    r"""The paper's variance of a mean (MATH.md 2) with the sound allocation, at its worst, which is at v = 0."""
    epsilon = 1.3
    goal = Goal((1 / d,) * d, target="means")
    group, bit = math.log((math.exp(epsilon) + 1) / 2), epsilon
    a = math.exp(group) / (math.exp(group) + d - 1)
    b = math.exp(bit) / (1 + math.exp(bit))
    each = (1 + (d - 1) * math.exp(-group)) / (a * (2 * b - 1) ** 2)
    channel = randomized_response(goal, Decimal(str(epsilon)))
    assert goal.privacy_variance(channel) == pytest.approx(d * each, rel=1e-9)
    gap = Goal((1 / d,) * d)
    assert gap.privacy_variance(channel) == pytest.approx(2 * d * each, rel=1e-9)


def test_little_information_is_information():
    """At epsilon 0.001 the rows of a table differ by a thousandth; what they tell is little, and it is not nothing."""
    goal = Goal((0.5, 0.5))
    found = goal.privacy_variance(randomized_response(goal, Decimal("0.001")))
    more = math.expm1(0.001)
    assert found == pytest.approx(4 * ((more + 4) / more) ** 2, rel=1e-6)


def test_a_unit_in_two_to_the_53_is_no_information():
    half = ROW_SUM // 2
    rows = tuple((half + unit, half - unit) for unit in (-1, 1, 1, -1))
    channel = Channel(rows, levels=(-LEVEL_UNIT, LEVEL_UNIT), groups=2)
    goal = Goal((0.5, 0.5))
    assert goal.decoder(channel).score(goal.gap_functional(goal.decoder(channel).inputs, (0, 1))) is None
    assert goal.privacy_variance(channel) == goal.variance(channel) == math.inf
    # With a hundred million units it is.
    clear = tuple((half + 10**8 * unit, half - 10**8 * unit) for unit in (-1, 1, 1, -1))
    told = Channel(clear, levels=channel.levels, groups=2)
    assert goal.variance(told) < math.inf


def test_the_variance_is_infinite_where_the_channel_cannot_tell():
    _, gap_only = make_channel(Goal((0.5, 0.5)), Decimal("0.5"), design="uncentred")
    assert math.isfinite(Goal((0.5, 0.5)).variance(gap_only))
    assert Goal((0.5, 0.5), target="means").variance(gap_only) == math.inf
    assert Goal((0.5, 0.5), shares_known=False).variance(gap_only) == math.inf


def test_the_total_is_what_a_population_shows():
    """Against an exact sum: clients drawn from a population whose groups have one mean, and a score's second moment."""
    goal = Goal((0.3, 0.7), expect=0.5, spread=None)
    channel = randomized_response(goal, Decimal(2))
    decoder = goal.decoder(channel)
    score = decoder.score(goal.gap_functional(decoder.inputs, (0, 1)))
    assert score is not None
    # With two levels every population whose groups average 0.5 has the same law of inputs.
    law = clients(goal, decoder.inputs, (0.5, 0.5)) @ decoder.rows
    assert goal.variance(channel) == pytest.approx(law @ score**2 - (law @ score) ** 2, rel=1e-9)
    means = Goal((0.3, 0.7), expect=0.5, spread=None, target="means")
    decoder = means.decoder(channel)
    scores = [decoder.score(f) for f, *_ in means.wanted(decoder.inputs)]
    totals = [law @ s**2 - (law @ s) ** 2 for s in scores if s is not None]
    assert means.variance(channel) == pytest.approx(max(totals), rel=1e-9)


def test_nothing_randomised_leaves_how_clients_differ():
    assert Goal((0.5, 0.5), expect=0.8).sampling_variance() == pytest.approx(4 * 0.3**2)
    assert Goal((0.1, 0.9), expect=0.8, spread=None).sampling_variance() == pytest.approx((10 + 1 / 0.9) * 0.36)
    assert Goal((0.5, 0.5), target="means").sampling_variance() == pytest.approx(2 * 0.3**2)
    assert Goal((0.2, 0.3, 0.5)).sampling_variance() == pytest.approx((5 + 1 / 0.3) * 0.09)
    abstaining = Goal((0.5, 0.5), abstain=True).sampling_variance()
    assert abstaining == pytest.approx(0.36 / (1 - ABSTAINING))


@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_the_total_is_never_below_what_sampling_alone_gives(epsilon: str):
    for design in ("randomized-response", "laplace", "centred"):
        goal = Goal((0.4, 0.6), expect=0.6, design=design)
        channel = make_channel(goal, Decimal(epsilon), design=design)[1]
        assert goal.variance(channel) > goal.sampling_variance()


def test_the_variance_is_that_of_the_worst_pair():
    goal = Goal((0.05, 0.35, 0.6))
    channel = randomized_response(goal, Decimal(1))
    decoder = goal.decoder(channel)
    variances = []
    for functional, *_ in goal.wanted(decoder.inputs):
        score = decoder.score(functional)
        assert score is not None
        variances.append(decoder.variance(score))
    assert goal.privacy_variance(channel) == max(variances) > 1.01 * min(variances)


def test_those_who_abstain_cost_answers():
    """Scores grow by a factor 1/0.9 because only so many of the answers count, and the table has one more symbol."""
    goal, alone = Goal((0.5, 0.5), abstain=True, expect=0.0), Goal((0.5, 0.5))
    with_abstaining = goal.privacy_variance(randomized_response(goal, Decimal(1)))
    assert with_abstaining > alone.privacy_variance(randomized_response(alone, Decimal(1))) / (1 - ABSTAINING)


def test_a_channel_that_confounds_the_groups_forces_the_constant():
    """Two equal groups, one bit: (A, v) and (B, -v) look alike, so nothing but c = 0 can be told."""
    goal = Goal((0.5, 0.5), expect=0.8, design="centred")
    likely, rare = ROW_SUM * 3 // 4, ROW_SUM // 4
    channel = Channel(
        ((likely, rare), (rare, likely), (rare, likely), (likely, rare)), levels=(-LEVEL_UNIT, LEVEL_UNIT), groups=2
    )
    decoder = goal.decoder(channel)
    assert goal.gap_constant(decoder) == pytest.approx(0.0, abs=1e-12)
    score = goal.gap_score(decoder, (0, 1))
    assert score is not None
    assert score == pytest.approx([-4.0, 4.0])


def test_a_channel_that_tells_everything_leaves_the_constant_to_the_score():
    goal = Goal((0.5, 0.5), expect=0.8, design="centred")
    channel = randomized_response(goal, Decimal(4))
    decoder = goal.decoder(channel)
    constant = goal.gap_constant(decoder)
    assert 0.5 < constant < 0.8
    # No other constant does better: the total of each from the table alone.
    inputs = decoder.inputs
    shift = inputs.share_of(0) / 0.5 - inputs.share_of(1) / 0.5
    for other in (constant - 0.05, constant + 0.05):
        score = decoder.score(goal.gap_functional(inputs, (0, 1)) - other * shift)
        assert score is not None
        assert float(largest_second_moments(decoder, score, [goal.aim])[0]) > goal.variance(channel)
    assert goal.variance(channel) < goal.by("randomized-response").variance(channel)


def test_a_channel_that_tells_nothing_has_no_centred_score():
    goal = Goal((0.5, 0.5), design="centred")
    even = ((ROW_SUM // 2, ROW_SUM // 2),) * 4
    channel = Channel(even, levels=(-LEVEL_UNIT, LEVEL_UNIT), groups=2)
    decoder = goal.decoder(channel)
    assert goal.gap_score(decoder, (0, 1)) is None
    assert goal.gap_constant(decoder) == 0.0
    assert goal.variance(channel) == goal.privacy_variance(channel) == math.inf
