"""Populations from files and frames, row by row, rescaling, and what is refused."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fairgauge.errors import InvalidInput
from fairgauge.simulation import Cell, Population
from fairgauge.simulation.population import read_cell

CELLS = (
    Cell("female", Decimal("0.25"), 30),
    Cell("male", Decimal("0.8"), 50),
    Cell("female", None, 15),
    Cell(None, None, 5),
)
CSV = "group,value,count\nfemale,0.25,30\nmale,0.8,50\nfemale,,15\n,,5\n"


def from_csv(tmp_path: Path, text: str | bytes) -> Population:
    path = tmp_path / "population.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Population.from_csv(path)


class TestReading:
    def test_csv(self, tmp_path: Path) -> None:
        assert from_csv(tmp_path, CSV) == Population(CELLS)

    def test_csv_as_spreadsheets_write_it(self, tmp_path: Path) -> None:
        untidy = "\ufeffcount,group,value\r\n30, female ,0.25\r\n50,male,0.8\r\n15,female,\r\n5,,\r\n"
        assert from_csv(tmp_path, untidy) == Population(CELLS)

    def test_csv_with_metrics(self, tmp_path: Path) -> None:
        population = from_csv(tmp_path, "metric,group,value,count\nf1,male,1,7\nrecall,male,0,7\n")
        assert population.cells_of("f1") == (Cell("male", Decimal(1), 7, "f1"),)
        assert population.clients == 7

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("group,value\nfemale,1\n", "row 2: column=count: must be there"),
            ("group,value,count\nfemale,1,5,8\n", "row 2: column=None: must have a name"),
            ("count,group,value\n5,female\n", "row 2: value=(missing): must be a number, or empty"),
            ("group,value,count\nfemale,1,5\nmale,x,5\n", "row 3: value=x: must be a number, or empty"),
            ("group,value,count\nfemale,nan,5\n", "row 2: value=NaN: must be a finite number, or empty"),
            ("group,value,count\nfemale,1,-5\n", "row 2: count=-5: must be an integer from 0 up"),
            ("group,value,count\nfemale,1,5.5\n", "row 2: count=5.5: must be an integer from 0 up"),
            ("group,value,count\nfemale,1,\n", "row 2: count=None: must be an integer from 0 up"),
            ("group,value,count\nfemale,1,0\n", "count=0: must be above 0 for some cell"),
            ("group,value,count\n", "count=0: must be above 0 for some cell"),
            ("", "count=0: must be above 0 for some cell"),
            ('group,value,count\n"female,1,5\n', "population="),
            (b"group,value,count\n\xff,1,5\n", "population="),
            (
                "group,value,count,metric\na,1,5,f1\nb,1,5,\n",
                "metric=nothing: must be given in every row, or in none",
            ),
            (
                "group,value,count,metric\na,1,5,f1\na,1,6,f2\n",
                "count of f2=6: must total 5 clients like the first",
            ),
        ],
    )
    def test_bad_csv_is_refused_with_the_row_at_fault(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            from_csv(tmp_path, text)
        assert str(caught.value).startswith(message)


class TestRescaling:
    @pytest.mark.parametrize("clients", [1, 2, 3, 99, 100, 101, 10**9, 10**15 + 1])
    def test_the_total_is_exact_and_no_cell_is_off_by_one(self, clients: int) -> None:
        rescaled = Population(CELLS).rescaled(clients)
        assert rescaled.clients == clients
        for before, after in zip(CELLS, rescaled.cells, strict=True):
            assert (before.group, before.value) == (after.group, after.value)
            assert abs(after.count - Fraction(before.count * clients, 100)) < 1

    def test_largest_remainders_go_up(self) -> None:
        cells = tuple(Cell("female", Decimal(i), count) for i, count in enumerate([1, 4, 5]))
        assert [cell.count for cell in Population(cells).rescaled(4).cells] == [0, 2, 2]

    def test_every_metric_is_rescaled_by_itself(self) -> None:
        cells = tuple(Cell(group, Decimal(1), n, m) for m, n in (("a", 1), ("b", 1)) for group in ("f", "m", "x"))
        rescaled = Population(cells).rescaled(100)
        for metric in ("a", "b"):
            assert sum(cell.count for cell in rescaled.cells_of(metric)) == 100

    @pytest.mark.parametrize("clients", [0, -1, 1.5, True])
    def test_a_population_is_not_empty(self, clients: Any) -> None:
        with pytest.raises(InvalidInput, match="clients="):
            Population(CELLS).rescaled(clients)


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
