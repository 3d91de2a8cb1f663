"""Records come in as files and frames, and no error repeats an entry of them."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from fairgauge.client.site_counts import count_records
from fairgauge.client.site_records import RecordColumns, Records, _Reader
from fairgauge.errors import InvalidInput
from fairgauge.study import Attribute, NoisyCounts
from tests.sites import confusion_study, levels_study, site_of

SITE = site_of(confusion_study())
LEVELS = site_of(levels_study())
TABLE = {"who": ["a", "a", "b"], "sex": ["female", "male", ""], "truth": [1, 0, 1], "prediction": [1, 1, 0]}


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame], ids=lambda kind: kind.__name__)
def test_frames(frame: Any) -> None:
    assert count_records(SITE, Records.of(SITE, frame(TABLE))) == [0, 0, 0, 1, 0, 1, 0, 0]
    assert sum(count_records(SITE, Records.of(SITE, frame(TABLE), RecordColumns(person="who")))) == 1


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame], ids=lambda kind: kind.__name__)
def test_nobody_without_a_name_counts_where_people_are_told_apart(frame: Any) -> None:
    """Or one person whose name is missing could be in every record."""
    for missing in (None, float("nan"), "", " "):
        table = {"who": [missing] * 3, "sex": ["male"] * 3, "truth": [1] * 3, "prediction": [1] * 3}
        assert sum(count_records(SITE, Records.of(SITE, frame(table), RecordColumns(person="who")))) == 0
    table = {"who": ["7", " 7"], "sex": ["male"] * 2, "truth": [1] * 2, "prediction": [1] * 2}
    assert sum(count_records(SITE, Records.of(SITE, frame(table), RecordColumns(person="who")))) == 1


CODES = {"sex": [1, 1, 2, 2], "truth": [1, 0, 1, 0], "prediction": [1, 0, 1, 0]}


@pytest.mark.parametrize("codes", [("1", "2"), ("1.0", "2.0")])
@pytest.mark.parametrize("odd", [None, 1.5, float("nan")])
@pytest.mark.parametrize("way", ["frame", "p.parquet", "p.csv"])
def test_one_persons_group_does_not_change_how_those_of_others_are_read(
    way: str, odd: Any, codes: tuple[str, ...], tmp_path: Path
) -> None:
    """A column of whole numbers in which one is missing is one of floats: 1 becomes 1.0 in everybody's record."""
    site = NoisyCounts(Attribute("sex", codes), "confusion", 1)

    def counted(table: dict[str, Any]) -> list[int]:
        frame = pd.DataFrame(table)
        if way == "frame":
            return count_records(site, Records.of(site, frame))
        path = tmp_path / way
        frame.to_csv(path, index=False) if way == "p.csv" else frame.to_parquet(path)
        return count_records(site, Records.of(site, path))

    assert counted(CODES) == [1, 0, 0, 1, 1, 0, 0, 1]
    assert counted({**CODES, "sex": [odd, 1, 2, 2]}) == [1, 0, 0, 0, 1, 0, 0, 1]


def test_what_a_lazy_frame_complains_of_is_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("sex,truth,prediction\nmale,1,Jane Doe\n")
    lazy = pl.scan_csv(tmp_path / "p.csv", schema_overrides={"prediction": pl.Int64})
    with pytest.raises(InvalidInput) as caught:
        Records.of(SITE, lazy)
    assert "Jane" not in f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"patients.{ending}"
    renamed = pl.DataFrame(TABLE).rename({"sex": "s", "truth": "t", "prediction": "p"})
    renamed.write_csv(path) if ending == "csv" else renamed.write_parquet(path)
    columns = RecordColumns({"sex": "s"}, "t", "p")
    assert count_records(SITE, Records.of(SITE, path, columns)) == [0, 0, 0, 1, 0, 1, 0, 0]


def test_a_metric_has_its_own_column() -> None:
    found = Records.of(LEVELS, {"sex": ["male"], "score": ["10"]})
    assert count_records(LEVELS, found) == [0, 0, 0, 0, 0, 1]
    found = Records.of(LEVELS, {"sex": ["male"], "points": [0]}, RecordColumns(value="points"))
    assert count_records(LEVELS, found) == [0, 0, 0, 1, 0, 0]


def test_a_column_that_is_not_there() -> None:
    with pytest.raises(InvalidInput, match="column=truth: must be there; the records have sex"):
        Records.of(SITE, pl.DataFrame({"sex": ["female"]}))


@pytest.mark.parametrize(
    ("name", "content"),
    [("p.csv", b'"Jane Doe'), ("p.csv", b"\xff\xfeJane Doe"), ("p.parquet", b"Jane Doe")],
)
def test_what_cannot_be_read_is_not_repeated(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        Records.of(SITE, tmp_path / name)
    error: BaseException | None = caught.value
    while error is not None:
        assert "Jane" not in str(error)
        error = error.__cause__ or error.__context__


def test_another_ending(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"must end in \.csv or \.parquet"):
        Records.of(SITE, tmp_path / "patients.xlsx")


def test_a_group_column_for_something_else_is_not_read() -> None:
    assert Records.of(SITE, TABLE, RecordColumns({"age": "a"})).numbers == Records.of(SITE, TABLE).numbers


def test_an_entry_that_is_there_many_times_is_read_once() -> None:
    asked: list[object] = []

    def number(entry: object) -> int:
        asked.append(entry)
        return len(asked)

    reader = _Reader("sex", number, lambda entry: entry != 1, "odd")
    numbers, odd = reader.numbers(["female", "male", "female", 1, 1, True, "male"])
    assert (numbers.tolist(), odd) == ([1, 2, 1, 3, 3, 4, 2], 3)
    assert asked == ["female", "male", 1, True], "and what is equal is not the same"
