"""Tables as people have them: what is missing, what is strange, what shuffles; and no entry in an error."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from fairgauge.client.profile_entries import name_text
from fairgauge.client.site_counts import count_records
from fairgauge.client.site_records import RecordColumns, Records, read_columns
from fairgauge.errors import FairgaugeError, InvalidInput
from fairgauge.study import Attribute, NoisyCounts
from tests.sites import confusion_study, site_of

SITE = site_of(confusion_study())
MARK = "platypus"
FRAMES = [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame]
each_frame = pytest.mark.parametrize("frame", FRAMES, ids=lambda kind: kind.__name__)


def everything_said(error: BaseException | None) -> str:
    said = ""
    while error is not None:
        said += f"{error!r} {error} "
        error = error.__cause__ or error.__context__
    return said


@pytest.mark.parametrize(
    "ones",
    [
        [1, 0, 1], [1.0, 0.0, 1.0], ["1", "0", "1"], ["1.0", "0.00", " 1 "], [True, False, True],
        ["true", "False", "TRUE"], [np.int64(1), np.float64(0.0), np.bool_(True)], [Decimal("1.0"), Decimal(0), 1],
    ],
    ids=str,
)  # fmt: skip
def test_ones_and_zeros_of_every_kind(ones: list[Any]) -> None:
    table = {"sex": ["female"] * 3, "truth": ones, "prediction": ones}
    for given in (table, pd.DataFrame(table)):
        assert count_records(SITE, Records.of(SITE, given)) == [1, 0, 0, 2, 0, 0, 0, 0]


@pytest.mark.parametrize("missing", [None, float("nan"), "", "  ", pd.NA, pd.NaT, np.nan], ids=repr)
def test_what_is_missing_is_left_out(missing: Any) -> None:
    whole: dict[str, list[Any]] = {"sex": ["male", "male"], "truth": [1, 1], "prediction": [1, 1]}
    for column in whole:
        table = whole | {column: [missing, whole[column][1]]}
        for given in (table, pd.DataFrame(table)):
            assert sum(count_records(SITE, Records.of(SITE, given))) == 1


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "float64", "object", "string", "category"])
def test_columns_of_pandas_with_something_missing(dtype: str) -> None:
    ones: Any = [True, None, False] if dtype == "boolean" else ["1", None, "0"] if dtype == "string" else [1, None, 0]
    frame = pd.DataFrame({"sex": ["male"] * 3, "truth": pd.Series(ones, dtype=dtype), "prediction": [1] * 3})
    assert count_records(SITE, Records.of(SITE, frame)) == [0, 0, 0, 0, 0, 1, 0, 1]


@pytest.mark.parametrize("name", ["a,b", 'say "x"', "ø / 女", "0", "None", "true"])
def test_strange_names_of_groups(name: str, tmp_path: Path) -> None:
    site = NoisyCounts(Attribute("kind", (name, "other")), "confusion", "1")
    table = {"kind": [name, "other"], "truth": [0, 0], "prediction": [0, 0]}
    pl.DataFrame(table).write_csv(tmp_path / "t.csv")
    pl.DataFrame(table).write_parquet(tmp_path / "t.parquet")
    for given in (table, pd.DataFrame(table), tmp_path / "t.csv", tmp_path / "t.parquet"):
        assert count_records(site, Records.of(site, given)) == [1, 0, 0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize("people", [[7, 7.0, "7", " 7", "7.0"], ["7"] * 5, [np.int64(7), 7, 7.0, "7", Decimal(7)]])
def test_one_person_is_one_person_whatever_the_type(people: list[Any]) -> None:
    """Or one patient would count as often as there are ways to write a number."""
    table = {"who": people, "sex": ["male"] * 5, "truth": [1] * 5, "prediction": [1] * 5}
    for given in (table, pd.DataFrame(table)):
        assert sum(count_records(SITE, Records.of(SITE, given, RecordColumns(person="who")))) == 1
    assert len({name_text(other) for other in ("7", "07", "7.5", "7a")}) == 4


def test_a_person_with_many_records_counts_as_often_as_the_study_says() -> None:
    table = {"who": ["a"] * 10_000 + ["b"], "sex": ["male"] * 10_001, "truth": [1] * 10_001, "prediction": [1] * 10_001}
    assert sum(count_records(SITE, Records.of(SITE, pl.DataFrame(table), RecordColumns(person="who")))) == 2


def test_a_lazy_frame_that_shuffles_keeps_its_rows_together() -> None:
    rows = pl.LazyFrame({"row": range(500)}).with_columns(b=pl.col("row"))
    frame = rows.map_batches(lambda whole: whole.sample(fraction=1, shuffle=True))
    found = read_columns(frame, ["row", "b"])
    assert found["row"] == found["b"]
    assert sorted(found["row"]) == list(range(500))


@pytest.mark.parametrize(
    "row",
    [
        f"male,1,1,{MARK}",  # more entries than names
        f"{MARK}",  # fewer
        f"male,{MARK},1",
        f"{MARK},1,1",
        f"male,1,\x00{MARK}",
        f"male,1,1e{MARK}",
        f'male,"1,1{MARK}',  # a quote that does not end
        f'male,1,"1"{MARK}',
        f"male,1,1\rmale,1,1{MARK}",
        f"male,1\rmale,1,1\rmale,1,1,{MARK}",
        f"male,1,{'1' * 200_000}{MARK}",
    ],
)
def test_a_row_that_cannot_be_counted_is_left_out(row: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"sex,truth,prediction\nmale,1,1\n{row}\nfemale,0,0\n")
    assert count_records(SITE, Records.of(SITE, path)) == [1, 0, 0, 0, 0, 0, 0, 1]
    assert MARK not in caplog.text


def test_one_record_moves_the_counts_by_no_more_than_one(tmp_path: Path) -> None:
    """It hides no other record and makes none: the noise is for one record, replaced by another one."""
    path = tmp_path / "t.csv"
    rows = [f"male,tall,1,1,p{i}" for i in range(20)]
    rows[15:17] = ['male,5 ft 9",1,1,p15', 'male,tall",1,1,p16']
    for row in (
        'male,"tall,1,1,p0',
        'male,"tall","1,1,p0',
        'male,tall,1,1,"p0',
        "male,x,1,1,p\rmale,x,1,1,q\rmale,x,1,1,r",
    ):
        for end in ("\n", "\r\n"):
            path.write_bytes(end.join(["sex,note,truth,prediction,who", row, *rows[1:]]).encode())
            found = count_records(SITE, Records.of(SITE, path, RecordColumns(person="who")))
            assert (found[7] in (19, 20), sum(found) - found[7]) == (True, 0), row


def test_quotes_are_read_as_ever_within_a_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('note,sex,truth,"prediction"\n"a ""b"", c","male","1",1\n"Smith" junior,male,1,1\n\n')
    assert read_columns(path, ["note", "prediction"]) == {
        "note": ['a "b", c', "Smith junior"],
        "prediction": ["1", "1"],
    }
    assert count_records(SITE, Records.of(SITE, path))[7] == 2


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime("ms"), pl.Duration("ms")], ids=str)
def test_an_entry_beyond_what_python_has_spoils_its_own_record_only(kind: Any, tmp_path: Path) -> None:
    far = pl.Series("who", [0, 1, 2**31 - 1 if kind == pl.Date else 2**62], dtype=pl.Int32 if kind == pl.Date else None)
    frame = pl.DataFrame({"sex": ["male"] * 3, "truth": [1] * 3, "prediction": [1] * 3}).with_columns(far.cast(kind))
    frame.write_parquet(tmp_path / "t.parquet")
    for given in (frame, frame.lazy(), tmp_path / "t.parquet"):
        assert sum(count_records(SITE, Records.of(SITE, given, RecordColumns(person="who")))) in (2, 3)


def test_bytes_that_are_no_text_spoil_their_own_record_only(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("sex,truth,prediction\nmännlich,1,1\nmale,1,1\n".encode("latin-1"))
    assert sum(count_records(SITE, Records.of(SITE, tmp_path / "t.csv"))) == 1
    names = pa.array([b"m\xe4nnlich", b"male"], pa.binary())
    sexes = pa.Array.from_buffers(pa.string(), 2, names.buffers())
    parquet.write_table(pa.table({"sex": sexes, "truth": [1, 1], "prediction": [1, 1]}), tmp_path / "t.parquet")
    assert count_records(SITE, Records.of(SITE, tmp_path / "t.parquet")) == [0, 0, 0, 0, 0, 0, 0, 1]


def test_a_column_that_nobody_reads_may_hold_anything(tmp_path: Path) -> None:
    table = {name: [entry, entry] for name, entry in {"sex": "male", "truth": 1, "prediction": 1}.items()}
    when = pa.array([0, 2**62], pa.timestamp("us", tz="Mars/Olympus"))
    parquet.write_table(pa.table({**table, "when": when}), tmp_path / "t.parquet")
    assert sum(count_records(SITE, Records.of(SITE, tmp_path / "t.parquet"))) == 2


@pytest.mark.parametrize(
    "text",
    [
        f"male,1,{MARK}\nmale,1,1\n",  # no names at the top
    ],
)
def test_nothing_of_a_record_is_in_an_error(text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    for given in (path, lambda: pl.scan_csv(path, schema_overrides={"truth": pl.Int64, "prediction": pl.Int64})):
        with pytest.raises(FairgaugeError) as caught:
            count_records(SITE, Records.of(SITE, given() if callable(given) else given))
        assert MARK not in everything_said(caught.value)
    assert MARK not in caplog.text


@each_frame
def test_entries_that_cannot_be_counted_are_left_out(frame: Any) -> None:
    for column in ("sex", "truth", "prediction"):
        table = {"sex": ["male"], "truth": ["1"], "prediction": ["1"]} | {column: [MARK]}
        assert sum(count_records(SITE, Records.of(SITE, frame(table)))) == 0


def test_columns_that_are_there_twice_or_of_different_lengths(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,sex,truth,prediction\nmale,female,1,1\n")
    with pytest.raises(InvalidInput, match="column=sex: must be there once"):
        read_columns(tmp_path / "t.csv", ["sex"])
    twice = pd.DataFrame([["male", "female"]], columns=["sex", "sex"])
    with pytest.raises(InvalidInput):
        read_columns(twice, ["sex"])
    with pytest.raises(InvalidInput, match="columns of different lengths"):
        read_columns({"a": [1], "b": [1, 2]}, ["a", "b"])
    (tmp_path / "e.csv").write_text("")
    with pytest.raises(InvalidInput, match="the records have none"):
        read_columns(tmp_path / "e.csv", ["sex"])
