"""``fairgauge relay``: carry envelopes to a collector's gateway."""

from typing import Annotated

import typer

from fairgauge.cli._console import err, out
from fairgauge.errors import MissingExtra


def relay(
    to: Annotated[str, typer.Option(help="The collector's address.", show_default=False)],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 picks a free one.")] = 8644,
    tls_cert: Annotated[str | None, typer.Option(help="A certificate (PEM): the relay speaks TLS itself.")] = None,
    tls_key: Annotated[str | None, typer.Option(help="Its key.")] = None,
) -> None:
    """Carry envelopes to a collector's gateway, so that it does not see who sends them."""
    try:
        from fairgauge.parties.relay_server import RelayServer
        from fairgauge.server.server_config import ServerConfig
        from fairgauge.server.serving import host as run
    except ImportError as error:
        raise MissingExtra(f"the relay needs {error.name}", "relay-server") from None
    found = RelayServer(to)
    config = ServerConfig(host=host, port=port, tls_cert=tls_cert, tls_key=tls_key)
    err.print("It must not be run by whoever runs the collector: docs/no-party-alone.md says why.")
    run(found, config, announce=lambda where: out.print(f"fairgauge relay on {where}"))
