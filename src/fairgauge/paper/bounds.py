"""The paper's planning, by Chebyshev's inequality: of clients, epsilon and error two give the third."""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.optimize import brentq

from fairgauge.paper.mechanisms import (
    Published,
    published_laplace,
    published_response,
    sound_laplace,
    sound_response,
)

CONFIDENCE = 0.99
Allocation = Callable[[float], Published]
PUBLISHED: Mapping[str, Allocation] = {"M_R opt": published_response, "M_L opt": published_laplace}
SOUND: Mapping[str, Allocation] = {"M_R": sound_response, "M_L": sound_laplace}

_LEAST, _MOST = 1e-4, 400.0


def chebyshev_error(variance: float, clients: float, *, confidence: float = CONFIDENCE) -> float:
    """Return the error that is exceeded with probability 1 - confidence at most, from K times the variance."""
    return float(np.sqrt(variance / (clients * (1 - confidence))))


def clients_needed(allocation: Allocation, epsilon: float, error: float, *, confidence: float = CONFIDENCE) -> float:
    """Return for how many clients the Chebyshev error is as asked, for two equal groups and the worst values."""
    return allocation(epsilon).gap_variance() / ((1 - confidence) * error**2)


def least_epsilon(
    allocation: Allocation, clients: float, error: float, *, confidence: float = CONFIDENCE
) -> float | None:
    """Return the least epsilon whose Chebyshev error is as asked, for two equal groups and the worst values.

    None means that there is no such epsilon: the bit of M_R alone has too large a variance.
    """

    def excess(epsilon: float) -> float:
        return chebyshev_error(allocation(epsilon).gap_variance(), clients, confidence=confidence) - error

    return None if excess(_MOST) > 0 else float(brentq(excess, _LEAST, _MOST, xtol=1e-12, rtol=1e-12))


def crossovers(first: Allocation, second: Allocation, *, low: float = 0.02, high: float = 12.0) -> list[float]:
    """Return where the worst-case variances of two mechanisms for equal groups are the same."""

    def difference(epsilon: float) -> float:
        return float(np.log(first(epsilon).gap_variance() / second(epsilon).gap_variance()))

    grid = np.geomspace(low, high, 200)
    signs = np.sign([difference(epsilon) for epsilon in grid])
    return [float(brentq(difference, grid[i], grid[i + 1])) for i in np.flatnonzero(np.diff(signs))]
