r"""Who answers within a group: what those who did not answer could change, and when they could turn a gap's sign.

Let the odds of answering differ by at most a factor :math:`\Gamma` between any two people of a group.
Somebody with odds o of answering is among those who did not as often, beside those who did, as 1/o says.  So those who
did not answer are those who did with weights between 1 and :math:`\Gamma`, and with values from 0 to 1 and the mean m
of those who answered, theirs is at least

.. math:: L(m) = \min_{F, w} \frac{E_F[w v]}{E_F[w]} = \frac{m}{m + \Gamma (1 - m)}, \qquad U(m) = 1 - L(1 - m),

with all values at 0 or 1.  The mean of the whole group is between the two means, so it is in [L, U] as well, whatever
part answered.

*The gap.*  L is convex, so of all m_A - m_B = D the least L(m_A) - U(m_B) = L(m_A) + L(1 - m_B) - 1 has
m_A = 1 - m_B = (1 + D) / 2:

.. math:: \frac{(1 + D) - \Gamma (1 - D)}{(1 + D) + \Gamma (1 - D)},

which is zero at :math:`\Gamma = (1 + D) / (1 - D)`.

*Means that are told.*  If they lie in intervals as well, D is at least what these leave, m_B is what they leave that is
nearest to (1 - D) / 2, because L(m_B + D) + L(1 - m_B) is convex in m_B, and L(m_B + D) = U(m_B) at

.. math:: \Gamma^2 = \frac{(m_B + D) / (1 - m_B - D)}{m_B / (1 - m_B)} .

*Values that vary little.*  Where the standard deviation of those who answered is at most s, the worst law has two
values, of which the lower has the odds o, and L = m - s (Gamma - 1) sqrt(o) / (1 + Gamma o): least at o = 1 / Gamma,
or where the two values meet 0 or 1.  Without these ends the gap's sign turns at
sqrt(Gamma) - 1 / sqrt(Gamma) = D / s, and with them no earlier.
"""

import math

from fairgauge.estimation.interval import Interval

_ROUNDING = 1e-12


def _mean_bounds(mean: float, factor: float, spread: float = math.inf) -> tuple[float, float]:
    """Return between what a group's mean is, if its odds of answering differ between people by at most a factor.

    Guarantee: sharp, if any part of the group may have answered.

    >>> [round(end, 3) for end in _mean_bounds(0.9, 1.5)], [round(end, 3) for end in _mean_bounds(0.9, 1.5, 0.15)]
    ([0.857, 0.931], [0.87, 0.926])

    Args:
        mean: Of those who answered; values are from 0 to 1.
        factor: By which the odds of answering differ at most.
        spread: The largest standard deviation of those who answered.
    """
    return _least(mean, factor, spread), 1 - _least(1 - mean, factor, spread)


def _least(mean: float, factor: float, spread: float) -> float:
    most = math.sqrt(mean * (1 - mean))
    if most == 0 or spread >= most:
        return mean / (mean + factor * (1 - mean))
    odds = min(max(1 / factor, (spread / mean) ** 2), ((1 - mean) / spread) ** 2)
    return mean - spread * (factor - 1) * math.sqrt(odds) / (1 + factor * odds)


def gap_bounds(gap: Interval, factor: float) -> Interval:
    """Return where a gap lies, if within each group the odds of answering differ by at most a factor.

    Guarantee: as that of the interval, whatever part of each group answered, and whatever the means are.

    >>> gap_bounds(Interval(0.05, 0.024, 0.079, (-1, 1)), 1.04)
    Interval(estimate=0.05, low=0.004394224733207823, high=0.09845533389455548)

    Args:
        gap: Its interval, with what the gap can be at all: minus to plus the range of values.
        factor: By which the odds of answering differ at most.
    """
    shown, reach = gap.shown, gap.bounds[1]
    low, high = -_most_gap(-shown.low / reach, factor) * reach, _most_gap(shown.high / reach, factor) * reach
    return Interval(shown.estimate, low, high, gap.bounds)


def _most_gap(gap: float, factor: float) -> float:
    more, less = factor * (1 + gap), 1 - gap
    return (more - less) / (more + less)


def tipping_factor(gap: Interval, spread: float = math.inf) -> float | None:
    """Return by which factor the odds of answering must differ within a group so that the gap's sign could turn.

    None if the interval holds zero, so that the sign is not known, and if no factor is enough.

    Guarantee: with a smaller factor the sign stays, with the interval's confidence, whatever part of each group
    answered.

    >>> round(tipping_factor(Interval(0.07, 0.05, 0.09, (-1, 1))), 3)
    1.105
    >>> round(tipping_factor(Interval(0.07, 0.05, 0.09, (-1, 1)), spread=0.15), 3)
    1.393

    Args:
        gap: Its interval, with what the gap can be at all: minus to plus the range of values.
        spread: The largest standard deviation in each group of those who answered, in the gap's units.
    """
    if not gap.clear:
        return None
    reach = gap.bounds[1]
    nearest = gap.shown.size.low / reach
    if nearest >= 1:
        return None  # nothing turns it
    steps = nearest * reach / spread
    return max((1 + nearest) / (1 - nearest), ((steps + math.sqrt(steps**2 + 4)) / 2) ** 2)


def tipping_factor_of_means(gap: Interval, means: tuple[Interval, Interval]) -> float | None:
    """Return the factor that turns a gap's sign, if the means of both its groups are within their intervals as well.

    None if the interval holds zero, if no means within their intervals have such a gap, and if no factor is enough.

    Guarantee: with a smaller factor the sign stays, if all three intervals hold, whatever part of each group answered.

    >>> means = Interval(0.9, 0.89, 0.91, (0, 1)), Interval(0.83, 0.82, 0.84, (0, 1))
    >>> round(tipping_factor_of_means(Interval(0.07, 0.05, 0.09, (-1, 1)), means), 3)
    1.241

    Args:
        gap: Its interval, with what the gap can be at all.
        means: Those of the first and of the second group, with what a mean can be at all.
    """
    if not gap.clear:
        return None
    first, second = means if gap.shown.low > 0 else means[::-1]
    least, reach = first.bounds[0], gap.bounds[1]
    (low, high), (other_low, other_high) = (
        ((mean.shown.low - least) / reach, (mean.shown.high - least) / reach) for mean in (first, second)
    )
    nearest = max(gap.shown.size.low / reach, low - other_high)
    below, above = max(other_low, low - nearest), min(other_high, high - nearest)
    mean = min(max((1 - nearest) / 2, below), above)
    # Where the means' own ends are the nearest to each other, one point is left, and rounding may turn it inside out.
    if below > above + _ROUNDING or not 0 < mean < 1 - nearest:
        return None
    return math.sqrt((mean + nearest) / (1 - mean - nearest) * (1 - mean) / mean)
