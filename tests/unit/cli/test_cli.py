"""The command line as a whole.

Covers: fairgauge.cli.commands, fairgauge.cli.entry, fairgauge.cli._options.
"""

import subprocess
import sys

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from fairgauge import __version__
from fairgauge.cli import main, make_app
from fairgauge.cli.commands import COMMANDS
from fairgauge.client import agent_command, command
from fairgauge.errors import FairgaugeError, MissingExtra
from tests.unit.cli.conftest import Run


def test_version(fairgauge: Run):
    assert fairgauge("--version") == (0, f"fairgauge {__version__}\n", "")


def test_help_lists_every_command(fairgauge: Run):
    done = fairgauge("--help")
    assert done.status == 0
    assert [line.split()[0] for line in done.out.splitlines() if line.startswith("  ")] == list(COMMANDS)


def test_no_command_at_all_shows_the_same_help_and_is_an_error(fairgauge: Run):
    assert fairgauge() == (2, fairgauge("--help").out, "")


def test_help_says_of_a_command_what_the_command_says_of_itself():
    group = get_command(make_app())
    assert isinstance(group, TyperGroup)
    own = {name: (command.help or "").splitlines()[0] for name, command in group.commands.items()}
    bare = {"agent": agent_command.make_parser(), "answer": command.make_parser()}
    assert {**own, **{name: parser.description for name, parser in bare.items()}} == COMMANDS


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_load_no_more_than_answering_does(option: str):
    code = "import sys, atexit; atexit.register(lambda: sys.stderr.write(' '.join(sys.modules)))"
    code += f"; sys.argv[1:] = [{option!r}]; from fairgauge.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"typer", "numpy", "fairgauge.channel"}.isdisjoint(done.stderr.split())


def test_a_command_loads_no_other_command():
    group = get_command(make_app(["verify"]))
    assert isinstance(group, TyperGroup)
    assert list(group.commands) == ["verify"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(fairgauge: Run, command: str):
    done = fairgauge(command, "--help")
    assert done.status == 0
    assert "usage" in done.out.lower()


@pytest.mark.parametrize("arguments", [["guess"], ["plan", "--groups", "a"], ["verify"], ["estimate", "s.json"]])
def test_what_cannot_be_parsed_exits_with_2(fairgauge: Run, arguments: list[str]):
    done = fairgauge(*arguments)
    assert done.status == 2
    assert done.err
    assert "Traceback" not in done.err


def test_without_typer_it_names_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(MissingExtra, match=r"the command line needs typer: pip install 'fairgauge\[lab\]'"):
        make_app()


def test_a_missing_extra_exits_with_1(monkeypatch: pytest.MonkeyPatch, fairgauge: Run):
    monkeypatch.setitem(sys.modules, "typer", None)
    done = fairgauge("plan", "--clients", "10")
    assert done.status == 1
    assert done.err == "fairgauge: the command line needs typer: pip install 'fairgauge[lab]'\n"


def test_an_unknown_command_is_told_the_known_ones(fairgauge: Run):
    done = fairgauge("tickets")
    assert (done.status, done.err.startswith("fairgauge: command=tickets: must be one of new, ")) == (2, True)


def test_nothing_in_an_error_steers_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """What is wrong may come from a file of unknown origin."""

    def fails(_typed: list[str]) -> int:
        raise FairgaugeError("a title\x1b]0;owned\x07 with\x1b[2J colours\nand a second line")

    monkeypatch.setattr("fairgauge.cli.entry._run", fails)
    with pytest.raises(SystemExit) as status:
        main()
    assert status.value.code == 1
    said = capsys.readouterr().err
    assert said == "fairgauge: a title\\x1b]0;owned\\x07 with\\x1b[2J colours\\nand a second line\n"
