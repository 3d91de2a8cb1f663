"""Rows of signs."""

import numpy as np
import pytest

from fairgauge.designs.signs import fewer_sign_rows, hadamard_of, sign_rows


@pytest.mark.parametrize("order", [1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 60, 64])
def test_columns_are_orthogonal(order: int):
    matrix = hadamard_of(order)
    assert matrix is not None
    assert set(np.unique(matrix)) <= {-1, 1}
    assert (matrix.T @ matrix == order * np.eye(order)).all()


@pytest.mark.parametrize("order", [3, 6, 10, 52])
def test_some_orders_have_none_here(order: int):
    assert hadamard_of(order) is None


@pytest.mark.parametrize("columns", [0, 1, 2, 3, 7, 20, 50, 64])
def test_every_row_comes_with_its_opposite(columns: int):
    rows = sign_rows(columns)
    assert rows.shape[1] == columns
    assert {tuple(row) for row in rows.tolist()} == {tuple(row) for row in (-rows).tolist()}
    assert (rows.T @ rows == len(rows) * np.eye(columns)).all()


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 7, 8, 12, 19, 20])
def test_fewer_rows_have_orthogonal_columns_that_sum_to_nothing(columns: int):
    rows = fewer_sign_rows(columns)
    assert rows.shape[1] == columns
    assert (np.abs(rows) == 1).all()
    assert (rows.sum(axis=0) == 0).all()
    assert (rows.T @ rows == len(rows) * np.eye(columns)).all()
    assert len(rows) <= len(sign_rows(columns))
