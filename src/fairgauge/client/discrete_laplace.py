r"""Draw discrete Laplace noise exactly: integers from the operating system, and no float anywhere.

.. math:: P(Z = z) = \frac{1 - q}{1 + q}\, q^{|z|} , \qquad q = e^{-s/t}

for integers s and t.  The method is that of Canonne, Kamath and Steinke (2020, algorithms 1 and 2): a geometric number
is put together from fair choices among integers, and exp(-x) is met as a chance, never as a number.
"""

import secrets
from collections.abc import Callable

# Gives a uniform integer from 0 to below its argument; only tests replace it.
Below = Callable[[int], int]


def draw_noise(s: int, t: int, *, below: Below = secrets.randbelow) -> int:
    """Draw one integer of the discrete Laplace law with decay exp(-s/t).

    Guarantee: exact; the law is the one above, whatever s and t are.

    Args:
        s: The decay's numerator, above 0.
        t: The decay's denominator, above 0.
        below: Gives a uniform integer from 0 to below its argument; only tests replace it.
    """
    while True:
        rest = below(t)
        if not _happens(rest, t, below):
            continue
        whole = 0
        while _happens(1, 1, below):
            whole += 1
        size, minus = (rest + t * whole) // s, below(2)
        if size or not minus:  # zero has one sign, or it would come twice as often
            return -size if minus else size


def _happens(over: int, under: int, below: Below) -> bool:
    """Let something happen with the chance exp(-over/under), for over/under from 0 to 1."""
    step = 1
    while below(under * step) < over:
        step += 1
    return step % 2 == 1
