"""People's own tables: their own names of columns, a row for each person or counted."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from fairgauge import Population
from fairgauge.errors import InvalidInput
from fairgauge.simulation import Cell
from fairgauge.simulation.columns import Columns


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_a_row_for_each_person(library: Any):
    frame = library({"sex": ["f", "m", "f"], "recall": [0.5, 1.0, 0.5], "name": ["Ada", "Bob", "Cy"]})
    found = Population.from_frame(frame, group="sex", value="recall")
    assert found.cells == (Cell("f", Decimal("0.5"), 2), Cell("m", Decimal(1), 1))


def test_counted_rows():
    frame = pd.DataFrame({"sex": ["f", "m", "f"], "recall": [0.5, 1.0, 0.5], "n": [3, 4, 5]})
    found = Population.from_frame(frame, group="sex", value="recall", count="n")
    assert found.cells == (Cell("f", Decimal("0.5"), 8), Cell("m", Decimal(1), 4))
    usual = frame.rename(columns={"n": "count"})
    assert Population.from_frame(usual, group="sex", value="recall") == found


def test_a_file_has_columns_of_its_own_too(tmp_path: Path):
    (tmp_path / "p.csv").write_text("who,sex,recall\nAda,f,0.5\nBob,m,1\n")
    found = Population.from_csv(tmp_path / "p.csv", Columns("sex", "recall"))
    assert found.cells == (Cell("f", Decimal("0.5"), 1), Cell("m", Decimal(1), 1))


def test_a_missing_column_is_named_with_those_that_are_there():
    frame = pd.DataFrame({"sex": ["f"], "recall": [0.5]})
    with pytest.raises(InvalidInput, match="row 0: column=gender: must be there; the rows have sex, recall"):
        Population.from_frame(frame, group="gender", value="recall")


def test_a_population_prints_in_one_line():
    frame = pd.DataFrame({"sex": ["a", "b", "b"], "recall": [0.5, 1, 1]})
    assert str(Population.from_frame(frame, group="sex", value="recall")) == "Population of 3 clients in 2 cells"
