"""Discrete Laplace noise has its law to the last bit that a test can see, and broken samplers are caught."""

import math
import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from fairgauge.client.discrete_laplace import draw_noise
from tests.statistical.exact import FALSE_POSITIVE_RATE, p_value

DRAWS, FAR = 20_000, 6


def law(s: int, t: int) -> np.ndarray:
    """Return the chances of less than -FAR, of -FAR to FAR, and of more."""
    q = math.exp(-s / t)
    inner = [(1 - q) / (1 + q) * q ** abs(z) for z in range(-FAR, FAR + 1)]
    outer = q ** (FAR + 1) / (1 + q)
    return np.array([outer, *inner, outer])


def fits(draw: Callable[[], int], s: int, t: int) -> bool:
    met = Counter(max(-FAR - 1, min(FAR + 1, draw())) for _ in range(DRAWS))
    counts = [met[z] for z in range(-FAR - 1, FAR + 2)]
    return p_value(counts, [(DRAWS, law(s, t))]) > FALSE_POSITIVE_RATE


@pytest.mark.parametrize(("s", "t"), [(1, 2), (1, 1), (3, 7), (5, 2)])
def test_the_law(s: int, t: int) -> None:
    chance = random.Random(17)
    assert fits(lambda: draw_noise(s, t, below=chance.randrange), s, t)


def test_by_default_from_the_operating_system() -> None:
    assert fits(lambda: draw_noise(1, 2), 1, 2)


def rounded(chance: random.Random) -> int:
    return round(chance.expovariate(0.5) * chance.choice((-1, 1)))


@pytest.mark.parametrize(
    "draw",
    [
        rounded,
        lambda chance: max(0, draw_noise(1, 2, below=chance.randrange)),
        lambda chance: draw_noise(1, 1, below=chance.randrange),
        lambda chance: math.floor(chance.expovariate(0.5)) * chance.choice((-1, 1)),
    ],
    ids=["a float that is rounded", "clamped", "half the scale", "zero twice"],
)
def test_a_broken_sampler_is_caught(draw: Callable[[random.Random], int]) -> None:
    chance = random.Random(18)
    assert not fits(lambda: draw(chance), 1, 2)


def test_no_float_on_the_path() -> None:
    """Numbers that no float holds go through: a decay of one over a googol."""
    met = {draw_noise(1, 10**100) for _ in range(5)}
    assert all(type(z) is int for z in met)
    assert max(map(abs, met)) > 10**90


def test_opendp_has_the_same_law() -> None:
    """The noise of another library that is known to be exact fits the law that ours is compared with."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = iter(dp.m.make_laplace(*space, scale=2.0)([0] * DRAWS))
    assert fits(lambda: int(next(theirs)), 1, 2)
