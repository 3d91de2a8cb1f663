"""``fairgauge serve``: run a collector."""

import sys
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli._console import err, out
from fairgauge.errors import InvalidInput, MissingExtra


def serve(
    store: Annotated[str | None, typer.Option(help="sqlite:///FILE or postgresql://...")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 picks a free one.")] = None,
    reuse_port: Annotated[
        bool, typer.Option("--reuse-port", help="Let several collectors of one PostgreSQL listen on one port.")
    ] = False,
    workers: Annotated[int, typer.Option(help="So many processes on one port; more than one needs PostgreSQL.")] = 1,
    tls_cert: Annotated[str | None, typer.Option(help="A certificate (PEM): the collector speaks TLS itself.")] = None,
    tls_key: Annotated[str | None, typer.Option(help="Its key.")] = None,
    secrets: Annotated[str | None, typer.Option(help="The folder with tokens and keys.")] = None,
    new_store: Annotated[
        bool, typer.Option("--new-store", help="Make a store although these secrets belong to another one.")
    ] = False,
    config: Annotated[Path | None, typer.Option(help="A TOML file with these settings and more.")] = None,
) -> None:
    """Take answers over HTTP, and count each of them once."""
    try:
        from fairgauge.collector.config import read_config
        from fairgauge.collector.workers import serve_many
        from fairgauge.server.bearer_tokens import read_tokens
    except ImportError as error:
        if error.name in ("fcntl", "resource"):
            raise InvalidInput("system", sys.platform, "the collector needs POSIX: Linux, macOS or BSD") from None
        raise MissingExtra(f"the collector needs {error.name}", "collector") from None
    settings = read_config(
        config,
        store=store,
        host=host,
        port=port,
        reuse_port=reuse_port or None,
        tls_cert=tls_cert,
        tls_key=tls_key,
        secrets=secrets,
        new_store=new_store or None,
    )
    without_token = not read_tokens(Path(settings.secrets))
    if settings.tls_cert is None and not _is_loopback(settings.host):
        err.print(
            f"On {settings.host} others can reach this collector, and without TLS they can read tokens and tickets on "
            "the way. Give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that has a certificate "
            "(docs/operators.md).",
            markup=False,
        )

    def announce(address: str) -> None:
        out.print(f"fairgauge collector on {address}", markup=False)
        if (
            without_token
        ):  # said when the store was opened: who names a wrong folder hears of that, and makes no token in it
            err.print(
                "There is no token, so nobody can publish a study or see a result. To make one: "
                f"fairgauge token new --name me --role operator --secrets {settings.secrets}",
                markup=False,
            )

    serve_many(settings, workers, announce=announce)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
