r"""The gap of groups whose shares are estimated, about the population, at one look.

Answers are dealt out to five parts, and each part has its own c, found from the parts before it
(:mod:`fairgauge.estimation.gap_score`).  A share p accepts a gap D if its score psi
(:mod:`fairgauge.estimation.gap_score`) averages to nearly zero:

1. Bets on all counts bound the variance of psi at some c that are fixed beforehand.  The variance is a convex parabola
   in c, so they bound it at the c of each part, too: from above by the straight line between two neighbours, and from
   both sides by the parabola through three.
2. In each part the tail of its average is bounded (:mod:`fairgauge.estimation.edgeworth`) for every variance between
   these bounds.  Let P_b be what an average as large as that of part b is likely at most.
3. The gap is too small for that share if

   .. math:: \sum_b \sqrt{f_b}\; \max\big(\Phi^{-1}(1 - P_b), -2\big) \ge z ,

   where f_b is the part of the answers that part b has on average, and too large if the same holds for minus psi.
   Nothing is worse than -2, so that a small part whose tail is hardly known does not silence all others; z allows for
   it.
4. Bets on psi, with stakes that follow from the parts before, reject as well.  They alone decide where answers are few.

*Why it is valid, for every number of answers.*  Let D be right and p the true share.  Given the parts before, c_b is a
number, and the answers of part b are independent draws from one population for which psi averages to zero.  The true
tail P*_b of its sum is a p-value, whatever came before: Phi^-1(1 - P*_b) is at most some standard normal number that is
independent of the parts before.  So the sum is at most one of independent normal numbers, none below -2, with squared
weights that sum to 1.  Unless a bet on the variance fails, P_b is at least P*_b, and what is rejected would be rejected
by the true tails.  The money of the bets on psi is a martingale.  With the interval of the share, alpha is spent once.

With secret draws (:mod:`fairgauge.estimation.hypothesis_tests`) a part has K_b answers and M_b draws, about; by how
much a draw more or less moves a part's deviation is taken to be what it moves the normal law's: so it is paid for in z.

*What is assumed.*  Answers are independent draws from one population, how many there are does not depend on what they
say, and people look once.  The tails are found at both ends of the share's interval and in its middle; by how much they
differ from the normal law's there is taken to follow a parabola in between.
"""

import math
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr, ndtri

from fairgauge.estimation.betting import BOLDEST, bounds_of_means
from fairgauge.estimation.confidence_set import sign_change
from fairgauge.estimation.draws import Draws
from fairgauge.estimation.edgeworth import Heard, Moments, Tails, drawn_of, grid_of, modulus
from fairgauge.estimation.gap_score import FRACTIONS, TURNS, USUALLY, nodes_about
from fairgauge.estimation.hypothesis_tests import SHARE, Cube, PartsTest, least_margin
from fairgauge.targets.channel_inputs import Matrix, Vector

# Parts of alpha beside the share's: the variance from above and below, the bets, the average.
_UPPER, _LOWER, _BETS, _MEAN = 0.04, 0.02, 0.04, 0.84
# With fewer answers than this bets have all that is left beside the share's.
_FEW = 1000
# No part says less than this.
_WORST = 2.0
# What each part counts for: about as much as it has answers.
_WEIGHTS: Vector = np.sqrt(FRACTIONS)
# Prices of variance at which moments are bounded, as parts of the largest that can matter.
_PRICES: Vector = np.array([0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1])
# How wide a case of the variance is, and how far the cases reach down at most.
_RATIO, _DOWN = 1.08, 30
# How far a gap is within what is accepted if only the share that the answers point to accepts it.
_BARELY = 1e-9
# Stakes for a variance that is so many times what it seems to be.
_STAKED: Vector = np.array([0.4, 1.0, 2.5])


