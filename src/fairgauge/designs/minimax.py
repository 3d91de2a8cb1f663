r"""The channel of least worst-case variance, by column generation.

Every epsilon-private channel splits into columns :math:`\theta\, z` with :math:`z \in \{1, e^\epsilon\}^R`, and an
estimator gives each column a score y (a vector, one entry per basis functional).  With the columns given, the
best weights solve a linear program:

.. math::

    \min T: \quad \sum_c \theta_c z_c = 1, \quad \sum_c \theta_c z_c y_c = F, \quad
    T_{og} \ge \sum_c \theta_c z_c(v) (a_o \cdot y_c)^2 - (a_o \cdot F(v))^2, \quad T \ge \sum_g p_g T_{og}

for every objective o, group g and value v, between levels too.  What must only be identified costs its second moment
on average over values, which takes no rows.  The duals :math:`\alpha, \beta, w` say which new
columns would help (see ``pricing``).  No channel can do better than the master value plus the most negative
reduced cost, which is when to stop.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairgauge.designs.pricing import Columns, Price, Pricing
from fairgauge.designs.program import Duals, Program, Tops
from fairgauge.designs.symmetry import Indices, SignedMap, Symmetry, action, candidates, orbit_averages
from fairgauge.designs.watching import Search
from fairgauge.errors import Impossible
from fairgauge.goals.inputs import Inputs, Matrix, Vector
from fairgauge.goals.reckoning import Reckoning

# Stop when the bound says that no channel is better by more than this part; sooner where something must be identified
# beside, whose weight decides more than that.
_CLOSE, _CLOSE_BESIDE = 5e-3, 2e-2
_ROUNDS = 150
_HANDICAP = 0.05  # prices carried over from a coarser problem prove nothing exactly
_PATIENCE = 20  # rounds without progress after which to stop
_PER_ROUND = 60
_SMOOTHING = 0.7  # pricing between the current and the best duals so far calms column generation
_MOST_COLUMNS = 2000  # beyond this the half that is least likely to help is dropped


class Objective(NamedTuple):
    """The variance of one combination of the basis functionals."""

    combination: Vector
    centre: float | None  # what the groups' means are reckoned to be
    peak: bool  # counts in the maximum; else by its weight, on average over values, and comes after all that do
    weight: float
    cap: float = np.inf  # what it shall be at most, if it counts in the maximum
    reckoning: Reckoning | None = None  # what values are reckoned to be, if it is the total that counts

    @property
    def middle(self) -> float | None:
        """What the groups' means are reckoned to be, in one way or the other."""
        return self.centre if self.reckoning is None else self.reckoning.mean

    @property
    def kind(self) -> tuple[object, ...]:
        """What must be alike for one objective to be the image of another, beside its middle."""
        spread = None if self.reckoning is None else (self.reckoning.spread,)
        return self.peak, self.weight, self.cap, spread


@dataclass(frozen=True)
class Problem:
    """What to minimise: inputs, how much each block of them counts, basis functionals, objectives."""

    inputs: Inputs
    shares: tuple[float, ...]
    basis: Matrix
    objectives: tuple[Objective, ...]
    epsilon: float
    shift: Matrix | None = None  # what a constant, free to choose, takes from the basis functionals

    @property
    def combinations(self) -> Matrix:
        """The objectives' combinations as rows."""
        return np.array([o.combination for o in self.objectives])

    @property
    def peaks(self) -> int:
        """How many objectives count in the maximum; the others come after them."""
        return sum(o.peak for o in self.objectives)

    def average_weights(self) -> Matrix:
        """Return what the squared score of each objective that does not costs at each input."""
        every = np.zeros(self.inputs.count)
        for block, weight in zip(self.inputs.blocks, self.inputs.weights(np.array(self.shares)), strict=True):
            every[block] = weight / (block.stop - block.start)
        weights: Matrix = np.multiply.outer([o.weight for o in self.objectives[self.peaks :]], every)
        return weights


