"""What the optimal design reaches under the paper's assumption: the least epsilon, the clients, and how often it holds.

The intervals are about exactly the clients who answered, half of them in each group.  Real clients are drawn, and never
split like that: so coverage is shown of the clients who answered and of whom they were drawn from.
"""

from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import brentq

from fairgauge.channel import Channel
from fairgauge.designs import LEAST_EPSILON, make_channel
from fairgauge.errors import CannotEstimate
from fairgauge.paper.bounds import CONFIDENCE
from fairgauge.paper.fixed_intervals import Spread, chebyshev, finite, fixed
from fairgauge.paper.mechanisms import Values
from fairgauge.paper.runs import RunClients, channel_gaps
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

_SCORES = Scores(Target((0.5, 0.5)))
# Epsilons at which channels are made first; between two of them the least epsilon for an error is then found.
_GRID = (*(LEAST_EPSILON * 2**i for i in range(13)), Decimal("6.3"), Decimal(8))
# Epsilons at which it is compared with the published mechanisms.
SHOWN = tuple(Decimal(e) for e in ("0.05", "0.1", "0.2", "0.35", "0.6", "1", "1.6", "2.5", "4", "6"))
# A larger epsilon would promise privacy in name only.
MOST = _GRID[-1]


@lru_cache(maxsize=512)
def spread_of(epsilon: Decimal) -> Spread:
    """Return how far the optimal design's estimate of the gap strays at an epsilon."""
    decoder = _SCORES.decoder(optimal_channel(epsilon))
    (wanted,) = _SCORES.wanted(decoder.inputs)
    score = decoder.score(wanted.functional)
    if score is None:
        raise CannotEstimate("the channel does not tell the gap")
    return Spread(decoder, score, _SCORES.target.share_vector)


def optimal_channel(epsilon: Decimal) -> Channel:
    """Return the optimal channel for the gap of two equal groups."""
    return make_channel(_SCORES, epsilon, design="uncentred")[1]


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
    position = next((i for i, epsilon in enumerate(_GRID) if excess(np.log(float(epsilon))) <= 0), None)
    if position is None:
        return None
    if position == 0:
        return float(_GRID[0])
    low, high = (float(np.log(float(epsilon))) for epsilon in _GRID[position - 1 : position + 1])
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


# What members of both groups hold, in turn: so the true gap is 0.
_HELD = {"everyone at 1": (1.0,), "half at −1, half at 1": (-1.0, 1.0)}
_CLIENTS = (100, 10**4, 10**6)
_EPSILONS = ("0.1", "1", "4")
RUNS = 10_000
COUNT = len(_HELD) * len(_CLIENTS) * len(_EPSILONS)

_Row = dict[str, Any]


def coverage(rng: np.random.Generator, *, step: Callable[[], object] = lambda: None) -> _Row:
    """Return in which part of runs each interval of the optimal design's gap holds 0, the true one, in every cell."""
    rows = []
    for row in _rows(rng):
        rows.append(row)
        step()
    return {"unit": f"part of {RUNS:,} runs whose interval of confidence {CONFIDENCE} holds the true gap", "rows": rows}


def _rows(rng: np.random.Generator) -> Iterator[_Row]:
    for (name, held), clients, epsilon in product(_HELD.items(), _CLIENTS, _EPSILONS):
        exact = Decimal(epsilon)
        here = RunClients.fixed([held, held], clients // 2, RUNS)
        drawn = RunClients.drawn([held, held], clients, RUNS, rng)
        spread, channel = spread_of(exact), optimal_channel(exact)
        gaps = {"these": channel_gaps(channel, spread.score, here, rng)}
        gaps["drawn"] = channel_gaps(channel, spread.score, drawn, rng)
        widths = {kind: width(spread, clients, 1 - CONFIDENCE) for kind, width in WIDTHS.items()}
        held_in = {
            whom: {kind: _holding(found, *width) for kind, width in widths.items()} for whom, found in gaps.items()
        }
        yield {"held": name, "clients": clients, "epsilon": float(exact), **held_in}


def _holding(gaps: Values, below: float, above: float) -> float:
    return float(((gaps - below <= 0) & (gaps + above >= 0)).mean())
