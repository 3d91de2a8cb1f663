"""``fairgauge paper`` from the command line.

Covers: fairgauge.cli.paper.
"""

import json
import sys
from pathlib import Path

import pytest

from fairgauge.cli import main


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["fairgauge", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_errata_are_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run(monkeypatch, "paper", "errata", "-o", str(tmp_path / "out")) == 0
    assert "errata.html" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "out" / "results.json").read_text())["errata"]) == 10


def test_the_dataset_without_its_archive(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert run(monkeypatch, "paper", "dataset", "-o", str(tmp_path)) == 1
    shown = " ".join(capsys.readouterr().err.split())
    assert "Datasets_Healthy_Older_People.zip" in shown
    assert "10.24432/C5GG6B" in shown
    assert list(tmp_path.iterdir()) == []


def test_all_parts_but_the_dataset_are_redone_without_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    done: list[str] = []

    def publish(part: str, folder: Path, *, data: Path | None, step: object) -> list[Path]:
        from fairgauge.paper.dataset import SensorReadings

        if part == "dataset":
            SensorReadings.read(data)
        done.append(part)
        return [folder / f"{part}.md"]

    monkeypatch.setattr("fairgauge.paper.pages.publish", publish)
    assert run(monkeypatch, "paper", "-o", str(tmp_path)) == 1
    assert done == ["table1", "table2", "coverage", "figures", "errata"]
    assert "C5GG6B" in " ".join(capsys.readouterr().err.split())


def test_an_unknown_part_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    assert run(monkeypatch, "paper", "table3") == 2
    assert "table3" in capsys.readouterr().err


def test_a_data_file_that_is_not_there_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert run(monkeypatch, "paper", "-o", str(tmp_path / "out"), "--data", str(tmp_path / "nowhere.zip")) == 2
    shown = " ".join(capsys.readouterr().err.split())
    assert "--data" in shown
    assert "nowhere.zip" in shown
    assert not (tmp_path / "out").exists()
