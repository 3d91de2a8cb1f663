"""Run a web application with the collector's deadlines and limits, until it is told to stop."""

import asyncio
import contextlib
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import Literal

import uvicorn

from fairgauge.errors import InvalidInput
from fairgauge.server.logs import log_to
from fairgauge.server.server_config import ServerConfig
from fairgauge.server.slow_clients import make_protocol

_BACKLOG = 4096


class Server(uvicorn.Server):
    """uvicorn's server, which ends with status 0 when it is told to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop gracefully at the first SIGTERM or SIGINT, at once at the second."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def host(app: Callable[..., object], config: ServerConfig, *, announce: Callable[[str], None]) -> None:
    """Serve an application until SIGTERM or SIGINT.

    Requests have the collector's deadlines and sizes; nothing about a request is logged.

    Raises:
        InvalidInput: If the address or the certificate cannot be used.
    """
    log_to()
    with listen(config) as listener:
        settings = make_settings(app, config, lifespan="off")
        announce(address(config, listener))
        asyncio.run(Server(settings).serve(sockets=[listener]))


def listen(config: ServerConfig) -> socket.socket:
    """Return the socket to listen on.

    Raises:
        InvalidInput: If the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        return socket.create_server(
            (config.host, config.port), family=family, backlog=_BACKLOG, reuse_port=config.reuse_port
        )
    except OSError as error:
        rule = f"cannot be used: {error.strerror or error}"
        raise InvalidInput("port", f"{config.host}:{config.port}", rule) from None


def address(config: ServerConfig, listener: socket.socket) -> str:
    """Return the address that people type."""
    where, port = listener.getsockname()[:2]
    return f"{config.scheme}://{f'[{where}]' if ':' in where else where}:{port}"


def make_settings(
    app: Callable[..., object], config: ServerConfig, *, lifespan: Literal["on", "off"]
) -> uvicorn.Config:
    """Return how uvicorn serves an application, with the certificate read before anyone is told that we serve.

    Raises:
        InvalidInput: If the certificate cannot be used.
    """
    protocol, _peers = make_protocol(config.limits)
    settings = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan=lifespan,
        log_config=None,
        access_log=False,
        proxy_headers=False,  # addresses of senders are not even read
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=max(1, round(config.limits.idle_seconds)),
        timeout_graceful_shutdown=config.shutdown_seconds,
        ssl_certfile=config.tls_cert,
        ssl_keyfile=config.tls_key,
    )
    try:
        settings.load()
    except (OSError, ssl.SSLError) as error:
        reason = getattr(error, "reason", None) or error.strerror or type(error).__name__
        raise InvalidInput("tls_cert", settings.ssl_certfile, f"cannot be used with its key: {reason}") from None
    return settings
