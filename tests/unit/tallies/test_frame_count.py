"""Counting the answers in data frames."""

from collections.abc import Callable
from typing import Any

import dask.dataframe as dd
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairgauge.errors import InvalidInput
from fairgauge.tallies import from_frame
from tests.answers import STUDY, Answers

ANSWERS = Answers.drawn(2_000, twice=300)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Dask calls pandas in ways about to end

Make = Callable[[dict[str, list[Any]]], Any]
MAKERS: dict[str, Make] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "arrow": pa.table,
    "dask": lambda columns: dd.from_pandas(pd.DataFrame(columns), npartitions=3),
    "duckdb": lambda columns: duckdb.connect().from_arrow(pa.table(columns)),
}
FRAMES = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def columns(answers: Answers = ANSWERS, *, kind: type = int) -> dict[str, list[Any]]:
    return {
        "study": [STUDY.digest] * len(answers.ids),
        "id": [name.hex() for name in answers.ids],
        "symbol": [None if symbol is None else kind(symbol) for symbol in answers.symbols],
    }


@FRAMES
@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("once", [False, True])
def test_every_frame_gives_the_same_tally(make: Make, kind: type, once: bool):
    assert from_frame(STUDY, make(columns(kind=kind)), deduplicate=once) == ANSWERS.tally(once=once)


@FRAMES
@pytest.mark.parametrize("name", ["study", "id"])
def test_columns_that_are_not_needed_may_be_missing(make: Make, name: str):
    some = {key: entries for key, entries in columns().items() if key != name}
    assert from_frame(STUDY, make(some)) == ANSWERS.tally(once=False)


@FRAMES
def test_faults_are_counted_with_an_example(make: Make):
    wrong = columns(Answers(ANSWERS.ids[:6], ["1", "14", "x", None, "2", "3"]), kind=str)
    wrong["study"][4] = "0" * 64
    with pytest.raises(InvalidInput) as refused:
        from_frame(STUDY, make(wrong))
    assert "wrong among 6 answers: 1 to another study or to none, 3 with no such symbol" in str(refused.value)
    assert refused.value.field == "symbol"
    assert refused.value.value in ("14", "x", "(none)")


@FRAMES
def test_to_count_once_every_answer_needs_an_id(make: Make):
    nameless = columns(Answers(ANSWERS.ids[:4], [1, 2, 3, 3]))
    nameless["id"][2] = None
    assert from_frame(STUDY, make(nameless)).contributors == 4
    with pytest.raises(InvalidInput, match="wrong among 4 answers: 1 without an id"):
        from_frame(STUDY, make(nameless), deduplicate=True)


@FRAMES
@pytest.mark.parametrize(
    ("symbols", "fault"), [([99, 3], "1 with no such symbol"), ([4, 3], "1 of an id with several")]
)
def test_an_id_with_a_faulty_and_a_good_answer_has_the_fault_and_no_contradiction(
    make: Make, symbols: list[int], fault: str
):
    twice = columns(Answers([ANSWERS.ids[0], ANSWERS.ids[0]], symbols))
    with pytest.raises(InvalidInput) as refused:
        from_frame(STUDY, make(twice), deduplicate=True)
    assert f"wrong among 1 answers: {fault}" in str(refused.value)


def test_no_answers_are_a_tally_of_zeros():
    empty = pl.DataFrame(schema={"symbol": pl.Int64, "id": pl.String})
    for once in (False, True):
        assert from_frame(STUDY, empty, deduplicate=once).counts == (0,) * STUDY.symbols


def test_fractions_and_other_things_are_refused():
    with pytest.raises(InvalidInput, match="column symbol=Float64: must hold integers, or text"):
        from_frame(STUDY, pd.DataFrame({"symbol": [1.0, None]}))
    with pytest.raises(InvalidInput, match="frame=list: must be a data frame"):
        from_frame(STUDY, [1, 2, 3])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.uint32(), pa.int64()], ids=str)
def test_integers_of_any_size_may_be_missing(name: str, kind: pa.DataType):
    table = pa.table({"symbol": pa.array([1, 99, None, 13, 1], kind)})
    in_pandas = table.to_pandas(types_mapper=pd.ArrowDtype)
    frames = {
        "pandas": in_pandas,
        "polars": pl.DataFrame(table),
        "polars lazy": pl.LazyFrame(table),
        "arrow": table,
        "dask": dd.from_pandas(in_pandas, npartitions=2),
        "duckdb": duckdb.connect().from_arrow(table),
    }
    with pytest.raises(InvalidInput, match="wrong among 5 answers: 2 with no such symbol"):
        from_frame(STUDY, frames[name])
