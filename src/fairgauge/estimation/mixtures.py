r"""The mixtures of a table's rows that come nearest to given laws of symbols.

For a law a over the symbols, the mixture q = w P of the rows P that is nearest in relative entropy is the one that
makes a most likely:

.. math:: \max_{w \ge 0} \ \sum_j a_j \ln (w P)_j - \sum_x w_x

At the top the weights sum to 1, and no row would do better: :math:`\sum_j P_{xj} a_j / q_j \le 1` for every row x.
Where the symbol s is left out (because somebody may have added to it), a row costs only :math:`1 - P_{xs}`.

Newton's method with a barrier (a primal-dual interior-point method) gets there in some 15 turns, for many laws at once.
"""

import numpy as np

from fairgauge.targets.inputs import Matrix, Vector

_TURNS = 60
# Each turn aims at this part of what is left to gain, and goes this part of the way to the nearest wall.
_AIM, _STEP = 0.1, 0.95
_RIDGE = 1e-12
# A symbol that no row gives counts as this likely.
TINY = 1e-12


def nearest_mixtures(laws: Matrix, rows: Matrix, *, costs: Matrix | None = None, near: float = 1e-10) -> Matrix:
    """Return the weights of the nearest mixture of rows for each law.

    Args:
        laws: A law of symbols in each row, not all zero.
        rows: The rows to mix.
        costs: What a weight costs, for each law; 1 unless told.
        near: How much may be left to gain for each answer.

    >>> rows = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    >>> nearest_mixtures(np.array([[0.25, 0.2, 0.55], [0.9, 0.1, 0.0]]), rows).round(6).tolist()
    [[0.25, 0.75], [1.0, 0.0]]
    """
    price = np.ones((len(laws), len(rows))) if costs is None else costs
    weights = np.full_like(price, 1 / len(rows))
    slack = np.ones_like(price)
    each = np.arange(len(rows))
    for _ in range(_TURNS):
        law = np.maximum(weights @ rows, TINY)
        slope = (laws / law) @ rows.T - price
        gap = (weights * slack).mean(axis=1, keepdims=True)
        if max(len(rows) * gap.max(), np.abs(slope + slack).max()) < near:
            break
        # Both sides are scaled by the roots of the weights, which keeps the matrix tame where weights vanish.
        root = np.sqrt(weights)
        half = rows * root[:, :, None] * (np.sqrt(laws) / law)[:, None, :]
        curve = half @ np.swapaxes(half, 1, 2)
        curve[:, each, each] += slack + _RIDGE
        wanted = root * slope + _AIM * gap / root
        step = root * np.linalg.solve(curve, wanted[..., None])[..., 0]
        turn = _AIM * gap / weights - slack - slack / weights * step
        part = np.minimum(1.0, _STEP * np.minimum(_room(weights, step), _room(slack, turn)))[:, None]
        weights, slack = weights + part * step, slack + part * turn
    return weights


def _room(here: Matrix, step: Matrix) -> Vector:
    """Return how many such steps there are to the first wall."""
    ratio = np.full_like(here, np.inf)
    np.divide(here, -step, out=ratio, where=step < 0)
    room: Vector = ratio.min(axis=1)
    return room
