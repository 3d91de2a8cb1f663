r"""The crowd epsilon: what counts with secret draws reveal at most, certified from the integers, rounded upward.

It is the second promise: towards everyone who reads such counts, and never sees a symbol.

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

Where to evaluate the bound, epsilon and t, is found with floats: whatever t comes out, the certificate is computed from
the integers at that t.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from itertools import product
from operator import mul

from fairgauge.channel import ROW_SUM, Channel, Row
from fairgauge.errors import InvalidInput, NotPrivate
from fairgauge.study import Study

_DIGITS = 38
_UP = Context(prec=_DIGITS, rounding=ROUND_CEILING, Emax=MAX_EMAX, Emin=MIN_EMIN)
_DOWN = Context(prec=_DIGITS, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)

_Pair = tuple[int, int]


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
            scale = math.gcd(*column)
            ratios = tuple(weight // scale for weight in column)
            before = merged.get(ratios, (0,) * len(column))
            merged[ratios] = tuple(a + b for a, b in zip(before, column, strict=True))
        columns = list(merged.values())
        rows = tuple(dict.fromkeys(zip(*columns, strict=True)))
        return cls(rows, tuple(map(min, columns)))


def certify(blankets: Sequence[Blanket], draws: int, epsilon: Decimal, t: Decimal) -> tuple[Decimal, list[_Pair]]:
    """Return an upper bound of delta, and each question's worst pair of rows.

    Guarantee: exact; for every t above 0, counts to which so many secret draws were added, or more, are
    (epsilon, delta)-differentially private for the person, even towards someone who knows every other answer.  A bad t
    gives a larger delta, never a wrong one.
    """
    worst = [_worst(blanket, epsilon, t) for blanket in blankets]
    weight = Decimal(sum(sum(blanket.least) for blanket in blankets))
    with localcontext(_UP):
        mean = sum(value for value, _ in worst) / weight
        above = weight / (len(blankets) * ROW_SUM) * _power(mean, draws + 1)
    below = _DOWN.multiply(_DOWN.multiply(_DOWN.next_minus(_DOWN.exp(Decimal(1))), t), Decimal(draws + 1))
    return _UP.divide(above, below), [pair for _, pair in worst]


def _worst(blanket: Blanket, epsilon: Decimal, t: Decimal) -> tuple[Decimal, _Pair]:
    """Return the largest sum of any pair, and the pair; two equal rows are a pair as well."""
    # exp rounds to the nearest whatever the context says, so one step from it is on the safe side of it.
    factor = _DOWN.multiply(t, _DOWN.next_minus(_DOWN.exp(epsilon)))
    # A table has few weights, each in many places, and both exponentials are slow.
    entries = [list(zip(row, blanket.least, strict=True)) for row in blanket.rows]
    own_of, other_of = dict[tuple[int, int], Decimal](), dict[tuple[int, int], Decimal]()
    for entry in {entry for row in entries for entry in row}:
        weight, least = map(Decimal, entry)
        rise = _UP.next_plus(_UP.exp(_UP.multiply(t, _UP.divide(weight, least))))
        own_of[entry] = _UP.multiply(least, rise)
        fall = _DOWN.multiply(factor, _DOWN.divide(weight, least))
        other_of[entry] = _UP.next_plus(_UP.exp(fall.copy_negate()))
    own = [[own_of[entry] for entry in row] for row in entries]
    other = [[other_of[entry] for entry in row] for row in entries]
    with localcontext(_UP):
        pairs = product(range(len(own)), repeat=2)
        return max((sum(map(mul, own[x], other[y]), start=Decimal(0)), (x, y)) for x, y in pairs)


def _power(base: Decimal, exponent: int) -> Decimal:
    """Return base to the exponent, rounded up: by squaring, since ``Decimal`` does not say how its power rounds."""
    result = Decimal(1)
    while exponent:
        if exponent % 2:
            result = _UP.multiply(result, base)
        base = _UP.multiply(base, base)
        exponent //= 2
    return result


# Epsilon is a multiple of this digit's unit, rounded up: at most 0.01 % more.
_GRID = Context(prec=5, rounding=ROUND_CEILING)
_LARGEST_EXPONENT = 600.0
_NOTHING = 1e-15
_LARGEST_T = 1e12  # at the local epsilon the bound falls for ever

# For each symbol: its part of the blanket, and both rows' ratios to the blanket's weight.
_Law = list[tuple[float, float, float]]


def smallest_epsilon(blankets: Sequence[Blanket], draws: int, delta: Decimal, most: Decimal) -> Decimal:
    """Return the smallest epsilon, to five digits, that the bound certifies for delta; at most ``most``.

    Pairs of rows are taken in as they prove to be the worst, so that few are searched over; the certificate covers
    all of them.
    """
    weight = sum(sum(blanket.least) for blanket in blankets)
    aim = float(delta) * len(blankets) * ROW_SUM / weight
    pairs = [{_widest(blanket)} for blanket in blankets]
    before = Decimal(0)
    while True:
        laws = [[_law(blanket, pair, weight) for pair in own] for blanket, own in zip(blankets, pairs, strict=True)]
        found = _least(laws, draws, aim, float(most))
        if found is None:
            return most
        epsilon = max(_GRID.plus(Decimal(found)), before)
        if epsilon >= most:
            return most
        t = _best_t(laws, draws, float(epsilon))
        # People print the nearest float, so that is what is certified if it is the smaller one.
        bound, worst = certify(blankets, draws, min(epsilon, Decimal(float(epsilon))), Decimal(t))
        if bound <= delta:
            return epsilon
        if all(pair in own for pair, own in zip(worst, pairs, strict=True)):
            before = _GRID.next_plus(epsilon)  # floats came too close to the edge
        for pair, own in zip(worst, pairs, strict=True):
            own.add(pair)


def _best_t(laws: Sequence[Sequence[_Law]], draws: int, epsilon: float) -> float:
    """Return the t that makes the bound least: there its logarithm, which is unimodal in t, is flat."""
    low = high = 1 / math.sqrt(draws + 1)
    while _slope(laws, draws, epsilon, low) > 0:
        low, high = low / 4, low
    while high < _LARGEST_T and _slope(laws, draws, epsilon, high) < 0:
        low, high = high, 4 * high
    low, high = _turn(lambda log_t: _slope(laws, draws, epsilon, math.exp(log_t)), math.log(low), math.log(high), 1e-9)
    return math.exp((low + high) / 2)


def _log_bound(laws: Sequence[Sequence[_Law]], draws: int, epsilon: float, t: float) -> float:
    """Return the logarithm of the bound at t, as a part of the blanket's weight."""
    above, _ = _moment(laws, epsilon, t)
    # At the local epsilon all exponents are negative, and m is nothing for a large t.
    return (draws + 1) * math.log1p(max(above, -1 + _NOTHING)) - math.log(t) - 1 - math.log(draws + 1)


