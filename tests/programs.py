"""Programs that start at once: forks of a Python that has loaded the libraries already, and has done nothing else.

A new Python loads numpy, SciPy, the command line and the collector for a second, and tests start such programs by the
hundred.  A fork is a process of its own all the same: it is killed, fails and ends as any other.  Where what a program
loads is what is tested, it is started as a new Python.
"""

import contextlib
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests import kept_designs

ROOT = Path(__file__).parents[1]
# What such programs need.  None of it does anything before it is asked to.
LIBRARIES = (
    "fairgauge.collector.workers",
    "uvloop",
    "asyncpg",
    "fairgauge.cli.plan",
    "fairgauge.cli.design",
    # typer loads these as soon as it reads an option: a tenth of a second.
    "pydantic.type_adapter",
    "pydantic.types",
)
# What our script does.
COMMAND = "from fairgauge.cli import main; main()"
_DIGITS = 12
_STARTED: "list[Programs]" = []


class Program:
    """A running fork, with as much of :class:`subprocess.Popen` as tests use."""

    def __init__(self, told: int) -> None:
        self._told = os.fdopen(told, "rb", buffering=0)
        self.pid = int(self._told.read(_DIGITS))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit status if it has ended, negative if a signal ended it."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends, and return its exit status."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"fork {self.pid}", timeout or 0)
            self.returncode = int(self._told.read(_DIGITS))
            self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it is still there."""
        if self.poll() is None:
            os.kill(self.pid, number)


class Programs:
    """A Python that has loaded the libraries, and forks programs.

    Args:
        environment: What libraries find in the environment while they are loaded, beside what is there anyway.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._orders, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "tests.programs", str(theirs.fileno())]
            self.environment = {"PYTHONPATH": str(ROOT / "src"), **(environment or {})}
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=os.environ | self.environment, pass_fds=[theirs.fileno()]
            )
        _STARTED.append(self)

    def start(self, code: str, *arguments: str, folder: Path, out: int, err: int) -> Program:
        """Start a program, given as for ``python -c``, that writes to these open files."""
        mine, told = os.pipe()
        order = {
            "code": code,
            "arguments": arguments,
            "folder": str(folder),
            "environment": os.environ | self.environment,
        }
        data = json.dumps(order).encode()
        socket.send_fds(self._orders, [len(data).to_bytes(_DIGITS)], [out, err, told])
        self._orders.sendall(data)
        os.close(told)
        return Program(mine)

    def fairgauge(self, *words: object, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run a command of ours to its end."""
        typed = [*map(str, words)]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            program = self.start(COMMAND, *typed, folder=folder, out=out.fileno(), err=err.fileno())
            status = program.wait()
            for said in (out, err):
                said.seek(0)
            return subprocess.CompletedProcess(typed, status, out.read(), err.read())

    def stop(self) -> None:
        """Let it end; its forks go on."""
        self._orders.close()
        self._process.wait()


@functools.cache
def programs() -> Programs:
    """Return the one that all tests of this process share."""
    return Programs()


def stop_programs() -> None:
    """Stop every one that was started here."""
    while _STARTED:
        _STARTED.pop().stop()


def _next_order(orders: socket.socket) -> dict[str, Any]:
    """Fork for every order, and return it in the fork; leave when nobody can give any."""
    running: dict[int, int] = {}
    bell, ringing = socket.socketpair()
    ringing.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(ringing.fileno())
    while True:
        ready, _, _ = select.select([orders, bell], [], [])
        if bell in ready:
            bell.recv(4096)
            for pid in list(running):
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    told = running.pop(pid)
                    _tell(told, os.waitstatus_to_exitcode(status))
                    os.close(told)
        if orders in ready:
            size, files, _, _ = socket.recv_fds(orders, _DIGITS, 3)
            if not size:
                sys.exit()
            order: dict[str, Any] = json.loads(orders.recv(int.from_bytes(size), socket.MSG_WAITALL))
            out, err, told = files
            if (pid := os.fork()) == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.dup2(out, 1)
                os.dup2(err, 2)
                for one in (*files, *running.values(), *(end.detach() for end in (orders, bell, ringing))):
                    os.close(one)
                return order
            os.close(out)
            os.close(err)
            running[pid] = told
            _tell(told, pid)


def _tell(whom: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(whom, f"{number:{_DIGITS}}".encode())


if __name__ == "__main__":
    for library in LIBRARIES:
        importlib.import_module(library)
    kept_designs.keep()
    if kept_designs.PLACE in os.environ:
        kept_designs.keep_results()
    gc.freeze()  # what is loaded stays, and is looked through in no fork
    found = _next_order(socket.socket(fileno=int(sys.argv[1])))
    os.chdir(found["folder"])
    os.environ.clear()
    os.environ.update(found["environment"])
    sys.argv = ["-c", *found["arguments"]]
    exec(compile(found["code"], "<program>", "exec"), {"__name__": "__main__"})
