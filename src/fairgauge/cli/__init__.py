"""The command line: one small file per command, and no mathematics.

Exit status: 0 fine, 1 the answer is no (not private, impossible, cannot be estimated), 2 bad input.
"""

import sys
from typing import TYPE_CHECKING

from fairgauge.errors import FairgaugeError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    import typer

COMMANDS = (
    "plan", "design", "verify", "answer", "simulate", "tally", "estimate", "report", "serve", "token", "tickets",
    "audit", "paper",
)  # fmt: skip


def make_app() -> "typer.Typer":
    """Return the application with every command."""
    try:
        import typer
    except ImportError:
        raise MissingExtra("the command line needs typer", "lab") from None
    from importlib import import_module

    app = typer.Typer(
        name="fairgauge",
        help="Measure how differently a model serves groups of people, without learning who belongs to which group.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    for command in COMMANDS:
        app.command(command)(getattr(import_module(f"fairgauge.cli.{command}"), command))

    @app.callback(invoke_without_command=True)
    def top(version: bool = typer.Option(False, "--version", help="Print the version.", is_eager=True)) -> None:
        if version:
            from fairgauge import __version__

            typer.echo(f"fairgauge {__version__}")
            raise typer.Exit

    return app


def __getattr__(name: str) -> "typer.Typer":
    # Lazily, so that the device's half of the package can say what is missing.
    if name == "app":
        return make_app()
    raise AttributeError(name)


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["answer"]:
        # A device has the base package only; and a process that sees a person's data loads no more than it needs.
        from fairgauge.client.command import main as answer

        sys.exit(answer(sys.argv[2:]))
    try:
        make_app()()
    except FairgaugeError as error:
        # What is wrong may come from a file of unknown origin: nothing in it shall steer the terminal.
        text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(error))
        sys.stderr.write(f"fairgauge: {text}\n")
        sys.exit(2 if isinstance(error, InvalidInput | MissingExtra) else 1)
    except BrokenPipeError:
        sys.exit(0)
