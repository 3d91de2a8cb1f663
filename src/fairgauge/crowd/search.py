"""Where to evaluate the certified bound: epsilon and t, found with floats.

Nothing here has to be exact: whatever t comes out, the certificate is computed from the integers at that t.
"""

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, Context, Decimal

from fairgauge.channel import ROW_SUM
from fairgauge.crowd.certificate import Blanket, Pair, certify

# Epsilon is a multiple of this digit's unit, rounded up: at most 0.01 % more.
_GRID = Context(prec=5, rounding=ROUND_CEILING)
_LARGEST_EXPONENT = 600.0
_NOTHING = 1e-15
_LARGEST_T = 1e12  # at the local epsilon the bound falls for ever

# For each symbol: its part of the blanket, and both rows' ratios to the blanket's weight.
Law = list[tuple[float, float, float]]


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
        t = best_t(laws, draws, float(epsilon))
        # People print the nearest float, so that is what is certified if it is the smaller one.
        bound, worst = certify(blankets, draws, min(epsilon, Decimal(float(epsilon))), Decimal(t))
        if bound <= delta:
            return epsilon
        if all(pair in own for pair, own in zip(worst, pairs, strict=True)):
            before = _GRID.next_plus(epsilon)  # floats came too close to the edge
        for pair, own in zip(worst, pairs, strict=True):
            own.add(pair)


def best_t(laws: Sequence[Sequence[Law]], draws: int, epsilon: float) -> float:
    """Return the t that makes the bound least: there its logarithm, which is unimodal in t, is flat."""
    low = high = 1 / math.sqrt(draws + 1)
    while _slope(laws, draws, epsilon, low) > 0:
        low, high = low / 4, low
    while high < _LARGEST_T and _slope(laws, draws, epsilon, high) < 0:
        low, high = high, 4 * high
    low, high = _turn(lambda log_t: _slope(laws, draws, epsilon, math.exp(log_t)), math.log(low), math.log(high), 1e-9)
    return math.exp((low + high) / 2)


def log_bound(laws: Sequence[Sequence[Law]], draws: int, epsilon: float, t: float) -> float:
    """Return the logarithm of the bound at t, as a part of the blanket's weight."""
    above, _ = _moment(laws, epsilon, t)
    # At the local epsilon all exponents are negative, and m is nothing for a large t.
    return (draws + 1) * math.log1p(max(above, -1 + _NOTHING)) - math.log(t) - 1 - math.log(draws + 1)


def _least(laws: Sequence[Sequence[Law]], draws: int, delta: float, most: float) -> float | None:
    """Return the least epsilon whose bound is at most delta, both as parts of the blanket's weight; None if none is."""
    aim = math.log(delta)

    def spare(epsilon: float) -> float:
        return aim - log_bound(laws, draws, epsilon, best_t(laws, draws, epsilon))

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


def _slope(laws: Sequence[Sequence[Law]], draws: int, epsilon: float, t: float) -> float:
    """Return the sign of the bound's slope in t."""
    above, slope = _moment(laws, epsilon, t)
    return math.inf if math.isinf(above) else (draws + 1) * t * slope - (1 + above)


def _moment(laws: Sequence[Sequence[Law]], epsilon: float, t: float) -> tuple[float, float]:
    """Return m - 1 and its slope in t: sums over the questions of the worst pair's."""
    factor = math.exp(epsilon)
    worst = [max(_pair_moment(law, factor, t) for law in own) for own in laws]
    return sum(above for above, _ in worst), sum(slope for _, slope in worst)


def _pair_moment(law: Law, factor: float, t: float) -> tuple[float, float]:
    above = slope = 0.0
    for weight, own, other in law:
        rise = own - factor * other
        if t * rise > _LARGEST_EXPONENT:
            return math.inf, math.inf
        grown = math.expm1(t * rise)
        above += weight * grown
        slope += weight * rise * (grown + 1)
    return above, slope


def _law(blanket: Blanket, pair: Pair, weight: int) -> Law:
    x, y = (blanket.rows[index] for index in pair)
    return [(least / weight, own / least, other / least) for own, other, least in zip(x, y, blanket.least, strict=True)]


def _widest(blanket: Blanket) -> Pair:
    """Return the pair of rows that differ most: a first guess at the worst."""
    scaled = [
        [weight / math.sqrt(least) for weight, least in zip(row, blanket.least, strict=True)] for row in blanket.rows
    ]
    count = range(len(scaled))
    return max((math.dist(scaled[x], scaled[y]), (x, y)) for x in count for y in count)[1]
