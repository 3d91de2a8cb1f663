r"""The channel of least worst-case variance, by column generation.

Every epsilon-private channel splits into columns :math:`\theta\, z` with :math:`z \in \{1, e^\epsilon\}^R`, and an
estimator gives each column a score y (a vector, one entry per basis functional).  With the columns given, the
best weights solve a linear program:

.. math::

    \min T: \quad \sum_c \theta_c z_c = 1, \quad \sum_c \theta_c z_c y_c = F, \quad
    T_{og} \ge \sum_c \theta_c z_c(v) (a_o \cdot y_c)^2 - (a_o \cdot F(v))^2, \quad T \ge \sum_g p_g T_{og}

for every objective o, group g and value v, between levels too.  The duals :math:`\alpha, \beta, w` say which new
column would help: one that makes :math:`\sum_x z(x) b_x(y)`,
:math:`b = -\alpha - \beta y + \sum_o w_o (a_o y)^2`, negative.  For a given y the best z is :math:`e^\epsilon` where b
is negative; for a given z the best y solves a small linear system.  Alternating from many starts finds the columns.
No channel can do better than the master value plus the most negative such sum, which is when to stop.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairgauge.designs.program import Duals, Program, Tops
from fairgauge.designs.symmetry import Indices, SignedMap, Symmetry, action, candidates, orbit_averages
from fairgauge.scores import Inputs, Matrix, Vector

_CLOSE = 2e-3  # stop when the bound says that no channel is better by more than this part
_ROUNDS = 150
_HANDICAP = 0.05  # prices carried over from a coarser problem prove nothing exactly
_PATIENCE = 20  # rounds without progress after which to stop
_PER_ROUND = 60
_SMOOTHING = 0.7  # pricing between the current and the best duals so far calms column generation
_FARTHEST = 10.0  # no score is worth more than this many times the first ones


class Objective(NamedTuple):
    """The variance of one combination of the basis functionals."""

    combination: Vector
    centre: float | None  # what the groups' means are reckoned to be
    peak: bool  # counts in the maximum; else only by its weight
    weight: float


@dataclass(frozen=True)
class Problem:
    """What to minimise: inputs, how much each block of them counts, basis functionals, objectives."""

    inputs: Inputs
    shares: tuple[float, ...]
    basis: Matrix
    objectives: tuple[Objective, ...]
    epsilon: float

    @property
    def combinations(self) -> Matrix:
        """The objectives' combinations as rows."""
        return np.array([o.combination for o in self.objectives])


class Columns(NamedTuple):
    """Columns of a channel, up to a factor (as rows of ``patterns``), with their scores."""

    patterns: Matrix
    scores: Matrix


class Solution(NamedTuple):
    """Columns, how much of each to use, and the prices that prove them good."""

    columns: Columns
    weights: Vector
    price: "Price"


class Move(NamedTuple):
    """A symmetry of the problem, and what it does to basis functionals and to objectives."""

    symmetry: Symmetry
    basis: SignedMap
    objectives: Indices