def _least(laws: Sequence[Sequence[_Law]], draws: int, delta: float, most: float) -> float | None:
    """Return the least epsilon whose bound is at most delta, both as parts of the blanket's weight; None if none is."""
    aim = math.log(delta)

    def spare(epsilon: float) -> float:
        return aim - _log_bound(laws, draws, epsilon, _best_t(laws, draws, epsilon))

    if spare(most) < 0:
        return None
    return _turn(spare, 0.0, most, 1e-9 * most)[1]


def _turn(rising: Callable[[float], float], low: float, high: float, within: float) -> tuple[float, float]:
    """Return an interval, so narrow, at whose upper end a rising function is 0 or above, as it is at ``high``.

    By regula falsi, where an end that stays counts half (Illinois), and by halving where three steps did less.
    """
    below, above = rising(low), rising(high)
    step, wide, last = 0, math.inf, 0.0
    while high - low > within:
        at = (low + high) / 2
        if step % 3 or high - low <= wide / 2:
            wide = wide if step % 3 else high - low
            if below < 0 < above < math.inf:
                at = low - below * (high - low) / (above - below)
                at = min(max(at, low + within / 2), high - within / 2)
        value = rising(at)
        if value >= 0:
            high, above, below = at, value, below / 2 if last > 0 else below
        else:
            low, below, above = at, value, above / 2 if last < 0 else above
        step, last = step + 1, math.copysign(1.0, value)
    return low, high


def _slope(laws: Sequence[Sequence[_Law]], draws: int, epsilon: float, t: float) -> float:
    """Return the sign of the bound's slope in t."""
    above, slope = _moment(laws, epsilon, t)
    return math.inf if math.isinf(above) else (draws + 1) * t * slope - (1 + above)


def _moment(laws: Sequence[Sequence[_Law]], epsilon: float, t: float) -> tuple[float, float]:
    """Return m - 1 and its slope in t: sums over the questions of the worst pair's."""
    factor = math.exp(epsilon)
    worst = [max(_pair_moment(law, factor, t) for law in own) for own in laws]
    return sum(above for above, _ in worst), sum(slope for _, slope in worst)


