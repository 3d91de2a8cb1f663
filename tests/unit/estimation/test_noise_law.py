"""The tails of sums of people and noise: bounds that hold against drawn sums, and that are not far off."""

import math

import numpy as np
import pytest

from fairgauge.estimation.noise_law import _EVEN, _ODD, _U, Noise, RatePart, tails
from fairgauge.paper.prawitz import _kernels
from tests.statistical.exact import FALSE_POSITIVE_RATE, two_sided

DRAWS = 20_000


def drawn(noise: Noise, rate: float, people: int, chance: np.random.Generator) -> np.ndarray:
    """Draw sums of people and of noise in two cells, for a rate of cells that count 0 and 1."""
    ones = chance.binomial(people, rate, DRAWS) if people else np.zeros(DRAWS)
    shape = (DRAWS, noise.sites, 2)
    more = (chance.geometric(1 - noise.decay, shape) - chance.geometric(1 - noise.decay, shape)).sum(axis=1)
    zeros = people - ones if people else ones
    return np.asarray((1 - rate) * (ones + more[:, 1]) - rate * (zeros + more[:, 0]))


@pytest.mark.parametrize(
    ("noise", "rate", "people"),
    [(Noise(0.6, 20), 0.8, 300), (Noise(0.9, 3), 0.5, 0), (Noise(0.02, 5), 0.95, 60), (Noise(0.6, 1), 0.3, 0)],
)
def test_no_tail_is_larger_than_its_bound(noise: Noise, rate: float, people: int) -> None:
    sums = drawn(noise, rate, people, np.random.default_rng(5))
    one = np.ones(1)
    part = RatePart(rate * one, people * one, one, one, np.array([0.0, 1.0]))
    for level in (0.001, 0.02, 0.2):
        seen = float(np.quantile(sums, 1 - level, method="higher"))
        bound = float(tails((part,), noise, np.array([seen]))[0])
        beyond = int((sums >= seen).sum())
        assert beyond / DRAWS <= bound or two_sided(beyond, [(DRAWS, bound)]) > FALSE_POSITIVE_RATE
        assert bound < 1.3 * beyond / DRAWS + 0.003, "or it is of no use"


def test_half_the_people_is_caught() -> None:
    """A mutant: the law of fewer people has tails that are too small."""
    noise, one = Noise(0.6, 20), np.ones(1)
    sums = drawn(noise, 0.8, 3000, np.random.default_rng(6))
    seen = float(np.quantile(sums, 0.98, method="higher"))
    bound = float(tails((RatePart(0.8 * one, 1500 * one, one, one, np.array([0.0, 1.0])),), noise, np.array([seen]))[0])
    beyond = int((sums >= seen).sum())
    assert beyond / DRAWS > bound
    assert two_sided(beyond, [(DRAWS, bound)]) < FALSE_POSITIVE_RATE


def test_both_tails_and_far_out() -> None:
    noise, one = Noise(0.6, 20), np.ones(1)
    part = RatePart(0.5 * one, 100 * one, one, one, np.array([0.0, 1.0]))
    ends = [float(tails((part,), noise, np.array([x]))[0]) for x in (-30.0, 30.0, 0.0, 1e9)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)
    assert ends[2] >= 0.5
    assert ends[3] < 1e-6


