"""Seven and more groups, for clients whose split is known exactly: signed subsets, within a cap on symbols.

Who abstains, where people may, answers as somebody with a random group and a random value does: then every group's sum
is told as before.  A small part of the answers is about whether one abstains, which tells how many answered.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.channel import ROW_SUM, Channel
from fairgauge.designs.classical_designs import Signs, fewer_sign_rows, largest_ratio, sign_rows, simple_variances
from fairgauge.designs.column_generation import Columns
from fairgauge.designs.exact_table import exact_channel, exponential
from fairgauge.designs.level_count import even_levels
from fairgauge.designs.subsets import Peaks, SubsetProblem
from fairgauge.errors import Impossible
from fairgauge.targets.assumed_values import USUAL_SPREAD
from fairgauge.targets.channel_inputs import Inputs, Matrix, Vector
from fairgauge.targets.comparisons import Contrast
from fairgauge.targets.scores import Scores
from fairgauge.targets.target import Target

# How many levels up to an epsilon; where groups differ the program is larger, and has fewer.
_LEVELS, _MORE = {1.35: 3, 3.0: 5}, 9
_FEWER, _FEWER_MORE = {2.5: 3}, 5
_LARGE = 12
# Groups that differ have a table made for their own shares up to so many.
_TAILORED = 24
_SAFELY = 0.999
_NEARLY = 0.998
_TRIES = 300
_ROOMY = 1.6
# The part of the answers that is about abstaining: how many answered matters little for gaps, more for means.
_ASKED = {"gap": 0.03, "means": 0.1}
_STRETCHES = (0.85, 0.93, 1.0, 1.08, 1.18)

_Renaming = Callable[[Matrix], list[Matrix]]


def signed_subsets(scores: Scores, epsilon: Decimal) -> Channel:
    """Make the best channel of signed subsets within ``scores.symbols``, for groups of known shares."""
    if scores.target.abstain:
        return _abstaining(scores, epsilon)
    # What is expected of the values changes nothing for clients whose split is known.
    return _signed_subsets(replace(scores.assuming(expect=None, spread=USUAL_SPREAD), design="uncentred"), epsilon)


def _abstaining(scores: Scores, epsilon: Decimal) -> Channel:
    """Make signed subsets for people who may abstain."""
    plain = signed_subsets(replace(scores.asking(abstain=False), symbols=scores.symbols - 2), epsilon)
    rows: Matrix = np.array(plain.table, dtype=np.float64) / ROW_SUM
    # The levels are even, so that values at random average to nothing.
    rows = np.vstack([rows, rows.mean(axis=0)])
    high, part = exponential(epsilon), _ASKED[scores.target.kind]
    asked = np.tile([1.0, high], (len(rows), 1))
    asked[-1] = asked[-1, ::-1]
    inputs = Inputs.of(plain)
    law = np.hstack([(1 - part) * rows, part * asked / (1 + high)])
    return exact_channel(law, replace(inputs, abstain=True), epsilon)


@lru_cache(maxsize=32)
def _signed_subsets(scores: Scores, epsilon: Decimal) -> Channel:
    found = []
    if _alike(scores.target) or scores.target.groups <= _TAILORED:
        found += _subset_channels(scores, epsilon)
    if not _alike(scores.target) and (scores.target.kind == "gap" or not found):
        # A table for groups that are all alike serves groups that differ as it serves those, and is soon found.
        same = replace(scores, target=_of_equals(scores.target))
        channels = _subset_channels(same, epsilon)
        found += [min(channels, key=lambda channel: _first_variance(same, channel))] if channels else []
        found += _blocks(scores, epsilon)
    if not found:
        raise Impossible(f"no subsets of {scores.target.groups} groups fit in {scores.symbols} symbols")
    if len(found) == 1:
        return found[0]
    if _alike(scores.target):
        return min(found, key=lambda channel: _first_variance(scores, channel))
    simple = simple_variances(scores, epsilon)
    return min(found, key=lambda channel: largest_ratio(scores, channel, simple))


def _alike(target: Target) -> bool:
    """Return whether all groups are each other's images."""
    return len(set(target.shares)) == 1 and not target.comparisons