def _pair_moment(law: _Law, factor: float, t: float) -> tuple[float, float]:
    above = slope = 0.0
    for weight, own, other in law:
        rise = own - factor * other
        if t * rise > _LARGEST_EXPONENT:
            return math.inf, math.inf
        grown = math.expm1(t * rise)
        above += weight * grown
        slope += weight * rise * (grown + 1)
    return above, slope


def _law(blanket: Blanket, pair: _Pair, weight: int) -> _Law:
    x, y = (blanket.rows[index] for index in pair)
    return [(least / weight, own / least, other / least) for own, other, least in zip(x, y, blanket.least, strict=True)]


def _widest(blanket: Blanket) -> _Pair:
    """Return the pair of rows that differ most: a first guess at the worst."""
    scaled = [
        [weight / math.sqrt(least) for weight, least in zip(row, blanket.least, strict=True)] for row in blanket.rows
    ]
    count = range(len(scaled))
    return max((math.dist(scaled[x], scaled[y]), (x, y)) for x in count for y in count)[1]


LARGEST_DELTA = Decimal("1e-8")
MOST_DRAWS = 10**12


@dataclass(frozen=True, slots=True)
class Crowd:
    """What released counts promise each person in them, towards those who see the counts and no symbol.

    Args:
        draws: How many secret draws are added to each batch.
        delta: The small probability beside the factor.
        epsilon: The certified bound, rounded up.
    """

    draws: int
    delta: Decimal
    epsilon: Decimal

    @property
    def number(self) -> float:
        """The certified bound as a float that is not below it."""
        nearest = float(self.epsilon)
        # Of an epsilon with few digits the nearest float is what was certified; see ``smallest_epsilon``.
        if nearest >= self.epsilon or Decimal(repr(nearest)) == self.epsilon:
            return nearest
        return math.nextafter(nearest, math.inf)


def crowd_of(study: Study, draws: int, *, delta: Decimal = LARGEST_DELTA) -> Crowd:
    r"""Return what counts of a study with so many secret draws promise a person, certified from its integers.

    .. math:: \Pr[\text{conclusion} \mid x] \le e^\epsilon \Pr[\text{conclusion} \mid y] + \delta

    Guarantee: exact; for every two inputs x and y, towards whoever sees the counts, even if they know every answer but
    the person's.  It is about one answer.  Never above the local epsilon.

    Args:
        study: The study; its device answers one table, picked by its own fair coin.
        draws: How many symbols of the tables' blanket the collector adds to the batch that the answer is in.
        delta: 1e-8 unless given.

    Raises:
        InvalidInput: If a number is out of range, or sites answer, who have no crowd.
        NotPrivate: If a symbol excludes an input.
    """
    return crowd_of_channels(study.channels, draws, delta=delta)


def promised(study: Study) -> Crowd | None:
    """Return what a study that is released in batches promises towards its readers; None for others.

    Guarantee: as for :func:`crowd_of`, for every release of a collector that draws as the study's ``release`` says.
    """
    release = study.release
    return None if release is None else crowd_of(study, release.draws, delta=Decimal(release.delta))


def crowd_of_channels(channels: Sequence[Channel], draws: int, *, delta: Decimal = LARGEST_DELTA) -> Crowd:
    """Return the same for channels of which a fair coin picks one; see :func:`crowd_of`."""
    if type(draws) is not int or not 1 <= draws <= MOST_DRAWS:
        raise InvalidInput("draws", draws, f"must be an integer from 1 to {MOST_DRAWS}")
    if not (delta.is_finite() and 0 < delta < 1):
        raise InvalidInput("delta", delta, "must be above 0 and below 1")
    blankets = [Blanket.of(channel.table) for channel in channels]
    local = max(channel.epsilon_bound for channel in channels)
    epsilon = smallest_epsilon(blankets, draws, delta, local) if local else local
    return Crowd(draws, delta, epsilon)


def default_delta(batch: int) -> Decimal:
    """Return the smaller of 1e-8 and a tenth of one in ``batch``.

    >>> default_delta(10_000), default_delta(10**9)
    (Decimal('1E-8'), Decimal('1E-10'))
    """
    return min(LARGEST_DELTA, Context(prec=5, rounding=ROUND_FLOOR).divide(Decimal(1), Decimal(10 * batch)))