def exact_tails(noise: Noise, people: int) -> np.ndarray:
    """Return P(2 X >= k) for k = 0, 1, ... at a rate of one half, by adding laws up cell by cell."""
    steps = np.arange(-400, 401)
    one = noise.decay ** np.abs(steps) * (1 - noise.decay) / (1 + noise.decay)
    law = np.ones(1)
    for _ in range(2 * noise.sites):
        law = np.convolve(law, one)
    came = np.zeros(2 * people + 1)
    came[::2] = [math.comb(people, ones) / 2**people for ones in range(people + 1)]
    law = np.convolve(law, came)
    return np.asarray(np.cumsum(law[::-1])[::-1][len(law) // 2 :])


@pytest.mark.parametrize(("noise", "people"), [(Noise(0.6, 3), 0), (Noise(0.6, 3), 200), (Noise(0.9, 2), 40)])
def test_tails_of_one_in_a_billion_are_told(noise: Noise, people: int) -> None:
    one = np.ones(1)
    beyond = exact_tails(noise, people)
    for level in (1e-5, 1e-7, 1e-9, 1e-12):
        doubled = int(np.argmax(beyond <= level))
        parts = (RatePart(0.5 * one, people * one, one, one, np.array([0.0, 1.0])),)
        for side in (1, -1):
            bound = float(tails(parts, noise, np.array([side * doubled / 2]))[0])
            assert beyond[doubled] <= bound < 100 * beyond[doubled]
    # A mutant: the law of less noise has far tails that are too small.
    assert float(tails(parts, Noise(0.8 * noise.decay, noise.sites), np.array([doubled / 2]))[0]) < beyond[doubled]


@pytest.mark.parametrize("sites", [1, 2, 5])
def test_where_t_is_that_of_whole_numbers_the_bound_is_the_exact_tail(sites: int) -> None:
    """At T = 2 pi nothing is given away: every constant of the inequality is seen, at all heights and on both sides."""
    deviation = 200 / (2 * math.pi)
    decay = _decay_of(deviation, sites)
    steps = np.arange(-2000, 2001)
    one, law = decay ** np.abs(steps) * (1 - decay) / (1 + decay), np.ones(1)
    for _ in range(sites):
        law = np.convolve(law, one)
    noise, case = Noise(decay, sites), np.ones(1)
    assert noise.variance == pytest.approx(float((np.arange(len(law)) - len(law) // 2) ** 2 @ law), rel=1e-6)
    part = RatePart(0 * case, 0 * case, case, case, np.array([1.0]))
    for seen in (0, 3, 20, 50, 80):
        exact = float(law[len(law) // 2 + seen :].sum())
        for side in (1, -1):
            bound = float(tails((part,), noise, np.array([float(side * seen)]))[0])
            assert exact * (1 - 1e-9) <= bound < exact + 1e-5


def test_the_kernel_is_that_of_the_paper() -> None:
    """Its last constant moves a tail by millionths, which no tail tells."""
    assert np.hypot(_EVEN, _ODD) == pytest.approx(_kernels(_U)[0], rel=1e-12)


def _decay_of(deviation: float, sites: int) -> float:
    """Return the decay with which noise of so many sites has a standard deviation: 2 q / (1 - q)^2 is its square."""
    square = deviation**2 / sites
    return float(1 + (1 - math.sqrt(2 * square + 1)) / square)


def test_variance_and_reach_of_noise() -> None:
    noise = Noise(math.exp(-0.5), 10)
    chance = np.random.default_rng(7)
    shape = (DRAWS, 10)
    sums = (chance.geometric(1 - noise.decay, shape) - chance.geometric(1 - noise.decay, shape)).sum(axis=1)
    assert noise.variance == pytest.approx(sums.var(), rel=0.05)
    assert (np.abs(sums) > noise.reach(1, 0.01)).mean() < 0.01
    assert noise.reach(1, 0.01) < 4 * math.sqrt(noise.variance)


def test_the_reach_of_noise_has_half_of_alpha_on_either_side() -> None:
    """Chernoff's bound at the reach, by the moments that the tails use."""
    for noise, cells, alpha in ((Noise(0.6, 10), 1, 0.01), (Noise(0.9, 3), 1, 1e-4), (Noise(0.3, 40), 4, 0.05)):
        tilts = np.linspace(0, -math.log(noise.decay), 20_001)[1:-1]
        least = float((cells * noise.log_moment(tilts) - tilts * noise.reach(cells, alpha)).min())
        assert 0.9 * alpha / 2 < math.exp(least) <= alpha / 2


@pytest.mark.parametrize(("decay", "parts", "part_of_slope"), [(0.6, 3, 0.5), (0.9, 20, 0.3), (0.02, 1, 0.8)])
def test_the_reach_is_chernoffs_where_its_best_tilt_is_one_that_is_tried(
    decay: float, parts: int, part_of_slope: float
) -> None:
    """At the tilt s the bound n g(s) - s x is least where x = n g'(s), and log(alpha / 2) there."""
    tilt = -part_of_slope * math.log(decay)
    up, down = decay * math.exp(tilt), decay * math.exp(-tilt)
    growth = math.log((1 - decay) ** 2 / ((1 - up) * (1 - down)))
    reach = parts * (up / (1 - up) - down / (1 - down))
    alpha = 2 * math.exp(parts * growth - tilt * reach)
    assert alpha < 1
    assert Noise(decay, parts).reach(1, alpha) == pytest.approx(reach, rel=1e-9)
    assert Noise(decay, 1).reach(parts, alpha) == pytest.approx(reach, rel=1e-9)


def test_moments_of_noise_are_there_up_to_its_slope_and_not_beyond() -> None:
    """Just below they are nearly infinite: the law is added up there."""
    decay, steps = 0.5, np.arange(-40_000, 40_001)
    below = -math.log(decay) * np.array([0.5, 0.97, 0.999])
    law = [(1 - decay) / (1 + decay) * np.exp(tilt * steps + math.log(decay) * np.abs(steps)).sum() for tilt in below]
    assert Noise(decay, 3).log_moment(below) == pytest.approx(3 * np.log(law), rel=1e-9)
    assert np.isinf(Noise(decay, 3).log_moment(-math.log(decay) * np.array([1.001, 1.01, 2.0]))).all()


@pytest.mark.parametrize("copies", [1, 3])
def test_records_of_one_person_move_together(copies: int) -> None:
    """Of 300 records three a person are a hundred people who each count three times."""
    one, times = np.ones(1), np.linspace(-0.4, 0.4, 7)[None, :]
    part = RatePart(0.2 * one, 300 * one, 0.5 * one, one, np.array([0.0, 1.0]), copies)
    moved = 0.5 * copies * times
    person = 0.8 * np.exp(-0.2j * moved) + 0.2 * np.exp(0.8j * moved)
    assert np.exp(part.log_people(times)) == pytest.approx(person ** (300 // copies))
    assert part.variance[0] == pytest.approx(300 * copies * 0.16 * 0.25)
    quiet = Noise(1e-12, 1)
    grown = 0.8 * np.exp(-0.2 * moved) + 0.2 * np.exp(0.8 * moved)
    assert np.exp(part.log_moment(times, quiet)) == pytest.approx(grown ** (300 // copies))


def test_the_moments_of_noise_are_sums_over_its_law() -> None:
    """Chernoff's bound gives away more than any constant, so what it is made of is compared by itself."""
    noise, one, steps = Noise(0.5, 3), np.ones(1), np.arange(-400, 401)
    law = 0.5 ** np.abs(steps) / 3
    part = RatePart(0.3 * one, 0 * one, 0.5 * one, one, np.array([0.0, 1.0, 1.0]))
    for tilt in (-0.8, 0.1, 1.1):
        each = [3 * math.log(float(law @ np.exp((weight - 0.3) * 0.5 * tilt * steps))) for weight in (0.0, 1.0, 1.0)]
        assert float(part.log_moment(np.array([[tilt]]), noise)[0, 0]) == pytest.approx(sum(each), rel=1e-9)
        turned = [3 * math.log(float(law @ np.cos((weight - 0.3) * tilt * steps))) for weight in (0.0, 1.0)]
        found = [float(noise.log_transform(np.array([[(weight - 0.3) * tilt]]))[0, 0]) for weight in (0.0, 1.0)]
        assert found == pytest.approx(turned, rel=1e-9)
