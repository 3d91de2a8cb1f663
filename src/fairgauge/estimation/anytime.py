r"""Intervals that hold at every look: bets on the average whose money is a martingale.

If a value is right, the score y = over - value under averages to zero over the population, and

.. math:: M_K = \sum_i w_i \prod_{k \le K} (1 \pm l_i y_k)

is a martingale as clients come one after another at random, whatever the population is.  By Ville's inequality it
ever reaches 2 / alpha with probability at most alpha / 2.  Nothing but the counts is needed, and the money adapts to
the variance that is really there.

Stakes and weights are fixed before any answer: by the table, by the value that is tested, and by how many clients were
planned.  Taking the number that has answered so far for the planned one would break the promise.  Secret draws among
the answers win what is known (:mod:`fairgauge.estimation.draws`), and their number grows with each batch: money that is
divided by it is a martingale from batch to batch.

*Gaps of groups whose shares are estimated.*  Who looks again and again cannot deal out answers to parts: those of one
look would not be those of the next.  So c is not chosen but bet on.  At the true share the score psi
(:mod:`fairgauge.estimation.gap_score`) averages to zero for the right gap whatever c is, so

.. math:: M_K = \sum_c \sum_i w_c w_i \prod_{k \le K} \big(1 \pm l_{i,c}\, \psi_c(y_k)\big)

is a martingale as clients come one after another at random, and the best c wins nearly all that it could: money on nine
of them costs a factor of nine at most, however long people look.  A gap is accepted if some share accepts it that is in
an interval which holds at every look.  Stakes and weights are fixed before any answer, as above.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from fairgauge.estimation.betting import BOLDEST
from fairgauge.estimation.gap_score import nodes_about
from fairgauge.estimation.hypothesis_tests import SHARE, GapTest, RatioTest, least_margin
from fairgauge.targets.channel_inputs import Matrix, Vector

# Sizes of studies that stakes are made for, and the alpha that they are made for.  Stakes do not depend on the alpha
# that is asked for, so that a p-value is about one and the same martingale.
_SIZES: Vector = np.logspace(1, 10, 37)
_STAKED_ALPHA = 0.01
# Half of the money goes to sizes near the planned one: the variance is not known either.
_NEARBY: Vector = np.array([0.6, 1.6])

_NEVER = 1e30


def _sizes_and_weights(planned: int | None) -> tuple[Vector, Vector]:
    """Return the sizes of studies that are bet on, and how much of the money starts on each."""
    if planned is None:
        return _SIZES, np.full(len(_SIZES), 1 / len(_SIZES))
    near = planned * _NEARBY
    weights = np.append(np.full(len(_SIZES), 0.5 / len(_SIZES)), np.full(len(near), 0.5 / len(near)))
    return np.append(_SIZES, near), weights


@dataclass(frozen=True, eq=False)
class Bets:
    """Bets on one side: the logarithm of what each symbol multiplies each stake's money by, and of the weights."""

    factors: Matrix
    weights: Vector

    def log_money(self, counts: NDArray[Any]) -> Vector:
        """Return the logarithm of all money, for the counts of one study or of one study in each column."""
        each = (self.factors @ counts).T + self.weights
        top = each.max(axis=-1)
        return np.asarray(top + np.log(np.exp(each.T - top).sum(axis=0)))


@dataclass(frozen=True, eq=False)
class AnytimeTest(RatioTest):
    """Tests values of over / under at every look together: a right one is ever rejected with probability alpha.

    Args:
        planned: How many answers were planned before the first one, if that is known.
    """

    planned: int | None = None

    def bets(self, value: float) -> list[Bets]:
        """Return the bets against a value on either side; no answer is looked at."""
        asked = self.asked(value)
        sizes, weights = _sizes_and_weights(self.planned)
        least, most = asked.variance
        variance = math.sqrt(max(least, most / 30) * most)
        stakes = np.sqrt(2 * math.log(2 / _STAKED_ALPHA) / (sizes * variance))
        found = []
        for gains in (asked.score, -asked.score):
            worst = float(-gains.min())
            boldest = BOLDEST / worst if worst > 0 else math.inf
            staked = np.multiply.outer(np.minimum(stakes, boldest), gains)
            found.append(Bets(np.log1p(staked), np.log(weights) - self.draws.won(staked)))
        return found

    def margin(self, value: float) -> float:
        """Return by how much the money exceeds what rejects a value, as a logarithm: below zero if it is accepted.

        Guarantee: the right value is ever rejected with probability at most alpha.
        """
        if not self.asked(value).possible:
            return _NEVER
        won = max(float(bets.log_money(self.counts)) for bets in self.bets(value))
        return won - math.log(2 / self.alpha)

    def limit(self, value: float) -> float:
        """Return about how far from the estimate values are accepted."""
        score = self.over - value * self.under
        seen = float(score**2 @ self.counts) / self.answers
        half = 1.5 * math.sqrt(2 * math.log(2 / self.alpha) * seen / self.answers)
        return half * self.answers / abs(float(self.under @ self.cleaned))


@dataclass(frozen=True, eq=False)
class AnytimeGapTest(GapTest):
    """Tests gaps at every look together: a right one is ever rejected with probability alpha.

    Args:
        planned: How many answers were planned before the first one, if that is known.
    """

    planned: int | None = None

    def margin(self, value: float) -> float:
        """Return by how much the money exceeds what rejects a gap, as a logarithm: below zero if it is accepted.

        Guarantee: the right gap is ever rejected with probability at most alpha.
        """
        bases, slopes = self.score.lines(value, self.shares)
        nodes, (sizes, weights) = nodes_about(self.score.expect), _sizes_and_weights(self.planned)
        won = []
        for c in nodes:
            psi = bases + c * slopes
            told = self.laws.rows @ psi.T, self.laws.rows @ psi.T**2
            most, least = self.laws.most(told[1]), (told[1] - told[0] ** 2).min(axis=0)
            variance = np.sqrt(np.maximum(least, most / 30) * most)
            stakes = np.sqrt(2 * math.log(2 / _STAKED_ALPHA) / np.multiply.outer(sizes, variance))
            gains = np.minimum(stakes, BOLDEST / np.abs(psi).max(axis=1))[:, :, None] * psi
            won.append(
                [
                    np.log1p(side * gains) @ self.counts - self.draws.won(side * gains) + np.log(weights)[:, None]
                    for side in (1, -1)
                ]
            )
        money = logsumexp(np.array(won), axis=(0, 2)) - math.log(len(nodes))
        return least_margin(money.max(axis=0)) - math.log(2 / ((1 - SHARE) * self.alpha))
