"""The agent as a process that is asked over its socket.

Covers: fairgauge.client.agent_socket, fairgauge.client.agent_command.
"""

import json
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairgauge.client import Answer, Ledger, agent_socket
from fairgauge.client.agent import Agent
from fairgauge.client.agent_command import main
from fairgauge.client.agent_settings import AgentSettings
from fairgauge.client.agent_socket import AgentService, ask_agent
from fairgauge.client.refusals import Refusal
from fairgauge.errors import InvalidInput
from tests.samples import sample_study, two_questions

SOURCE = Path(__file__).parents[3] / "src"
STUDY = sample_study()


def settle(here: Path, **settings: Any) -> Path:
    here.mkdir(exist_ok=True)
    (here / "agent.json").write_text(json.dumps(settings))
    (here / "profile.json").touch(mode=0o600)
    (here / "profile.json").write_text('{"group": {"sex": "female"}, "values": {"recall": 0.5}}')
    return here / "agent.json"


@contextmanager
def serving(*settings: Path) -> Iterator[None]:
    service = AgentService([Agent(AgentSettings.load(path)) for path in settings])
    thread = threading.Thread(target=service.run)
    thread.start()
    try:
        for path in settings:
            _wait_for(path.parent / "agent.sock")
        yield
    finally:
        service.stop()
        thread.join()


def _wait_for(path: Path) -> None:
    for _ in range(10_000):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(path))
            except OSError:
                threading.Event().wait(0.01)
            else:
                return
    raise AssertionError("the agent does not start")


def never() -> Any:
    raise AssertionError("nobody asked for this")


def test_two_people_in_one_process_each_answer_once(tmp_path: Path) -> None:
    with serving(settle(tmp_path / "a"), settle(tmp_path / "b")):
        first = [ask_agent(tmp_path / name / "agent.sock", STUDY, never) for name in "ab"]
        again = [ask_agent(tmp_path / name / "agent.sock", STUDY, never) for name in "ab"]
    assert first == again
    assert all(isinstance(answer, Answer) for answer in first)
    assert len({answer.id for answer in first if isinstance(answer, Answer)}) == 2
    assert not (tmp_path / "a" / "agent.sock").exists()


def test_many_who_ask_at_once_get_one_answer(tmp_path: Path) -> None:
    found: list[Any] = []
    with serving(settle(tmp_path)):
        asking = [
            threading.Thread(target=lambda: found.append(ask_agent(tmp_path / "agent.sock", STUDY))) for _ in range(8)
        ]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_values_are_asked_for_only_where_the_file_says_so_and_only_once(tmp_path: Path) -> None:
    asked = []

    def values() -> dict[str, float]:
        asked.append(1)
        return {"recall": 0.25, "other": 7}

    with serving(settle(tmp_path, askers_give=["recall"])):
        path = tmp_path / "agent.sock"
        first, second = ask_agent(path, STUDY, values), ask_agent(path, STUDY, values)
        lacking = ask_agent(path, two_questions(), lambda: {"recall": float("nan")})
    assert isinstance(lacking, Answer), "what is not measured is answered, too"
    assert isinstance(first, Answer)
    assert first == second
    assert asked == [1]


def heard_by_an_agent(path: Path, values: dict[str, Any]) -> list[str]:
    """Return the lines that an agent hears which asks for some values, without the study."""
    heard: list[str] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as door:
        door.bind(str(path))
        door.listen()

        def listen() -> None:
            for _ in range(2):
                with door.accept()[0] as line, line.makefile("rwb") as talk:
                    for said in talk:
                        heard.append(said.decode().rstrip().partition(" {")[0])
                        wanted = b' values ["recall", "lacking", "odd", 7]' if heard[-1] == "check" else b""
                        talk.write(b"ok" + wanted + b"\n")
                        talk.flush()

        thread = threading.Thread(target=listen)
        thread.start()
        ask_agent(path, STUDY, lambda: values)
        thread.join()
    return heard


def test_an_agent_is_told_what_it_asks_for_and_nothing_else(tmp_path: Path) -> None:
    values = {"recall": 0.25, "other": 7, "odd": "much"}
    assert heard_by_an_agent(tmp_path / "agent.sock", values) == ["check", "value recall=0.25", "answer"]


