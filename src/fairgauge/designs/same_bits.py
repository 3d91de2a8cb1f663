"""Arithmetic that gives the same bits on every processor.

A linear-algebra library adds products in the order that suits the processor, so that last bits differ, and a simplex
that starts from other last bits may end at another table that is just as good.  Then a study has another digest.
What is here multiplies and adds number by number, in one order: IEEE 754 fixes every bit of that.
"""

from decimal import Decimal

import numpy as np

from fairgauge.goals.inputs import Matrix, Vector

# Pivots below this part of the largest are rounding error: the equation follows from those before.
_NOTHING = 1e-12


def exponential(epsilon: Decimal) -> float:
    """Return e^epsilon, correctly rounded, as no mathematical library promises."""
    return float(epsilon.exp())


def weighted_sums(rows: Matrix, weights: Vector) -> Vector:
    """Return ``rows @ weights``."""
    sums: Vector = (rows * weights).sum(axis=-1)
    return sums


def least_change(equations: Matrix, sizes: Vector, residual: Vector) -> Vector:
    r"""Return the change x with ``equations @ x = residual`` that has the least :math:`\sum x_i^2 / s_i`.

    Equations that follow from others are left out: they are met if they can be.

    .. math:: x = S A^\top (A S A^\top)^{+} r
    """
    scaled = equations * sizes
    square = (scaled[:, None, :] * equations[None, :, :]).sum(axis=-1)
    return weighted_sums(scaled.T, _solved(square, residual))


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
