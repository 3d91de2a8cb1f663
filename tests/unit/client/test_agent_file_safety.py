"""An agent's files are looked at before they are used: whoever may only ask must not be able to read or change them."""

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fairgauge.client import agent_settings as agent_files
from fairgauge.client.agent import Agent, AgentSite
from fairgauge.client.agent_settings import READ, WRITE, AgentSettings, allowed, wrong
from fairgauge.errors import CannotAnswer, InvalidInput
from tests.samples import sample_study
from tests.unit.client.test_agent_socket import settle

ASK = b"answer " + sample_study().to_bytes()
SAFE = "must be safe from others"


def facts(mode: int, *, user: int, group: int) -> os.stat_result:
    return os.stat_result((0o100000 | mode, 1, 1, 1, user, group, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("mode", "socket", "mine", "may"),
    [
        (0o600, 0o600, True, 0),
        (0o660, 0o600, True, 0),  # nobody of the group may ask
        (0o660, 0o660, True, 6),
        (0o660, 0o660, False, 0),  # it is another group's
        (0o604, 0o600, False, 4),
        (0o642, 0o666, True, 6),
    ],
)
def test_what_those_who_may_ask_may_do(mode: int, socket: int, mine: bool, may: int) -> None:
    group = os.getegid() if mine else os.getegid() + 1
    assert allowed(facts(mode, user=os.geteuid(), group=group), socket) == may


def test_a_file_is_its_users_or_roots() -> None:
    for user, fine in ((os.geteuid(), True), (0, True), (os.geteuid() + 4711, False)):
        problem = wrong(Path("x"), facts(0o600, user=user, group=0), 0o600, WRITE)
        assert (problem is None) == fine
        assert wrong(Path("x"), facts(0o600, user=user, group=0), 0o600, READ, owned=False) is None


@pytest.mark.parametrize(("forbidden", "command"), [(WRITE, "go-w"), (READ, "go="), (READ | WRITE, "go=")])
def test_what_is_said_to_do_helps(forbidden: int, command: str, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.touch()
    file.chmod(0o646)
    assert str(wrong(file, file.stat(), 0o600, forbidden)).endswith(f": chmod {command} FILE")
    subprocess.run(["chmod", command, file], check=True)
    assert wrong(file, file.stat(), 0o600, forbidden) is None


@pytest.mark.parametrize("mode", [0o602, 0o620])
def test_limits_that_others_could_raise_are_no_limits(mode: int, tmp_path: Path) -> None:
    settings = settle(tmp_path, mode="660")
    AgentSettings.load(settings)
    settings.chmod(mode)
    with pytest.raises(InvalidInput, match=SAFE):
        AgentSettings.load(settings)
    settings.chmod(0o600)
    tmp_path.chmod(0o777)
    with pytest.raises(InvalidInput, match=r"the folder .* must be closed for writing"):
        AgentSettings.load(settings)
    tmp_path.chmod(0o1777)  # as /tmp is: nobody can put another file in its place
    AgentSettings.load(settings)


@pytest.mark.parametrize("place", ["agent/ledger.sqlite3", "link/ledger.sqlite3", "agent/new/ledger.sqlite3"])
def test_a_folder_that_others_could_move_is_no_place_for_a_ledger(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who can move the ledger away gets another answer for each time that they do."""
    (tmp_path / "agent").mkdir(0o700)
    (tmp_path / "link").symlink_to("agent")
    ledger = tmp_path / place
    assert agent_files.trouble(ledger, 0o660, READ | WRITE) is None
    tmp_path.chmod(0o777)
    assert "must be closed for writing" in str(agent_files.trouble(ledger, 0o660, READ | WRITE))
    tmp_path.chmod(0o1777)
    assert agent_files.trouble(ledger, 0o660, READ | WRITE) is None, "as below /tmp"
    (tmp_path / "agent").chmod(0o1777)
    beside = "must be closed for writing" in str(agent_files.trouble(ledger, 0o660, READ | WRITE))
    assert beside == (place != "agent/new/ledger.sqlite3"), "SQLite would take a journal of theirs for its own"
    assert agent_files.trouble(ledger, 0o660, WRITE) is None
    (tmp_path / "agent").chmod(0o700)
    tmp_path.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)  # the folders are somebody else's now, or root's
    problem = agent_files.trouble(ledger, 0o660, READ | WRITE)
    assert (problem is None) == (tmp_path.stat().st_uid == 0)
    monkeypatch.setattr(Path, "stat", lambda path: facts(0o700, user=4712, group=0))
    assert str(agent_files.trouble(ledger, 0o660, READ | WRITE)).startswith("the folder ")
    assert agent_files.trouble(ledger, 0o660, READ | WRITE, owned=False) is None, "records may be another program's"


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o602])
def test_a_ledger_that_others_could_read_or_change_is_not_used(mode: int, tmp_path: Path) -> None:
    agent = Agent(AgentSettings.load(settle(tmp_path, mode="660")))
    first = agent.conversation().reply(ASK)
    assert first.startswith(b"ok {")
    (tmp_path / "ledger.sqlite3").chmod(mode)
    assert agent.conversation().reply(ASK) == b"no ledger"
    (tmp_path / "ledger.sqlite3").chmod(0o600)
    assert agent.conversation().reply(ASK) == first


def test_a_profile_that_the_sockets_group_may_read_is_not_read(tmp_path: Path) -> None:
    agent = Agent(AgentSettings.load(settle(tmp_path, mode="660")))
    (tmp_path / "profile.json").chmod(0o640)
    assert agent.conversation().reply(ASK) == b"no device"
    (tmp_path / "profile.json").chmod(0o600)
    assert agent.conversation().reply(ASK).startswith(b"ok {")


def test_the_twin_that_does_not_look_uses_them_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_files, "allowed", lambda *_: 0)
    settings = settle(tmp_path, mode="660")
    for path in (settings, tmp_path / "profile.json"):
        path.chmod(0o666)
    assert Agent(AgentSettings.load(settings)).conversation().reply(ASK).startswith(b"ok {")


def test_a_file_that_cannot_be_looked_at_is_trouble(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert "cannot be used" in str(agent_files.trouble(tmp_path / "loop", 0o600, WRITE))
    assert agent_files.trouble(tmp_path / "none", 0o600, WRITE) is None


def test_how_long_a_profile_is_cannot_be_seen_by_those_who_may_ask() -> None:
    """``male`` is two letters shorter than ``female``: who may not read a file may still ask how long it is."""
    with TemporaryDirectory(dir="/tmp") as name:  # above it all folders are open
        here = Path(name)
        held = AgentSettings.load(settle(here, mode="660"))
        for mode in (0o711, 0o755, 0o710):
            here.chmod(mode)
            with pytest.raises(CannotAnswer, match="others can see how long"):
                held.check_profile()
        for mode in (0o700, 0o704):
            here.chmod(mode)
            assert held.check_profile() == []


MAY = {"attributes": {}, "confusion": True}


def test_how_long_a_sites_records_are_cannot_be_seen_either() -> None:
    with TemporaryDirectory(dir="/tmp") as name:
        here = Path(name)
        (here / "patients.csv").touch(mode=0o600)
        (here / "site.json").write_text(json.dumps({"records": "patients.csv", **MAY}))
        AgentSite(here / "site.json", 0o666).settings()
        here.chmod(0o711)
        with pytest.raises(InvalidInput, match="others can see how long"):
            AgentSite(here / "site.json", 0o666).settings()
        (here / "kept").mkdir(mode=0o700)
        for source in ("kept/patients.csv", "patients.csv"):  # neither the table nor what was prepared from it
            own = {"records": source, "prepared": "kept/p" if source == "patients.csv" else "p", **MAY}
            (here / "site.json").write_text(json.dumps(own))
            with pytest.raises(InvalidInput, match="others can see how long"):
                AgentSite(here / "site.json", 0o666).settings()
        (here / "site.json").write_text(json.dumps({"records": "kept/patients.csv", "prepared": "kept/p", **MAY}))
        AgentSite(here / "site.json", 0o666).settings()
