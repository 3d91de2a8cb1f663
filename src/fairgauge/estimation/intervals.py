"""Widths that need only the table and the number of answers: how far an average score may be from its mean.

They are about the clients who answered, whatever they hold: only the channel is random.  Where shares are known, these
clients split as the study says.
"""

from typing import NamedTuple

import numpy as np

from fairgauge.estimation.spread import Spread


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
