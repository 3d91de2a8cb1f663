"""The smaller of Chernoff's width and a normal one that pays for Berry and Esseen's bound, for the paper's tables."""

import numpy as np
from scipy.special import ndtri

from fairgauge.estimation.intervals import Width, chernoff
from fairgauge.estimation.spread import Spread

_BERRY_ESSEEN = 0.56


def finite(spread: Spread, answers: float, alpha: float) -> Width:
    """Return the smaller of the Chernoff and the Berry-Esseen width; both need only the table and the count.

    Guarantee: at least 1 - alpha for any number of answers, at one look; clients need not be alike.
    """
    edge = berry_esseen(spread, answers, alpha)
    return Width(*(min(edge, chernoff(spread, answers, alpha, sign)) for sign in (1, -1)))


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
