r"""The channel of least worst-case variance where scores are vectors: the program, its symmetries and its pricing.

A column's score y has one entry for each basis functional.  With the columns given, the best weights solve a linear
program:

.. math::

    \min T: \quad \sum_c \theta_c z_c = 1, \quad \sum_c \theta_c z_c y_c = F, \quad
    T_{og} \ge \sum_c \theta_c z_c(v) (a_o \cdot y_c)^2 - (a_o \cdot F(v))^2, \quad T \ge \sum_g p_g T_{og}

for every objective o, group g and value v, between levels too.  What must only be identified costs its second moment
on average over values, which takes no rows.

*Pricing.*  With duals :math:`\alpha, \beta, w` a column costs :math:`\sum_x z(x) b_x(y)`, where
:math:`b = -\alpha - \beta y + \sum_o w_o (a_o y)^2`.  For a given y the best z is :math:`e^\epsilon` where b is
negative and 1 elsewhere; for a given z the best y minimises a quadratic.  Alternating lowers the sum at every step.

*Symmetries.* Renaming equal groups, or turning all values round, changes nothing.  The best channel may then be taken
symmetric, and constraints that a symmetry maps onto each other become one.  That shrinks the linear program by up to
twice the number of groups.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.designs.column_generation import ColumnProblem, Columns, Mixture, Prices, Stop, generate
from fairgauge.designs.linear_program import INFINITY, LinearProgram, Optimum, Rows, Variables
from fairgauge.targets.assumed_values import Reckoning
from fairgauge.targets.channel_inputs import Inputs, Matrix, Vector

_Indices = NDArray[np.int_]


class SignedMap(NamedTuple):
    """Element i goes to ``sign[i]`` times element ``to[i]``."""

    to: _Indices
    sign: _Indices


class _Symmetry(NamedTuple):
    """A way of renaming inputs (x becomes ``inputs[x]``), with what it does to blocks of inputs."""

    inputs: _Indices
    blocks: _Indices
    flips: bool


def _candidates(inputs: Inputs, shares: Sequence[float]) -> list[_Symmetry]:
    """Return the renamings that a problem with these shares might allow."""
    blocks = np.arange(len(inputs.blocks))
    found = [_renaming(inputs, blocks, flips=True)]
    for share in sorted(set(shares)):
        equal = [g for g, other in enumerate(shares) if other == share]
        if len(equal) > 1:
            cycle = blocks.copy()
            for g, following in pairwise([*equal, equal[0]]):
                cycle[g] = following
            found.append(_renaming(inputs, cycle, flips=False))
    return found


def _other_orders(shares: Sequence[float]) -> list[tuple[int, ...]]:
    """Return every order of the groups that keeps their shares, those first that make the most groups alike.

    >>> _other_orders((0.4, 0.3, 0.3)), _other_orders((0.25,) * 4)[0]
    ([(0, 2, 1)], (1, 2, 3, 0))
    """
    first, *others = permutations(range(len(shares)))
    same = [order for order in others if all(shares[g] == share for g, share in zip(order, shares, strict=True))]
    return sorted(same, key=lambda order: len(set(_joined(first, order))))


def _joined(orbits: Sequence[int], order: Iterable[int]) -> list[int]:
    """Return the first group of each group's orbit, once those are one orbit that an order takes to each other."""
    joined = list(orbits)
    for g, to in enumerate(order):
        first, then = sorted((joined[g], joined[to]))
        joined = [first if one == then else one for one in joined]
    return joined


def _renaming(inputs: Inputs, blocks: _Indices, *, flips: bool) -> _Symmetry:
    to = np.arange(inputs.count)
    for block, target in zip(inputs.blocks, (inputs.blocks[b] for b in blocks), strict=True):
        to[block] = np.arange(target.start, target.stop)[:: -1 if flips else 1]
    return _Symmetry(to, blocks, flips)


