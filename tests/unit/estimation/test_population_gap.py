"""The gap where shares are estimated: what is accepted, what is spent of alpha, and twins that must be caught.

Covers: fairgauge.estimation.population_gap, fairgauge.estimation.hypothesis_tests,
fairgauge.estimation.interval_readers.
"""

import math
from dataclasses import replace
from decimal import Decimal
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import binom, hypergeom, norm

from fairgauge.designs import make_channel
from fairgauge.estimation import hypothesis_tests, population_gap
from fairgauge.estimation.anytime import AnytimeGapTest, AnytimeTest
from fairgauge.estimation.betting import bounds_of_means
from fairgauge.estimation.confidence_set import inverted
from fairgauge.estimation.draws import Draws
from fairgauge.estimation.estimands import Asked, Estimands, Ratio, estimands_for, estimands_of
from fairgauge.estimation.gap_score import FRACTIONS, GapScore, InProportion, Thrown
from fairgauge.estimation.hypothesis_tests import SHARE, NormalGapTest, least_margin
from fairgauge.estimation.interval_readers import AnytimeReader, Contradicted, NormalReader, PopulationReader, Reader
from fairgauge.estimation.population_gap import PopulationGapTest, _parabola_at, _sum_tail, _through, needed_sum
from fairgauge.targets.assumed_values import AssumedValues
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target
from tests.statistical.exact import FALSE_POSITIVE_RATE
from tests.surveys import tells_all
from tests.unit.estimation.test_gap_score import law, score_of

READERS: tuple[type[Reader], ...] = (PopulationReader, AnytimeReader, NormalReader)
DRAWS = 150


@cache
def told(epsilon: str = "2") -> Estimands:
    scores = Scores(Target((0.5, 0.5), shares_known=False), AssumedValues(expect=0.8))
    return estimands_for(scores, make_channel(scores, Decimal(epsilon), design="uncentred")[1], Asked.of(scores.target))


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
def test_every_kind_rejects_the_right_gap_no_more_often_than_stated(reader: type[Reader]):
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
def test_the_share_has_its_part_of_a_pair_and_pairs_share_alpha(reader: type[Reader], monkeypatch: pytest.MonkeyPatch):
    estimands = estimands_of(tells_all(groups=3))
    counts = np.linspace(50_000.0, 60_000.0, estimands.decoder.rows.shape[1]).round()
    asked, of_share, test = [], [], judged(300)

    def share(_self: Reader, _share: Ratio, alpha: float) -> tuple[float, float]:
        of_share.append(alpha)
        return 0.2, 0.4

    def spied(_self: Reader, _score: GapScore, _share: tuple[float, float], alpha: float) -> PopulationGapTest:
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
    assert len(shares) == hypothesis_tests._POINTS


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
        assert exact(z) <= _sum_tail((a, b), z) + 1e-9
        assert _sum_tail((a, b), z) <= exact(z) + 0.02 * z
        assert exact(z) > ndtr(-z)
    assert _sum_tail(tuple(population_gap._WEIGHTS), needed_sum(tuple(population_gap._WEIGHTS), 0.004)) <= 0.004
    assert needed_sum(tuple(population_gap._WEIGHTS), 0.004) == pytest.approx(-norm.ppf(0.004), abs=0.01)


def test_a_parabola_is_bounded_by_its_bounds_at_nodes():
    rng, nodes = np.random.default_rng(3), np.array([-1.0, 0.1, 0.4, 0.7, 1.0])
    for _ in range(50):
        a, b, extra = rng.uniform(0.5, 2), rng.uniform(-1, 1), rng.uniform(0, 1)
        values = a * (nodes - b) ** 2 + extra
        off = rng.uniform(0, 0.05, size=(2, len(nodes)))
        for place in (-1.0, -0.4, 0.1, 0.39, 0.95, 1.0):
            true = a * (place - b) ** 2 + extra
            low, high = _parabola_at(place, nodes, (values - off[0])[:, None], (values + off[1])[:, None])
            assert low[0] <= true + 1e-12
            assert high[0] >= true - 1e-12
            low, high = _parabola_at(place, nodes, values[:, None], values[:, None])
            assert (low[0], high[0]) == pytest.approx((true, true))


def test_a_parabola_goes_through_both_ends_and_the_middle():
    x = np.linspace(-1, 1, 9)
    assert _through(np.array([2.0, 0.5, 1.0]), 9) == pytest.approx(0.5 - 0.5 * x + x**2, abs=1e-15)
    assert _through(np.array([2.0]), 1).tolist() == [2.0]


