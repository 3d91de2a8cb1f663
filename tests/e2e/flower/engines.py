"""Flower's two engines on one machine, without a network: the simulation, and the deployment on loopback."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from runs import environment, free_port, running, wait_for

APP = Path(__file__).parent / "federation"
PATIENCE = 600.0


def simulate(here: Path, *, devices: int) -> str:
    """Run the app in Flower's simulation, and return everything that was printed."""
    code = (
        "from flwr.simulation import run_simulation; from federation import client, server; "
        f"run_simulation(server, client, {devices}, backend_config={{'init_args': {{'num_cpus': 2}}, "
        "'client_resources': {'num_cpus': 1, 'num_gpus': 0.0}})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=here,
        env={**environment(here / "flwr"), "PYTHONPATH": os.pathsep.join([str(APP), os.environ.get("PYTHONPATH", "")])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@dataclass
class Tee:
    """A line between devices and server that writes down every byte on its way to the server."""

    port: int
    heard: bytearray = field(default_factory=bytearray)


@contextmanager
def tee(target: int) -> Iterator[Tee]:
    """Listen on a port of our own, and pass everything on."""
    listener = socket.create_server(("127.0.0.1", 0))
    line = Tee(listener.getsockname()[1])

    def carry(source: socket.socket, sink: socket.socket, record: bytearray | None) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if record is not None:
                    record += data
                sink.sendall(data)
        for end in (source, sink):  # which also ends the thread that carries the other way
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def connect(device: socket.socket) -> None:
        with device, socket.create_connection(("127.0.0.1", target)) as server:
            back = threading.Thread(target=carry, args=(server, device, None))
            back.start()
            carry(device, server, line.heard)
            back.join()

    def accept() -> None:
        while True:
            try:
                device, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=connect, args=(device,)).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield line
    finally:
        listener.close()


@dataclass
class Federation:
    """A SuperLink with SuperNodes that reach it through a tee."""

    here: Path
    line: Tee

    def run(self, **config: str | int | bool) -> str:
        """Run the app to its end, and return what `flwr run` shows."""
        told = " ".join(f"{key}={_toml(value)}" for key, value in {"here": str(self.here), **config}.items())
        done = subprocess.run(
            ["flwr", "run", str(APP), "here", "--stream", "--run-config", told],
            env=environment(self.here / "flwr"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    def logs(self, name: str) -> str:
        return (self.here / f"{name}.log").read_text()


@contextmanager
def federation(here: Path, devices: list[dict[str, str | int | bool]]) -> Iterator[Federation]:
    """Start a SuperLink and a SuperNode for each device, whose own configuration is given."""
    port, ours = free_port(), environment(here / "flwr")
    (here / "flwr").mkdir()
    (here / "flwr" / "config.toml").write_text(f'[superlink.here]\naddress = "127.0.0.1:{port}"\ninsecure = true\n')
    with ExitStack() as stack:
        line = stack.enter_context(tee(port))
        link = ["flower-superlink", "--insecure", "--host", "127.0.0.1", "--port", str(port)]
        link += ["--disable-runtime-dependency-installation", "--database", str(here / "superlink.sqlite3")]
        wait_for(port, stack.enter_context(running(link, here / "superlink.log", ours)))
        for number, config in enumerate(devices):
            told = " ".join(f"{key}={_toml(value)}" for key, value in config.items())
            node = ["flower-supernode", "--insecure", "--superlink", f"127.0.0.1:{line.port}"]
            node += ["--host", "127.0.0.1", "--port", str(free_port()), "--node-config", told]
            stack.enter_context(running(node, here / f"supernode{number}.log", ours))
        yield Federation(here, line)


def _toml(value: str | int | bool) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
