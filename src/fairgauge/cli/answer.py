"""``fairgauge answer``: the device's command, listed among the others.

``fairgauge.cli.main`` runs it without typer, so that it works where only the base package is installed.
"""

from typing import Annotated

import typer

from fairgauge.cli import options
from fairgauge.client.command import HELP, Request, run


def answer(
    study: Annotated[str, typer.Argument(metavar="STUDY", help=HELP["study"], show_default=False)],
    group: Annotated[list[str] | None, typer.Option(metavar="GROUP", help=HELP["group"])] = None,
    value: Annotated[list[str] | None, typer.Option(metavar="METRIC=X", help=HELP["value"])] = None,
    send: Annotated[str | None, typer.Option(metavar="URL", help=HELP["send"])] = None,
    to_file: Annotated[str | None, typer.Option(metavar="FILE", help=HELP["to_file"])] = None,
    ledger: Annotated[str | None, typer.Option(metavar="FILE", help=HELP["ledger"])] = None,
    limit: Annotated[str | None, typer.Option(metavar="EPSILON", help=HELP["limit"])] = None,
    study_limit: Annotated[str | None, typer.Option(metavar="EPSILON", help=HELP["study_limit"])] = None,
    ticket: Annotated[str | None, typer.Option(metavar="TICKET", help=HELP["ticket"])] = None,
    digest: Annotated[str | None, typer.Option(metavar="DIGEST", help=HELP["digest"])] = None,
    json: options.Json = False,
) -> None:
    """Answer a study with one randomised symbol, once, and deliver it."""
    run(
        Request(
            study,
            group or (),
            value or (),
            send=send,
            to_file=to_file,
            ledger=ledger,
            limit=limit,
            study_limit=study_limit,
            ticket=ticket,
            digest=digest,
            json=json,
        )
    )