@pytest.mark.parametrize("decide", [PopulationGapTest.accepts, PopulationGapTest.margin])
def test_the_average_has_half_of_its_part_of_alpha_on_either_side(decide, monkeypatch: pytest.MonkeyPatch):
    found, whole = [], population_gap.needed_sum

    def needed_sum(*asked):
        found.append(asked[1])
        return whole(*asked)

    monkeypatch.setattr(population_gap, "needed_sum", needed_sum)
    test = judged(50_000, share=(0.3, 0.3))
    decide(test, test.estimate)
    assert found == [pytest.approx(0.84 * test.alpha / 2, rel=1e-12)]


def test_a_parabola_is_bounded_by_the_three_nodes_on_either_side():
    """Lagrange's weights: upper bounds where they are above zero, lower ones where they are below, and the best."""
    rng, nodes = np.random.default_rng(4), np.array([-1.0, 0.1, 0.4, 0.7, 1.0])
    low = 1 + (nodes - 0.2) ** 2 - rng.uniform(0, 0.3, len(nodes))
    high = low + rng.uniform(0, 0.4, len(nodes))
    for left, right in pairwise(nodes):
        place = 0.6 * left + 0.4 * right
        tops, bottoms = [float(np.interp(place, nodes, high))], [0.0]
        for x, y, z in zip(nodes[:-2], nodes[1:-1], nodes[2:], strict=True):
            if not x <= left < right <= z:
                continue
            weights = [
                (place - y) * (place - z) / ((x - y) * (x - z)),
                (place - x) * (place - z) / ((y - x) * (y - z)),
                (place - x) * (place - y) / ((z - x) * (z - y)),
            ]
            three = [
                (w, low[node], high[node]) for w, node in zip(weights, np.searchsorted(nodes, (x, y, z)), strict=True)
            ]
            tops.append(sum(w * (most if w > 0 else least) for w, least, most in three))
            bottoms.append(sum(w * (least if w > 0 else most) for w, least, most in three))
        found = _parabola_at(place, nodes, low[:, None], high[:, None])
        assert [float(each[0]) for each in found] == pytest.approx([min(max(bottoms), *tops), min(tops)], rel=1e-12)


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
def test_no_gap_beyond_what_is_found_is_accepted(reader: type[Reader], answers: int):
    """Assumed where the hull is searched for, as in ``test_readers``."""
    found = reader(told(), drawn(answers, 0.3, (0.6, 0.2)))
    test, interval = found.gap_test((0, 1), 0.05), found.difference((0, 1), 0.05)
    ends = np.linspace(-2, interval.low, 8)[:-1], np.linspace(interval.high, 2, 8)[1:]
    assert not [value for value in np.concatenate(ends) if -2 < value < 2 and test.margin(float(value)) < 0]
    assert found.believes_gap((0, 1), (interval.low + interval.high) / 2, 0.05)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("means", [(0.9, 0.3), (0.3, 0.9)])
def test_the_p_value_of_a_gap_does_not_depend_on_its_sign(reader: type[Reader], means: tuple[float, float]):
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


@pytest.mark.parametrize("answers", [3000, 50_000])
@pytest.mark.parametrize("about", [0.0, 0.03])
def test_what_is_accepted_at_once_is_accepted_by_the_whole_test(answers: int, about: float):
    """Proven where the share that the answers point to is a point that is asked, and seen beside it."""
    told = judged(answers).score.told(judged(answers).counts)
    test = judged(answers, share=(told - about, told + about))
    wide = 1.5 * test.limit(test.estimate)
    values = np.linspace(test.estimate - wide, test.estimate + wide, 25)
    at_once = [value for value in values if test.accepts_at_once(value)]
    assert 5 < len(at_once) < 20
    assert all(test._beyond(value) < 0 for value in at_once)


def test_the_share_that_the_answers_point_to_is_one_of_its_interval(monkeypatch: pytest.MonkeyPatch):
    """Whatever the points beside it say; a share outside of the interval is not."""
    monkeypatch.setattr(PopulationGapTest, "_beyond", lambda _self, _value: 7.0)
    told = judged(50_000).score.told(judged(50_000).counts)
    within, beside = judged(50_000, share=(told - 0.01, told + 0.01)), judged(50_000, share=(told + 0.01, 0.5))
    assert within.accepts(within.estimate)
    assert within.margin(within.estimate + 1) == 7
    assert beside.margin(within.estimate) == 7


def test_few_answers_are_not_accepted_at_once():
    """Where bets alone decide."""
    test = judged(300)
    assert not test.accepts_at_once(test.estimate)


