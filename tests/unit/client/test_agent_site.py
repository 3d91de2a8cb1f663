"""The agent of a site: whoever asks gets noisy counts once, and can read no record.

Covers: fairgauge.client.agent_command.
"""

import json
import logging
import os
from pathlib import Path
from typing import Any

import pytest

from fairgauge.client import Answer, Ledger
from fairgauge.client.agent import Agent
from fairgauge.client.agent_command import main
from fairgauge.client.agent_settings import AgentSettings
from fairgauge.client.agent_socket import ask_agent
from fairgauge.client.refusals import Refusal
from fairgauge.client.site_settings import SiteSettings
from tests.samples import sample_study
from tests.sites import confusion_study
from tests.unit.client.test_agent_socket import serving

STUDY = confusion_study()
MARK = "platypus"


def settled(here: Path, records: str = f"who,sex,truth,prediction\n{MARK},male,1,0\n", **more: Any) -> Path:
    (here / "patients.csv").touch(mode=0o600)
    (here / "patients.csv").write_text(records)
    may = {"attributes": {"sex": ["female", "male"]}, "confusion": True}
    (here / "site.json").write_text(json.dumps({"records": "patients.csv", "columns": {"person": "who"}, **may}))
    (here / "agent.json").write_text(json.dumps({"site": "site.json", **more}))
    SiteSettings.load(here / "site.json").prepare()
    return here / "agent.json"


def ask(settings: Path, study: Any = STUDY, verb: bytes = b"answer") -> str:
    return Agent(AgentSettings.load(settings)).conversation().reply(verb + b" " + study.to_bytes()).decode()


def test_one_table_over_the_socket_however_often_it_is_asked(tmp_path: Path) -> None:
    settings = settled(tmp_path)
    with serving(settings):
        first = ask_agent(tmp_path / "agent.sock", STUDY, lambda: pytest.fail("a site measures nothing"))
        assert ask_agent(tmp_path / "agent.sock", STUDY) == first
    assert isinstance(first, Answer)
    assert len(first.payload) == 8
    assert ask(settings, verb=b"check") == "ok answered"
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {"sex": 1}


def test_what_a_sites_agent_refuses(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert ask(settled(tmp_path), verb=b"check") == "ok ready"
    assert ask(settled(tmp_path), sample_study()) == "no unable", "it holds no person"
    assert ask(settled(tmp_path, studies=["0" * 64])) == "no asked"
    settled(tmp_path)
    (tmp_path / "ledger.records").unlink()
    assert ask(tmp_path / "agent.json") == "no device", "it is not set up"
    assert MARK not in caplog.text
    (tmp_path / "agent.json").write_text("{}")
    assert ask(tmp_path / "agent.json") == "no unable", "without a site's file it is a person's"
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {}


@pytest.mark.parametrize(
    "record", [f"1,{MARK},1,0", f"1,male,{MARK},0", ",male,1,0", "1,,,", MARK, f"1,male,1,0,{MARK}"]
)
def test_no_record_keeps_a_site_from_answering(record: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert ask(settled(tmp_path, f"who,sex,truth,prediction\n{record}\n")).startswith("ok {")
    assert MARK not in caplog.text
    assert Ledger(tmp_path / "ledger.sqlite3").spent() == {"sex": 1}


@pytest.mark.parametrize(("name", "mode"), [("patients.csv", 0o644), ("site.json", 0o646), ("ledger.records", 0o644)])
def test_files_that_an_asker_could_read_or_write_are_refused(name: str, mode: int, tmp_path: Path) -> None:
    settings = settled(tmp_path)
    os.chmod(tmp_path / name, mode)  # noqa: PTH101 - as a shell does
    assert ask(settings) == "no settings"
    assert main(["--check", str(settings)]) == 2


def test_the_check_says_what_is_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", str(settled(tmp_path))]) == 0
    said = capsys.readouterr().out
    assert said == (
        f"{tmp_path}/agent.sock: studies of truth by prediction by sex (female, male), for sites, from "
        f"{tmp_path}/patients.csv, at most epsilon 4 a study and 8 an attribute for each person\n"
    )


def test_the_check_tells_the_owner_that_records_are_not_prepared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settled(tmp_path)
    (tmp_path / "ledger.records").unlink()
    for own in (settings, tmp_path / "site.json"):
        assert main(["--check", str(own)]) == 1
        assert "fairgauge agent --prepare" in capsys.readouterr().err


def test_nobody_there_is_a_refusal(tmp_path: Path) -> None:
    found = ask_agent(tmp_path / "agent.sock", STUDY)
    assert isinstance(found, Refusal)
    assert found.code == "agent"
