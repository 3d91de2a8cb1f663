"""The design ``uncentred``: the least worst-case variance, to a fraction of a percent where the split is known.

For up to six groups (three for gaps whose shares are estimated) it comes from column generation; beyond that from the
best family known.  Where several gaps are wanted, the largest ratio of a gap's variance to what that gap could have
alone is least, and no gap is worse than with randomized response.
"""

from decimal import Decimal

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.few_groups import Measures, best_channel
from fairgauge.designs.many_groups import signed_subsets
from fairgauge.designs.references import largest_ratio, references, simple_variances
from fairgauge.designs.simple import hadamard, laplace, randomized_response
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import FEW

# Where several gaps are wanted and shares are estimated, the search takes minutes from four groups on; it saves up to
# 14 % of the clients at epsilon 1, and nothing from epsilon 2 on.
_FEW_ESTIMATED = 3
# What is aimed at beside randomized response, until it holds: rounding to integers and scores by the table alone cost
# a little, and more where comparisons are weighed.
_SAFELY = (0.997, 0.95, 0.9, 0.85, 0.8)


def uncentred(scores: Scores, epsilon: Decimal) -> Channel:
    """Make the channel of least worst-case variance; never worse than the other designs."""
    simple = randomized_response(scores, epsilon)
    channels = [simple, laplace(scores, epsilon)]
    few = scores.target.groups <= (_FEW_ESTIMATED if scores.target.balanced and not scores.target.shares_known else FEW)
    if not few:
        channels.append(hadamard(scores, epsilon))
        if scores.target.shares_known:
            channels.append(signed_subsets(scores, epsilon))
        channels = [channel for channel in channels if channel.symbols <= scores.symbols] or channels
    if not scores.target.balanced:
        channels += [best_channel(scores, epsilon)] if few else []
        return min(channels, key=scores.privacy_variance)
    units, most = references(scores, epsilon), simple_variances(scores, epsilon)

    def fair(channel: Channel) -> bool:
        return bool(np.all(np.array(scores.privacy_variances(channel)) <= most * (1 + 1e-9)))

    if few:
        for part in _SAFELY:
            channels.append(best_channel(scores, epsilon, Measures(units, part * most)))
            if fair(channels[-1]):
                break
    return min(filter(fair, channels), key=lambda channel: largest_ratio(scores, channel, units))
