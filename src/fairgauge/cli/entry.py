"""From what was typed to the command that is meant.

Help and version need no command, so they load none; a command loads its own file and no other's.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from fairgauge import __version__
from fairgauge.cli.commands import BARE, COMMANDS, SENTENCE, overview
from fairgauge.errors import BadRecords, FairgaugeError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterable

    import typer

# What --help of each command shows, made from the commands by docs/help_texts.py.
HELP_TEXTS = Path(__file__).with_name("help.json")


def make_app(names: "Iterable[str]" = COMMANDS) -> "typer.Typer":
    """Return an application with these commands.

    ``answer`` and ``agent`` are not typer's: a process that sees a person's data runs on the standard library alone
    (:mod:`fairgauge.client.command`, :mod:`fairgauge.client.agent_command`).
    """
    try:
        import typer
    except ImportError:
        raise MissingExtra("the command line needs typer", "lab") from None
    app = typer.Typer(
        name="fairgauge",
        help=SENTENCE,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for name in names:
        if name in BARE:
            continue
        found = getattr(import_module(f"fairgauge.cli.{name}"), name)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)

    @app.callback()
    def top() -> None:
        """Do nothing: with it, a single command keeps its name."""

    return app


def main() -> None:
    """Run the command line."""
    try:
        sys.exit(_run(sys.argv[1:]))
    except FairgaugeError as error:
        # What is wrong may come from a file of unknown origin: nothing in it shall steer the terminal.
        for one in error.problems if isinstance(error, BadRecords) else (error,):
            text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(one))
            sys.stderr.write(f"fairgauge: {text}\n")
        sys.exit(2 if isinstance(error, InvalidInput) else 1)
    except BrokenPipeError:
        sys.exit(0)


def _run(typed: list[str]) -> int:
    first = typed[0] if typed else ""
    if first in ("", "--help", "--version"):
        sys.stdout.write(f"fairgauge {__version__}\n" if first == "--version" else overview())
        return 0 if first else 2
    if first in ("--install-completion", "--show-completion"):
        from fairgauge.cli.completion import run

        sys.stdout.write(run(typed, make_app))
        return 0
    if first == "answer":
        from fairgauge.client.command import main as answer

        return answer(typed[1:])
    if first == "agent":
        from fairgauge.client.agent_command import main as agent

        return agent(typed[1:])
    if first not in COMMANDS:
        raise InvalidInput("command", first, "must be one of " + ", ".join(COMMANDS))
    if (text := _kept_help(typed)) is not None:
        sys.stdout.write(text)
        return 0
    # Our matrices are small: threads of the linear algebra would wait for each other, and double what a command takes.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    make_app([first])()
    return 0


def _kept_help(typed: list[str]) -> str | None:
    """Return the help that is asked for; None if none is, or none is kept."""
    if "--help" not in typed:
        return None
    texts: dict[str, str] = json.loads(HELP_TEXTS.read_text(encoding="utf-8"))
    return texts.get(" ".join(typed[:2]), texts.get(typed[0]))
