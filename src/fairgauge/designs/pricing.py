r"""Pricing: which new columns would help, given what the duals of the master program say constraints are worth.

A column with pattern z and score y helps if :math:`\sum_x z(x) b_x(y)` is negative, where
:math:`b = -\alpha - \beta y + \sum_o w_o (a_o y)^2`.  For a given y the best z is :math:`e^\epsilon` where b is
negative and 1 elsewhere; for a given z the best y minimises a quadratic.  Alternating lowers the sum at every step.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.goals.inputs import Matrix, Vector

_TURNS = 30
_SWEEPS = 5
# In directions that the duals ignore the best score would be anywhere: none is worth more than this many times the
# scores at hand.
_FARTHEST = 10.0


class Columns(NamedTuple):
    """Columns of a channel, up to a factor (as rows of ``patterns``), with their scores."""

    patterns: Matrix
    scores: Matrix

    def but(self, dropped: NDArray[np.int_]) -> "Columns":
        """Return the columns without these."""
        return Columns(np.delete(self.patterns, dropped, axis=0), np.delete(self.scores, dropped, axis=0))

    @classmethod
    def joined(cls, *parts: "Columns") -> "Columns":
        """Return the columns of all parts."""
        return cls(np.vstack([p.patterns for p in parts]), np.vstack([p.scores for p in parts]))


class Price(NamedTuple):
    """The duals as prices: per input, per input and basis functional, per objective and input; what caps are worth."""

    value: float
    base: Vector
    slope: Matrix
    weight: Matrix
    caps: float = 0.0

    def towards(self, other: "Price", part: float) -> "Price":
        """Return the prices this part of the way to others."""
        return Price(
            (1 - part) * self.value + part * other.value,
            (1 - part) * self.base + part * other.base,
            (1 - part) * self.slope + part * other.slope,
            (1 - part) * self.weight + part * other.weight,
            (1 - part) * self.caps + part * other.caps,
        )


class Pricing:
    """Looks for columns that help.

    Args:
        combinations: The objectives as combinations of the basis functionals, one per row.
        epsilon: The privacy budget.
        first: The columns to begin with; no score is looked for far beyond theirs.
    """

    def __init__(self, combinations: Matrix, epsilon: float, first: Columns) -> None:
        self.combinations, self.high = combinations, float(np.exp(epsilon))
        # Scores keep to the directions that some objective sees.  The others change nothing but the duals, which they
        # would lead astray.
        self.seen: Matrix = np.linalg.pinv(combinations, rcond=1e-9) @ combinations
        self.squares: Matrix = (combinations[:, :, None] * combinations[:, None, :]).reshape(len(combinations), -1)
        self.farthest: Vector = _FARTHEST * np.abs(first.scores).max(axis=0)

    def gains(self, price: Price, scores: Matrix) -> Matrix:
        """Return what each input would gain or lose from a column with such a score."""
        return -price.base - scores @ price.slope.T + ((scores @ self.combinations.T) ** 2) @ price.weight

    def costs(self, price: Price, columns: Columns) -> Vector:
        """Return the reduced cost of each column: below zero it helps."""
        costs: Vector = (self.gains(price, columns.scores) * columns.patterns).sum(axis=1)
        return costs

    def search(self, price: Price, starts: Matrix) -> Columns:
        """Return the columns that alternating from these scores leads to."""
        scores = starts @ self.seen
        patterns = self._best_patterns(price, scores)
        found = []
        for _ in range(_TURNS):
            # Many ways soon run together, and each needs to be followed only once.
            _, first = np.unique(np.packbits(patterns > 1, axis=1), axis=0, return_index=True)
            patterns, scores = patterns[first], scores[first]
            scores = self._best_scores(price, patterns, scores)
            better = self._best_patterns(price, scores)
            going = (better != patterns).any(axis=1)
            found.append(Columns(patterns[~going], scores[~going]))
            patterns, scores = better[going], scores[going]
            if not len(scores):
                break
        return Columns.joined(*found, Columns(patterns, scores))

    def _best_patterns(self, price: Price, scores: Matrix) -> Matrix:
        return np.where(self.gains(price, scores) < 0, self.high, 1.0)

    def _best_scores(self, price: Price, patterns: Matrix, scores: Matrix) -> Matrix:
        """Return scores that minimise the costs of the patterns, or lower them where that leads out of reach."""
        identity = np.eye(len(self.seen))
        curve: NDArray[np.float64] = ((patterns @ price.weight.T) @ self.squares).reshape(-1, *identity.shape)
        curve = curve + max(float(np.abs(curve).max()), 1e-300) * (identity - self.seen + 1e-9 * identity)
        pull: Matrix = 0.5 * (patterns @ price.slope) @ self.seen
        better = np.linalg.solve(curve, pull[:, :, None])[:, :, 0].astype(np.float64)
        beyond = (np.abs(better) > self.farthest).any(axis=1)
        better[beyond] = self._descended(scores[beyond], curve[beyond], pull[beyond])
        return better

    def _descended(self, scores: Matrix, curve: NDArray[np.float64], pull: Matrix) -> Matrix:
        """Return scores within reach that lower y curve y - 2 pull y, one coordinate at a time."""
        scores = np.clip(scores, -self.farthest, self.farthest)
        for _ in range(_SWEEPS):
            for k, far in enumerate(self.farthest):
                own = curve[:, k, k]
                rest = (curve[:, k] * scores).sum(axis=1) - own * scores[:, k]
                scores[:, k] = np.clip((pull[:, k] - rest) / own, -far, far)
        return scores
