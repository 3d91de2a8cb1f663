"""The command line: one small file per command, and no mathematics.

Exit status: 0 fine, 1 the answer is no (not private, impossible, cannot be estimated), 2 bad input.
"""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fairgauge import __version__
from fairgauge.cli.overview import COMMANDS, SENTENCE, overview
from fairgauge.errors import FairgaugeError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    import typer


def make_app(commands: Iterable[str] = COMMANDS) -> "typer.Typer":
    """Return the application with these commands; each loads what it needs."""
    try:
        import typer
    except ImportError:
        raise MissingExtra("the command line needs typer", "lab") from None
    from importlib import import_module

    app = typer.Typer(
        name="fairgauge",
        help=SENTENCE,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    # A callback makes this a group, even of one command.
    app.callback()(lambda: None)
    for command in commands:
        app.command(command)(getattr(import_module(f"fairgauge.cli.{command}"), command))
    return app


def __getattr__(name: str) -> "typer.Typer":
    # Lazily, so that the device's half of the package can say what is missing.
    if name == "app":
        return make_app()
    raise AttributeError(name)


def main() -> None:
    """Run the command line."""
    first, rest = (sys.argv[1] if sys.argv[1:] else ""), sys.argv[2:]
    if first == "answer":
        # A device has the base package only; and a process that sees a person's data loads no more than it needs.
        from fairgauge.client.command import main as answer

        sys.exit(answer(rest))
    if first in ("", "--help", "--version"):
        # Help does not wait for the laboratory to load.
        sys.stdout.write(f"fairgauge {__version__}\n" if first == "--version" else overview())
        sys.exit(0 if first else 2)
    try:
        make_app([first] if first in COMMANDS else COMMANDS)()
    except FairgaugeError as error:
        # What is wrong may come from a file of unknown origin: nothing in it shall steer the terminal.
        text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(error))
        sys.stderr.write(f"fairgauge: {text}\n")
        sys.exit(2 if isinstance(error, InvalidInput | MissingExtra) else 1)
    except BrokenPipeError:
        sys.exit(0)
