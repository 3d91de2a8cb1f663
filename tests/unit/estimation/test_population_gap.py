"""The gap where shares are estimated: what is accepted, what is spent of alpha, and twins that must be caught.

Covers: fairgauge.estimation.population_gap, fairgauge.estimation.gap_tests, fairgauge.estimation.one_score.
"""

import math
from dataclasses import replace
from decimal import Decimal
from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import binom, norm

from fairgauge.designs import make_channel
from fairgauge.estimation import gap_tests, population_gap
from fairgauge.estimation.anytime import AnytimeGapTest, AnytimeTest
from fairgauge.estimation.betting import bounds_of_means
from fairgauge.estimation.by_inversion import AnytimeReader, PopulationReader
from fairgauge.estimation.estimands import Asked, Estimands, Ratio, estimands_for, estimands_of
from fairgauge.estimation.gap_score import GapScore
from fairgauge.estimation.gap_tests import SHARE, least_margin
from fairgauge.estimation.inversion import inverted
from fairgauge.estimation.normal import NormalReader
from fairgauge.estimation.one_score import Contradicted, OneScoreReader
from fairgauge.estimation.population_gap import PopulationGapTest, needed_sum, parabola_at, sum_tail
from fairgauge.estimation.splitting import InProportion, Thrown
from fairgauge.targets.inputs import Vector
from fairgauge.targets.target import Goal
from tests.statistical.exact import FALSE_POSITIVE_RATE
from tests.surveys import tells_all
from tests.unit.estimation.test_gap_score import law, score_of

READERS: tuple[type[OneScoreReader], ...] = (PopulationReader, AnytimeReader, NormalReader)
DRAWS = 150


@cache
def told(epsilon: str = "2") -> Estimands:
    goal = Goal((0.5, 0.5), shares_known=False, expect=0.8)
    return estimands_for(goal, make_channel(goal, Decimal(epsilon), design="uncentred")[1], Asked.of(goal))


def drawn(answers: int, share: float, means: tuple[float, float], seed: int = 5) -> Vector:
    symbols = law(told(), (share, 1 - share), means)
    return np.random.default_rng(seed).multinomial(answers, symbols / symbols.sum()).astype(float)


def judged(answers: int = 3000, alpha: float = 0.05, share: tuple[float, float] = (0.25, 0.35)) -> PopulationGapTest:
    parts = Thrown("x").parts(drawn(answers, 0.3, (0.6, 0.2)))
    return PopulationGapTest(PopulationReader(told(), parts[0]).laws, score_of(told(), expect=0.8), parts, alpha, share)


def _truth() -> Vector:
    symbols = law(told(), (0.3, 0.7), (0.9, 0.5))
    return np.asarray(symbols / symbols.sum())


def broken(missed: int, alpha: float = 0.2) -> bool:
    return bool(binom.sf(missed - 1, DRAWS, alpha) < FALSE_POSITIVE_RATE)


def misses(answers: int = 3000, share: tuple[float, float] = (0.3, 0.3), alpha: float = 0.2) -> int:
    """Return how often the right gap is rejected, where groups are 0.3 and 0.7 and the gap is 0.4."""
    counts = np.random.default_rng(11).multinomial(answers, _truth(), size=DRAWS).astype(float)
    score, laws = score_of(told(), expect=0.8), judged().laws
    tests = (
        PopulationGapTest(laws, score, Thrown(f"x {number}").parts(row), alpha, share)
        for number, row in enumerate(counts)
    )
    return sum(test.margin(0.4) >= 0 for test in tests)


@pytest.mark.parametrize("answers", [40, 900, 3000, 10**5])
def test_the_right_gap_is_rejected_no_more_often_than_stated(answers: int):
    """One that misses 45 % at 80 % confidence is caught in 98 of 100 runs: it is broken from 56 of 150 on."""
    assert not broken(misses(answers))


@pytest.mark.parametrize("reader", READERS)
def test_every_kind_rejects_the_right_gap_no_more_often_than_stated(reader: type[OneScoreReader]):
    counts = np.random.default_rng(12).multinomial(4000, _truth(), size=40).astype(float)
    tests = (reader(told(), row, None, Thrown(f"x {number}")) for number, row in enumerate(counts))
    missed = sum(not test.believes_gap((0, 1), 0.4, 0.1) for test in tests)
    assert binom.sf(missed - 1, 40, 0.1) >= FALSE_POSITIVE_RATE


