"""Intervals: how far an average score may be from the truth.

=============  =====================================================================================
``finite``     holds for any number of answers; the smaller of a Chernoff bound from the channel's own moments and
               a Berry-Esseen bound.  The default.
``anytime``    holds at every look at once, for people who watch a study while answers arrive
``normal``     asymptotic: close to its confidence from about 10^4 answers on; invalid if looked at repeatedly
``chebyshev``  the paper's; holds for any number of answers and is far wider than it needs to be
=============  =====================================================================================

All but ``anytime`` are about the clients who answered, whatever they hold: only the channel is random.  Where shares
are known, these clients split as the study says.  While a study runs, those who have answered so far are some of
all, and do not split exactly like that.  So ``anytime`` is about the population that clients come from, one after
another at random, and pays for who happens to come first.

Widths depend on the channel and the number of answers only (``normal`` may use the counts to be narrower), so the
planner uses the very same functions.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from fairgauge.errors import InvalidInput
from fairgauge.estimation.spread import Spread
from fairgauge.goals.inputs import Vector

# The anytime mixture spreads its bets over studies of these sizes, at about this alpha.  Bets do not depend on the
# alpha that is asked for, so that a p-value is about one and the same mixture.
_LOOKS = np.logspace(1, 11, 41)
_BET_ALPHA = 0.01
_BERRY_ESSEEN = 0.56


class Width(NamedTuple):
    """How far below and above the estimate the truth may lie."""

    below: float
    above: float


def normal(spread: Spread, answers: float, alpha: float) -> Width:
    """Return the asymptotic width with the largest variance that the channel allows.

    Guarantee: asymptotic; at least 1 - alpha for a large number of answers, at one look.
    """
    half = -float(ndtri(alpha / 2)) * float(np.sqrt(spread.variance / answers))
    return Width(half, half)


def chebyshev(spread: Spread, answers: float, alpha: float) -> Width:
    """Return the width from the variance alone.

    Guarantee: at least 1 - alpha for any number of answers, at one look.
    """
    half = float(np.sqrt(spread.variance / (alpha * answers)))
    return Width(half, half)


def finite(spread: Spread, answers: float, alpha: float) -> Width:
    """Return the smaller of the Chernoff and the Berry-Esseen width; both need only the table and the count.

    Guarantee: at least 1 - alpha for any number of answers, at one look; clients need not be alike.
    """
    # Which of the two is smaller depends on the table and the count, never on the answers, so choosing is free.
    edge = _berry_esseen(spread, answers, alpha)
    return Width(*(min(edge, chernoff(spread, answers, alpha, sign)) for sign in (1, -1)))


def anytime(spread: Spread, answers: float, alpha: float) -> Width:
    r"""Return the width of a mixture of exponential supermartingales.

    .. math:: \sum_k w_k\, e^{\lambda_k u K - K \Lambda(\lambda_k)} = 2 / \alpha \quad \text{solved for } u

    Guarantee: at least 1 - alpha over all looks together (Ville's inequality), about the population from which clients
    come as independent draws.
    """
    # Bets on studies of a very different size add nothing that can be seen, and leaving them out is safe.
    near = _LOOKS[np.abs(np.log10(_LOOKS / np.clip(answers, _LOOKS[0], _LOOKS[-1]))) <= 2]
    tilts = np.sqrt(2 * np.log(2 / _BET_ALPHA) / (spread.drawn_variance * near))
    return Width(*(_mixture(spread, answers, alpha, tilts, sign) for sign in (1, -1)))


Method = Callable[[Spread, float, float], Width]
INTERVALS: dict[str, Method] = {
    "finite": finite,
    "anytime": anytime,
    "normal": normal,
    "chebyshev": chebyshev,
}
GUARANTEES = {
    "finite": "holds for the clients who answered, however many, at one look",
    "anytime": "holds for the population that clients come from at random, at every look together",
    "normal": "approximate: close to its confidence from about 10,000 answers on, at one look",
    "chebyshev": "holds for the clients who answered, however many, at one look; wider than it needs to be",
}


def check_interval(name: str) -> Method:
    """Return the interval of that name.

    Raises:
        InvalidInput: If there is none.
    """
    if name not in INTERVALS:
        raise InvalidInput("interval", name, f"must be one of {', '.join(INTERVALS)}")
    return INTERVALS[name]


def check_confidence(confidence: float) -> float:
    """Return alpha = 1 - confidence.

    Raises:
        InvalidInput: If the confidence is not between 0.5 and 1.
    """
    if not 0.5 <= confidence < 1:
        raise InvalidInput("confidence", confidence, "must be from 0.5 to below 1, such as 0.99")
    return 1 - confidence


def chernoff(spread: Spread, answers: float, alpha: float, sign: int) -> float:
    """Return min over tilts of (ln(2 / alpha) + K Lambda(tilt)) / (K tilt): every tilt gives a valid width."""
    price = np.log(2 / alpha) / answers
    # Near this tilt the minimum lies if the score is close to normal.
    best = np.sqrt(2 * price / spread.variance)
    for reach, count in ((1.5, 31), (0.1, 21)):
        tilts = best * np.logspace(-reach, reach, count)
        widths = (price + spread.cumulant(tilts, sign)) / tilts
        best = tilts[np.argmin(widths)]
    return float(widths.min())


def _berry_esseen(spread: Spread, answers: float, alpha: float) -> float:
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


def _mixture(spread: Spread, answers: float, alpha: float, tilts: Vector, sign: int) -> float:
    cost = spread.drawn_cumulant(tilts, sign)
    wanted = np.log(2 / alpha) + np.log(len(_LOOKS))

    def excess(width: float) -> float:
        bets = answers * (tilts * width - cost)
        top = bets.max()  # SciPy's logsumexp is for arrays of every kind, and for a few numbers it takes a millisecond
        return float(top + np.log(np.exp(bets - top).sum()) - wanted)

    # A single tilt reaches the wanted value at this width, and the mixture no later; a hair more covers rounding.
    most = float(np.min((wanted / answers + cost) / tilts)) * (1 + 1e-6)
    return float(brentq(excess, 0.0, most, xtol=1e-12, rtol=1e-10))
