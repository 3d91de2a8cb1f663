"""Symmetries of a design problem: renaming equal groups, or turning all values round, changes nothing.

The best channel may then be taken symmetric, and constraints that a symmetry maps onto each other become one.
That shrinks the linear program by up to twice the number of groups.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairgauge.targets.inputs import Inputs, Matrix, Vector

Indices = NDArray[np.int_]


class SignedMap(NamedTuple):
    """Element i goes to ``sign[i]`` times element ``to[i]``."""

    to: Indices
    sign: Indices


class Symmetry(NamedTuple):
    """A way of renaming inputs (x becomes ``inputs[x]``), with what it does to blocks of inputs."""

    inputs: Indices
    blocks: Indices
    flips: bool


def candidates(inputs: Inputs, shares: Sequence[float]) -> list[Symmetry]:
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


def _renaming(inputs: Inputs, blocks: Indices, *, flips: bool) -> Symmetry:
    to = np.arange(inputs.count)
    for block, target in zip(inputs.blocks, (inputs.blocks[b] for b in blocks), strict=True):
        to[block] = np.arange(target.start, target.stop)[:: -1 if flips else 1]
    return Symmetry(to, blocks, flips)


def action(columns: Matrix, symmetry: Symmetry) -> SignedMap | None:
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


def orbit_averages(count: int, relations: Sequence[SignedMap]) -> Matrix:
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


def images(column: Vector, score: Vector, moves: Sequence[tuple[Symmetry, SignedMap]]) -> list[tuple[Vector, Vector]]:
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
