"""What a site is shown before its counts leave."""

from pathlib import Path

import pytest

from fairgauge.client import Answer, Ledger
from fairgauge.client.command import main
from fairgauge.client.site_command import table
from fairgauge.study import Attribute, Metric, NoisyCounts
from tests.sites import confusion_study
from tests.unit.client.test_command import Terminal

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
