"""``fairgauge ticket``: make tickets for a study."""

from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import options
from fairgauge.cli.show import show_json
from fairgauge.collector.notes import leave_note
from fairgauge.collector.tickets import Tickets
from fairgauge.errors import InvalidInput
from fairgauge.planning.typed import as_count

ticket = typer.Typer(
    help="Make tickets, each of which lets one device answer a study once.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@ticket.callback()
def group() -> None:
    """Make tickets, each of which lets one device answer a study once."""


@ticket.command()
def new(
    study: Annotated[str, typer.Option(help="The study's digest.", show_default=False)],
    count: Annotated[str, typer.Option(help="How many.")] = "1",
    secrets: options.Secrets = Path("fairgauge-secrets"),
    json: options.Json = False,
) -> None:
    """Make tickets, one a line."""
    if len(study) != 64 or not set(study) <= set("0123456789abcdef"):
        raise InvalidInput("study", study, "must be 64 lower-case hexadecimal digits")
    wanted, book = as_count("count", count), Tickets.in_folder(secrets)
    leave_note(secrets, f"made {wanted} ticket{'s' * (wanted != 1)}", study)
    if json:
        show_json({"study": study, "tickets": [book.new(study) for _ in range(wanted)]})
    else:
        for _ in range(wanted):
            typer.echo(book.new(study))
