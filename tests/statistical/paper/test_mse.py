r"""The empirical MSE of the published mechanisms against their closed forms, at equal and unequal groups.

An estimate is a sum of independent parts, one from each client, whose moments are known.  So is their sum's fourth
moment, and with it the variance V of a squared error.  The mean of R squared errors then strays by t from the closed
form :math:`\sigma^2` with a probability that Bernstein's inequality bounds:

.. math::

    \Pr[\text{below}] \le \exp\frac{-R t^2 / 2}{V + \sigma^2 t / 3}, \qquad
    \Pr[\text{above}] \le \exp\frac{-R t^2 / 2}{V + c\, t / 3} + R \Pr[\text{error}^2 > c]

Below, because no square is less than 0.  Above, because squares cut off at c have a smaller mean and a smaller variance
(cutting brings no two values further apart), and are what they were unless one of R errors exceeds the root of c, which
Chernoff's inequality bounds with the error's moment generating function.  Nothing is approximated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
import pytest
from numpy.typing import NDArray

from fairgauge.paper.mechanisms import LaplaceMechanism, Published, ResponseMechanism
from fairgauge.paper.runs import RunClients, estimated_gaps
from tests.statistical.exact import FALSE_POSITIVE_RATE

Floats = NDArray[np.float64]
Estimator = Callable[[Published, Sequence[Floats], np.random.Generator], Floats]
RUNS = 20_000
SEED = 20261116
# What the part of the bound that is there for a single huge error may come to.
CUT = FALSE_POSITIVE_RATE / 100


def values_of(*sizes: int) -> tuple[Floats, ...]:
    """Return the values of each group: spread out, with another mean and another mean square in each."""
    return tuple(np.linspace(-1 + 0.6 * g, 1 - 0.1 * g, n) for g, n in enumerate(sizes))


# The sizes n of the groups, which sum to K.
SIZES = [(10, 10), (5, 15), (24, 6), (2, 38), (4, 6, 10)]
BUDGETS = [(0.2, 0.5), (0.2, 2.0), (1.0, 0.5), (2.5, 4.0)]
MECHANISMS: list[Published] = [ResponseMechanism(e1, e2) for e1, e2 in BUDGETS]
MECHANISMS += [LaplaceMechanism(e1, e2, k=k) for e1, e2 in BUDGETS for k in (2 / 3, 1.0, 2.0)]


@dataclass(frozen=True)
class Law:
    """What is known of the error of a weighted sum of group means, computed without the code under test.

    Args:
        mechanism: Only its budgets, its k and its scales' meaning are used.
        values: The values in each group.
        weights: The weight of each group's mean: (1, 0) for the first mean, (1, -1) for the gap.
    """

    mechanism: Published
    values: Sequence[Floats]
    weights: tuple[float, ...]

    @property
    def truth(self) -> float:
        return float(sum(w * v.mean() for w, v in zip(self.weights, self.values, strict=True)))

    def parts(self) -> list[tuple[Floats, list[tuple[float, float, bool]]]]:
        """Return, for each group, its values and what happens to them: a probability, a factor, and if it was kept."""
        groups = len(self.values)
        a = 1 / (1 + (groups - 1) * np.exp(-self.mechanism.group_epsilon))
        shrunk = a if isinstance(self.mechanism, LaplaceMechanism) else a * np.tanh(self.mechanism.value_epsilon / 2)
        factors = [w / (shrunk * len(v)) for w, v in zip(self.weights, self.values, strict=True)]
        return [
            (v, [(a if h == g else (1 - a) / (groups - 1), factors[h], h == g) for h in range(groups)])
            for g, v in enumerate(self.values)
        ]

    def scale(self, kept: bool) -> float:
        assert isinstance(self.mechanism, LaplaceMechanism)
        return (2.0 if kept else self.mechanism.k) / self.mechanism.value_epsilon

    def raw(self, values: Floats, kept: bool) -> Floats:
        """Return the first four moments of v' for each value."""
        v = values if kept else np.zeros_like(values)
        if isinstance(self.mechanism, LaplaceMechanism):
            s = self.scale(kept) ** 2
            return np.array([v, v**2 + 2 * s, v**3 + 6 * v * s, v**4 + 12 * v**2 * s + 24 * s**2])
        odd = np.tanh(self.mechanism.value_epsilon / 2) * v
        return np.array([odd, np.ones_like(v), odd, np.ones_like(v)])

    def moments(self) -> tuple[float, float]:
        """Return the second and the fourth central moment of the estimate."""
        powers = np.arange(1, 5)[:, None]
        seconds, fourths = [], []
        for values, ways in self.parts():
            m1, m2, m3, m4 = np.sum([p * f**powers * self.raw(values, kept) for p, f, kept in ways], axis=0)
            seconds.append(m2 - m1**2)
            fourths.append(m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4)
        two, four = np.concatenate(seconds), np.concatenate(fourths)
        return float(two.sum()), float(four.sum() + 3 * (two.sum() ** 2 - (two**2).sum()))

    def log_generating(self, tilt: float) -> float:
        """Return the logarithm of the mean of exp(tilt * error)."""
        total = -tilt * self.truth
        for values, ways in self.parts():
            of_values: Floats = np.zeros(len(values))
            for p, factor, kept in ways:
                u = tilt * factor
                v = values if kept else np.zeros_like(values)
                if isinstance(self.mechanism, LaplaceMechanism):
                    if abs(u) * self.scale(kept) >= 1:
                        return np.inf
                    of_values += p * np.exp(u * v) / (1 - (u * self.scale(kept)) ** 2)
                else:
                    of_values += p * (np.cosh(u) + np.tanh(self.mechanism.value_epsilon / 2) * v * np.sinh(u))
            total += float(np.log(of_values).sum())
        return total

    def largest(self, sd: float) -> float:
        """Return an error that one of all runs exceeds with probability CUT at most, on either side."""
        tilts = np.geomspace(0.05, 20, 60) / sd
        needed = log(2 * RUNS / CUT)
        return max(
            min((self.log_generating(side * tilt) + needed) / tilt for tilt in map(float, tilts)) for side in (1, -1)
        )