class Minimax:
    """A design problem with its symmetries folded in."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.points, self.point_block = problem.inputs.points()
        # The value at each point; of no account where people abstain.
        values = np.concatenate([np.tile(problem.inputs.levels, problem.inputs.groups), [0.0] * problem.inputs.abstain])
        self.point_value = self.points @ values
        # Scores keep to the directions that some objective sees.  The others change nothing but the duals, which they
        # would lead astray.
        self.seen = np.linalg.pinv(problem.combinations) @ problem.combinations
        self.moves = []
        for symmetry in candidates(problem.inputs, problem.shares):
            basis, objectives = action(problem.basis, symmetry), self._objective_map(symmetry)
            if basis is not None and objectives is not None:
                self.moves.append(Move(symmetry, basis, objectives))
        self._fold()

    def _objective_map(self, symmetry: Symmetry) -> Indices | None:
        """Return where a renaming takes each objective, or None if it leads outside them."""
        objectives = self.problem.objectives
        kinds = [(o.centre, o.peak, o.weight) for o in objectives]
        functionals = self.problem.basis @ self.problem.combinations.T
        to = []
        for moved, (centre, peak, weight) in zip(functionals[symmetry.inputs].T, kinds, strict=True):
            mirrored = -centre if symmetry.flips and centre is not None else centre
            alike = np.array([kind == (mirrored, peak, weight) for kind in kinds])
            near = np.minimum(
                np.abs(functionals - moved[:, None]).max(axis=0),
                np.abs(functionals + moved[:, None]).max(axis=0),
            )
            match = alike & (near <= 1e-9 * np.abs(functionals).max())
            if not match.any():
                return None
            to.append(int(match.argmax()))
        return np.array(to) if len(set(to)) == len(to) else None

    def _fold(self) -> None:
        """Average constraints over the orbits of the symmetries, and set up the linear program."""
        problem, q, n_points = self.problem, self.problem.basis.shape[1], len(self.points)
        n_blocks, n_objectives = len(problem.inputs.blocks), len(problem.objectives)
        inputs, unbiased, second, blocks, slopes, objectives = [], [], [], [], [], []
        for symmetry, basis, to in self.moves:
            inputs.append(_plain(symmetry.inputs))
            # E[y_k | renamed x] = sign_k E[y_to(k) | x]
            unbiased.append(
                SignedMap(
                    _pairs(np.argsort(symmetry.inputs), basis.to, q),
                    np.tile(basis.sign, problem.inputs.count),
                )
            )
            points = _renamed_points(self, symmetry)
            back = np.argsort(symmetry.blocks)
            second.append(_plain(_pairs(to, np.argsort(points), n_points)))
            blocks.append(_plain(_pairs(to, back, n_blocks)))
            turn = np.full(n_objectives * n_blocks, -1 if symmetry.flips else 1)
            slopes.append(SignedMap(_pairs(to, back, n_blocks), turn))
            objectives.append(_plain(to))
        self.fold_inputs = orbit_averages(problem.inputs.count, inputs)
        self.fold_unbiased = orbit_averages(problem.inputs.count * q, unbiased)
        self.fold_second = orbit_averages(n_objectives * n_points, second)
        self.program = Program(
            ones=len(self.fold_inputs),
            targets=self.fold_unbiased @ problem.basis.reshape(-1),
            limits=self.fold_second @ ((self.points @ problem.basis) @ problem.combinations.T).T.reshape(-1) ** 2,
            tops=self._tops(
                orbit_averages(n_objectives * n_blocks, blocks),
                orbit_averages(n_objectives * n_blocks, slopes),
                orbit_averages(n_objectives, objectives),
            ),
        )

    def _tops(self, fold_blocks: Matrix, fold_slopes: Matrix, fold_objectives: Matrix) -> Tops:
        """Return how the folded second moments bound the worst variances, and these the objectives."""
        problem, n_points, n_blocks = self.problem, len(self.points), len(self.problem.inputs.blocks)
        orbit_of = fold_blocks.astype(bool).argmax(axis=0)
        bound = np.zeros((len(self.fold_second), len(fold_blocks) + len(fold_slopes)))
        for row, average in zip(bound, self.fold_second, strict=True):
            o, point = divmod(int(np.flatnonzero(average)[0]), n_points)
            element = o * n_blocks + self.point_block[point]
            row[orbit_of[element]] = 1
            centre, value = problem.objectives[o].centre, self.point_value[point]
            if centre is not None and self.point_block[point] < problem.inputs.groups:
                row[len(fold_blocks) :] = np.sign(fold_slopes[:, element]) * (value - centre)
        weights = problem.inputs.weights(np.array(problem.shares))
        totals, peaks, cost = [], [], np.zeros(bound.shape[1])
        for average in fold_objectives:
            members = np.flatnonzero(average)
            objective = problem.objectives[members[0]]
            total = np.zeros(bound.shape[1])
            for block, weight in enumerate(weights):
                total[orbit_of[members[0] * n_blocks + block]] += weight
            cost += objective.weight * len(members) * total
            totals.append(total)
            peaks.append(objective.peak)
        return Tops(bound, np.array([t for t, peak in zip(totals, peaks, strict=True) if peak]), cost)

    def coefficients(self, patterns: Matrix, scores: Matrix) -> Matrix:
        """Return what one unit of each column adds to each folded constraint."""
        n = len(patterns)
        unbiased = (patterns[:, :, None] * scores[:, None, :]).reshape(n, -1)
        squares = (scores @ self.problem.combinations.T) ** 2
        second = (squares[:, :, None] * (patterns @ self.points.T)[:, None, :]).reshape(n, -1)
        return np.hstack([patterns @ self.fold_inputs.T, unbiased @ self.fold_unbiased.T, second @ self.fold_second.T])

    def unfolded(self, duals: Duals) -> "Price":
        """Return the duals per input, basis functional and objective."""
        n_objectives, n_points = len(self.problem.objectives), len(self.points)
        weight = (self.fold_second.T @ duals.second).reshape(n_objectives, n_points)
        return Price(
            duals.value,
            self.fold_inputs.T @ duals.inputs,
            (self.fold_unbiased.T @ duals.unbiased).reshape(self.problem.basis.shape),
            np.maximum(weight, 0) @ self.points,
        )

    def solve(self, first: Columns, starts: Callable[[Matrix], Matrix], hint: "Price | None" = None) -> "Solution":
        """Return the best columns, from a feasible first set and a supply of scores to start pricing from.

        A hint, prices near the final ones, saves the rounds in which the duals wander.
        """
        patterns, scores = first.patterns, first.scores @ self.seen
        self.farthest = _FARTHEST * np.abs(scores).max(axis=0)
        self.program.add(self.coefficients(patterns, scores))
        best_bound, best = -np.inf, hint
        if best is not None:
            best_bound = best.value + min(0.0, float(self._price(best, starts(scores))[0].min()))
            best_bound -= _HANDICAP * abs(best_bound)
        values: list[float] = []
        weights, duals = self.program.solve()
        current = self.unfolded(duals)
        for _ in range(_ROUNDS):
            values.append(current.value)
            used = scores[weights > 1e-9]
            found = []
            for price in [current] if best is None else [best.towards(current, 1 - _SMOOTHING), current]:
                reduced, *columns = self._price(price, starts(used))
                bound = price.value + min(0.0, float(reduced.min()))
                if bound > best_bound:
                    best_bound, best = bound, price
                found.append(self._worth_adding(current, *columns))
            new = Columns(*(np.vstack(parts) for parts in zip(*found, strict=True)))
            stalled = len(values) > _PATIENCE and values[-1] > values[-_PATIENCE] * (1 - _CLOSE / 4)
            if best_bound >= current.value * (1 - _CLOSE) or stalled or not len(new.patterns):
                break
            patterns, scores = np.vstack([patterns, new.patterns]), np.vstack([scores, new.scores])
            self.program.add(self.coefficients(*new))
            weights, duals = self.program.solve()
            current = self.unfolded(duals)
        return Solution(*self._polished(Columns(patterns, scores), weights), best or current)

    def _price(self, price: "Price", scores: Matrix) -> tuple[Vector, Matrix, Matrix]:
        """Alternate between the best pattern for a score and the best score for a pattern."""
        combinations = self.problem.combinations
        high = np.exp(self.problem.epsilon)
        unseen = np.eye(len(self.seen)) - self.seen
        scores = scores @ self.seen
        for _ in range(30):
            patterns = np.where(price.gains(scores, combinations) < 0, high, 1.0)
            weight = patterns @ price.weight.T
            curve = np.einsum("no,oi,oj->nij", weight, combinations, combinations)
            # In directions that the duals happen to ignore, the best score would be anywhere.
            size = max(float(np.abs(curve).max()), 1e-300)
            curve += size * (unseen + 1e-9 * np.eye(len(unseen)))
            better = np.linalg.solve(curve, 0.5 * (patterns @ price.slope)[:, :, None])[:, :, 0] @ self.seen
            better /= np.maximum(1.0, np.abs(better) / self.farthest).max(axis=1, keepdims=True)
            if np.allclose(better, scores, rtol=1e-9, atol=1e-12):
                break
            scores = better
        gains = price.gains(scores, combinations)
        patterns = np.where(gains < 0, high, 1.0)
        return (gains * patterns).sum(axis=1), patterns, scores

    def _worth_adding(self, price: "Price", patterns: Matrix, scores: Matrix) -> Columns:
        reduced = (price.gains(scores, self.problem.combinations) * patterns).sum(axis=1)
        order = np.argsort(reduced)
        order = order[reduced[order] < -1e-9 * abs(price.value)]
        _, first = np.unique(np.packbits(patterns[order] > 1, axis=1), axis=0, return_index=True)
        chosen = order[np.sort(first)[:_PER_ROUND]]
        return Columns(patterns[chosen], scores[chosen])

    def _polished(self, columns: Columns, weights: Vector) -> tuple[Columns, Vector]:
        """Keep the columns in use, and take the solver's 1e-9 in the equations down to rounding error."""
        equations = self.coefficients(*columns).T[: self.program.equations]
        wanted = np.concatenate([np.ones(self.program.ones), self.program.targets])
        for least in (1e-6, 1e-8, 0.0):
            keep = weights > least
            polished = weights[keep]
            for _ in range(3):
                residual = wanted - equations[:, keep] @ polished
                polished = polished + np.linalg.lstsq(equations[:, keep], residual, rcond=1e-11)[0]
            off = np.abs(wanted - equations[:, keep] @ polished).max()
            if off <= 1e-12 * np.abs(wanted).max() and polished.min() > 0:
                break
        return Columns(columns.patterns[keep], columns.scores[keep]), np.maximum(polished, 0)


