"""Run a small web application with the collector's deadlines and limits, until it is told to stop."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator

import uvicorn

from fairgauge.collector.config import Config
from fairgauge.collector.logs import log_to
from fairgauge.collector.protocol import make_protocol
from fairgauge.collector.serve import BACKLOG, listen, load


class _Server(uvicorn.Server):
    """uvicorn's server, which ends with status 0 when it is told to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop gracefully at the first SIGTERM or SIGINT, at once at the second."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def host(app: Callable[..., object], config: Config, *, announce: Callable[[str], None]) -> None:
    """Serve an application until SIGTERM or SIGINT.

    Requests have the collector's deadlines and sizes; nothing about a request is logged.

    Raises:
        InvalidInput: If the address or the certificate cannot be used.
    """
    log_to()
    with listen(config) as listener:
        protocol, _crowd = make_protocol(config.limits)
        settings = uvicorn.Config(
            app,
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # addresses of senders are not even read
            server_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=max(1, round(config.limits.idle_seconds)),
            timeout_graceful_shutdown=config.shutdown_seconds,
            ssl_certfile=config.tls_cert,
            ssl_keyfile=config.tls_key,
        )
        load(settings)
        where, port = listener.getsockname()[:2]
        announce(f"{config.scheme}://{f'[{where}]' if ':' in where else where}:{port}")
        asyncio.run(_Server(settings).serve(sockets=[listener]))
