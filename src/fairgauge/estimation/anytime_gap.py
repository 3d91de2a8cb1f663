r"""The gap of groups whose shares are estimated, at every look together.

Who looks again and again cannot deal out answers to parts: those of one look would not be those of the next.  So c is
not chosen but bet on.  At the true share the score psi (:mod:`fairgauge.estimation.gap_score`) averages to zero for the
right gap whatever c is, so

.. math:: M_K = \sum_c \sum_i w_c w_i \prod_{k \le K} \big(1 \pm l_{i,c}\, \psi_c(y_k)\big)

is a martingale as clients come one after another at random, and the best c wins nearly all that it could: money on nine
of them costs a factor of nine at most, however long people look.  A gap is accepted if some share accepts it that is in
an interval which holds at every look.  Stakes and weights are fixed before any answer, as in
:mod:`fairgauge.estimation.anytime`.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from fairgauge.estimation.anytime import STAKED_ALPHA, sizes_and_weights
from fairgauge.estimation.betting import BOLDEST
from fairgauge.estimation.gap_score import nodes_about
from fairgauge.estimation.gap_tests import SHARE, GapTest, least_margin


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
        nodes, (sizes, weights) = nodes_about(self.score.expect), sizes_and_weights(self.planned)
        won = []
        for c in nodes:
            psi = bases + c * slopes
            told = self.laws.rows @ psi.T, self.laws.rows @ psi.T**2
            most, least = self.laws.most(told[1]), (told[1] - told[0] ** 2).min(axis=0)
            variance = np.sqrt(np.maximum(least, most / 30) * most)
            stakes = np.sqrt(2 * math.log(2 / STAKED_ALPHA) / np.multiply.outer(sizes, variance))
            gains = np.minimum(stakes, BOLDEST / np.abs(psi).max(axis=1))[:, :, None] * psi
            won.append(
                [
                    np.log1p(side * gains) @ self.counts - self.draws.won(side * gains) + np.log(weights)[:, None]
                    for side in (1, -1)
                ]
            )
        money = logsumexp(np.array(won), axis=(0, 2)) - math.log(len(nodes))
        return least_margin(money.max(axis=0)) - math.log(2 / ((1 - SHARE) * self.alpha))
