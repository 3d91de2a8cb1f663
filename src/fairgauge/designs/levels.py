"""How many levels a channel needs so that rounding values to them costs under 1 % of the variance.

Rounding v to levels a step h apart adds at most h^2/4 to the variance of v.  A minimax channel hides most of that
where its own variance is smaller anyway; what remains is close to h^2/8 times the squared slope of the
functional, over a wide range of epsilon, shares and targets (measured: 0.4 to 0.6 of h^2/4).
"""

import math

import numpy as np

from fairgauge.channel import Channel
from fairgauge.targets.inputs import Inputs, Vector
from fairgauge.targets.scores import Decoder
from fairgauge.targets.target import Goal

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


def levels_needed(goal: Goal, variance: float, levels: int) -> int:
    """Return how many levels keep the cost of rounding under 1 %, given the variance reached with some levels."""
    if rounding_cost(goal, variance, levels) <= WORTH:
        return levels
    step = math.sqrt(0.8 * WORTH * _without_rounding(goal, variance, levels) * 8 / squared_slope(goal))
    return 2 * math.ceil(1 / step) + 1


def levels_wanted(goal: Goal, channel: Channel) -> int:
    """Return how many levels keep the cost of rounding under 1 % for each gap that is wanted, or for the worst mean."""
    return max(levels_needed(one, variance, len(channel.levels)) for one, variance in _each(goal, channel))


def largest_rounding_cost(goal: Goal, channel: Channel) -> float:
    """Return what rounding to a channel's levels adds at most to a wanted number's variance, as a part."""
    return max(rounding_cost(one, variance, len(channel.levels)) for one, variance in _each(goal, channel))


def _each(goal: Goal, channel: Channel) -> list[tuple[Goal, float]]:
    """Return what rounding is asked about, with its variance: each gap alone where each matters, else all at once."""
    if not goal.balanced:
        return [(goal, goal.privacy_variance(channel))]
    # Any unbiased score will do for this.
    decoder = Decoder.even(channel, goal.share_vector)
    wanted = zip(goal.contrasts, goal.wanted(decoder.inputs), strict=False)
    scores = [(goal.alone(contrast), decoder.score(each.functional)) for contrast, each in wanted]
    return [(one, decoder.variance(score)) for one, score in scores if score is not None]


def rounding_cost(goal: Goal, variance: float, levels: int) -> float:
    """Return what rounding to so many levels adds to the variance, as a part of what it would be without."""
    without = _without_rounding(goal, variance, levels)
    return squared_slope(goal) * (2 / (levels - 1)) ** 2 / 8 / without


def _without_rounding(goal: Goal, variance: float, levels: int) -> float:
    """Return the variance without rounding; the estimate is rough where rounding is most of it."""
    return max(variance - squared_slope(goal) * (2 / (levels - 1)) ** 2 / 8, variance / 3)


def next_count(count: int, needed: int) -> int:
    """Return how many levels to go on with, so that doubling leads to the number needed.

    Levels that contain the ones before make the best start, and the last step is the dearest.
    """
    doublings = math.ceil(math.log2((needed - 1) / (count - 1)))
    return 2 * math.ceil((needed - 1) / 2.0**doublings) + 1


def squared_slope(goal: Goal) -> float:
    """Return the largest mean squared slope, over the clients, of the wanted functionals."""
    inputs = Inputs(goal.groups, np.array([-1.0, 1.0]), goal.abstain)
    weights = inputs.weights(goal.share_vector)[: goal.groups]
    return max(
        float(sum(w * ((f[b][-1] - f[b][0]) / 2) ** 2 for w, b in zip(weights, inputs.blocks, strict=False)))
        for f, *_ in goal.wanted(inputs)
    )
