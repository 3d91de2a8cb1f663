"""People's own tables: columns, labels, percentages, what is missing, and everything that is wrong at once.

Covers: fairgauge.simulation.table.
"""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fairgauge.errors import BadRecords, InvalidInput
from fairgauge.simulation import Reading, read_people, simulate, simulate_exactly, true_values
from fairgauge.simulation.table import label, number, open_table
from fairgauge.study import Attribute
from tests.samples import RECALL
from tests.surveys import study, tells_all

ASKED = study(tells_all("0.5", "0.5", metric=RECALL))
LABELS = Reading(labels={"sex": {"F": "female", "M": "male", "unknown": ""}}, missing="leave out")
MESSY = "id,Sex,recall,age\n1,F,76.5%,30\n2,male,0.8,31\n\n3,n/a,0.5,32\n4,FEMALE,,33\n5,unknown,0.1,34\n6,M,1,35\n"


def write(folder: Path, text: str, name: str = "people.csv") -> Path:
    (folder / name).write_bytes(text.encode())
    return folder / name


def cells(people: Any) -> list[tuple[str | None, str | None, int]]:
    found = [(dict(cell.columns), cell.count) for cell in people.population.cells]
    return [(columns["sex"], columns["recall"], count) for columns, count in found]


def test_a_messy_table_is_read_and_what_was_done_is_said(tmp_path: Path):
    people = read_people(ASKED, write(tmp_path, MESSY), LABELS)
    assert cells(people) == [("female", "0.765", 1), ("male", "0.8", 1), ("male", "1", 1)]
    assert people.sentences() == [
        "3 people; 3 more lack a group or a value and are left out.",
        "Columns that the study does not ask for: id, age.",
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (MESSY.replace(",", ";").replace("76.5%", "76,5 %").replace("0.8", "0,8"), "people.csv"),
        (MESSY.replace(",", "\t"), "people.tsv"),
        ("\ufeff" + MESSY.replace("\n", "\r\n"), "people.csv"),
    ],
)
def test_as_spreadsheets_write_it(tmp_path: Path, text: str, name: str):
    assert cells(read_people(ASKED, write(tmp_path, text, name), LABELS)) == [
        ("female", "0.765", 1), ("male", "0.8", 1), ("male", "1", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "library", [pl.DataFrame, pl.LazyFrame, pd.DataFrame, pa.table, dict], ids=lambda one: one.__name__
)
def test_frames_of_any_library_rows_or_counted(library: Any):
    data: dict[str, Any] = {"sex": ["F", "male", None], "recall": [0.25, 0.5, 0.5], "n": [30, 50, 7]}
    people = read_people(ASKED, library(data), Reading(labels=LABELS.labels, missing="leave out", count="n"))
    assert cells(people) == [("female", "0.25", 30), ("male", "0.5", 50)]
    assert people.left_out == 7
    plain = library({"sex": ["female", "male"], "recall": [0.25, 0.5]})
    assert simulate(ASKED, plain, clients=1000, seed=1) == simulate(
        ASKED, read_people(ASKED, plain).population, clients=1000, seed=1
    )


def test_parquet(tmp_path: Path):
    pl.DataFrame({"sex": ["female", "male"], "recall": [0.25, 0.5]}).write_parquet(tmp_path / "people.parquet")
    assert cells(read_people(ASKED, tmp_path / "people.parquet")) == [("female", "0.25", 1), ("male", "0.5", 1)]


def test_everything_that_is_wrong_is_said_at_once_with_how_often_and_where(tmp_path: Path):
    rows = "sex,recall,count\nF,0.5,1\nF,0.7,1\nmale,76.5,1\nmale,much,1\nmale,,1\nmale,0.5,some\nmale,0.5\n"
    with pytest.raises(BadRecords) as caught:
        read_people(ASKED, write(tmp_path, rows))
    told = str(caught.value).splitlines()
    assert len(told) == len(caught.value.problems) == 6
    assert told[0].startswith("row 2: sex=F: must be one of female, male; the study file says what another label means")
    assert told[0].endswith("(2 rows)")
    assert told[1].startswith("row 4: recall=76.5: recall must be a number from 0 to 1; percentages need a sign")
    assert told[2].startswith("row 5: recall=much: must be a number, or empty where it is not known; the study file")
    assert told[3].startswith(
        'row 6: recall=nothing: must be given: the study lets nobody abstain; say missing = "leave out"'
    )
    assert told[4].startswith("row 7: count=some: must be an integer from 0 up, how many people a row stands for")
    assert told[5].startswith("row 8: entries=another number: must be 3, as many as there are columns")


def test_columns_that_are_not_there_are_named_together():
    with pytest.raises(InvalidInput, match=r"column=sex, recall: must be there; the table has a, b\. Where else"):
        read_people(ASKED, {"a": ["female"], "b": [1]})
    mapped = Reading(columns={"sex": "a", "recall": "b"})
    assert cells(read_people(ASKED, {"a": ["female"], "b": [1]}, mapped)) == [("female", "1", 1)]


def test_a_column_is_there_once(tmp_path: Path):
    twice = write(tmp_path, "sex,sex,recall\nfemale,male,1\n")
    with pytest.raises(InvalidInput, match=r"column=sex: must be there; the table has sex \(1\), sex \(2\), recall"):
        read_people(ASKED, twice)
    assert cells(read_people(ASKED, twice, Reading(columns={"sex": "sex (2)"}))) == [("male", "1", 1)]
    frame = pd.DataFrame([["female", "male", 1]], columns=["sex", "sex", "recall"])
    with pytest.raises(InvalidInput, match="table=a DataFrame: must have columns of different names"):
        read_people(ASKED, frame)


@pytest.mark.parametrize("above", ["", "sep=;\n", "Export;;\n\n", "Falls, of all\n"])
def test_lines_above_the_names_are_passed_over(tmp_path: Path, above: str):
    text = f"{above}sex;recall;\nfemale;0,5;\nmale;two;\n"
    problem = "row 3: recall=two" if not above else f"row {3 + above.count(chr(10))}: recall=two"
    if "," in above:  # two entries are the names of two columns
        problem = "must be there; the table has Falls, of all"
    with pytest.raises(InvalidInput, match=problem):
        read_people(ASKED, write(tmp_path, text))
    how = Reading(missing="leave out", labels={"recall": {"two": ""}})
    if "," not in above:
        assert cells(read_people(ASKED, write(tmp_path, text), how)) == [("female", "0.5", 1)]


def test_a_column_of_numbers_with_commas_has_its_name_above_it(tmp_path: Path):
    assert open_table(write(tmp_path, "recall\n0,8\n")).names == ("recall",)


def test_who_lacks_something_abstains_where_they_may():
    asked = study(tells_all("0.5", "0.5", metric=RECALL, abstain=True))
    data = {"sex": ["female", None, "male"], "recall": [0.5, 0.5, None]}
    people = read_people(asked, data)
    assert (people.abstaining, people.left_out, people.population.clients) == (2, 0, 3)
    people = read_people(asked, data, Reading(missing="leave out"))
    assert (people.abstaining, people.left_out, people.population.clients) == (0, 2, 1)
    with pytest.raises(InvalidInput, match='missing=ignore: must be "leave out" or "abstain"'):
        Reading(missing="ignore")  # type: ignore[arg-type]


def test_a_groups_own_name_is_not_missing_and_every_other_label_can_be():
    question = replace(ASKED.questions[0], attribute=Attribute("region", ["NA", "EU"]))
    asked = study(question)
    data = {"region": ["NA", "EU", "Mars", "?"], "recall": [1, 1, 1, 1]}
    people = read_people(asked, data, Reading(labels={"region": {"*": ""}}, missing="leave out"))
    assert [dict(cell.columns or ())["region"] for cell in people.population.cells] == ["NA", "EU"]
    assert people.left_out == 2


def test_yes_and_no_are_numbers_where_the_file_says_so():
    how = Reading(labels={"recall": {"yes": "1", "no": "0"}})
    assert cells(read_people(ASKED, {"sex": ["female", "male"], "recall": ["yes", "no"]}, how)) == [
        ("female", "1", 1), ("male", "0", 1),
    ]  # fmt: skip


def test_every_text_that_is_no_number_can_be_missing():
    how = Reading(labels={"recall": {"*": ""}}, missing="leave out")
    people = read_people(ASKED, {"sex": ["female", "male", "male"], "recall": ["see notes", "0.5", "pending"]}, how)
    assert (cells(people), people.left_out) == ([("male", "0.5", 1)], 2)


def test_of_very_many_problems_twenty_are_said_and_how_many_more_there_are():
    names = [f"Family {number}" for number in range(5000)]
    with pytest.raises(BadRecords) as caught:
        read_people(ASKED, {"sex": names, "recall": [0.5] * 5000})
    told = str(caught.value).splitlines()
    assert len(told) == 21
    assert told[-1].startswith("problems=4,980 more: is it the right column?")


def test_the_truth_is_that_of_the_table():
    people = read_people(ASKED, {"sex": ["F", "M", "female"], "recall": ["50%", 1, 1]}, LABELS)
    (truth,) = true_values(ASKED, people.population)
    assert truth.gaps == {("female", "male"): -0.25}
    assert truth.shares == pytest.approx({"female": 2 / 3, "male": 1 / 3})


@pytest.mark.parametrize("given", [7, None, [1, 2]])
def test_what_is_no_table_is_named(given: Any):
    with pytest.raises(
        InvalidInput, match=f"table=a {type(given).__name__}: must be the path of a CSV or Parquet file"
    ):
        read_people(ASKED, given)


def test_files_that_cannot_be_read_say_what_to_do(tmp_path: Path):
    with pytest.raises(InvalidInput, match="save the sheet as CSV"):
        open_table(tmp_path / "people.xlsx")
    (tmp_path / "neither.csv").write_bytes(b"sex,recall\nm\x81nnlich,1\n")
    with pytest.raises(InvalidInput, match=r"must be CSV in UTF-8.*spreadsheets save it as CSV UTF-8"):
        read_people(ASKED, tmp_path / "neither.csv")
    (tmp_path / "broken.parquet").write_bytes(b"no")
    with pytest.raises(InvalidInput, match="cannot be read"):
        open_table(tmp_path / "broken.parquet")
    with pytest.raises(InvalidInput, match="columns of different lengths"):
        open_table({"a": [1], "b": []})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_file_as_spreadsheets_write_it_is_read(tmp_path: Path, encoding: str):
    many = "female,1,x\n" * 100_000  # what tells the encoding may come late
    (tmp_path / "t.csv").write_bytes(f"sex,recall,more\n{many}männlich,0.5,ß\n".encode(encoding))
    how = Reading(labels={"sex": {"männlich": "male"}})
    found = read_people(ASKED, tmp_path / "t.csv", how)
    assert {value for cell in found.population.cells for name, value in cell.columns or () if name == "sex"} == {
        "female",
        "male",
    }
    assert ("It is no UTF-8, and is read as Windows-1252." in found.sentences()) == (encoding == "cp1252")


def test_numbers_and_labels_as_people_write_them():
    assert number("76.5 %", hundred=True) == number("76.5") == Decimal("76.5")
    assert number(True) == 1
    assert (number("inf"), number("nan"), number(""), number(None)) == (None, None, None, None)
    assert (label(True), label(pd.NA), label(3)) == ("True", "", "3")


def test_a_comma_that_parts_no_thousands_is_a_decimal_comma_in_a_frame_too():
    """A frame does not tell how its file's columns were parted."""
    frame = pd.DataFrame({"sex": ["female", "male"] * 2, "recall": ["76,5 %", "0,850", "0,5", "100,0%"]})
    assert [value for _, value, _ in cells(read_people(ASKED, frame))] == ["0.765", "0.850", "0.5", "1.0"]


def test_a_reading_is_for_both_ways_to_simulate():
    frame = {"sex": ["F"] * 30 + ["M"] * 50, "recall": [0.5] * 80}
    with pytest.raises(BadRecords, match="must be one of female, male"):
        simulate_exactly(ASKED, frame)
    assert simulate_exactly(ASKED, frame, reading=LABELS).contributors == 80
    with pytest.raises(InvalidInput, match="must be given with a frame or a file"):
        simulate_exactly(ASKED, read_people(ASKED, frame, LABELS).population, reading=LABELS)