def _action(columns: Matrix, symmetry: _Symmetry) -> SignedMap | None:
    """Return how a renaming permutes functionals (columns) up to sign, or None if it leads outside them.

    For column k: ``columns[renamed, k] == sign[k] * columns[:, to[k]]``.
    """
    to, sign = [], []
    for moved in columns[symmetry.inputs].T:
        for s in (1, -1):
            same = np.abs(columns - s * moved[:, None]).max(axis=0) <= 1e-9 * max(np.abs(columns).max(), 1e-300)
            if same.any():
                to.append(int(same.argmax()))
                sign.append(s)
                break
        else:
            return None
    return SignedMap(np.array(to), np.array(sign)) if len(set(to)) == len(to) else None


def _orbit_averages(count: int, relations: Sequence[SignedMap]) -> Matrix:
    """Return one row per orbit that averages its elements with their signs.

    An orbit in which an element is related to its own negative averages to zero by itself and gets no row.
    """
    root, sign = list(range(count)), [1] * count

    def find(i: int) -> tuple[int, int]:
        s = 1
        while root[i] != i:
            s *= sign[i]
            i = root[i]
        return i, s

    vanishing = []
    for relation in relations:
        for i, (j, between) in enumerate(zip(relation.to.tolist(), relation.sign.tolist(), strict=True)):
            (a, sa), (b, sb) = find(i), find(j)
            if a == b and between * sa * sb == -1:
                vanishing.append(a)
            elif a != b:
                root[b], sign[b] = a, between * sa * sb
    gone = {find(a)[0] for a in vanishing}
    members: dict[int, list[tuple[int, int]]] = {}
    for i in range(count):
        a, s = find(i)
        if a not in gone:
            members.setdefault(a, []).append((i, s))
    averages = np.zeros((len(members), count))
    for row, orbit in zip(averages, members.values(), strict=True):
        for i, s in orbit:
            row[i] = s / len(orbit)
    return averages


def images(column: Vector, score: Vector, moves: Sequence[tuple[_Symmetry, SignedMap]]) -> list[tuple[Vector, Vector]]:
    """Return a column of a channel with its score, and everything that the symmetries make of it."""
    found = {column.tobytes(): (column, score)}
    waiting = [(column, score)]
    while waiting:
        column, score = waiting.pop()
        for symmetry, (to, sign) in moves:
            moved_score = np.empty_like(score)
            moved_score[to] = sign * score
            moved = (column[symmetry.inputs], moved_score)
            if moved[0].tobytes() not in found:
                found[moved[0].tobytes()] = moved
                waiting.append(moved)
    return list(found.values())


# Sooner where something must be identified beside, whose weight decides more than that.
_CLOSE, _CLOSE_BESIDE = 5e-3, 2e-2
_PATIENCE = 20  # rounds without progress after which to stop
# What a unit beyond a cap costs beside a unit of the maximum.
_DEAR = 30.0
_TURNS = 30
_SWEEPS = 5
# In directions that the duals ignore the best score would be anywhere: none is worth more than this many times the
# scores at hand.
_FARTHEST = 10.0


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
class MinimaxProblem:
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


class _Move(NamedTuple):
    """A symmetry of the problem, and what it does to basis functionals and to objectives."""

    symmetry: _Symmetry
    basis: SignedMap
    objectives: _Indices


class _Tops(NamedTuple):
    """How worst variances (and slopes) bound second moments, what the maximum is over, and the rest of the cost.

    ``caps`` says for each of what the maximum is over what it may be at most; going beyond costs dear.  The last
    ``curves`` columns of the bound are of variables that are 0 or above.
    """

    bound: Matrix
    peaks: Matrix
    cost: Vector
    caps: Vector
    curves: int = 0


