"""Run a collector until it is told to stop; then finish what was taken."""

import asyncio
import gc
import resource
import socket
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import msgspec

from fairgauge import __version__
from fairgauge.collector.app import Guard, make_app
from fairgauge.collector.clock import SteadyClock
from fairgauge.collector.config import Config
from fairgauge.collector.record import other_store, read_record, refuse_other_record
from fairgauge.collector.service import Collector
from fairgauge.collector.signatures import refuse_other_keys
from fairgauge.collector.stores import open_store
from fairgauge.errors import StoreError
from fairgauge.server.hosting import Server, address, listen, make_settings
from fairgauge.server.logs import log, log_to

OWN_FILES = 256  # descriptors for the store, the log and whatever else is no connection


class _Server(Server):
    """A server that lets go of those who watch a study: they would wait for ever."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop."""
        app: Guard = self.config.app  # type: ignore[assignment]
        app.pages.live.stop()
        super().handle_exit(sig, frame)


def serve(config: Config, *, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        StoreError: If the store cannot be opened, is of an unknown version, or belongs to other keys or another record.
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
    folder, path = Path(config.secrets), Path(config.store.removeprefix("sqlite:///"))
    if (
        config.store.startswith("sqlite:///")
        and not path.exists()
        and read_record(folder).taken
        and not config.new_store
    ):
        raise StoreError(other_store(f"{path} is not there", folder))
    store = await open_store(config.store)
    try:
        await refuse_other_keys(store, folder)
        await refuse_other_record(store, folder, new=config.new_store)
        new = not await store.keys()
        collector = Collector(config, store, clock=SteadyClock())
    except BaseException:
        await store.close()
        raise
    settings = make_settings(make_app(collector), config, lifespan="on")
    # What was loaded until here stays for ever: looking through it for garbage would hold up answers for 40 ms.
    gc.collect()
    gc.freeze()
    announce(address(config, listener))
    host, port = listener.getsockname()[:2]
    if new:
        log("new store", store=store.kind)
    log("serving", store=store.kind, version=__version__, host=host, port=port)
    await _Server(settings).serve(sockets=[listener])
    log("stopped")


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
