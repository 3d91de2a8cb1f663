r"""How often groups answered beside each other.

If p_A and p_B are the shares of two sides in the population, and q is the share of A among those of both who answered,
then A answered

.. math:: R = \frac{q / (1 - q)}{p_A / p_B}

times as often as B.  The answers tell q wherever the table tells shares; p is stated, and R leans on it.
"""

import math
from dataclasses import replace

from fairgauge.errors import CannotEstimate
from fairgauge.estimation.estimands import Estimands, Ratio, sum_of
from fairgauge.estimation.reader import Reader
from fairgauge.estimation.values import Interval
from fairgauge.languages import Told
from fairgauge.study import Attribute
from fairgauge.targets.comparisons import Pair, members
from fairgauge.targets.inputs import Vector


def response_ratios(reader: Reader, attribute: Attribute, alpha: float) -> dict[Pair, Interval]:
    """Return how many times as often the first side of each comparison answered as the second, where that is told.

    It takes shares that are stated and a table that tells shares.  Where all are taken to answer alike it is told too:
    as a check of that.

    Guarantee: as that of the kind of interval, for all comparisons together, if the stated shares are those of the
    population to the error that the study states.
    """
    found: dict[Pair, Interval] = {}
    for pair, (free, among) in shares_among(reader, attribute).items():
        try:
            share = free.ratio(among, alpha / len(free.estimands.compared))
        except CannotEstimate:
            continue
        least, most = free.estimands.band.odds(pair)
        low, high = _odds(share.low) / most, _odds(share.high) / least
        if low > 0 and high < math.inf:
            middle = math.sqrt(least * most) if least != most else most
            estimate = _odds(min(max(share.estimate, share.low), share.high)) / middle
            found[pair] = Interval(estimate, low, high, (0.0, math.inf))
    return found


def shares_among(reader: Reader, attribute: Attribute) -> dict[Pair, tuple[Reader, Ratio]]:
    """Return, for each comparison, the share of its first side among both and what reads it, where that is told."""
    scores = None if attribute.shares is None else _share_scores(reader.estimands)
    if scores is None:
        return {}
    # Shares that are taken as known would decide what they are to be compared with.
    free = replace(reader, estimands=replace(reader.estimands, shares=None))
    found: dict[Pair, tuple[Reader, Ratio]] = {}
    for pair in free.estimands.compared:
        first, second = (sum_of([scores[group] for group in members(side)]) for side in pair)
        found[pair] = free, Ratio(first, first + second, Told.of("caution.part-shares"))
    return found


def _share_scores(estimands: Estimands) -> list[Vector] | None:
    """Return the scores of all groups' shares; None where the table does not tell them."""
    if estimands.shares is None:
        return None if estimands.means is None else [mean.under for mean in estimands.means]
    inputs = estimands.decoder.inputs
    scores = [estimands.decoder.score(inputs.share_of(group)) for group in range(inputs.groups)]
    told = [score for score in scores if score is not None]
    return told if len(told) == len(scores) else None


def _odds(share: float) -> float:
    return max(share, 0.0) / (1 - share) if share < 1 else math.inf