def test_what_is_accepted_at_once_needs_no_bounds_of_the_variance(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(PopulationGapTest, "variances", None)
    reader = PopulationReader(told(), drawn(50_000, 0.3, (0.6, 0.2)), split=Thrown("x"))
    assert reader.believes_gap((0, 1), 0.4, 0.05)


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


def with_draws(answers: int = 3000, count: float = 400.0) -> PopulationGapTest:
    """One share, and secret draws among the counts, as evenly over the symbols as can be."""
    law_of_draws = np.full(len(_truth()), 1 / len(_truth()))
    counts = drawn(answers, 0.3, (0.6, 0.2)) + np.random.default_rng(8).multinomial(int(count), law_of_draws)
    base = judged()
    return PopulationGapTest(
        base.laws, base.score, Thrown("x").parts(counts), 0.05, (0.3, 0.3), draws=Draws(count, law_of_draws)
    )


def needed(level: float) -> float:
    """What the parts' deviations need to reach together, from the probability that they do."""
    weights = tuple(np.sqrt(FRACTIONS))
    return float(brentq(lambda z: _sum_tail(weights, z) - level, 0.5, 8, xtol=1e-12))


def test_the_sum_of_parts_is_the_one_that_the_page_states(monkeypatch: pytest.MonkeyPatch):
    """Tails as they are given: weights, what no part is below, the level of one side, and where the bound starts."""
    given = np.array([1.5, -5.0, 2.0, 1.0, 2.5])
    told_by = {part: lambda averages, sign, part=part: np.full(len(averages), sign * given[part]) for part in range(5)}
    monkeypatch.setattr(PopulationGapTest, "_tails", lambda _self, _psi, _bounds, place, _ways=None: told_by[place])
    monkeypatch.setattr(PopulationGapTest, "_ways", [None] * 5)
    test = judged(share=(0.3, 0.3))
    value = _where_normal_sums_to(test, needed(0.84 * 0.05 / 2) + 0.05)
    sums = [float(np.sqrt(FRACTIONS) @ np.maximum(sign * given, -2)) for sign in (1, -1)]
    assert max(sums) - needed(0.84 * 0.05 / 2) == pytest.approx(test.margin(value), abs=1e-7)


def _normal_at(test: PopulationGapTest, value: float) -> Vector:
    """The parts' deviations by the normal law, on the side where they are larger."""
    lines = test.score.lines(value, test.shares)
    averages, (low, high) = test.sums(test.psi(lines)) / test.sizes[:, None], test.variances(lines)
    sides = (test._normal(sign * averages, low, high) for sign in (1, -1))
    return max(sides, key=lambda each: float(test._summed(each)[0]))


def _where_normal_sums_to(test: PopulationGapTest, total: float) -> float:
    low, high = test.estimate, test.estimate + 2 * test.limit(test.estimate)
    return float(brentq(lambda value: float(test._summed(_normal_at(test, value))[0]) - total, low, high, xtol=1e-4))


def test_where_the_normal_law_accepts_the_margin_is_the_one_that_the_page_states():
    test = judged(share=(0.3, 0.3))
    value = _where_normal_sums_to(test, needed(0.84 * 0.05 / 2) - 0.05)
    deviations = _normal_at(test, value)
    expected = float(np.sqrt(FRACTIONS) @ np.maximum(deviations[:, 0], -2)) - needed(0.84 * 0.05 / 2)
    assert expected < 0, "or tails are asked"
    assert test.margin(value) == pytest.approx(expected, abs=1e-7)
    given = np.array([1.5, -5.0, 2.0, -2.1, 2.5])
    assert test._summed(given[:, None])[0] == pytest.approx(np.sqrt(FRACTIONS) @ [1.5, -2.0, 2.0, -2.0, 2.5])


def test_a_number_that_is_cut_off_reaches_where_it_is_cut():
    """There the bound for one number is exact."""
    assert _sum_tail((0.75,), -2 * 0.75) == pytest.approx(1, abs=1e-12)
    assert _sum_tail((0.75,), -2 * 0.75 + 1e-9) == pytest.approx(float(ndtr(2)), abs=1e-8)


def test_what_draws_are_dealt_out_unevenly_is_paid_for():
    """In the sum of the parts and in the bets, each by all that it may be; and alpha has a part less for it."""
    test = with_draws()
    assert test.level == pytest.approx(0.05 * (1 - hypothesis_tests._STRAY))
    n, logarithm = np.array([200.0, 1500.0]), math.log(4 * 5 / (hypothesis_tests._STRAY * 0.05))
    # Two sides of nine numbers, five sizes and four sums of sizes.
    assert 2 * 9 * math.exp(-logarithm) <= hypothesis_tests._STRAY * 0.05
    part = 400 / float(test.sizes.sum())
    expected = np.sqrt(2 * n * part * (1 - part) * logarithm) + logarithm / 3
    assert test.strays(n) == pytest.approx(np.minimum(expected, n))
    value = test.estimate
    lines = test.score.lines(value, test.shares)
    before, won, variances = test.margin(value), test._money(test.psi(lines)), test.variances(lines)
    more, fewer = with_draws(), with_draws()
    object.__setattr__(more, "uneven", lambda values: test.uneven(values) + 0.3)
    assert more.margin(value) == pytest.approx(before - 0.3)
    assert more._money(more.psi(lines)) == pytest.approx(won - 0.3)
    object.__setattr__(fewer, "strays", lambda sizes: np.zeros(len(sizes)))
    (least, largest), spread = fewer.variances(lines), test.draws.variance(test.psi(lines))
    stray = (test.strays(test.sizes) / (test.sizes - test.drawn))[:, None]
    assert variances[0] == pytest.approx(np.maximum(least - stray * np.abs(spread - least), 1e-300))
    assert variances[1] == pytest.approx(largest + stray * np.abs(spread - largest))


def test_a_draw_is_dealt_out_no_more_unevenly_than_is_said():
    """A part of the symbols is drawn without return, so how many draws it has is hypergeometric."""
    test = with_draws()
    total, missed = int(test.sizes.sum()), 0.0
    for size in (*test.sizes, *np.cumsum(test.sizes)[:-1]):
        reach, mean = float(test.strays(np.array([size]))[0]), size * 400 / total
        law_of_part = hypergeom(total, 400, int(size))
        missed += law_of_part.sf(math.ceil(mean + reach) - 1) + law_of_part.cdf(math.floor(mean - reach))
    assert missed <= hypothesis_tests._STRAY * 0.05


def test_with_very_many_answers_the_variance_is_what_it_is():
    counts = 1e8 * _truth()
    base = judged()
    test = PopulationGapTest(base.laws, base.score, np.multiply.outer(FRACTIONS, counts), 0.05, (0.3, 0.3))
    lines = test.score.lines(0.4, test.shares)
    true = (test.psi(lines) ** 2 @ _truth())[:, 0]
    low, high = (bound[:, 0] for bound in test.variances(lines))
    assert (low <= true).all()
    assert (true <= high).all()
    assert (high / low < 1.01).all()


def test_moments_of_a_part_are_at_least_those_of_any_population():
    """And what they are made of: the least over prices of variance of what a population has beyond its price."""
    test = judged(share=(0.3, 0.3))
    psi = test.psi(test.score.lines(0.4, test.shares))[0, 0]
    rng, rows = np.random.default_rng(4), test.laws.rows
    variances = float(psi**2 @ _truth()) * np.linspace(0.8, 1.2, 5)
    for power, scores in ((4, psi), (3, psi), (3, -psi)):
        found = test._given(scores, power, variances)
        prices = [price * float(np.abs(scores).max()) ** (power - 2) for price in population_gap._PRICES]
        stated = [
            min(float(test.laws.most(rows @ (scores**power - mu * scores**2))) + mu * variance for mu in prices)
            for variance in variances
        ]
        assert found == pytest.approx(stated, rel=1e-9)
        for _ in range(50):
            share = rng.uniform(0.05, 0.95)
            symbols = law(told(), (share, 1 - share), tuple(rng.uniform(-1, 1, 2)))
            symbols = symbols / symbols.sum()
            most = float(test._given(scores, power, np.array([float(scores**2 @ symbols)]))[0])
            assert float(scores**power @ symbols) <= most + 1e-9
    variance = float(psi**2 @ _truth())
    tails = test._tails(psi[None], (np.array([variance]), np.array([1.05 * variance])), 0)
    assert tails is not None
    moments = tails._tails.moments
    assert moments.size == pytest.approx(float(np.abs(psi).max()))
    fourth = np.maximum(test._given(psi, 4, moments.most), moments.least**2)
    assert moments.fourth == pytest.approx(fourth, rel=1e-12)
    ends = [np.clip(test._given(x, 3, moments.most), 0, np.sqrt(moments.most * fourth)) for x in (psi, -psi)]
    assert moments.third[1] == pytest.approx(ends[0], rel=1e-12)
    assert moments.third[0] == pytest.approx(-ends[1], rel=1e-12)


def test_the_normal_test_has_half_of_what_the_share_leaves_on_either_side():
    base = judged(share=(0.3, 0.3))
    test = NormalGapTest(base.laws, base.score, base.parts, 0.05, (0.3, 0.3))
    psi = test.psi(test.score.lines(0.1, test.shares))[:, 0]
    far = abs(float((psi * test.parts).sum())) / math.sqrt(float((psi**2 * test.parts).sum()))
    assert test.margin(0.1) == pytest.approx(far - float(norm.isf(0.94 * 0.05 / 2)), rel=1e-6)