def p_value(estimates: Floats, law: Law) -> float:
    """Return a bound on the probability of so odd a mean of the squared errors, under the law."""
    variance, fourth = law.moments()
    stray = float(np.mean((estimates - law.truth) ** 2)) - variance
    reach = variance if stray < 0 else law.largest(np.sqrt(variance)) ** 2
    bound = np.exp(-RUNS * stray**2 / 2 / (fourth - variance**2 + reach * abs(stray) / 3))
    return float(min(1, 2 * (bound + (CUT if stray > 0 else 0))))


def sums_of(mechanism: Published, values: Sequence[Floats], rng: np.random.Generator) -> Floats:
    """Draw every client of every run, and return the sum of v' over the clients that report each group."""
    groups = np.repeat(np.arange(len(values)), [len(v) for v in values])
    everyone = replace(mechanism, groups=len(values))
    reported, reports = everyone.randomise(np.tile(groups, RUNS), np.tile(np.concatenate(values), RUNS), rng)
    places = reported + len(values) * np.repeat(np.arange(RUNS), len(groups))
    sums = np.bincount(places, weights=reports, minlength=RUNS * len(values))
    return np.asarray(sums.reshape(RUNS, len(values)), dtype=np.float64)


def means_of(mechanism: Published, values: Sequence[Floats], rng: np.random.Generator) -> Floats:
    everyone = replace(mechanism, groups=len(values))
    return everyone.means(sums_of(mechanism, values, rng), [len(v) for v in values])


def first_mean(mechanism: Published, values: Sequence[Floats], rng: np.random.Generator) -> Floats:
    return np.asarray(means_of(mechanism, values, rng)[:, 0])


def gap(mechanism: Published, values: Sequence[Floats], rng: np.random.Generator) -> Floats:
    return means_of(mechanism, values, rng) @ weights_of(gap, len(values))


def gap_in_one_draw(mechanism: Published, values: Sequence[Floats], rng: np.random.Generator) -> Floats:
    first, second = values
    ones = [np.ones((RUNS, len(v)), dtype=np.int64) for v in (first, second)]
    return estimated_gaps(mechanism, RunClients((first, second), (ones[0], ones[1])), rng)


