"""Do these counts look like honest answers?

Whatever the clients hold, honest counts scatter about a mixture of the table's rows.  Counts that no mixture comes
near were forged, miscounted or made with another table.
"""

import numpy as np
from scipy.optimize import nnls
from scipy.special import gammaln

from fairgauge.goals.decoder import Decoder
from fairgauge.goals.inputs import Vector

# Honest answers fall below this less often than this.
SUSPICIOUS = 1e-3
_FULL, _TURNS = 4, 12


def fit_p_value(decoder: Decoder, counts: tuple[int, ...]) -> float:
    r"""Return a p-value that these are honest answers: small if every mixture of rows explains them badly.

    .. math:: p = \frac{\max_q \prod_j (q P)_j^{c_j}}{\int \prod_j \theta_j^{c_j} \, d\pi(\theta)}

    The denominator is the likelihood under laws of every kind, with Jeffreys' prior.  Divided by the likelihood under
    the true average law, its expectation is at most 1: for each theta it is a product over clients of numbers whose
    expectations average to 1.  The best mixture is at least as likely as the true one; Markov's inequality does
    the rest.

    Guarantee: honest answers give less than p with probability at most p, for any number of answers and whatever
    clients hold.
    """
    seen: Vector = np.array(counts, dtype=np.float64)
    log_p = _best_likelihood(decoder, seen) - _any_likelihood(seen)
    return float(np.exp(min(log_p, 0.0)))


def _any_likelihood(seen: Vector) -> float:
    """Return the log-likelihood of counts under Jeffreys' prior on all laws of symbols."""
    half = np.full(len(seen), 0.5)
    return float(gammaln(seen + half).sum() - gammaln(half).sum() + gammaln(half.sum()) - gammaln((seen + half).sum()))


def _best_likelihood(decoder: Decoder, seen: Vector) -> float:
    """Return an upper bound, tight after a few turns, of the log-likelihood under the best mixture of rows.

    Fisher scoring turns it into least squares with non-negative weights.  The likelihood is concave, so wherever a
    turn ends the slope towards the best row bounds what is left to gain.
    """
    rows, answers = decoder.rows, seen.sum()
    mixture = decoder.prior
    bound = np.inf
    for turn in range(_TURNS):
        # The bound holds for any law above zero.
        law = np.maximum(mixture @ rows, 1e-12)
        steepest = float((rows @ (seen / law)).max()) / answers
        bound = min(bound, float(seen @ np.log(law)) + answers * np.log(steepest))
        scale = np.sqrt(law)
        found, _ = nnls((rows / scale).T, seen / answers / scale)
        # With many answers whole steps arrive at once; with few they would go to and fro for ever.
        mixture = mixture + (1.0 if turn < _FULL else 0.5) * (found / found.sum() - mixture)
    return bound
