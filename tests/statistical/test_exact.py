"""The test that the statistical tests stand on: p-values against enumeration, and its power."""

from itertools import product
from math import comb

import numpy as np
import pytest

from tests.statistical.exact import FALSE_POSITIVE_RATE, p_value, two_sided


@pytest.mark.parametrize("binomials", [[(3, 0.2), (2, 0.7)], [(5, 0.3)]])
@pytest.mark.parametrize("count", range(6))
def test_p_values_agree_with_enumeration(count: int, binomials: list[tuple[int, float]]) -> None:
    law = [0.0] * 6
    for parts in product(*(range(n + 1) for n, _ in binomials)):
        law[sum(parts)] += float(
            np.prod([comb(n, k) * p**k * (1 - p) ** (n - k) for k, (n, p) in zip(parts, binomials, strict=True)])
        )
    expected = min(1, 2 * min(sum(law[: count + 1]), sum(law[count:])))
    assert two_sided(count, binomials) == pytest.approx(expected, abs=1e-12)


def test_accepts_the_expected_and_rejects_the_rest() -> None:
    clients = [(10_000, np.array([0.5, 0.3, 0.2])), (10_000, np.array([0.1, 0.1, 0.8]))]
    assert p_value([6000, 4000, 10_000], clients) > 0.5
    assert p_value([6000 + 400, 4000 - 400, 10_000], clients) < FALSE_POSITIVE_RATE
    assert p_value([6001, 4000, 10_000], clients) == 0


def test_rejects_the_honest_as_seldom_as_it_says() -> None:
    """At a rate of 0.05, not 1e-6, so that a few thousand honest samples show it."""
    law, rng = np.array([0.5, 0.3, 0.2]), np.random.default_rng(1)
    rejected = sum(p_value(rng.multinomial(50, law).tolist(), [(50, law)]) < 0.05 for _ in range(2000))
    # Discreteness and Bonferroni make it conservative; 20 is far too few and 150 six deviations too many.
    assert 20 < rejected < 150
