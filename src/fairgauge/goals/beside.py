r"""Another value that a channel takes at the same time: what is reckoned of it bounds second moments too.

Where a table answers two questions, a score's second moment :math:`S(v, w)` depends on both values.  If the other one
averages to :math:`\mu'` with a standard deviation of at most :math:`\sigma'`, then for every m and every k' not below 0

.. math:: E\,S(v, w) \le E \max_w \Big( S(v, w) - m (w - \mu') - k' \big((w - \mu')^2 - \sigma'^2\big) \Big),

which is a bound in v alone.  Whatever m and k' are it holds, so the search for them decides only how close it is.
"""

from typing import NamedTuple

import numpy as np

from fairgauge.goals.inputs import Matrix, Vector
from fairgauge.goals.reckoning import Reckoning


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
