"""Exact tests of counts, at one false-positive rate for the whole suite.

A test that compares an honest sampler with its law rejects it with probability at most
``FALSE_POSITIVE_RATE``, and every such test has mutant twins, broken samplers that it must reject.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

FALSE_POSITIVE_RATE = 1e-6


def p_value(counts: Sequence[int], clients: Sequence[tuple[int, NDArray[np.float64]]]) -> float:
    """Return how likely counts as odd as these are among so many clients of each law, or a bound above it.

    The count of a symbol is a sum of independent binomials, one for each law; its distribution is computed,
    not approximated.  Over the symbols the smallest p-value counts, times their number (Bonferroni).
    """
    if sum(counts) != sum(n for n, _ in clients):
        return 0.0
    smallest = min(
        two_sided(count, [(n, float(law[symbol])) for n, law in clients]) for symbol, count in enumerate(counts)
    )
    return min(1.0, len(counts) * smallest)


def two_sided(count: int, binomials: Sequence[tuple[int, float]]) -> float:
    """Return the p-value of a count that is a sum of independent binomials."""
    if len(binomials) == 1:
        ((n, p),) = binomials
        tails = binom.cdf(count, n, p), binom.sf(count - 1, n, p)
    else:
        distribution = np.ones(1)
        for n, p in binomials:
            distribution = _convolved(distribution, binom.pmf(np.arange(n + 1), n, p))
        tails = distribution[: count + 1].sum(), distribution[count:].sum()
    return float(min(1, 2 * min(tails)))


def _convolved(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    size = len(first) + len(second) - 1
    fast = 1 << size.bit_length()
    return np.fft.irfft(np.fft.rfft(first, fast) * np.fft.rfft(second, fast), fast)[:size]
