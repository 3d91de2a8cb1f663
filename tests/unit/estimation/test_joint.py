"""The gap where shares are estimated: what is accepted, how narrow it is, and a twin that forgets the band."""

import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from fairgauge.estimation import by_inversion, joint
from fairgauge.estimation.by_inversion import PopulationReader
from fairgauge.estimation.estimands import Estimands, estimands_of
from fairgauge.estimation.inversion import inverted
from fairgauge.estimation.joint import SIDE, JointTest
from fairgauge.estimation.population import PopulationTest
from fairgauge.goals.goal import Goal
from fairgauge.goals.inputs import Vector
from fairgauge.goals.sides import Pair
from tests.statistical.exact import FALSE_POSITIVE_RATE
from tests.surveys import designed, tells_all

RUNS = 25


def told(epsilon: str = "2") -> Estimands:
    return estimands_of(designed(Goal((0.5, 0.5), shares_known=False), epsilon, design="uncentred"))


def law(estimands: Estimands, share: float, means: tuple[float, float]) -> Vector:
    levels = estimands.decoder.inputs.levels
    parts = [np.array([np.interp(mean, levels, row) for row in np.eye(len(levels))]) for mean in means]
    found: Vector = np.concatenate([share * parts[0], (1 - share) * parts[1]]) @ estimands.decoder.rows
    return np.asarray(found / found.sum())


def rejected(share: float, means: tuple[float, float], answers: int, alpha: float) -> int:
    estimands, rng = told(), np.random.default_rng(11)
    counts = rng.multinomial(answers, law(estimands, share, means), size=RUNS).astype(float)
    gap = means[0] - means[1]
    return sum(not PopulationReader(estimands, row).believes_gap((0, 1), gap, alpha) for row in counts)


@pytest.mark.parametrize(("share", "means"), [(0.5, (0.8, 0.8)), (0.3, (1.0, 0.4))])
def test_the_right_gap_is_rejected_no_more_often_than_stated(share: float, means: tuple[float, float]):
    assert binom.sf(rejected(share, means, 20_000, 0.1) - 1, RUNS, 0.1) >= FALSE_POSITIVE_RATE


def test_a_test_that_takes_one_share_for_the_right_one_is_caught(monkeypatch: pytest.MonkeyPatch):
    """The mutant twin: the band is a point, beside the right share, and c is far from the mean."""
    monkeypatch.setattr(by_inversion, "inverted", lambda _, **__: (0.55, 0.5501))
    assert binom.sf(rejected(0.5, (0.8, 0.8), 20_000, 0.1) - 1, RUNS, 0.1) < FALSE_POSITIVE_RATE


def test_it_is_far_narrower_than_the_difference_of_two_means():
    estimands = told()
    reader = PopulationReader(estimands, 100_000 * law(estimands, 0.5, (0.8, 0.8)))
    joint = reader.gap((0, 1), 0.05)
    first, second = (reader.mean(g, 0.025) for g in (0, 1))
    apart = (first.high - second.low) - (first.low - second.high)
    # Half of the clients or fewer would do.
    assert ((joint.high - joint.low) / apart) ** 2 < 0.6
    assert joint.estimate == pytest.approx(0, abs=1e-9)
    assert joint.low < 0 < joint.high


@pytest.mark.parametrize(
    ("epsilon", "answers", "share", "means"),
    [
        ("2", 200, 0.5, (0.8, 0.8)),
        ("2", 5000, 0.1, (0.8, 0.4)),
        ("0.5", 3000, 0.3, (0.0, 0.0)),
        ("1", 10**5, 0.2, (1, 1)),
    ],
)
def test_a_gap_is_never_wider_than_what_both_means_allow(
    epsilon: str, answers: int, share: float, means: tuple[float, float]
):
    estimands = told(epsilon)
    rng = np.random.default_rng(3)
    reader = PopulationReader(estimands, rng.multinomial(answers, law(estimands, share, means)).astype(float))
    gap = reader.difference((0, 1), 0.05)
    first, second = (
        inverted(PopulationTest(reader.laws, mean.over, mean.under, reader.counts, SIDE * 0.05), close=1e-6)
        for mean in estimands.means or ()
    )
    # Rough edges of the means are rounded outward by a hundredth of their width.
    assert gap.low >= first[0] - second[1] - 0.02
    assert gap.high <= first[1] - second[0] + 0.02
    # What the interval leaves out is what coverage is asked about.
    assert not reader.believes_gap((0, 1), gap.high + 1e-3, 0.05)
    assert not reader.believes_gap((0, 1), gap.low - 1e-3, 0.05)
    assert reader.believes_gap((0, 1), (gap.low + gap.high) / 2, 0.05)


