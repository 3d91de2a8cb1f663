"""A site that a framework asks: its own file says what counts, and a refusal says nothing of a record.

Covers: fairgauge.client.site_settings
"""

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairgauge.channel import LEVEL_UNIT
from fairgauge.client import Answer, Ledger
from fairgauge.client.agent_command import main
from fairgauge.client.refusals import Refusal
from fairgauge.client.site_records import _AGAIN, PERSON
from fairgauge.client.site_settings import SiteSettings, answer_asked
from fairgauge.errors import InvalidInput
from fairgauge.study import Attribute, Metric, NoisyCounts, Study, counted
from tests.samples import sample_study
from tests.sites import SEX, confusion_study, levels_study

STUDY = confusion_study()
MARK = "platypus"


def settled(folder: Path, records: str = f"who,gender,sick,alarm\n{MARK},male,1,0\n", **more: Any) -> Path:
    (folder / "patients.csv").write_text(records, errors="surrogateescape")
    columns = {"groups": {"sex": "gender"}, "truth": "sick", "prediction": "alarm", "person": "who"}
    may = {"attributes": {"sex": ["female", "male"]}, "metrics": {}, "confusion": True}
    (folder / "site.json").write_text(json.dumps({"records": "patients.csv", "columns": columns, **may, **more}))
    return folder / "site.json"


def prepared(folder: Path, *rows: str, **more: Any) -> Path:
    """Return the own file of a site that is set up: its records were read before a study is known."""
    SiteSettings.load(settled(folder, *rows, **more)).prepare()
    return folder / "site.json"


def test_one_answer_whatever_the_records_are_by_then(tmp_path: Path) -> None:
    first = answer_asked(prepared(tmp_path), STUDY)
    assert isinstance(first, Answer)
    assert len(first.payload) == 8
    (tmp_path / "ledger.records").unlink()
    assert answer_asked(tmp_path / "site.json", STUDY) == first
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {"sex": 1}


def test_a_ledger_in_a_folder_that_is_not_there_is_begun(tmp_path: Path) -> None:
    path = prepared(tmp_path, ledger="state/ledger.sqlite3", prepared="kept")
    assert isinstance(answer_asked(path, STUDY), Answer)
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("study", "settings", "code"),
    [
        (STUDY, {"study_limit": "0.5"}, "limit"),
        (STUDY, {"limit": "0.5"}, "limit"),
        (STUDY, {"studies": ["0" * 64]}, "asked"),
        (STUDY, {"attributes": {"age": ["old", "young"]}}, "asked"),
        (STUDY, {"attributes": {"sex": ["female", "other"]}}, "asked"),
        (STUDY, {"confusion": False}, "asked"),
        (levels_study(), {"metrics": {"score": ["0", "5"]}}, "asked"),
        (levels_study(), {"metrics": {}}, "asked"),
        (STUDY, {"attributes": None}, "settings"),
        (STUDY, {"attributes": {"sex": ["female"]}}, "settings"),
        (STUDY, {"confusion": "yes"}, "settings"),
        (STUDY, {"columns": {"truth": 1}}, "settings"),
        (STUDY, {"person": "who"}, "settings"),
        (replace(STUDY, opens="2100-01-01T00:00:00Z"), {}, "time"),
        (replace(STUDY, admission="tickets"), {}, "unable"),
        (sample_study(), {}, "unable"),
    ],
)
def test_what_does_not_depend_on_a_record_is_told(study: Study, settings: dict[str, Any], code: str, tmp_path: Path):
    found = answer_asked(settled(tmp_path, **settings), study)
    assert isinstance(found, Refusal)
    assert found.code == code


HEAD = "who,gender,sick,alarm\n"