def test_a_mutant_with_a_fourth_of_the_variance_is_caught(monkeypatch: pytest.MonkeyPatch):
    """Both where tails are taken for normal and in their cases."""
    whole = PopulationGapTest.variances

    def less(self: PopulationGapTest, lines: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        low, high = whole(self, lines)
        return low / 4, high / 4

    monkeypatch.setattr(PopulationGapTest, "variances", less)
    assert broken(misses(10**5))


def test_a_mutant_that_takes_one_share_for_the_right_one_is_caught(monkeypatch: pytest.MonkeyPatch):
    """The interval of the share is dropped for a point beside it, and c is far from the mean."""
    monkeypatch.setattr(GapScore, "centres", lambda _self, parts, _stray, _draws: np.full(len(parts), -0.5))
    assert not broken(misses(20_000, (0.3, 0.3)))
    assert not broken(misses(20_000, (0.25, 0.36)))
    assert broken(misses(20_000, (0.36, 0.36)))


def test_the_parts_of_alpha_are_no_more_than_alpha():
    """Whatever is used up anywhere in the test is in this sum: the union bound is the proof."""
    mean, bets = judged()._levels
    assert math.fsum([SHARE, population_gap._UPPER, population_gap._LOWER, bets, mean]) <= 1 + 1e-12
    mean, bets = judged(answers=999)._levels
    assert mean == 0
    assert SHARE + bets <= 1 + 1e-12


def test_every_place_where_the_variance_is_bounded_has_its_own_part_of_alpha(monkeypatch: pytest.MonkeyPatch):
    asked = []

    def spied(squares, counts, alphas, most):
        asked.append((len(squares), alphas))
        return bounds_of_means(squares, counts, alphas, most)

    monkeypatch.setattr(population_gap, "bounds_of_means", spied)
    test = judged(alpha=0.05, share=(0.3, 0.3))
    test.margin(0.4)
    (places, (low, high)), *_ = asked
    assert places * low == pytest.approx(population_gap._LOWER * 0.05)
    assert places * high == pytest.approx(population_gap._UPPER * 0.05)


@pytest.mark.parametrize("reader", READERS)
def test_the_share_has_its_part_of_a_pair_and_pairs_share_alpha(
    reader: type[OneScoreReader], monkeypatch: pytest.MonkeyPatch
):
    estimands = estimands_of(tells_all(groups=3))
    counts = np.linspace(50_000.0, 60_000.0, estimands.decoder.rows.shape[1]).round()
    asked, of_share, test = [], [], judged(300)

    def share(_self: OneScoreReader, _share: Ratio, alpha: float) -> tuple[float, float]:
        of_share.append(alpha)
        return 0.2, 0.4

    def spied(_self: OneScoreReader, _score: GapScore, _share: tuple[float, float], alpha: float) -> PopulationGapTest:
        asked.append(alpha)
        return test

    monkeypatch.setattr(reader, "share", share)
    monkeypatch.setattr(reader, "test_of", spied)
    found = reader(estimands, counts)
    found.difference((0, 1), 0.06)
    found.excludes((0, 1), 0.0, 0.06)
    found.believes_gap((0, 1), 1.9, 0.06)
    assert asked == pytest.approx([0.02] * len(asked))
    assert of_share == pytest.approx([0.02 * SHARE] * 3)


def test_a_share_that_is_known_is_an_interval_of_one_point():
    narrow, wide = (inverted(judged(share=share)) for share in ((0.3, 0.3), (0.25, 0.35)))
    assert judged(share=(0.3, 0.3)).shares.tolist() == [0.3]
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_the_points_of_shares_reach_from_end_to_end():
    shares = judged(share=(0.25, 0.35)).shares
    assert shares[0] == 0.25
    assert shares[-1] == 0.35
    assert len(shares) == gap_tests.POINTS


@pytest.mark.parametrize("bend", [-3.0, 0.0, 2.5])
def test_the_least_margin_is_no_more_than_that_of_any_parabola(bend: float):
    for middle in np.linspace(-1, 1, 9):
        points = np.linspace(-1, 1, 5)
        margins = 1 + bend * (points - middle) ** 2
        every = 1 + bend * (np.linspace(-1, 1, 1001) - middle) ** 2
        assert every.min() - abs(bend) / 16 - 1e-12 <= least_margin(margins) <= every.min() + 1e-12


def test_numbers_that_are_cut_off_below_are_allowed_for():
    """Against the exact probability for two numbers; and the level that is needed is met."""
    a, b = 0.6, 0.8

    def exact(z: float) -> float:
        cut = population_gap._WORST
        inside = quad(lambda x: norm.pdf(x) * _over((z - a * x) / b), -cut, 12)[0]
        return inside + ndtr(-cut) * _over((z + a * cut) / b)

    def _over(y: float) -> float:
        return float(ndtr(-y)) if y > -population_gap._WORST else 1.0

    for z in (0.5, 1.5, 2.5):
        assert exact(z) <= sum_tail((a, b), z) + 1e-9
        assert sum_tail((a, b), z) <= exact(z) + 0.02 * z
        assert exact(z) > ndtr(-z)
    assert sum_tail(tuple(population_gap._WEIGHTS), needed_sum(tuple(population_gap._WEIGHTS), 0.004)) <= 0.004
    assert needed_sum(tuple(population_gap._WEIGHTS), 0.004) == pytest.approx(-norm.ppf(0.004), abs=0.01)


def test_a_parabola_is_bounded_by_its_bounds_at_nodes():
    rng, nodes = np.random.default_rng(3), np.array([-1.0, 0.1, 0.4, 0.7, 1.0])
    for _ in range(50):
        a, b, extra = rng.uniform(0.5, 2), rng.uniform(-1, 1), rng.uniform(0, 1)
        values = a * (nodes - b) ** 2 + extra
        off = rng.uniform(0, 0.05, size=(2, len(nodes)))
        for place in (-1.0, -0.4, 0.1, 0.39, 0.95, 1.0):
            true = a * (place - b) ** 2 + extra
            low, high = parabola_at(place, nodes, (values - off[0])[:, None], (values + off[1])[:, None])
            assert low[0] <= true + 1e-12
            assert high[0] >= true - 1e-12
            low, high = parabola_at(place, nodes, values[:, None], values[:, None])
            assert (low[0], high[0]) == pytest.approx((true, true))


@pytest.mark.parametrize("answers", [20, 300])
def test_tails_of_a_part_are_no_less_than_the_true_ones(answers: int):
    """Two symbols, so that the sum is binomial: with what is known of the variance, on both sides of zero."""
    question = estimands_of(tells_all())
    test = PopulationGapTest(
        PopulationReader(question, np.ones(4)).laws, score_of(question), np.full((5, 4), answers / 4), 0.05, (0.5, 0.5)
    )
    symbols = law(question, (0.5, 0.5), (0.2, 0.2))
    base, slope = (each[0] for each in test.score.lines(0.0, np.array([0.5])))
    psi = base + 0.2 * slope
    variance = float(psi**2 @ symbols)
    tails = test._tails(psi[None], (np.array([0.97 * variance]), np.array([1.03 * variance])), 0)
    assert tails is not None
    sums = np.random.default_rng(1).multinomial(answers, symbols, size=200_000) @ psi
    for z in (-1.5, -0.5, 0.3, 1.0, 2.0):
        average = z * math.sqrt(variance / answers)
        for sign in (1, -1):
            likely = float((sign * sums >= average * answers).mean())
            said = float(ndtr(-tails(np.array([average]), sign)[0]))
            assert said >= likely - 5 * math.sqrt(likely * (1 - likely) / len(sums))
            assert answers < 100 or said <= likely + 0.12


def test_bets_start_with_one_piece_of_money_for_all_stakes():
    """Before any answer nothing is won: the stakes share it, and do not have one each."""
    begun = judged()
    none = PopulationGapTest(begun.laws, begun.score, np.zeros_like(begun.parts), 0.05, (0.3, 0.3))
    with np.errstate(divide="ignore"):
        assert none._money(none.psi(none.score.lines(0.4, none.shares))) == pytest.approx(0.0, abs=1e-12)


def test_money_is_a_martingale_at_the_truth():
    """On average over draws it is no more than 1, on either side together 2; stakes follow the parts before."""
    counts = np.random.default_rng(2).multinomial(400, _truth(), size=600).astype(float)
    won, score, laws = [], score_of(told(), expect=0.8), judged().laws
    for number, row in enumerate(counts):
        parts = Thrown(f"y {number}").parts(row)
        test = PopulationGapTest(laws, score, parts, 0.5, (0.3, 0.3))
        won.append(float(test._money(test.psi(test.score.lines(0.4, test.shares)))[0]))
    money = np.exp(np.minimum(won, 20))
    # Money is above x with probability 2 / x at most: exact.
    for enough in (4, 8, 16):
        assert binom.sf(int((money >= enough).sum()) - 1, len(money), 2 / enough) >= FALSE_POSITIVE_RATE


def test_bets_alone_decide_where_answers_are_few():
    test = judged(answers=500)
    value = inverted(test)[1]
    won = test._money(test.psi(test.score.lines(value, test.shares)))
    assert least_margin(won) == pytest.approx(math.log(2 / ((1 - SHARE) * 0.05)), abs=0.05)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("answers", [700, 3000])
def test_no_gap_beyond_what_is_found_is_accepted(reader: type[OneScoreReader], answers: int):
    """Assumed where the hull is searched for, as in ``test_by_inversion``."""
    found = reader(told(), drawn(answers, 0.3, (0.6, 0.2)))
    test, interval = found.gap_test((0, 1), 0.05), found.difference((0, 1), 0.05)
    ends = np.linspace(-2, interval.low, 8)[:-1], np.linspace(interval.high, 2, 8)[1:]
    assert not [value for value in np.concatenate(ends) if -2 < value < 2 and test.margin(float(value)) < 0]
    assert found.believes_gap((0, 1), (interval.low + interval.high) / 2, 0.05)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("means", [(0.9, 0.3), (0.3, 0.9)])
def test_the_p_value_of_a_gap_does_not_depend_on_its_sign(reader: type[OneScoreReader], means: tuple[float, float]):
    found = reader(told(), drawn(50_000, 0.5, means))
    assert found.excludes((0, 1), 0.1, 0.01)
    assert not found.excludes((0, 1), 0.6, 0.01)


def test_a_plan_is_about_as_wide_as_what_is_read():
    """Half-widths of six draws against the planned one: within two parts of a hundred on average."""
    truth = law(told(), (0.5, 0.5), (0.8, 0.8))
    truth = truth / truth.sum()
    planned = PopulationReader(told(), 20_000 * truth, split=InProportion()).difference((0, 1), 0.01)
    counts = np.random.default_rng(4).multinomial(20_000, truth, size=6).astype(float)
    widths = []
    for number, row in enumerate(counts):
        found = PopulationReader(told(), row, None, Thrown(f"z {number}")).difference((0, 1), 0.01)
        widths.append(found.high - found.low)
    assert np.mean(widths) / (planned.high - planned.low) == pytest.approx(1, abs=0.02)


def test_it_is_nearly_as_narrow_as_if_the_share_and_the_mean_were_known():
    truth = law(told(), (0.5, 0.5), (0.8, 0.8))
    truth = truth / truth.sum()
    first, second = (told().mean_of(side) for side in (0, 1))
    influence = first.influence(truth) - second.influence(truth)
    ideal = -norm.ppf(0.005) * math.sqrt(float(influence**2 @ truth) / 10**5)
    for reader, wider in ((PopulationReader, 1.08), (NormalReader, 1.04), (AnytimeReader, 1.9)):
        planned = reader(told(), 10**5 * truth, split=InProportion()).difference((0, 1), 0.01)
        assert 0.99 < (planned.high - planned.low) / 2 / ideal < wider


def test_looks_again_and_again_spend_alpha_once():
    """Money on several c is shared out before any answer, and none of it depends on how many have answered."""
    test = AnytimeGapTest(judged().laws, score_of(told(), expect=0.8), 0 * judged().counts[None], 0.05, (0.3, 0.3))
    assert test.margin(0.1) == pytest.approx(-math.log(2 / ((1 - SHARE) * 0.05)), abs=1e-9)


def test_the_share_of_an_anytime_gap_holds_at_every_look_too():
    found = AnytimeReader(told(), drawn(3000, 0.3, (0.6, 0.2)))
    assert isinstance(found.test(told().mean_of(0), 0.05), AnytimeTest)


@pytest.mark.parametrize("answers", [300, 3000, 50_000])
@pytest.mark.parametrize("share", [(0.3, 0.3), (0.27, 0.33)])
def test_what_is_accepted_at_once_is_what_the_margin_accepts(answers: int, share: tuple[float, float]):
    test = judged(answers, share=share)
    wide = 1.5 * test.limit(test.estimate)
    values = np.linspace(test.estimate - wide, test.estimate + wide, 25)
    decided = [test.accepts(value) for value in values]
    assert decided == [test.margin(value) < 0 for value in values]
    assert {True, False} == set(decided)


@pytest.mark.parametrize("ratio", [1.05, 3.0])
def test_a_gap_is_believed_if_its_interval_holds_it(ratio: float):
    """Where the band cuts off the share that the answers point to, its end is asked for."""
    reader = PopulationReader(replace(told(), ratio=ratio), drawn(20_000, 0.515, (0.6, 0.2)), split=Thrown("x"))
    gap = reader.gap((0, 1), 0.05)
    inward = 0.01 * (gap.high - gap.low)
    assert [reader.believes_gap((0, 1), end, 0.05) for end in (gap.low + inward, gap.high - inward)] == [True, True]
    assert [reader.believes_gap((0, 1), end, 0.05) for end in (gap.low - inward, gap.high + inward)] == [False, False]


def test_a_gap_is_not_believed_where_the_answers_contradict_the_band():
    reader = PopulationReader(replace(told(), ratio=1.05), drawn(100_000, 0.6, (0.6, 0.2)), split=Thrown("x"))
    with pytest.raises(Contradicted):
        reader.gap((0, 1), 0.05)
    with pytest.raises(Contradicted):
        reader.believes_gap((0, 1), 0.4, 0.05)
