r"""How likely an average score is to be so far from zero: the normal law, its first correction, and what is left.

Let y_1, ..., y_K be independent draws of a score with mean 0, variance v and third moment m, and S their sum.  Let U
be independent of them, with a smooth law on [-H, H] and the characteristic function u.  If S >= x then
S + U >= x - H, and the inversion formula of Gil-Pelaez (1951) gives for a = x - H

.. math:: P(S \ge x) \le P(S + U \ge a) \le 1 - \Phi(z) + \frac{m (z^2 - 1) \varphi(z)}{6 v^{3/2} \sqrt K}
          + \frac1\pi \int_0^\infty \frac{|f u - g|}{t} dt , \quad z = \frac{a}{\sqrt{K v}} ,

where f = phi^K is the characteristic function of S, and g that of the normal law with the correction for
skewness (Edgeworth, 1905):

.. math:: g(t) = e^{-K v t^2 / 2} \Big(1 - \frac{i K m t^3}{6}\Big) .

So nothing is approximate: what the correction leaves is paid for by the integral, which falls with 1/K, and not with
1/sqrt(K) as the distance to the normal law does.  U takes the edge off scores that lie on a lattice, for which the
integral would not fall at all, and costs H/K of the width.  Every H and every u give a bound; the best is taken.

*The integral.*  At each t the smaller of two bounds is taken.  With gamma = exp(-v t^2 / 2) and delta = phi - gamma,

.. math:: |\phi^K - \gamma^K - K \gamma^{K-1} \delta| \le \tfrac12 K (K-1) |\delta|^2 \max(|\phi|, \gamma)^{K-2} ,

and delta = -i m t^3 / 6 + rho, where |Re rho| <= max(M_4 / 24, v^2 / 8) t^4 because E cos(t y) and gamma
are both 1 - v t^2 / 2 and something between 0 and these, and |Im rho| <= min(1, R t / 5) M_4 t^4 / 24 for scores of
size R, because E|y|^5 <= R M_4.  With 1 - gamma <= v t^2 / 2 this gives

.. math:: |f - g| \le K \gamma^{K-1} \Big(|\rho| + \frac{v t^2}{2} \frac{|m| t^3}{6}\Big)
          + \tfrac12 K (K-1) |\delta|^2 \max(|\phi|, \gamma)^{K-2} , \quad |f u - g| \le |f - g| + (1 - u) |g| .

Farther out |f u - g| <= |f| u + |g|.  A client drawn from a population answers by a mixture of rows, and the
characteristic function of a mixture is no larger than the largest of its rows, so |phi| has a bound that is free of the
unknown law.

*Draws.*  Where D draws of a known law are among the sum, each less its mean, with the variance w, third moment m' and
characteristic function phi', then f is phi^K phi'^D, and g has K v + D w and K m + D m' in the places of K v and K m.
With f_1, g_1 for the answers alone and f_2, g_2 for the draws alone

.. math:: |f - g| \le |f_1 - g_1| |f_2| + |g_1| |f_2 - g_2| + e^{-(K v + D w) t^2 / 2} \frac{K |m| D |m'| t^6}{36} ,

and each of these is bounded as above; |phi'| is known.

Every integral is an upper sum: on each piece each factor is replaced by something at least as large as all of it.
Powers of t grow and the normal curve falls; |phi|^2 between two points is at most the larger of the two and
h^2 Var / 4, because its second derivative is at most 2 Var.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from fairgauge.estimation.draws import Draws
from fairgauge.estimation.populations import Laws
from fairgauge.targets.channel_inputs import Matrix, Vector

# The grid, in units of one over the standard deviation of the sum: fine where the normal curve lives, then growing to
# steps and an end that are set by the standard deviation of a single score.
_NEAR: Vector = np.linspace(0, 12, 121)
_GROWTH, _WIDEST, _END = 1.05, 0.1, 30.0
# U is the sum of so many uniform numbers; its reach is in units of a single score's standard deviation.
_SUMS = (1, 2, 4)
_REACHES: Vector = np.geomspace(0.125, 64, 19)
# The correction (z^2 - 1) phi(z) is largest here.
_TOP = math.sqrt(3)
_HEIGHT = 0.02
_AT_ONCE = 20_000

_IndexArray = NDArray[np.int_]


@dataclass(frozen=True, eq=False)
class Moments:
    """What is known of a centred score, one entry for each case.

    Args:
        least: What its variance is at least.
        most: What its variance is at most.
        third: What its third moment is at least and at most.
        fourth: Its largest fourth moment.
        size: The largest size of the score.
    """

    least: Vector
    most: Vector
    third: tuple[Vector, Vector]
    fourth: Vector
    size: float


@dataclass(frozen=True, eq=False)
class Grid:
    """The points of the upper sums for scores of variance 1, and ways to smooth them.

    Args:
        points: The points, as frequencies.
        reaches: How far each way to smooth reaches.
        spreads: The variance of each.
        smooth: What |u| is at most on each piece, for each way.
        rest: What the integral of |u| / t is at most beyond the last point, for each way.
    """

    points: Vector
    reaches: Vector
    spreads: Vector
    smooth: Matrix
    rest: Vector


def grid_of(answers: float) -> Grid:
    """Return the grid for the sum of so many scores."""
    # Rounded, so that grids are shared; any grid is valid.
    return _grid(round(4 * math.log2(answers)))


@lru_cache(maxsize=32)
def _grid(size: int) -> Grid:
    root = 2.0 ** (size / 8)
    found = list(_NEAR)
    while found[-1] < _END * root:
        found.append(found[-1] + min((_GROWTH - 1) * found[-1], max(_WIDEST * root, _NEAR[1])))
    points = np.array(found) / root
    sums, reaches = (each.ravel() for each in np.meshgrid(_SUMS, _REACHES))
    edges = np.multiply.outer(reaches / sums, points)
    low, high = edges[:, :-1], edges[:, 1:]
    # |sin(x) / x| between two points.
    swing = np.minimum(1.0, np.maximum(np.abs(np.sin(low)), np.abs(np.sin(high))) + (high - low) / 2)
    smooth = np.minimum(1.0, swing / np.maximum(low, 1e-300)) ** sums[:, None]
    return Grid(points, reaches, reaches**2 / (3 * sums), smooth, edges[:, -1] ** -sums.astype(float) / sums)


def modulus(laws: Laws, score: Vector, times: Vector) -> Vector:
    """Return what |phi| is at most on each piece between two times, for a client drawn from any population."""
    return np.minimum(laws.most(_moduli(laws.rows, score, times)), 1.0)


def _moduli(rows: Matrix, score: Vector, times: Vector) -> Matrix:
    """Return the same for each law in rows."""
    phase = np.multiply.outer(score, times)
    square = (rows @ np.cos(phase)) ** 2 + (rows @ np.sin(phase)) ** 2
    variance = rows @ score**2 - (rows @ score) ** 2
    sag = np.multiply.outer(np.maximum(variance, 0.0), np.diff(times) ** 2) / 4
    return np.asarray(np.sqrt(np.minimum(np.maximum(square[:, :-1], square[:, 1:]) + sag, 1.0)))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws among the sum, whose law is known: each is less its mean.

    Args:
        count: How many.
        variance: The variance of one, in each case or in all.
        third: Its third moment.
        fourth: Its fourth moment.
        size: What it is at most, in size.
        bound: What |phi| of one draw is at most on each piece.
    """

    count: float
    variance: Vector
    third: Vector
    fourth: Vector
    size: float
    bound: Vector

    def taken(self, cases: _IndexArray) -> "Drawn":
        """Return the same for cases that each belong to one of those here."""
        if not self.count:
            return self
        return replace(self, variance=self.variance[cases], third=self.third[cases], fourth=self.fourth[cases])


