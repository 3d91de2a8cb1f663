"""``fairgauge serve``: run a collector."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from fairgauge.cli.show import err, out
from fairgauge.errors import InvalidInput, MissingExtra


def serve(
    store: Annotated[str | None, typer.Option(help="sqlite:///FILE or postgresql://...")] = None,
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="The port to listen on; 0 picks a free one.")] = None,
    reuse_port: Annotated[
        bool, typer.Option("--reuse-port", help="Let several collectors of one PostgreSQL listen on one port.")
    ] = False,
    secrets: Annotated[str | None, typer.Option(help="The folder with tokens and keys.")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file with these settings and more.")] = None,
) -> None:
    """Take answers over HTTP, and count each of them once."""
    try:
        from fairgauge.collector.config import read_config
        from fairgauge.collector.serve import serve as run
        from fairgauge.collector.tokens import read_tokens
    except ImportError as error:
        if error.name in ("fcntl", "resource"):
            raise InvalidInput("system", sys.platform, "the collector needs POSIX: Linux, macOS or BSD") from None
        raise MissingExtra(f"the collector needs {error.name}", "collector") from None
    settings = read_config(config, store=store, host=host, port=port, reuse_port=reuse_port or None, secrets=secrets)
    if not read_tokens(Path(settings.secrets)):
        err.print(
            "There is no token, so nobody can publish a study or see a result. To make one: "
            f"fairgauge token new --name me --role operator --secrets {settings.secrets}",
            markup=False,
        )
    run(settings, announce=lambda address: out.print(f"fairgauge collector on {address}", markup=False))
