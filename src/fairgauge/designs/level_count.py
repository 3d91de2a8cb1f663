"""How many levels a channel needs so that rounding values to them costs under 1 % of the variance.

Rounding v to levels a step h apart adds at most h^2/4 to the variance of v.  A minimax channel hides most of that
where its own variance is smaller anyway; what remains is close to h^2/8 times the squared slope of the
functional, over a wide range of epsilon, shares and targets (measured: 0.4 to 0.6 of h^2/4).
"""

import math

import numpy as np

from fairgauge.channel import Channel
from fairgauge.targets.channel_inputs import Inputs, Vector
from fairgauge.targets.scores import Scores
from fairgauge.targets.symbol_scores import Decoder

WORTH = 0.01


def even_levels(count: int) -> Vector:
    """Return so many equally spaced levels from -1 to 1 that survive the document's unit of 2^-30."""
    return np.round(np.linspace(-1, 1, count) * 2**30) / 2**30


def levels_about(mean: float, spread: float, count: int) -> Vector:
    """Return so many levels that are densest near a mean: the farther from it, the less a value's rounding matters.

    About the mean they lie like ``spread * sinh(t)`` for evenly spaced t.
    """
    first, last = math.asinh((-1 - mean) / spread), math.asinh((1 - mean) / spread)
    levels = mean + spread * np.sinh(np.linspace(first, last, count))
    levels[0], levels[-1] = -1.0, 1.0
    return np.round(levels * 2**30) / 2**30


def levels_needed(scores: Scores, variance: float, levels: int) -> int:
    """Return how many levels keep the cost of rounding under 1 %, given the variance reached with some levels."""
    if _rounding_cost(scores, variance, levels) <= WORTH:
        return levels
    step = math.sqrt(0.8 * WORTH * _without_rounding(scores, variance, levels) * 8 / _squared_slope(scores))
    return 2 * math.ceil(1 / step) + 1


def levels_by_gain(before: tuple[int, float], now: tuple[int, float]) -> int:
    r"""Return how many levels keep that cost under 1 %, by what the last step took away of it.

    A cost c / (n - 1)^2 that falls by g from n to m levels still is

    .. math:: g / ((\frac{m - 1}{n - 1})^2 - 1)

    with m of them.  Where it did not fall at all, more levels are none the better.

    Args:
        before: How many levels there were, and the variance with them.
        now: How many there are, and the variance.

    >>> levels_by_gain((3, 1.0), (5, 0.96)), levels_by_gain((3, 1.0), (5, 0.98)), levels_by_gain((3, 1.0), (5, 1.1))
    (7, 5, 5)
    """
    (few, earlier), (count, variance) = before, now
    left = (earlier - variance) / (((count - 1) / (few - 1)) ** 2 - 1) / variance
    if left <= WORTH:
        return count
    return 2 * math.ceil((count - 1) * math.sqrt(left / (0.8 * WORTH)) / 2) + 1


def levels_wanted(scores: Scores, channel: Channel) -> int:
    """Return how many levels keep the cost of rounding under 1 % for each gap that is wanted, or for the worst mean."""
    return max(levels_needed(one, variance, len(channel.levels)) for one, variance in _each(scores, channel))


def largest_rounding_cost(scores: Scores, channel: Channel) -> float:
    """Return what rounding to a channel's levels adds at most to a wanted number's variance, as a part."""
    return max(_rounding_cost(one, variance, len(channel.levels)) for one, variance in _each(scores, channel))


def _each(scores: Scores, channel: Channel) -> list[tuple[Scores, float]]:
    """Return what rounding is asked about, with its variance: each gap alone where each matters, else all at once."""
    if not scores.target.balanced:
        return [(scores, scores.privacy_variance(channel))]
    # Any unbiased score will do for this.
    decoder = Decoder.even(channel, scores.target.share_vector)
    wanted = zip(scores.target.contrasts, scores.wanted(decoder.inputs), strict=False)
    read = [(scores.alone(contrast), decoder.score(each.functional)) for contrast, each in wanted]
    return [(one, decoder.variance(score)) for one, score in read if score is not None]


def _rounding_cost(scores: Scores, variance: float, levels: int) -> float:
    """Return what rounding to so many levels adds to the variance, as a part of what it would be without."""
    without = _without_rounding(scores, variance, levels)
    return _squared_slope(scores) * (2 / (levels - 1)) ** 2 / 8 / without


def _without_rounding(scores: Scores, variance: float, levels: int) -> float:
    """Return the variance without rounding; the estimate is rough where rounding is most of it."""
    return max(variance - _squared_slope(scores) * (2 / (levels - 1)) ** 2 / 8, variance / 3)


def next_count(count: int, needed: int) -> int:
    """Return how many levels to go on with, so that doubling leads to the number needed.

    Levels that contain the ones before make the best start, and the last step is the dearest.
    """
    doublings = math.ceil(math.log2((needed - 1) / (count - 1)))
    return 2 * math.ceil((needed - 1) / 2.0**doublings) + 1


def _squared_slope(scores: Scores) -> float:
    """Return the largest mean squared slope, over the clients, of the wanted functionals."""
    inputs = Inputs(scores.target.groups, np.array([-1.0, 1.0]), scores.target.abstain)
    weights = inputs.weights(scores.target.share_vector)[: scores.target.groups]
    return max(
        float(sum(w * ((f[b][-1] - f[b][0]) / 2) ** 2 for w, b in zip(weights, inputs.blocks, strict=False)))
        for f, *_ in scores.wanted(inputs)
    )