@pytest.mark.parametrize(
    "record",
    [
        f"1,{MARK},1,0",
        f"1,male,{MARK},0",
        f"1,male,1,0,{MARK}",
        f"{MARK}",
        ",male,1,0",
        ",,,",
        "1,male,nan,inf",
        "1,m\udcffle,1,0",
    ],
)
def test_whatever_a_record_holds_there_is_an_answer(
    record: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name, rows in (("alone", [record]), ("among others", ["2,male,1,0", record, "3,female,1,0"])):
        (tmp_path / name).mkdir()
        with caplog.at_level(logging.DEBUG):
            found = answer_asked(prepared(tmp_path / name, HEAD + "\n".join(rows) + "\n"), STUDY)
        assert isinstance(found, Answer)
        assert Ledger(tmp_path / name / "ledger.sqlite3").spent() == {"sex": 1}
    assert MARK not in caplog.text


@pytest.mark.parametrize("load", ["0.5", "7", "999", ""])
def test_a_value_cannot_be_read_by_halving_the_range(load: str, tmp_path: Path) -> None:
    """The attack: the largest value of a column, from which studies a site refuses.  Before, 58 questions had it."""

    def answers(high: float) -> bool:
        asked = NoisyCounts(SEX, "levels", 1, metric=Metric("load", 0, high), levels=(-LEVEL_UNIT, LEVEL_UNIT))
        study = Study("Load", counted(asked))
        # A site that was talked into each of these studies.
        may = {"metrics": {"load": ["0", Metric("load", 0, high).high]}, "confusion": False, "studies": [study.digest]}
        settings = {"columns": {"groups": {"sex": "gender"}}, "limit": "1000", **may}
        return isinstance(answer_asked(prepared(tmp_path, f"gender,load\nmale,{load}\n", **settings), study), Answer)

    low, high = 0.0, 1024.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if answers(middle) else (middle, high)
    assert high == 1024 / 2**12


def test_groups_cannot_be_read_by_listing_others(tmp_path: Path) -> None:
    for groups in (("male", "zzz"), ("female", "zzz"), ("yyy", "zzz")):
        asked = Study("Listed", counted(NoisyCounts(Attribute("sex", groups), "confusion", 1)))
        talked_into = {"attributes": {"sex": list(groups)}, "metrics": {}, "studies": [asked.digest]}
        assert isinstance(answer_asked(prepared(tmp_path, **talked_into), asked), Answer)
        refused = answer_asked(prepared(tmp_path, metrics={}), asked)
        assert isinstance(refused, Refusal)
        assert refused.code == "asked"


@pytest.mark.parametrize(
    "row", [f'1,male,1,"{MARK}', f'1,"male" {MARK},1,1', f"1,male,1,1\r1,{MARK},1,1", "9" * 200_000]
)
def test_a_record_that_is_broken_is_no_refusal(row: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert isinstance(answer_asked(prepared(tmp_path, f"{HEAD}{row}\n"), STUDY), Answer)
    assert MARK not in caplog.text


@pytest.mark.parametrize(
    "records", [f"who,gender,sick,{MARK}\n1,male,1,0\n", f"{MARK}\n1,male,1,0\n"], ids=["column", "no table"]
)
def test_what_is_no_table_of_the_sites_columns_is_refused_at_set_up_and_no_study_sees_it(
    records: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = prepared(tmp_path)
    assert main(["--prepare", str(settled(tmp_path, records))]) == 2
    said = capsys.readouterr().err
    assert "column=alarm: must be there" in said or "column=gender: must be there" in said
    if not records.startswith(f"who,gender,sick,{MARK}"):  # the name of a column is for the site's own eyes
        assert MARK not in said
    assert isinstance(answer_asked(own, STUDY), Answer), "what was prepared before stays"


def test_no_record_is_prepared_only_if_the_site_means_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nobody = "who,gender,sick,alarm\n"
    assert main(["--prepare", str(settled(tmp_path, nobody))]) == 1
    assert "there is no record" in capsys.readouterr().err
    assert not (tmp_path / "ledger.records").exists()
    assert isinstance(answer_asked(prepared(tmp_path, nobody, empty=True), STUDY), Answer)
    with pytest.raises(InvalidInput, match="empty=yes: must be true or false"):
        SiteSettings.load(settled(tmp_path, empty="yes"))


@pytest.mark.parametrize("change", [{"columns": {"groups": {"sex": "gender"}}}, {"metrics": {"alarm": [0, 1]}}, None])
def test_a_site_that_is_not_set_up_for_its_settings_says_so_of_everyone(
    change: dict[str, Any] | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It tells of the settings, and nothing of a record: a person's column that is not heeded would."""
    found = set()
    for row in ("1,male,1,0", f"{MARK},,,"):
        if change is not None:
            prepared(tmp_path, f"{HEAD}{row}\n")
        own = settled(tmp_path, f"{HEAD}{row}\n", **(change or {}))
        said = answer_asked(own, STUDY)
        assert isinstance(said, Refusal)
        found.add((said.code, said.text, said.detail))
        assert main(["--check", str(own)]) == 1
        assert "fairgauge agent --prepare" in capsys.readouterr().err
    assert len(found) == 1
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {}


def no_utf8(path: Path) -> None:
    """One patient's group is no text: Polars reads nothing of the file then."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    group = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(bytes([0, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0])), pa.py_buffer(b"malem\xffle")]
    )
    pq.write_table(pa.table({"who": ["1", "2"], "gender": group, "sick": [1, 1], "alarm": [0, 0]}), path)


def far_day(path: Path) -> None:
    """One patient's name is a day that Python has not: what reads it goes through the column entry by entry."""
    import polars as pl

    days = pl.Series("who", [0, 2**31 - 1], dtype=pl.Int32).cast(pl.Date)
    pl.DataFrame({"who": days, "gender": ["male"] * 2, "sick": [1, 1], "alarm": [0, 0]}).write_parquet(path)


def unknown_zone(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    who = pa.array([0, 1], pa.timestamp("us", "Nowhere/Never"))
    pq.write_table(pa.table({"who": who, "gender": ["male"] * 2, "sick": [1, 1], "alarm": [0, 0]}), path)


@pytest.mark.parametrize("spoil", [no_utf8, far_day, unknown_zone])
def test_what_a_table_becomes_changes_nothing_for_who_asks(
    spoil: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack: an entry that a reader stumbles over, or is slow at, told of one patient; and refusing is free."""
    import polars as pl  # Flower's tests use this file's sites, and have it not

    spoil(tmp_path / "patients.parquet")
    own = settled(tmp_path)
    own.write_text(own.read_text().replace("patients.csv", "patients.parquet"))
    assert main(["--prepare", str(own)]) in (0, 2)
    assert "platypus" not in capsys.readouterr().err
    usual = {"who": ["1", "2"], "gender": ["male"] * 2, "sick": [1, 1], "alarm": [0, 0]}
    pl.DataFrame(usual).write_parquet(tmp_path / "patients.parquet")
    assert main(["--prepare", str(own)]) == 0
    spoil(tmp_path / "patients.parquet")
    monkeypatch.setattr(
        "fairgauge.client.site_records.read_columns", lambda *_: pytest.fail("a table is read for a study")
    )
    assert isinstance(answer_asked(own, STUDY), Answer)


def test_people_whose_names_are_no_utf8_stay_apart(tmp_path: Path) -> None:
    """Or one of them would take the other's place among the records that count."""
    rows = f"{HEAD}Ren\xe9,male,1,0\nRen\xe8,male,1,0\n".encode("latin-1").decode(errors="surrogateescape")
    found = SiteSettings.load(settled(tmp_path, rows)).prepare()
    assert list(found.numbers[PERSON]) == [0, 1]


def test_what_is_prepared_is_for_its_owner_and_as_long_whatever_it_holds(tmp_path: Path) -> None:
    sizes = set()
    for number, row in enumerate(("1,male,1,0", f"{MARK},,,", f"{'9' * 900},female,1,{'1' * 400}", "")):
        (here := tmp_path / str(number)).mkdir()
        found = (prepared(here, f"{HEAD}{row}\n2,male,1,0\n") if row else prepared(here, f"{HEAD}1,,,\n2,,,\n")).parent
        assert (found / "ledger.records").stat().st_mode & 0o777 == 0o600
        sizes.add((found / "ledger.records").stat().st_size)
        assert {path.name for path in found.iterdir()} == {"patients.csv", "site.json", "ledger.records"}
    assert len(sizes) == 1


def test_a_prepared_file_that_was_cut_off_or_forged_is_refused(tmp_path: Path) -> None:
    own, path = prepared(tmp_path), tmp_path / "ledger.records"
    whole = path.read_bytes()
    for forged in (whole[:-1], whole + b"\0", b"", b"\n", whole.replace(b'"rows":1', b'"rows":-1'), b"{}\n"):
        path.write_bytes(forged)
        assert isinstance(answer_asked(own, STUDY), Refusal)


def test_damage_to_what_is_prepared_is_refused_whatever_a_record_holds(tmp_path: Path) -> None:
    """One bit less would be no group for some records, and another group for others: who refuses would tell."""
    told = set()
    for number, row in enumerate(("1,male,1,0", "1,female,1,0", f"{MARK},,,")):
        (here := tmp_path / str(number)).mkdir()
        own, path = prepared(here, f"{HEAD}{row}\n"), here / "ledger.records"
        whole = path.read_bytes()
        for place in range(len(whole)):
            for bit in (0, 1, 7):
                path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
                with pytest.raises(InvalidInput) as caught:
                    SiteSettings.load(own).load_records()
                told.add((place, bit, caught.value.rule))
        assert {one[2] for one in told if one[0] > len(whole) - 16} == {"is damaged. " + _AGAIN}
    assert len(told) == 3 * len(whole)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "site.json").write_text("{}")
    with pytest.raises(InvalidInput, match="attributes=None: must say what may be counted"):
        SiteSettings.load(tmp_path / "site.json")
    found = answer_asked(tmp_path / "nowhere.json", STUDY)
    assert isinstance(found, Refusal)
    assert found.code == "settings"


def test_what_a_file_says(tmp_path: Path) -> None:
    found = SiteSettings.load(settled(tmp_path, ledger="own/l.sqlite3", limit="3", studies=["ab"]))
    assert found.records == tmp_path / "patients.csv"
    assert found.prepared == tmp_path / "own" / "l.records"
    assert found.ledger == tmp_path / "own" / "l.sqlite3"
    assert (found.columns.truth, found.columns.person, found.columns.value) == ("sick", "who", None)
    assert found.limits.lifetime == 3
    assert found.policy.studies == frozenset({"ab"})


@pytest.mark.parametrize("asked", ["hiv", "sex"])
def test_a_study_that_names_a_foreign_column_is_refused_whatever_columns_there_are(asked: str, tmp_path: Path) -> None:
    """Before, a study could name any column, and the refusal told whether the records have it."""
    study = Study("Column", counted(NoisyCounts(Attribute(asked, ("yes", "no")), "confusion", 1)))
    found = [
        answer_asked(prepared(tmp_path, f"who,gender,sick,alarm,{column}\n1,male,1,0,yes\n"), study)
        for column in ("hiv", "other")
    ]
    (tmp_path / "ledger.records").unlink()
    found.append(answer_asked(tmp_path / "site.json", study))
    assert found[0] == found[1] == found[2]
    assert isinstance(found[0], Refusal)
    assert found[0].code == "asked"
    assert not (tmp_path / "ledger.sqlite3").exists()


def test_a_site_looks_at_its_records_when_it_is_set_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = {"groups": {"sex": "gender", "age": "years"}, "truth": "sick", "prediction": "alarm", "value": "pain"}
    rows = "gender,years,sick,alarm,pain\nmale,old,1,0,3\nplatypus,,2,0,76\n,young,,1,x\n"
    may = {"attributes": {"sex": ["female", "male"], "age": ["young", "old"]}, "metrics": {"score": [0, 10]}}
    own = settled(tmp_path, rows, columns=columns, **may)
    assert main(["--prepare", str(own)]) == 1
    said = capsys.readouterr()
    assert said.out == f"{tmp_path}/ledger.records: 3 records\n"
    assert said.err == (
        "fairgauge: prepared all the same, but 1 of 3 entries of gender are none of female, male; 1 of 3 entries of "
        "sick are neither 0 nor 1; 2 of 3 entries of pain are no number from 0 to 10\n"
    )
    assert main(["--check", str(own)]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"{own}: studies of score from 0 to 10, truth by prediction by sex (female, male), age")
    assert main(["--prepare", str(settled(tmp_path, rows.replace("alarm", "alert"), columns=columns))]) == 2
    assert "column=alarm: must be there" in capsys.readouterr().err
    assert main(["--prepare", str(settled(tmp_path))]) == 0
    (tmp_path / "agent.json").write_text("{}")
    assert main(["--prepare", str(tmp_path / "agent.json")]) == 2, "a person has no records"
