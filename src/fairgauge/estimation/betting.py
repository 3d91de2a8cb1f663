r"""Bets on counts: what answers say about a mean, whatever the law of the answers is.

Someone who stakes a part of their money on "the mean is above m" multiplies it by 1 + l (W - m) at each answer W.  If
the mean is m, their money is a martingale: it reaches 1/alpha with probability at most alpha, at any time and
so at the end too (Ville's inequality).  All that it needs is that W is bounded, so that money never goes below zero,
and that stakes are fixed before any answer.  Answers are counts of symbols, so the money after all of them is

.. math:: \prod_j \big(1 + l (W_j - m)\big)^{c_j} ,

and the average over several stakes l is such a martingale too.
"""

from collections.abc import Callable

import numpy as np

from fairgauge.estimation.confidence_set import sign_change
from fairgauge.estimation.draws import NO_DRAWS, Draws
from fairgauge.targets.channel_inputs import Matrix, Vector

# How far a variance may be from its square, about: stakes for each of these kurtoses share the money.
_KURTOSES: Vector = np.array([0.03, 0.1, 0.3, 1, 3, 10, 30])
# No answer takes more than this part of the money.
BOLDEST = 0.9
# Bounds are found to this part of the mean that was seen; those of many rows in so many turns.
_CLOSE = 1e-6
_TURNS = 9


def log_money(gains: Vector, counts: Vector, stakes: Vector, draws: Draws = NO_DRAWS) -> float:
    """Return the logarithm of the money of all stakes together, which start with equal parts.

    Args:
        gains: What each symbol is worth above the mean that is bet against.
        counts: How often each symbol came.
        stakes: The stakes; 1 + stake * gain must stay above 0.
        draws: The secret draws that are among the counts: what they win on average is not counted.
    """
    each = np.log1p(np.multiply.outer(stakes, gains)) @ counts - draws.won(np.multiply.outer(stakes, gains))
    top = float(each.max())
    return top + float(np.log(np.exp(each - top).mean()))


def upper_mean(values: Vector, counts: Vector, alpha: float, most: float, top: float | None = None) -> float:
    r"""Return an upper bound of the mean of non-negative values.

    .. math:: U = \min \Big\{ m : \tfrac17 \sum_i \prod_j \big(1 - l_i(m) (W_j - m)\big)^{c_j} \ge 1/\alpha \Big\} ,
              \quad l_i(m) = \min\Big(\tfrac{1}{m}\sqrt{2 \ln(1/\alpha) / (K \kappa_i)},\ \tfrac{0.9}{\max W - m}\Big)

    Both forms of a stake make every factor grow with m, so the money grows with m and there is one such U.

    Guarantee: the mean is above U with probability at most alpha, for any number of independent answers.

    Args:
        values: What each symbol is worth, 0 or more.
        counts: How often each symbol came.
        alpha: How often the bound may fail.
        most: What the mean cannot exceed: the bound if no smaller one is found.
        top: What no value can exceed, known before any answer; the largest value unless told.  Values that come from
            the counts are safe if they are at least the true ones: money falls as values grow, for the same stakes.
    """
    top = float(values.max()) if top is None else top
    steps = _steps(counts, alpha)

    def excess(mean: float) -> float:
        stakes = np.minimum(steps / mean, BOLDEST / (top - mean))
        return log_money(mean - values, counts, stakes) + float(np.log(alpha))

    seen, step = _seen(values, counts, alpha)
    seen = max(seen, 1e-12 * top)
    # A step is never too short for the mean that it starts from, which may be larger than the one seen.
    return _edge(excess, (seen, seen + max(step, _CLOSE * seen)), min(most, top * (1 - 1e-12)), most)


def lower_mean(values: Vector, counts: Vector, alpha: float, least: float, bottom: float | None = None) -> float:
    """Return a lower bound of the mean of non-negative values, as ``upper_mean`` does from the other side.

    Guarantee: the mean is below it with probability at most alpha, for any number of independent answers.

    Args:
        values: What each symbol is worth, 0 or more.
        counts: How often each symbol came.
        alpha: How often the bound may fail.
        least: What the mean cannot fall below: the bound if no larger one is found.
        bottom: What no value can fall below, known before any answer; the smallest value unless told.
    """
    bottom = float(values.min()) if bottom is None else bottom
    steps = _steps(counts, alpha)

    def excess(mean: float) -> float:
        stakes = np.minimum(steps / mean, BOLDEST / (mean - bottom))
        return log_money(values - mean, counts, stakes) + float(np.log(alpha))

    seen, step = _seen(values, counts, alpha)
    return _edge(excess, (seen, seen - step), max(least, bottom + 1e-12 * max(seen, 1e-300)), least)


