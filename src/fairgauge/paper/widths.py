"""Widths that need only the table and the number of answers: how far an average score may be from its mean.

They are about the clients who answered, whatever they hold and split exactly as the shares say: only the channel is
random.  That is the paper's assumption; what people read is about the population that clients are drawn from.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from fairgauge.paper.spread import Spread

_BERRY_ESSEEN = 0.56


class Width(NamedTuple):
    """How far below and above the estimate the truth may lie."""

    below: float
    above: float


def chebyshev(spread: Spread, answers: float, alpha: float) -> Width:
    """Return the width from the variance alone.

    Guarantee: at least 1 - alpha for any number of answers, at one look.
    """
    half = float(np.sqrt(spread.variance / (alpha * answers)))
    return Width(half, half)


def finite(spread: Spread, answers: float, alpha: float) -> Width:
    """Return the smaller of Chernoff's width and of Berry and Esseen's; both need only the table and the count.

    Guarantee: at least 1 - alpha for any number of answers, at one look; clients need not be alike.
    """
    edge = berry_esseen(spread, answers, alpha)
    return Width(*(min(edge, chernoff(spread, answers, alpha, sign)) for sign in (1, -1)))


def chernoff(spread: Spread, answers: float, alpha: float, sign: int) -> float:
    """Return Chernoff's width on one side: the least of (ln(2 / alpha) + K Lambda(tilt)) / (K tilt) over tilts.

    Guarantee: exact; every tilt gives a valid width.
    """
    price = np.log(2 / alpha) / answers
    # Near this tilt the minimum lies if the score is close to normal.
    best = np.sqrt(2 * price / spread.variance)
    for reach, count in ((1.5, 31), (0.1, 21)):
        tilts = best * np.logspace(-reach, reach, count)
        widths = (price + spread.cumulant(tilts, sign)) / tilts
        best = tilts[np.argmin(widths)]
    return float(widths.min())


def berry_esseen(spread: Spread, answers: float, alpha: float) -> float:
    """Return the normal width with its error paid for, or infinity where there are too few answers for that.

    The third moments sum to at most reach times the variances, so the distance to the normal law is at most
    0.56 reach / (least standard deviation sqrt(K)), for clients that need not be alike (Shevtsova 2010).
    """
    if spread.least_variance <= 0:
        return float("inf")
    distance = _BERRY_ESSEEN * spread.reach / np.sqrt(spread.least_variance * answers)
    if distance >= alpha / 2:
        return float("inf")
    return -float(ndtri(alpha / 2 - distance)) * float(np.sqrt(spread.variance / answers))
