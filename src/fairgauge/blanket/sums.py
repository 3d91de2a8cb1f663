r"""The expected positive part of a sum of many independent draws, by Fourier transforms, with its error on top.

For L with a finite law this gives :math:`E[(L_1 + \dots + L_n)_+] / n`:

* The law is **tilted**, :math:`e^{\theta l}`, so that the sum is near 0 where it counts.  Without that, what a
  transform rounds off is many times the result.
* Values are **split** between two neighbours on a lattice so that their mean stays.  The positive part is convex, so
  this only raises the result.
* The power is taken in **two stages**, with a coarser lattice for the second.  The result falls with n, so summing a
  few draws less gives an upper bound, and a few more a lower one.
* What wraps around (bounded by Chernoff) and what a transform rounds off (bounded by Parseval) is **added**.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

POINTS = 32  # lattice points for each standard deviation
MOST_POINTS = 1 << 14  # that one draw is spread over
ONE_STAGE = 4096  # so many draws are summed at once
WRAPPED = 1e-18  # the part of a law that may wrap around
ROUNDING = 8 * 2.0**-53  # for each of the log2(N) levels of a transform, and each factor of a power


@dataclass(frozen=True)
class Lattice:
    """A law on the points (first + k) step, and the part of it that may be wrong."""

    step: float
    first: int
    law: Vector
    wrong: float

    @property
    def points(self) -> Vector:
        """Where the masses are."""
        return np.asarray(self.step * (self.first + np.arange(self.law.size)), dtype=np.float64)


def positive_part(values: Vector, chances: Vector, draws: tuple[int, int], tilt: float) -> float:
    """Return an upper bound of the expected positive part of the sum, divided by the number of draws.

    Args:
        values: What one draw can be.
        chances: How likely each is; they sum to 1.
        draws: Two numbers whose product is how many are summed.
        tilt: Any number above 0; the one that minimises the Chernoff bound is best.
    """
    logs = 0.0
    points, masses, wrong = values, chances * np.exp(tilt * values), 0.0
    for count in draws:
        spread = float(np.sqrt(np.average((points - np.average(points, weights=masses)) ** 2, weights=masses)))
        # Near the local epsilon hardly anything spreads: a coarser lattice raises the result, and takes less memory.
        step = max(spread / POINTS, float(np.ptp(points)) / MOST_POINTS) or 1.0
        lattice = _split(points, masses, step, tilt)
        total = float(lattice.law.sum())
        logs = count * (logs + math.log(total))
        wrong *= count
        summed = _power(Lattice(lattice.step, lattice.first, lattice.law / total, 0.0), count)
        wrong += summed.wrong
        points, masses = summed.points, summed.law
    positive = np.maximum(points, 0)
    found = float(np.dot(masses, positive * np.exp(-tilt * positive)))
    return math.exp(logs) * (found + wrong / (math.e * tilt)) / math.prod(draws)


def stages_below(draws: int) -> tuple[int, int]:
    """Return two numbers whose product is so many, or a few less."""
    root = math.isqrt(draws) if draws > ONE_STAGE else 1
    return draws // root, root


def stages_above(draws: int) -> tuple[int, int]:
    """Return two numbers whose product is so many, or a few more."""
    root = math.isqrt(draws) if draws > ONE_STAGE else 1
    return -(-draws // root), root


def _split(points: Vector, tilted: Vector, step: float, tilt: float) -> Lattice:
    """Put a tilted law on a lattice, so that the mean of the law before tilting stays."""
    below = np.floor(points / step)
    part = points / step - below
    first = int(below.min())
    law = np.zeros(int(below.max()) - first + 2)
    index = (below - first).astype(np.int64)
    np.add.at(law, index, tilted * (1 - part) * np.exp(tilt * (below * step - points)))
    np.add.at(law, index + 1, tilted * part * np.exp(tilt * ((below + 1) * step - points)))
    return Lattice(step, first, law, 0.0)


def _power(lattice: Lattice, count: int) -> Lattice:
    """Return the law of a sum of so many draws."""
    if count == 1:
        return lattice
    steps = np.arange(lattice.law.size, dtype=np.float64)
    mean = float(np.dot(lattice.law, steps))
    held = lattice.law > 0  # one draw has few values, however fine the lattice
    half = _half_width(steps[held] - mean, lattice.law[held], count)
    size = 1 << max(4, math.ceil(math.log2(2 * half + 3)))
    start = round(count * mean) - size // 2
    folded = np.zeros(size)
    np.add.at(folded, np.arange(lattice.law.size) % size, lattice.law)
    law = np.fft.irfft(np.fft.rfft(folded) ** count, size)
    # The sum of indices is known up to multiples of the size: shift so that the window begins at ``start``.
    law = np.maximum(np.roll(law, -(start % size)), 0)
    rounding = ROUNDING * math.log2(size) * (count + 1) * math.sqrt(size)
    return Lattice(lattice.step, count * lattice.first + start, law, 2 * WRAPPED + rounding)


def _half_width(centred: Vector, law: Vector, count: int) -> float:
    """Return how far from its mean a sum goes but for a part ``WRAPPED`` on each side, by Chernoff."""
    spread = math.sqrt(float(np.dot(law, centred**2))) or 1.0
    widths = []
    for sign in (1, -1):
        far = float(np.abs(centred).max()) or 1.0
        scales = np.geomspace(1e-3 / (spread * math.sqrt(count)), min(600 / far, 50 / spread), 60)
        grown = np.array([math.log(float(np.dot(law, np.exp(sign * scale * centred)))) for scale in scales])
        widths.append(float(((count * grown - math.log(WRAPPED)) / scales).min()))
    return max(widths)
