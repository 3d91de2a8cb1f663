"""Do these counts look like honest answers?

Whatever the clients hold, honest counts scatter about a mixture of the table's rows.  Counts that no mixture comes
near were forged, miscounted or made with another table.
"""

import numpy as np
from scipy.optimize import nnls
from scipy.stats import chi2

from fairgauge.scores import Decoder, Matrix, Vector

# Honest answers fall below this less often than this.
SUSPICIOUS = 1e-3
_LEAST_EXPECTED = 5.0


def fit_p_value(decoder: Decoder, counts: tuple[int, ...]) -> float:
    r"""Return how often honest answers would lie at least as far from every mixture of rows.

    .. math:: X^2 = \min_{q \ge 0} \sum_j \frac{(c_j - K (q P)_j)^2}{K (q P)_j}

    Guarantee: asymptotic and conservative: at the true mixture the sum is no larger, in law, than chi-squared with one
    degree of freedom less than symbols, and the best mixture is closer still.  Symbols expected fewer than five
    times are counted together.
    """
    observed: Vector = np.array(counts, dtype=np.float64)
    answers = observed.sum()
    expected = answers * (decoder.prior @ decoder.rows)
    for _ in range(4):
        scale = np.sqrt(np.maximum(expected, 1.0))
        mixture, _ = nnls((answers * decoder.rows / scale).T, observed / scale)
        expected = answers * (mixture @ decoder.rows) / max(mixture.sum(), 1e-300)
    pooled = _pooled(np.vstack([observed, expected]), expected)
    if pooled.shape[1] < 2:
        return 1.0
    seen, fitted = pooled[0], np.maximum(pooled[1], 1e-300)
    return float(chi2.sf(((seen - fitted) ** 2 / fitted).sum(), pooled.shape[1] - 1))


def _pooled(rows: Matrix, expected: Vector) -> Matrix:
    """Add up the columns that are expected too seldom."""
    rare = expected < _LEAST_EXPECTED
    if not rare.any():
        return rows
    return np.column_stack([rows[:, ~rare], rows[:, rare].sum(axis=1)])