_NONE: Vector = np.zeros(1)
_NOTHING_DRAWN = Drawn(0.0, _NONE, _NONE, _NONE, 0.0, np.ones(1))


def drawn_of(draws: Draws, scores: Matrix, times: Vector) -> Drawn:
    """Return what is known of draws by each of some scores; ``bound`` is for any of them."""
    if not draws.count:
        return _NOTHING_DRAWN
    centred = scores - draws.mean(scores)[:, None]
    second, third, fourth = (draws.mean(centred**power) for power in (2, 3, 4))
    bound = np.max([_moduli(draws.law[None], score, times)[0] for score in scores], axis=0)
    return Drawn(draws.count, second, third, fourth, float(np.abs(centred).max()), bound)


@dataclass(frozen=True, eq=False)
class Heard:
    """What the table says of a score's characteristic function.

    Args:
        grid: The grid of the upper sums.
        scale: About the standard deviation of the score: frequencies are the grid's over this.
        bound: What |phi| is at most on each piece.
    """

    grid: Grid
    scale: float
    bound: Vector

    @classmethod
    def of(cls, laws: Laws, score: Vector, answers: float, scale: float) -> "Heard":
        """Return what the rows of a table say, for the sum of so many answers."""
        grid = grid_of(answers)
        return cls(grid, scale, modulus(laws, score, grid.points / scale))


