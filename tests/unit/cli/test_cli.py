"""The command line as a whole."""

import subprocess
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
    done = fairgauge("plan")
    assert done.status == 2
    assert done.err == "fairgauge: the command line needs typer: pip install 'fairgauge[lab]'\n"


@pytest.mark.parametrize("typed", ["--help", "--version"])
def test_help_and_version_load_no_command_and_no_library(typed: str):
    code = (
        f"import sys\nsys.argv = ['fairgauge', {typed!r}]\nfrom fairgauge.cli import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "assert not {'typer', 'numpy', 'click', 'rich', 'fairgauge.study', 'fairgauge.cli.plan'} & {*sys.modules}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_command_loads_no_other_command():
    code = (
        "import sys\nfrom fairgauge.cli import make_app\nmake_app(['token'])\n"
        "sys.exit('fairgauge.cli.plan' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_command_is_told_the_known_ones(fairgauge: Run):
    done = fairgauge("tickets")
    assert (done.status, done.err.startswith("fairgauge: command=tickets: must be one of plan, ")) == (2, True)


def test_nothing_typed_is_a_question_for_help(fairgauge: Run):
    assert fairgauge() == fairgauge("--help")
