"""docs/commands.md and the command line agree: every command and option is there, and nothing else is."""

import re
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from fairgauge.cli import app

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
COMMANDS = [
    "answer", "audit", "design", "estimate", "paper", "plan", "report", "serve", "simulate", "tally", "tickets",
    "token", "verify",
]  # fmt: skip


def actual_commands() -> dict[str, TyperCommand]:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    return {name: command for name, command in group.commands.items() if isinstance(command, TyperCommand)}


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


def options_of(command: TyperCommand) -> set[str]:
    names = {name for parameter in command.params if isinstance(parameter, TyperOption) for name in parameter.opts}
    return names - {"--help"}


def test_the_commands_are_the_ones_we_meant():
    assert sorted(actual_commands()) == COMMANDS


def test_every_command_has_a_section_and_every_section_a_command():
    assert sorted(sections(PAGE)) == sorted(actual_commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_row_and_every_row_an_option(name: str):
    assert option_rows(sections(PAGE)[name]) == options_of(actual_commands()[name])


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help(name: str):
    command = actual_commands()[name]
    assert command.help
    assert [parameter.name for parameter in command.params if not getattr(parameter, "help", None)] == []


def test_a_missing_row_would_be_noticed():
    page = "## `fairgauge plan`\n\n| option | |\n|---|---|\n| `--epsilon` E | |\n| `-o`, `--output` FILE | |\n"
    assert option_rows(sections(page)["plan"]) == {"--epsilon", "-o", "--output"}
