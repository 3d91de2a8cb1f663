"""Several collectors on one machine: one process each, one port, one PostgreSQL.

The parent reserves the port, starts the workers and waits.  A worker that dies is replaced, unless workers die as soon
as they start: then something is wrong that another try does not mend.  When the parent is told to stop, the workers
finish what they took.
"""

import multiprocessing
import signal
import socket
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from types import FrameType

import msgspec

from fairgauge.collector.config import Config
from fairgauge.collector.serve import serve
from fairgauge.errors import InvalidInput, StoreError

MOST = 64
EARLY_SECONDS = 5.0  # a worker that ends sooner than this was never well
EARLY_DEATHS = 3


def serve_many(config: Config, workers: int, *, announce: Callable[[str], None]) -> None:
    """Serve with several processes until SIGTERM or SIGINT.

    Raises:
        InvalidInput: If the store cannot be shared, or the number makes no sense.
        StoreError: If workers die as soon as they start.
    """
    if not 1 <= workers <= MOST:
        raise InvalidInput("workers", workers, f"must be from 1 to {MOST}")
    if workers == 1:
        serve(config, announce=announce)
        return
    if config.store.startswith("sqlite:"):
        raise InvalidInput("workers", workers, "needs PostgreSQL: a SQLite file has one collector")
    with _reserved(config) as port:
        shared = msgspec.structs.replace(config, port=port.getsockname()[1], reuse_port=True)
        _Crew(shared, workers).run(announce)


class _Crew:
    """The workers, and what to do when one ends."""

    def __init__(self, config: Config, workers: int) -> None:
        self._config = config
        self._spawn = multiprocessing.get_context("spawn")
        self._stopping = False
        self._early = 0
        self._started: dict[int, float] = {}
        self._workers = [self._start() for _ in range(workers)]

    def run(self, announce: Callable[[str], None]) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        announce(f"{self._config.scheme}://{self._config.host}:{self._config.port} ({len(self._workers)} workers)")
        while self._workers:
            wait([worker.sentinel for worker in self._workers], timeout=1.0)
            for worker in [worker for worker in self._workers if not worker.is_alive()]:
                self._workers.remove(worker)
                self._ended(worker)

    def _start(self) -> SpawnProcess:
        worker = self._spawn.Process(target=_work, args=(self._config,))
        worker.start()
        self._started[worker.pid or 0] = time.monotonic()
        return worker

    def _ended(self, worker: SpawnProcess) -> None:
        lived = time.monotonic() - self._started.pop(worker.pid or 0)
        if self._stopping:
            return
        self._early = self._early + 1 if lived < EARLY_SECONDS else 0
        if self._early >= EARLY_DEATHS:
            self._stop()
            raise StoreError("the workers end as soon as they start: what they say above tells why")
        self._workers.append(self._start())

    def _stop(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        self._stopping = True
        for worker in self._workers:
            worker.terminate()


def _work(config: Config) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches the whole group; the parent tells us to stop
    serve(config, announce=lambda _address: None)


def _reserved(config: Config) -> socket.socket:
    """Return a socket that holds the port for the workers, and takes no connection itself."""
    held = socket.socket(socket.AF_INET6 if ":" in config.host else socket.AF_INET)
    try:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind((config.host, config.port))
    except OSError as error:
        held.close()
        address = f"{config.host}:{config.port}"
        raise InvalidInput("port", address, f"cannot be used: {error.strerror or error}") from None
    return held
