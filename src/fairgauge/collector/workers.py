"""Run a collector until it is told to stop, and then finish what was taken: in one process, or in several.

Several share a port and a PostgreSQL.  The parent reserves the port, starts the workers and waits.  A worker that dies
is replaced, unless workers end with an error before they serve or soon after: then something is wrong that another try
does not mend.  One that was killed has done nothing wrong; it is replaced, too, after a pause that grows with the
number of such deaths.  When the parent is told to stop, the workers finish what they took.
"""

import asyncio
import gc
import multiprocessing
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.synchronize import Event
from pathlib import Path
from types import FrameType

import msgspec

from fairgauge import __version__
from fairgauge.collector.app import CollectorApp, make_app
from fairgauge.collector.config import Config
from fairgauge.collector.retention import SteadyClock
from fairgauge.collector.seal_record import refuse_new_store, refuse_other_record
from fairgauge.collector.service import Collector
from fairgauge.collector.signatures import refuse_other_keys
from fairgauge.collector.stores import open_store
from fairgauge.errors import FairgaugeError, InvalidInput, StoreError
from fairgauge.server.logs import log, log_to
from fairgauge.server.serving import Server, address, listen, make_settings

_OWN_FILES = 256  # descriptors for the store, the log and whatever else is no connection
_MOST = 64
_EARLY_SECONDS = 5.0  # a worker that ends so soon after it began to serve was never well
_EARLY_DEATHS = 3
_KILLS = 30  # one after the other, with no worker that served for a while in between
PAUSE_SECONDS, LONGEST_PAUSE = 0.1, 5.0  # before a worker that was killed is replaced; twice as long each time
_LOOK_SECONDS = 0.2
_SWITCH_SECONDS = 0.0002
_OBJECTS = 10_000  # that are made and not let go before Python looks for garbage among them


class _Server(Server):
    """A server that lets go of those who watch a study: they would wait for ever."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop."""
        app: CollectorApp = self.config.app  # type: ignore[assignment]
        app.pages.live.stop()
        super().handle_exit(sig, frame)


def serve(config: Config, *, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        StoreError: If the store cannot be opened, is of an unknown version, or belongs to other keys or another record.
        InvalidInput: If the address cannot be used.
    """
    log_to(bucket_seconds=config.bucket_seconds)
    # A commit asks for the interpreter a dozen times, and waits so long for it each time while a flood is read.
    sys.setswitchinterval(_SWITCH_SECONDS)
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
        runner.run(_run(config, listener, announce))


async def _run(config: Config, listener: socket.socket, announce: Callable[[str], None]) -> None:
    folder, path = Path(config.secrets), Path(config.store.removeprefix("sqlite:///"))
    made = config.store.startswith("sqlite:///") and not path.exists()
    if made and not config.new_store:
        refuse_new_store(f"{path} is not there", folder)
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
    look_for_garbage_less()
    announce(address(config, listener))
    host, port = listener.getsockname()[:2]
    if new:
        log("new store", store=store.kind)
    log("serving", store=store.kind, version=__version__, host=host, port=port)
    await _Server(settings).serve(sockets=[listener])
    log("stopped")


def look_for_garbage_less() -> None:
    """Keep Python from looking through what is no garbage.

    What was loaded until here stays for ever: one look through it would hold up answers for 40 ms.  What hundreds of
    requests under way hold is let go with their answers, without a look: the usual 700 objects are some twenty of them,
    and each look at the others costs, all in all a fifth of an answer's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS)


def _allow_connections(most: int) -> int:
    """Return how many connections there is room for, after raising our own limit on open files as far as we may.

    Beyond the system's limit a process cannot even open its database: it is better to turn connections away earlier.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + _OWN_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return most if soft == resource.RLIM_INFINITY else max(1, min(most, soft - min(_OWN_FILES, soft // 2)))


def serve_many(config: Config, workers: int, *, announce: Callable[[str], None]) -> None:
    """Serve with several processes until SIGTERM or SIGINT.

    Raises:
        InvalidInput: If the store cannot be shared, or the number makes no sense.
        StoreError: If workers die as soon as they start.
    """
    if not 1 <= workers <= _MOST:
        raise InvalidInput("workers", workers, f"must be from 1 to {_MOST}")
    if workers == 1:
        serve(config, announce=announce)
        return
    if config.store.startswith("sqlite:"):
        raise InvalidInput("workers", workers, "needs PostgreSQL: a SQLite file has one collector")
    with _reserved(config) as port:
        shared = msgspec.structs.replace(config, port=port.getsockname()[1], reuse_port=True)
        _Crew(shared, workers).run(announce)


class _Worker:
    """One worker, and since when it serves."""

    def __init__(self, config: Config) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._serves = spawn.Event()
        self._since: float | None = None
        self.process = spawn.Process(target=_work, args=(config, self._serves, os.getpid()))
        self.process.start()

    def serves(self) -> bool:
        """Tell whether it has begun to serve; how long a start takes on a busy machine says nothing."""
        if self._since is None and self._serves.is_set():
            self._since = time.monotonic()
        return self._since is not None

    def well(self) -> bool:
        """Tell whether it has served for a while."""
        return self.serves() and time.monotonic() - (self._since or 0.0) >= _EARLY_SECONDS


class _Crew:
    """The workers, and what to do when one ends."""

    def __init__(self, config: Config, workers: int) -> None:
        self._config = config
        self._stopping = False
        self._early = self._killed = 0
        self._due: list[float] = []  # when to start another
        self._workers = [_Worker(config) for _ in range(workers)]

    def run(self, announce: Callable[[str], None]) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        told = False
        while self._workers or self._due:
            wait([worker.process.sentinel for worker in self._workers], timeout=_LOOK_SECONDS)
            serving = sum(worker.serves() for worker in self._workers)
            if serving and not told:
                told = True
                announce(
                    f"{self._config.scheme}://{self._config.host}:{self._config.port} ({len(self._workers)} workers)"
                )
            for worker in [worker for worker in self._workers if not worker.process.is_alive()]:
                self._workers.remove(worker)
                self._ended(worker)
            for moment in [moment for moment in self._due if moment <= time.monotonic()]:
                self._due.remove(moment)
                self._workers.append(_Worker(self._config))

    def _ended(self, worker: _Worker) -> None:
        if self._stopping:
            return
        if worker.well():
            self._early = self._killed = 0
        elif (worker.process.exitcode or 0) < 0:  # by a signal
            self._killed += 1
        else:
            self._early += 1
        if self._early >= _EARLY_DEATHS or self._killed >= _KILLS:
            self._stop()
            raise StoreError("the workers end as soon as they start: what they say above tells why")
        pause = min(LONGEST_PAUSE, PAUSE_SECONDS * 2**self._killed) if self._killed else 0.0
        self._due.append(time.monotonic() + pause)

    def _stop(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        self._stopping = True
        self._due.clear()
        for worker in self._workers:
            worker.process.terminate()


def _work(config: Config, serves: Event, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches the whole group; the parent tells us to stop
    threading.Thread(target=_stop_without, args=(parent,), daemon=True).start()
    try:
        serve(config, announce=lambda _address: serves.set())
    except FairgaugeError as error:
        sys.exit(f"fairgauge: {error}")


def _stop_without(parent: int) -> None:
    """Stop as if told to when the parent is gone, even before we started: nobody else would tell us."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGTERM)


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
