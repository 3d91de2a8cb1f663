"""``fairgauge issuer``: give out blind tickets."""

from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli import _options
from fairgauge.cli._console import err, out, show_json
from fairgauge.cli._files import read_study
from fairgauge.errors import MissingExtra
from fairgauge.study.numbers import as_count

issuer = typer.Typer(
    help="Give out blind tickets, which nobody can recognise when they are spent.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_Folder = Annotated[Path, typer.Option("--secrets", help="The issuer's own folder with its keys and its book.")]
_SECRETS = Path("fairgauge-issuer")


@issuer.command()
def key(secrets: _Folder = _SECRETS, json: _options.Json = False) -> None:
    """Show the public key that a study names, and make it first if there is none: one for each study."""
    try:
        from fairgauge.parties.blind_signing import key_in, make_key
        from fairgauge.unlinkable.pass_token import write_key
    except ImportError as error:
        raise MissingExtra(f"the issuer needs {error.name}", "issuer") from None
    text = write_key((key_in(secrets) or make_key(secrets)).public)
    if json:
        show_json({"key": text})
    else:
        out.print(text)


@issuer.command()
def ticket(
    study: _options.StudyFile,
    count: Annotated[str, typer.Option(help="How many.")] = "1",
    secrets: _Folder = _SECRETS,
    json: _options.Json = False,
) -> None:
    """Make ordinary tickets, one a line: each is exchanged for one blind ticket."""
    from fairgauge.parties.issuer_server import IssuerServer

    wanted, found = as_count("count", count), IssuerServer(secrets, read_study(study))
    made = [found.new_ticket() for _ in range(wanted)]
    if json:
        show_json({"tickets": made})
    else:
        for one in made:
            typer.echo(one)


@issuer.command()
def serve(
    study: _options.StudyFile,
    secrets: _Folder = _SECRETS,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 picks a free one.")] = 8643,
    tls_cert: Annotated[str | None, typer.Option(help="A certificate (PEM): the issuer speaks TLS itself.")] = None,
    tls_key: Annotated[str | None, typer.Option(help="Its key.")] = None,
) -> None:
    """Exchange tickets over HTTP: each of them once."""
    try:
        from fairgauge.parties.issuer_server import IssuerServer
        from fairgauge.server.server_config import ServerConfig
        from fairgauge.server.serving import host as run
    except ImportError as error:
        raise MissingExtra(f"the issuer needs {error.name}", "issuer") from None
    found = IssuerServer(secrets, read_study(study))
    config = ServerConfig(host=host, port=port, tls_cert=tls_cert, tls_key=tls_key)
    err.print("It must not be run by whoever runs the collector: docs/no-party-alone.md says why.")
    try:
        run(found, config, announce=lambda where: out.print(f"fairgauge issuer on {where}"))
    finally:
        found.book.close()