def test_lines_that_are_too_long_or_cut_off_are_no_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_socket, "_LONGEST_LINE", 100)
    with serving(settle(tmp_path)):
        for sent in (b"answer " + b"x" * 200 + b"\n", b"hello"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
                line.connect(str(tmp_path / "agent.sock"))
                line.sendall(sent)
                line.shutdown(socket.SHUT_WR)
                with line.makefile("rb") as said:
                    assert said.read() == b"no line\n"


def connected(here: Path) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.connect(str(here / "agent.sock"))
    return line


def drip(line: socket.socket) -> None:
    for _ in range(10**6):
        line.sendall(b"a")


class Clock:
    """A clock that goes on by one second at every look."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


def test_who_drips_bytes_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_socket, "time", Clock())  # each byte takes a second, and a line may take twenty
    with serving(settle(tmp_path)), connected(tmp_path) as line:
        line.settimeout(60)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            drip(line)


def test_who_chats_for_ever_is_not_listened_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_socket, "time", Clock())
    with serving(settle(tmp_path)), connected(tmp_path) as line, line.makefile("rb") as talk:
        heard = 0
        with suppress(OSError):
            while True:
                line.sendall(b"hello\n")
                if not talk.readline():
                    break
                heard += 1
        assert 5 < heard < 60


def test_those_who_hold_all_places_keep_others_waiting_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_socket, "_MOST_CALLERS", 2)
    with serving(settle(tmp_path)), ExitStack() as stack:
        held = [stack.enter_context(connected(tmp_path)) for _ in range(2)]
        for line in held:
            line.sendall(b"hello\n")
            assert line.recv(100) == b"ok fairgauge-agent 1\n"
        waiting = stack.enter_context(connected(tmp_path))
        waiting.sendall(b"hello\n")
        waiting.setblocking(False)
        with pytest.raises(BlockingIOError):
            waiting.recv(100)  # nobody listens yet
        held[0].close()
        waiting.settimeout(60)
        assert waiting.recv(100) == b"ok fairgauge-agent 1\n"
    # And it could be stopped while all places were taken: else this would never end.


def test_it_stops_though_all_places_are_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_socket, "_MOST_CALLERS", 1)
    with ExitStack() as stack:
        with serving(settle(tmp_path)):
            for _ in range(3):
                stack.enter_context(connected(tmp_path)).sendall(b"answer ")
        assert not (tmp_path / "agent.sock").exists()


def test_measuring_takes_nobodys_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_socket, "_MOST_CALLERS", 1)

    def values() -> dict[str, float]:
        with connected(tmp_path) as line:
            line.settimeout(60)
            line.sendall(b"hello\n")
            assert line.recv(100) == b"ok fairgauge-agent 1\n"
        return {"recall": 0.25}

    with serving(settle(tmp_path, askers_give=["recall"])):
        assert isinstance(ask_agent(tmp_path / "agent.sock", STUDY, values), Answer)


def test_long_names_of_values_are_not_kept(tmp_path: Path) -> None:
    with serving(settle(tmp_path, askers_give=["recall"])), connected(tmp_path) as line:
        line.settimeout(60)
        line.sendall(b"value " + b"x" * 2000 + b"=1\nvalue recall=0.5\n")
        with line.makefile("rb") as said:
            assert (said.readline(), said.readline()) == (b"no line\n", b"ok\n")


def test_only_its_user_may_connect_unless_the_file_says_otherwise(tmp_path: Path) -> None:
    for name, mode, expected in (("a", "600", 0o600), ("b", "660", 0o660)):
        with serving(settle(tmp_path / name, mode=mode)):
            found = (tmp_path / name / "agent.sock").stat()
            assert stat.S_IMODE(found.st_mode) == expected


def test_of_two_agents_that_start_at_once_one_begins(tmp_path: Path) -> None:
    """Neither listens yet, so neither can be found by its socket."""
    one, other = (agent_socket._alone(tmp_path / "agent.sock") for _ in range(2))
    with one, pytest.raises(InvalidInput, match="is in use by an agent that is running"), other:
        pytest.fail("both begin")
    with agent_socket._alone(tmp_path / "agent.sock"):  # the first has ended
        pass


def test_a_socket_in_use_is_left_alone_and_that_of_a_dead_agent_is_not(tmp_path: Path) -> None:
    settings = settle(tmp_path)
    with serving(settings), pytest.raises(InvalidInput, match="is in use by an agent that is running"):
        AgentService([Agent(AgentSettings.load(settings))]).run()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(tmp_path / "agent.sock"))
    with serving(settings):
        assert isinstance(ask_agent(tmp_path / "agent.sock", STUDY), Answer)
    (tmp_path / "agent.sock").write_text("something else")
    with pytest.raises(InvalidInput, match="is a file of something else"):
        AgentService([Agent(AgentSettings.load(settings))]).run()


@pytest.mark.parametrize("reply", [b"", b"ok {}\n", b"no such thing\n", b"ok ready", b"\xff\n"])
def test_what_is_no_reply_is_a_refusal(reply: bytes, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
        stranger.bind(str(tmp_path / "agent.sock"))
        stranger.listen()

        def talk() -> None:
            with suppress(OSError):
                while True:
                    caller, _ = stranger.accept()
                    with caller, caller.makefile("rb") as lines:
                        for _ in lines:
                            caller.sendall(reply)
                            if not reply.endswith(b"\n"):
                                break

        thread = threading.Thread(target=talk)
        thread.start()
        refused = ask_agent(tmp_path / "agent.sock", STUDY)
        stranger.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert isinstance(refused, Refusal)
    assert refused.code in ("agent", "device")
    assert ask_agent(tmp_path / "nowhere.sock", STUDY).text.endswith("agent does not answer")  # type: ignore[union-attr]


def test_the_command_on_a_bare_python(tmp_path: Path) -> None:
    settings = settle(tmp_path)
    code = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); from fairgauge.cli import main; main()"
    command = [sys.executable, "-I", "-S", "-c", code, "agent", str(settings)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        _wait_for(tmp_path / "agent.sock")
        assert isinstance(ask_agent(tmp_path / "agent.sock", STUDY), Answer)
        running.send_signal(signal.SIGTERM)
        _, logged = running.communicate()
    assert running.returncode == 0
    told, answered = logged.splitlines()
    assert "any study, whatever attributes, groups, metrics and ranges it names" in told
    assert answered == f"study {STUDY.digest}: answered"


def test_a_pipeline_without_fairgauge(tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "agent" / "ask.py"
    (tmp_path / "study.json").write_bytes(STUDY.to_bytes())
    command = [sys.executable, "-I", "-S", str(example), "agent.sock", "study.json"]
    with serving(settle(tmp_path)):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Answer.from_bytes(done.stdout.encode()).study == STUDY.digest
    assert len(done.stdout) < 135


def test_the_check_says_what_is_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = settle(tmp_path, limit="2", askers_give=["recall"])
    assert main(["--check", str(settings)]) == 0
    assert capsys.readouterr().out == (
        f"{tmp_path}/agent.sock: any study, whatever attributes, groups, metrics and ranges it names, at most "
        "epsilon 4 a study and 2 an attribute; values of recall from who asks\n"
    )
    (tmp_path / "profile.json").chmod(0o604)
    assert main(["--check", str(settings)]) == 1
    assert "must be closed to others" in capsys.readouterr().err
    assert main([str(tmp_path / "nothing.json")]) == 2


@pytest.mark.parametrize(
    "value",
    [10**5000, -(10**5000), Decimal("1e350"), 1e-300, Fraction(1, 3), np.float64(0.5)],
    ids=["large", "negative", "decimal", "small", "fraction", "numpy"],
)
def test_a_number_of_any_length_is_answered(value: Any, tmp_path: Path) -> None:
    settings = settle(tmp_path, askers_give=["recall"])
    with serving(settings):
        assert isinstance(ask_agent(tmp_path / "agent.sock", STUDY, lambda: {"recall": value}), Answer)
    assert Ledger(tmp_path / "ledger.sqlite3").spent()
