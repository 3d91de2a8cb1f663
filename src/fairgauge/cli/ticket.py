"""``fairgauge ticket``: make tickets for a study."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import _options
from fairgauge.cli._console import show_json
from fairgauge.collector.audit_log import leave_note, site_words
from fairgauge.collector.stores.backup import open_to_read
from fairgauge.errors import InvalidInput, StoreError
from fairgauge.server.tickets import Tickets
from fairgauge.study.numbers import as_count

_GAUGE = "sqlite:///gauge.db"

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
    count: Annotated[str | None, typer.Option(help="How many; 1 unless given.", show_default=False)] = None,
    site: Annotated[
        list[str] | None,
        typer.Option(help="In a study for sites: the name of one, which always gets the same ticket. May be repeated."),
    ] = None,
    store: Annotated[str, typer.Option(help="Where the study is published, if it is there already.")] = _GAUGE,
    secrets: _options.Secrets = Path("fairgauge-secrets"),
    json: _options.Json = False,
) -> None:
    """Make tickets, one a line."""
    if len(study) != 64 or not set(study) <= set("0123456789abcdef"):
        raise InvalidInput("study", study, "must be 64 lower-case hexadecimal digits")
    is_there = not store.startswith("sqlite:") or Path(store.removeprefix("sqlite:///")).is_file()
    if is_there and asyncio.run(_admission(store, study)) == "open":
        raise InvalidInput("study", study, "must take tickets: it is published as open, and anyone may answer it")
    book = Tickets.in_folder(secrets)
    if site:
        if count is not None:
            raise InvalidInput("count", count, "must not be given with --site: each site gets one ticket")
        _for_sites(book, study, list(dict.fromkeys(site)), secrets, json=json)
        return
    wanted = as_count("count", count or "1")
    leave_note(secrets, f"made {wanted} ticket{'s' * (wanted != 1)}", study)
    if json:
        show_json({"study": study, "tickets": [book.new(study) for _ in range(wanted)]})
    else:
        for _ in range(wanted):
            typer.echo(book.new(study))


async def _admission(address: str, study: str) -> str | None:
    """Return how a study is published; None if it is not, or the store is somewhere else."""
    try:
        held = await open_to_read(address)
    except StoreError:
        return None
    try:
        kept = await held.study(study)
    finally:
        await held.close()
    return None if kept is None else kept.admission


def _for_sites(book: Tickets, study: str, names: list[str], secrets: Path, *, json: bool) -> None:
    """Print the ticket of each site with its name; a collector learns from a note whom to expect."""
    made = {name: book.of_site(study, name) for name in names}
    for name in made:
        leave_note(secrets, site_words(name), study, site=name)
    if json:
        show_json({"study": study, "sites": made})
    else:
        for name, one in made.items():
            typer.echo(f"{one}\t{name}")
