"""The commands, and the way from what was typed to the one that is meant.

Help and version need no command, so they load none; a command loads its own file and no other's.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from fairgauge.errors import FairgaugeError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterable

    import typer

SUMMARY = "Measure how differently a model serves groups of people, without learning who belongs to which group."
# Each line is the first one of the command's own help.
COMMANDS = {
    "plan": "Find how many clients, how much privacy or how small an error: give two, get the third.",
    "design": "Make a study: choose a channel, check its privacy exactly, write the document.",
    "verify": "Recompute the exact epsilon of a study, and say what it means for a person.",
    "answer": "Answer a study with one randomised symbol, once, and deliver it.",
    "simulate": "Simulate the answers of a population, exactly, at any size.",
    "tally": "Count the answers in files; refuse those that are not answers to this study.",
    "estimate": "Estimate gaps and means, with intervals that say what they guarantee.",
    "report": "Write a report: one HTML file with results, pictures, method and privacy, ready to print.",
    "serve": "Take answers over HTTP, and count each of them once.",
    "token": "Make, list and revoke the tokens of operators and readers.",
    "ticket": "Make tickets, each of which lets one device answer a study once.",
    "audit": "Answer a study as a device does, many times, and bound its epsilon from below by what comes out.",
    "paper": "Redo the source paper's tables, figures and dataset, and write what is true beside each.",
}


def make_app(names: "Iterable[str]" = COMMANDS) -> "typer.Typer":
    """Return an application with these commands.

    ``answer`` is not one of typer's: the process that sees a person's data runs on the standard library alone
    (:mod:`fairgauge.client.command`).
    """
    try:
        import typer
    except ImportError:
        raise MissingExtra("the command line needs typer", "lab") from None
    app = typer.Typer(
        name="fairgauge",
        help=SUMMARY,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for name in names:
        if name == "answer":
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


def help_text() -> str:
    """Return the list of commands."""
    lines = [f"  {name:<10}{summary}" for name, summary in COMMANDS.items()]
    usage = ("Usage: fairgauge COMMAND [ARGS]...", SUMMARY, "\n".join(["Commands:", *lines]))
    options = "Options:\n  --version  Print the version.\n  --help     Print this; fairgauge COMMAND --help says more."
    return "\n\n".join([*usage, options]) + "\n"


def main() -> None:
    """Run the command line."""
    try:
        sys.exit(_run(sys.argv[1:]))
    except FairgaugeError as error:
        # What is wrong may come from a file of unknown origin: nothing in it shall steer the terminal.
        text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(error))
        sys.stderr.write(f"fairgauge: {text}\n")
        sys.exit(2 if isinstance(error, InvalidInput | MissingExtra) else 1)
    except BrokenPipeError:
        sys.exit(0)


def _run(typed: list[str]) -> int:
    first = typed[0] if typed else "--help"
    if first in ("--help", "--version"):
        from fairgauge import __version__

        sys.stdout.write(help_text() if first == "--help" else f"fairgauge {__version__}\n")
        return 0
    if first == "answer":
        from fairgauge.client.command import main as answer

        return answer(typed[1:])
    if first not in COMMANDS:
        raise InvalidInput("command", first, "must be one of " + ", ".join(COMMANDS))
    make_app([first])()
    return 0
