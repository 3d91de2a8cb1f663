"""Intervals of rates and gaps from sites' counts hold as often as they say, whoever comes to which site.

Covers: fairgauge.estimation.rates, fairgauge.estimation.site_inference.
"""

import math

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import chi2, norm
from scipy.stats import t as student

import fairgauge as fg
from fairgauge.errors import InvalidInput
from fairgauge.estimation import rates
from fairgauge.estimation.confidence_set import inverted
from fairgauge.estimation.interval import Interval
from fairgauge.estimation.interval_kinds import SITE_KINDS
from fairgauge.estimation.noise_law import Noise
from fairgauge.estimation.rates import CONFUSION, NoisySums, RateGapTest, RateTest, rate_of, share_of
from fairgauge.estimation.site_inference import Between, SiteReader
from fairgauge.study import Attribute, NoisyCounts
from fairgauge.tallies import Tally
from tests.sites import confusion_study, levels_study, site_of, tally
from tests.statistical.exact import FALSE_POSITIVE_RATE, two_sided

RUNS, ALPHA = 100, 0.05
SITE = site_of(confusion_study())
RATES = {"female": (0.6, 0.1), "male": (0.8, 0.2)}


def too_many(misses: int) -> bool:
    return misses > ALPHA * RUNS and two_sided(misses, [(RUNS, ALPHA)]) < FALSE_POSITIVE_RATE


