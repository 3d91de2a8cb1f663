r"""Intervals about exactly the clients who answered: how far an average score may be from its mean, by the table alone.

It is the paper's assumption that these clients are all there are, whatever they hold and split exactly as the shares
say: only the channel is random.  What people read is about the population that clients are drawn from instead.

Bounds are over all values that clients may hold, between levels too.  What a bound is for a single client depends on
the client's group; :class:`Spread` joins the groups' bounds into one for all clients: by the shares where the study
relies on them, else by the worst group.  Clients are independent but not alike, so moments are averages over clients.

For :func:`fixed`, with r_k = max(|phi_k|, e^(-sigma_k^2 t^2 / 2)) the product of all but one client's factor is at most

.. math:: \prod_{j \ne k} r_j \le \bar r^{\,K-1} e^{1 - r_k} ,

because a geometric mean is at most the arithmetic one, and r_k >= exp(-sigma_k^2 t^2 / 2).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from fairgauge.estimation.populations import Laws
from fairgauge.paper.prawitz import ScoreMoments, distances, grid_of
from fairgauge.targets.channel_inputs import Matrix, Vector
from fairgauge.targets.symbol_scores import Decoder, least_variances, worst_variances


@dataclass(frozen=True)
class Spread:
    """Bounds on the spread of one score.

    Args:
        decoder: The decoder of the channel.
        score: A number for each symbol.
        shares: The groups' shares if the clients are known to split like that, else None.
    """

    decoder: Decoder
    score: Vector
    shares: Vector | None

    @cached_property
    def variance(self) -> float:
        """The largest variance of the average client's score."""
        return self._joined(worst_variances(self.decoder, self.score))

    @cached_property
    def least_variance(self) -> float:
        """The smallest variance of the average client's score."""
        return -self._joined(-least_variances(self.decoder, self.score))

    @cached_property
    def reach(self) -> float:
        """The largest distance between a score and its mean."""
        mean = self.decoder.rows @ self.score
        return float(max(self.score.max() - mean.min(), mean.max() - self.score.min()))

    def cumulant(self, tilt: Vector, sign: int) -> Vector:
        r"""Return the largest log moment generating function of the centred score, at each tilt.

        .. math:: \Lambda(\lambda) = \max_v \ln E[e^{\pm\lambda (Y - E Y)} \mid v]

        Between two levels this is a concave function of where v lies; its top has a closed form.
        """
        mean, moments, top = self._moments(tilt, sign)
        inputs = self.decoder.inputs
        tops = [
            np.max([_top_cumulant(mean[run], moments[run], tilt) for run in inputs.runs(block)], axis=0)
            for block in inputs.blocks
        ]
        joined: Vector = (self._weights(np.array(tops)) * tops).sum(axis=0) + tilt * top
        return joined

    def _moments(self, tilt: Vector, sign: int) -> tuple[Vector, Matrix, float]:
        """Return every input's mean, and its moments relative to the largest score, which do not overflow."""
        score = sign * self.score
        top = float(score.max())
        return self.decoder.rows @ score, self.decoder.rows @ np.exp(np.multiply.outer(score - top, tilt)), top

    def _joined(self, of_blocks: Vector) -> float:
        """Join upper bounds of each block of inputs into one for the average client."""
        return float(self._weights(of_blocks[:, None])[:, 0] @ of_blocks)

    def _weights(self, of_blocks: Matrix) -> Matrix:
        """Return how much each block weighs in the average client that is worst for these bounds, in each column."""
        count, columns = of_blocks.shape
        if self.shares is None:
            return np.asarray(np.arange(count)[:, None] == of_blocks.argmax(axis=0), dtype=np.float64)
        d = len(self.shares)
        weights = np.zeros((count, columns))
        weights[:d] = self.shares[:, None]
        if count > d:
            # How many abstain is not known, so the average client is no worse than the worse of the two kinds.
            weights[:, of_blocks[d] > self.shares @ of_blocks[:d]] = np.eye(count)[:, [d]]
        return weights


def _top_cumulant(mean: Vector, moments: Matrix, tilt: Vector) -> Vector:
    """Return the largest value of ln((1-t) A + t B) - tilt (f0 + t (f1 - f0)) over levels and between them."""
    at_levels: Vector = np.log(moments) - np.multiply.outer(mean, tilt)
    best: Vector = at_levels.max(axis=0)
    if len(mean) == 1:
        return best
    below, rise, step = moments[:-1], np.diff(moments, axis=0), np.diff(mean)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = 1 / (tilt * step) - below / rise
    t = np.clip(np.nan_to_num(t, nan=0.0), 0, 1)
    between = np.log(below + t * rise) - tilt * (mean[:-1, None] + t * step)
    top: Vector = np.maximum(best, between.max(axis=0))
    return top


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
    moments = ScoreMoments(edges[:-1], edges[1:], third * every, 3 * fourth * every, single)
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
