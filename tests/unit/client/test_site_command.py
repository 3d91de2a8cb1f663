"""What a site is shown before its counts leave."""

from pathlib import Path
from typing import Any

import pytest

from fairgauge.client import Answer, Ledger
from fairgauge.client.command import main
from fairgauge.client.refusals import refusal_text
from fairgauge.client.site_command import table
from fairgauge.study import Attribute, Metric, NoisyCounts, Study
from tests.samples import sample_study
from tests.sites import confusion_study, levels_study
from tests.unit.client.test_command import Terminal
from tests.unit.client.test_site_settings import prepared

SEX = Attribute("sex", ["female", "male"])
LEVELS = (-(2**30), 0, 2**30)


def shown(site: NoisyCounts, *counts: int) -> list[str]:
    return table(site, Answer("0" * 64, "0" * 32, counts)).splitlines()


def test_counts_of_a_metric_stand_below_its_values() -> None:
    site = NoisyCounts(SEX, "levels", "1", metric=Metric("pain", "0", "10"), levels=LEVELS)
    assert shown(site, 1, -2, 3, 12345, 0, 6) == [
        "pain         0   5  10",
        "female       1  -2   3",
        "male    12,345   0   6",
    ]


def test_counts_of_truth_and_prediction_stand_below_both() -> None:
    lines = shown(NoisyCounts(SEX, "confusion", "1"), *range(8))
    assert lines[0] == "        truth 0, said 0  truth 0, said 1  truth 1, said 0  truth 1, said 1"
    assert lines[2].split() == ["male", "4", "5", "6", "7"]


def typed(folder: Path, rows: str) -> list[str]:
    confusion_study().save(folder / "study.json")
    (folder / "patients.csv").write_text(f"sex,truth,prediction\n{rows}")
    given = [str(folder / "study.json"), "--records", str(folder / "patients.csv")]
    return [*given, "--ledger", str(folder / "ledger"), "--output", str(folder / "answer.json")]


@pytest.mark.parametrize(
    ("rows", "why"),
    [("", "there is no record"), (",1,0\nmale,,1\nother,1,1\n", "every record lacks a group or an outcome")],
)
def test_noise_alone_is_sent_only_if_that_is_meant(
    rows: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal())
    assert main(typed(tmp_path, rows)) == 1
    said = capsys.readouterr().err
    assert f"{why}, so the answer would be noise alone; nothing was drawn or spent." in said
    assert "say so with --empty" in said
    assert Ledger(tmp_path / "ledger").spent() == {}
    assert not (tmp_path / "answer.json").exists()
    assert main([*typed(tmp_path, rows), "--empty"]) == 0
    assert len(Answer.load(tmp_path / "answer.json").payload) == 8


def test_from_a_program_what_records_hold_does_not_decide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only whether there is one at all: two sites that differ in one person's records have as many."""
    assert main(typed(tmp_path, "")) == 1
    assert "there is no record" in capsys.readouterr().err
    assert main(typed(tmp_path, ",1,0\nother,1,1\nmale,1,yes\n")) == 0
    assert capsys.readouterr().err == (
        "3 of 3 records were left out: they lack a person, a group that the study lists, or an outcome\n"
    )
    assert Ledger(tmp_path / "ledger").spent() == {"sex": 1}
    assert main(typed(tmp_path, "male,1,1\n")) == 0
    assert capsys.readouterr().err == "", "it was answered before, and no record is read"


class TestTheSitesOwnFile:
    """What may be counted, from which records and how far, is settled before a study is known."""

    def run(self, folder: Path, study: Study, *more: str, **settings: Any) -> int:
        study.save(folder / "study.json")
        path = prepared(folder, **settings)
        given = ["--site", str(path), "--output", str(folder / "answer.json"), *more]
        return main([str(folder / "study.json"), *given])

    def test_records_columns_ledger_and_limits_are_the_files(self, tmp_path: Path) -> None:
        assert self.run(tmp_path, confusion_study(), limit="0.5") == 1
        assert self.run(tmp_path, confusion_study()) == 0
        assert len(Answer.load(tmp_path / "answer.json").payload) == 8
        assert Ledger(tmp_path / "ledger.sqlite3").spent() == {"sex": 1}

    def test_a_study_that_asks_otherwise_is_refused_before_records_are_opened(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        columns = {"groups": {"sex": "gender"}, "truth": "sick", "prediction": "alarm"}
        for records in ("patients.csv", "nowhere.csv"):
            may = {"columns": columns, "metrics": {"sick": [0, 5]}}
            path = prepared(tmp_path, **may)
            path.write_text(path.read_text().replace("patients.csv", records))
            levels_study().save(tmp_path / "study.json")
            given = ["--site", str(path), "--output", str(tmp_path / "answer.json")]
            assert main([str(tmp_path / "study.json"), *given]) == 1
            said = capsys.readouterr().err
            assert said == f"fairgauge: {refusal_text('asked')}\n"
        assert not (tmp_path / "ledger.sqlite3").exists()

    @pytest.mark.parametrize("more", [("--limit", "9"), ("--records", "x.csv"), ("--group-column", "a"), ("--empty",)])
    def test_what_the_file_says_is_not_said_beside_it(self, more: tuple[str, ...], tmp_path: Path) -> None:
        assert self.run(tmp_path, confusion_study(), *more) == 2

    def test_a_device_has_no_such_file(self, tmp_path: Path) -> None:
        assert self.run(tmp_path, sample_study()) == 2


def test_a_column_of_an_attribute_that_the_study_has_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*typed(tmp_path, "male,1,0\n"), "--group-column", "age=sex"]) == 2
    assert "must be for one of sex" in capsys.readouterr().err


SITES_ONLY = ("group-column", "truth-column", "prediction-column", "value-column", "person-column", "records", "output")


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (sample_study, (*SITES_ONLY, "issuer")),
        (confusion_study, ("relay", "issuer", "wait", "now", "value-column")),
        (levels_study, ("relay", "issuer", "truth-column", "prediction-column")),
    ],
)
def test_an_option_that_would_change_nothing_is_refused_by_its_name(
    make: Any, names: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make().save(tmp_path / "study.json")
    for name in names:
        typed = [str(tmp_path / "study.json"), "--ledger", str(tmp_path / "ledger"), f"--{name}"]
        assert main(typed if name in ("wait", "now") else [*typed, "https://somewhere.example"]) == 2
        assert capsys.readouterr().err.startswith(f"fairgauge: {name}=given: is ")
    assert not (tmp_path / "ledger").exists()