class Minimax(ColumnProblem):
    """A design problem with its symmetries folded in."""

    def __init__(self, problem: MinimaxProblem) -> None:
        self.problem = problem
        close = _CLOSE if len(problem.objectives) == problem.peaks else _CLOSE_BESIDE
        self.stop = Stop(close, most_columns=2000)
        self.points, self.point_block = problem.inputs.points()
        # The value at each point; of no account where people abstain.
        values = np.concatenate([np.tile(problem.inputs.levels, problem.inputs.groups), [0.0] * problem.inputs.abstain])
        self.point_value = self.points @ values
        self.moves = list[_Move]()
        for symmetry in _candidates(problem.inputs, problem.shares):
            self._fold_by(symmetry)
        groups = range(problem.inputs.groups)
        orbits = list(groups)
        for move in self.moves:
            orbits = _joined(orbits, move.symmetry.blocks[groups].tolist())
        # Cells of crossed attributes are alike though not all that have one share are.  Each order more than it takes
        # would make a table of more symbols.
        for order in _other_orders(problem.shares):
            joined = _joined(orbits, order)
            blocks = np.array([*order, *range(len(order), len(problem.inputs.blocks))])
            if joined != orbits and self._fold_by(_renaming(problem.inputs, blocks, flips=False)):
                orbits = joined
        self._fold()

    def _fold_by(self, symmetry: _Symmetry) -> bool:
        """Keep a renaming if the problem allows it, and tell whether it does."""
        objectives, basis = self._objective_map(symmetry), _action(self.problem.basis, symmetry)
        if basis is not None and objectives is not None:
            self.moves.append(_Move(symmetry, basis, objectives))
        return basis is not None and objectives is not None

    def _objective_map(self, symmetry: _Symmetry) -> _Indices | None:
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
        self.fold_inputs = _orbit_averages(problem.inputs.count, inputs)
        self.fold_unbiased = _orbit_averages(problem.inputs.count * q, unbiased)
        self.fold_second = _orbit_averages(n_objectives * n_points, second)
        self.average_weights = problem.average_weights()
        self.targets: Vector = self.fold_unbiased @ problem.basis.reshape(-1)
        shift = np.zeros_like(problem.basis) if problem.shift is None else problem.shift
        self.shift: Vector = self.fold_unbiased @ shift.reshape(-1)
        self.ones = len(self.fold_inputs)
        self.equations = self.ones + len(self.targets)
        self.rows = self.equations + len(self.fold_second)
        tops = self._tops(
            _orbit_averages(n_objectives * n_blocks, blocks),
            _orbit_averages(n_objectives * n_blocks, slopes),
            _orbit_averages(n_objectives, objectives),
        )
        self.caps = tops.caps[np.isfinite(tops.caps)]
        self.program = self._program(tops)

    def _program(self, tops: _Tops) -> LinearProgram:
        """Return the program: probabilities that sum to 1, scores that are unbiased, at the least worst variance."""
        limits = self.fold_second @ self._squares()
        equal = np.concatenate([np.ones(self.ones), self.targets])
        capped = np.isfinite(tops.caps)
        rows = Rows(
            lower=np.concatenate([equal, np.full(len(limits) + len(tops.peaks) + capped.sum(), -INFINITY)]),
            upper=np.concatenate([equal, limits, np.zeros(len(tops.peaks)), self.caps]),
        )
        # The free variables: a top for each block of inputs, slopes where means are given, and the maximum T.
        # The last is how far the caps are exceeded: with it there always is a solution.
        # Before it is the constant that scores may take from values.
        width = tops.bound.shape[1]
        above = np.zeros((self.equations, width + 3))
        above[self.ones :, width + 1] = self.shift
        bound = np.hstack([-tops.bound, np.zeros((len(limits), 3))])
        peaks = np.hstack([tops.peaks, np.tile([-1.0, 0.0, 0.0], (len(tops.peaks), 1))])
        caps = np.hstack([tops.peaks[capped], np.tile([0.0, 0.0, -1.0], (capped.sum(), 1))])
        free = np.vstack([above, bound, peaks, caps]).T
        least = np.full(len(free), -INFINITY)
        least[width - tops.curves : width] = 0.0
        least[-1] = 0.0
        if not self.shift.any():
            least[-2] = 0.0
        return LinearProgram(rows, Variables(free, np.concatenate([tops.cost, [1.0, 0.0, _DEAR]]), least))

    def _squares(self) -> Vector:
        """Return the squared target of each objective at each point: what a variance is less than a second moment."""
        peaks = self.problem.peaks
        targets = ((self.points @ self.problem.basis) @ self.problem.combinations[:peaks].T).T
        counted = np.array([o.reckoning is None for o in self.problem.objectives[:peaks]])
        squares: Vector = (counted[:, None] * targets**2).reshape(-1)
        return squares

    def _tops(self, fold_blocks: Matrix, fold_slopes: Matrix, fold_objectives: Matrix) -> _Tops:
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
        return _Tops(bound, np.array(totals), cost, np.array(caps), curves=len(fold_blocks))

    def coefficients(self, columns: Columns) -> Matrix:
        """Return what one unit of each column adds to each folded constraint."""
        patterns, scores = columns
        n = len(patterns)
        unbiased = (patterns[:, :, None] * scores[:, None, :]).reshape(n, -1)
        squares = (scores @ self.problem.combinations[: self.problem.peaks].T) ** 2
        second = (squares[:, :, None] * (patterns @ self.points.T)[:, None, :]).reshape(n, -1)
        return np.hstack([patterns @ self.fold_inputs.T, unbiased @ self.fold_unbiased.T, second @ self.fold_second.T])

    def add(self, columns: Columns) -> None:
        """Add columns to the program, at the cost of what does not count in the maximum."""
        squares = (columns.scores @ self.problem.combinations[self.problem.peaks :].T) ** 2
        costs = np.asarray((squares * (columns.patterns @ self.average_weights.T)).sum(axis=1))
        self.program.add(self.coefficients(columns), costs)

    def prices(self, optimum: Optimum) -> Prices:
        """Return the duals per input, basis functional and objective; and what the caps are worth."""
        inputs, unbiased, second = np.split(optimum.duals[: self.rows], [self.ones, self.equations])
        weight = (self.fold_second.T @ -second).reshape(self.problem.peaks, len(self.points))
        return Prices(
            optimum.value,
            self.fold_inputs.T @ inputs,
            (self.fold_unbiased.T @ unbiased).reshape(self.problem.basis.shape),
            np.vstack([np.maximum(weight, 0) @ self.points, self.average_weights]),
            np.asarray(optimum.duals[len(optimum.duals) - len(self.caps) :] @ self.caps),
        )

    def costs(self, prices: Prices, columns: Columns) -> Vector:
        """Return the reduced cost of each column."""
        return self.pricing.costs(prices, columns)

    def search(self, prices: Prices, used: Columns) -> Columns:
        """Return columns that cost little, looked for from those in use and from many other scores."""
        return self.pricing.search(prices, self.starts(used.scores))

    def stalled(self, values: list[float], bounds: list[float]) -> bool:
        """Return whether the gap to the bound has hardly shrunk for a while."""
        if len(values) <= _PATIENCE:
            return False
        shrunk = (values[-_PATIENCE] - bounds[-_PATIENCE]) - (values[-1] - bounds[-1])
        return shrunk < values[-1] * self.stop.close / 4

    def distinct(self, columns: Columns) -> Columns:
        """Return each pattern once: ways that run together late find it with nearly the same score."""
        return columns.some(np.sort(_first_of_each(columns.patterns)))

    def solve(self, first: Columns, starts: Callable[[Matrix], Matrix], hint: Prices | None = None) -> Mixture:
        """Return the best columns, from a feasible first set and a supply of scores to start pricing from.

        A hint, prices near the final ones, saves the rounds in which the duals wander.
        """
        self.pricing, self.starts = Pricing(self.problem.combinations, self.problem.epsilon, first), starts
        return self._polished(generate(self, Columns(first.patterns, first.scores @ self.pricing.seen), hint))

    def _polished(self, mixture: Mixture) -> Mixture:
        """Keep columns that carry something, and take the solver's 1e-9 in the equations down to rounding error.

        Weights are corrected by factors, so that small ones do not become negative.
        """
        columns, weights, variables, *_ = mixture
        equations = self.coefficients(columns).T[: self.equations]
        wanted = np.concatenate([np.ones(self.ones), self.targets - variables[-2] * self.shift])
        for least in (1e-6, 1e-8, 0.0):
            keep = weights > least
            polished = weights[keep]
            for _ in range(3):
                residual = wanted - equations[:, keep] @ polished
                change = np.linalg.lstsq(equations[:, keep] * polished, residual, rcond=1e-12)[0]
                polished = polished * (1 + change)
            off = np.abs(wanted - equations[:, keep] @ polished).max()
            if off <= 1e-12 * np.abs(wanted).max() and polished.min() > 0:
                return mixture._replace(columns=columns.some(keep), weights=polished)
        return mixture


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

    def gains(self, prices: Prices, scores: Matrix) -> Matrix:
        """Return what each input would gain or lose from a column with such a score."""
        return -prices.ones - scores @ prices.means.T + ((scores @ self.combinations.T) ** 2) @ prices.squares

    def costs(self, prices: Prices, columns: Columns) -> Vector:
        """Return the reduced cost of each column: below zero it helps."""
        costs: Vector = (self.gains(prices, columns.scores) * columns.patterns).sum(axis=1)
        return costs

    def search(self, prices: Prices, starts: Matrix) -> Columns:
        """Return the columns that alternating from these scores leads to."""
        scores = starts @ self.seen
        patterns = self._best_patterns(prices, scores)
        found = []
        for _ in range(_TURNS):
            # Many ways soon run together, and each needs to be followed only once.
            first = _first_of_each(patterns)
            patterns, scores = patterns[first], scores[first]
            scores = self._best_scores(prices, patterns, scores)
            better = self._best_patterns(prices, scores)
            going = (better != patterns).any(axis=1)
            found.append(Columns(patterns[~going], scores[~going]))
            patterns, scores = better[going], scores[going]
            if not len(scores):
                break
        return Columns.joined(*found, Columns(patterns, scores))

    def _best_patterns(self, prices: Prices, scores: Matrix) -> Matrix:
        return np.where(self.gains(prices, scores) < 0, self.high, 1.0)

    def _best_scores(self, prices: Prices, patterns: Matrix, scores: Matrix) -> Matrix:
        """Return scores that minimise the costs of the patterns, or lower them where that leads out of reach."""
        identity = np.eye(len(self.seen))
        curve: NDArray[np.float64] = ((patterns @ prices.squares.T) @ self.squares).reshape(-1, *identity.shape)
        curve = curve + max(float(np.abs(curve).max()), 1e-300) * (identity - self.seen + 1e-9 * identity)
        pull: Matrix = 0.5 * (patterns @ prices.means) @ self.seen
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


def _first_of_each(patterns: Matrix) -> _Indices:
    """Return where each pattern is first."""
    return np.unique(np.packbits(patterns > 1, axis=1), axis=0, return_index=True)[1]


def _plain(to: _Indices) -> SignedMap:
    return SignedMap(to, np.ones(len(to), dtype=np.int_))


def _pairs(outer: _Indices, inner: _Indices, inner_count: int) -> _Indices:
    """Return the map of pairs (i, j), numbered i * inner_count + j, that maps each part on its own."""
    pairs: _Indices = (outer[:, None] * inner_count + inner[None, :]).reshape(-1)
    return pairs


def _renamed_points(problem: Minimax, symmetry: _Symmetry) -> _Indices:
    """Return where a renaming of inputs takes each point."""
    moved = np.zeros_like(problem.points)
    moved[:, symmetry.inputs] = problem.points
    index = {tuple(point): i for i, point in enumerate(problem.points.tolist())}
    return np.array([index[tuple(point)] for point in moved.tolist()])
