"""Run a collector until it is told to stop; then finish what was taken."""

import asyncio
import contextlib
import gc
import resource
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import msgspec
import uvicorn

from fairgauge import __version__
from fairgauge.collector.app import Guard, make_app
from fairgauge.collector.clock import SteadyClock
from fairgauge.collector.config import Config
from fairgauge.collector.keeping.keys import refuse_other_keys
from fairgauge.collector.logs import log, log_to
from fairgauge.collector.protocol import make_protocol
from fairgauge.collector.service import Collector
from fairgauge.collector.stores import open_store
from fairgauge.errors import InvalidInput

BACKLOG = 4096
OWN_FILES = 256  # descriptors for the store, the log and whatever else is no connection


class Server(uvicorn.Server):
    """uvicorn's server, which ends with status 0 when it is told to stop."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop gracefully at the first SIGTERM or SIGINT, at once at the second."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop: those who watch a study are let go, for they would wait for ever."""
        app: Guard = self.config.app  # type: ignore[assignment]
        app.pages.live.stop()
        super().handle_exit(sig, frame)


def serve(config: Config, *, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        StoreError: If the store cannot be opened, is of an unknown version, or belongs to other keys.
        InvalidInput: If the address cannot be used.
    """
    log_to(bucket_seconds=config.bucket_seconds)
    most = _allow_connections(config.limits.connections)
    config = msgspec.structs.replace(config, limits=msgspec.structs.replace(config.limits, connections=most))
    listener = listen(config)
    try:
        import uvloop
    except ImportError:
        runner = asyncio.Runner()
    else:
        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    with listener, runner:
        runner.run(_serve(config, listener, announce))


async def _serve(config: Config, listener: socket.socket, announce: Callable[[str], None]) -> None:
    store = await open_store(config.store)
    try:
        await refuse_other_keys(store, Path(config.secrets))
        collector = Collector(config, store, clock=SteadyClock())
    except BaseException:
        await store.close()
        raise
    protocol, _crowd = make_protocol(config.limits)
    settings = uvicorn.Config(
        make_app(collector),
        http=protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # addresses of senders are not even read
        server_header=False,
        date_header=True,
        backlog=BACKLOG,
        timeout_keep_alive=max(1, round(config.limits.idle_seconds)),
        timeout_graceful_shutdown=config.shutdown_seconds,
        ssl_certfile=config.tls_cert,
        ssl_keyfile=config.tls_key,
    )
    load(settings)
    # What was loaded until here stays for ever: looking through it for garbage would hold up answers for 40 ms.
    gc.collect()
    gc.freeze()
    host, port = listener.getsockname()[:2]
    announce(f"{config.scheme}://{f'[{host}]' if ':' in host else host}:{port}")
    log("serving", store=store.kind, version=__version__, host=host, port=port)
    await Server(settings).serve(sockets=[listener])
    log("stopped")


def load(settings: uvicorn.Config) -> None:
    """Read the certificate before anyone is told that we serve.

    Raises:
        InvalidInput: If it cannot be used.
    """
    try:
        settings.load()
    except (OSError, ssl.SSLError) as error:
        reason = getattr(error, "reason", None) or error.strerror or type(error).__name__
        raise InvalidInput("tls_cert", settings.ssl_certfile, f"cannot be used with its key: {reason}") from None


def listen(config: Config) -> socket.socket:
    """Return the socket to listen on.

    Raises:
        InvalidInput: If the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    try:
        return socket.create_server(
            (config.host, config.port), family=family, backlog=BACKLOG, reuse_port=config.reuse_port
        )
    except OSError as error:
        address = f"{config.host}:{config.port}"
        raise InvalidInput("port", address, f"cannot be used: {error.strerror or error}") from None


def _allow_connections(most: int) -> int:
    """Return how many connections there is room for, after raising our own limit on open files as far as we may.

    Beyond the system's limit a process cannot even open its database: it is better to turn connections away earlier.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + OWN_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return most if soft == resource.RLIM_INFINITY else max(1, min(most, soft - min(OWN_FILES, soft // 2)))