def _steps(counts: Vector, alpha: float) -> Vector:
    steps: Vector = np.sqrt(2 * np.log(1 / alpha) / (counts.sum() * _KURTOSES))
    return steps


def _seen(values: Vector, counts: Vector, alpha: float) -> tuple[float, float]:
    """Return the mean that was seen, and about how far from it bets reject."""
    law = counts / counts.sum()
    seen = float(values @ law)
    spread = float((values - seen) ** 2 @ law)
    # Nearly equal values have a spread that is nothing but rounding: a step from it would end where it began.
    return seen, max(1.2 * float(np.sqrt(2 * np.log(1 / alpha) * spread / counts.sum())), _CLOSE * seen)


def _edge(excess: Callable[[float], float], near: tuple[float, float], end: float, limit: float) -> float:
    """Return the first mean on the way from the one seen to the end that the bets reject, or the limit if none is.

    Args:
        excess: By how much bets against a mean have won more than is needed.
        near: The mean that was seen, and about where the first one may be that is rejected.
        end: The last mean that bets can be made against.
        limit: What the mean cannot be beyond.
    """
    seen, about = near
    if (end - seen) * (limit - seen) <= 0 or excess(end) < 0:
        return limit
    inside, outside = seen, about
    while 0 < (outside - seen) / (end - seen) < 1 and excess(outside) < 0:
        inside, outside = outside, seen + 1.5 * (outside - seen)
    if not 0 < (outside - seen) / (end - seen) < 1:
        outside = end
    return sign_change(excess, inside, outside, close=_CLOSE * seen)[1]


def bounds_of_means(values: Matrix, counts: Vector, alphas: tuple[float, float], most: Vector) -> tuple[Vector, Vector]:
    """Return a lower and an upper bound of the mean of each row of values, nearly those of the two functions above.

    Guarantee: each is as safe as theirs, since the money of a bet is looked at where the bound is: it is only a little
    further out, by a part of its distance from the mean that was seen.

    Args:
        values: What each symbol is worth, 0 or more, in each row.
        counts: How often each symbol came.
        alphas: How often the lower and the upper bounds may fail, each one of them.
        most: What each mean cannot exceed.
    """
    tops, bottoms = values.max(axis=1), values.min(axis=1)
    seen = values @ counts / counts.sum()
    spread = np.maximum(values**2 @ counts / counts.sum() - seen**2, 1e-12 * seen**2)

    def bound(alpha: float, sign: float, ends: Vector) -> Vector:
        room = tops if sign > 0 else bottoms
        steps = _steps(counts, alpha)

        def excess(means: Vector) -> Vector:
            stakes = np.minimum(steps / means[:, None], BOLDEST / np.maximum(sign * (room - means), 1e-300)[:, None])
            gains = sign * (means[:, None] - values)
            each = np.log1p(stakes[:, :, None] * gains[:, None, :]) @ counts
            return np.asarray(np.logaddexp.reduce(each, axis=1) - np.log(len(steps)) + np.log(alpha))

        start = np.clip(seen, bottoms + 1e-9 * (tops - bottoms), tops - 1e-9 * (tops - bottoms))
        ends = ends if sign < 0 else np.maximum(ends, start)
        step = 1.2 * np.sqrt(2 * np.log(1 / alpha) * spread / counts.sum())
        return _first_rejected(excess, start, start + sign * step, ends)

    low = bound(alphas[0], -1.0, bottoms + 1e-9 * (seen - bottoms) + 1e-300)
    high = bound(alphas[1], 1.0, np.minimum(most, tops * (1 - 1e-12)))
    return np.where(np.isnan(low), bottoms, low), np.where(np.isnan(high), most, np.minimum(high, most))


def _first_rejected(excess: Callable[[Vector], Vector], seen: Vector, about: Vector, ends: Vector) -> Vector:
    """Return for each row a mean that bets reject, nearly the first on the way to the end; not a number if none is."""
    inside, outside, last = seen, ends, excess(ends)
    below, above = np.full(len(seen), float(np.log(1e-3))), last
    trial = np.where((ends - about) * (ends - seen) > 0, about, (seen + ends) / 2)
    for turn in range(_TURNS):
        now = excess(trial)
        out = now >= 0
        inside, below = np.where(out, inside, trial), np.where(out, below, now)
        outside, above = np.where(out, trial, outside), np.where(out, now, above)
        # Mostly a straight line, a little further out, so that what is found is soon close on both sides.
        part = np.clip(1.02 * below / np.minimum(below - above, -1e-300), 0.02, 0.98)
        trial = inside + (part if turn % 3 else 0.5) * (outside - inside)
    return np.where(last < 0, np.nan, outside)
