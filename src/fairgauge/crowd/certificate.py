r"""The certified bound: what counts with secret draws reveal at most, from the integers, every step rounded upward.

The collector adds M draws of the blanket, with the weights :math:`w_j = \min_x p_{xj}` and :math:`W = \sum_j w_j`.
Whoever knows every other answer sees the person's symbol among them.  With n = M + 1 and :math:`Q_j = w_j / W`

.. math:: \delta(\epsilon) = \max_{x, y} \frac1n E\bigl[(L_1 + \dots + L_n)_+\bigr], \qquad
          \Pr\bigl[L = (P_{xj} - e^\epsilon P_{yj}) / Q_j\bigr] = Q_j

is an equality: counts h have the probability :math:`\mathrm{Mult}(n, Q)(h) \sum_j h_j P_{xj} / (n Q_j)`.  Answers of
others are something that anybody could add afterwards.  With :math:`x_+ \le e^{sx} / (e s)` and s = 2^53 t / W, for any
t > 0

.. math:: \delta \le \frac{W}{2^{53}} \cdot \frac{m^n}{e\,t\,n}, \qquad
          m = \max_{x, y} \sum_j \frac{w_j}{W} \exp\Bigl(t\,\frac{p_{xj} - e^\epsilon p_{yj}}{w_j}\Bigr)

A study of several questions asks one of them by a fair coin, and draws are from the blankets of all tables side by
side: sums and W are those of all tables, each with its own worst pair, and 2^53 is taken as often as there are tables.
The exponential is a product of a part for x and a part for y, so all pairs cost one table of exponentials and sums of
products.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from itertools import product
from math import gcd
from operator import mul

from fairgauge.channel import ROW_SUM, Row
from fairgauge.errors import NotPrivate

DIGITS = 38
UP = Context(prec=DIGITS, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
DOWN = Context(prec=DIGITS, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Blanket:
    r"""What everybody sends alike, and how far one person's row rises above it.

    With :math:`w_j = \min_x p_{xj}`, every row is :math:`w` and a rest, and draws are from :math:`w`, too.  All that
    counts is, for each symbol, :math:`w_j` and the ratios :math:`p_{xj} / w_j`; symbols with the same ratios say the
    same and are merged.

    Args:
        rows: Each different row of the table once.
        least: The least weight of each column, all above 0.
    """

    rows: tuple[Row, ...]
    least: Row

    @classmethod
    def of(cls, table: Iterable[Row]) -> "Blanket":
        """Return the blanket of a table.

        Raises:
            NotPrivate: If a symbol excludes an input: nothing hides that, however large the crowd.
        """
        merged: dict[Row, Row] = {}
        for column in zip(*table, strict=True):
            if min(column) == 0:
                if any(column):
                    raise NotPrivate("a symbol excludes an input, and no crowd hides that")
                continue
            scale = gcd(*column)
            ratios = tuple(weight // scale for weight in column)
            before = merged.get(ratios, (0,) * len(column))
            merged[ratios] = tuple(a + b for a, b in zip(before, column, strict=True))
        columns = list(merged.values())
        rows = tuple(dict.fromkeys(zip(*columns, strict=True)))
        return cls(rows, tuple(map(min, columns)))


def certify(blankets: Sequence[Blanket], draws: int, epsilon: Decimal, t: Decimal) -> tuple[Decimal, list[Pair]]:
    """Return an upper bound of delta, and each question's worst pair of rows.

    Guarantee: exact; for every t above 0, counts to which so many secret draws were added, or more, are
    (epsilon, delta)-differentially private for the person, even towards someone who knows every other answer.  A bad t
    gives a larger delta, never a wrong one.
    """
    worst = [_worst(blanket, epsilon, t) for blanket in blankets]
    weight = Decimal(sum(sum(blanket.least) for blanket in blankets))
    with localcontext(UP):
        mean = sum(value for value, _ in worst) / weight
        above = weight / (len(blankets) * ROW_SUM) * _power(mean, draws + 1)
    below = DOWN.multiply(DOWN.multiply(DOWN.next_minus(DOWN.exp(Decimal(1))), t), Decimal(draws + 1))
    return UP.divide(above, below), [pair for _, pair in worst]


def _worst(blanket: Blanket, epsilon: Decimal, t: Decimal) -> tuple[Decimal, Pair]:
    """Return the largest sum of any pair, and the pair; two equal rows are a pair as well."""
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
        pairs = product(range(len(own)), repeat=2)
        return max((sum(map(mul, own[x], other[y]), start=Decimal(0)), (x, y)) for x, y in pairs)


def _power(base: Decimal, exponent: int) -> Decimal:
    """Return base to the exponent, rounded up: by squaring, since ``Decimal`` does not say how its power rounds."""
    result = Decimal(1)
    while exponent:
        if exponent % 2:
            result = UP.multiply(result, base)
        base = UP.multiply(base, base)
        exponent //= 2
    return result
