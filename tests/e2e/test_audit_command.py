"""``fairgauge audit`` from the command line.

Covers: fairgauge.cli.audit.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fairgauge.cli import main
from tests.samples import sample_question, sample_study


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["fairgauge", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


@pytest.fixture
def study(tmp_path: Path) -> str:
    path = tmp_path / "study.json"
    path.write_bytes(sample_study().to_bytes())
    return str(path)


def test_the_honest_client_passes(monkeypatch: pytest.MonkeyPatch, study: str, capsys: pytest.CaptureFixture[str]):
    assert run(monkeypatch, "audit", study, "--samples", "2000", "--confidence", "0.999999") == 0
    shown = capsys.readouterr().out
    assert "declared  epsilon 1.1000" in shown
    assert "Nothing beyond what the study declares." in shown


def test_a_leaking_client_is_caught(monkeypatch: pytest.MonkeyPatch, study: str, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr("fairgauge.client.randomiser.draw_symbol", lambda channel, group, position: group)
    assert run(monkeypatch, "audit", study, "--samples", "500", "--json") == 1
    document = json.loads(capsys.readouterr().out)
    (question,) = document["questions"]
    assert question["caught"] is True
    assert question["epsilon_at_least"] > 3
    assert document["samples"] == 500


def test_a_study_that_is_not_private_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "study.json"
    path.write_bytes(sample_study(replace(sample_question(), epsilon="0.5")).to_bytes())
    assert run(monkeypatch, "audit", str(path)) == 1
    assert capsys.readouterr().err


def test_bad_options_are_named(monkeypatch: pytest.MonkeyPatch, study: str, capsys: pytest.CaptureFixture[str]):
    assert run(monkeypatch, "audit", study, "--samples", "1") == 2
    assert "samples=1" in capsys.readouterr().err
    assert run(monkeypatch, "audit", study, "--samples", "10", "--confidence", "1.5") == 2
    assert "confidence=1.5" in capsys.readouterr().err
