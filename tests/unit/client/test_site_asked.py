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
from fairgauge.client.site_asked import answer_asked
from fairgauge.client.site_settings import SiteSettings
from fairgauge.errors import InvalidInput
from fairgauge.study import Attribute, Metric, NoisyCounts, Study, counted
from tests.samples import sample_study
from tests.sites import SEX, confusion_study, levels_study

STUDY = confusion_study()
MARK = "platypus"


def settled(folder: Path, records: str = f"who,gender,sick,alarm\n{MARK},male,1,0\n", **more: Any) -> Path:
    (folder / "patients.csv").write_text(records, errors="surrogateescape")
    columns = {"groups": {"sex": "gender"}, "truth": "sick", "prediction": "alarm", "person": "who"}
    may = {"attributes": {"sex": ["female", "male"]}, "metrics": {"score": [0, 10]}, "confusion": True}
    settings = {"records": "patients.csv", "columns": columns, **({} if "studies" in more else may), **more}
    (folder / "site.json").write_text(json.dumps(settings))
    return folder / "site.json"


def test_one_answer_whatever_the_records_are_by_then(tmp_path: Path) -> None:
    first = answer_asked(settled(tmp_path), STUDY)
    assert isinstance(first, Answer)
    assert len(first.payload) == 8
    (tmp_path / "patients.csv").unlink()
    assert answer_asked(tmp_path / "site.json", STUDY) == first
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {"sex": 1}


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
            found = answer_asked(settled(tmp_path / name, HEAD + "\n".join(rows) + "\n"), STUDY)
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
        settings = {"columns": {"groups": {"sex": "gender"}}, "limit": "1000", "studies": [study.digest]}
        return isinstance(answer_asked(settled(tmp_path, f"gender,load\nmale,{load}\n", **settings), study), Answer)

    low, high = 0.0, 1024.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if answers(middle) else (middle, high)
    assert high == 1024 / 2**12


def test_groups_cannot_be_read_by_listing_others(tmp_path: Path) -> None:
    for groups in (("male", "zzz"), ("female", "zzz"), ("yyy", "zzz")):
        asked = Study("Listed", counted(NoisyCounts(Attribute("sex", groups), "confusion", 1)))
        assert isinstance(answer_asked(settled(tmp_path, studies=[asked.digest]), asked), Answer)
        refused = answer_asked(settled(tmp_path), asked)
        assert isinstance(refused, Refusal)
        assert refused.code == "asked"


@pytest.mark.parametrize(
    "row", [f'1,male,1,"{MARK}', f'1,"male" {MARK},1,1', f"1,male,1,1\r1,{MARK},1,1", "9" * 200_000]
)
def test_a_record_that_is_broken_is_no_refusal(row: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert isinstance(answer_asked(settled(tmp_path, f"{HEAD}{row}\n"), STUDY), Answer)
    assert MARK not in caplog.text


@pytest.mark.parametrize(
    "records", [f"who,gender,sick,{MARK}\n1,male,1,0\n", f"{MARK}\n1,male,1,0\n"], ids=["column", "no table"]
)
def test_what_is_no_table_of_the_sites_columns_is_one_refusal(
    records: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        found = answer_asked(settled(tmp_path, records), STUDY)
    assert isinstance(found, Refusal)
    assert found.code == "device"
    assert MARK not in found.text
    assert MARK not in caplog.text
    if not records.startswith(f"who,gender,sick,{MARK}"):  # the name of a column is for the site's own log
        assert MARK not in found.detail
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {}


def test_no_record_is_an_answer_only_if_the_site_means_it(tmp_path: Path) -> None:
    nobody = "who,gender,sick,alarm\n"
    found = answer_asked(settled(tmp_path, nobody), STUDY)
    assert isinstance(found, Refusal)
    assert found.code == "device"
    assert "there is no record" in found.detail
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {}
    assert isinstance(answer_asked(settled(tmp_path, nobody, empty=True), STUDY), Answer)
    with pytest.raises(InvalidInput, match="empty=yes: must be true or false"):
        SiteSettings.load(settled(tmp_path, empty="yes"))


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
    assert found.ledger == tmp_path / "own" / "l.sqlite3"
    assert (found.columns.truth, found.columns.person, found.columns.value) == ("sick", "who", None)
    assert found.limits.lifetime == 3
    assert found.policy.studies == frozenset({"ab"})


@pytest.mark.parametrize("asked", ["hiv", "sex"])
def test_a_study_that_names_a_foreign_column_is_refused_whatever_columns_there_are(asked: str, tmp_path: Path) -> None:
    """Before, a study could name any column, and the refusal told whether the records have it."""
    study = Study("Column", counted(NoisyCounts(Attribute(asked, ("yes", "no")), "confusion", 1)))
    found = [
        answer_asked(settled(tmp_path, f"who,gender,sick,alarm,{column}\n1,male,1,0,yes\n"), study)
        for column in ("hiv", "other")
    ]
    (tmp_path / "patients.csv").unlink()
    found.append(answer_asked(tmp_path / "site.json", study))
    assert found[0] == found[1] == found[2]
    assert isinstance(found[0], Refusal)
    assert found[0].code == "asked"
    assert not (tmp_path / "ledger.sqlite3").exists()


def test_a_site_looks_at_its_records_when_it_is_set_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = {"groups": {"sex": "gender", "age": "years"}, "truth": "sick", "prediction": "alarm", "value": "pain"}
    rows = "gender,years,sick,alarm,pain\nmale,old,1,0,3\nplatypus,,2,0,76\n,young,,1,x\n"
    own = settled(tmp_path, rows, columns=columns, attributes={"sex": ["female", "male"], "age": ["young", "old"]})
    assert main(["--check", str(own)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith(f"{own}: studies of score from 0 to 10, truth by prediction by sex (female, male), age")
    assert said.err == (
        "fairgauge: 1 of 3 entries of gender are none of female, male; 2 of 3 entries of pain are no number from 0 to "
        "10; 1 of 3 entries of sick are neither 0 nor 1\n"
    )
    assert main(["--check", str(settled(tmp_path, rows.replace("alarm", "alert"), columns=columns))]) == 2
    assert "column=alarm: must be there" in capsys.readouterr().err
    assert main(["--check", str(settled(tmp_path, metrics={}))]) == 0