class PopulationGapTest(PartsTest):
    """Tests gaps about the population, at one look."""

    @cached_property
    def _levels(self) -> tuple[float, float]:
        """How much of alpha the average has, and the bets: by the number of answers alone."""
        return (0.0, 1 - SHARE) if self.answers < _FEW else (_MEAN, _BETS)

    def margin(self, value: float) -> float:
        """Return how far a gap is beyond what is accepted: below zero if it is accepted.

        Guarantee: the right gap is accepted with probability at least 1 - alpha, for any number of answers.
        """
        found = self._beyond(value)
        # The share that the answers point to is mostly between two points that are asked.
        if found >= 0 and self.share[0] <= self.score.told(self.counts) <= self.share[1]:
            return -_BARELY if self.accepts_at_once(value) else found
        return found

    def _beyond(self, value: float) -> float:
        """Return how far a gap is beyond what is accepted, by points that are spread over the share's interval."""
        lines = self.score.lines(value, self.shares)
        psi = self.psi(lines)
        won = self._money(psi) - math.log(2 / (self._levels[1] * self.level))
        if not self._levels[0] or least_margin(won) >= 0:
            return least_margin(won)
        answers, (low, high) = self._answers[:, None], self.variances(lines)
        averages, usual = self.sums(psi) / answers, 0.0
        if self.stray:
            # On each side as seen from there, so that groups in the other order have the same plan.
            usual = USUALLY * TURNS[:, None] * np.sqrt(np.einsum("bpj,bj->bp", psi**2, self.parts)) / answers
        averages = np.array([averages, -averages]) + usual
        drawn = self.draws.variance(psi) * self.draws.count / max(self.answers, 1.0)
        # By how much one draw more in a part moves its deviation.
        moved = _WEIGHTS[:, None] * self.draws.mean(psi) / np.sqrt(answers * np.maximum(low + drawn, 1e-300))
        z = needed_sum(tuple(_WEIGHTS), self._levels[0] * self.level / 2) + self.uneven(moved)
        normal = [self._summed(self._normal(side, low + drawn, high + drawn)) for side in averages]
        beyond = least_margin(np.maximum(np.maximum(*normal) - z, won))
        if beyond < 0:
            return beyond
        # What tails take beyond the normal law, at both ends and in the middle.
        some = self._some
        found = [np.full(len(some), 0.0) for _ in normal]
        for place, (part, ways) in enumerate(zip(psi, self._ways, strict=True)):
            tails = self._tails(part[some], (low[place, some], high[place, some]), place, ways)
            for side, sign in enumerate((1, -1)):
                told = np.full(len(some), -_WORST) if tails is None else tails(averages[side, place, some], sign)
                found[side] += _WEIGHTS[place] * np.maximum(told, -_WORST)
        exact = [one + _through(of - one[some], len(one)) for one, of in zip(normal, found, strict=True)]
        return least_margin(np.maximum(np.maximum(*exact) - z, won))

    @cached_property
    def _some(self) -> NDArray[np.int_]:
        """The first, the middle and the last of the shares."""
        return np.unique([0, len(self.shares) // 2, len(self.shares) - 1])

    @cached_property
    def _ways(self) -> list[NDArray[np.int_] | None]:
        """The ways to smooth tails in each part that are best where the counts point to.

        Every way is valid for every gap, and to find the best anew for each takes longer than all the rest.
        """
        lines, some = self.score.lines(self.estimate, self.shares), self._some
        low, high = (bound[:, some] for bound in self.variances(lines))
        told = zip(self.psi(lines)[:, some], low, high, range(len(self.sizes)), strict=True)
        found = [self._tails(psi, (least, most), place) for psi, least, most, place in told]
        return [None if tails is None else tails.best_ways() for tails in found]

    def accepts_at_once(self, value: float) -> bool:
        """Tell whether the share that the answers point to accepts a gap without a look at anything that is bounded.

        It does where the normal law accepts with the variance that the counts show: that is between its bounds, and
        tails are no smaller than the normal law's.
        """
        if not self._levels[0] or self.stray or self.draws.count:
            return False
        psi = self.psi(self.score.lines(value, np.array([self.score.told(self.counts)])))
        if float(self._money(psi).min()) >= math.log(2 / (self._levels[1] * self.alpha)):
            return False
        averages, seen = self.sums(psi) / np.maximum(self.sizes, 1.0)[:, None], psi**2 @ self.counts / self.answers
        z = needed_sum(tuple(_WEIGHTS), self._levels[0] * self.alpha / 2)
        return all(float(self._summed(self._normal(sign * averages, seen, seen)).min()) < z for sign in (1, -1))

    def _summed(self, deviations: Matrix) -> Vector:
        return np.asarray(_WEIGHTS @ np.maximum(deviations, -_WORST))

    def _normal(self, averages: Matrix, low: Matrix, high: Matrix) -> Matrix:
        """Return the deviations of each part if tails were normal."""
        return np.asarray(averages / np.sqrt(np.where(averages > 0, high, low) / self._answers[:, None]))

    @cached_property
    def _answers(self) -> Vector:
        """How many answers each part has on average, for its size."""
        return np.maximum(self.sizes - self.drawn, 1.0)

    def variances(self, lines: tuple[Matrix, Matrix]) -> tuple[Matrix, Matrix]:
        """Return a lower and an upper bound of the variance of psi, for each part and each share."""
        bases, slopes = lines
        nodes = nodes_about(self.score.expect)
        squares = (bases + nodes[:, None, None] * slopes).reshape(-1, bases.shape[1]) ** 2
        alphas = _LOWER * self.level / len(nodes), _UPPER * self.level / len(nodes)
        most = self.draws.of_all(self.laws.most(self.laws.rows @ squares.T), squares, self.answers)
        bounds = bounds_of_means(squares, self.counts, alphas, most)
        told = (self.draws.of_answers(each, squares, self.answers) for each in bounds)
        low, high = (np.maximum(each, 0.0).reshape(len(nodes), -1) for each in told)
        found = [_parabola_at(float(c), nodes, low, high) for c in self.centres]
        least, largest = (np.maximum(np.array(each), 1e-300) for each in zip(*found, strict=True))
        if self.draws.count:
            # A part may have more draws than its size says, or fewer, and those vary differently.
            stray = (self.strays(self.sizes) / self._answers)[:, None]
            drawn = self.draws.variance(self.psi(lines))
            least = np.maximum(least - stray * np.abs(drawn - least), 1e-300)
            largest = largest + stray * np.abs(drawn - largest)
        return least, largest

    def _tails(
        self, psi: Matrix, bounds: tuple[Vector, Vector], place: int, ways: NDArray[np.int_] | None = None
    ) -> "_PartTails | None":
        """Return how likely averages of a part are, for each share; None if the part is empty."""
        answers = float((self.sizes - self.drawn)[place])
        if answers < 1:
            return None
        cases = []
        for score, bottom, top in zip(psi, *bounds, strict=True):
            least = max(float(bottom), float(top) / _DOWN)
            edges = np.geomspace(least, top, max(math.ceil(math.log(top / least) / math.log(_RATIO)), 1) + 1)
            low, high = edges[:-1], edges[1:]
            # E psi^4 >= (E psi^2)^2, and (E psi^3)^2 <= E psi^2 E psi^4.
            fourth = np.maximum(self._given(score, 4, high), low**2)
            above, below = (np.clip(self._given(x, 3, high), 0.0, np.sqrt(high * fourth)) for x in (score, -score))
            cases.append((low, high, -below, above, fourth))
        lengths = [len(case[0]) for case in cases]
        starts = np.cumsum([0, *lengths])[:-1]
        low, high, below, above, fourth = (np.concatenate(each) for each in zip(*cases, strict=True))
        added = self.draws.count / self.answers * float(self.draws.variance(psi).max())
        grid, scale = grid_of(answers), math.sqrt(math.sqrt(float(low.min() * high.max())) + added)
        # What |phi| is at most for any of the shares.
        bound = np.max([modulus(self.laws, score, grid.points / scale) for score in psi], axis=0)
        moments = Moments(low, high, (below, above), fourth, float(np.abs(psi).max()))
        mine = Draws(float(self.drawn[place]), self.draws.law)
        drawn = drawn_of(mine, psi, grid.points / scale).taken(np.repeat(np.arange(len(cases)), lengths))
        return _PartTails(Tails(answers, Heard(grid, scale, bound), moments, ways, drawn), starts)

    def _given(self, score: Vector, power: int, variances: Vector) -> Vector:
        r"""Return the largest moment of a score at these variances, at most.

        .. math:: E \psi^n \le \min_{\mu \ge 0} \big( \max_q E_q (\psi^n - \mu \psi^2) + \mu V \big)
        """
        prices = float(np.abs(score).max()) ** (power - 2) * _PRICES
        values = score[:, None] ** power - np.multiply.outer(score**2, prices)
        return np.asarray((self.laws.most(self.laws.rows @ values) + np.multiply.outer(variances, prices)).min(axis=1))

    def _money(self, psi: Cube) -> Vector:
        """Return the logarithm of what bets on either side have won, for each share."""
        logarithm, won = math.log(2 / (self._levels[1] * self.level)), np.zeros((2, len(_STAKED), psi.shape[1]))
        seen, drawn = np.zeros(psi.shape[2]), []
        for scores, counts in zip(psi, self.parts, strict=True):
            squares, n = scores**2, float(seen.sum())
            # Known before the part: what the parts before it show, or half of what is possible.
            variance = squares @ seen / n if n else self.laws.most(self.laws.rows @ squares.T) / 2
            variances = np.multiply.outer(_STAKED, np.maximum(variance, 1e-300))
            stakes = np.sqrt(2 * logarithm / (float(self.sizes.sum()) * variances))
            gains = np.minimum(stakes, BOLDEST / np.abs(scores).max(axis=1))[:, :, None] * scores
            won += np.array([np.log1p(gains) @ counts, np.log1p(-gains) @ counts])
            drawn.append(np.array([np.log1p(self.draws.mean(gains)), np.log1p(-self.draws.mean(gains))]))
            seen = seen + counts
        # What draws win on average, and what they may win beyond it where they are dealt out unevenly.
        won -= np.tensordot(self.drawn, np.array(drawn), axes=1) + self.uneven(np.array(drawn))
        return np.asarray((logsumexp(won, axis=1) - math.log(len(_STAKED))).max(axis=0))


class _PartTails:
    """How likely averages of one part are, for each share.

    Args:
        tails: The tails in all cases of the variance of all shares.
        starts: Where the cases of each share start.
    """

    def __init__(self, tails: Tails, starts: NDArray[np.int_]) -> None:
        self._tails, self._starts = tails, starts

    def best_ways(self) -> NDArray[np.int_]:
        """Return the numbers of the ways to smooth that are best."""
        return self._tails.best_ways()

    def __call__(self, averages: Vector, sign: int) -> Vector:
        """Return the normal number that is as unlikely as an average of at least so much, for each share."""
        each = np.repeat(averages, np.diff([*self._starts, len(self._tails.moments.least)]))
        likely = self._tails.above(each) if sign > 0 else self._tails.below(each)
        return np.asarray(-ndtri(np.maximum.reduceat(likely, self._starts)))


def _parabola_at(place: float, nodes: Vector, low: Matrix, high: Matrix) -> tuple[Vector, Vector]:
    """Return bounds of convex parabolas that are not below zero, at one place, from bounds at nodes."""
    right = int(np.clip(np.searchsorted(nodes, place), 1, len(nodes) - 1))
    part = (place - nodes[right - 1]) / (nodes[right] - nodes[right - 1])
    least, most = np.zeros(low.shape[1]), (1 - part) * high[right - 1] + part * high[right]
    for first in {min(max(right - 2, 0), len(nodes) - 3), min(right - 1, len(nodes) - 3)}:
        three = slice(first, first + 3)
        weights = np.array([math.prod((place - y) / (x - y) for y in nodes[three] if y != x) for x in nodes[three]])
        up, down = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
        most = np.minimum(most, up @ high[three] + down @ low[three])
        least = np.maximum(least, up @ low[three] + down @ high[three])
    return np.minimum(least, most), most


def _through(values: Vector, count: int) -> Vector:
    """Return the parabola through values at both ends and in the middle, at evenly spread points."""
    if len(values) < 3:
        return np.asarray(np.resize(values, count))
    x = np.linspace(-1, 1, count)
    first, middle, last = values
    return np.asarray(middle + x * (last - first) / 2 + x**2 * ((first + last) / 2 - middle))


@lru_cache(maxsize=256)
def needed_sum(weights: tuple[float, ...], level: float) -> float:
    """Return what weighted standard normal numbers, none below -2, exceed together with at most this probability.

    Args:
        weights: The weights; their squares sum to 1.
        level: The probability.
    """
    return sign_change(lambda z: level - _sum_tail(weights, z), 0.0, 10.0, close=1e-9)[1]


def _sum_tail(weights: tuple[float, ...], z: float) -> float:
    r"""Return how likely weighted standard normal numbers, none below -t, are to reach z together, at most.

    .. math:: P_S(z) \le \bar\Phi\Big(\frac{z}{|w_S|}\Big) + \sum_{b \in S} \Phi(-t) \, P_{S \setminus b}(z + t w_b)

    because the sum is that of the numbers as they are, unless one of them is below -t: that one counts -t then, and the
    others know nothing of it.
    """
    if not weights:
        return float(z <= 0)
    plain = float(ndtr(-z / max(math.hypot(*weights), 1e-300)))
    if plain == 0:
        return 0.0
    rest = (_sum_tail(weights[:b] + weights[b + 1 :], z + _WORST * weights[b]) for b in range(len(weights)))
    return plain + float(ndtr(-_WORST)) * sum(rest)
