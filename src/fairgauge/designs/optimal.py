"""The two designs that search for the best table: ``uncentred`` and ``centred``.

*Uncentred*: the least worst-case variance, to a fraction of a percent where the split is known.  For up to six groups
(three for gaps whose shares are estimated) it comes from column generation; beyond that from the best family known.
Where several gaps are wanted, the largest ratio of a gap's variance to what that gap could have alone is least, and no
gap is worse than with randomized response.

*Centred*: the least total error about a population.  For the gap of two groups the total is least.  For the gaps of
three and more, the largest ratio of a gap's total to what it is measured by is least, and no gap's total is above that
of randomized response.  All scores share one constant, so that gaps add up.  For seven and more groups it is the best
of signed subsets, symbols that ask one group at a time, and randomized response, each with the best constant; for five
and six that differ the second is tried too.

Each of several gaps is measured by the least variance that it could have alone, or by randomized response's.  A gap's
own optimum is that of a problem with three groups at most: groups that are not compared all have the target 0, and
groups of one side all have the same.  Averaging their rows keeps privacy, keeps scores unbiased and makes no variance
larger.
"""

from decimal import Decimal
from functools import lru_cache

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.classical_designs import hadamard, laplace, largest_ratio, randomized_response, simple_variances
from fairgauge.designs.few_groups import Measures, best_channel, is_large, least_totals
from fairgauge.designs.many_groups import signed_subsets
from fairgauge.designs.two_groups import centred_two
from fairgauge.designs.windows import windows
from fairgauge.targets.channel_inputs import Vector
from fairgauge.targets.comparisons import Contrast
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import FEW, Target

# Where several gaps are wanted and shares are estimated, the search takes minutes from four groups on; it saves up to
# 14 % of the clients at epsilon 1, and nothing from epsilon 2 on.
_FEW_ESTIMATED = 3
# Above this epsilon a minute of solving a large program finds next to nothing that is better than one group at a time.
_SOLVED = 2.5
# What is aimed at beside randomized response, until it holds: rounding to integers and scores by the table alone cost
# a little, and more where comparisons are weighed.
_SAFELY, _SAFELY_IN_TOTAL = (0.997, 0.95, 0.9, 0.85, 0.8), (0.985, 0.95, 0.9)


def uncentred(scores: Scores, epsilon: Decimal) -> Channel:
    """Make the channel of least worst-case variance; never worse than the other designs."""
    channels = [randomized_response(scores, epsilon)]
    few = scores.target.groups <= (_FEW_ESTIMATED if scores.target.balanced and not scores.target.shares_known else FEW)
    if not few:
        # Noise has more levels than the others, which pays from about epsilon 5 on.
        channels += [laplace(scores, epsilon), hadamard(scores, epsilon)]
        if scores.target.shares_known:
            channels.append(signed_subsets(scores, epsilon))
        channels = [channel for channel in channels if channel.symbols <= scores.symbols] or channels
    if not scores.target.balanced:
        channels += [best_channel(scores, epsilon)] if few else []
        return min(channels, key=scores.privacy_variance)
    units, most = _references(scores, epsilon), simple_variances(scores, epsilon)

    def fair(channel: Channel) -> bool:
        return bool(np.all(np.array(scores.privacy_variances(channel)) <= most * (1 + 1e-9)))

    if few:
        for part in _SAFELY:
            channels.append(best_channel(scores, epsilon, Measures(units, part * most)))
            if fair(channels[-1]):
                break
    return min(filter(fair, channels), key=lambda channel: largest_ratio(scores, channel, units))


def serves(scores: Scores) -> bool:
    """Return whether a centred design is known for the scores: gaps, without abstaining.

    Where shares are estimated the constant is the expected mean, so one must be expected.
    """
    if scores.target.groups > 2:
        return scores.target.kind == "gap" and scores.target.relies_on_shares
    return (
        scores.target.kind == "gap"
        and not scores.target.abstain
        and (scores.target.shares_known or scores.values.expect is not None)
    )


def centred(scores: Scores, epsilon: Decimal) -> Channel:
    """Make the channel of least total error."""
    return centred_two(scores, epsilon) if scores.target.groups == 2 else _several(scores, epsilon)


def _several(scores: Scores, epsilon: Decimal) -> Channel:
    """Make the channel whose gaps have the least totals for what each is measured by."""
    scores = scores.by("centred")
    simple = np.array(scores.by("randomized-response").totals(randomized_response(scores, epsilon)))
    units = total_measures(scores, epsilon)
    channels = [randomized_response(scores, epsilon)]
    if scores.target.groups > FEW or is_large(scores.target):
        found = windows(scores, epsilon)
        channels += [] if found is None else [found]
    if scores.target.groups > FEW:
        channels.append(signed_subsets(scores.by("uncentred"), epsilon))
    weights = np.array([contrast.weight for contrast in scores.target.contrasts])

    def worth(channel: Channel) -> tuple[bool, float]:
        totals = np.array(scores.totals(channel))
        return bool(np.any(totals > simple * (1 + 1e-9))), float((totals * weights / units).max())

    if scores.target.groups <= FEW and not (is_large(scores.target) and epsilon > _SOLVED):
        for part in _SAFELY_IN_TOTAL:
            channels.append(least_totals(scores, epsilon, Measures(units, part * simple)))
            if not worth(channels[-1])[0]:
                break
    return min(channels, key=worth)


def _references(scores: Scores, epsilon: Decimal) -> Vector:
    """Return what the variance of each of the wanted numbers is measured by, for clients whose split is fixed.

    Guarantee: for up to six groups with known shares, the least that any channel could give that gap alone, to 1 %.
    """
    if not scores.target.relies_on_shares or scores.target.groups > FEW:
        return simple_variances(scores, epsilon)
    return np.array([_alone(*_sizes(scores.target, contrast), epsilon) for contrast in scores.target.contrasts])


def total_measures(scores: Scores, epsilon: Decimal) -> Vector:
    """Return what the total of each of the wanted numbers is measured by: the same, and how clients differ."""
    differ = scores.reckonings[0].widest ** 2
    found = _references(scores, epsilon)
    target = scores.target
    sampled = [sum(1 / size for size in _sizes(target, contrast)) * differ for contrast in target.contrasts]
    totals: Vector = found + np.tile(sampled, len(found) // len(sampled))
    return totals


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
