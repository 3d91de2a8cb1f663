"""What a site is shown before its counts leave.

Covers: fairgauge.client.command.
"""

from pathlib import Path
from typing import Any

import pytest

from fairgauge.client import Answer, Ledger, answer
from fairgauge.client.command import main, table
from fairgauge.client.refusals import refusal_text
from fairgauge.errors import CannotAnswer
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


def typed(folder: Path, settings: Path) -> list[str]:
    confusion_study().save(folder / "study.json")
    return [str(folder / "study.json"), "--site", str(settings), "--output", str(folder / "answer.json")]


@pytest.mark.parametrize("terminal", [True, False])
def test_what_records_hold_does_not_decide(
    terminal: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where not one of them counts, and not at a terminal either: the site was told when it was set up."""
    if terminal:
        monkeypatch.setattr("sys.stdin", Terminal())
    settings = prepared(tmp_path, "who,gender,sick,alarm\na,,1,0\nb,other,1,1\nc,male,1,yes\n")
    assert main(typed(tmp_path, settings)) == 0
    assert capsys.readouterr().err == (
        "3 of 3 records were left out: they lack a person, a group that the study lists, or an outcome\n"
    )
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {"sex": 1}
    assert main(typed(tmp_path, prepared(tmp_path))) == 0
    assert capsys.readouterr().err == "", "it was answered before, and no record is read"


@pytest.mark.parametrize("ruined", [b"PAR1 no table", b"", None], ids=["no table", "empty", "gone"])
def test_a_table_that_cannot_be_read_is_none_of_the_studys_business(tmp_path: Path, ruined: bytes | None) -> None:
    """It was read before a study was known; no option reads one when whoever picked the study is watching."""
    settings = prepared(tmp_path)
    table = tmp_path / "patients.csv"
    table.unlink() if ruined is None else table.write_bytes(ruined)
    assert main(typed(tmp_path, settings)) == 0
    assert len(Answer.load(tmp_path / "answer.json").payload) == 8
    for table_typed in ("--records", "--group-column", "--person-column", "--empty"):
        with pytest.raises(SystemExit):
            main([*typed(tmp_path, settings), table_typed, str(table)])


def test_a_table_is_no_records_yet(tmp_path: Path) -> None:
    """In Python as well: what is held is read before, or nothing is drawn and charged."""
    ledger = Ledger(tmp_path / "ledger")
    for given in ({"sex": ["female"], "truth": [1], "prediction": [1]}, None, tmp_path / "patients.csv"):
        with pytest.raises(CannotAnswer, match="Records that were read before"):
            ledger.answer(confusion_study(), given)
        with pytest.raises(CannotAnswer, match="Records that were read before"):
            answer(confusion_study(), given)
    assert ledger.spent() == {}


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

    @pytest.mark.parametrize("more", [("--limit", "9"), ("--study-limit", "9"), ("--ledger", "another")])
    def test_what_the_file_says_is_not_said_beside_it(self, more: tuple[str, ...], tmp_path: Path) -> None:
        assert self.run(tmp_path, confusion_study(), *more) == 2

    def test_a_device_has_no_such_file(self, tmp_path: Path) -> None:
        assert self.run(tmp_path, sample_study()) == 2


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (sample_study, ("site", "output", "issuer")),
        (confusion_study, ("relay", "issuer", "wait", "now", "ledger", "limit", "study-limit")),
    ],
)
def test_an_option_that_would_change_nothing_is_refused_by_its_name(
    make: Any, names: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make().save(tmp_path / "study.json")
    for name in names:
        typed = [str(tmp_path / "study.json"), f"--{name}"]
        typed = typed if name in ("wait", "now") else [*typed, "4" if "limit" in name else "https://somewhere.example"]
        assert main(typed) == 2
        assert capsys.readouterr().err.startswith(f"fairgauge: {name}=given: ")
    assert not (tmp_path / "ledger").exists()
