r"""Fixed clients: the width of an interval about the clients who answered, whose split is known exactly.

Only the channel is random here.  Clients are independent but not alike, so moments are averages over clients: the worst
values in each group, joined by the shares.  The width needs only the table and the number of answers.

With r_k = max(|phi_k|, e^(-sigma_k^2 t^2 / 2)) the product of all but one client's factor is at most

.. math:: \prod_{j \ne k} r_j \le \bar r^{\,K-1} e^{1 - r_k} ,

because a geometric mean is at most the arithmetic one, and r_k >= exp(-sigma_k^2 t^2 / 2).
"""

import math

import numpy as np
from scipy.special import ndtri

from fairgauge.estimation.populations import Laws
from fairgauge.paper.prawitz import Moments, distances, grid_of
from fairgauge.paper.spread import Spread
from fairgauge.paper.widths import Width, chernoff
from fairgauge.targets.inputs import Matrix, Vector

_CELLS = 12
_BETWEEN = 4


def fixed(spread: Spread, answers: float, alpha: float) -> Width:
    """Return the smaller of Chernoff's width and the normal width with its distance paid for.

    Guarantee: at least 1 - alpha for any number of answers, at one look; clients need not be alike.
    """
    # Which of the two is smaller depends on the table and the count, never on the answers, so choosing is free.
    edge = _normal_width(spread, answers, alpha)
    return Width(*(min(edge, chernoff(spread, answers, alpha, sign)) for sign in (1, -1)))


def _normal_width(spread: Spread, answers: float, alpha: float) -> float:
    """Return z sqrt(V / K) with z at alpha / 2 - D, for the worst V; infinity where D is too large."""
    least, most = spread.least_variance, spread.variance
    if least <= 1e-9 * most:
        return math.inf
    edges = np.geomspace(least, most, _CELLS + 1)
    third, fourth, single = central_moments(spread)
    every = np.ones(_CELLS)
    # Three times the fourth moment covers sigma^4 / 8 beside M_4 / 24 in what bounds a single client's factor.
    moments = Moments(edges[:-1], edges[1:], third * every, 3 * fourth * every, single)
    times = grid_of(answers).points / math.sqrt(answers * math.sqrt(least * most))
    left = alpha / 2 - distances(answers, times, _modulus(spread, times), moments)
    if (left <= 0).any():
        return math.inf
    return float((-ndtri(left) * np.sqrt(edges[1:] / answers)).max())


def _modulus(spread: Spread, times: Vector) -> Vector:
    """Return the average over clients of max(|phi|, normal factor) on each piece between two times."""
    rows, score = spread.decoder.rows, spread.score
    phase = np.multiply.outer(score, times)
    square = (rows @ np.cos(phase)) ** 2 + (rows @ np.sin(phase)) ** 2
    variance = np.maximum(rows @ score**2 - (rows @ score) ** 2, 0.0)
    sag = np.multiply.outer(variance, np.diff(times) ** 2) / 4
    heard = np.sqrt(np.minimum(np.maximum(square[:, :-1], square[:, 1:]) + sag, 1.0))
    # Between levels the variance is at least that of the levels' mixture, which is at least the smaller one.
    normal = np.exp(-np.multiply.outer(variance, times[:-1] ** 2) / 2)
    return np.minimum(_laws(spread).most(np.maximum(heard, normal)), 1.0)


def _laws(spread: Spread) -> Laws:
    return Laws(spread.decoder, spread.shares)


def central_moments(spread: Spread) -> tuple[float, float, float]:
    """Return the average client's largest third and fourth central moment, and a single one's largest variance.

    Between two levels raw moments are linear, so central moments are polynomials: of degree 3 and 4.  A polynomial is
    at most the largest of its Bernstein coefficients; between a few points of each piece that is nearly exact.
    """
    rows, score = spread.decoder.rows, spread.score
    raw = np.array([rows @ score**power for power in (1, 2, 3, 4)])
    third, fourth, second = (np.zeros(raw.shape[1]) for _ in range(3))
    for block in spread.decoder.inputs.blocks:
        here = raw[:, block]
        levels = np.arange(here.shape[1])
        fine = np.linspace(0, levels[-1], _BETWEEN * levels[-1] + 1)
        points = np.array([np.interp(fine, levels, moment) for moment in here])
        start, end = (points[:, :-1], points[:, 1:]) if len(fine) > 1 else (points, points)
        # A block's bound is the same wherever in it clients are: the worst value counts.
        third[block] = np.abs(_third(start, end)).max()
        fourth[block] = _fourth(start, end).max()
        second[block] = (points[1] - points[0] ** 2).max() + _sag(start, end)
    joined = _laws(spread).most(np.column_stack([third, fourth]))
    return float(joined[0]), float(joined[1]), float(second.max())


def _sag(start: Matrix, end: Matrix) -> float:
    """Return how much a variance can rise between two points above the larger of both."""
    return float(((end[0] - start[0]) ** 2).max()) / 4


def _third(a: Matrix, b: Matrix) -> Matrix:
    """Return the Bernstein coefficients of m3 - 3 f m2 + 2 f^3 between two points."""
    f, g = a[0], b[0]
    product = _cubic(f * a[1], (f * b[1] + g * a[1]) / 2, g * b[1])
    linear = np.array([a[2], (2 * a[2] + b[2]) / 3, (a[2] + 2 * b[2]) / 3, b[2]])
    return np.asarray(linear - 3 * product + 2 * np.array([f**3, f * f * g, f * g * g, g**3]))


def _fourth(a: Matrix, b: Matrix) -> Matrix:
    """Return the Bernstein coefficients of m4 - 4 f m3 + 6 f^2 m2 - 3 f^4 between two points."""
    f, g = a[0], b[0]
    linear = np.array([a[3] + part * (b[3] - a[3]) for part in (0, 0.25, 0.5, 0.75, 1)])
    third = _quartic(*_cubic(f * a[2], (f * b[2] + g * a[2]) / 2, g * b[2]))
    second = _quartic(
        f * f * a[1], (f * f * b[1] + 2 * f * g * a[1]) / 3, (g * g * a[1] + 2 * f * g * b[1]) / 3, g * g * b[1]
    )
    power = np.array([f**4, f**3 * g, f * f * g * g, f * g**3, g**4])
    return np.asarray(linear - 4 * third + 6 * second - 3 * power)


def _cubic(a: Vector, b: Vector, c: Vector) -> Matrix:
    """Return the coefficients of degree 3 of a polynomial whose coefficients of degree 2 are these."""
    return np.array([a, (a + 2 * b) / 3, (2 * b + c) / 3, c])


def _quartic(a: Vector, b: Vector, c: Vector, d: Vector) -> Matrix:
    """Return the coefficients of degree 4 of a polynomial whose coefficients of degree 3 are these."""
    return np.array([a, (a + 3 * b) / 4, (b + c) / 2, (3 * c + d) / 4, d])