class World:
    """Sites whose people differ: each has its own rates and its own part of women."""

    def __init__(self, sites: int, people: int, seed: int, *, differ: float = 0.1) -> None:
        self.chance = np.random.default_rng(seed)
        self.people = people
        shift = self.chance.uniform(-differ, differ, sites)
        women = self.chance.uniform(0.3, 0.7, sites)
        tpr = np.column_stack([0.7 + shift, 0.85 + shift])
        share = np.column_stack([women, 1 - women])
        positive = 0.3 * share
        self.cells = np.stack(
            [0.7 * share * 0.9, 0.7 * share * 0.1, positive * (1 - tpr), positive * tpr], axis=2
        ).reshape(sites, 8)
        mean = self.cells.sum(axis=0)
        self.gap = float(mean[3] / (mean[2] + mean[3]) - mean[7] / (mean[6] + mean[7]))
        self.rate = float(mean[3] / (mean[2] + mean[3]))

    def counts(self, noise: Noise) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts of all sites together, true and noisy."""
        true = np.array([self.chance.multinomial(self.people, cells) for cells in self.cells])
        shape = true.shape
        extra = self.chance.geometric(1 - noise.decay, shape) - self.chance.geometric(1 - noise.decay, shape)
        return true, true + extra


def made(counts: np.ndarray, noise: Noise, *, drawn: bool = True) -> tuple[RateTest, RateGapTest]:
    table = NoisySums(counts.sum(axis=0).astype(float), noise, 1, drawn)
    first, second = (
        RateTest(table, rate_of(SITE, CONFUSION["true positive rate"], [group]), ALPHA) for group in (0, 1)
    )
    return first, RateGapTest(first, second)


@pytest.mark.parametrize(("sites", "people", "epsilon"), [(20, 300, 1.0), (4, 800, 3.0)])
def test_people_who_come_to_sites_that_differ(sites: int, people: int, epsilon: float) -> None:
    world, noise = World(sites, people, 3), Noise(math.exp(-epsilon / 2), sites)
    misses = np.zeros(2, dtype=int)
    for _ in range(RUNS):
        first, gap = made(world.counts(noise)[1], noise)
        misses += np.array([first.margin(world.rate) >= 0, gap.margin(world.gap) >= 0])
    assert not any(too_many(int(missed)) for missed in misses), misses


def test_the_records_that_are_there() -> None:
    world, noise = World(10, 300, 4), Noise(math.exp(-0.5), 10)
    misses = 0
    for _ in range(RUNS):
        true, noisy = world.counts(noise)
        sums = true.sum(axis=0)
        truth = sums[3] / (sums[2] + sums[3]) - sums[7] / (sums[6] + sums[7])
        misses += made(noisy, noise, drawn=False)[1].margin(float(truth)) >= 0
    assert not too_many(misses), misses


@pytest.mark.parametrize("drawn", [True, False], ids=["population", "records"])
def test_intervals_are_as_wide_as_their_confidence_needs(drawn: bool) -> None:
    """Never narrower than the normal one at alpha / 2 on each side, and not much wider."""
    noise = Noise(math.exp(-0.5), 20)
    rate, gap = made(World(20, 500, 8).counts(noise)[1], noise, drawn=drawn)
    normal = float(-ndtri(ALPHA / 2))
    second = gap.second
    error = math.hypot(rate.error(rate.estimate), second.error(second.estimate))
    for test, one in ((rate, rate.error(rate.estimate)), (gap, error)):
        low, high = inverted(test)
        assert 1.0 <= (high - low) / 2 / (normal * one) <= 1.15


def test_mutants_are_caught() -> None:
    """Whoever forgets the noise, or that people are drawn, is wrong far more often than the interval says."""
    world, loud, soft = World(20, 300, 5), Noise(math.exp(-0.25), 20), Noise(math.exp(-1.5), 20)
    misses = np.zeros(2, dtype=int)
    for _ in range(RUNS):
        without_noise = made(world.counts(loud)[1], Noise(1e-9, 20))[1].margin(world.gap) >= 0
        without_people = made(world.counts(soft)[1], soft, drawn=False)[1].margin(world.gap) >= 0
        misses += np.array([without_noise, without_people])
    assert all(too_many(int(missed)) for missed in misses), misses


def test_sites_that_are_a_sample_of_sites() -> None:
    """Here the truth is that of all sites, and these are some of them."""
    noise, misses = Noise(math.exp(-0.5), 30), 0
    rates = [rate_of(SITE, CONFUSION["true positive rate"], [group]) for group in (0, 1)]
    for seed in range(RUNS):
        noisy = World(30, 200, 100 + seed, differ=0.15).counts(noise)[1]
        found = Between(noisy.sum(axis=0).astype(float), noisy.T.astype(float) @ noisy, 30)
        gap = found.gap(rates[0], rates[1], ALPHA)
        misses += not gap.low <= -0.15 <= gap.high
    assert not too_many(misses), misses


@pytest.fixture(scope="module")
def counted() -> Tally:
    return tally(confusion_study(), sites=12, people=400, rates=RATES)


class TestEstimate:
    def test_every_rate_with_its_gap(self, counted: Tally) -> None:
        found = fg.estimate(confusion_study(), counted)
        assert [question.metric for question in found.questions] == list(CONFUSION)
        for name, gap in (("true positive rate", -0.2), ("false positive rate", -0.1)):
            interval = found[name].gap("female", "male")
            assert interval.low <= gap <= interval.high
            assert interval.high - interval.low < 0.25
        assert found["accuracy"].overall is not None
        assert found.questions[0].shares["female"].low < 0.5 < found.questions[0].shares["female"].high
        assert found.interval == "population"
        assert "the people that these sites see" in found.guarantee

    def test_kinds(self, counted: Tally) -> None:
        study = confusion_study()
        widths = {}
        for kind in ("population", "records", "sites"):
            gap = fg.estimate(study, counted, interval=kind)["true positive rate"].gap("female", "male")
            widths[kind] = gap.high - gap.low
        assert widths["records"] < widths["population"]
        with pytest.raises(InvalidInput, match="must be one of population, records, sites in a study for sites"):
            fg.estimate(study, counted, interval="anytime")
        with pytest.raises(InvalidInput, match="tolerance"):
            fg.estimate(study, counted, tolerance=0.1)

    def test_too_few_sites_to_tell_how_they_differ(self) -> None:
        few = tally(confusion_study(), sites=4, people=10, rates=RATES)
        found = fg.estimate(confusion_study(), few, interval="sites")
        assert found.questions[0].warnings == (
            "Nothing can be estimated: how sites differ takes 5 sites at least, and there are 4.",
        )

    def test_cells_too_small_to_tell(self) -> None:
        few = tally(confusion_study("0.1"), sites=3, people=10, rates=RATES)
        found = fg.estimate(confusion_study("0.1"), few)["true positive rate"]
        gap = found.gap("female", "male")
        assert (gap.low, gap.high) == (-1, 1)
        told = "The gap between female and male may be anything: there are too few people to tell them from the noise."
        assert told in found.warnings

    @pytest.mark.parametrize("kind", ["population", "records", "sites"])
    def test_what_is_told_is_not_picked_by_the_noise(self, kind: str) -> None:
        """However many people there are, a rate is told, and missed as often as promised.

        Power: told only where the counts exceed the noise, 7 of 13 were wrong; misses of 15 % fail 97 times of 100.
        """
        site, chance = NoisyCounts(Attribute("sex", ("female", "male")), "confusion", "0.1"), np.random.default_rng(5)
        rate, missed = rate_of(site, CONFUSION["true positive rate"], [0]), 0
        decay = math.exp(-0.1 / 2)
        for run in range(150):
            positives = (0, 30, 100, 250, 400)[run % 5]
            hits = int(chance.binomial(positives, 0.9))
            people = np.array([[100, 100, (positives - hits) // 5, hits // 5, *(100,) * 4]] * 5)
            people[0, 2:4] += (positives - hits) % 5, hits % 5
            noisy = people + chance.geometric(1 - decay, (5, 8)) - chance.geometric(1 - decay, (5, 8))
            products = (noisy.T @ noisy)[np.triu_indices(8)]
            counted = Tally("0" * 64, tuple(noisy.sum(axis=0).tolist()), 5, tuple(products.tolist()))
            truth = 0.9 if kind != "records" else hits / max(positives, 1)
            missed += not SiteReader(site, counted, SITE_KINDS[kind]).believes_rate(rate, truth, 0.05)
        assert missed <= 14, missed

    def test_no_site_yet(self) -> None:
        found = fg.estimate(confusion_study(), Tally.of(confusion_study(), []))
        told = "No site is in this tally: none answered, or so few that their sum is not shown."
        assert found["true positive rate"].warnings == (told,)

    def test_a_metric_on_levels_is_in_its_own_units(self) -> None:
        study = levels_study()
        chance = np.random.default_rng(9)
        counts = chance.multinomial(4000, [0.05, 0.25, 0.2, 0.05, 0.15, 0.3])
        found = fg.estimate(study, Tally(study.digest, tuple(map(int, counts)), 1, (0,) * 21))
        truth = (5 * 0.25 + 10 * 0.2) / 0.5 - (5 * 0.15 + 10 * 0.3) / 0.5
        gap = found["score"].gap("female", "male")
        assert gap.low < truth < gap.high
        assert gap.bounds == (-10, 10)

    def test_the_tally_of_a_study_for_devices(self) -> None:
        with pytest.raises(InvalidInput, match="the digest of this study"):
            fg.estimate(confusion_study(), fg.Tally("0" * 64, (0,)))


def test_rates_by_hand() -> None:
    counts = np.arange(8.0)
    for name, expected in (
        ("selection rate", 4 / 6),
        ("accuracy", 3 / 6),
        ("true positive rate", 3 / 5),
        ("false positive rate", 1),
        ("precision", 3 / 4),
    ):
        rate = rate_of(SITE, CONFUSION[name], [0])
        assert float(rate.sum(counts, 0.0)) / rate.people(counts) == pytest.approx(expected)
    share = share_of(SITE, 1)
    assert float(share.sum(counts, 0.0)) / share.people(counts) == pytest.approx(22 / 28)


def test_the_rate_of_nobody_may_be_anything() -> None:
    table = NoisySums(np.zeros(8), Noise(0.5, 2), 1, drawn=True)
    test = RateTest(table, rate_of(SITE, CONFUSION["true positive rate"], [0]), 0.05)
    assert test.nobody
    assert inverted(test) == (0, 1)


@pytest.mark.parametrize("interval", ["population", "records"])
def test_whoever_wants_to_err_once_in_a_billion_gets_an_interval(interval: str) -> None:
    study = confusion_study("3")
    found = fg.estimate(study, tally(study, sites=5, people=400, rates=RATES), confidence=1 - 1e-9, interval=interval)
    (gap,) = next(question for question in found.questions if question.metric == "false positive rate").gaps.values()
    assert gap.low < -0.1 < gap.high  # female less male
    assert gap.high - gap.low < 0.5, "not all that is possible"


def test_every_part_of_alpha_goes_where_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = Noise(math.exp(-0.5), 20)
    rate, gap = made(World(20, 500, 8).counts(noise)[1], noise)
    assert rate.numbers == _numbers(rate, 0.01 * ALPHA)
    # What is left is on either side half, and the parts are no more than alpha.
    monkeypatch.setattr(rates, "tails", lambda _parts, _noise, seen: np.full(len(seen), 0.98 * ALPHA / 2))
    assert rate.margin(rate.estimate) == pytest.approx(0, abs=1e-12)
    monkeypatch.setattr(rates, "tails", lambda _parts, _noise, seen: np.full(len(seen), 0.94 * ALPHA / 2))
    assert gap.margin(gap.estimate) == pytest.approx(0, abs=1e-12)
    assert math.fsum([rates._NUMBER, rates._SPREAD, 0.98]) <= 1 + 1e-12
    assert math.fsum([2 * rates._SPREAD, rates._OTHER, 0.94]) <= 1 + 1e-12


def test_three_numbers_of_people_are_reckoned_with(monkeypatch: pytest.MonkeyPatch) -> None:
    rate, _ = made(World(20, 500, 8).counts(Noise(0.6, 20))[1], Noise(0.6, 20))
    asked: list[list[float]] = []

    def tails(parts, _noise, _seen):
        asked.append(list(parts[0].people))
        return np.ones(3)

    monkeypatch.setattr(rates, "tails", tails)
    rate.margin(rate.estimate)
    (low, high) = rate.numbers
    assert asked == [[low, (low + high) / 2, high]]


@pytest.mark.parametrize(("decay", "least"), [(1e-6, 1.0), (0.5, math.sqrt(2 * 4 * 20))])
def test_a_rate_is_of_one_person_at_least_or_of_what_noise_could_be(decay: float, least: float) -> None:
    """The noise of a cell has the variance 2 q / (1 - q)^2 from each of twenty sites, and the rate has two cells."""
    table = NoisySums(np.zeros(8), Noise(decay, 20), 1, drawn=True)
    assert RateTest(table, rate_of(SITE, CONFUSION["true positive rate"], [0]), ALPHA).least == pytest.approx(least)


def _numbers(rate: RateTest, alpha: float) -> tuple[float, float]:
    reach = rate.table.noise.reach(2, alpha)
    return math.ceil(rate.people - reach), math.floor(rate.people + reach)


def test_a_gap_is_asked_on_the_ellipsoid_that_the_page_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three numbers, so of the radius of three normal ones; a rate's ends are those of one normal number."""
    noise, asked = Noise(math.exp(-0.5), 20), []
    _, gap = made(World(20, 500, 8).counts(noise)[1], noise)

    def ends(test: RateTest, *, close: float) -> tuple[float, float]:
        asked.append(test.alpha)
        return 0.5, 0.9

    monkeypatch.setattr(rates, "inverted", ends)
    radius, deviation = math.sqrt(float(chi2.isf(0.04 * ALPHA, 3))), math.sqrt(2 * noise.variance)
    others, ours, theirs = gap.cases
    assert asked == [pytest.approx(2 * norm.sf(radius))]
    assert others[[1, 2]] == pytest.approx([0.5, 0.9])
    assert ours[[3, 4]] - gap.first.people == pytest.approx([0.7 * radius * deviation, -0.7 * radius * deviation])
    assert theirs[[3, 5]] - gap.second.people == pytest.approx([0.7 * radius * deviation, -0.5 * radius * deviation])


