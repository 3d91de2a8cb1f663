r"""The certified bound: what a tally reveals at most, from the integers, every operation rounded upward.

For every pair of rows x, y and any t > 0, with :math:`x_+ \le e^{tx} / (e t)`,

.. math:: \delta \le \frac{M^n}{e\,t\,n}, \qquad
          M = 1 - \sum_j w_j + \sum_j w_j \exp\Bigl(t\,\frac{P_{xj} - e^\epsilon P_{yj}}{w_j}\Bigr)

A study of several questions asks one of them by a fair coin: M is then the average over the questions, each with its
own worst pair.  The exponential is a product of a part for x and a part for y, so all pairs cost one table of
exponentials and sums of products.
"""

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from itertools import product
from operator import mul

from fairgauge.channel import ROW_SUM
from fairgauge.crowd.laws import Blanket

DIGITS = 38
UP = Context(prec=DIGITS, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
DOWN = Context(prec=DIGITS, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)

Pair = tuple[int, int]


def certify(blankets: Sequence[Blanket], people: int, epsilon: Decimal, t: Decimal) -> tuple[Decimal, list[Pair]]:
    """Return an upper bound of delta, and each question's worst pair of rows.

    Guarantee: exact; for every t above 0 the tally of so many people, or more, is (epsilon, delta)-differentially
    private for the person, whatever the others hold.  A bad t gives a larger delta, never a wrong one.
    """
    worst = [_worst(blanket, epsilon, t) for blanket in blankets]
    with localcontext(UP):
        mean = sum(value for value, _ in worst) / (len(blankets) * ROW_SUM)
    below = DOWN.multiply(DOWN.multiply(DOWN.next_minus(DOWN.exp(Decimal(1))), t), Decimal(people))
    return UP.divide(_power(mean, people), below), [pair for _, pair in worst]


def _worst(blanket: Blanket, epsilon: Decimal, t: Decimal) -> tuple[Decimal, Pair]:
    """Return the largest M of any pair, times ``ROW_SUM``, and the pair; two equal rows are a pair as well."""
    # exp rounds to the nearest whatever the context says, so one step from it is on the safe side of it.
    factor = DOWN.multiply(t, DOWN.next_minus(DOWN.exp(epsilon)))
    own, other = [], []
    for row in blanket.rows:
        ratios = [(Decimal(weight), Decimal(least)) for weight, least in zip(row, blanket.least, strict=True)]
        rises = [UP.next_plus(UP.exp(UP.multiply(t, UP.divide(weight, least)))) for weight, least in ratios]
        own.append([UP.multiply(least, rise) for (_, least), rise in zip(ratios, rises, strict=True)])
        falls = [DOWN.multiply(factor, DOWN.divide(weight, least)) for weight, least in ratios]
        other.append([UP.next_plus(UP.exp(fall.copy_negate())) for fall in falls])
    with localcontext(UP):
        rest = Decimal(ROW_SUM - sum(blanket.least))
        return max((sum(map(mul, own[x], other[y]), start=rest), (x, y)) for x, y in product(range(len(own)), repeat=2))


def _power(base: Decimal, exponent: int) -> Decimal:
    """Return base to the exponent, rounded up: by squaring, since ``Decimal`` does not say how its power rounds."""
    result = Decimal(1)
    while exponent:
        if exponent % 2:
            result = UP.multiply(result, base)
        base = UP.multiply(base, base)
        exponent //= 2
    return result
