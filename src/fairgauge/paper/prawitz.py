r"""How far the law of an average score can be from the normal law: Prawitz's smoothing inequality (1972).

For a sum of K centred scores with characteristic function f, and g that of the normal law of the same variance,

.. math:: \sup |F - \Phi| \le 2\int_0^{t_0} |k|\,|f - g| + 2\int_{t_0}^1 |k|\,|f|
          + 2\int_0^{t_0} \Big|k - \frac{i}{2 \pi x}\Big|\, g + \frac1\pi \int_{t_0}^\infty \frac{g}{x} ,

all at t = T x, for any T and t0, with k(x) = (1-x)/2 + (i/2) ((1-x) cot(pi x) + 1/pi).

A client drawn from a population answers by a mixture of rows, and the characteristic function of a mixture is no
larger than the largest of its rows.  So |f| has a bound that is free of the unknown law.  Near 0 moments say more:

.. math:: |f - g| \le K |\phi - \gamma| \rho^{K-1} , \quad
          |\mathrm{Re}(\phi - \gamma)| \le \max\Big(\frac{M_4}{24}, \frac{\sigma^4}{8}\Big) t^4 , \quad
          |\mathrm{Im}\,\phi| \le \frac{M_3 t^3}{6} + \min\Big(1, \frac{R t}{5}\Big) \frac{M_4 t^4}{24} .

Both E cos and the normal factor are 1 - sigma^2 t^2 / 2 and something between 0 and these bounds, so they differ by the
larger of both; and E|y|^5 <= R M_4 for scores of size R.  Where clients are not alike the parts are added instead.

Every integral is an upper sum: on each piece each factor is replaced by something at least as large as all of it.
Both kernels decrease, the normal curve decreases, powers of t increase, and |phi|^2 between two points is at most the
larger of the two plus h^2 Var / 4, because its second derivative is at most 2 Var.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import exp1

from fairgauge.estimation.populations import Laws
from fairgauge.targets.channel_inputs import Matrix, Vector

# The grid, in units of one over the standard deviation of the sum: fine where the normal curve lives, then geometric.
_NEAR, _STEP, _GROWTH = 12.0, 0.03, 1.03
_SPLITS = (1.2, 1.6, 2.2, 2.8, 3.4, 4.0, 5.0, 6.4, 8.0, 10.0, 12.0)
_ENDS = 16
_FURTHEST = 1e6

_IndexArray = NDArray[np.int_]


@dataclass(frozen=True, eq=False)
class ScoreMoments:
    """What is known of a centred score, one entry for each case.

    Args:
        least: What its variance is at least.
        most: What its variance is at most.
        third: The largest size of its third moment.
        fourth: Its largest fourth moment.
        single: The largest variance of a single client's score, if clients are not alike; else 0.
        size: The largest size of the score.
    """

    least: Vector
    most: Vector
    third: Vector
    fourth: Vector
    single: float = 0.0
    size: float = math.inf


@dataclass(frozen=True, eq=False)
class PrawitzGrid:
    """The points of the upper sums, and the kernels' weights on the pieces between them."""

    points: Vector
    splits: Vector
    near: Matrix
    far: Matrix
    rest: Matrix


@lru_cache(maxsize=32)
def grid_for(doublings: int) -> PrawitzGrid:
    """Return the grid up to 2^doublings, with one row of weights for each way to choose T and t0."""
    fine = np.arange(0, _NEAR + _STEP / 2, _STEP)
    steps = int(np.ceil(np.log(max(2.0**doublings / _NEAR, 1.0)) / np.log(_GROWTH)))
    points = np.append(fine, _NEAR * _GROWTH ** np.arange(1, steps + 1))
    splits = np.searchsorted(points, np.array(_SPLITS) - 1e-9)
    ends = np.unique(np.searchsorted(points, np.geomspace(3.0, points[-1] * (1 - 1e-9), _ENDS)))
    rows: list[tuple[float, Vector, Vector, Vector]] = []
    for end in ends:
        x = points[: end + 1] / points[end]
        width = np.diff(x)
        kernel, rest = _kernels(x[:-1])
        # |k| x <= sqrt(1 / (4 pi^2) + x^2 / 4) near 0, and |f - g| / x grows there.
        whole = np.append(np.sqrt(1 / (4 * np.pi**2) + x[1] ** 2 / 4), kernel[1:] * width[1:])
        for split in splits[splits < end]:
            before = np.arange(end) < split
            padded = [
                np.append(2 * part, np.zeros(len(points) - 1 - end))
                for part in (whole * before, whole * ~before, rest * width * before)
            ]
            rows.append((float(points[split]), padded[0], padded[1], padded[2]))
    split_at, near, far, last = (np.array(column) for column in zip(*rows, strict=True))
    return PrawitzGrid(points, split_at, near, far, last)


