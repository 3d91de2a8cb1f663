r"""Rates of sites' counts, and tests of rates and of their gaps, whose accepted values are the intervals.

A rate is the part that some cells of a table of counts are of others.

* A rate: :math:`X(\theta)` averages to zero at the right :math:`\theta`, and its law is known but for how many people
  it is about.  That number has an interval of its own, from the law of the noise, which takes a part of alpha (Berger
  and Boos, 1994), and a rate is accepted if it is with some number in it.
* A gap :math:`\delta = \theta_a - \theta_b`: the same for :math:`X_a(\theta_b + \delta) / n_a - X_b(\theta_b) / n_b`,
  with several :math:`\theta_b` and numbers.  Which of them are right hardly matters, since they move the sum by
  products of small differences.

Where people are counted, they come to their site independently of each other.  Sites may differ: outcomes whose chances
differ vary no more than the same number of outcomes with the mean of these chances (Hoeffding, 1956), so the law for
equal sites is the one to reckon with.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtri, ndtr, ndtri

from fairgauge.estimation.confidence_set import inverted
from fairgauge.estimation.noise_law import Noise, RatePart, tails
from fairgauge.study import NoisyCounts
from fairgauge.targets.channel_inputs import Vector

# Within a group: truth 0 and prediction 0, truth 0 and prediction 1, truth 1 and prediction 0, both 1.
CONFUSION: dict[str, dict[int, float]] = {
    "selection rate": {0: 0, 1: 1, 2: 0, 3: 1},
    "accuracy": {0: 1, 1: 0, 2: 0, 3: 1},
    "true positive rate": {2: 0, 3: 1},
    "false positive rate": {0: 0, 1: 1},
    "precision": {1: 0, 3: 1},
}
_UNIT = 2**30


@dataclass(frozen=True, eq=False)
class Rate:
    """The mean of weights over cells: some cells count 1 and others 0, or a level counts what it is, from 0 to 1.

    Args:
        cells: The cells that it is about.
        weights: What each of them counts.
    """

    cells: tuple[int, ...]
    weights: Vector

    def sum(self, counts: Vector, rate: float | Vector) -> Vector:
        """Return the weighted sum that averages to zero at the right rate."""
        own = counts[list(self.cells)]
        return np.asarray(self.weights @ own - rate * own.sum())

    def people(self, counts: Vector) -> float:
        """Return how many records the rate is about, as the counts say."""
        return float(counts[list(self.cells)].sum())


def metrics_of(site: NoisyCounts) -> dict[str, dict[int, float]]:
    """Return for each metric what the cells of a group count for it."""
    if site.metric is None or site.levels is None:
        return CONFUSION
    return {site.metric.name: {index: (level / _UNIT + 1) / 2 for index, level in enumerate(site.levels)}}


def rate_of(site: NoisyCounts, weights: dict[int, float], groups: list[int]) -> Rate:
    """Return the rate of people in these groups together."""
    size = site.size // len(site.attribute.groups)
    cells = [(size * group + cell, weight) for group in groups for cell, weight in weights.items()]
    return Rate(tuple(cell for cell, _ in cells), np.array([weight for _, weight in cells], dtype=float))


def share_of(site: NoisyCounts, group: int) -> Rate:
    """Return the part of all records that a group has."""
    size = site.size // len(site.attribute.groups)
    weights = np.array([float(cell // size == group) for cell in range(site.size)])
    return Rate(tuple(range(site.size)), weights)


# Parts of alpha for what is only needed roughly: how many people, how much they vary, and one of a gap's two rates.
_NUMBER, _SPREAD, _OTHER = 0.01, 0.01, 0.04
_NEVER = 1e-300
_ROUGHLY = 0.02


@dataclass(frozen=True, eq=False)
class NoisySums:
    """Counts of all sites together, and what is known of them.

    Args:
        counts: The sum of the sites' noisy counts.
        noise: The noise in each of them.
        copies: How many records of one person there may be.
        drawn: Whether people count as drawn at random, or as those who are there.
    """

    counts: Vector
    noise: Noise
    copies: int
    drawn: bool


@dataclass(frozen=True, eq=False)
class RateTest:
    """Tests values of a rate.

    Args:
        table: The counts.
        rate: What is tested.
        alpha: How often a right value may be rejected.
    """

    table: NoisySums
    rate: Rate
    alpha: float

    @property
    def extent(self) -> tuple[float, float]:
        """The range of rates that are possible at all."""
        return 0.0, 1.0

    @property
    def answers(self) -> float:
        """About how many people the rate is about."""
        return self.people

    @cached_property
    def people(self) -> float:
        """How many people the rate is about, as the counts say."""
        return self.rate.people(self.table.counts)

    @cached_property
    def numbers(self) -> tuple[float, float]:
        """The least and the largest number of people that go with the counts; one at least, or there is no rate."""
        reach = self.table.noise.reach(len(self.rate.cells), _NUMBER * self.alpha)
        return max(math.ceil(self.people - reach - 1e-9), 1), max(math.floor(self.people + reach + 1e-9), 1)

    @property
    def nobody(self) -> bool:
        """Whether the counts may be noise alone."""
        return self.numbers[0] <= 1

    @cached_property
    def least(self) -> float:
        """What people are divided by at least: so many that noise alone could be them."""
        return max(1.0, math.sqrt(len(self.rate.cells) * self.table.noise.variance))

    @cached_property
    def estimate(self) -> float:
        """What the counts say the rate is; it may be outside what is possible."""
        return float(self.rate.sum(self.table.counts, 0.0)) / max(self.people, self.least)

    def spread(self, rate: Vector, people: Vector) -> Vector:
        """Return the most that outcomes vary, as a part of what 0 and 1 would."""
        own = self.table.counts[list(self.rate.cells)]
        if set(self.rate.weights) <= {0.0, 1.0}:
            return np.ones(len(rate))
        squares = (self.rate.weights[None, :] - rate[:, None]) ** 2
        there = np.maximum(squares @ own, 0.0)
        deviation = np.sqrt(self.table.copies * there + self.table.noise.variance * (squares**2).sum(axis=1))
        most = there - float(ndtri(_SPREAD * self.alpha)) * deviation
        with np.errstate(over="ignore"):  # what is beyond every float is above 1
            return np.asarray(np.minimum(1.0, most / np.maximum(people * rate * (1 - rate), _NEVER)))

    def part(self, rate: Vector, people: Vector, scale: Vector) -> RatePart:
        """Return what the rate adds to a sum, for each case."""
        drawn = people if self.table.drawn else np.zeros(len(people))
        return RatePart(rate, drawn, scale, self.spread(rate, people), self.rate.weights, self.table.copies)

    def margin(self, value: float) -> float:
        """Return how far a rate is beyond what is accepted: below zero if it is accepted.

        Guarantee: the right rate is accepted with probability at least 1 - alpha, for independent people; but for how
        many they are, of which three numbers are tried, and on levels for how much they vary, which a normal
        approximation bounds that may fail in a small part of alpha.
        """
        low, high = self.numbers
        people = np.array([low, (low + high) / 2, high])
        rate = np.full(3, value)
        part = self.part(rate, people, np.ones(3))
        chances = tails((part,), self.table.noise, np.full(3, float(self.rate.sum(self.table.counts, value))))
        return math.log(self._left / 2) - math.log(max(float(chances.max()), _NEVER))

    def limit(self, value: float) -> float:
        """Return about how far from the estimate rates are accepted."""
        return -float(ndtri(self._left / 2)) * self.error(value)

    def error(self, value: float) -> float:
        """Return about the standard error of the rate."""
        rate, people = np.array([value]), np.array([max(self.people, self.least)])
        part = self.part(rate, people, 1 / people)
        noise = self.table.noise.variance * ((self.rate.weights - value) ** 2).sum() / float(people[0]) ** 2
        return math.sqrt(float(part.variance[0]) + noise)

    @property
    def _left(self) -> float:
        return (1 - _NUMBER - _SPREAD) * self.alpha


@dataclass(frozen=True, eq=False)
class RateGapTest:
    """Tests gaps between two rates of different people.

    Args:
        first: The rate of the one.
        second: The rate of the others; both at the whole alpha.
    """

    first: RateTest
    second: RateTest

    @property
    def extent(self) -> tuple[float, float]:
        """The range of gaps that are possible at all."""
        return -1.0, 1.0

    @property
    def answers(self) -> float:
        """About how many people the gap is about."""
        return self.first.people + self.second.people

    @cached_property
    def estimate(self) -> float:
        """What the counts say the gap is."""
        return self.first.estimate - self.second.estimate

    @cached_property
    def cases(self) -> tuple[Vector, Vector, Vector]:
        """The second rate and the two numbers of people to reckon with: around what the counts say, and there.

        What matters is the product of two errors, that of the rate and that of the numbers, so the cases lie where it
        is largest on an ellipsoid that holds all three with probability 1 - ``_OTHER`` alpha, about.
        """
        first, second = self.first, self.second
        radius = math.sqrt(float(chdtri(3, _OTHER * second.alpha)))
        middle = min(max(second.estimate, 0.0), 1.0)
        # Only roughly needed, and rounded outward.
        low, high = inverted(RateTest(second.table, second.rate, 2 * float(ndtr(-radius))), close=_ROUGHLY)
        ours, theirs = (
            math.sqrt(len(test.rate.cells) * test.table.noise.variance) * radius for test in (first, second)
        )
        cases = [(middle, 0.0, 0.0), (low, 0.0, 0.0), (high, 0.0, 0.0), (middle, 0.7, 0.7), (middle, -0.7, -0.7)]
        for end in (low, high):
            cases += [(middle + (end - middle) * math.sqrt(0.5), side, -side) for side in (0.5, -0.5)]
        return (
            np.array([case[0] for case in cases]),
            np.array([max(first.people + case[1] * ours, first.least) for case in cases]),
            np.array([max(second.people + case[2] * theirs, second.least) for case in cases]),
        )

    def margin(self, value: float) -> float:
        """Return how far a gap is beyond what is accepted: below zero if it is accepted.

        Guarantee: the right gap is accepted with probability at least 1 - alpha, for independent people; but for the
        cases to reckon with, which a normal approximation picks that may fail in a small part of alpha.
        """
        rate, ours, theirs = self.cases
        rate = np.clip(rate, max(-value, 0.0), min(1 - value, 1.0))
        counts = self.first.table.counts
        seen = self.first.rate.sum(counts, rate + value) / ours - self.second.rate.sum(counts, rate) / theirs
        parts = (self.first.part(rate + value, ours, 1 / ours), self.second.part(rate, theirs, -1 / theirs))
        chances = tails(parts, self.first.table.noise, seen)
        return math.log(self._left / 2) - math.log(max(float(chances.max()), _NEVER))

    def limit(self, value: float) -> float:
        """Return about how far from the estimate gaps are accepted."""
        second = min(max(self.second.estimate, 0.0), 1.0)
        error = math.hypot(self.first.error(min(max(second + value, 0.0), 1.0)), self.second.error(second))
        return -float(ndtri(self._left / 2)) * error

    @property
    def _left(self) -> float:
        return (1 - 2 * _SPREAD - _OTHER) * self.first.alpha
