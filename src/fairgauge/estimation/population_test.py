r"""Intervals about the population that clients are drawn from: every value that a test does not reject.

Clients are K independent draws from one population; K was fixed before, and people look once.  A value is tested like
this (alpha is split in three: 4 % and 2 % for the variance, 94 % for the average):

1. If the value is right, the score y averages to zero and its variance is E y^2.  Bets on the counts bound it from
   both sides, and the laws that the population may have bound it too.
2. In cells of the variance between those bounds, programs bound the third and fourth moment.
3. In each cell the tail of the average is bounded (:mod:`fairgauge.estimation.edgeworth`).
4. The value is accepted if in some cell an average as large as the one seen has a probability of alpha_t / 2 or more.

Proof.  Unless a bet fails (probability at most alpha_u + alpha_l) the variance lies in one of the cells.  Let x be the
least number that the average reaches with probability at most alpha_t / 2 under the true law.  Every bound of the tail
is at least the true one, however its cells and its smoothing were chosen, from the answers too; so an average that is
rejected is x or more.  That happens with probability at most alpha_t / 2 on either side.  Together alpha.

Secret draws among the answers leave all of that as it is: what they add to the sum is known but for its scatter, which
the tails hold, and bets know what draws win (:mod:`fairgauge.estimation.draws`).

Where there are too few answers for the normal law, bets on the average take over.  Which of the two is used is decided
for each value before any answer is looked at: by the tails over every variance that is possible.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from fairgauge.estimation.betting import BOLDEST, log_money, lower_mean, upper_mean
from fairgauge.estimation.edgeworth import Heard, Moments, Tails, bernstein, drawn_of, grid_of
from fairgauge.estimation.hypothesis_tests import Hypothesis, RatioTest
from fairgauge.targets.channel_inputs import Vector

_UPPER, _LOWER, _MEAN = 0.04, 0.02, 0.94
_CELL, _COARSE = 1.02, 1.04
# Bets give about the width that the normal law gives at z^2 = 2.1 ln(2 / alpha).
_EQUAL = 2.1
_BETS = 0.1
_STAKES = 5
_NODES = 40
# So few answers are never enough for the normal law.
_FEW = 12
_NEVER = 1e30
# An average that is this small beside the largest score is zero but for rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class PopulationTest(RatioTest):
    """Tests values of over / under at one look."""

    @cached_property
    def _constant(self) -> bool:
        return bool(np.ptp(self.under) <= 1e-12 * abs(float(self.under[0])))

    @cached_property
    def _heard(self) -> dict[float, Heard]:
        return {}

    def margin(self, value: float) -> float:
        """Return how far a value is beyond what is accepted: below zero if it is accepted.

        Guarantee: the right value is accepted with probability at least 1 - alpha, for any number of answers.
        """
        asked = self.asked(value)
        if not asked.possible:
            return _NEVER
        far = self._clearly_beyond(asked)
        if far > 0:
            return far
        normal, bets = self._parts(value)
        beyond = -_NEVER
        if normal:
            bounds = self._variance(asked, normal * self.alpha)
            if bounds is None:
                return _NEVER
            beyond = self._beyond(asked, bounds, normal * self.alpha)
        if bets:
            beyond = max(beyond, self._bet(asked, bets * self.alpha))
        return beyond

    def limit(self, value: float) -> float:
        """Return about how far from the estimate values are accepted."""
        asked = self.asked(value)
        seen = float(np.clip(asked.score**2 @ self.cleaned / self.answers, *asked.variance)) + self._drawn(asked)
        z = -float(ndtri(self.alpha / 2)) if self._parts(value)[0] else math.sqrt(_EQUAL * math.log(2 / self.alpha))
        return 1.05 * z * math.sqrt(seen * self.answers) / abs(float(self.under @ self.cleaned))

    def _drawn(self, asked: Hypothesis) -> float:
        """Return the variance that secret draws add, for each answer."""
        return float(self.draws.variance(asked.score)) * self.draws.count / self.answers

    def _average(self, asked: Hypothesis) -> float:
        """Return the average score of the answers, less what draws add; zero if it is that but for rounding.

        Both tails are asked differently, and on which side of zero rounding falls, processors do not agree.
        """
        average = float(asked.score @ self.cleaned) / self.answers
        return average if abs(average) > _ROUNDING * float(np.abs(asked.score).max()) else 0.0

    def _parts(self, value: float) -> tuple[float, float]:
        """Return which parts of alpha go to the normal law and to bets; no answer is looked at.

        The normal law alone if it is close for every variance that is possible; bets alone if it is close for none;
        else both, and the value must pass both.  Neighbouring values are decided together.
        """
        if self.answers < _FEW:
            return 0.0, 1.0
        least, most = self.extent
        node = round((value - least) / (most - least) * _NODES)
        if node not in self._decided:
            middle = least + min(max(node, 0.5), _NODES - 0.5) / _NODES * (most - least)
            asked = self.asked(middle)
            tails = self._tails(asked, asked.moments(*asked.variance, ratio=_COARSE))
            # Where bets would give their limit, with each variance.
            variance = tails.moments.most + self._drawn(asked)
            there = np.sqrt(_EQUAL * math.log(2 / self.alpha) * variance / self.answers)
            close = np.maximum(tails.above(there), tails.below(there)) < _MEAN * self.alpha / 2
            mixed = (1 - _BETS, _BETS) if close.any() else (0.0, 1.0)
            self._decided[node] = (1.0, 0.0) if close.all() else mixed
        return self._decided[node]

    @cached_property
    def _decided(self) -> dict[int, tuple[float, float]]:
        return {}

    def _variance(self, asked: Hypothesis, alpha: float) -> tuple[float, float] | None:
        """Return a lower and an upper bound of the score's variance, or None if the counts leave none."""
        least, _ = asked.variance
        square = asked.score**2
        high = self._highest(asked, alpha)
        bound = lower_mean(square, self.counts, _LOWER * alpha, self._of_all(square, least))
        low = max(self._of_answers(square, bound), least)
        return None if low > high * (1 + 1e-9) else (min(low, high), high)

    def _highest(self, asked: Hypothesis, alpha: float) -> float:
        """Return an upper bound of the score's variance."""
        square, most = asked.score**2, asked.variance[1]
        bound = upper_mean(square, self.counts, _UPPER * alpha, self._of_all(square, most))
        return min(self._of_answers(square, bound), most)

    def _of_all(self, values: Vector, mean: float) -> float:
        return float(self.draws.of_all(np.array(mean), values, self.answers))

    def _of_answers(self, values: Vector, mean: float) -> float:
        return float(self.draws.of_answers(np.array(mean), values, self.answers))

    def _beyond(self, asked: Hypothesis, bounds: tuple[float, float], alpha: float) -> float:
        """Return how far the average is beyond what is likely enough, in standard deviations of the normal law."""
        tails = self._tails(asked, asked.moments(*bounds, ratio=_CELL))
        average = self._average(asked)
        likely = float((tails.above(average) if average > 0 else tails.below(-average)).max())
        return _deviations(min(likely, self._roughly(asked, bounds[1])), alpha)

    def _roughly(self, asked: Hypothesis, variance: float) -> float:
        """Return how likely an average as far from zero as the one seen is at most, if the variance is at most this."""
        average = self._average(asked)
        size = float((asked.score if average > 0 else -asked.score).max())
        # A draw is less its own mean.
        size += abs(float(self.draws.mean(asked.score)))
        return float(bernstein(abs(average), max(variance + self._drawn(asked), 1e-300), size, self.answers))

    def _clearly_beyond(self, asked: Hypothesis) -> float:
        """Return how far the average is beyond what is likely, if it is so however alpha is parted; else 0.

        It spares what takes long: deciding how alpha is parted, and the tails.
        """
        seen = max(float(asked.score**2 @ self.cleaned), 0.0) / self.answers
        if self.answers < _FEW or _deviations(self._roughly(asked, seen), self.alpha) <= 0:
            return 0.0
        if self._bet(asked, self.alpha) < 0:
            return 0.0
        beyond = _NEVER
        for part in (1.0, 1 - _BETS):
            alpha = part * self.alpha
            high = self._highest(asked, alpha)
            beyond = min(beyond, _deviations(self._roughly(asked, high), alpha))
        return max(beyond, 0.0)

    def _tails(self, asked: Hypothesis, moments: Moments) -> Tails:
        # The scale is rounded so that neighbouring values share what was heard.
        least, most = asked.variance
        about = max(math.sqrt(least * most), most / 30, 1e-300) + self._drawn(asked)
        scale = 2.0 ** round(math.log2(about) / 2)
        drawn = drawn_of(self.draws, asked.score[None], grid_of(self.answers).points / scale)
        if not self._constant:
            return Tails(self.answers, Heard.of(self.laws, asked.score, self.answers, scale), moments, drawn=drawn)
        # With a constant denominator a value only shifts the score, which |phi| does not notice.
        if scale not in self._heard:
            self._heard[scale] = Heard.of(self.laws, asked.score, self.answers, scale)
        return Tails(self.answers, self._heard[scale], moments, drawn=drawn)

    def _bet(self, asked: Hypothesis, alpha: float) -> float:
        r"""Return by how much bets on either side of zero have won more than is allowed, as a logarithm.

        .. math:: \tfrac15 \sum_i \prod_j (1 \pm l_i y_j)^{c_j} \ge 2/\alpha \quad\text{rejects}
        """
        least, most = asked.variance
        variances = np.geomspace(max(least, 1e-6 * most), most, _STAKES) + self._drawn(asked)
        stakes = np.sqrt(2 * math.log(2 / alpha) / (self.answers * variances))
        won = -math.inf
        for gains in (asked.score, -asked.score):
            worst = float(-gains.min())
            most_staked = BOLDEST / worst if worst > 0 else math.inf
            won = max(won, log_money(gains, self.counts, np.minimum(stakes, most_staked), self.draws))
        return won - math.log(2 / alpha)


def _deviations(likely: float, alpha: float) -> float:
    """Return by how many standard deviations of the normal law a tail is beyond what is accepted."""
    return float(ndtri(_MEAN * alpha / 2) - ndtri(max(likely, 1e-300)))
