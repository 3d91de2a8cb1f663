r"""What is assumed of the clients' values, and the most that a second moment can then average to.

A score's second moment :math:`S(v)` is linear between levels.  If the values of a group average to :math:`\mu` with a
standard deviation of at most :math:`\sigma`, its average is at most

.. math:: \min_{l,\; k \ge 0}\; \max_v\; S(v) - l (v - \mu) - k ((v - \mu)^2 - \sigma^2),

by taking averages on both sides; and it is no less, since that is the dual of a linear program.  For any l and k the
value is a bound that holds, so the search for the best ones decides how close it is, never whether it is true.

Another value that a channel takes at the same time bounds second moments too, by what is assumed of it.  Where a table
answers two questions, a score's second moment :math:`S(v, w)` depends on both values.  If the other one averages
to :math:`\mu'` with a standard deviation of at most :math:`\sigma'`, then for every m and every k' not below 0

.. math:: E\,S(v, w) \le E \max_w \Big( S(v, w) - m (w - \mu') - k' \big((w - \mu')^2 - \sigma'^2\big) \Big),

which is a bound in v alone.  Whatever m and k' are it holds, so the search for them decides only how close it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.study import ANY_VALUES, Question
from fairgauge.targets.channel_inputs import Matrix, Vector

# What is reckoned unless said otherwise: in v units, from -1 to 1.
USUAL_SPREAD = 0.3
# Where nothing is expected of the overall mean and shares are estimated, a design reckons with the ends and the middle.
_CENTRES = (-1.0, 0.0, 1.0)
# Where nothing is expected and shares are known, variances are told for the worst of these levels ...
_LEVELS = tuple(level / 10 for level in range(-8, 9))
# ... and designs are made for values about the middle, as if the level itself were spread by this much.
_LEVEL_SPREAD = 0.7
# A design for a mean at the very end, or for no spread at all, would be useless if that is not quite so.
_FARTHEST_MEAN, _LEAST_SPREAD = 0.95, 0.05
# One search halves its range so often, the other looks at nine curves at once and is left with a tenth: what it costs
# is to ask at all.  A slope or a curve off by one part in 10^9 moves the bound by no more.
_HALVINGS, _CURVE_ROUNDS = 44, 10
_TENTHS: Vector = np.arange(1, 10)[:, None] / 10
# Of more rows than this each is searched by tangents, to so small a part, and so many rows at a time.
_VERY_MANY, _CLOSE, _AT_ONCE = 20_000, 1e-6, 8192
# Up to so many levels a second moment has one kink at most.
_ONE_KINK = 3


@dataclass(frozen=True)
class Reckoning:
    """What every group's values are reckoned to be: their mean, and the most that they spread about it.

    Args:
        mean: The mean, in [-1, 1].
        spread: The largest standard deviation; None where any values will do.
    """

    mean: float
    spread: float | None

    @property
    def widest(self) -> float:
        """The largest standard deviation that values in [-1, 1] with this mean can have, or the spread if smaller."""
        most = float(np.sqrt(max(0.0, 1 - self.mean**2)))
        return most if self.spread is None else min(self.spread, most)

    @property
    def any_values(self) -> bool:
        """Whether the spread rules nothing out."""
        return self.spread is None or self.spread**2 >= 1 - self.mean**2


@dataclass(frozen=True)
class AssumedValues:
    """What is assumed of the values where nothing is known: the worst populations that are reckoned with.

    Args:
        expect: The overall mean to expect, in [-1, 1].  A wrong guess costs precision, never truth.
        spread: How far values are assumed to spread about it, as a standard deviation; None for any values.
        beside: What is assumed of the other values of a table that takes several; None where nothing is expected.
    """

    expect: float | None = None
    spread: float | None = USUAL_SPREAD
    beside: tuple[Reckoning | None, ...] = ()

    @classmethod
    def of(cls, question: Question) -> "AssumedValues":
        """Return what a question assumes, designed or not."""
        return cls(
            expect=None if question.expect is None else question.metric.to_v(question.expect),
            spread=_spread_of(question),
            beside=tuple(cls.of(one).expected for one in question.beside),
        )

    @property
    def aim(self) -> Reckoning:
        """What a centred design and its scores are made for."""
        if self.expect is not None:
            return Reckoning(min(max(self.expect, -_FARTHEST_MEAN), _FARTHEST_MEAN), self._spread)
        return Reckoning(0.0, None if self._spread is None else float(np.hypot(self._spread, _LEVEL_SPREAD)))

    @property
    def expected(self) -> Reckoning | None:
        """What is assumed of the values where a mean is expected, else None."""
        return None if self.expect is None else self.aim

    @property
    def other(self) -> Reckoning | None:
        """What is assumed of the one other value that a table takes; None where that is nothing."""
        return self.beside[0] if self.expect is not None and len(self.beside) == 1 else None

    def reckonings(self, *, relies_on_shares: bool) -> tuple[Reckoning, ...]:
        """Return what variances are told for, the worst of them: the mean that is expected, or else every level alike.

        Args:
            relies_on_shares: Whether averages are divided by known constants only.
        """
        if self.expect is not None:
            return (self.aim,)
        return tuple(Reckoning(level, self._spread) for level in (_LEVELS if relies_on_shares else _CENTRES))

    def centres(self, *, relies_on_shares: bool) -> tuple[float | None, ...]:
        """Return the means about which functionals are taken to first order; None where they are linear anyway."""
        if relies_on_shares:
            return (None,)
        return _CENTRES if self.expect is None else (self.aim.mean,)

    @property
    def _spread(self) -> float | None:
        return None if self.spread is None else max(self.spread, _LEAST_SPREAD)


# Of no mean, and values that spread as usual.
NOTHING_EXPECTED = AssumedValues()


def _spread_of(question: Question) -> float | None:
    """Return the standard deviation to assume, from 0 to 1; None for any values."""
    if question.spread is None:
        return USUAL_SPREAD
    return None if question.spread == ANY_VALUES else float(Fraction(question.spread)) / question.metric.scale


def reckoned_law(levels: Vector, reckoning: Reckoning) -> Vector:
    """Return how likely levels are for values that spread as reckoned, like a normal law cut to [-1, 1].

    A tenth is spread evenly, so that no level is forgotten.  It decides how good a score is, never whether it is true.
    """
    values = np.linspace(-1, 1, 401)
    spread = max(reckoning.widest, 0.05)
    density = np.exp(-0.5 * ((values - reckoning.mean) / spread) ** 2)
    corners = np.eye(len(levels))
    parts = np.array([np.interp(values, levels, corner) for corner in corners]) @ (density / density.sum())
    if len(levels) == 2:
        parts = np.array([1 - reckoning.mean, 1 + reckoning.mean]) / 2
    law: Vector = 0.9 * parts + 0.1 / len(levels)
    return law


def largest_averages(levels: Vector, second: Matrix, reckonings: Sequence[Reckoning]) -> Matrix:
    """Return the most that each row of second moments, given at the levels, can average to under each reckoning.

    Guarantee: an upper bound for every law of values that is reckoned with, and reached by one to eight digits; to five
    where there are very many rows.

    Args:
        levels: The levels.
        second: A row of second moments for each group.
        reckonings: What is reckoned of the values.

    Returns:
        A row for each reckoning, with a number for each group.
    """
    if len(levels) <= _ONE_KINK:
        return _one_kink(levels, second, reckonings)
    return _searched(levels, second, reckonings)


def _one_kink(levels: Vector, second: Matrix, reckonings: Sequence[Reckoning]) -> Matrix:
    r"""Return the same for two or three levels, by a search for each reckoning only, not for each row.

    A row is then a line and a part of one kink, :math:`a + b v + c |v - m|`.  The line averages to its value at the
    mean; the kink to no less than there, which counts where c is below 0, and to no more than one number, which counts
    where it is above.
    """
    middle = levels[len(levels) // 2]
    slopes = np.diff(second, axis=1) / np.diff(levels)
    # With two levels the kink is at an end, and is none.
    c, b = (slopes[:, -1] - slopes[:, 0]) / 2, (slopes[:, -1] + slopes[:, 0]) / 2
    a = second[:, len(levels) // 2] - b * middle
    mean = np.array([reckoning.mean for reckoning in reckonings])[:, None]
    least = np.abs(mean - middle)
    most = least if len(levels) < _ONE_KINK else _most_of_a_kink(tuple(levels.tolist()), tuple(reckonings))
    return np.asarray(a + b * mean + np.maximum(c, 0) * most + np.minimum(c, 0) * least)


@lru_cache(maxsize=256)
def _most_of_a_kink(levels: tuple[float, ...], reckonings: tuple[Reckoning, ...]) -> Matrix:
    at = np.array(levels)
    return _searched(at, np.abs(at - levels[1])[None, :], reckonings)


def _searched(levels: Vector, second: Matrix, reckonings: Sequence[Reckoning]) -> Matrix:
    """Return the same for any number of levels, by a search for each row and each reckoning."""
    found = np.empty((len(reckonings), len(second)))
    bounded = np.array([not r.any_values for r in reckonings])
    for row, reckoning in zip(found, reckonings, strict=True):
        if reckoning.any_values:
            row[:] = _envelope(levels - reckoning.mean, second)
    if bounded.any():
        some = [r for r in reckonings if not r.any_values]
        if len(some) * len(second) > _VERY_MANY:
            found[bounded] = _of_very_many(levels, second, some)
            return found
        found[bounded] = _bounded_by_halving(tuple(levels.tolist()), tuple(second.ravel().tolist()), tuple(some))
    return found


# Planning asks for the same rows again and again: for each number of clients, each epsilon and each metric.
@lru_cache(maxsize=256)
def _bounded_by_halving(
    levels: tuple[float, ...], second: tuple[float, ...], reckonings: tuple[Reckoning, ...]
) -> Matrix:
    at = np.array(levels)
    rows = np.array(second).reshape(-1, len(at))
    x = np.repeat([at - r.mean for r in reckonings], len(rows), axis=0)
    spread = np.repeat([r.widest for r in reckonings], len(rows))
    return _bounded(x, np.tile(rows, (len(reckonings), 1)), spread).reshape(len(reckonings), -1)


def worst_law(levels: Vector, second: Vector, reckoning: Reckoning) -> Vector:
    """Return how likely levels are for the values whose second moments average to the most, under a reckoning.

    The values are two on either side of the mean, or a mixture of two such pairs; between levels they are mixtures of
    both levels.

    >>> worst_law(np.array([-1.0, 0.0, 1.0]), np.array([1.0, 0.0, 1.0]), Reckoning(0.0, 0.5)).round(6).tolist()
    [0.25, 0.5, 0.25]
    """
    if len(levels) <= _ONE_KINK:
        slopes = np.diff(second) / np.diff(levels)
        if slopes[-1] <= slopes[0]:
            return _two_points(levels - reckoning.mean, 0.0, 0.0)
        # What is most for one such kink is so for all.
        second = np.abs(levels - levels[1])
    return _searched_law(tuple(levels.tolist()), tuple(second.tolist()), reckoning)


@lru_cache(maxsize=256)
def _searched_law(levels: tuple[float, ...], moments: tuple[float, ...], reckoning: Reckoning) -> Vector:
    x, second = np.array(levels) - reckoning.mean, np.array(moments)
    if reckoning.any_values:
        pairs = [(a, b) for a in x[x <= 0] for b in x[x >= 0]]
        return max((_two_points(x, *pair) for pair in pairs), key=lambda law: float(law @ second))
    rows, spread = x[None], np.array([reckoning.widest])
    slope = np.diff(second[None], axis=1) / np.diff(rows, axis=1)
    start = second[None, :-1] - slope * rows[:, :-1]
    top = second.max() - float(np.interp(0.0, x, second))
    low, high = np.zeros(1), np.array([top / max(float(spread[0]), 1e-9) ** 2 + 1e-12])
    x_many, slopes, starts = (np.tile(each, (len(_TENTHS), 1)) for each in (rows, slope, start))
    for _ in range(_CURVE_ROUNDS):
        curves = low + (high - low) * _TENTHS
        moment = _tangent(x_many, slopes, starts, curves.ravel())[1].reshape(curves.shape)
        low, high = _narrowed(low, high, curves, moment > spread**2)
    ends = [_touching(rows, slope, start, curve) for curve in (low, high)]
    reached = [-left * right for left, right in ends]
    if reached[1] > spread[0] ** 2:
        # Second moments that are level but for rounding: values at the mean alone reach what wider ones do.
        ends[1], reached[1] = (0.0, 0.0), 0.0
    part = 1.0 if reached[0] <= spread[0] ** 2 else (spread[0] ** 2 - reached[1]) / (reached[0] - reached[1])
    laws = [_two_points(x, *pair) for pair in ends]
    return np.asarray(part * laws[0] + (1 - part) * laws[1])


def _two_points(x: Vector, left: float, right: float) -> Vector:
    """Return how likely each level is for two values whose mean is 0."""
    often = 1.0 if right <= left else right / (right - left)
    corners = np.eye(len(x))
    found = [[np.interp(value, x, corner) for corner in corners] for value in (left, right)]
    return np.asarray(np.array([often, 1 - often]) @ found)


def _bounded(x: Matrix, second: Matrix, spread: Vector) -> Vector:
    """Return the bound for each row, by halving the range of the best curve."""
    slope = np.diff(second, axis=1) / np.diff(x, axis=1)
    start = second[:, :-1] - slope * x[:, :-1]
    rows, cell = np.arange(len(x)), np.clip((x <= 0).sum(axis=1) - 1, 0, x.shape[1] - 2)
    at_mean = slope[rows, cell] * (0.0 - x[rows, cell]) + second[rows, cell]
    bound: Vector = second.max(axis=1)
    low = np.zeros(len(second))
    # A larger curve than this bounds no better than a level line.
    high = (bound - at_mean) / np.maximum(spread, 1e-9) ** 2 + 1e-12
    x_many, slopes, starts = (np.tile(each, (len(_TENTHS), 1)) for each in (x, slope, start))
    for _ in range(_CURVE_ROUNDS):
        curves = low + (high - low) * _TENTHS
        top, moment = (each.reshape(curves.shape) for each in _tangent(x_many, slopes, starts, curves.ravel()))
        bound = np.minimum(bound, (top + curves * spread**2).min(axis=0))
        low, high = _narrowed(low, high, curves, moment > spread**2)
    return bound


def _narrowed(low: Vector, high: Vector, curves: Matrix, wide: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """Return between which curves the best one of each column is: above all that leave values too wide."""
    ladder, step, columns = np.vstack([low, curves, high]), wide.sum(axis=0), np.arange(len(low))
    return ladder[step, columns], ladder[step + 1, columns]


def _of_very_many(levels: Vector, second: Matrix, reckonings: Sequence[Reckoning]) -> list[Vector]:
    """Return the bounds of very many rows: each that differs once, and one of two reckonings that mirror each other."""
    finest = 1e-8 * float(second.max())
    # Rounded up, so that a bound stays one.
    rows, back = np.unique(np.ceil(second / finest), axis=0, return_inverse=True)
    even = np.array_equal(levels, -levels[::-1]) and bool(np.all(np.abs(rows - rows[:, ::-1]) <= 2))
    known: dict[Reckoning, Vector] = {}
    if even:
        rows = np.maximum(rows, rows[:, ::-1])
    for reckoning in reckonings:
        one = Reckoning(abs(reckoning.mean), reckoning.spread) if even else reckoning
        if one not in known:
            known[one] = finest * _bounded_by_tangents(levels - one.mean, rows, one.widest)[back.reshape(-1)]
        known[reckoning] = known[one]
    return [known[reckoning] for reckoning in reckonings]


def _bounded_by_tangents(x: Vector, second: Matrix, spread: float) -> Vector:
    """Return the bound for each row at the same values, by few steps: each to where two tangents meet.

    The bound is convex in the curve, and for a curve convex in the slope of the line.
    """
    found = np.empty(len(second))
    for begin in range(0, len(second), _AT_ONCE):
        rows = second[begin : begin + _AT_ONCE]
        slope = np.diff(rows, axis=1) / np.diff(x)
        start = rows[:, :-1] - slope * x[:-1]
        level = np.zeros(len(rows))
        steep = (rows.max(axis=1) - rows.min(axis=1)) / max(spread, 1e-9) ** 2 + 1e-12

        def at(curve: Vector, slope: Matrix = slope, start: Matrix = start) -> tuple[Vector, Vector]:
            top, moment = _met(x, slope, start, curve)
            return top + curve * spread**2, spread**2 - moment

        found[begin : begin + _AT_ONCE] = least_values(at, level, steep, close=_CLOSE * rows.max(axis=1))
    return found


def _met(x: Vector, slope: Matrix, start: Matrix, curve: Vector) -> tuple[Vector, Vector]:
    """Return what :func:`_tangent` does, at the same values for all rows."""
    reach = np.abs(slope).max(axis=1) + 4 * curve
    doubled, rows = 2 * np.maximum(curve, 1e-200)[:, None], np.arange(len(curve))
    ends = [np.full(len(curve), end) for end in (float(x[-1]), float(x[0]))]

    def at(line: Vector) -> tuple[Vector, Vector]:
        tilted = slope - line[:, None]
        touches = np.clip(tilted / doubled, x[:-1], x[1:])
        value = start + tilted * touches - curve[:, None] * touches**2
        cell = value.argmax(axis=1)
        where = touches[rows, cell]
        right, left = where > 0, where <= 0
        ends[0], ends[1] = np.where(right, where, ends[0]), np.where(left, where, ends[1])
        return value[rows, cell], -where

    size = (start + slope * x[1:]).max(axis=1)
    best = least_values(at, -reach, reach, close=_CLOSE / 10 * size)
    return best, -ends[0] * ends[1]


def _envelope(x: Vector, second: Matrix) -> Vector:
    """Return the concave envelope at 0: the best mixture of two levels on either side."""
    left, right = x <= 0, x >= 0
    low, high = x[left][:, None], x[right][None, :]
    part = np.where(high > low, -low / np.where(high > low, high - low, 1.0), 0.0)
    mixed = (1 - part) * second[:, left][:, :, None] + part * second[:, right][:, None, :]
    top: Vector = mixed.max(axis=(1, 2))
    return top


def _tangent(x: Matrix, slope: Matrix, start: Matrix, curve: Vector) -> tuple[Vector, Vector]:
    """Return the envelope at 0 of S(x) - curve x^2, and the second moment of the values that reach it."""
    best, left, right = _touched(x, slope, start, curve)
    return best, -left * right


def _touching(x: Matrix, slope: Matrix, start: Matrix, curve: Vector) -> tuple[float, float]:
    """Return the two values that reach the envelope, for one row."""
    _, left, right = _touched(x, slope, start, curve)
    return float(left[0]), float(right[0])


def _touched(x: Matrix, slope: Matrix, start: Matrix, curve: Vector) -> tuple[Vector, Vector, Vector]:
    """Return the envelope at 0 of S(x) - curve x^2, and where the line that touches it does, on either side."""
    reach = np.abs(slope).max(axis=1) + 4 * curve
    low, high = -reach, reach
    left, right = x[:, 0], x[:, -1]
    best = np.full(len(curve), np.inf)
    rows = np.arange(len(curve))
    doubled = 2 * np.maximum(curve, 1e-300)[:, None]
    for _ in range(_HALVINGS):
        line = (low + high) / 2
        tilted = slope - line[:, None]
        at = np.minimum(np.maximum(tilted / doubled, x[:, :-1]), x[:, 1:])
        value = start + tilted * at - curve[:, None] * at**2
        cell = value.argmax(axis=1)
        best, where = np.minimum(best, value[rows, cell]), at[rows, cell]
        # The line shall touch on both sides of 0: where it touches to the right it is not steep enough.
        rises = where > 0
        low, high = np.where(rises, line, low), np.where(rises, high, line)
        right, left = np.where(rises, where, right), np.where(rises, left, where)
    return best, left, right


_TURNS = 40

# The values of all functions, each at its own point, and their slopes there.
_Convex = Callable[[Vector], tuple[Vector, Vector]]


def least_values(functions: _Convex, low: Vector, high: Vector, *, close: Vector) -> Vector:
    """Return the smallest value that was seen of each function, between two points.

    Two points on either side of the least have tangents, and the next point is where they meet.  Functions that are
    made of few straight pieces are done after few turns: where two neighbouring pieces meet is the least.

    Guarantee: every value is one that the function has; it is the least to ``close``, unless the turns run out.

    Args:
        functions: The functions.
        low: Where to begin.
        high: Where to end.
        close: How far a value may be above the least.

    >>> bent = lambda x: (np.abs(x - 0.3) + 1, np.sign(x - 0.3))
    >>> least_values(bent, np.array([-9.0]), np.array([5.0]), close=np.array([1e-9])).round(9).tolist()
    [1.0]
    """
    (at_low, down), (at_high, up) = functions(low), functions(high)
    best = np.minimum(at_low, at_high)
    for _ in range(_TURNS):
        bend = np.maximum(up - down, 1e-300)
        meet = np.clip((at_low - at_high + up * high - down * low) / bend, low, high)
        if not (best - (at_low + down * (meet - low)) > close).any():
            break
        found, slope = functions(meet)
        best = np.minimum(best, found)
        left = slope < 0
        low, at_low, down = (np.where(left, *pair) for pair in ((meet, low), (found, at_low), (slope, down)))
        high, at_high, up = (np.where(left, *pair) for pair in ((high, meet), (at_high, found), (up, slope)))
    return best


class Other(NamedTuple):
    """The other value: its levels, and what is reckoned of it."""

    levels: Vector
    reckoning: Reckoning


def folded(second: Matrix, other: Other, price: tuple[float, float]) -> Vector:
    """Return a bound of second moments at each level of a value, whatever the other value is.

    Args:
        second: Second moments: a row for each level of the other value.
        other: The other value.
        price: The m and the k' of the formula; k' is 0 or more.

    >>> other = Other(np.array([-1.0, 1.0]), Reckoning(0.5, None))
    >>> folded(np.array([[2.0], [4.0]]), other, (0.0, 0.0)).tolist(), folded(
    ...     np.array([[2.0], [4.0]]), other, (1.0, 0.0)
    ... ).tolist()
    ([4.0], [3.5])
    """
    slope, curve = price
    x = (other.levels - other.reckoning.mean)[:, None]
    step = np.diff(x, axis=0)
    rise = np.diff(second, axis=0) / step
    # S is a line between two levels, so what is left is a parabola there.
    at = np.clip((rise - slope) / (2 * max(curve, 1e-300)), x[:-1], x[1:])
    found = second[:-1] + rise * (at - x[:-1]) - slope * at - curve * (at**2 - other.reckoning.widest**2)
    return np.asarray(found.max(axis=0))
