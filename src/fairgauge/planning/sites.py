"""How wide intervals will be in a study of sites, with noise for each person and without it."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fairgauge.errors import CannotEstimate, InvalidInput
from fairgauge.estimation.inversion import inverted
from fairgauge.estimation.sites.law import Noise
from fairgauge.estimation.sites.rates import metrics_of, rate_of
from fairgauge.estimation.sites.reading import noise_of
from fairgauge.estimation.sites.testing import GapTest, RateTest, Table
from fairgauge.goals.inputs import Vector
from fairgauge.study import Site

# So little that a person's own outcome is all that is at random.
_NO_NOISE = 1e-9


@dataclass(frozen=True)
class Expected:
    """What a plan for sites reckons with.

    Args:
        sites: How many sites take part.
        people: How many people each of them holds.
        positives: The part of them whose truth is 1.
        right: How often the model is right, for either truth.
        shares: Each group's share; equal ones unless given.
    """

    sites: int
    people: int
    positives: float = 0.5
    right: float = 0.8
    shares: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for field, number in (("sites", self.sites), ("people", self.people)):
            if number < 1:
                raise InvalidInput(field, number, "must be at least 1")
        for field, part in (("positives", self.positives), ("expect", self.right)):
            if not 0 < part < 1:
                raise InvalidInput(field, part, "must be between 0 and 1")

    def counts(self, site: Site) -> Vector:
        """Return how many records there will be in each cell, of all sites together."""
        groups = len(site.attribute.groups)
        shares = np.array(self.shares or [1 / groups] * groups)
        truth = np.repeat([1 - self.positives, self.positives], 2)
        right = np.array([self.right, 1 - self.right, 1 - self.right, self.right])
        return np.asarray(np.multiply.outer(shares, truth * right).ravel() * self.sites * self.people)


@dataclass(frozen=True)
class MetricPlan:
    """How wide the largest gap of a metric will be; None where it could not be told.

    Args:
        metric: The metric.
        error: Half the width of the interval.
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


def plan_sites(site: Site, expected: Expected, *, confidence: float = 0.99) -> list[MetricPlan]:
    """Return for each metric how wide the interval of a gap will be, about the people that sites see.

    The widths are those that the estimate gives for counts as expected.  Of several gaps it is the widest, and all of
    them hold together.
    """
    if site.outcome != "confusion":
        raise InvalidInput("outcome", site.outcome, "must be confusion: only that can be planned")
    counts, groups = expected.counts(site), len(site.attribute.groups)
    alpha = (1 - confidence) / (groups * (groups - 1) / 2)
    error = partial(_error, site, counts, alpha)
    noise = noise_of(site, expected.sites)
    return [
        MetricPlan(name, error(noise, name), error(Noise(_NO_NOISE, expected.sites), name)) for name in metrics_of(site)
    ]


def _error(site: Site, counts: Vector, alpha: float, noise: Noise, name: str) -> float | None:
    """Return the half-width of the widest gap: that of the two groups of which there are fewest."""
    table = Table(counts, noise, site.records, drawn=True)
    rates = [rate_of(site, metrics_of(site)[name], [group]) for group in range(len(site.attribute.groups))]
    few = sorted((RateTest(table, rate, alpha) for rate in rates), key=lambda test: test.people)[:2]
    try:
        _ = few[0].numbers, few[1].numbers
        low, high = inverted(GapTest(*few))
    except CannotEstimate:
        return None
    return (high - low) / 2
