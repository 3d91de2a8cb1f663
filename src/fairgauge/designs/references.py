"""What each of several gaps is measured by: the least variance that it could have alone, or randomized response's.

A gap's own optimum is that of a problem with three groups at most: groups that are not compared all have the target
0, and groups of one side all have the same.  Averaging their rows keeps privacy, keeps scores unbiased and makes no
variance larger.
"""

from decimal import Decimal
from functools import lru_cache

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.few_groups import best_channel
from fairgauge.designs.simple import randomized_response
from fairgauge.targets.comparisons import Contrast
from fairgauge.targets.inputs import Vector
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import FEW, Target


def references(scores: Scores, epsilon: Decimal) -> Vector:
    """Return what the variance of each of the wanted numbers is measured by, for clients whose split is fixed.

    Guarantee: for up to six groups with known shares, the least that any channel could give that gap alone, to 1 %.
    """
    if not scores.target.relies_on_shares or scores.target.groups > FEW:
        return simple_variances(scores, epsilon)
    return np.array([_alone(*_sizes(scores.target, contrast), epsilon) for contrast in scores.target.contrasts])


def total_measures(scores: Scores, epsilon: Decimal) -> Vector:
    """Return what the total of each of the wanted numbers is measured by: the same, and how clients differ."""
    differ = scores.reckonings[0].widest ** 2
    found = references(scores, epsilon)
    target = scores.target
    sampled = [sum(1 / size for size in _sizes(target, contrast)) * differ for contrast in target.contrasts]
    totals: Vector = found + np.tile(sampled, len(found) // len(sampled))
    return totals


def simple_variances(scores: Scores, epsilon: Decimal) -> Vector:
    """Return the variances of randomized response."""
    return np.array(scores.privacy_variances(randomized_response(scores, epsilon)))


def largest_ratio(scores: Scores, channel: Channel, measures: Vector) -> float:
    """Return the largest ratio of a wanted number's variance to what it is measured by, weighed."""
    weights = [wanted.weight for wanted in scores.wanted(scores.decoder(channel).inputs)]
    return float((np.array(scores.privacy_variances(channel)) * weights / measures).max())


def _sizes(target: Target, contrast: Contrast) -> tuple[float, float]:
    first, second = sorted(sum(target.shares[g] for g in side) for side in (contrast.of, contrast.against))
    return first, second


@lru_cache(maxsize=256)
def _alone(first: float, second: float, epsilon: Decimal) -> float:
    """Return the least variance of the gap of two groups of these shares beside everybody else."""
    rest = 1 - first - second
    shares = (first, second, rest) if rest > 1e-9 else (first, second)
    scores = Scores(Target(shares, comparisons=(Contrast((0,), (1,)),)))
    return scores.privacy_variance(best_channel(scores, epsilon))
