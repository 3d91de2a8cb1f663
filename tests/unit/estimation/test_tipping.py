"""Bounds for who answers within a group, compared with linear programs over all laws and all ways of answering."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from fairgauge.estimation import Interval
from fairgauge.estimation.tipping import _mean_bounds, gap_bounds, tipping_factor, tipping_factor_of_means

MEANS, FACTORS, SPREADS = (0.05, 0.3, 0.5, 0.8, 0.9, 0.97), (1.0, 1.04, 1.5, 3.0, 20.0), (0.05, 0.15, 0.3, math.inf)


def least_mean(mean: float, factor: float, spread: float) -> float:
    """The least mean of those who did not answer, by a linear program.

    With g the law of those who did not answer and f that of those who did, up to a factor: f <= g <= factor f, the
    mean of f is given and its variance bounded.
    """
    values = np.linspace(0, 1, 201)
    if spread < math.inf:
        # The worst law has two values, which a grid may miss: the mean plus and minus what the odds of them allow.
        odds = np.geomspace((spread / mean) ** 2, ((1 - mean) / spread) ** 2, 4001)
        odds = odds[np.argsort(np.abs(np.log(odds * factor)))[:40]] if odds[-1] > odds[0] else odds[:1]
        values = np.unique(np.clip([*values, *(mean - spread / np.sqrt(odds)), *(mean + spread * np.sqrt(odds))], 0, 1))
    n, none = len(values), np.zeros(len(values))
    inside = [np.hstack([np.eye(n), -np.eye(n)]), np.hstack([-factor * np.eye(n), np.eye(n)])]
    if spread < math.inf:
        inside.append(np.hstack([values**2 - spread**2 - mean**2, none])[None])
    equal = [np.hstack([values - mean, none]), np.hstack([none, np.ones(n)])]
    bounded = np.vstack(inside)
    found = linprog(np.hstack([none, values]), bounded, np.zeros(len(bounded)), equal, [0, 1], method="highs")
    assert found.success
    assert found.fun is not None
    return float(found.fun)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("factor", FACTORS)
def test_means_are_as_far_off_as_a_linear_program_finds(factor: float, spread: float):
    for mean in MEANS:
        low, high = _mean_bounds(mean, factor, spread)
        # A program over some values finds no less than the truth, and no more than next to it.
        assert low == pytest.approx(least_mean(mean, factor, spread), abs=1e-6)
        assert high == pytest.approx(1 - least_mean(1 - mean, factor, spread), abs=1e-6)


def test_nobody_can_move_a_mean_that_is_at_an_end():
    assert _mean_bounds(0, 5) == (0, 0)
    assert _mean_bounds(1, 5, 0.1) == (1, 1)


@pytest.mark.parametrize("factor", FACTORS)
def test_a_gap_moves_as_far_as_the_worst_means_allow(factor: float):
    for gap in (-0.9, -0.2, 0.0, 0.05, 0.6):
        found = gap_bounds(Interval(gap, gap, gap, (-1, 1)), factor)
        firsts = np.linspace(max(gap, 0), min(1 + gap, 1), 2001)
        each = [(_mean_bounds(m, factor), _mean_bounds(m - gap, factor)) for m in np.append(firsts, (1 + gap) / 2)]
        assert found.low == pytest.approx(min(a[0] - b[1] for a, b in each), abs=1e-9)
        each = [(_mean_bounds(m, factor), _mean_bounds(m - gap, factor)) for m in np.append(firsts, (1 + gap) / 2)]
        assert found.high == pytest.approx(max(a[1] - b[0] for a, b in each), abs=1e-9)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("gap", [0.001, 0.024, 0.2, 0.7])
def test_the_sign_turns_at_the_tipping_factor_and_not_before(gap: float, spread: float):
    found = tipping_factor(Interval(gap, gap, gap, (-1, 1)), spread)
    assert found is not None
    pairs = [(m, m - gap) for m in np.linspace(gap, 1, 4001)]

    def turns(factor: float) -> bool:
        return any(_mean_bounds(a, factor, spread)[0] < _mean_bounds(b, factor, spread)[1] for a, b in pairs)

    assert not turns(1 + (found - 1) * (1 - 1e-3))
    if spread == math.inf or gap + 2 * spread < 0.9:  # else the ends keep it from turning for longer
        assert turns(1 + (found - 1) * (1 + 1e-3))


def test_it_is_in_the_metrics_own_units_and_for_either_sign():
    one = tipping_factor(Interval(0.05, 0.024, 0.079, (-1, 1)))
    assert one == pytest.approx(1.024 / 0.976)
    assert tipping_factor(Interval(-5, -7.9, -2.4, (-100, 100))) == pytest.approx(one)
    assert tipping_factor(Interval(0.05, 0.05, 0.05, (-1, 1)), 0.15) == pytest.approx(1.393, abs=1e-3)
    assert tipping_factor(Interval(5, 5, 5, (-100, 100)), 15) == pytest.approx(1.393, abs=1e-3)


def test_a_sign_that_is_not_known_cannot_turn():
    assert tipping_factor(Interval(0.05, -0.01, 0.11, (-1, 1))) is None
    assert tipping_factor(Interval(1, 1, 1.2, (-1, 1))) is None


def test_a_gap_at_the_tipping_factor_is_at_zero():
    for low, high in product((0.01, 0.3), (0.31, 0.9)):
        gap = Interval((low + high) / 2, low, high, (-1, 1))
        factor = tipping_factor(gap)
        assert factor is not None
        assert gap_bounds(gap, factor).low == pytest.approx(0, abs=1e-12)
        assert gap_bounds(-gap, factor).high == pytest.approx(0, abs=1e-12)


BOXES = [
    ((0.05, 0.09), (0.89, 0.91), (0.82, 0.84)),  # the means decide
    ((0.05, 0.09), (0.3, 0.9), (0.2, 0.8)),  # they leave the worst
    ((0.01, 0.5), (0.8, 0.9), (0.5, 0.6)),  # they leave a larger gap only
    ((0.02, 0.3), (0.1, 0.35), (0.02, 0.3)),
    ((0.1, 0.2), (0.93, 1.0), (0.8, 0.99)),
]


@pytest.mark.parametrize(("gap", "first", "second"), BOXES)
def test_with_means_the_sign_turns_at_their_factor_and_not_before(
    gap: tuple[float, float], first: tuple[float, float], second: tuple[float, float]
):
    whole, means = Interval(gap[0], *gap, (-1, 1)), [Interval(mean[0], *mean, (0, 1)) for mean in (first, second)]
    found = tipping_factor_of_means(whole, (means[0], means[1]))
    assert found is not None
    assert found >= (tipping_factor(whole) or 0) * (1 - 1e-12)
    firsts, others = np.linspace(*first, 1001), np.linspace(*second, 1001)
    # The smallest gap that is possible has each mean at an end, or the other mean just so much away.
    pairs = [(a, b) for a in firsts for b in (second[1], a - gap[0]) if second[0] <= b <= second[1]]
    pairs += [(a, b) for b in others for a in (first[0], b + gap[0]) if first[0] <= a <= first[1]]
    pairs = [(a, b) for a, b in pairs if gap[0] - 1e-12 <= a - b <= gap[1] + 1e-12]

    def turns(factor: float) -> bool:
        return any(_mean_bounds(a, factor)[0] < _mean_bounds(b, factor)[1] for a, b in pairs)

    assert not turns(1 + (found - 1) * (1 - 1e-3))
    assert turns(1 + (found - 1) * (1 + 2e-3))


def test_with_means_it_is_in_the_metrics_own_units_and_for_either_sign():
    means = Interval(0.9, 0.89, 0.91, (0, 1)), Interval(0.83, 0.82, 0.84, (0, 1))
    one = tipping_factor_of_means(Interval(0.07, 0.05, 0.09, (-1, 1)), means)
    assert one == pytest.approx(math.sqrt((0.89 / 0.11) / (0.84 / 0.16)))
    assert tipping_factor_of_means(Interval(-0.07, -0.09, -0.05, (-1, 1)), means[::-1]) == pytest.approx(one)
    tens = [Interval(0, 100 * mean.low + 50, 100 * mean.high + 50, (50, 150)) for mean in means]
    assert tipping_factor_of_means(Interval(7, 5, 9, (-100, 100)), (tens[0], tens[1])) == pytest.approx(one)


def test_means_that_have_no_such_gap_and_a_sign_that_is_not_known_have_none():
    apart, near = Interval(0.9, 0.89, 0.91, (0, 1)), Interval(0.88, 0.87, 0.89, (0, 1))
    assert tipping_factor_of_means(Interval(0.2, 0.1, 0.3, (-1, 1)), (apart, near)) is None
    assert tipping_factor_of_means(Interval(0.0, -0.1, 0.1, (-1, 1)), (apart, near)) is None
    assert (
        tipping_factor_of_means(Interval(1, 1, 1, (-1, 1)), (Interval(1, 1, 1, (0, 1)), Interval(0, 0, 0, (0, 1))))
        is None
    )


def test_means_whose_nearest_ends_decide_have_a_factor_whatever_rounding_does():
    """One point is left then: of the first group the lower end, of the second the upper one."""
    gap = Interval(0.17, 0.12, 0.22, (-1, 1))
    for low in np.linspace(0.2, 0.3, 50):
        means = Interval(low + 0.02, low, low + 0.04, (0, 1)), Interval(0.07, 0.05, 0.07 + low / 100, (0, 1))
        odds = [m / (1 - m) for m in (means[0].low, means[1].high)]
        assert tipping_factor_of_means(gap, means) == pytest.approx(math.sqrt(odds[0] / odds[1]))
