"""How wide intervals will be in a study of sites, with noise for each person and without it."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betaincinv

from fairgauge.channel import LEVEL_UNIT
from fairgauge.errors import InvalidInput
from fairgauge.estimation.inversion import inverted
from fairgauge.estimation.sites.law import Noise
from fairgauge.estimation.sites.rates import metrics_of, rate_of
from fairgauge.estimation.sites.reading import noise_of
from fairgauge.estimation.sites.testing import GapTest, RateTest, Table
from fairgauge.goals.inputs import Vector
from fairgauge.goals.reckoning import USUAL_SPREAD, Reckoning
from fairgauge.study import NoisyCounts

# So little that a person's own outcome is all that is at random.
_NO_NOISE = 1e-9
# A law of values is as good as so many values, evenly likely.
_POINTS = 1000
_USUAL = Reckoning(0.0, USUAL_SPREAD)


@dataclass(frozen=True)
class Expected:
    """What a plan for sites reckons with.

    Args:
        sites: How many sites take part.
        people: How many people each of them holds.
        positives: The part of them whose truth is 1, where the outcome is confusion.
        right: How often the model is right, for either truth, where the outcome is confusion.
        shares: Each group's share; equal ones unless given.
        values: What is reckoned of a metric's values, from -1 to 1, where the outcome is levels.
    """

    sites: int
    people: int
    positives: float = 0.5
    right: float = 0.8
    shares: tuple[float, ...] | None = None
    values: Reckoning = _USUAL

    def __post_init__(self) -> None:
        for field, number in (("sites", self.sites), ("people", self.people)):
            if number < 1:
                raise InvalidInput(field, number, "must be at least 1")
        for field, part in (("positives", self.positives), ("expect", self.right)):
            if not 0 < part < 1:
                raise InvalidInput(field, part, "must be between 0 and 1")

    def counts(self, site: NoisyCounts) -> Vector:
        """Return how many records there will be in each cell, of all sites together."""
        groups = len(site.attribute.groups)
        shares = np.array(self.shares or [1 / groups] * groups)
        each = self._confusion() if site.levels is None else self._levels(site.levels)
        return np.asarray(np.multiply.outer(shares, each).ravel() * self.sites * self.people)

    def _confusion(self) -> Vector:
        truth = np.repeat([1 - self.positives, self.positives], 2)
        right = np.array([self.right, 1 - self.right, 1 - self.right, self.right])
        return np.asarray(truth * right)

    def _levels(self, levels: tuple[int, ...]) -> Vector:
        """Return how often each level is counted: values have a beta law, and are rounded at random."""
        mean, most = (1 + self.values.mean) / 2, (1 - self.values.mean**2) / 4
        variance = most if self.values.spread is None else (self.values.spread / 2) ** 2
        ends = np.array([1 - mean, *np.zeros(len(levels) - 2), mean])
        if variance >= most:
            return ends
        size = most / variance - 1
        values = 2 * betaincinv(mean * size, (1 - mean) * size, (np.arange(_POINTS) + 0.5) / _POINTS) - 1
        at = np.array(levels) / LEVEL_UNIT
        return np.asarray([np.interp(values, at, level).mean() for level in np.eye(len(levels))])


@dataclass(frozen=True)
class MetricPlan:
    """How wide the largest gap of a metric will be; None where it could not be told.

    Args:
        metric: The metric.
        error: Half the width of the interval, in the metric's units.
        error_without_privacy: The same without noise.
    """

    metric: str
    error: float | None
    error_without_privacy: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "metric": self.metric,
            "error": self.error,
            "error_without_privacy": self.error_without_privacy,
        }


def plan_sites(site: NoisyCounts, expected: Expected, *, confidence: float = 0.99) -> list[MetricPlan]:
    """Return for each metric how wide the interval of a gap will be, about the people that sites see.

    The widths are those that the estimate gives for counts as expected.  Of several gaps it is the widest, and all of
    them hold together.
    """
    counts, groups = expected.counts(site), len(site.attribute.groups)
    alpha = (1 - confidence) / (groups * (groups - 1) / 2)
    error = partial(_error, site, counts, alpha)
    noise = noise_of(site, expected.sites)
    return [
        MetricPlan(name, error(noise, name), error(Noise(_NO_NOISE, expected.sites), name)) for name in metrics_of(site)
    ]


def _error(site: NoisyCounts, counts: Vector, alpha: float, noise: Noise, name: str) -> float | None:
    """Return the half-width of the widest gap: that of the two groups of which there are fewest."""
    table = Table(counts, noise, site.records, drawn=True)
    rates = [rate_of(site, metrics_of(site)[name], [group]) for group in range(len(site.attribute.groups))]
    few = sorted((RateTest(table, rate, alpha) for rate in rates), key=lambda test: test.people)[:2]
    low, high = inverted(GapTest(*few))
    if (low, high) == (-1.0, 1.0):
        return None  # there are too few people to tell them from the noise
    return (high - low) / 2 * (1.0 if site.metric is None else 2 * site.metric.scale)
