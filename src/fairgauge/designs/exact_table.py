"""The exact table: integers whose privacy loss, computed from them, is within epsilon, and the same on every processor.

A linear-algebra library adds products in the order that suits the processor, so that last bits differ, and a simplex
that starts from other last bits may end at another table that is just as good.  Then a study has another digest.
What is here multiplies and adds number by number, in one order: IEEE 754 fixes every bit of that.
"""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from fairgauge.channel import LEVEL_UNIT, ROW_SUM, Channel
from fairgauge.errors import Impossible
from fairgauge.targets.channel_inputs import Inputs, Matrix, Vector

_RAREST = 1e-12
_MIXINGS = (0.0, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
# Pivots below this part of the largest are rounding error: the equation follows from those before.
_NOTHING = 1e-12


def exact_channel(
    probabilities: Matrix, inputs: Inputs, epsilon: Decimal, *, further: Sequence[Vector] = ()
) -> Channel:
    """Round a table of probabilities to integers that hold epsilon exactly.

    The probabilities themselves, and a row's remainder, can be just above e^epsilon.  Mixing every row with a
    little of the same law pulls all ratios towards 1, so the smallest mixture that passes the exact check is taken.
    A score stays unbiased under it up to a known shift, so about one part in 10^12 of epsilon is all that is lost.

    Guarantee: exact; the check is made on the integers that clients use.

    Args:
        probabilities: A row for each input.
        inputs: The groups, the levels of the first value, and whether one may abstain.
        epsilon: The epsilon to hold.
        further: The levels of further values, where the channel takes several at once.
    """
    rows = np.maximum(probabilities, 0)
    # A solver's rounding error can pass for a symbol, too rare for integers to hold its ratio.
    rows = rows[:, rows.max(axis=0) > _RAREST]
    rows = rows / rows.sum(axis=1, keepdims=True)
    common = rows.mean(axis=0)
    levels, *more = (tuple(round(u * LEVEL_UNIT) for u in axis.tolist()) for axis in (inputs.levels, *further))
    # An exact epsilon is compared as a float too, by readers of JSON: stay a few units below.
    ceiling = epsilon * (1 - Decimal("1e-14"))
    for mixing in _MIXINGS:
        table = _integers((1 - mixing) * rows + mixing * common)
        channel = Channel(table, levels=levels, groups=inputs.groups, abstain=inputs.abstain, further=tuple(more))
        if channel.within(ceiling):
            return channel
    raise Impossible(f"no table of integers that sum to 2^53 holds epsilon={epsilon} with this many symbols")


def _integers(rows: Matrix) -> tuple[tuple[int, ...], ...]:
    """Return integers near the probabilities, rounded towards each column's middle so that ratios only shrink.

    What a row then lacks or has too much, at most one unit per symbol, goes to the heaviest column.
    """
    exact = rows * ROW_SUM
    middle = np.sqrt(exact.min(axis=0) * exact.max(axis=0))
    weights = np.where(exact < middle, np.ceil(exact), np.floor(exact)).astype(np.int64)
    heaviest = int(rows.sum(axis=0).argmax())
    weights[:, heaviest] += ROW_SUM - weights.sum(axis=1)
    return tuple(tuple(int(w) for w in row) for row in weights)


def exponential(epsilon: Decimal) -> float:
    """Return e^epsilon, correctly rounded, as no mathematical library promises."""
    return float(epsilon.exp())


def weighted_sums(rows: Matrix, weights: Vector) -> Vector:
    """Return ``rows @ weights``."""
    sums: Vector = (rows * weights).sum(axis=-1)
    return sums


def _least_change(equations: Matrix, sizes: Vector, residual: Vector) -> Vector:
    r"""Return the change x with ``equations @ x = residual`` that has the least :math:`\sum x_i^2 / s_i`.

    Equations that follow from others are left out: they are met if they can be.

    .. math:: x = S A^\top (A S A^\top)^{+} r
    """
    scaled = equations * sizes
    square = (scaled[:, None, :] * equations[None, :, :]).sum(axis=-1)
    return weighted_sums(scaled.T, _solved(square, residual))


def polished(equations: Matrix, found: Vector, wanted: Vector, free: Vector) -> Vector:
    """Return weights, and constants after them, whose equations hold to rounding error, not to a solver's 1e-9.

    Weights are corrected by factors, so that small ones do not become negative.

    Args:
        equations: A row for each, what a unit of each weight and constant adds to it.
        found: The weights and constants.
        wanted: What the equations are to be.
        free: How much each constant may change: 1 as if it were a column in full use, 0 not at all.
    """
    weights = len(found) - len(free)
    for _ in range(3):
        sizes = np.concatenate([found[:weights] ** 2, free])
        found = found + _least_change(equations, sizes, wanted - weighted_sums(equations, found))
    return found


def _solved(square: Matrix, wanted: Vector) -> Vector:
    """Return a solution of a symmetric system of equations, by elimination with the largest pivot first."""
    left, right = square.copy(), wanted.copy()
    first = float(np.diag(left).max())
    order: list[int] = []
    for _ in range(len(left)):
        pivots = np.diag(left).copy()
        pivots[order] = -1.0
        pivot = int(pivots.argmax())
        if pivots[pivot] <= _NOTHING * first:
            break
        order.append(pivot)
        factor = left[:, pivot] / left[pivot, pivot]
        factor[order] = 0.0
        left = left - factor[:, None] * left[pivot][None, :]
        right = right - factor * right[pivot]
    solution = np.zeros(len(right))
    for pivot in reversed(order):
        solution[pivot] = (right[pivot] - float((left[pivot] * solution).sum())) / left[pivot, pivot]
    return solution