def _of_equals(target: Target) -> Target:
    """Return the target of as many groups that are all alike."""
    return replace(target, shares=(1 / target.groups,) * target.groups, comparisons=())


def _subset_channels(scores: Scores, epsilon: Decimal) -> list[Channel]:
    """Return a channel for each way to make symbols of columns."""
    problem = _problem(scores.target, epsilon)
    columns, weights = _solved(scores.target, epsilon)
    laws = [_within(problem, columns, weights, symmetric, scores.symbols) for symmetric in _ways(problem)]
    found = [exact_channel(law, problem.inputs, epsilon) for law in laws if law is not None]
    return found + (_blocks(scores, epsilon) if problem.alike else [])


def _blocks(scores: Scores, epsilon: Decimal) -> list[Channel]:
    r"""Return signed subsets of two levels in blocks of k groups, for the best k that fits in the symbols.

    .. math:: K \cdot Var = \frac{4 d^3 (1 + k h / d)^2}{k (2 h)^2}, \quad h = (e^\epsilon - 1)/2

    It takes few symbols, however many groups there are.
    """
    d, half = scores.target.groups, (exponential(epsilon) - 1) / 2
    fitting = [k for k in range(1, d + 1) if d // math.gcd(k, d) * len(sign_rows(k)) <= scores.symbols]
    if not fitting:
        return []
    k = min(fitting, key=lambda k: (1 + k * half / d) ** 2 / k)
    pattern = np.ones((d, 2))
    pattern[:k, 1] = 1 + 2 * half
    images = (
        np.array(_Symmetric(_thin, sign_rows).images(pattern))[:, _dealt(scores.target.shares, k)].reshape(-1, 2 * d).T
    )
    law = images / images.sum(axis=1, keepdims=True)
    return [exact_channel(law, Inputs(d, even_levels(2)), epsilon)]


def _dealt(shares: tuple[float, ...], k: int) -> list[int]:
    """Return a place for each group such that blocks of k places are about equally large, the largest groups first.

    >>> _dealt((0.5, 0.2, 0.2, 0.1), 2)
    [0, 2, 3, 1]
    """
    d = len(shares)
    blocks: list[list[int]] = [[] for _ in range(-(-d // k))]
    room = [min(k, d - k * number) for number in range(len(blocks))]
    for group in sorted(range(d), key=lambda g: -shares[g]):
        open_ones = [number for number, block in enumerate(blocks) if len(block) < room[number]]
        blocks[min(open_ones, key=lambda n: sum(shares[g] for g in blocks[n]))].append(group)
    place = [0] * d
    for number, group in enumerate(group for block in blocks for group in block):
        place[group] = number
    return place


def _ways(problem: SubsetProblem) -> list["_Symmetric"]:
    """Return the ways to make symbols of columns: fewer symbols leave room for more columns."""
    if problem.alike:
        return [_Symmetric(renamed, sign_rows) for renamed in (_fuller, _balanced, _thin)]
    return [_Symmetric(_as_they_are, signs) for signs in (sign_rows, fewer_sign_rows)]


def _first_variance(scores: Scores, channel: Channel) -> float:
    """Return the variance of the first group's mean, which is every group's where all are alike."""
    decoder = scores.decoder(channel)
    score = decoder.score(scores.target.mean_functional(decoder.inputs, 0, 0.0))
    return math.inf if score is None else decoder.variance(score)


def value_without_cap(target: Target, epsilon: Decimal) -> float:
    """Return the largest ratio of a group's variance to randomized response's that all columns together reach."""
    if target.groups > _TAILORED:
        target = _of_equals(target)
    problem = _problem(target, epsilon)
    columns, weights = _solved(target, epsilon)
    return problem.reached(columns, weights)


def largest_mean_ratio(scores: Scores, channel: Channel, units: Vector) -> float:
    """Return the largest ratio of a group's variance to a unit, by the scores of a channel."""
    decoder = scores.decoder(channel)
    means = [decoder.score(scores.target.mean_functional(decoder.inputs, g, 0.0)) for g in range(scores.target.groups)]
    variances = [math.inf if score is None else decoder.variance(score) for score in means]
    return float((np.array(variances) / units).max())


def _within(
    problem: SubsetProblem, columns: Columns, weights: Vector, symmetric: "_Symmetric", most: int
) -> Matrix | None:
    """Return the law of symbols of as many of the columns as there is room for; None if there is none for any."""
    carried = weights * columns.patterns.mean(axis=(1, 2))
    images = [symmetric.images(pattern) for pattern in columns.patterns]
    if not problem.alike and _count(images) <= most:
        return _law(images, weights)
    order = np.argsort(-carried / np.array([len(image) for image in images]) ** 0.5, kind="stable")
    # Columns that carry next to nothing take room all the same.
    count = int((np.cumsum(carried[order]) < _NEARLY * carried.sum()).sum()) + 1
    if not problem.alike:
        # Solving again leaves some out, so that somewhat more than there is room for may fit.
        sizes = np.cumsum([len(images[place]) for place in order])
        count = min(count, int((sizes < _ROOMY * most).sum()) + 1)
    while True:
        kept = columns.some(np.sort(order[:count]))
        stretched = Columns.joined(*(Columns(kept.patterns, stretch * kept.scores) for stretch in _STRETCHES))
        some, found = problem.best_of(stretched)
        images = [symmetric.images(pattern) for pattern in some.patterns]
        if _count(images) <= most:
            return _law(images, found)
        if count == 0:
            return None
        count = min(count - 1, int(0.85 * count))


def _law(images: list[list[Matrix]], weights: Vector) -> Matrix:
    """Return the law of symbols: each column's weight shared out among its images."""
    parts: dict[bytes, Vector] = {}
    for image, weight in zip(images, weights, strict=True):
        for pattern in image:
            key = pattern.tobytes()
            parts[key] = parts.get(key, 0.0) + weight / len(image) * pattern.reshape(-1)
    return np.array(list(parts.values())).T


@lru_cache(maxsize=32)
def _solved_problem(key: tuple[tuple[float, ...], str, tuple[Contrast, ...], Decimal]) -> tuple[Columns, Vector]:
    shares, kind, comparisons, epsilon = key
    target = Target(shares, kind="gap" if kind == "gap" else "means", comparisons=comparisons)
    return _problem(target, epsilon).solve()


def _solved(target: Target, epsilon: Decimal) -> tuple[Columns, Vector]:
    return _solved_problem((target.shares, target.kind, target.comparisons, epsilon))


def _problem(target: Target, epsilon: Decimal) -> SubsetProblem:
    means = Scores(Target(target.shares, kind="means"))
    units = simple_variances(means, epsilon)
    if len(set(target.shares)) == 1:
        units = np.full(target.groups, units[0])
    return SubsetProblem(
        levels=even_levels(_levels(target, float(epsilon))),
        shares=target.share_vector / target.share_vector.sum(),
        units=units,
        peaks=_peaks(target, units),
        high=exponential(epsilon),
    )


def _levels(target: Target, epsilon: float) -> int:
    few = target.groups > _LARGE and len(set(target.shares)) > 1
    counts, more = (_FEWER, _FEWER_MORE) if few else (_LEVELS, _MORE)
    return next((count for most, count in counts.items() if epsilon <= most), more)


def _peaks(target: Target, units: Vector) -> Peaks:
    """Return what the maximum is over, in units of randomized response's variances."""
    d = target.groups
    if target.kind == "means":
        return Peaks(np.diag(units / units.max()), np.full(d, np.inf))
    if not target.comparisons:
        # No pair's ratio is above the larger one of its groups.
        return Peaks(np.eye(d), np.full(d, np.inf))
    rows = np.zeros((len(target.comparisons), d))
    for number, contrast in enumerate(target.comparisons):
        for side in (contrast.of, contrast.against):
            total = sum(target.shares[g] for g in side)
            for g in side:
                rows[number, g] = units[g] * (target.shares[g] / total) ** 2
        rows[number] *= contrast.weight / rows[number].sum()
    return Peaks(rows, _SAFELY * rows.sum(axis=1))


def _count(images: list[list[Matrix]]) -> int:
    return len({pattern.tobytes() for image in images for pattern in image})


class _Symmetric(NamedTuple):
    """How a column becomes symbols: its groups are renamed, and some of them turned round by rows of signs."""

    renamed: _Renaming
    signs: Callable[[int], Signs]

    def images(self, pattern: Matrix) -> list[Matrix]:
        """Return the patterns that a column stands for."""
        found: dict[bytes, Matrix] = {}
        for one in self.renamed(pattern):
            signed = np.flatnonzero((one != one[:, ::-1]).any(axis=1))
            for signs in self.signs(len(signed)):
                image = one.copy()
                turned = signed[signs < 0]
                image[turned] = image[turned][:, ::-1]
                found.setdefault(image.tobytes(), image)
        return list(found.values())


def _as_they_are(pattern: Matrix) -> list[Matrix]:
    return [pattern]


def _thin(pattern: Matrix) -> list[Matrix]:
    """Return the pattern with its groups moved round, so that every group has each part equally often."""
    d = len(pattern)
    _, kind, counts = np.unique(pattern, axis=0, return_inverse=True, return_counts=True)
    if len(counts) == 1:
        return [pattern]
    ordered = pattern[np.argsort(kind.reshape(-1), kind="stable")]
    # Blocks of one kind that follow each other are enough where there are two kinds.
    step = int(counts.min()) if len(counts) == 2 else 1
    return [np.roll(ordered, step * turn, axis=0) for turn in range(d // math.gcd(step, d))]


def _balanced(pattern: Matrix) -> list[Matrix]:
    """Return the pattern with its groups moved round, so that every two groups are together about equally often."""
    return _moved(pattern, 1)


def _fuller(pattern: Matrix) -> list[Matrix]:
    """Return more of them, so that it is more equally often."""
    return _moved(pattern, 4)


def _moved(pattern: Matrix, orders: int) -> list[Matrix]:
    d = len(pattern)
    _, kind, counts = np.unique(pattern, axis=0, return_inverse=True, return_counts=True)
    if len(counts) == 1:
        return [pattern]
    kinds = np.sort(kind.reshape(-1))
    ordered = pattern[np.argsort(kind.reshape(-1), kind="stable")]
    rng = np.random.default_rng(d)
    together, chosen = np.zeros((d - 1, len(counts) ** 2)), []
    for _ in range(orders):
        tried = [rng.permutation(d) for _ in range(_TRIES // orders)]
        sums = [together + _apart(kinds[order], len(counts)) for order in tried]
        least = int(np.argmin([np.var(found, axis=0).sum() for found in sums]))
        together = sums[least]
        chosen.append(ordered[tried[least]])
    return [np.roll(order, turn, axis=0) for order in chosen for turn in range(d)]


def _apart(kinds: NDArray[np.int_], count: int) -> Matrix:
    """Return how often two groups that are so far apart are of each two kinds."""
    d = len(kinds)
    turns = np.arange(1, d)[:, None]
    both = kinds * count + kinds[(np.arange(d) - turns) % d] + count**2 * (turns - 1)
    return np.bincount(both.ravel(), minlength=(d - 1) * count**2).reshape(d - 1, count**2).astype(np.float64)
