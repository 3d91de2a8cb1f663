r"""The law of a weighted sum of people and noise, by its characteristic function.

A rate is tested by :math:`X(\theta) = \sum_j (w_j - \theta)\, \hat c_j` over the cells that it is about, which averages
to zero at the right :math:`\theta`.  Its parts are independent and their characteristic functions known:

.. math:: \phi_Z(t) = \frac{(1-q)^2}{1 - 2 q \cos t + q^2} , \qquad
          \phi_Y(t) = 1 - \lambda + \lambda\big((1-\theta)\, e^{-i\theta t} + \theta\, e^{i(1-\theta)t}\big)

for discrete Laplace noise, and for a person whose outcome is 0 or 1 (:math:`\lambda = 1`), or between them with
:math:`\lambda` times the variance that those have.  Tails come from Prawitz's inequality (1972): with
:math:`K(u) = \frac{1-u}{2} + \frac{i}{2}\big((1-u)\cot \pi u + \frac1\pi\big)`, for every T,

.. math:: F(x) \le \frac12 + 2 \int_0^1 \mathrm{Re}\big(e^{-ixTu} K(u) \phi(Tu)\big)\, du ,

and the like from below.  It holds for every law, with atoms or without; what it gives away is a shift of the tail by
:math:`\pi / T`, and some millionths.  Far out, where those would be all of it, Chernoff's bound is smaller:
:math:`P(X \ge x) \le e^{-sx} E e^{sX}` for every s that noise of that decay allows.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairgauge.targets.channel_inputs import Matrix, Vector

# T in units of one over the standard deviation, and in how many pieces it is cut.
_REACH, _PIECES = 200.0, 2500
_FURTHEST = 15.0
_NOTHING = -50.0
_FAR = 1e-3  # where Chernoff's bound begins to be worth a look
# Where Chernoff's bound is looked for, as parts of the largest tilt.
_TILTS: Vector = 0.99 * np.geomspace(1e-6, 1, 200)

_U: Vector = (np.arange(_PIECES) + 0.5) / _PIECES
_EVEN: Vector = (1 - _U) / 2
_ODD: Vector = ((1 - _U) / np.tan(np.pi * _U) + 1 / np.pi) / 2


@dataclass(frozen=True, eq=False)
class Noise:
    """Discrete Laplace noise of the decay q, in each of so many sites."""

    decay: float
    sites: int

    @property
    def variance(self) -> float:
        """The variance of the sum over sites in one cell."""
        return self.sites * 2 * self.decay / (1 - self.decay) ** 2

    def log_transform(self, times: Matrix) -> Matrix:
        """Return the logarithm of the characteristic function of the sum over sites in one cell."""
        # 1 - 2 q cos t + q^2 = (1 - q)^2 + 4 q sin^2(t / 2), without losing digits where t is small.
        bend = 4 * self.decay * np.sin(times / 2) ** 2 / (1 - self.decay) ** 2
        return np.asarray(-self.sites * np.log1p(bend))

    def log_moment(self, tilts: Matrix) -> Matrix:
        """Return the same at imaginary times: the logarithm of the mean of the exponential, infinite where it is."""
        bend = 4 * self.decay * np.sinh(tilts / 2) ** 2 / (1 - self.decay) ** 2
        return np.where(bend < 1, -self.sites * np.log1p(-np.minimum(bend, 1 - 1e-15)), np.inf)

    def reach(self, cells: int, alpha: float) -> float:
        """Return what the sum over cells and sites exceeds in size with probability at most alpha (Chernoff)."""
        parts, slope = self.sites * cells, -math.log(self.decay)
        tilts = slope * np.linspace(0.01, 0.99, 99)
        growth = (
            2 * math.log1p(-self.decay) - np.log1p(-self.decay * np.exp(tilts)) - np.log1p(-self.decay * np.exp(-tilts))
        )
        return float(((parts * growth + math.log(2 / alpha)) / tilts).min())


@dataclass(frozen=True, eq=False)
class RatePart:
    """A rate's part of a sum, one entry for each case.

    Args:
        rate: The rate that is supposed.
        people: How many people it is about; 0 where only noise is at random.
        scale: What a person counts.
        spread: The variance of a person's outcome as a part of the largest that it can be.
        weights: What each cell counts for the rate.
        copies: How many records of one person there may be.
    """

    rate: Vector
    people: Vector
    scale: Vector
    spread: Vector
    weights: Vector
    copies: int = 1

    @property
    def variance(self) -> Vector:
        """The variance of what people add."""
        return np.asarray(self.people * self.copies * self.spread * self.rate * (1 - self.rate) * self.scale**2)

    def log_people(self, times: Matrix) -> Matrix:
        """Return the logarithm of the characteristic function of what people add."""
        if not self.people.any():
            return np.zeros(times.shape)
        rate, spread = self.rate[:, None], self.spread[:, None]
        turned = times * self.scale[:, None] * self.copies
        person = np.exp(-1j * rate * turned) * ((1 - rate) + rate * np.exp(1j * turned))
        mixed = 1 - spread + spread * person
        # The angle of a power is the power's times the angle: take it from the logarithm, not from the product.
        found: Matrix = np.log(np.maximum(np.abs(mixed), 1e-300)) + 1j * np.angle(mixed)
        return np.asarray((self.people / self.copies)[:, None] * found)

    def log_moment(self, tilts: Matrix, noise: Noise) -> Matrix:
        """Return the logarithm of the mean of the exponential of all that the rate adds, at tilts for each case."""
        turned, rate = tilts * self.scale[:, None], self.rate[:, None]
        own = turned * self.copies
        person = (1 - rate) * np.expm1(-rate * own) + rate * np.expm1((1 - rate) * own)
        found: Matrix = (self.people / self.copies)[:, None] * np.log1p(self.spread[:, None] * person)
        for weight, cells in zip(*np.unique(self.weights, return_counts=True), strict=True):
            found = found + cells * noise.log_moment((weight - rate) * turned)
        return found


def tails(parts: tuple[RatePart, ...], noise: Noise, seen: Vector) -> Vector:
    """Return for each case what the smaller of P(X <= x) and P(X >= x) is at most.

    Guarantee: exact up to rounding, for independent people and the noise that the study says.

    Args:
        parts: What the sum is made of.
        noise: The noise in every cell.
        seen: The sum that is there.
    """
    variance = sum((part.variance + noise.variance * _squares(part) for part in parts), start=np.zeros(len(seen)))
    deviation = np.sqrt(np.maximum(variance, 1e-300))
    reach = _REACH / deviation
    # A tail further out is no larger, and so far out sums over pieces could not tell it from the middle.
    near = np.clip(seen, -_FURTHEST * deviation, _FURTHEST * deviation)
    times = np.multiply.outer(reach, _U)
    # Where the noise alone leaves nothing, nobody needs to ask what people add.
    there, logs = _noise_left(parts, noise, times)
    times = times[:, there]
    logs = sum((part.log_people(times) for part in parts), start=logs)
    turned = np.exp(logs - 1j * times * near[:, None])
    even, odd = (2 * (turned.real @ _EVEN[there]) / _PIECES), (2 * (turned.imag @ _ODD[there]) / _PIECES)
    found: Vector = np.clip(np.minimum(0.5 + even - odd, 0.5 + even + odd), 0.0, 1.0)
    return np.minimum(found, _chernoff(parts, noise, seen)) if (found < _FAR).any() else found


def _noise_left(parts: tuple[RatePart, ...], noise: Noise, times: Matrix) -> tuple[NDArray[np.int_], Matrix]:
    """Return at which times the noise leaves anything, and the logarithm of its characteristic function, which is real.

    Every cell takes something away, so where some leave nothing in all cases, the others need not be asked.
    """
    there, logs = np.arange(times.shape[1]), np.zeros(times.shape)
    for part in parts:
        for weight, cells in zip(*np.unique(part.weights, return_counts=True), strict=True):
            turned = times[:, there] * part.scale[:, None]
            logs = logs + cells * noise.log_transform((weight - part.rate[:, None]) * turned)
            some = (logs > _NOTHING).any(axis=0)
            there, logs = there[some], logs[:, some]
    return there, logs


def _chernoff(parts: tuple[RatePart, ...], noise: Noise, seen: Vector) -> Vector:
    """Return for each case what the tail on that side is at most, by Chernoff's inequality."""
    each = [np.abs(part.weights[None, :] - part.rate[:, None]).max(axis=1) * np.abs(part.scale) for part in parts]
    most = -math.log(noise.decay) / np.max(each, axis=0)
    tilts = np.multiply.outer(np.sign(seen) * most, _TILTS)
    grown = sum((part.log_moment(tilts, noise) for part in parts), start=np.zeros(tilts.shape))
    return np.asarray(np.exp(np.minimum((grown - tilts * seen[:, None]).min(axis=1), 0.0)))


def _squares(part: RatePart) -> Vector:
    return np.asarray(((part.weights[None, :] - part.rate[:, None]) ** 2).sum(axis=1) * part.scale**2)
