"""The expected positive part of a sum: against exact sums, in one stage and in two, far below what floats resolve."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from fairgauge.blanket import sums
from fairgauge.blanket.sums import positive_part, stages_above, stages_below


def exactly(up: float, down: float, chance: float, draws: int) -> float:
    """The same for a draw of two values, whose sum is a binomial's."""
    ups = np.arange(draws + 1)
    totals = up * ups - down * (draws - ups)
    logs = binom.logpmf(ups, draws, chance)
    return float(np.sum(np.exp(logs) * np.maximum(totals, 0))) / draws


def tilt(up: float, down: float, chance: float, draws: int) -> float:
    """The tilt that makes the mean of the sum zero, nearly: there the Chernoff bound is least."""
    return math.log(down * (1 - chance) / (up * chance)) / (up + down) + 1 / (10 * draws)


@pytest.mark.parametrize("draws", [1, 10, 1000, 4096, 10_000, 250_000])
@pytest.mark.parametrize(("up", "down", "chance"), [(2.7, 1.0, 0.2), (1.0, 1.1, 0.4), (30.0, 0.5, 0.01)])
def test_it_is_just_above_the_exact_value(up: float, down: float, chance: float, draws: int) -> None:
    stages = stages_below(draws)
    values, chances = np.array([up, -down]), np.array([chance, 1 - chance])
    found = positive_part(values, chances, stages, tilt(up, down, chance, draws))
    exact = exactly(up, down, chance, math.prod(stages))
    if exact > 1e-200:
        assert exact * (1 - 1e-9) <= found
        assert math.log(found) <= 0.998 * math.log(exact) + 0.05, "the lattice raises what is far in the tail by more"


def test_it_resolves_what_an_untilted_transform_would_not() -> None:
    exact = exactly(1.0, 1.0, 0.4, 3000)
    assert exact < 1e-26
    found = positive_part(np.array([1.0, -1.0]), np.array([0.4, 0.6]), (3000, 1), tilt(1.0, 1.0, 0.4, 3000))
    assert exact * (1 - 1e-9) <= found <= exact * 1.05


def test_finer_lattices_come_closer(monkeypatch: pytest.MonkeyPatch) -> None:
    values, chances = np.array([2.71, -1.0]), np.array([0.2, 0.8])
    found = []
    for points in (8, 32, 128):
        monkeypatch.setattr(sums, "POINTS", points)
        found.append(positive_part(values, chances, (300, 1), tilt(2.71, 1.0, 0.2, 300)))
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(exactly(2.71, 1.0, 0.2, 300), rel=1e-3)


@pytest.mark.parametrize("draws", [1, 4096, 5000, 10**5, 99_991, 10**9 + 7])
def test_stages(draws: int) -> None:
    below, above = math.prod(stages_below(draws)), math.prod(stages_above(draws))
    assert below <= draws <= above
    assert above - below <= math.isqrt(draws)


@pytest.mark.parametrize(
    ("name", "wrong"), [("_split", lambda points, tilted, step, tilt: sums.Lattice(step, 0, tilted, 0.0))]
)
def test_a_lattice_that_moves_the_mean_is_caught(monkeypatch: pytest.MonkeyPatch, name: str, wrong: object) -> None:
    monkeypatch.setattr(sums, name, wrong)
    found = positive_part(np.array([2.7, -1.0]), np.array([0.2, 0.8]), (100, 1), tilt(2.7, 1.0, 0.2, 100))
    exact = exactly(2.7, 1.0, 0.2, 100)
    assert not exact * (1 - 1e-9) <= found <= exact * 1.1


def times_exact(up: float, down: float, chance: float, draws: tuple[int, int]) -> float:
    """Return by how much the result is above the exact value, as a factor."""
    count = math.prod(draws)
    found = positive_part(np.array([up, -down]), np.array([chance, 1 - chance]), draws, tilt(up, down, chance, count))
    return found / exactly(up, down, chance, count)


def on_the_lattice() -> float:
    """Return the same where the lattice adds nothing: what is left is the budget for errors."""
    return times_exact(1.0, 1.0, 0.4, (3000, 1))


def in_two_stages() -> float:
    """Return the same where the lattice adds twice."""
    return times_exact(2.7, 1.0, 0.2, (100, 100))


def budget_is_kept() -> bool:
    """Tell whether the law of a sum, against exact fractions, is off by no more than it says."""
    law, count = np.array([0.2, 0.5, 0.3]), 60
    exact = [Fraction(1)]
    for _ in range(count):
        longer = [Fraction(0)] * (len(exact) + 2)
        for place, chance in enumerate(exact):
            for more, own in enumerate(law.tolist()):
                longer[place + more] += chance * Fraction(own)
        exact = longer
    found = sums._power(sums.Lattice(1.0, 0, law, 0.0), count)
    inside = {found.first + k: Fraction(mass) for k, mass in enumerate(found.law.tolist())}
    wrong = sum(abs(inside.get(k, Fraction(0)) - chance) for k, chance in enumerate(exact))
    beyond = sum(mass for k, mass in inside.items() if not 0 <= k < len(exact))
    return wrong + beyond <= Fraction(found.wrong)


def test_the_constants_make_it_close_and_safe() -> None:
    assert 1 - 1e-9 <= on_the_lattice() <= 1 + 1e-6
    assert 1 - 1e-9 <= in_two_stages() <= 1.07
    assert budget_is_kept()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("POINTS", 16), ("WRAPPED", 1e-6), ("ROUNDING", 1e-12), ("ROUNDING", 0.0), ("ROUNDING", 1e-19)],
)
def test_a_constant_that_is_wrong_is_caught(monkeypatch: pytest.MonkeyPatch, name: str, wrong: float) -> None:
    monkeypatch.setattr(sums, name, wrong)
    with pytest.raises(AssertionError):
        test_the_constants_make_it_close_and_safe()
