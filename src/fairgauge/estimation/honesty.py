r"""Do these counts look like honest answers?

Whatever the clients hold, each honest answer follows a mixture of the table's rows, so all of them together scatter
about a point of the rows' hull.  Counts that no such point explains were forged, miscounted or made with another table.
The check bets against honesty: it learns from some of the answers how they might be forged, and bets on the others.

*Splitting.*  Every answer goes to one of six parts by a throw that has nothing to do with what it says.

*Betting.*  From the parts before, a law q1 is guessed that dishonest answers may follow: above all the best mixture of
rows and of one symbol that is sent too often.  Let q0 be the point of the hull that is nearest to it.  The next part,
of n answers with counts c, multiplies what was won so far by

.. math:: \prod_j r_j^{c_j} \Big/ \Big(\max_x \sum_j P_{xj} r_j\Big)^n, \qquad r_j = q^1_j / q^0_j.

*Why it is fair.*  Fix the throws, and take the parts in turn.  Given the parts before, r is a fixed number for each
symbol.  An honest client with input x wins the factor r_j on average :math:`\sum_j P_{xj} r_j`, and the divisor is no
less than that; a value between levels follows a mixture of two rows, and wins no more.  Clients are independent of each
other, whatever each one holds, so the factors of a part multiply to at most 1 on average, and so do those of all parts.
That holds for every q1 and every q0 > 0, however they were found.  The average over several ways to split is at most 1
on average too, so honest answers win :math:`1/\alpha` or more with probability at most :math:`\alpha` (Markov).
Nothing is asked of the number of clients, and nothing of what they hold.

*What it sees.*  For the nearest q0 the divisor is 1, and the bet grows by :math:`\sum_j c_j \ln r_j`.  Forging that
leaves the counts within the hull looks like another population, and no check can see it.

*The nearest mixture.*

For a law a over the symbols, the mixture q = w P of the rows P that is nearest in relative entropy is the one that
makes a most likely:

.. math:: \max_{w \ge 0} \ \sum_j a_j \ln (w P)_j - \sum_x w_x

At the top the weights sum to 1, and no row would do better: :math:`\sum_j P_{xj} a_j / q_j \le 1` for every row x.
Where the symbol s is left out (because somebody may have added to it), a row costs only :math:`1 - P_{xs}`.

Newton's method with a barrier (a primal-dual interior-point method) gets there in some 15 turns, for many laws at once.
"""

import hashlib
import math

import numpy as np
from numpy.typing import NDArray

from fairgauge.targets.channel_inputs import Matrix, Vector

_TURNS = 60
# Each turn aims at this part of what is left to gain, and goes this part of the way to the nearest wall.
_AIM, _STEP = 0.1, 0.95
_RIDGE = 1e-12
# A symbol that no row gives counts as this likely.
_TINY = 1e-12


def _nearest_mixtures(laws: Matrix, rows: Matrix, *, costs: Matrix | None = None, near: float = 1e-10) -> Matrix:
    """Return the weights of the nearest mixture of rows for each law.

    Args:
        laws: A law of symbols in each row, not all zero.
        rows: The rows to mix.
        costs: What a weight costs, for each law; 1 unless told.
        near: How much may be left to gain for each answer.

    >>> rows = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    >>> _nearest_mixtures(np.array([[0.25, 0.2, 0.55], [0.9, 0.1, 0.0]]), rows).round(6).tolist()
    [[0.25, 0.75], [1.0, 0.0]]
    """
    price = np.ones((len(laws), len(rows))) if costs is None else costs
    weights = np.full_like(price, 1 / len(rows))
    slack = np.ones_like(price)
    each = np.arange(len(rows))
    for _ in range(_TURNS):
        law = np.maximum(weights @ rows, _TINY)
        slope = (laws / law) @ rows.T - price
        gap = (weights * slack).mean(axis=1, keepdims=True)
        if max(len(rows) * gap.max(), np.abs(slope + slack).max()) < near:
            break
        # Both sides are scaled by the roots of the weights, which keeps the matrix tame where weights vanish.
        root = np.sqrt(weights)
        half = rows * root[:, :, None] * (np.sqrt(laws) / law)[:, None, :]
        curve = half @ np.swapaxes(half, 1, 2)
        curve[:, each, each] += slack + _RIDGE
        wanted = root * slope + _AIM * gap / root
        step = root * np.linalg.solve(curve, wanted[..., None])[..., 0]
        turn = _AIM * gap / weights - slack - slack / weights * step
        part = np.minimum(1.0, _STEP * np.minimum(_room(weights, step), _room(slack, turn)))[:, None]
        weights, slack = weights + part * step, slack + part * turn
    return weights


def _room(here: Matrix, step: Matrix) -> Vector:
    """Return how many such steps there are to the first wall."""
    ratio = np.full_like(here, np.inf)
    np.divide(here, -step, out=ratio, where=step < 0)
    room: Vector = ratio.min(axis=1)
    return room


# Honest answers fall below this less often than this.
SUSPICIOUS = 1e-3
# Below this nothing is estimated: once in a million honest studies.
IMPOSSIBLE = 1e-6
_LEAST = 1e-12