class Solution(NamedTuple):
    """Columns, how much of each to use, and the prices that prove them good."""

    columns: Columns
    weights: Vector
    price: Price


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
        self.moves = []
        for symmetry in candidates(problem.inputs, problem.shares):
            basis, objectives = action(problem.basis, symmetry), self._objective_map(symmetry)
            if basis is not None and objectives is not None:
                self.moves.append(Move(symmetry, basis, objectives))
        self._fold()

    def _objective_map(self, symmetry: Symmetry) -> Indices | None:
        """Return where a renaming takes each objective, or None if it leads outside them."""
        objectives = self.problem.objectives
        kinds = [(o.middle, o.kind) for o in objectives]
        functionals = self.problem.basis @ self.problem.combinations.T
        to = []
        for moved, (centre, kind) in zip(functionals[symmetry.inputs].T, kinds, strict=True):
            mirrored = -centre if symmetry.flips and centre is not None else centre
            alike = np.array([other == (mirrored, kind) for other in kinds])
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
        n_blocks, n_objectives = len(problem.inputs.blocks), problem.peaks
        inputs, unbiased, second, blocks, slopes, objectives = [], [], [], [], [], []
        for symmetry, basis, every in self.moves:
            to = every[:n_objectives]  # what counts in the maximum is renamed among itself
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
        self.average_weights = problem.average_weights()
        self.program = Program(
            ones=len(self.fold_inputs),
            targets=self.fold_unbiased @ problem.basis.reshape(-1),
            limits=self.fold_second @ self._squares(),
            tops=self._tops(
                orbit_averages(n_objectives * n_blocks, blocks),
                orbit_averages(n_objectives * n_blocks, slopes),
                orbit_averages(n_objectives, objectives),
            ),
            shift=None if problem.shift is None else self.fold_unbiased @ problem.shift.reshape(-1),
        )

    def _squares(self) -> Vector:
        """Return the squared target of each objective at each point: what a variance is less than a second moment."""
        peaks = self.problem.peaks
        targets = ((self.points @ self.problem.basis) @ self.problem.combinations[:peaks].T).T
        counted = np.array([o.reckoning is None for o in self.problem.objectives[:peaks]])
        squares: Vector = (counted[:, None] * targets**2).reshape(-1)
        return squares

    def _tops(self, fold_blocks: Matrix, fold_slopes: Matrix, fold_objectives: Matrix) -> Tops:
        """Return how the folded second moments bound the worst variances, and these the objectives."""
        problem, n_points, n_blocks = self.problem, len(self.points), len(self.problem.inputs.blocks)
        orbit_of = fold_blocks.astype(bool).argmax(axis=0)
        slopes = len(fold_blocks) + len(fold_slopes)
        bound = np.zeros((len(self.fold_second), slopes + len(fold_blocks)))
        for row, average in zip(bound, self.fold_second, strict=True):
            o, point = divmod(int(np.flatnonzero(average)[0]), n_points)
            element = o * n_blocks + self.point_block[point]
            row[orbit_of[element]] = 1
            objective, value = problem.objectives[o], self.point_value[point]
            if objective.middle is not None and self.point_block[point] < problem.inputs.groups:
                away = value - objective.middle
                row[len(fold_blocks) : slopes] = np.sign(fold_slopes[:, element]) * away
                if objective.reckoning is not None and not objective.reckoning.any_values:
                    row[slopes + orbit_of[element]] = away**2 - objective.reckoning.widest**2
        weights = problem.inputs.weights(np.array(problem.shares))
        totals, caps, cost = [], [], np.zeros(bound.shape[1])
        for average in fold_objectives:
            members = np.flatnonzero(average)
            objective = problem.objectives[members[0]]
            total = np.zeros(bound.shape[1])
            for block, weight in enumerate(weights):
                total[orbit_of[members[0] * n_blocks + block]] += weight
            cost += objective.weight * len(members) * total
            totals.append(total)
            caps.append(objective.cap)
        return Tops(bound, np.array(totals), cost, np.array(caps), curves=len(fold_blocks))

    def coefficients(self, columns: Columns) -> Matrix:
        """Return what one unit of each column adds to each folded constraint."""
        patterns, scores = columns
        n = len(patterns)
        unbiased = (patterns[:, :, None] * scores[:, None, :]).reshape(n, -1)
        squares = (scores @ self.problem.combinations[: self.problem.peaks].T) ** 2
        second = (squares[:, :, None] * (patterns @ self.points.T)[:, None, :]).reshape(n, -1)
        return np.hstack([patterns @ self.fold_inputs.T, unbiased @ self.fold_unbiased.T, second @ self.fold_second.T])

    def costs(self, columns: Columns) -> Vector:
        """Return what one unit of each column costs by what does not count in the maximum."""
        squares = (columns.scores @ self.problem.combinations[self.problem.peaks :].T) ** 2
        return np.asarray((squares * (columns.patterns @ self.average_weights.T)).sum(axis=1))

    def unfolded(self, duals: Duals) -> Price:
        """Return the duals per input, basis functional and objective."""
        weight = (self.fold_second.T @ duals.second).reshape(self.problem.peaks, len(self.points))
        return Price(
            duals.value,
            self.fold_inputs.T @ duals.inputs,
            (self.fold_unbiased.T @ duals.unbiased).reshape(self.problem.basis.shape),
            np.vstack([np.maximum(weight, 0) @ self.points, self.average_weights]),
            duals.caps,
        )

    def solve(self, first: Columns, starts: Callable[[Matrix], Matrix], hint: Price | None = None) -> Solution:
        """Return the best columns, from a feasible first set and a supply of scores to start pricing from.

        A hint, prices near the final ones, saves the rounds in which the duals wander.
        """
        pricing = Pricing(self.problem.combinations, self.problem.epsilon, first)
        columns = Columns(first.patterns, first.scores @ pricing.seen)
        self.program.add(self.coefficients(columns), self.costs(columns))
        best, bound = hint, -np.inf
        if best is not None:
            bound = _bound(pricing, best, pricing.search(best, starts(columns.scores)))
            bound -= _HANDICAP * abs(bound)
        weights, duals = self.program.solve()
        current = self.unfolded(duals)
        gaps: list[float] = []
        close = _CLOSE if len(self.problem.objectives) == self.problem.peaks else _CLOSE_BESIDE
        search = Search(close)
        for _ in range(_ROUNDS):
            found = []
            for price in [current] if best is None else [best.towards(current, 1 - _SMOOTHING), current]:
                new = pricing.search(price, starts(columns.scores[weights > 1e-9]))
                if (proven := _bound(pricing, price, new)) > bound:
                    best, bound = price, proven
                found.append(_worth_adding(new, pricing.costs(current, new), abs(current.value)))
            fresh = Columns.joined(*found)
            gaps.append(current.value - bound)
            search.within(gaps[-1] / abs(current.value))
            stalled = len(gaps) > _PATIENCE and gaps[-_PATIENCE] - gaps[-1] < current.value * close / 4
            if gaps[-1] <= current.value * close or stalled or not len(fresh.scores):
                break
            self.program.add(self.coefficients(fresh), self.costs(fresh))
            try:
                weights, duals = self.program.solve()
            except Impossible:
                break  # what has been found so far is a good channel, though no longer proven to be the best
            columns = Columns.joined(columns, fresh)
            current = self.unfolded(duals)
            if len(weights) > _MOST_COLUMNS:
                costs = np.where(weights > 0, -np.inf, pricing.costs(current, columns))
                dropped = np.argsort(costs)[_MOST_COLUMNS // 2 :]
                self.program.drop(dropped)
                columns, weights = columns.but(dropped), np.delete(weights, dropped)
        return Solution(*self._polished(columns, weights), best or current)

    def _polished(self, columns: Columns, weights: Vector) -> tuple[Columns, Vector]:
        """Keep the columns in use, and take the solver's 1e-9 in the equations down to rounding error.

        Weights are corrected by factors, so that small ones do not become negative.
        """
        equations = self.coefficients(columns).T[: self.program.equations]
        targets = self.program.targets - self.program.constant * self.program.shift
        wanted = np.concatenate([np.ones(self.program.ones), targets])
        for least in (1e-6, 1e-8, 1e-10, 0.0):
            keep = weights > least
            polished = weights[keep]
            for _ in range(3):
                residual = wanted - equations[:, keep] @ polished
                change = np.linalg.lstsq(equations[:, keep] * polished, residual, rcond=1e-12)[0]
                polished = polished * (1 + change)
            off = np.abs(wanted - equations[:, keep] @ polished).max()
            if off <= 1e-12 * np.abs(wanted).max() and polished.min() > 0:
                return Columns(columns.patterns[keep], columns.scores[keep]), polished
        return Columns(columns.patterns[keep], columns.scores[keep]), weights[keep]


def _bound(pricing: Pricing, price: Price, found: Columns) -> float:
    """Return what no channel can be better than, if no column has a lower cost than those found."""
    return price.value + min(0.0, float(pricing.costs(price, found).min()))


def _worth_adding(columns: Columns, costs: Vector, value: float) -> Columns:
    """Return the columns that help most, each pattern once."""
    order = np.argsort(costs)
    order = order[costs[order] < -1e-9 * value]
    _, first = np.unique(np.packbits(columns.patterns[order] > 1, axis=1), axis=0, return_index=True)
    chosen = order[np.sort(first)[:_PER_ROUND]]
    return Columns(columns.patterns[chosen], columns.scores[chosen])


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
