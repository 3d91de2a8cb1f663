"""Rows become cells: from text, and from whatever a data frame holds."""

from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from fairgauge.errors import InvalidInput
from fairgauge.simulation.cells import Cell, read_cell


@pytest.mark.parametrize("missing", ["", "  ", None, float("nan"), pd.NA, pd.NaT])
def test_what_is_missing_is_nothing_however_it_is_written(missing: Any):
    assert read_cell({"group": missing, "value": missing, "count": "3"}) == Cell(None, None, 3)


def test_text_and_numbers_give_the_same_cell():
    typed = read_cell({"group": " female ", "value": "0.10", "count": " 16 "})
    assert typed == Cell("female", Decimal("0.10"), 16)
    assert read_cell({"group": "female", "value": Decimal("0.1"), "count": 16.0, "metric": "recall"}) == Cell(
        "female", Decimal("0.1"), 16, "recall"
    )


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"value": "much"}, "value=much: must be a number, or empty"),
        ({"value": "inf"}, "value=Infinity: must be a finite number, or empty"),
        ({"count": "1.5"}, "count=1.5: must be an integer from 0 up"),
        ({"count": 1.5}, "count=1.5: must be an integer from 0 up"),
        ({"count": -1}, "count=-1: must be an integer from 0 up"),
        ({"count": float("inf")}, "count=inf: must be an integer from 0 up"),
        ({None: 3}, "column=None: must have a name"),
    ],
)
def test_a_row_that_is_none_is_refused(changed: dict[str, Any], line: str):
    with pytest.raises(InvalidInput) as refused:
        read_cell({"group": "female", "value": "0.5", "count": "1", **changed})
    assert line in str(refused.value)


def test_a_column_that_is_missing_is_named():
    with pytest.raises(InvalidInput, match="column=count: must be"):
        read_cell({"group": "female", "value": "0.5"})