# How much of the answers each part gets, and how many ways to split are averaged.
_PARTS = (0.25, 0.15, 0.15, 0.15, 0.15, 0.15)
_SPLITS = 4
# Of so many symbols the forged one is thought to be, and their laws need not be found more exactly than this.
_SUSPECTS, _ROUGHLY = 3, 1e-5

_Parts = NDArray[np.int64]


def fit_p_value(rows: Matrix, counts: tuple[int, ...], *, name: str) -> float:
    """Return a p-value that these are honest answers: small if every mixture of rows explains them badly.

    Guarantee: honest answers give p or less with probability at most p, for any number of clients and whatever they
    hold.  The probability is over the answers and over how they are split.

    Args:
        rows: The probability of each symbol for each input of the table.
        counts: How often each symbol was sent.
        name: What the split follows from, and nothing of the answers: the study's seed.  Everyone who has the study
            and the counts finds the same number.
    """
    won = _log_winnings(_split(counts, name), rows)
    return math.exp(-min(max(_log_mean(won), 0.0), -math.log(_LEAST)))


def _split(counts: tuple[int, ...], name: str) -> _Parts:
    """Return the counts of each part, for several ways to split the answers: (split, part, symbol)."""
    # The stream of RandomState is frozen, so the number stays the same with every version of NumPy.
    throws = np.random.RandomState(np.frombuffer(hashlib.sha256(name.encode()).digest(), dtype="<u4"))
    split: _Parts = np.stack([throws.multinomial(count, _PARTS, size=_SPLITS) for count in counts], axis=2)
    return split


def _log_winnings(parts: _Parts, rows: Matrix) -> Vector:
    """Return the logarithm of what is won with each way to split."""
    splits, bets, symbols = len(parts), parts.shape[1] - 1, parts.shape[2]
    before = parts.cumsum(axis=1)[:, :-1].reshape(-1, symbols)
    following = parts[:, 1:].reshape(-1, symbols)
    suspected = _suspected(before, rows)
    ratio = suspected / np.maximum(_nearest_mixtures(suspected, rows) @ rows, _TINY)
    won = (following * np.log(ratio)).sum(axis=1) - following.sum(axis=1) * _log_price(ratio, rows)
    total: Vector = won.reshape(splits, bets).sum(axis=1)
    return total


def _log_price(ratio: Matrix, rows: Matrix) -> Vector:
    """Return the logarithm of the most that an honest answer wins on average; the last term covers rounding."""
    price: Vector = np.log((ratio @ rows.T).max(axis=1)) + ratio.shape[1] * np.finfo(float).eps
    return price


def _suspected(counts: _Parts, rows: Matrix) -> Matrix:
    """Return, for each row of counts, a law that dishonest answers may follow.

    It is the average of several, by how likely they make the counts, less half the logarithm of the answers for each
    number that was fitted outside of the hull: the laws of forging to one symbol, and the counts as they are.
    """
    # One answer more, shared out over the symbols, so that no answers at all are a law too.
    answers = counts.sum(axis=1, keepdims=True) + 1
    laws = (counts + rows.mean(axis=0)) / answers
    overdone = _excess(laws, np.maximum(_nearest_mixtures(laws, rows, near=_ROUGHLY) @ rows, _TINY))
    suspects = np.argsort(-overdone, axis=1)[:, :_SUSPECTS]
    symbols = counts.shape[1]
    as_they_are = (counts + 0.5) / (answers - 1 + symbols / 2)
    found = np.stack([*(_forged(laws, symbol, rows) for symbol in suspects.T), as_they_are])
    fitted = np.append(np.ones(len(found) - 1), symbols - 1)
    likely = answers[:, 0] * (laws * np.log(found)).sum(axis=2) - fitted[:, None] / 2 * np.log(answers[:, 0])
    belief = np.exp(likely - likely.max(axis=0))
    average: Matrix = np.einsum("sb,sbj->bj", belief / belief.sum(axis=0), found)
    return average


def _forged(laws: Matrix, symbol: NDArray[np.int64], rows: Matrix) -> Matrix:
    """Return the best mixture of rows and of one symbol for each law.

    It is the mixture that is best for the other symbols, and as often as seen for this one.
    """
    each = np.arange(len(laws))
    others = laws.copy()
    others[each, symbol] = 0
    found = _nearest_mixtures(others, rows, costs=1 - rows[:, symbol].T, near=_ROUGHLY) @ rows
    found[each, symbol] = np.maximum(found[each, symbol], laws[each, symbol])
    found = np.maximum(found, _TINY)
    forged: Matrix = found / found.sum(axis=1, keepdims=True)
    return forged


def _excess(laws: Matrix, honest: Matrix) -> Matrix:
    """Return how much likelier each symbol alone gets if it may be more frequent than it honestly is."""
    more = np.maximum(laws, honest)
    gain: Matrix = laws * np.log(more / honest) + (1 - laws) * np.log((1 - more) / (1 - honest))
    return gain


def _log_mean(logs: Vector) -> float:
    """Return the logarithm of the average of numbers, from their logarithms."""
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).mean()))