class Price(NamedTuple):
    """The duals as prices: per input, per input and basis functional, per objective and input."""

    value: float
    base: Vector
    slope: Matrix
    weight: Matrix

    def towards(self, other: "Price", part: float) -> "Price":
        """Return the prices this part of the way to others."""
        return Price(
            (1 - part) * self.value + part * other.value,
            (1 - part) * self.base + part * other.base,
            (1 - part) * self.slope + part * other.slope,
            (1 - part) * self.weight + part * other.weight,
        )

    def gains(self, scores: Matrix, combinations: Matrix) -> Matrix:
        """Return what each input would gain or lose from a column with such a score."""
        return -self.base - scores @ self.slope.T + ((scores @ combinations.T) ** 2) @ self.weight


def _plain(to: Indices) -> SignedMap:
    return SignedMap(to, np.ones(len(to), dtype=np.int_))


def _pairs(outer: Indices, inner: Indices, inner_count: int) -> Indices:
    """Return the map of pairs (i, j), numbered i * inner_count + j, that maps each part on its own."""
    pairs: Indices = (outer[:, None] * inner_count + inner[None, :]).reshape(-1)
    return pairs


def _renamed_points(problem: Minimax, symmetry: Symmetry) -> Indices:
    """Return where a renaming of inputs takes each point."""
    moved = np.zeros_like(problem.points)
    moved[:, symmetry.inputs] = problem.points
    index = {tuple(point): i for i, point in enumerate(problem.points.tolist())}
    return np.array([index[tuple(point)] for point in moved.tolist()])
