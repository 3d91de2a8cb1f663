"""docs/commands.md and the command line agree: every command and option is there, and nothing else is."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from docs import help_texts
from fairgauge.cli import make_app
from fairgauge.cli.commands import COMMANDS as LISTED
from fairgauge.cli.entry import HELP_TEXTS
from fairgauge.client import agent_command
from fairgauge.client.command import make_parser

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
COMMANDS = [
    "agent", "answer", "audit", "design", "embed", "estimate", "issuer", "key", "ledger", "new", "paper", "plan",
    "relay", "report", "serve", "simulate", "store", "tally", "terms", "texts", "ticket", "token", "verify",
]  # fmt: skip
BARE = {"agent": agent_command.make_parser, "answer": make_parser}
GROUPS = {
    "issuer": ["key", "ticket", "serve"],
    "key": ["show", "rotate", "gateway", "adopt"],
    "ledger": ["spent", "check"],
    "store": ["check", "backup", "restore", "migrate", "forget", "log"],
    "ticket": ["new"],
    "token": ["new", "list", "revoke"],
}


@cache
def actual_commands() -> dict[str, list[TyperCommand]]:
    """Return typer's commands; a group is the list of its own."""
    top = get_command(make_app())
    assert isinstance(top, TyperGroup)
    found: dict[str, list[TyperCommand]] = {}
    for name, command in top.commands.items():
        inner = list(command.commands.values()) if isinstance(command, TyperGroup) else [command]
        found[name] = [one for one in inner if isinstance(one, TyperCommand)]
    return found


def sections(page: str) -> dict[str, str]:
    """Return the text under each ``## `fairgauge name` `` heading, by name."""
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)[1:]
    titled = dict(zip(parts[::2], parts[1::2], strict=True))
    return {title[11:-1]: text for title, text in titled.items() if title.startswith("`fairgauge ")}


def option_rows(section: str) -> set[str]:
    """Return the options that have a row of their own in a section's table."""
    return {
        name
        for row in re.findall(r"^\| (`-.+?) \|", section, flags=re.MULTILINE)
        for name in re.findall(r"--?[a-z][a-z-]*", row)
    }


def options_of(name: str) -> set[str]:
    if name in BARE:  # which a device runs without typer
        parser = BARE[name]()
        found = {text for action in parser._actions for text in action.option_strings if action.dest != "help"}
    else:
        parameters = [one for command in actual_commands()[name] for one in command.params]
        found = {text for one in parameters if isinstance(one, TyperOption) for text in one.opts}
    return found - {"--help"}


def unknown_options(text: str) -> set[str]:
    """Return the options that a text names with a command of ours, and that this command does not have."""
    return {
        f"{name} {option}"
        for name, rest in re.findall(r"`fairgauge ([a-z]+)\b([^`]*)`", text)
        for option in set(re.findall(r"(?<!\S)--[a-z][a-z-]*", rest)) - options_of(name) - {"--help"}
    }


def test_sentences_name_options_that_are_there():
    """Blocks are run by other tests; what stands within a line is not."""
    assert unknown_options("`fairgauge audit --client` and `fairgauge tally a --engine x`") == {"audit --client"}
    pages = {*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("examples/*/README.md")}
    # One page compares the study's own file with the commands of before, and the changelog tells of them.
    pages -= {ROOT / "docs" / "study-file.md", ROOT / "CHANGELOG.md"}
    unknown = {page.name: unknown_options(page.read_text(encoding="utf-8")) for page in pages}
    assert {name: options for name, options in unknown.items() if options} == {}


def test_the_commands_are_the_ones_we_meant():
    assert sorted([*BARE, *actual_commands()]) == sorted(LISTED) == COMMANDS
    assert {name: [one.name for one in actual_commands()[name]] for name in GROUPS} == GROUPS


def test_every_command_has_a_section_and_every_section_a_command():
    assert sorted(sections(PAGE)) == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_row_and_every_row_an_option(name: str):
    assert option_rows(sections(PAGE)[name]) == options_of(name)


def test_every_command_and_option_has_help():
    for command in (one for found in actual_commands().values() for one in found):
        assert command.help
        assert [one.name for one in command.params if not getattr(one, "help", None)] == []
    assert [action.dest for action in make_parser()._actions if not action.help] == []


def test_a_missing_row_would_be_noticed():
    page = "## `fairgauge plan`\n\n| option | |\n|---|---|\n| `--epsilon` E | |\n| `-o`, `--output` FILE | |\n"
    assert option_rows(sections(page)["plan"]) == {"--epsilon", "-o", "--output"}


def test_kept_help_is_that_of_the_commands():
    kept = json.loads(HELP_TEXTS.read_text(encoding="utf-8"))
    assert kept == help_texts.texts(), "python -m docs.help_texts --write makes it again"
    assert "list[" not in str(kept)


def test_help_loads_no_laboratory():
    typed = "import sys; sys.argv = ['fairgauge', 'plan', '--help']; from fairgauge.cli import main\n"
    code = typed + "try:\n    main()\nfinally:\n    print({'numpy', 'typer'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: fairgauge plan")
    assert done.stdout.endswith("set()\n")
