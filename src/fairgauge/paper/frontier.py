"""What the optimal design needs: the least epsilon for an error, and the clients for an epsilon, two equal groups."""

from decimal import ROUND_CEILING, Decimal
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from fairgauge.channel import Channel
from fairgauge.designs import LEAST_EPSILON, make_channel
from fairgauge.errors import CannotEstimate
from fairgauge.paper.bounds import CONFIDENCE
from fairgauge.paper.fixed import fixed
from fairgauge.paper.spread import Spread
from fairgauge.paper.widths import chebyshev, finite
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

SCORES = Scores(Target((0.5, 0.5)))
# Epsilons at which channels are made first; between two of them the least epsilon for an error is then found.
GRID = (*(LEAST_EPSILON * 2**i for i in range(13)), Decimal("6.3"), Decimal(8))
# Epsilons at which it is compared with the published mechanisms.
SHOWN = tuple(Decimal(e) for e in ("0.05", "0.1", "0.2", "0.35", "0.6", "1", "1.6", "2.5", "4", "6"))
# A larger epsilon would promise privacy in name only.
MOST = GRID[-1]


@lru_cache(maxsize=512)
def spread_of(epsilon: Decimal) -> Spread:
    """Return how far the optimal design's estimate of the gap strays at an epsilon."""
    decoder = SCORES.decoder(optimal_channel(epsilon))
    (wanted,) = SCORES.wanted(decoder.inputs)
    score = decoder.score(wanted.functional)
    if score is None:
        raise CannotEstimate("the channel does not tell the gap")
    return Spread(decoder, score, SCORES.target.share_vector)


def optimal_channel(epsilon: Decimal) -> Channel:
    """Return the optimal channel for the gap of two equal groups."""
    return make_channel(SCORES, epsilon, design="uncentred")[1]


# The paper's assumption: these clients, split exactly in halves.  The last is the narrowest that is known to hold.
WIDTHS = {"chebyshev": chebyshev, "finite": finite, "fixed": fixed}


def error_at(epsilon: Decimal, clients: float, *, interval: str) -> float:
    """Return the half-width of an interval about the gap at confidence 0.99, in units of v."""
    return max(WIDTHS[interval](spread_of(epsilon), clients, 1 - CONFIDENCE))


def least_epsilon(clients: float, error: float, *, interval: str) -> float | None:
    """Return the least epsilon, rounded up to three digits, at which the optimal design reaches an error.

    None means that even at ``MOST`` it does not.

    Guarantee: a channel of that epsilon was made and reaches the error.  Up to the design's own distance from the
    optimum, 2 % of the variance, no smaller epsilon will do.
    """

    def excess(log_epsilon: float) -> float:
        return float(np.log(error_at(_short(np.exp(log_epsilon)), clients, interval=interval) / error))

    # Channels for a large epsilon take longest to make, so they come last.
    position = next((i for i, epsilon in enumerate(GRID) if excess(np.log(float(epsilon))) <= 0), None)
    if position is None:
        return None
    if position == 0:
        return float(GRID[0])
    low, high = (float(np.log(float(epsilon))) for epsilon in GRID[position - 1 : position + 1])
    found = brentq(excess, low, high, xtol=1e-3)
    epsilon = _short(np.exp(float(found)))
    while error_at(epsilon, clients, interval=interval) > error:
        epsilon += Decimal(1).scaleb(epsilon.adjusted() - 2)
    return float(epsilon)


def clients_needed(epsilon: float, error: float, *, interval: str) -> float | None:
    """Return how many clients the optimal design needs for an error; None above ``MOST``."""
    if not LEAST_EPSILON <= epsilon <= MOST:
        return None
    exact = _short(epsilon)

    def excess(log_clients: float) -> float:
        return float(np.log(error_at(exact, float(np.exp(log_clients)), interval=interval) / error))

    return float(np.exp(brentq(excess, np.log(2.0), np.log(1e14), xtol=1e-6)))


def _short(epsilon: float) -> Decimal:
    """Return the epsilon rounded up to three digits."""
    exact = Decimal(float(epsilon))
    short = exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), ROUND_CEILING)
    return short if short < MOST else MOST