def weights_of(estimator: Estimator, groups: int) -> tuple[float, ...]:
    return (1.0, 0.0 if estimator is first_mean else -1.0, *[0.0] * (groups - 2))


def mutant_p_value(estimator: Estimator, drawn: Published, promised: Published) -> float:
    """Return the p-value of one mechanism's estimates under the law of another."""
    values = values_of(24, 6)
    estimates = estimator(drawn, values, np.random.default_rng(SEED))
    return p_value(estimates, Law(promised, values, weights_of(estimator, 2)))


def closed_form(mechanism: Published, values: Sequence[Floats], weights: Sequence[float]) -> float:
    clients = sum(map(len, values))
    everyone = replace(mechanism, groups=len(values))
    return sum(
        w**2 * everyone.variance(len(v), clients, square=float(np.mean(v**2)))
        for w, v in zip(weights, values, strict=True)
    )


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_the_empirical_mse_is_the_closed_form(mechanism: Published, sizes: tuple[int, ...]) -> None:
    """Of a group's mean and of the gap; the law's variance is the closed form to the last digits."""
    values, rng = values_of(*sizes), np.random.default_rng(SEED)
    means = means_of(mechanism, values, rng)
    for estimator in (first_mean, gap):
        weights = weights_of(estimator, len(sizes))
        law = Law(mechanism, values, weights)
        assert closed_form(mechanism, values, weights) == pytest.approx(law.moments()[0], rel=1e-12)
        assert p_value(means @ weights, law) >= FALSE_POSITIVE_RATE
    if len(sizes) == 2:
        assert p_value(gap_in_one_draw(mechanism, values, rng), law) >= FALSE_POSITIVE_RATE


ESTIMATORS = pytest.mark.parametrize("estimator", [first_mean, gap, gap_in_one_draw])
PROMISED = pytest.mark.parametrize("promised", [ResponseMechanism(1.0, 2.0), LaplaceMechanism(1.0, 2.0, k=2 / 3)])


@ESTIMATORS
@PROMISED
@pytest.mark.parametrize(("field", "factor"), [("group_epsilon", 1.5), ("value_epsilon", 1.2)])
def test_other_budgets_are_noticed(promised: Published, estimator: Estimator, field: str, factor: float) -> None:
    for mutant in (factor, 1 / factor):
        drawn = replace(promised, **{field: mutant * getattr(promised, field)})
        assert mutant_p_value(estimator, drawn, promised) < FALSE_POSITIVE_RATE


@ESTIMATORS
def test_swapped_scales_are_noticed(estimator: Estimator) -> None:
    promised = LaplaceMechanism(1.0, 2.0, k=2 / 3)
    assert mutant_p_value(estimator, replace(promised, k=2.0, kept_k=2 / 3), promised) < FALSE_POSITIVE_RATE


@PROMISED
def test_sizes_of_the_other_group_are_noticed(promised: Published) -> None:
    values = values_of(24, 6)
    sums = sums_of(promised, values, np.random.default_rng(SEED))
    for sizes, honest in (((24, 6), True), ((6, 24), False)):
        for weights in ((1.0, 0.0), (1.0, -1.0)):
            estimates = promised.means(sums, list(sizes)) @ weights
            assert (p_value(estimates, Law(promised, values, weights)) >= FALSE_POSITIVE_RATE) == honest


@PROMISED
@pytest.mark.parametrize("weights", [(1.0, 0.0), (1.0, -1.0)])
@pytest.mark.parametrize("sizes", [(15, 15), (22, 8)])
def test_a_closed_form_for_other_groups_is_noticed(
    promised: Published, weights: tuple[float, float], sizes: tuple[int, int]
) -> None:
    means = means_of(promised, values_of(24, 6), np.random.default_rng(SEED))
    law = Law(promised, values_of(*sizes), weights)
    estimates = means @ weights
    assert p_value(estimates - estimates.mean() + law.truth, law) < FALSE_POSITIVE_RATE
