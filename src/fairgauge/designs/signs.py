"""Rows of signs that are orthogonal: Hadamard matrices of many orders, not only powers of two.

A symbol that asks several groups at once asks each for one side of its values.  Taking the sides from the rows of a
Hadamard matrix, and from the same rows turned round, makes the groups' scores independent of each other.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Signs = NDArray[np.int_]


@lru_cache(maxsize=64)
def sign_rows(columns: int) -> Signs:
    """Return rows of signs with so many columns, each row with its opposite, whose columns are orthogonal.

    >>> sign_rows(3).shape, (sign_rows(3).T @ sign_rows(3)).tolist()
    ((8, 3), [[8, 0, 0], [0, 8, 0], [0, 0, 8]])
    """
    if columns == 0:
        return np.ones((1, 0), dtype=np.int_)
    order = next(order for order in range(columns, 2 * columns + 1) if hadamard_of(order) is not None)
    matrix = hadamard_of(order)
    if matrix is None:  # pragma: no cover - there is a power of two in the range
        raise AssertionError
    rows = matrix[:, :columns]
    return np.vstack([rows, -rows])


@lru_cache(maxsize=64)
def fewer_sign_rows(columns: int) -> Signs:
    """Return about half as many rows, whose columns are orthogonal and sum to nothing.

    Scores of single groups stay independent.  Three columns may depend on each other, so that the values of a third
    group can make the scores of two others move together, which a difference of the two may notice.

    >>> fewer_sign_rows(3).shape, fewer_sign_rows(3).sum(axis=0).tolist()
    ((4, 3), [0, 0, 0])
    """
    if columns == 0:
        return np.ones((1, 0), dtype=np.int_)
    order = next(order for order in range(columns + 1, 2 * columns + 3) if hadamard_of(order) is not None)
    matrix = hadamard_of(order)
    if matrix is None:  # pragma: no cover - there is a power of two in the range
        raise AssertionError
    # Turned so that the first column is all ones; every other one is orthogonal to it.
    turned: Signs = (matrix * matrix[:, :1])[:, 1 : columns + 1]
    return turned


@lru_cache(maxsize=128)
def hadamard_of(order: int) -> Signs | None:
    """Return a Hadamard matrix of an order, or None if neither Paley nor Sylvester has one."""
    if order in (1, 2):
        return np.array([[1]]) if order == 1 else np.array([[1, 1], [1, -1]])
    if order % 4:
        return None
    if _prime(order - 1):
        return _first_paley(order - 1)
    if _prime(order // 2 - 1) and (order // 2 - 1) % 4 == 1:
        return _second_paley(order // 2 - 1)
    half = hadamard_of(order // 2)
    return None if half is None else np.kron(np.array([[1, 1], [1, -1]]), half)


def _prime(number: int) -> bool:
    return number > 2 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def _characters(prime: int) -> Signs:
    """Return whether i - j is a square modulo a prime: 1 if it is, -1 if not, 0 on the diagonal."""
    squares = {i * i % prime for i in range(1, prime)}
    of = np.array([0, *(1 if i in squares else -1 for i in range(1, prime))])
    places = np.arange(prime)
    found: Signs = of[(places[:, None] - places) % prime]
    return found


def _first_paley(prime: int) -> Signs:
    skew = np.zeros((prime + 1, prime + 1), dtype=np.int_)
    skew[0, 1:], skew[1:, 0] = 1, -1
    skew[1:, 1:] = _characters(prime)
    return skew + np.eye(prime + 1, dtype=np.int_)


def _second_paley(prime: int) -> Signs:
    even = np.zeros((prime + 1, prime + 1), dtype=np.int_)
    even[0, 1:], even[1:, 0] = 1, 1
    even[1:, 1:] = _characters(prime)
    found: Signs = np.kron(even, np.array([[1, 1], [1, -1]])) + np.kron(
        np.eye(prime + 1, dtype=np.int_), np.array([[1, -1], [-1, -1]])
    )
    return found