def _kernels(x: Vector) -> tuple[Vector, Vector]:
    """Return |k| and |k - i / (2 pi x)|; at 0 the first is infinite and never used, the second a half."""
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = (1 - x) / np.tan(np.pi * x) + 1 / np.pi
        kernel = np.hypot((1 - x) / 2, turn / 2)
        rest = np.hypot((1 - x) / 2, (turn - 1 / (np.pi * x)) / 2)
    return np.where(x == 0, 0.0, kernel), np.where(x == 0, 0.5, rest)


def grid_of(answers: float) -> PrawitzGrid:
    """Return a grid that reaches frequencies where the table itself is heard, for so many answers."""
    return grid_for(int(np.ceil(np.log2(min(20 * np.sqrt(answers), _FURTHEST)))))


def modulus(laws: Laws, score: Vector, times: Vector) -> Vector:
    """Return what |phi| is at most on each piece between two times, for a client drawn from any population."""
    phase = np.multiply.outer(score, times)
    square = (laws.rows @ np.cos(phase)) ** 2 + (laws.rows @ np.sin(phase)) ** 2
    variance = laws.rows @ score**2 - (laws.rows @ score) ** 2
    sag = np.multiply.outer(np.maximum(variance, 0.0), np.diff(times) ** 2) / 4
    top = np.sqrt(np.minimum(np.maximum(square[:, :-1], square[:, 1:]) + sag, 1.0))
    return np.minimum(laws.most(top), 1.0)


def distances(answers: float, times: Vector, bound: Vector, moments: ScoreMoments) -> Vector:
    """Return for each case how far the law of the standardised average can be from the normal law.

    Guarantee: exact, for independent clients drawn from one population whose moments are as stated, and for
    independent clients who are not alike if the averages of their moments are as stated.

    Args:
        answers: How many clients there are.
        times: The grid's points, as frequencies of the score.
        bound: What |phi| is at most on each piece.
        moments: What is known of the score.
    """
    grid = grid_of(answers)
    least, most = moments.least[:, None], moments.most[:, None]
    third, fourth = moments.third[:, None], moments.fourth[:, None]
    left, right = times[:-1], times[1:]
    normal = np.exp(-least * left**2 / 2)
    bend, square = fourth * right**4 / 24, np.minimum(most**2, fourth) * right**4 / 8
    if moments.single:
        turn = third * right**3 / 6
        error, near = turn + bend + square, 1 - least * left**2 / 2 + turn + bend
    else:
        turn = third * right**3 / 6 + np.minimum(1.0, moments.size * right / 5) * bend
        error, near = np.hypot(np.maximum(bend, square), turn), np.hypot(1 - least * left**2 / 2 + bend, turn)
    near = np.where(np.maximum(most, moments.single) * right**2 < 2, near, 1.0)
    phi = np.clip(np.minimum(bound, near), 1e-300, 1.0)
    power = np.exp(answers * np.log(phi))
    gauss = np.exp(-answers * least * left**2 / 2)
    apart = answers * error * np.exp((answers - 1) * np.log(np.maximum(phi, np.maximum(normal, 1e-300))))
    # Clients who are not alike: leaving out the one with the smallest factor makes the average of the others larger.
    apart = apart * np.exp(-np.expm1(-moments.single * right**2 / 2))
    # The first piece relies on |f - g| / x growing, which the bound by moments does.
    apart[:, 1:] = np.minimum(apart[:, 1:], power[:, 1:] + gauss[:, 1:])
    squares = answers * moments.least * (times[1] / grid.points[1]) ** 2 / 2

    def summed(choices: _IndexArray, cases: slice) -> Matrix:
        tail = exp1(np.maximum(np.multiply.outer(grid.splits[choices] ** 2, squares[cases]), 1e-300)) / (2 * np.pi)
        parts = ((grid.near, apart), (grid.far, power), (grid.rest, gauss))
        return np.asarray(sum((kernel[choices] @ curve[cases].T for kernel, curve in parts), tail))

    # Every T and t0 is valid: the best ones for a few cases are good enough for all.
    few = slice(None, None, max(1, len(squares) // 3))
    best = np.unique(summed(np.arange(len(grid.splits)), few).argmin(axis=0))
    return np.asarray(np.minimum(summed(best, slice(None)).min(axis=0), 1.0))
