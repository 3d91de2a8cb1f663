"""The command line as a whole."""

import sys

import pytest

from fairgauge import __version__
from fairgauge.cli import COMMANDS, make_app
from fairgauge.errors import MissingExtra
from tests.unit.cli.conftest import Run


def test_version(fairgauge: Run):
    assert fairgauge("--version") == (0, f"fairgauge {__version__}\n", "")


def test_help_lists_every_command(fairgauge: Run):
    done = fairgauge("--help")
    assert done.status == 0
    assert all(command in done.out for command in COMMANDS)


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


def test_a_missing_extra_exits_with_2(monkeypatch: pytest.MonkeyPatch, fairgauge: Run):
    monkeypatch.setitem(sys.modules, "typer", None)
    done = fairgauge("--help")
    assert done.status == 2
    assert done.err == "fairgauge: the command line needs typer: pip install 'fairgauge[lab]'\n"