def test_how_much_levels_vary_has_its_part_of_alpha() -> None:
    """What is there and the noise of its squares, less likely than its part by the normal law."""
    site, noise = site_of(levels_study()), Noise(0.5, 4)
    rate = rate_of(site, {0: 0.0, 1: 0.5, 2: 1.0}, [0])
    table = NoisySums(np.array([300.0, 1500.0, 200.0, 10.0, 20.0, 30.0]), noise, 3, drawn=True)
    test, value, people = RateTest(table, rate, ALPHA), np.array([0.4]), np.array([2000.0])
    squares = (rate.weights - 0.4) ** 2
    own = table.counts[list(rate.cells)]
    there = float(squares @ own)
    most = there + norm.isf(0.01 * ALPHA) * math.sqrt(3 * there + noise.variance * float((squares**2).sum()))
    assert test.spread(value, people)[0] == pytest.approx(min(1.0, most / (2000 * 0.24)))
    assert most / (2000 * 0.24) < 1, "or nothing is seen"


def test_an_interval_about_sites_is_students() -> None:
    """By the sums of each site, as the page has them: a rate's ends by Fieller's condition, a gap's by their spread."""
    noisy = World(9, 400, 3).counts(Noise(math.exp(-1.5), 9))[1].astype(float)
    found = Between(noisy.sum(axis=0), noisy.T @ noisy, 9)
    rates = [rate_of(SITE, CONFUSION["true positive rate"], [group]) for group in (0, 1)]
    quantile = float(student.isf(ALPHA / 2, 8))

    def far(sums: np.ndarray) -> float:
        return abs(float(sums.sum())) / math.sqrt(9 * float(sums.var(ddof=1)))

    interval = found.rate(rates[0], ALPHA)
    for end in (interval.low, interval.high):
        assert far(np.array([float(rates[0].sum(row, end)) for row in noisy])) == pytest.approx(quantile, rel=1e-6)
    gap, total = found.gap(rates[0], rates[1], ALPHA), noisy.sum(axis=0)
    means = [float(rate.sum(total, 0.0)) / rate.people(total) for rate in rates]
    scores = [
        sum(
            sign * float(rate.sum(row, mean)) / rate.people(total)
            for rate, mean, sign in zip(rates, means, (1, -1), strict=True)
        )
        for row in noisy
    ]
    half = quantile * math.sqrt(9 * float(np.var(scores, ddof=1)))
    assert (gap.low, gap.high) == pytest.approx((means[0] - means[1] - half, means[0] - means[1] + half))


def test_a_gap_that_may_be_anything_is_shown_inside_of_what_gaps_can_be() -> None:
    """Noise of a few people: more of them than there are, and less than nobody."""
    counts = np.zeros(site_of(confusion_study()).size)
    rates = [rate_of(SITE, CONFUSION["true positive rate"], [group]) for group in (0, 1)]
    for rate, true in zip(rates, (3.0, -1.0), strict=True):
        counts[list(rate.cells)] = np.where(rate.weights > 0, true, 1.0 - true)
    found = Between(counts, 1e6 * np.eye(len(counts)), 9)
    first, second = rates
    assert found.gap(first, second, ALPHA) == Interval(1, -1, 1)
    assert found.gap(second, first, ALPHA) == Interval(-1, -1, 1)
