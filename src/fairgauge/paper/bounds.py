r"""The paper's planning, by Chebyshev's inequality: of clients, epsilon and error two give the third.

It takes group sizes for known.  The estimate of a mean is divided by the size that is assumed, so with a wrong one it
is :math:`n_G / \tilde n_G` times what it should be, its variance the square of that times, and its mean is off by an
amount that no number of clients takes away.
"""

from collections.abc import Callable, Mapping, Sequence

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

# Which of them has our name of which design.
_DESIGNS = {"randomized-response": "M_R", "laplace": "M_L"}
_Shares = tuple[float, float]
_EQUAL: _Shares = (0.5, 0.5)

_LEAST, _MOST = 1e-4, 400.0


def chebyshev_error(variance: float, clients: float, *, confidence: float = CONFIDENCE) -> float:
    """Return the error that is exceeded with probability 1 - confidence at most, from K times the variance."""
    return float(np.sqrt(variance / (clients * (1 - confidence))))


def clients_needed(
    allocation: Allocation, epsilon: float, error: float, *, confidence: float = CONFIDENCE, shares: _Shares = _EQUAL
) -> float:
    """Return for how many clients the Chebyshev error is as asked, for two groups and the worst values."""
    return allocation(epsilon).gap_variance(shares) / ((1 - confidence) * error**2)


def least_epsilon(
    allocation: Allocation, clients: float, error: float, *, confidence: float = CONFIDENCE, shares: _Shares = _EQUAL
) -> float | None:
    """Return the least epsilon whose Chebyshev error is as asked, for two groups and the worst values.

    None means that there is no such epsilon: the bit of M_R alone has too large a variance.
    """

    def excess(epsilon: float) -> float:
        return chebyshev_error(allocation(epsilon).gap_variance(shares), clients, confidence=confidence) - error

    return None if excess(_MOST) > 0 else float(brentq(excess, _LEAST, _MOST, xtol=1e-12, rtol=1e-12))


def planned_sentence(
    design: str, asked: Mapping[str, float | None], confidence: float, shares: Sequence[float], scale: float = 1.0
) -> str | None:
    """Return what the paper's own planning gives for a design that is one of its mechanisms made private, else None.

    Args:
        design: The design's name.
        asked: Clients, epsilon and error, in the metric's units; the one that is None is found.
        confidence: How often the error is to be kept.
        shares: The shares of two groups.
        scale: How much of the metric one unit of v is.
    """
    name, pair = _DESIGNS.get(design), (shares[0], shares[1])
    if name is None:
        return None
    allocation, clients, epsilon = SOUND[name], asked["clients"], asked["epsilon"]
    error = None if asked["error"] is None else asked["error"] / scale
    if clients is not None and error is not None:
        epsilon = least_epsilon(allocation, clients, error, confidence=confidence, shares=pair)
        said = "no epsilon is enough" if epsilon is None else f"epsilon {epsilon:.2f}"
    elif epsilon is not None and error is not None:
        said = f"{np.ceil(clients_needed(allocation, epsilon, error, confidence=confidence, shares=pair)):,.0f} clients"
    elif epsilon is not None and clients is not None:
        reached = chebyshev_error(allocation(epsilon).gap_variance(pair), clients, confidence=confidence)
        said = f"±{scale * reached:.4g}"
    else:
        return None
    variance = "" if epsilon is None else f", K·Var {allocation(epsilon).gap_variance(pair):.4g}"
    return (
        f"The source paper's own {name}, made private, as the paper plans it (its estimator, group sizes known, the "
        f"worst values, Chebyshev's inequality): {said}{variance}."
    )


def crossovers(first: Allocation, second: Allocation, *, low: float = 0.02, high: float = 12.0) -> list[float]:
    """Return where the worst-case variances of two mechanisms for equal groups are the same."""

    def difference(epsilon: float) -> float:
        return float(np.log(first(epsilon).gap_variance() / second(epsilon).gap_variance()))

    grid = np.geomspace(low, high, 200)
    signs = np.sign([difference(epsilon) for epsilon in grid])
    return [float(brentq(difference, grid[i], grid[i + 1])) for i in np.flatnonzero(np.diff(signs))]


def assumed_variance(mechanism: Published, minority: float, clients: float, factor: float) -> float:
    """Return the largest variance of the gap if the minority is taken for so many times as large as it is.

    Args:
        mechanism: The mechanism.
        minority: How many clients are in the smaller group.
        clients: How many clients there are.
        factor: What its size is taken for, as a multiple of it.
    """
    return _variance(mechanism, minority, clients, factor, None)


def assumed_mse(mechanism: Published, minority: float, clients: float, factor: float) -> float:
    """Return the mean squared error of the gap then, if everybody holds the value 1, so that the true gap is 0."""
    first, second = _scales(minority, clients, factor)
    return _variance(mechanism, minority, clients, factor, 1.0) + (first - second) ** 2


def _variance(mechanism: Published, minority: float, clients: float, factor: float, square: float | None) -> float:
    variances = (mechanism.variance(size, clients, square=square) for size in (minority, clients - minority))
    return sum(v * s**2 for v, s in zip(variances, _scales(minority, clients, factor), strict=True))


def _scales(minority: float, clients: float, factor: float) -> tuple[float, float]:
    """Return by what each group's estimate is multiplied."""
    return 1 / factor, (clients - minority) / (clients - factor * minority)
