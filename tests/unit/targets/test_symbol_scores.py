"""Scores against brute force: every value on a fine grid, exact laws of the channel, other unbiased scores.

The best score of a family, against another optimiser and against what is known.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.targets.assumed_values import Reckoning, largest_averages
from fairgauge.targets.channel_inputs import ABSTAINING, Inputs, Vector
from fairgauge.targets.symbol_scores import Decoder, Family, SymbolLaws, best_score, least_variances, worst_variances
from tests.samples import sample_channel
from tests.surveys import coin_channel

UNEVEN = (-LEVEL_UNIT, -LEVEL_UNIT // 4, LEVEL_UNIT // 3, LEVEL_UNIT)
THIRDS = np.array([0.3, 0.7])


def random_channel(symbols: int, *, levels: tuple[int, ...] = UNEVEN, abstain: bool = False, seed: int = 5) -> Channel:
    """Two groups; with at least as many symbols as inputs everything can be told."""
    rng = np.random.default_rng(seed)
    table = []
    for _ in range(2 * len(levels) + abstain):
        cuts = sorted(int(c) for c in rng.integers(1, ROW_SUM, symbols - 1))
        table.append(tuple(b - a for a, b in zip([0, *cuts], [*cuts, ROW_SUM], strict=True)))
    return Channel(tuple(table), levels, 2, abstain)


def variances_on_a_grid(channel: Channel, score: Vector, group: int, values: Vector) -> Vector:
    """The variance of the score for each value, from the exact law of what a client sends."""
    found = []
    for v in values:
        law = np.array([float(p) for p in channel.mixture(group, Fraction(float(v)) * LEVEL_UNIT)])
        found.append(law @ score**2 - (law @ score) ** 2)
    return np.array(found)


class TestInputs:
    inputs = Inputs(2, np.array([-1.0, 0.5, 1.0]), abstain=True)

    def test_follow_the_rows_of_a_channel(self):
        inputs = Inputs.of(sample_channel(groups=3, levels=UNEVEN, abstain=True))
        assert inputs.count == 13
        assert inputs.levels.tolist() == [-1.0, -0.25, pytest.approx(1 / 3), 1.0]
        assert inputs.blocks == [slice(0, 4), slice(4, 8), slice(8, 12), slice(12, 13)]

    def test_functionals(self):
        assert self.inputs.sum_of(1).tolist() == [0, 0, 0, -1, 0.5, 1, 0]
        assert self.inputs.share_of(0).tolist() == [1, 1, 1, 0, 0, 0, 0]
        assert self.inputs.answered().tolist() == [1, 1, 1, 1, 1, 1, 0]
        assert Inputs(2, self.inputs.levels).answered().tolist() == [1] * 6

    def test_points_are_the_levels_and_the_middles_between_them(self):
        points, blocks = self.inputs.points()
        assert blocks.tolist() == [0] * 5 + [1] * 5 + [2]
        assert points.sum(axis=1).tolist() == [1] * 11
        values = points @ np.append(np.tile(self.inputs.levels, 2), 9.0)
        assert sorted(values[blocks == 0]) == sorted(values[blocks == 1]) == [-1, -0.25, 0.5, 0.75, 1]
        assert values[blocks == 2] == [9]

    def test_weights_leave_room_for_those_who_abstain(self):
        assert self.inputs.weights(THIRDS).tolist() == pytest.approx([0.27, 0.63, ABSTAINING])
        assert Inputs(2, self.inputs.levels).weights(THIRDS).tolist() == [0.3, 0.7]


class TestScore:
    @pytest.mark.parametrize("abstain", [False, True])
    def test_is_unbiased_for_every_input(self, abstain: bool):
        channel = random_channel(14, abstain=abstain)
        decoder = Decoder.even(channel, THIRDS)
        for functional in [decoder.inputs.sum_of(1), decoder.inputs.share_of(0), decoder.inputs.answered()]:
            score = decoder.score(functional)
            assert score is not None
            for row, target in zip(channel.table, functional, strict=True):
                mean = sum(Fraction(w, ROW_SUM) * Fraction(float(s)) for w, s in zip(row, score, strict=True))
                assert float(mean) == pytest.approx(target, abs=1e-9)

    def test_has_the_least_variance_among_unbiased_scores(self):
        decoder = Decoder.even(random_channel(14), THIRDS)
        functional = decoder.inputs.sum_of(0)
        score = decoder.score(functional)
        assert score is not None
        law = decoder.prior @ decoder.rows
        *_, directions = np.linalg.svd(decoder.rows)
        unseen = directions[decoder.inputs.count :]
        assert len(unseen) == 6
        for direction in unseen:
            for other in (score + 0.1 * direction, score - 0.1 * direction):
                assert decoder.rows @ other == pytest.approx(functional, abs=1e-9)
                assert law @ other**2 > law @ score**2

    def test_is_none_where_the_channel_cannot_tell(self):
        decoder = Decoder.even(random_channel(4), THIRDS)
        assert decoder.score(decoder.inputs.sum_of(0)) is None
        everyone = decoder.score(decoder.inputs.answered())
        assert everyone == pytest.approx(np.ones(4))

    @pytest.mark.parametrize(("part", "told"), [(10_000, True), (10**7, True), (10**12, False)])
    def test_little_information_is_used_and_rounding_noise_is_not(self, part: int, told: bool):
        """A table that tells one part in ten thousand, or in ten million, tells something; one in 10^12 is noise."""
        half, little = ROW_SUM // 2, ROW_SUM // part
        more, less = (half + little, half - little), (half - little, half + little)
        channel = Channel((more, less, less, more), (-LEVEL_UNIT, LEVEL_UNIT), 2)
        decoder = Decoder.even(channel, np.array([0.5, 0.5]))
        gap = decoder.inputs.sum_of(0) - decoder.inputs.sum_of(1)
        score = decoder.score(gap)
        assert (score is not None) is told
        if score is not None:
            assert decoder.rows @ score == pytest.approx(gap, abs=1e-6)

    def test_counts_all_levels_of_a_group_as_equally_likely(self):
        prior = Decoder.even(random_channel(9, abstain=True), THIRDS).prior
        assert prior.tolist() == pytest.approx([0.27 / 4] * 4 + [0.63 / 4] * 4 + [ABSTAINING])


class TestVariance:
    # A peak can be a kink at a level, so levels are among the values.
    GRID = np.append(np.linspace(-1, 1, 1001), np.array(UNEVEN) / LEVEL_UNIT)

    @pytest.mark.parametrize("seed", range(5))
    def test_worst_case_is_that_of_a_grid_over_all_values(self, seed: int):
        channel = random_channel(10, seed=seed)
        decoder = Decoder.even(channel, THIRDS)
        score = decoder.score(decoder.inputs.sum_of(0) / 0.3 - decoder.inputs.sum_of(1) / 0.7)
        assert score is not None
        for group, worst in enumerate(worst_variances(decoder, score)):
            grid = variances_on_a_grid(channel, score, group, self.GRID).max()
            assert grid <= worst * (1 + 1e-12)
            assert grid == pytest.approx(worst, rel=1e-5)

    def test_worst_case_can_lie_off_levels_and_off_their_middle(self):
        """Else the parabola would not be worth its formula."""
        channel = random_channel(10, levels=(-LEVEL_UNIT, LEVEL_UNIT))
        decoder = Decoder.even(channel, THIRDS)
        score = decoder.score(decoder.inputs.sum_of(0))
        assert score is not None
        top = worst_variances(decoder, score)[0]
        simple = variances_on_a_grid(channel, score, 0, np.array([-1.0, 0.0, 1.0]))
        assert simple.max() < 0.9999 * top

    def test_least_case_is_that_of_a_grid_over_all_values(self):
        channel = random_channel(10)
        decoder = Decoder.even(channel, THIRDS)
        score = decoder.score(decoder.inputs.sum_of(1))
        assert score is not None
        for group, least in enumerate(least_variances(decoder, score)):
            assert variances_on_a_grid(channel, score, group, self.GRID).min() == pytest.approx(least, rel=1e-9)

    @pytest.mark.parametrize("centre", [-1.0, -0.4, 0.0, 0.77, 1.0])
    def test_with_a_centre_only_values_that_average_to_it_count(self, centre: float):
        """The adversary spreads the clients over values with that average: a linear program."""
        channel = random_channel(10, seed=2)
        decoder = Decoder.even(channel, THIRDS)
        score = decoder.score(decoder.inputs.sum_of(0))
        assert score is not None
        values = np.unique(np.append(np.linspace(-1, 1, 401), decoder.inputs.levels))
        for group, found in enumerate(worst_variances(decoder, score, centre=centre)):
            variance = variances_on_a_grid(channel, score, group, values)
            adversary = linprog(-variance, A_eq=[np.ones(len(values)), values], b_eq=[1, centre])
            assert found == pytest.approx(-(adversary.fun or 0.0), rel=2e-3)

    def test_abstaining_is_one_more_block(self):
        channel = random_channel(10, abstain=True)
        decoder = Decoder.even(channel, THIRDS)
        score = decoder.score(decoder.inputs.sum_of(0))
        assert score is not None
        law = np.array(channel.table[-1]) / ROW_SUM
        blocks = worst_variances(decoder, score)
        assert blocks[2] == pytest.approx(law @ score**2 - (law @ score) ** 2)
        assert worst_variances(decoder, score, centre=0.5)[2] == blocks[2]
        assert decoder.variance(score) == pytest.approx(0.27 * blocks[0] + 0.63 * blocks[1] + ABSTAINING * blocks[2])


class TestLeastFavourable:
    @pytest.mark.parametrize("seed", range(4))
    def test_is_unbiased_and_better_than_even(self, seed: int):
        even = Decoder.even(random_channel(16, seed=seed), THIRDS)
        functionals = [even.inputs.sum_of(0) / 0.3, even.inputs.sum_of(1) / 0.7]
        best = even.least_favourable(functionals)

        def worst(decoder: Decoder) -> float:
            scores = [decoder.score(f) for f in functionals]
            for score, functional in zip(scores, functionals, strict=True):
                assert score is not None
                assert decoder.rows @ score == pytest.approx(functional, abs=1e-8)
            return max(decoder.variance(score) for score in scores if score is not None)

        assert worst(best) < worst(even)
        assert best.prior.sum() == pytest.approx(1)
        assert best.prior[:4].sum() == pytest.approx(0.3)

    def test_reaches_the_best_score_there_is(self):
        """With one functional and one spare symbol, scores are a line: search it."""
        even = Decoder.even(random_channel(9, seed=3), THIRDS)
        functional = even.inputs.sum_of(0) / 0.3
        score = even.score(functional)
        assert score is not None
        direction = np.linalg.svd(even.rows)[2][-1]
        line = min(even.variance(score + t * direction) for t in np.linspace(-20, 20, 20001))
        found = even.least_favourable([functional])
        reached = found.score(functional)
        assert reached is not None
        assert line <= found.variance(reached) * (1 + 1e-6)
        assert found.variance(reached) == pytest.approx(line, rel=5e-3)

    def test_changes_nothing_where_there_is_no_choice(self):
        even = Decoder.even(random_channel(8), THIRDS)
        assert even.least_favourable([even.inputs.sum_of(0)]).prior is even.prior

    def test_changes_nothing_where_the_channel_cannot_tell(self):
        channel = random_channel(12)
        twins = Channel(tuple(channel.table[:4] * 2), channel.levels, 2)
        even = Decoder.even(twins, THIRDS)
        assert even.least_favourable([even.inputs.sum_of(0)]).prior is even.prior


class TestAimed:
    @pytest.mark.parametrize("seed", range(4))
    def test_each_functional_does_at_least_as_well_as_with_one_prior_for_all(self, seed: int):
        even = Decoder.even(random_channel(16, seed=seed), THIRDS)
        functionals = [even.inputs.sum_of(0) / 0.3, even.inputs.sum_of(1) / 0.7]
        aimed, shared = even.aimed(functionals), even.least_favourable(functionals)
        for functional in functionals:
            own, common = aimed.score(functional), shared.score(functional)
            assert own is not None
            assert common is not None
            assert aimed.variance(own) <= shared.variance(common) * 1.002
            assert aimed.rows @ own == pytest.approx(functional, abs=1e-8)

    def test_scores_are_linear_in_their_functionals(self):
        """Else the gap would not be the difference of the means."""
        even = Decoder.even(random_channel(16), THIRDS)
        women, men = even.inputs.sum_of(0) / 0.3, even.inputs.sum_of(1) / 0.7
        aimed = even.aimed([women, men])
        first, second, gap = (aimed.score(f) for f in (women, men, women - men))
        assert first is not None
        assert second is not None
        assert gap == pytest.approx(first - second, abs=1e-9)
        share, both = aimed.score(even.inputs.share_of(0)), aimed.score(women + even.inputs.share_of(0))
        assert share is not None
        assert both == pytest.approx(first + share, abs=1e-9)
        assert aimed.rows @ both == pytest.approx(women + even.inputs.share_of(0), abs=1e-8)

    def test_what_the_channel_cannot_tell_has_no_score(self):
        channel = random_channel(12)
        twins = Decoder.even(Channel(tuple(channel.table[:4] * 2), channel.levels, 2), THIRDS)
        assert twins.aimed([twins.inputs.sum_of(0)]).score(twins.inputs.sum_of(0)) is None


def test_a_constant_that_the_table_tells_of_one_input_only_is_not_told():
    """Three of four rows depend on each other, so what is not told of the constant is zero for the first input."""
    half = ROW_SUM // 2
    rows = (
        (ROW_SUM - 2, 1, 1),
        (1, ROW_SUM - 2, 1),
        (1, 1, ROW_SUM - 2),
        (1, half, ROW_SUM - half - 1),
    )
    decoder = Decoder.even(Channel(rows, (-LEVEL_UNIT, LEVEL_UNIT), 2, False), np.array([0.5, 0.5]))
    constant = np.array([1.0, 1.0, -1.0, -3.0])
    told = decoder.rows @ np.array([3.0, -1.0, 2.0])
    family = decoder._family(told + 0.7 * constant, constant)
    assert family is not None
    # The score is for the functional less 0.7 times the constant, which is what the table tells.
    assert decoder.rows @ family.base == pytest.approx(told, abs=1e-9)


@pytest.mark.parametrize("abstain", [False, True])
def test_variances_of_several_scores_are_those_of_each(abstain: bool):
    channel = random_channel(9, abstain=abstain)
    decoder = Decoder.even(channel, np.full(channel.groups, 1 / channel.groups))
    scores = list(np.random.default_rng(4).normal(size=(5, channel.symbols)))
    found = decoder.variances(scores)
    assert found == pytest.approx(np.array([decoder.variance(score) for score in scores]), rel=1e-12)


@pytest.mark.parametrize("off", [1e-6, 1e-3, 0.05])
def test_what_the_channel_tells_only_nearly_is_not_told(off: float):
    decoder = Decoder.even(coin_channel(), np.array([0.5, 0.5]))
    told = decoder.rows @ np.array([-4.0, 4.0])
    left = decoder.factors[0]
    beyond = np.array([1.0, 2.0, -1.0, 0.5])
    beyond -= left @ (left.T @ beyond)
    assert decoder.score(told) is not None
    assert decoder.score(told + off * np.abs(told).max() / np.abs(beyond).max() * beyond) is None


LEVELS = np.array([-1.0, 0.2, 1.0])
WEIGHTS = np.array([0.3, 0.7])


def table(symbols: int, seed: int = 5) -> SymbolLaws:
    rng = np.random.default_rng(seed)
    rows = rng.uniform(1, 4, (6, symbols))
    return SymbolLaws(rows / rows.sum(axis=1, keepdims=True), LEVELS, WEIGHTS)


def unbiased(of: SymbolLaws) -> Family:
    """All scores whose mean is v / p in the first group and -v / p in the second, less any constant."""
    target = np.concatenate([LEVELS / WEIGHTS[0], -LEVELS / WEIGHTS[1]])
    shift = np.repeat([1 / WEIGHTS[0], -1 / WEIGHTS[1]], 3)
    inverse = np.linalg.pinv(of.rows)
    nothing = np.linalg.svd(of.rows)[2][6:].T
    return Family(inverse @ target, np.column_stack([nothing, inverse @ shift]))


def total(of: SymbolLaws, score: np.ndarray, reckoning: Reckoning) -> float:
    second = (of.rows @ score**2).reshape(2, -1)
    return float(largest_averages(LEVELS, second, [reckoning])[0] @ WEIGHTS)


@pytest.mark.parametrize(
    "reckoning", [Reckoning(0.6, 0.3), Reckoning(0.0, None), Reckoning(-0.4, 0.1), Reckoning(-0.25, 0.05)]
)
@pytest.mark.parametrize("symbols", [6, 8])
def test_no_other_score_does_better(symbols: int, reckoning: Reckoning):
    of = table(symbols)
    family = unbiased(of)
    score = best_score(of, family, [reckoning])
    reached = total(of, score, reckoning)
    start = np.linalg.lstsq(family.free, score - family.base, rcond=None)[0]
    assert family.base + family.free @ start == pytest.approx(score, abs=1e-8)
    # The total is convex, so that what no step near it betters is the best.
    rng = np.random.default_rng(3)
    for _ in range(20):
        step = family.free @ rng.normal(size=len(start))
        step *= 0.05 * np.linalg.norm(score) / np.linalg.norm(step)
        assert total(of, score + step, reckoning) > reached * (1 - 1e-4)
    assert reached < total(of, family.base, reckoning)


def test_a_family_of_one_score_is_that_score():
    of = table(6)
    family = Family(np.arange(6.0), np.zeros((6, 0)))
    assert best_score(of, family, [Reckoning(0.0, 0.3)]) is family.base


def test_it_is_the_same_whatever_the_directions_are_called():
    of = table(9)
    family = unbiased(of)
    turned = Family(
        family.base + family.free @ np.arange(1.0, 5.0), family.free @ np.random.default_rng(1).normal(size=(4, 4))
    )
    reckoning = [Reckoning(0.3, 0.3)]
    assert best_score(of, family, reckoning) == pytest.approx(best_score(of, turned, reckoning), rel=1e-6, abs=1e-6)


def test_several_reckonings_count_alike():
    of = table(8)
    family, reckonings = unbiased(of), [Reckoning(0.8, 0.2), Reckoning(-0.8, 0.2)]
    both = best_score(of, family, reckonings)
    average = np.mean([total(of, both, r) for r in reckonings])
    for one in reckonings:
        alone = best_score(of, family, [one])
        assert average <= np.mean([total(of, alone, r) for r in reckonings]) * (1 + 1e-3)