@dataclass(frozen=True, eq=False)
class Tails:
    """Bounds how likely an average score is to be far from zero.

    Args:
        answers: How many clients there are, drawn from one population.
        heard: What is known of the score's characteristic function.
        moments: What is known of its moments.
        ways: The ways to smooth, by their numbers; every one is valid, and the best are found unless they are given.
        drawn: Draws that are among the sum, too.
    """

    answers: float
    heard: Heard
    moments: Moments
    ways: _IndexArray | None = None
    drawn: Drawn = _NOTHING_DRAWN

    @cached_property
    def variances(self) -> tuple[Vector, Vector]:
        """What the variance of the sum is at least and at most."""
        drawn = self.drawn.count * self.drawn.variance
        return self.answers * self.moments.least + drawn, self.answers * self.moments.most + drawn

    @cached_property
    def thirds(self) -> tuple[Vector, Vector]:
        """What the third moment of the sum is at least and at most."""
        (low, high), drawn = self.moments.third, self.drawn.count * self.drawn.third
        return self.answers * low + drawn, self.answers * high + drawn

    def above(self, average: float | Vector) -> Vector:
        """Return for each case how likely the average is to be this large, at most.

        Guarantee: exact, for independent clients drawn from one population whose moments are as stated.

        Args:
            average: The average score, one for each case or for all.
        """
        return self._tail(average, self.thirds)

    def below(self, average: float | Vector) -> Vector:
        """Return for each case how likely the average is to be as small as minus this, at most."""
        low, high = self.thirds
        return self._tail(average, (-high, -low))

    def limit(self, level: float) -> float:
        """Return about how far on either side the average may be if that is to be less likely than a level."""
        low, high = 0.0, 40 * math.sqrt(float(self.variances[1].max())) / self.answers
        if max(self.above(high).max(), self.below(high).max()) > level:
            return math.inf
        while high - low > 1e-4 * high:
            middle = (low + high) / 2
            far = max(self.above(middle).max(), self.below(middle).max()) <= level
            low, high = (low, middle) if far else (middle, high)
        return high

    def _tail(self, average: float | Vector, thirds: tuple[Vector, Vector]) -> Vector:
        """Return the largest value of the normal law and its correction in each case, and what is left."""
        reaches, left = self._left
        distance = average * self.answers - reaches[:, None]
        # On the other side of zero the normal law is 1 - Phi(-z) = Phi(z), and the correction is the same.
        far, near = (np.abs(distance) / np.sqrt(v) for v in self.variances)
        ends = _correction(near), _correction(far)
        top = np.where((near < _TOP) & (far > _TOP), _correction(np.array(_TOP)), np.maximum(*ends))
        skews = [third / (6 * v**1.5) for third in thirds for v in self.variances]
        corrected = np.max([skew * part for skew in skews for part in (top, np.minimum(*ends))], axis=0)
        tails = np.where(distance > 0, ndtr(-near), ndtr(far)) + corrected + left
        return np.asarray(np.clip(tails, 0.0, 1.0).min(axis=0))

    @cached_property
    def _left(self) -> tuple[Vector, Matrix]:
        """What the integral is at most: for a few ways to smooth (how far each reaches), in each case."""
        chosen = self.best_ways() if self.ways is None else self.ways
        return self.heard.grid.reaches[chosen] * self.heard.scale, self._summed(chosen, slice(None))

    def best_ways(self) -> _IndexArray:
        """Return the numbers of the ways to smooth that are best for a few of the cases: good enough for all."""
        grid, scale = self.heard.grid, self.heard.scale
        few = slice(None, None, max(1, len(self.moments.least) // 3))
        deviation = math.sqrt(float(self.variances[1].max()))

        def cost(ways: _IndexArray) -> Matrix:
            # Near the limits that people ask for the normal curve is about so high: width costs a probability.
            return self._summed(ways, few) / _HEIGHT + (grid.reaches[ways] * scale / deviation)[:, None]

        # First every other reach, then those beside the best.
        kinds, ways = len(_SUMS), np.arange(len(grid.reaches))
        coarse = ways[ways // kinds % 2 == 0]
        reach = np.unique(coarse[cost(coarse).argmin(axis=0)] // kinds)
        beside = np.unique(np.clip(np.add.outer(reach, [-1, 0, 1]), 0, len(_REACHES) - 1))
        some = np.add.outer(kinds * beside, np.arange(kinds)).ravel()
        return np.unique(some[cost(some).argmin(axis=0)])

    def _summed(self, choices: _IndexArray, cases: slice) -> Matrix:
        """Return the upper sums of the integral, for each way to smooth and each case."""
        (near, far, normal), grid, scale = self._curves, self.heard.grid, self.heard.scale
        left, right = grid.points[:-1] / scale, grid.points[1:] / scale
        width = (right - left) / np.pi
        blurred, apart = normal[cases] * right / 2, far[cases] / np.maximum(left, 1e-300)
        beyond = normal[cases] / np.maximum(left, 1e-300)
        # The first piece reaches to 0, where only moments help.
        beyond[:, 0] = np.inf
        spreads, found = grid.spreads[:, None, None] * scale**2, []
        # Some ways at once: few and small arrays are slow one by one, and large ones do not fit a processor's memory.
        together = max(1, _AT_ONCE // apart.size)
        for start in range(0, len(choices), together):
            some = choices[start : start + together]
            close = near[cases] + blurred * spreads[some]
            sums = np.minimum(close, apart * grid.smooth[some][:, None] + beyond) @ width
            found.append(sums + grid.rest[some][:, None] / np.pi)
        return np.concatenate(found) + self._beyond[cases]

    @cached_property
    def _beyond(self) -> Vector:
        """What the integral of |g| / t is at most beyond the last point."""
        end, a, b = self.heard.grid.points[-1] / self.heard.scale, self.variances[0], self._third / 6
        return np.asarray(np.exp(-a * end**2 / 2) * (1 / (a * end**2) + b * (end / a + 1 / (a**2 * end))) / np.pi)

    @property
    def _third(self) -> Vector:
        low, high = self.thirds
        return np.maximum(np.abs(low), np.abs(high))

    @cached_property
    def _curves(self) -> tuple[Matrix, Matrix, Matrix]:
        """On each piece what |f - g| / t, |f| and |g| are at most."""
        times, drawn = self.heard.grid.points / self.heard.scale, self.drawn
        near, far, normal = _curves_of(self.answers, self.moments, self.heard.bound, times)
        if not drawn.count:
            return near, far, normal
        known = Moments(drawn.variance, drawn.variance, (drawn.third, drawn.third), drawn.fourth, drawn.size)
        besides, beside, _ = _curves_of(drawn.count, known, drawn.bound, times)
        left, right = times[:-1], times[1:]
        low, high = self.moments.third
        crossed = self.answers * np.maximum(np.abs(low), np.abs(high)) * drawn.count * np.abs(drawn.third) / 36
        gamma = np.exp(-self.variances[0][:, None] * left**2 / 2)
        both = near * beside + normal * besides + gamma * crossed[:, None] * right**5
        return both, far * beside, gamma * np.hypot(1, self._third[:, None] * right**3 / 6)


def _curves_of(count: float, known: Moments, bound: Vector, times: Vector) -> tuple[Matrix, Matrix, Matrix]:
    """Return what |f - g| / t, |f| and |g| are at most on each piece, for a sum of so many independent numbers."""
    least, most, fourth = known.least[:, None], known.most[:, None], known.fourth[:, None]
    third = np.maximum(*map(np.abs, known.third))[:, None]
    left, right = times[:-1], times[1:]
    bend, skew = fourth * right**4 / 24, third * right**3 / 6
    real, turn = np.maximum(bend, np.minimum(most**2, fourth) * right**4 / 8), np.minimum(1.0, known.size * right / 5)
    delta, rho = np.hypot(real, turn * bend + skew), np.hypot(real, turn * bend)
    small = np.where(most * right**2 < 2, np.hypot(1 - least * left**2 / 2 + bend, turn * bend + skew), 1.0)
    phi = np.log(np.clip(np.minimum(bound, small), 1e-300, 1.0))
    gamma = -least * left**2 / 2
    near = count * np.exp(max(count - 1, 0) * gamma) * (rho + most * right**2 / 2 * skew)
    near += count * max(count - 1, 0) / 2 * delta**2 * np.exp(max(count - 2, 0) * np.maximum(phi, gamma))
    return near / right, np.exp(count * phi), np.exp(count * gamma) * np.hypot(1, count * skew)


def _correction(z: Vector) -> Vector:
    return np.asarray((z**2 - 1) * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi))


def bernstein(average: float | Vector, variance: float | Vector, size: float, answers: float) -> Vector:
    r"""Return how likely an average of centred scores is to be this large, at most: rough, and quick (Bernstein, 1924).

    .. math:: P(\bar y \ge a) \le \exp\Big(-\frac{K a^2}{2 (v + R a / 3)}\Big)

    Args:
        average: The average, above 0.
        variance: What the variance is at most.
        size: What a score is at most.
        answers: How many there are.
    """
    return np.asarray(np.exp(-answers * np.square(average) / (2 * (variance + size * np.asarray(average) / 3))))
