"""The design ``centred``: the least total error about a population.

For the gap of two groups the total is least.  For the gaps of three and more, the largest ratio of a gap's total to
what it is measured by is least, and no gap's total is above that of randomized response.  All scores share one
constant, so that gaps add up.  For seven and more groups it is the best of signed subsets, symbols that ask one group
at a time, and randomized response, each with the best constant; for five and six that differ the second is tried too.
"""

from decimal import Decimal

import numpy as np

from fairgauge.channel import Channel
from fairgauge.designs.few_groups import Measures, is_large, least_totals
from fairgauge.designs.many_groups import signed_subsets
from fairgauge.designs.references import total_measures
from fairgauge.designs.simple import randomized_response
from fairgauge.designs.two_groups import centred_two
from fairgauge.designs.windows import windows
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import FEW

# Above this epsilon a minute of solving a large program finds next to nothing that is better than one group at a time.
_SOLVED = 2.5
# What is aimed at beside randomized response, until it holds: scores by the table alone cost a little.
_SAFELY = (0.985, 0.95, 0.9)


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
        for part in _SAFELY:
            channels.append(least_totals(scores, epsilon, Measures(units, part * simple)))
            if not worth(channels[-1])[0]:
                break
    return min(channels, key=worth)