@pytest.mark.parametrize("means", [(0.9, 0.3), (0.3, 0.9)])
def test_the_p_value_of_a_gap_does_not_depend_on_its_sign(means: tuple[float, float]):
    """A negative gap is excluded as clearly as a positive one."""
    estimands = told()
    reader = PopulationReader(estimands, 50_000 * law(estimands, 0.5, means))
    assert reader.excludes((0, 1), 0.1, 0.01)
    assert not reader.excludes((0, 1), 0.6, 0.01)
    assert math.copysign(1, reader.joint((0, 1), 0.01).estimate) == math.copysign(1, means[0] - means[1])


def test_the_parts_of_alpha_are_no_more_than_alpha():
    """Whatever is used up anywhere in the test is in this sum: the union bound is the proof."""
    parts = [joint.SHARE, 2 * joint.SIDE, joint._UPPER, joint._LOWER, joint._BETS, joint._MEAN]
    assert math.fsum(parts) <= 1 + 1e-12


@pytest.mark.parametrize("answers", [300, 3000])
def test_no_gap_beyond_what_is_found_is_accepted(answers: int):
    """Assumed where the hull is searched for, as in ``test_by_inversion``."""
    estimands = told()
    counts = np.random.default_rng(5).multinomial(answers, law(estimands, 0.3, (0.6, 0.2))).astype(float)
    test = PopulationReader(estimands, counts).joint((0, 1), 0.05)
    low, high = inverted(test)
    values = np.concatenate([np.linspace(test.extent[0], low, 12)[:-1], np.linspace(high, test.extent[1], 12)[1:]])
    assert not [value for value in values if test.margin(float(value)) < 0]


def judged(answers: int = 3000, alpha: float = 0.05) -> JointTest:
    estimands = told()
    counts = np.random.default_rng(5).multinomial(answers, law(estimands, 0.3, (0.6, 0.2))).astype(float)
    return PopulationReader(estimands, counts).joint((0, 1), alpha)


def test_the_cells_of_shares_cover_their_interval():
    test = judged()
    low, high = test._shares[0] - test._width / 2, test._shares[-1] + test._width / 2
    assert low <= test.share[0] < low + test._width
    assert high - test._width - 1e-6 <= test.share[1] <= high + 1e-6
    assert np.diff(test._shares) == pytest.approx(np.full(len(test._shares) - 1, test._width))


def test_the_average_has_its_part_of_alpha_on_both_sides_together():
    assert 2 * ndtr(-judged(alpha=0.02)._nearest_z) == pytest.approx(joint._MEAN * 0.02)


def test_bets_win_no_more_than_money_that_is_shared_out_equally():
    """Money of several stakes is a martingale as their average; the largest less the logarithm of how many is less."""
    test = judged(answers=40)
    beta = joint._BETS * test.alpha
    for region in test._regions(0.9):
        largest = float(test.laws.most((test.laws.rows @ region.sizes**2)[:, None])[0])
        stakes = np.sqrt(2 * np.log(2 / beta) / (test.answers * largest * np.array([1.0, 0.1, 0.01])))
        stakes = np.minimum(stakes, 0.9 / region.sizes.max())
        shared = [
            np.log(np.mean([np.exp(np.log1p(stake * gains) @ test.counts) for stake in stakes], axis=0))
            for gains in (region.cells.min(axis=1), -region.cells.max(axis=1))
        ]
        assert (test._money(region) <= np.maximum(*shared) + 1e-9).all()


def test_bets_reject_from_twice_the_money_on_since_there_are_two_sides(monkeypatch: pytest.MonkeyPatch):
    test = judged()
    low, high = inverted(test)
    value = low + 0.04 * (high - low)
    enough = math.log(2 / (joint._BETS * test.alpha))
    for won, accepted in ((enough - 0.01, True), (enough + 0.01, False)):
        monkeypatch.setattr(JointTest, "_money", lambda _, region, won=won: np.full(len(region.cells), won))
        assert all((test._nearest(region.cells) != 0).all() for region in test._regions(value))
        assert (test.margin(value) < 0) is accepted


def test_joint_tests_of_several_pairs_share_alpha(monkeypatch: pytest.MonkeyPatch):
    estimands = estimands_of(tells_all(groups=3))
    counts = np.linspace(50_000.0, 60_000.0, estimands.decoder.rows.shape[1])
    reader, asked, found = PopulationReader(estimands, counts), [], judged(300)

    def joint(_reader: PopulationReader, _pair: Pair, alpha: float) -> JointTest:
        asked.append(alpha)
        return found

    monkeypatch.setattr(PopulationReader, "joint", joint)
    reader.difference((0, 1), 0.06)
    reader.believes_gap((0, 1), 0.0, 0.06)
    reader.excludes((0, 1), 0.0, 0.06)
    assert asked == pytest.approx([0.02, 0.02, 0.02])
